/*
 * Load items: what a request with items, as Elasticsearch's _bulk has them, is
 * answered: the status of each, in their order.
 *
 *     {"items":[{"index":{"_index":"logs","_id":"7","status":201,
 *                         "result":"created"}},
 *               {"create":{"_index":"logs","_id":"7","status":409,
 *                          "error":{"type":"...","reason":"..."}}}],
 *      "errors":true,"took":3}
 *
 * Life: load_items_begin -> load_items_take* -> load_items_end
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef SHELL_LOAD_ITEMS_H
#define SHELL_LOAD_ITEMS_H

#include "shell/session.h"

/* Of a request, whose answer is held in memory. */
#define LOAD_ITEMS_SIZE_MAX ((size_t)32 << 20)

struct colander_load_item;

struct load_items {
    FILE *out;
    uint64_t begun; /* clock_us */
    uint64_t count;
    size_t size; /* of the answer, so far */
    bool has_errors;
    struct colander_buffer json; /* of one item */
};

void load_items_begin(struct load_items *items, const struct session *session);

/* Prints an item. Fails with LIMIT if the answer becomes too large, with
 * NO_MEMORY and with IO. */
COLANDER_CHECKED enum colander_code
load_items_take(struct load_items *items, const struct colander_load_item *item,
                struct colander_error *err);

void load_items_end(struct load_items *items);

#endif
