/*
 * What a filter lacks of a query: it was built with other settings, or before
 * filters had that.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/part_find.h"
#include "filters/settings.h"

/* Returns whether the query is about a column in the list, or below one. */
static bool
is_listed(const struct filter_query *query, const uint64_t *paths,
          uint32_t count)
{
    for (size_t i = 0; i < query->path_length; i++) {
        for (uint32_t j = 0; j < count; j++) {
            if (paths[j] == query->path_hashes[i])
                return true;
        }
    }
    return false;
}

bool
filter_query_is_unfiltered(const struct filter_query *query,
                           const uint64_t *unfiltered, uint32_t count)
{
    return query->path_length == 0 ? count > 0
                                   : is_listed(query, unfiltered, count);
}

bool
filter_query_is_wordless(const struct filter_query *query,
                         const uint64_t *word_columns, uint32_t count)
{
    return count > 0 && !is_listed(query, word_columns, count);
}

size_t
filter_query_count(const struct filter_query *query,
                   enum filter_query_kind kind)
{
    size_t count = query->kind == kind;

    for (size_t i = 0; i < query->operand_count; i++)
        count += filter_query_count(query->operands[i], kind);
    return count;
}

bool
filter_lacks_words(const struct filter_head *head,
                   const struct filter_query *query)
{
    return head->words_version != TEXT_WORDS_VERSION ||
           filter_query_is_wordless(query, head->word_columns,
                                    head->word_column_count);
}

static bool
lacks_leaf(const struct filter_file *filter, const struct filter_query *query)
{
    const struct filter_head *head = &filter->head;

    return (query->kind == FILTER_QUERY_EXISTS &&
            filter->version < FILTER_FILE_VERSION_COLUMNS) ||
           (query->kind == FILTER_QUERY_WORD &&
            filter_lacks_words(head, query)) ||
           filter_query_is_unfiltered(query, head->unfiltered,
                                      head->unfiltered_count);
}

bool
filter_lacks_query(const struct filter_file *filter,
                   const struct filter_query *query)
{
    if (query->kind == FILTER_QUERY_OPEN)
        return false;
    if (query->kind != FILTER_QUERY_ALL_OF &&
        query->kind != FILTER_QUERY_ANY_OF)
        return lacks_leaf(filter, query);
    for (size_t i = 0; i < query->operand_count; i++) {
        if (filter_lacks_query(filter, query->operands[i]))
            return true;
    }
    return false;
}
