/* See quantiles.h. SPDX-License-Identifier: MIT */
#include "columns/groups/quantiles.h"
#include "core/array.h"
#include "core/bytes.h"

#include <math.h>
#include <stdlib.h>

#define ACCURACY 0.01
#define GROWTH ((1 + ACCURACY) / (1 - ACCURACY))

/* Places: of 0, and so far from it that those of all other numbers are
 * positive; then of infinity, and of NaN, which comes last. */
#define PLACE_ZERO 0
#define PLACE_ONE 50000 /* more than log(2^1074) / log(GROWTH) */
#define PLACE_INFINITE (INT32_MAX - 1)
#define PLACE_NAN INT32_MAX

static double
number_of(const struct colander_value *value)
{
    if (value->type == COLANDER_INTEGER)
        return (double)value->integer;
    return value->type == COLANDER_UNSIGNED ? (double)value->natural
                                            : value->number;
}

static int32_t
place_of(double number)
{
    int32_t place;

    if (isnan(number))
        return PLACE_NAN;
    if (number == 0)
        return PLACE_ZERO;
    if (isinf(number))
        place = PLACE_INFINITE;
    else
        place = PLACE_ONE + (int32_t)ceil(log(fabs(number)) / log(GROWTH));
    return number < 0 ? -place : place;
}

/* Rounds to six digits, which is more than is known of a quantile: the last
 * bits of a logarithm differ from processor to processor. */
static double
round_to_digits(double number)
{
    const double scale = pow(10, 5 - floor(log10(number)));

    return isnormal(scale) && isnormal(number * scale)
               ? round(number * scale) / scale
               : number;
}

static double
number_at(int32_t place)
{
    const int32_t size = place < 0 ? -place : place;
    double number;

    if (place == PLACE_NAN)
        return (double)NAN;
    if (place == PLACE_ZERO)
        return 0;
    if (size == PLACE_INFINITE)
        number = HUGE_VAL;
    else /* between both ends, as far from one as from the other */
        number = round_to_digits(exp((size - PLACE_ONE) * log(GROWTH)) * 2 /
                                 (GROWTH + 1));
    return place < 0 ? -number : number;
}

/* Returns the index of the first counter at or after `place`. */
static size_t
find(const struct quantiles *quantiles, int32_t place)
{
    size_t index;

    array_search(index, quantiles->count,
                 quantiles->counters[index].place < place);
    return index;
}

static enum colander_code
count(struct quantiles *quantiles, int32_t place, uint64_t more, size_t *bytes,
      struct colander_error *err)
{
    const size_t index = find(quantiles, place);
    const size_t capacity = quantiles->capacity;
    struct quantile_counter *counter;
    enum colander_code code;

    quantiles->number_count += more;
    if (index < quantiles->count && quantiles->counters[index].place == place) {
        quantiles->counters[index].count += more;
        return COLANDER_OK;
    }
    code = array_reserve(&quantiles->counters, quantiles->count,
                         &quantiles->capacity, 1, err);
    if (code != COLANDER_OK)
        return code;
    *bytes += (quantiles->capacity - capacity) * sizeof(*counter);
    counter = &quantiles->counters[index];
    memmove(counter + 1, counter,
            (quantiles->count - index) * sizeof(*counter));
    counter->place = place;
    counter->count = more;
    quantiles->count++;
    return COLANDER_OK;
}

enum colander_code
quantiles_add(struct quantiles *quantiles, const struct colander_value *number,
              size_t *bytes, struct colander_error *err)
{
    return count(quantiles, place_of(number_of(number)), 1, bytes, err);
}

enum colander_code
quantiles_merge(struct quantiles *quantiles, const struct quantiles *other,
                size_t *bytes, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < other->count && code == COLANDER_OK; i++)
        code = count(quantiles, other->counters[i].place,
                     other->counters[i].count, bytes, err);
    return code;
}

#define COUNTER_SIZE 12 /* of an encoded one */

enum colander_code
quantiles_encode(const struct quantiles *quantiles, struct colander_buffer *out,
                 struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < quantiles->count && code == COLANDER_OK; i++) {
        uint8_t counter[COUNTER_SIZE];

        bytes_put_be32(counter, (uint32_t)quantiles->counters[i].place);
        bytes_put_be64(counter + 4, quantiles->counters[i].count);
        code = colander_buffer_append(out, counter, sizeof(counter), err);
    }
    return code;
}

/* Whether a number may have it. */
static bool
is_place(int32_t place)
{
    return abs(place) <= 2 * PLACE_ONE || abs(place) == PLACE_INFINITE ||
           place == PLACE_NAN;
}

enum colander_code
quantiles_add_encoded(struct quantiles *quantiles,
                      struct colander_slice encoded, size_t *bytes,
                      struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;
    int64_t last = INT32_MIN; /* which is no place */

    for (size_t at = 0; at < encoded.size && code == COLANDER_OK;
         at += COUNTER_SIZE) {
        int32_t place;
        uint64_t more;

        if (encoded.size - at < COUNTER_SIZE)
            return COLANDER_FAIL(err, COLANDER_INVALID, "half of a counter");
        place = (int32_t)bytes_get_be32(encoded.data + at);
        more = bytes_get_be64(encoded.data + at + 4);
        if (place <= last || more == 0 || !is_place(place) ||
            more > UINT64_MAX - quantiles->number_count)
            return COLANDER_FAIL(err, COLANDER_INVALID,
                                 "a counter is malformed");
        last = place;
        code = count(quantiles, place, more, bytes, err);
    }
    return code;
}

struct colander_value
quantiles_value(const struct quantiles *quantiles, double quantile)
{
    uint64_t below;
    size_t i = 0;

    if (quantiles->number_count == 0)
        return colander_null();
    below = (uint64_t)(quantile * (double)(quantiles->number_count - 1));
    for (; i + 1 < quantiles->count && quantiles->counters[i].count <= below;
         i++)
        below -= quantiles->counters[i].count;
    return colander_double(number_at(quantiles->counters[i].place));
}

void
quantiles_release(struct quantiles *quantiles)
{
    free(quantiles->counters);
    memset(quantiles, 0, sizeof(*quantiles));
}
