/*
 * Rules out files by the summaries, before their filters are opened: for a
 * store whose files are far away.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/find/plan.h"

#include "filters/live.h"

#include <stdlib.h>

struct ruling {
    struct filters *filters;
    const struct file_view *view;
    size_t words; /* of a set of files */
};

static enum colander_code ask(const struct ruling *ruling,
                              const struct filter_query *query, uint64_t *files,
                              struct colander_error *err);

/* Sets the files that may have one of the hashes. */
static enum colander_code
ask_hashes(const struct ruling *ruling, const struct filter_query *query,
           uint64_t *files, uint64_t *other, struct colander_error *err)
{
    const bool needs_words = query->kind == FILTER_QUERY_WORD;
    enum colander_code code = COLANDER_OK;

    memset(files, 0, ruling->words * sizeof(*files));
    for (size_t i = 0; i < query->hash_count && code == COLANDER_OK; i++) {
        code = summaries_ask(ruling->filters, ruling->view, query->hashes[i],
                             needs_words, other, err);
        for (size_t k = 0; k < ruling->words; k++)
            files[k] |= other[k];
    }
    return code;
}

/* Sets the files that may match one (`any`) or all operands. */
static enum colander_code
ask_operands(const struct ruling *ruling, const struct filter_query *query,
             bool any, uint64_t *files, uint64_t *other,
             struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    memset(files, any ? 0 : 0xff, ruling->words * sizeof(*files));
    for (size_t i = 0; i < query->operand_count && code == COLANDER_OK; i++) {
        code = ask(ruling, query->operands[i], other, err);
        for (size_t k = 0; k < ruling->words && code == COLANDER_OK; k++)
            files[k] = any ? files[k] | other[k] : files[k] & other[k];
    }
    return code;
}

/* Sets the files that may match the query. */
static enum colander_code
ask(const struct ruling *ruling, const struct filter_query *query,
    uint64_t *files, struct colander_error *err)
{
    uint64_t *other = malloc(ruling->words * sizeof(*other));
    enum colander_code code = COLANDER_OK;

    if (other == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a find");
    switch (query->kind) {
    case FILTER_QUERY_EQUAL:
    case FILTER_QUERY_EXISTS:
    case FILTER_QUERY_WORD:
        code = ask_hashes(ruling, query, files, other, err);
        break;
    case FILTER_QUERY_ALL_OF:
    case FILTER_QUERY_ANY_OF:
        code = ask_operands(ruling, query, query->kind == FILTER_QUERY_ANY_OF,
                            files, other, err);
        break;
    case FILTER_QUERY_RANGE:
    case FILTER_QUERY_PREFIX:
    case FILTER_QUERY_PIECE:
    case FILTER_QUERY_OPEN:
        memset(files, 0xff, ruling->words * sizeof(*files));
        break;
    }
    free(other);
    return code;
}

enum colander_code
rule_out_files(struct filters *filters, const struct file_view *view,
               const struct filter_query *query, uint64_t **files,
               struct colander_error *err)
{
    const struct ruling ruling = {filters, view, view->file_count / 64 + 1};
    enum colander_code code;

    *files = malloc(ruling.words * sizeof(**files));
    if (*files == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a find");
    code = ask(&ruling, query, *files, err);
    if (code == COLANDER_OK)
        return code;
    free(*files);
    *files = NULL;
    return code;
}
