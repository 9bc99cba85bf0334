/* See value_set.h. SPDX-License-Identifier: MIT */
#include "columns/groups/value_set.h"
#include "core/array.h"

#include <math.h>
#include <stdlib.h>

/* --------------------------------------------------------------- values --- */

int
any_value_compare(const struct colander_value *a,
                  const struct colander_value *b)
{
    if (a->type >= COLANDER_ARRAY && a->type == b->type)
        return colander_slice_compare(a->bytes, b->bytes);
    if (a->type >= COLANDER_ARRAY && b->type >= COLANDER_ARRAY)
        return a->type < b->type ? -1 : 1;
    return colander_value_compare(a, b);
}

uint64_t
any_value_hash(const struct colander_value *value)
{
    struct colander_value bytes;

    if (value->type < COLANDER_ARRAY)
        return colander_value_hash(value);
    bytes = colander_binary(value->bytes);
    return colander_value_hash(&bytes) + value->type;
}

bool
any_value_represents(const struct colander_value *value,
                     const struct colander_value *other)
{
    if (value->type != other->type)
        return value->type < other->type;
    return value->type == COLANDER_DOUBLE && signbit(other->number) != 0 &&
           signbit(value->number) == 0;
}

enum colander_code
held_value_set(struct held_value *held, const struct colander_value *value,
               size_t *bytes, struct colander_error *err)
{
    const size_t size = any_value_has_bytes(value) ? value->bytes.size : 0;

    if (size > held->capacity) {
        uint8_t *larger = malloc(size);

        if (larger == NULL)
            return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                                 "no memory for a value");
        free(held->bytes);
        *bytes += size - held->capacity;
        held->bytes = larger;
        held->capacity = size;
    }
    held->value = *value;
    if (any_value_has_bytes(value)) {
        if (size > 0)
            memcpy(held->bytes, value->bytes.data, size);
        held->value.bytes = colander_slice_of(held->bytes, size);
    }
    return COLANDER_OK;
}

/* ------------------------------------------------------------------ set --- */

/* Copies the bytes of a value, if it has some. */
static enum colander_code
own_bytes(struct colander_value *value, size_t *bytes,
          struct colander_error *err)
{
    uint8_t *copy;

    if (!any_value_has_bytes(value))
        return COLANDER_OK;
    copy = malloc(value->bytes.size + 1);
    if (copy == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a value");
    if (value->bytes.size > 0)
        memcpy(copy, value->bytes.data, value->bytes.size);
    *bytes += value->bytes.size + 1;
    value->bytes.data = copy;
    return COLANDER_OK;
}

/* Adds a value that is not in the set. */
static enum colander_code
add_new(struct value_set *set, const struct colander_value *value,
        uint32_t hash, size_t *bytes, struct colander_error *err)
{
    const size_t before = set->capacity * sizeof(*set->values) +
                          set->index.slot_count * sizeof(*set->index.slots);
    enum colander_code code;

    code = array_reserve(&set->values, set->count, &set->capacity, 1, err);
    if (code == COLANDER_OK)
        code = hash_index_reserve(&set->index, err);
    if (code != COLANDER_OK)
        return code;
    set->values[set->count] = *value;
    code = own_bytes(&set->values[set->count], bytes, err);
    if (code != COLANDER_OK)
        return code;
    *bytes += set->capacity * sizeof(*set->values) +
              set->index.slot_count * sizeof(*set->index.slots) - before;
    hash_index_add(&set->index, hash, (uint32_t)set->count++);
    return COLANDER_OK;
}

enum colander_code
value_set_add(struct value_set *set, const struct colander_value *value,
              size_t *bytes, struct colander_error *err)
{
    const uint32_t hash = (uint32_t)any_value_hash(value);
    size_t at = HASH_INDEX_START;
    uint32_t i;

    while ((i = hash_index_next(&set->index, hash, &at)) != HASH_INDEX_NONE) {
        if (any_value_equal(&set->values[i], value))
            return COLANDER_OK;
    }
    return add_new(set, value, hash, bytes, err);
}

enum colander_code
value_set_merge(struct value_set *set, const struct value_set *other,
                size_t *bytes, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < other->count && code == COLANDER_OK; i++)
        code = value_set_add(set, &other->values[i], bytes, err);
    return code;
}

