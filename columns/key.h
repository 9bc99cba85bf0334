/*
 * Keys: what other files need to know of their bytes.
 *
 * Bytes: columns/FORMAT.md, "Keys"
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_COLUMNS_KEY_H
#define COLANDER_COLUMNS_KEY_H

#include "columns/columns.h"

/*
 * Is above every byte that a further part can start with, and not above the
 * bytes that continue a string or a fraction. So the key k and the keys that
 * continue the tuple k are exactly those that are >= k and < k followed by this
 * byte.
 */
#define KEY_RANGE_END 0xF0

/* Returns whether colander_key_decode would succeed, given memory. Cheap enough
 * for every put. */
bool key_is_valid(struct colander_slice key);

#endif
