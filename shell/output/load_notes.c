/* See load_notes.h. SPDX-License-Identifier: MIT */
#include "shell/load_notes.h"
#include "loading/load.h"
#include "shell/report.h"

#include <inttypes.h>

#define MIXED_SHOWN 3 /* columns */

/* Adds "3 integers", after "," or "and" if it is not the first. */
static void
add_count(struct report *report, uint64_t count, const char *noun,
          bool is_first, bool is_last)
{
    if (count > 0)
        report_add(report, "%s%s",
                   is_first  ? ""
                   : is_last ? " and "
                             : ", ",
                   NUMBER_OF(count, noun));
}

static void
add_mixed(struct report *report, const struct colander_load_mixed *mixed)
{
    const uint64_t numbers = mixed->integer_count + mixed->double_count;

    report_add(report, "column '%s' has ", mixed->path);
    add_count(report, numbers, mixed->double_count > 0 ? "number" : "integer",
              true, false);
    add_count(report, mixed->boolean_count, "boolean", numbers == 0,
              mixed->string_count == 0);
    add_count(report, mixed->string_count, "string", false, true);
    if (mixed->missing != NULL)
        report_add(report, " '%s': --null %s stores them as null",
                   mixed->missing, mixed->missing);
    else
        report_add(report, ": --type %s=string keeps them as they are",
                   mixed->path);
}

/* Prints a line about each column that has values of several types. */
static void
print_mixed(struct colander_load *load, FILE *file)
{
    struct colander_load_mixed mixed;
    uint64_t count = 0;
    size_t at = 0;

    while (colander_load_mixed(load, &at, &mixed)) {
        struct report report = REPORT_EMPTY;

        if (count++ >= MIXED_SHOWN)
            continue;
        add_mixed(&report, &mixed);
        (void)!report_print(&report, file, NULL);
    }
    if (count > MIXED_SHOWN)
        fprintf(file, "%" PRIu64 " more column%s values of several types\n",
                count - MIXED_SHOWN,
                count > MIXED_SHOWN + 1 ? "s have" : " has");
}

/* Prints a line about each column with values that are not of its type. */
static void
print_misfits(struct colander_load *load, FILE *file)
{
    struct report report = REPORT_EMPTY;
    struct colander_load_misfit misfit;
    uint64_t count = 0;
    size_t at = 0;

    while (colander_load_misfit(load, &at, &misfit)) {
        if (count++ >= MIXED_SHOWN)
            continue;
        report_add(&report, "%scolumn '%s': ", count > 1 ? "\n" : "",
                   misfit.path);
        report_add(&report, "%s of %s are not %ss and stayed as they were",
                   THOUSANDS(misfit.misfit_count),
                   NUMBER_OF(misfit.value_count, "value"), misfit.type);
        report_add(&report, ", such as ");
        report_add_text(&report, colander_slice_text(misfit.example));
        report_add(&report, " (");
        report_add_text(&report, colander_slice_text(misfit.file));
        report_add(&report, ":%" PRIu64 ")", misfit.line);
    }
    if (count > MIXED_SHOWN)
        report_add(&report, "\n%s values that are not of %s type",
                   count == MIXED_SHOWN + 1 ? "1 more column has"
                                            : "more columns have",
                   count == MIXED_SHOWN + 1 ? "its" : "their");
    (void)!report_print(&report, file, NULL);
}

void
load_notes_print(struct colander_load *load, FILE *file)
{
    print_mixed(load, file);
    print_misfits(load, file);
}
