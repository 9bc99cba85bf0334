/*
 * Keys: what the rest of columns needs to know of their bytes.
 *
 * Bytes: columns/FORMAT.md, "Keys"
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef COLANDER_KEY_H
#define COLANDER_KEY_H

#include "columns/columns.h"

/*
 * Above every byte that a further part can start with, and not above what a
 * longer string or a fraction goes on with: k itself and all keys that
 * continue the tuple k, and no others, are >= k and < k followed by this
 * byte. So a prefix or an inclusive end is made into a range of bytes.
 */
#define KEY_RANGE_END 0xF0

/* True exactly when colander_key_decode succeeds, given memory; cheap enough
 * to ask on every put. */
bool key_is_valid(struct colander_slice key);

#endif
