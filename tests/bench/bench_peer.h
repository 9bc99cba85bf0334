/*
 * Peers: programs and libraries that keep rows as Colander does, behind one
 * interface, so that all are loaded with the same file and asked the same.
 *
 * A peer answers in one or more ways: without an index, with one on the column
 * chosen beforehand, with one on all columns. Each way is opened in a folder of
 * its own. A peer is given what it can have of settings, and asked in the way
 * that its manual advises; where it has nothing for a question, it scans.
 *
 * A failure ends the program (bench_fail), but for `open`, which may say why a
 * peer cannot run here: then it is left out, with that word.
 *
 * Life:    missing -> open -> load -> index -> settle -> size, ask ...
 *          -> load (later rows) -> ask -> add_column -> ask ... -> close
 * Memory:  what open gives is the caller's to close; the work and the question
 *          are borrowed, the work until close, the question for the call
 * Threads: one
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BENCH_PEER_H
#define BENCH_PEER_H

#include "bench_work.h"

/* How rows are found; `number` is of the ways that only one peer has. */
struct bench_peer_way {
    const char *name; /* of the peer in this way, in tables */
    enum bench_peer_indexes {
        BENCH_PEER_NONE, /* scans */
        BENCH_PEER_ONE,  /* an index on the column chosen beforehand */
        BENCH_PEER_ALL,  /* on every column */
    } indexes;
    int number;
};

struct bench_peer {
    bool is_server; /* asked in a process of its own, not in this one */
    const struct bench_peer_way *ways;
    size_t way_count;

    /* Why it cannot run here; NULL: it can. May be NULL itself. */
    const char *(*missing)(void);

    /* "SQLite 3.40.1", static, once it has been opened. */
    const char *(*version)(void);

    /* In the empty folder `directory`. NULL when it does not run: *reason, a
     * clause, static, says why. */
    void *(*open)(const char *directory, const struct bench_work *work,
                  const struct bench_peer_way *way, const char **reason);

    /* Adds the rows of a file of lines; they survive the end of the process
     * and are found from then on. */
    void (*load)(void *it, const char *path);

    /* Makes ready for questions what load did not: indexes, files. NULL: load
     * does it all. */
    void (*index)(void *it);

    /* Waits until nothing is under way that load and index began, and tidies
     * up as the peer would by itself in time; not counted. May be NULL. */
    void (*settle)(void *it);

    /* Bytes on disk, of rows and indexes, without logs. NULL: all files. */
    uint64_t (*size)(void *it);

    /* Answers: reads all rows that match, and gives their number. */
    uint64_t (*ask)(void *it, const struct bench_work_question *question);

    /* Does what finds by a column need that was not there when the indexes
     * were made; false when that is nothing. May be NULL. */
    bool (*add_column)(void *it, const char *column);

    void (*close)(void *it);
};

extern const struct bench_peer bench_peer_colander;
extern const struct bench_peer bench_peer_rocksdb;
extern const struct bench_peer bench_peer_leveldb;
extern const struct bench_peer bench_peer_sqlite;
extern const struct bench_peer bench_peer_postgres;
extern const struct bench_peer bench_peer_tarantool;

#endif
