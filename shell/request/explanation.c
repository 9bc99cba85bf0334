/* See explanation.h. SPDX-License-Identifier: MIT */
#include "shell/explanation.h"

#include "columns/source.h"
#include "core/array.h"
#include "shell/order_report.h"

#include <stddef.h>
#include <stdlib.h>

/* ---------------------------------------------------- matched columns --- */

struct explanation_match {
    char *path;
    uint64_t row_count;
};

/* Adds rows in which the column matched. */
static void
count_match(struct explanation *explanation, const char *path, uint64_t count)
{
    struct report *matched = &explanation->matched;
    struct explanation_match *match = explanation->matches;
    const size_t known = explanation->match_count;
    size_t i = 0;

    while (i < known && strcmp(match[i].path, path) != 0)
        i++;
    if (i == known) {
        matched->code =
            array_reserve(&explanation->matches, known,
                          &explanation->match_capacity, 1, &matched->err);
        if (matched->code != COLANDER_OK)
            return;
        explanation->matches[i] = (struct explanation_match){strdup(path), 0};
        if (explanation->matches[i].path == NULL) {
            matched->code = COLANDER_FAIL(&matched->err, COLANDER_NO_MEMORY,
                                          "no memory for columns");
            return;
        }
        explanation->match_count++;
    }
    explanation->matches[i].row_count += count;
}

/* Writes them anew. */
static void
list_matches(struct explanation *explanation)
{
    struct report *matched = &explanation->matched;

    report_release(matched);
    memset(matched, 0, sizeof(*matched));
    for (size_t i = 0; i < explanation->match_count; i++) {
        const struct explanation_match *match = &explanation->matches[i];

        if (i >= EXPLANATION_COLUMNS_MAX)
            continue;
        report_add(matched, matched->part_count++ == 0 ? "" : ", ");
        report_add_text(matched, colander_slice_text(match->path));
        report_add(matched, " %s", THOUSANDS(match->row_count));
    }
    if (explanation->match_count > EXPLANATION_COLUMNS_MAX)
        report_add(matched, ", and %s",
                   NUMBER_OF(explanation->match_count - EXPLANATION_COLUMNS_MAX,
                             "other column"));
}

void
explanation_take_cursor(struct explanation *explanation,
                        const struct colander_cursor *cursor)
{
    struct colander_explain counts;
    const char *path;
    uint64_t count;

    colander_cursor_explain(cursor, &counts);
    explanation_take_counts(explanation, &counts);
    for (size_t i = 0; explanation->matched.code == COLANDER_OK &&
                       colander_cursor_matched(cursor, i, &path, &count);
         i++)
        count_match(explanation, path, count);
    if (explanation->matched.code == COLANDER_OK)
        list_matches(explanation);
}

void
explanation_take_counts(struct explanation *explanation,
                        const struct colander_explain *counts)
{
    struct colander_explain *sum = &explanation->counts;

    explanation->plan_counts[counts->plan]++;
    if (explanation->find_count++ == 0)
        *sum = *counts;
    else
        colander_explain_add(sum, counts);
}

/* -------------------------------------------------------------- counts --- */

/* Rows read in segments to find candidates, and candidates read to verify. */
static uint64_t
rows_read(const struct colander_explain *counts)
{
    return counts->rows_read + counts->rows_verified;
}

/* Adds "read 12 of about 100,000 rows". */
static void
add_share(const struct explanation *explanation, struct report *report)
{
    uint64_t read = rows_read(&explanation->counts);
    uint64_t all = explanation->key_count;

    if (read == 0)
        report_add(report, "read %s", all == 0 ? "nothing" : "none");
    else if (all < read) /* an estimate; and rows may be read twice */
        report_add(report, "read %s", NUMBER_OF(read, "row"));
    else
        report_add(report, "read %s", THOUSANDS(read));
    if (all != 0 && all >= read)
        report_add(report, " of about %s", NUMBER_OF(all, "row"));
}

void
explanation_add_counts(const struct explanation *explanation,
                       struct report *report)
{
    const struct colander_explain *counts = &explanation->counts;
    uint64_t time = counts->plan_time + counts->read_time +
                    counts->verify_time + explanation->where_time;
    bool is_scan = counts->plan == COLANDER_PLAN_SCAN;

    report_add(report, "%s: ", NUMBER_OF(explanation->row_count, "row"));
    if (is_scan)
        report_add(report, "scanned %s", NUMBER_OF(rows_read(counts), "row"));
    else
        add_share(explanation, report);
    if (counts->bytes_read > 0 || is_scan)
        report_add(report, " (%s)", SIZE_OF(counts->bytes_read));
    report_add(report, " in %s", TIME_OF(time));
}

/* --------------------------------------------------------------- lines --- */

