/*
 * The values of a row, each with the hash of its path.
 *
 * This runs for every row of every flush and compaction. The hashes of the open
 * containers are kept, so a value costs one step, however deep it is.
 *
 * Bytes: columns/FORMAT.md, "Hashes"
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/candidates.h"
#include "columns/row_walk.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

static inline uint64_t
hash_name(uint64_t parent, struct colander_slice name)
{
    return XXH3_64bits_withSeed(name.size == 0 ? "" : (const char *)name.data,
                                name.size, parent);
}

/* The finalizer of MurmurHash3, which is a bijection. */
static inline uint64_t
hash_element(uint64_t parent)
{
    uint64_t hash = parent + UINT64_C(0x9e3779b97f4a7c15);

    hash = (hash ^ hash >> 33) * UINT64_C(0xff51afd7ed558ccd);
    hash = (hash ^ hash >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return hash ^ hash >> 33;
}

uint64_t
path_hash_name(uint64_t parent, struct colander_slice name)
{
    return hash_name(parent, name);
}

uint64_t
path_hash_element(uint64_t parent)
{
    return hash_element(parent);
}

enum colander_code
row_values(struct colander_slice row,
           void (*visit)(void *context, const struct row_value *value),
           void *context, struct colander_error *err)
{
    /* Of the members of each open container: the hash that a name is added to,
     * or, in an array, that of all elements. */
    uint64_t bases[COLANDER_ROW_DEPTH_MAX + 1];
    struct row_walk walk;
    struct row_value value;
    enum colander_code code = row_walk_begin(&walk, row, err);
    bool is_value;

    bases[0] = PATH_HASH_START;
    while (code == COLANDER_OK) {
        const struct path_step *step;
        size_t depth;

        code = row_walk_next(&walk, &value.value, &is_value, err);
        if (code != COLANDER_OK || !is_value)
            break;
        depth = walk.depth;
        step = &walk.levels[depth - 1].step;
        value.depth = (uint32_t)depth;
        value.path_hash = bases[depth - 1];
        if (!step->is_element)
            value.path_hash = hash_name(value.path_hash, step->name);
        if (value.value.type == COLANDER_MAP)
            bases[depth] = value.path_hash;
        else if (value.value.type == COLANDER_ARRAY)
            bases[depth] = hash_element(value.path_hash);
        visit(context, &value);
    }
    return code;
}

enum colander_code
path_hash_of_text(const char *path, uint64_t *hash, struct colander_error *err)
{
    struct path parsed = PATH_EMPTY;
    enum colander_code code = colander_path_parse(path, &parsed, err);

    *hash = PATH_HASH_START;
    if (code != COLANDER_OK)
        return code;
    for (size_t i = 0; i < parsed.count; i++)
        *hash = parsed.steps[i].is_element
                    ? hash_element(*hash)
                    : hash_name(*hash, parsed.steps[i].name);
    path_release(&parsed);
    return COLANDER_OK;
}
