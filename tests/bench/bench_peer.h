/*
 * Peers: programs and libraries that store rows as Colander does, with a common
 * interface, so that all load the same file and answer the same questions.
 *
 * A peer answers in one or more ways: without an index, with one on the column
 * chosen beforehand, with one on all columns. Each way is opened in a separate
 * folder. A peer has the best settings, and is asked in the way that its manual
 * recommends. Without an index for a question it scans.
 *
 * A failure ends the program (bench_fail), except that `open` may return why a
 * peer cannot run here. Then it is left out.
 *
 * Life:    open -> load -> index -> settle -> size
 *          -> (prepare -> ask ...) ... -> load (later rows) -> prepare -> ask
 *          -> add_column -> prepare -> ask ... -> close
 * Memory:  what open returns is closed by the caller; the work and the question
 *          are borrowed, the work until close, the question for the call
 * Threads: one
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BENCH_PEER_H
#define BENCH_PEER_H

#include "bench_report.h"
#include "bench_work.h"

/* Bytes that each peer has in memory of what it has on disk. */
#define BENCH_PEER_CACHE ((size_t)256 << 20)

/* How rows are found; `number` identifies the ways of a single peer. */
struct bench_peer_way {
    const char *name; /* of the peer in this way, in tables */
    enum bench_peer_indexes {
        BENCH_PEER_NONE, /* scans */
        BENCH_PEER_ONE,  /* an index on the column chosen beforehand */
        BENCH_PEER_ALL,  /* on every column */
    } indexes;
    int number;
    bool has_order; /* it is asked for ranges, too */
};

struct bench_peer {
    bool is_server; /* runs in a separate process */
    const struct bench_peer_way *ways;
    size_t way_count;

    const char *version; /* "SQLite 3.40.1", once it has been opened; NULL: has
                          * none */

    /* Opens it in the empty folder `directory`. Returns NULL if it cannot run
     * here, and sets *reason to a static clause. */
    void *(*open)(const char *directory, const struct bench_work *work,
                  const struct bench_peer_way *way, const char **reason);

    /* Adds the rows of a file of lines; they survive the end of the process
     * and are found from then on. */
    void (*load)(void *it, const char *path);

    /* Builds the indexes and files that load did not. NULL: load does it
     * all. */
    void (*index)(void *it);

    /* Waits until everything that load and index began is done, and tidies up
     * as the peer eventually would. It is not counted. May be NULL. */
    void (*settle)(void *it);

    /* Bytes on disk, of rows and indexes, without logs. NULL: all files. */
    uint64_t (*size)(void *it);

    /* Prepares for questions of the kind of this one, until the next call. May
     * be NULL. */
    void (*prepare)(void *it, const struct bench_work_question *example);

    /* Reads all rows that match, and returns their number. */
    uint64_t (*ask)(void *it, const struct bench_work_question *question);

    /* Builds what finds by a column need that did not exist when the indexes
     * were built. Returns false if nothing is needed. May be NULL. */
    bool (*add_column)(void *it, const char *column);

    void (*close)(void *it);
};

extern const struct bench_peer bench_peer_colander;
extern const struct bench_peer bench_peer_rocksdb;
extern const struct bench_peer bench_peer_leveldb;
extern const struct bench_peer bench_peer_sqlite;
extern const struct bench_peer bench_peer_postgres;
extern const struct bench_peer bench_peer_tarantool;

/* Of works of texts. */
extern const struct bench_peer bench_peer_sqlite_texts;
extern const struct bench_peer bench_peer_postgres_texts;
extern const struct bench_peer bench_peer_grep;

/* What is measured. Less is better. */
enum bench_measure {
    BENCH_PEER_LOAD,  /* seconds, until it is ready for questions */
    BENCH_PEER_SIZE,  /* bytes on disk */
    BENCH_PEER_ASKED, /* the first by enum bench_work_kind: microseconds of a
                       * question, in the middle; those about the new column,
                       * once it has what it needs for them */
    BENCH_PEER_FIRST = BENCH_PEER_ASKED + BENCH_WORK_KINDS,
    /* seconds from the start of loading later rows until the first right answer
     * about their new column */
    BENCH_PEER_MEASURES,
    BENCH_PEER_ADDING = BENCH_PEER_MEASURES,
    /* seconds to build what it needs for it; 0: nothing. Not compared */
    BENCH_PEER_FIGURES,
};

struct bench_peer_figures {
    const char *name; /* of the way */
    bool is_server;
    double values[BENCH_PEER_FIGURES];
};

/* Measures a way in the empty folder `directory`. Returns NULL, or why the peer
 * does not run. A wrong answer ends the program. */
const char *bench_peer_measure(const struct bench_peer *peer,
                               const struct bench_peer_way *way,
                               const struct bench_work *work,
                               const char *directory,
                               struct bench_peer_figures *figures);

/* The predicate of a question, for peers that evaluate rows as Colander does.
 * Destroy it. */
struct colander_predicate *
bench_peer_predicate(const struct bench_work_question *question);

bool bench_peer_matches(const struct colander_predicate *predicate,
                        struct colander_slice row);

/* Appends bytes as SQL has them between single quotes. */
void bench_print_quoted(struct colander_buffer *statement, const char *text,
                        size_t size);

/* Adds a section for one work. All figures are compared with the first. */
void bench_peer_report(struct bench_report *report,
                       const struct bench_work *work,
                       const struct bench_peer_figures *figures, size_t count);

/* Draws the peers as SVG: a bar for a query, and what the load took. */
void bench_peer_svg(FILE *file, const struct bench_work *work,
                    const struct bench_peer_figures *figures, size_t count);

#endif