void
value_set_release(struct value_set *set)
{
    for (size_t i = 0; i < set->count; i++) {
        if (any_value_has_bytes(&set->values[i]))
            free((void *)set->values[i].bytes.data);
    }
    free(set->values);
    hash_index_release(&set->index);
    memset(set, 0, sizeof(*set));
}

/* ------------------------------------------------------------- estimate --- */

#define INDEX_BITS 14
#define REGISTERS ((size_t)1 << INDEX_BITS)
#define RANK_MAX (64 - INDEX_BITS + 1)
#define HASHES_MAX 1024 /* half of the memory of registers */

/* Spreads a hash over all bits (the finalizer of SplitMix64). */
static uint64_t
spread(uint64_t hash)
{
    hash = (hash ^ hash >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    hash = (hash ^ hash >> 27) * UINT64_C(0x94d049bb133111eb);
    return hash ^ hash >> 31;
}

/* Notes a hash in its register: the longest row of zeros, and 1. */
static void
note(uint8_t *registers, uint64_t hash)
{
    const uint64_t rest = hash << INDEX_BITS;
    const unsigned rank =
        rest == 0 ? RANK_MAX : (unsigned)__builtin_clzll(rest) + 1;
    uint8_t *at = &registers[hash >> (64 - INDEX_BITS)];

    if (rank > *at)
        *at = (uint8_t)rank;
}

static enum colander_code
make_registers(struct value_estimate *estimate, size_t *bytes,
               struct colander_error *err)
{
    estimate->registers = calloc(REGISTERS, 1);
    if (estimate->registers == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory to count values");
    *bytes += REGISTERS; /* the hashes, which are freed, stay counted */
    for (size_t i = 0; i < estimate->count; i++)
        note(estimate->registers, estimate->hashes[i]);
    free(estimate->hashes);
    estimate->hashes = NULL;
    estimate->count = 0;
    estimate->capacity = 0;
    return COLANDER_OK;
}

/* Adds a hash that was spread. */
static enum colander_code
add_spread(struct value_estimate *estimate, uint64_t hash, size_t *bytes,
           struct colander_error *err)
{
    const size_t capacity = estimate->capacity;
    size_t place;
    enum colander_code code;

    if (estimate->registers != NULL) {
        note(estimate->registers, hash);
        return COLANDER_OK;
    }
    array_search(place, estimate->count, estimate->hashes[place] < hash);
    if (place < estimate->count && estimate->hashes[place] == hash)
        return COLANDER_OK;
    if (estimate->count == HASHES_MAX) {
        code = make_registers(estimate, bytes, err);
        if (code == COLANDER_OK)
            note(estimate->registers, hash);
        return code;
    }
    code = array_reserve(&estimate->hashes, estimate->count,
                         &estimate->capacity, 1, err);
    if (code != COLANDER_OK)
        return code;
    *bytes += (estimate->capacity - capacity) * sizeof(hash);
    memmove(estimate->hashes + place + 1, estimate->hashes + place,
            (estimate->count - place) * sizeof(hash));
    estimate->hashes[place] = hash;
    estimate->count++;
    return COLANDER_OK;
}

enum colander_code
value_estimate_add(struct value_estimate *estimate, uint64_t hash,
                   size_t *bytes, struct colander_error *err)
{
    return add_spread(estimate, spread(hash), bytes, err);
}

enum colander_code
value_estimate_merge(struct value_estimate *estimate,
                     const struct value_estimate *other, size_t *bytes,
                     struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < other->count && code == COLANDER_OK; i++)
        code = add_spread(estimate, other->hashes[i], bytes, err);
    if (code != COLANDER_OK || other->registers == NULL)
        return code;
    if (estimate->registers == NULL)
        code = make_registers(estimate, bytes, err);
    for (size_t i = 0; i < REGISTERS && code == COLANDER_OK; i++) {
        if (other->registers[i] > estimate->registers[i])
            estimate->registers[i] = other->registers[i];
    }
    return code;
}

/* Registers take more bytes than hashes ever do. */
enum colander_code
value_estimate_encode(const struct value_estimate *estimate,
                      struct colander_buffer *out, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    if (estimate->registers != NULL)
        return colander_buffer_append(out, estimate->registers, REGISTERS, err);
    for (size_t i = 0; i < estimate->count && code == COLANDER_OK; i++) {
        uint8_t hash[8];

        bytes_put_be64(hash, estimate->hashes[i]);
        code = colander_buffer_append(out, hash, sizeof(hash), err);
    }
    return code;
}

enum colander_code
value_estimate_add_encoded(struct value_estimate *estimate,
                           struct colander_slice encoded, size_t *bytes,
                           struct colander_error *err)
{
    const struct value_estimate other = {.registers = (void *)encoded.data};
    enum colander_code code = COLANDER_OK;
    bool is_bad = encoded.size > HASHES_MAX * sizeof(uint64_t) ||
                  encoded.size % sizeof(uint64_t) != 0;

    if (encoded.size == REGISTERS) {
        is_bad = false;
        for (size_t i = 0; i < REGISTERS; i++)
            is_bad |= encoded.data[i] > RANK_MAX;
    }
    if (is_bad)
        return COLANDER_FAIL(err, COLANDER_INVALID, "an estimate is malformed");
    if (encoded.size == REGISTERS)
        return value_estimate_merge(estimate, &other, bytes, err);
    for (size_t at = 0; at < encoded.size && code == COLANDER_OK;
         at += sizeof(uint64_t))
        code =
            add_spread(estimate, bytes_get_be64(encoded.data + at), bytes, err);
    return code;
}

/* The sums sigma and tau of O. Ertl, "New cardinality estimation algorithms for
 * HyperLogLog sketches" (2017), which correct the estimate for registers that
 * are still 0, and for those that cannot grow. */
static double
sigma(double part)
{
    double sum = part;
    double weight = 1;
    double before;

    if (part == 1)
        return HUGE_VAL;
    do {
        part *= part;
        before = sum;
        sum += part * weight;
        weight += weight;
    } while (sum != before);
    return sum;
}

static double
tau(double part)
{
    double sum = 1 - part;
    double weight = 1;
    double before;

    if (part == 0 || part == 1)
        return 0;
    do {
        part = sqrt(part);
        before = sum;
        weight /= 2;
        sum -= (1 - part) * (1 - part) * weight;
    } while (sum != before);
    return sum / 3;
}

uint64_t
value_estimate_count(const struct value_estimate *estimate)
{
    const double registers = (double)REGISTERS;
    size_t ranks[RANK_MAX + 1] = {0};
    double sum;

    if (estimate->registers == NULL)
        return estimate->count;
    for (size_t i = 0; i < REGISTERS; i++)
        ranks[estimate->registers[i]]++;
    sum = registers * tau(1 - (double)ranks[RANK_MAX] / registers);
    for (size_t rank = RANK_MAX - 1; rank > 0; rank--)
        sum = (sum + (double)ranks[rank]) / 2;
    sum += registers * sigma((double)ranks[0] / registers);
    return (uint64_t)llround(registers * registers / (2 * log(2) * sum));
}

void
value_estimate_release(struct value_estimate *estimate)
{
    free(estimate->hashes);
    free(estimate->registers);
    memset(estimate, 0, sizeof(*estimate));
}