/* Says how many families were asked, and how. */
static void
add_families(const struct explanation *explanation, struct report *report)
{
    const struct family_set *families = &explanation->request->families;

    report_line(report, "families", "%s of '",
                THOUSANDS(families->known_count));
    report_add_text(report, colander_slice_text(families->name));
    report_add(report, "': %s asked", THOUSANDS(explanation->find_count));
    if (families->known_count > families->count)
        report_add(report, ", %s not, because of their times",
                   THOUSANDS(families->known_count - families->count));
    if (families->count > explanation->find_count)
        report_add(report, ", %s not needed any more",
                   THOUSANDS(families->count - explanation->find_count));
    report_line(report, "plan", "%s",
                explanation->find_count == 0 ? "nothing" : "");
    for (int i = 0; i <= COLANDER_PLAN_NOTHING; i++) {
        if (explanation->plan_counts[i] > 0)
            report_add(report, "%s%s of %s",
                       report->part_count++ == 0 ? "" : ", ",
                       colander_plan_name((enum colander_plan)i),
                       THOUSANDS(explanation->plan_counts[i]));
    }
}

static void
add_plan(const struct explanation *explanation, struct report *report)
{
    const struct family_set *families = &explanation->request->families;
    const struct colander_query *query = &explanation->request->query;
    const struct colander_key_range *keys = &query->keys;
    const size_t bounds =
        keys->prefix.size + keys->from.size + keys->to.size + keys->exact.size;

    if (families->is_selection) {
        add_families(explanation, report);
        return;
    }
    report_line(report, "plan", "%s of family '%s' in %skey order%s",
                colander_plan_name(explanation->counts.plan),
                explanation->family, query->is_reverse ? "reverse " : "",
                bounds > 0 ? ", within a range of keys" : "");
}

static void
add_reason(const struct explanation *explanation, struct report *report)
{
    const struct colander_explain *counts = &explanation->counts;

    if (counts->reason == NULL)
        return;
    if (explanation->request->is_scan && counts->plan == COLANDER_PLAN_SCAN) {
        report_line(report, "because", "--scan asks for it");
        return;
    }
    report_line(report, "because", "%s", counts->reason);
    if (counts->rows_expected > 0)
        report_add(report, " (expected: %s)",
                   NUMBER_OF(counts->rows_expected, "candidate"));
}

/* Words in which a dictionary has found others. */
static void
add_found_words(const struct colander_explain *counts, struct report *report)
{
    if (counts->words_found == 0)
        return;
    report_add(report, " (%s of dictionaries, such as ",
               NUMBER_OF(counts->words_found, "word"));
    report_add_text(report, colander_slice_text(counts->some_words));
    report_add(report, ")");
}

/* The words that filters look for. */
static void
add_words(const struct explanation *explanation, struct report *report)
{
    struct colander_buffer words = COLANDER_BUFFER_EMPTY;

    if (explanation->request->where != NULL &&
        colander_predicate_words(explanation->request->where, &words, NULL) ==
            COLANDER_OK &&
        words.size > 0) {
        report_line(report, "words", "%s", "");
        report_add_text(report, colander_buffer_slice(&words));
        add_found_words(&explanation->counts, report);
    }
    colander_buffer_release(&words);
}

/* Adds a line for a column, unless filters have nothing to say about it. */
static void
add_order(const struct explanation *explanation, const char *path,
          struct report *report)
{
    const struct family_set *families = &explanation->request->families;
    struct report order = REPORT_EMPTY;

    order_report_add(families->families, families->count, path, &order);
    if (order.text.size > 0) {
        report_line(report, "order", "%s", "");
        report_add_text(report, colander_slice_text(path));
        report_add(report, " %.*s", (int)order.text.size,
                   (const char *)order.text.data);
    }
    report_release(&order);
}

/* The orders of columns by which filters look for ranges and first rows. */
static void
add_orders(const struct explanation *explanation, struct report *report)
{
    const struct request *request = explanation->request;
    struct colander_buffer paths = COLANDER_BUFFER_EMPTY;
    size_t next;

    if (request->where != NULL &&
        colander_predicate_range_paths(request->where, &paths, NULL) !=
            COLANDER_OK)
        paths.size = 0;
    for (size_t at = 0; at < paths.size; at = next) {
        const char *path = (const char *)paths.data + at;

        size_t later = next = at + strlen(path) + 1;

        while (later < paths.size &&
               strcmp((const char *)paths.data + later, path) != 0)
            later += strlen((const char *)paths.data + later) + 1;
        if (later >= paths.size)
            add_order(explanation, path, report);
    }
    if (request->order != NULL)
        add_order(explanation, request->order, report);
    colander_buffer_release(&paths);
}

