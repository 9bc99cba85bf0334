/*
 * peers: the same rows and the same questions for Colander and for programs and
 * libraries that such rows are commonly stored in.
 *
 * First generated rows, then those of each file given, then generated numbers
 * and texts. Texts have other peers, and numbers fewer. All files are read
 * before anything is measured, so that an unusable one fails early.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_peer.h"
#include "tests/support/temporary.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#define ROWS 2000000
#define FIGURES_MAX 32

#define NO_SQLITE "it is not built in (Debian: libsqlite3-dev)"
#define NO_POSTGRES "it is not built in (Debian: libpq-dev)"

/* Colander first: the others are compared with it. */
static const struct {
    const char *name;
    const struct bench_peer *peer;
    const char *reason; /* why it is not built in */
    bool is_of_texts;
} peers[] = {
    {"Colander", &bench_peer_colander, NULL, false},
    {"RocksDB", &bench_peer_rocksdb, NULL, false},
#ifdef BENCH_LEVELDB
    {"LevelDB", &bench_peer_leveldb, NULL, false},
#else
    {"LevelDB", NULL, "it is not built in (Debian: libleveldb-dev)", false},
#endif
#ifdef BENCH_SQLITE
    {"SQLite", &bench_peer_sqlite, NULL, false},
#else
    {"SQLite", NULL, NO_SQLITE, false},
#endif
#ifdef BENCH_POSTGRES
    {"PostgreSQL", &bench_peer_postgres, NULL, false},
#else
    {"PostgreSQL", NULL, NO_POSTGRES, false},
#endif
    {"Tarantool", &bench_peer_tarantool, NULL, false},
    {"Colander for texts", &bench_peer_colander, NULL, true},
#ifdef BENCH_SQLITE
    {"SQLite's FTS5", &bench_peer_sqlite_texts, NULL, true},
#else
    {"SQLite's FTS5", NULL, NO_SQLITE, true},
#endif
#ifdef BENCH_POSTGRES
    {"PostgreSQL for texts", &bench_peer_postgres_texts, NULL, true},
#else
    {"PostgreSQL for texts", NULL, NO_POSTGRES, true},
#endif
    {"grep", &bench_peer_grep, NULL, true},
};

#define PEERS (sizeof(peers) / sizeof(peers[0]))

struct experiment {
    const char *directory;
    struct bench_report *report;
    struct bench_work *works[3 + BENCH_FILES_MAX];
    size_t work_count;
    struct bench_peer_figures figures[FIGURES_MAX];
    size_t figure_count;
    bool is_missing[PEERS];
};

/* Reports why a peer is left out. */
static void
leave_out(struct experiment *it, size_t peer, const char *reason)
{
    bench_progress("%s", "");
    bench_report_text(it->report, "%s is left out: %s.", peers[peer].name,
                      reason);
    it->is_missing[peer] = true;
}

static void
measure_peer(struct experiment *it, size_t number,
             const struct bench_work *work)
{
    const struct bench_peer *peer = peers[number].peer;
    char directory[4200];

    if (peer == NULL && !it->is_missing[number])
        leave_out(it, number, peers[number].reason);
    for (size_t i = 0; !it->is_missing[number] && i < peer->way_count; i++) {
        const char *reason;

        if (work->about == BENCH_WORK_OF_NUMBERS && !peer->ways[i].has_order)
            continue;
        if (it->figure_count == FIGURES_MAX)
            bench_fail("peers", "too many ways");
        (void)snprintf(directory, sizeof(directory), "%s/peer", it->directory);
        if (mkdir(directory, 0700) != 0)
            bench_fail(directory, strerror(errno));
        reason = bench_peer_measure(peer, &peer->ways[i], work, directory,
                                    &it->figures[it->figure_count]);
        if (reason == NULL)
            it->figure_count++;
        else
            leave_out(it, number, reason);
        temporary_remove(directory);
    }
}

static void
measure(struct experiment *it, struct bench_work *work)
{
    it->figure_count = 0;
    for (size_t i = 0; i < PEERS; i++) {
        if (peers[i].is_of_texts == (work->about == BENCH_WORK_OF_TEXTS))
            measure_peer(it, i, work);
    }
    bench_peer_report(it->report, work, it->figures, it->figure_count);
    bench_work_release(work);
}

/* Files are named after works. */
static void
add_work(struct experiment *it, struct bench_work *work)
{
    for (size_t i = 0; i < it->work_count; i++) {
        if (strcmp(it->works[i]->name, work->name) == 0)
            bench_fail(work->name, "there are rows of this name already");
    }
    it->works[it->work_count++] = work;
}

static void
prepare(struct experiment *it, const struct bench_options *options)
{
    const uint64_t rows = options->rows == 0 ? ROWS : options->rows;

    add_work(it, bench_work_make(it->directory, rows));
    for (size_t i = 0; i < options->file_count; i++)
        add_work(it, bench_work_read(options, options->files[i]));
    add_work(it, bench_work_make_numbers(it->directory, rows));
    add_work(it, bench_work_make_texts(it->directory, rows));
}

/* Servers know their version once they have run. */
static void
report_versions(struct experiment *it)
{
    struct colander_buffer text = COLANDER_BUFFER_EMPTY;

    for (size_t i = 0; i < PEERS; i++) {
        if (!it->is_missing[i] && !peers[i].is_of_texts)
            bench_print(&text, "%s%s", text.size == 0 ? "" : ", ",
                        peers[i].peer->version);
    }
    bench_report_section(it->report, "What was run");
    bench_report_text(it->report, "%s.", (const char *)text.data);
    bench_report_machine(it->report);
    colander_buffer_release(&text);
}

void
bench_peers(const struct bench_options *options)
{
    struct experiment *it = bench_allocate(1, sizeof(*it));

    it->directory = options->directory; /* short, as its socket is there */
    it->report =
        bench_report_open(options->report_directory, "Colander and its peers");
    prepare(it, options);
    bench_report_text(
        it->report,
        "Each takes the same JSON lines and answers the same questions. A "
        "library runs in the process that asks. A server runs in its own, "
        "which alone costs 10 to 50 us for each question. Times are medians of "
        "questions about different values, with all that is read in memory.");
    for (size_t i = 0; i < it->work_count; i++)
        measure(it, it->works[i]);
    report_versions(it);
    bench_report_close(it->report);
    free(it);
}
