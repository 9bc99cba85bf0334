/*
 * What the hierarchy says about a query: which parts may match.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/find/plan.h"
#include "filters/live.h"

#include <stdlib.h>

/* Sets in `slots` the parts that may match one (`any`) or all operands. */
static enum colander_code
ask_operands(const struct plan *plan, const struct filter_query *query,
             bool any, uint64_t *slots, struct colander_error *err)
{
    const size_t words = plan->slot_words;
    uint64_t *other = calloc(words + 1, sizeof(*other));
    enum colander_code code = COLANDER_OK;

    if (other == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a find");
    memset(slots, any ? 0 : 0xff, words * sizeof(*slots));
    for (size_t i = 0; i < query->operand_count && code == COLANDER_OK; i++) {
        code = plan_ask_hierarchy(plan, query->operands[i], other, err);
        for (size_t k = 0; k < words; k++)
            slots[k] = any ? slots[k] | other[k] : slots[k] & other[k];
    }
    free(other);
    return code;
}

/* Sets in `slots` the parts that may contain one of the hashes, and records
 * them for each. */
static void
ask_hashes(const struct plan *plan, const struct filter_query *query,
           uint64_t *slots)
{
    const size_t words = plan->slot_words;

    memset(slots, 0, words * sizeof(*slots));
    for (size_t i = 0; i < query->hash_count; i++) {
        uint64_t *one = slots;

        if (plan->hash_slots != NULL)
            one = &plan->hash_slots[(query->first_hash + i) * words];
        hierarchy_find(plan->view->version, query->hashes[i], one);
        for (size_t k = 0; k < words; k++)
            slots[k] |= one[k];
    }
}

enum colander_code
plan_ask_hierarchy(const struct plan *plan, const struct filter_query *query,
                   uint64_t *slots, struct colander_error *err)
{
    switch (query->kind) {
    case FILTER_QUERY_EQUAL:
    case FILTER_QUERY_EXISTS:
    case FILTER_QUERY_WORD:
        ask_hashes(plan, query, slots);
        return COLANDER_OK;
    case FILTER_QUERY_ALL_OF:
    case FILTER_QUERY_ANY_OF:
        return ask_operands(plan, query, query->kind == FILTER_QUERY_ANY_OF,
                            slots, err);
    case FILTER_QUERY_RANGE:
    case FILTER_QUERY_PREFIX:
    case FILTER_QUERY_PIECE:
    case FILTER_QUERY_OPEN:
        break;
    }
    memset(slots, 0xff, plan->slot_words * sizeof(*slots));
    return COLANDER_OK;
}
