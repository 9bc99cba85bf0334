/*
 * Folders: stores as a whole, which are moved and removed.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef NODE_FOLDER_H
#define NODE_FOLDER_H

#include "core/core.h"

/* Removes a folder and all in it, if it is there. */
COLANDER_CHECKED enum colander_code folder_remove(const char *path,
                                                  struct colander_error *err);

/* Moves one to the place of another, which is removed. */
COLANDER_CHECKED enum colander_code
folder_move(const char *from, const char *to, struct colander_error *err);

#endif
