/* See explanation.h. SPDX-License-Identifier: MIT */
#include "serve/peers/explanation.h"

#include "core/bytes.h"

#include <stddef.h>
#include <stdio.h>

/* The counts, without the words between them, in the order of the struct. */
#define OFFSET(member) offsetof(struct colander_explain, member)
#define FIRST_SIZE (OFFSET(some_words) - OFFSET(rows_expected))
#define LAST_SIZE (sizeof(struct colander_explain) - OFFSET(store_count))
#define COUNTS ((FIRST_SIZE + LAST_SIZE) / sizeof(uint64_t))

enum colander_code
explanation_append(const struct colander_explain *explain,
                   struct colander_buffer *bytes, struct colander_error *err)
{
    uint64_t numbers[1 + COUNTS];
    uint8_t encoded[sizeof(numbers)];
    enum colander_code code = peer_append(
        bytes, PEER_WORDS, colander_slice_text(explain->some_words), err);

    numbers[0] = explain->plan;
    memcpy(numbers + 1, &explain->rows_expected, FIRST_SIZE);
    memcpy((char *)(numbers + 1) + FIRST_SIZE, &explain->store_count,
           LAST_SIZE);
    for (size_t i = 0; i <= COUNTS; i++)
        bytes_put_be64(encoded + i * sizeof(uint64_t), numbers[i]);
    return code == COLANDER_OK
               ? peer_append(bytes, PEER_NUMBERS,
                             colander_slice_of(encoded, sizeof(encoded)), err)
               : code;
}

void
explanation_begin(struct colander_explain *explain)
{
    memset(explain, 0, sizeof(*explain));
    explain->plan = COLANDER_PLAN_NOTHING;
    explain->reason = "another process has not answered yet";
    explain->nodes_asked = 1;
}

/* Reasons are static texts, so that of the server cannot be passed on. */
static const char *
reason_of(enum colander_plan plan)
{
    switch (plan) {
    case COLANDER_PLAN_SCAN:
        return "another process scans";
    case COLANDER_PLAN_CANDIDATES:
        return "value filters of another process know the rows";
    case COLANDER_PLAN_NOTHING:
        break;
    }
    return "another process has nothing to read";
}

void
explanation_take(struct colander_explain *explain, uint8_t kind,
                 struct colander_slice data)
{
    const size_t size = sizeof(uint64_t);
    uint64_t counts[COUNTS] = {0};

    if (kind == PEER_WORDS)
        (void)snprintf(explain->some_words, sizeof(explain->some_words), "%.*s",
                       (int)data.size, (const char *)data.data);
    if (kind != PEER_NUMBERS || data.size < size || data.size % size != 0 ||
        bytes_get_be64(data.data) > COLANDER_PLAN_NOTHING)
        return;
    for (size_t i = 0; i < COUNTS && (i + 2) * size <= data.size; i++)
        counts[i] = bytes_get_be64(data.data + (i + 1) * size);
    explain->plan = (enum colander_plan)bytes_get_be64(data.data);
    explain->reason = reason_of(explain->plan);
    memcpy(&explain->rows_expected, counts, FIRST_SIZE);
    memcpy(&explain->store_count, (const char *)counts + FIRST_SIZE, LAST_SIZE);
    explain->nodes_asked++; /* it asks no other one */
}

void
explanation_add_unasked(struct colander_explain *explain,
                        const struct call *call)
{
    if (call->is_void) {
        explain->nodes_asked = 0;
        explain->reason = "no key that is wanted can be there";
    }
    explain->store_count += call->unasked;
    explain->stores_unasked += call->unasked;
}