/* Of a cluster: which partitions and nodes were asked. */
static void
add_places(const struct colander_explain *counts, struct report *report)
{
    const uint64_t idle = counts->stores_unasked + counts->stores_pruned;

    if (counts->store_count == 0)
        return;
    report_line(report, "partitions", "%s: ", THOUSANDS(counts->store_count));
    report_add_part(report, counts->stores_unasked, "cannot have the key");
    report_add_part(report, counts->stores_pruned, "have nothing to read");
    report_add_part(report, counts->store_count - idle, "read");
    if (counts->nodes_asked == 0)
        return;
    report_line(report, "nodes", "%s asked", THOUSANDS(counts->nodes_asked));
    if (counts->nodes_asked_again > 0)
        report_add(report, ", %s asked twice",
                   THOUSANDS(counts->nodes_asked_again));
}

static void
add_files(const struct colander_explain *counts, struct report *report)
{
    if (counts->file_count == 0)
        return;
    report_line(report, "files", "%s: ", THOUSANDS(counts->file_count));
    report_add_part(report, counts->files_pruned, "pruned by the hierarchy");
    report_add_part(report, counts->files_located,
                    "pruned by locator or order");
    report_add_part(report, counts->files_read, "read");
    if (counts->files_unsure > 0)
        report_add(report, " (%s without a usable filter)",
                   THOUSANDS(counts->files_unsure));
}

static void
add_candidates(const struct colander_explain *counts, struct report *report)
{
    uint64_t judged =
        counts->rows_returned + counts->rows_gone + counts->rows_false;

    if (counts->segments_read > 0)
        report_line(report, "segments", "%s read, %s",
                    THOUSANDS(counts->segments_read),
                    NUMBER_OF(counts->rows_read, "row"));
    if (counts->recent_found > 0)
        report_line(report, "recent", "%s among rows in no SST file yet",
                    NUMBER_OF(counts->recent_found, "candidate"));
    if (counts->candidate_count == 0)
        return;
    report_line(report, "verified", "%s",
                NUMBER_OF(counts->candidate_count, "candidate"));
    if (counts->rows_direct > 0)
        report_add(report, ", %s read directly",
                   THOUSANDS(counts->rows_direct));
    report_add(report, ": ");
    report_add_part(report, counts->rows_returned, "returned");
    report_add_part(report, counts->rows_gone, "gone");
    report_add_part(report, counts->rows_false,
                    counts->rows_false == 1 ? "false positive"
                                            : "false positives");
    if (counts->candidate_count > judged)
        report_add_part(report, counts->candidate_count - judged, "not needed");
}

static void
add_expressions(const struct explanation *explanation, struct report *report)
{
    if (explanation->request->expressions != NULL)
        report_line(report, "where", "%s accepted, %s rejected in %s",
                    NUMBER_OF(explanation->counts.rows_returned -
                                  explanation->rows_rejected,
                              "row"),
                    THOUSANDS(explanation->rows_rejected),
                    TIME_OF(explanation->where_time));
}

static void
add_times(const struct colander_explain *counts, struct report *report)
{
    if (counts->plan != COLANDER_PLAN_CANDIDATES ||
        counts->plan_time + counts->read_time + counts->verify_time == 0)
        return;
    report_line(report, "time", "%s planning, ", TIME_OF(counts->plan_time));
    report_add(report, "%s reading, ", TIME_OF(counts->read_time));
    report_add(report, "%s verifying", TIME_OF(counts->verify_time));
}

void
explanation_add(const struct explanation *explanation, struct report *report)
{
    const struct colander_explain *counts = &explanation->counts;
    const struct report *matched = &explanation->matched;

    add_plan(explanation, report);
    add_reason(explanation, report);
    add_places(counts, report);
    if (!explanation->request->is_scan)
        add_orders(explanation, report);
    if (counts->plan == COLANDER_PLAN_CANDIDATES) {
        add_words(explanation, report);
        add_files(counts, report);
        add_candidates(counts, report);
    }
    add_expressions(explanation, report);
    report_line(report, "work", "%s", "");
    explanation_add_counts(explanation, report);
    add_times(counts, report);
    if (report->code == COLANDER_OK && matched->code != COLANDER_OK) {
        report->code = matched->code;
        report->err = matched->err;
    } else if (matched->text.size > 0) {
        report_line(report, "matched", "%s", "");
        report_add_text(report, colander_buffer_slice(&matched->text));
    }
}

void
explanation_release(struct explanation *explanation)
{
    for (size_t i = 0; i < explanation->match_count; i++)
        free(explanation->matches[i].path);
    free(explanation->matches);
    report_release(&explanation->matched);
    memset(explanation, 0, sizeof(*explanation));
}
