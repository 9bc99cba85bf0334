/*
 * The last time in a column, for the files of this layer.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_TIME_RANGE_H
#define COLANDER_COLUMNS_TIME_RANGE_H

#include "columns/columns.h"

/* Receives each cursor before it is read, and NULL before that is closed, so
 * that it can be cancelled. `tell` NULL: nothing does. */
struct cursor_watch {
    void (*tell)(void *context, struct colander_cursor *cursor);
    void *context;
};

/* As colander_family_time_range, which is watched. `first` NULL: it is not
 * looked for. */
COLANDER_CHECKED enum colander_code
time_range_find(struct colander_family *family, const char *path,
                const struct cursor_watch *watch, struct colander_value *first,
                struct colander_value *last, bool *found,
                struct colander_error *err);

#endif
