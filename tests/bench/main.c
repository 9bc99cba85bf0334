/*
 * colander-bench: measures, and says how.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <unistd.h>

static const struct bench_listed experiments[] = {
#ifdef BENCH_FILTERS
    {"bulk", bench_bulk, "a first load by a bulk, against batches of puts",
     2000},
    {"find", bench_find, "rows by a value, against an index made by hand",
     2000},
    {"growth", bench_growth, "finds in stores of 1/64 to all of the rows",
     64000},
    {"ingest", bench_ingest, "writes with filters, without, and an index",
     2000},
    {"live", bench_live, "finds while a writer fills the memtable", 2000},
    {"load", bench_load, "JSON lines, against RocksDB and SQLite", 2000},
    {"lua", bench_lua, "a scan and finds by a script, against the same in C",
     2000},
    {"paper", bench_paper, "the paper's tables and figures, made again",
     100000},
    {"peers", bench_peers, "Colander beside databases and stores, by one work",
     2000},
    {"probe", bench_probe, "which of many filters: by turns, tree, slices",
     100},
    {"space", bench_space, "bytes of filters, also of real rows (--data)",
     2000},
#endif
    {"predicate", bench_predicate, "one column compared, rows in memory", 2000},
    {"put", bench_put, "rows in batches, against the bare RocksDB C API", 2000},
};

#define EXPERIMENTS (sizeof(experiments) / sizeof(experiments[0]))

static void
print_help(void)
{
    printf("usage: colander-bench EXPERIMENT [OPTION...]\n\n"
           "Measures ways of doing one thing in turns and tells the medians.\n"
           "Use a release build on a machine that does nothing else.\n\n");
    for (size_t i = 0; i < EXPERIMENTS; i++)
        printf("  %-12s %s\n", experiments[i].name, experiments[i].about);
    printf("  %-12s %s\n", "quick", "all of them, small: do they still work?");
    printf("\n  --rows N     rows to use\n"
           "  --entries N,...  entries of paper "
           "(1000000,5000000,10000000)\n"
           "  --rounds N   repetitions of each way (5)\n"
           "  --dir DIR    where stores are made and removed ($TMPDIR, /tmp)\n"
           "  --data FILE  real rows: .jsonl or .csv, .gz or not; repeatable\n"
           "  --out DIR    a report with CSV files and plots (paper, peers)\n"
           "  --json       one JSON object on the last line\n"
           "  --help       this\n");
}

/* A whole number above 0, or 0 for none. */
static uint64_t
parse_count(const char *text)
{
    char *end;
    unsigned long long number = strtoull(text, &end, 10);

    if (*end != '\0' || text[0] == '-')
        return 0;
    return number;
}

/* Numbers with commas between them. */
static void
parse_entries(const char *text, struct bench_options *options)
{
    options->entry_count = 0;
    while (text != NULL) {
        char *end;
        const uint64_t number = strtoull(text, &end, 10);

        if (number == 0 || text[0] == '-' || (*end != ',' && *end != '\0'))
            bench_fail("--entries needs numbers above 0, not", text);
        if (options->entry_count == BENCH_ENTRIES_MAX)
            bench_fail("--entries", "too many numbers");
        options->entries[options->entry_count++] = number;
        text = *end == ',' ? end + 1 : NULL;
    }
}

static bool
parse_options(int argc, char **argv, struct bench_options *options)
{
    static const struct option known[] = {
        {"rows", required_argument, NULL, 'n'},
        {"entries", required_argument, NULL, 'e'},
        {"rounds", required_argument, NULL, 'r'},
        {"dir", required_argument, NULL, 'd'},
        {"data", required_argument, NULL, 'f'},
        {"out", required_argument, NULL, 'o'},
        {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    int choice;

    while ((choice = getopt_long(argc, argv, "", known, NULL)) != -1) {
        switch (choice) {
        case 'n':
            options->rows = parse_count(optarg);
            if (options->rows == 0)
                bench_fail("--rows needs a number above 0, not", optarg);
            break;
        case 'e':
            parse_entries(optarg, options);
            break;
        case 'r':
            options->rounds = (unsigned)parse_count(optarg);
            if (options->rounds == 0)
                bench_fail("--rounds needs a number above 0, not", optarg);
            break;
        case 'd':
            options->directory = optarg;
            break;
        case 'f':
            if (options->file_count == BENCH_FILES_MAX)
                bench_fail("--data", "too many files");
            if (access(optarg, R_OK) != 0)
                bench_fail(optarg, strerror(errno));
            options->files[options->file_count++] = optarg;
            break;
        case 'o':
            options->report_directory = optarg;
            break;
        case 'j':
            options->is_json = true;
            break;
        case 'h':
            print_help();
            exit(0);
        default:
            return false;
        }
    }
    return true;
}

int
main(int argc, char **argv)
{
    const char *temporary = getenv("TMPDIR");
    struct bench_options options = {
        .rounds = 5,
        .directory = temporary == NULL ? "/tmp" : temporary,
    };

    if (!parse_options(argc, argv, &options))
        return 2;
    if (optind == argc - 1 && strcmp(argv[optind], "quick") == 0)
        return bench_quick(&options, experiments, EXPERIMENTS);
    for (size_t i = 0; optind == argc - 1 && i < EXPERIMENTS; i++) {
        if (strcmp(argv[optind], experiments[i].name) == 0)
            return experiments[i].run(&options);
    }
    if (optind == argc)
        (void)fprintf(stderr, "colander-bench: which experiment? see --help\n");
    else
        (void)fprintf(stderr,
                      "colander-bench: there is no experiment '%s', see "
                      "--help\n",
                      argv[optind]);
    return 2;
}
