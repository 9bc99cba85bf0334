/*
 * Zones: numbers of strings keep the order of strings.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/zones/zones_strings.h"
#include "support/cases.h"

#include "filters/zone_values.h"

#define TEXTS 24
#define TEXT_MAX 16

/* Strings of a part, and what they have in common. */
static struct {
    struct colander_value texts[TEXTS];
    uint8_t bytes[TEXTS][TEXT_MAX];
    uint8_t begin[4];
    uint8_t places[2 * ZONES_PLACES_MAX];
    struct zones_strings strings;
} part;

/* Few different bytes, so that strings are often close to each other. */
static uint8_t
any_byte(void)
{
    return (uint8_t)("\x00\x01"
                     "ab\xfe\xff"[below(6)]);
}

/* A string that often begins like those of the part. */
static struct colander_value
any_text(uint8_t *place, size_t begin_size)
{
    size_t size = (size_t)below(TEXT_MAX - begin_size);

    for (size_t i = 0; i < size + begin_size; i++)
        place[i] = i < begin_size ? part.begin[i] : any_byte();
    if (begin_size > 0 && below(20) == 0)
        place[below(begin_size)] = any_byte();
    return colander_string(colander_slice_of(place, size + begin_size));
}

static void
widen_places(struct colander_slice text, size_t begin_size)
{
    for (size_t i = 0; i < ZONES_PLACES_MAX; i++) {
        size_t from = begin_size + i;
        uint8_t byte = from < text.size ? text.data[from] : 0;

        if (byte < part.places[2 * i])
            part.places[2 * i] = byte;
        if (byte > part.places[2 * i + 1])
            part.places[2 * i + 1] = byte;
    }
}

static void
make_part(void)
{
    size_t begin_size = (size_t)below(sizeof(part.begin) + 1);

    memset(&part, 0, sizeof(part));
    for (size_t i = 0; i < sizeof(part.begin); i++)
        part.begin[i] = any_byte();
    for (size_t i = 0; i < ZONES_PLACES_MAX; i++)
        part.places[2 * i] = UINT8_MAX;
    part.strings.has_empty = below(2) == 0;
    for (size_t i = 0; i < TEXTS; i++) {
        struct colander_slice *text = &part.texts[i].bytes;

        part.texts[i] = any_text(part.bytes[i], begin_size);
        memcpy(part.bytes[i], part.begin, begin_size);
        if (text->size == 0 && !part.strings.has_empty)
            text->size = 1;
        else if (i == 0 && part.strings.has_empty)
            text->size = 0;
        if (text->size > 0)
            widen_places(*text, begin_size);
    }
    part.strings.begin = part.begin;
    part.strings.begin_size = (unsigned)begin_size;
    part.strings.places = part.places;
    part.strings.place_count = (unsigned)below(8);
    assert_true(zones_strings_init(&part.strings));
}

static bool
is_below(struct zones_point a, struct zones_point b)
{
    return zones_point_is_below(a, b);
}

static struct zones_point
point(struct zone_rank rank, bool is_high)
{
    return zones_strings_point(&part.strings, &rank, is_high);
}

/* Neither an end of a span nor a prefix excludes a string of the part. */
TEST(spans_contain_what_is_between_their_ends)
{
    uint8_t place[TEXT_MAX];

    for (uint64_t run = 0; run < random_runs(100000); run++) {
        struct colander_value asked;
        struct zone_rank rank;

        if (run % 50 == 0)
            make_part();
        asked = any_text(place, below(3) == 0 ? 0 : part.strings.begin_size);
        rank = zone_rank_of(&asked);
        for (size_t i = 0; i < TEXTS; i++) {
            struct zone_rank own = zone_rank_of(&part.texts[i]);
            int order = colander_value_compare(&part.texts[i], &asked);

            assert_false(is_below(point(own, true), point(own, false)));
            if (order >= 0)
                assert_false(is_below(point(own, true), point(rank, false)));
            if (order <= 0)
                assert_false(is_below(point(rank, true), point(own, false)));
            if (part.texts[i].bytes.size >= asked.bytes.size &&
                memcmp(part.texts[i].bytes.data, place, asked.bytes.size) == 0)
                assert_false(
                    is_below(point(zone_rank_of_prefix_end(&asked), true),
                             point(own, false)));
            assert_false(is_below(point(zone_rank_largest(&asked), true),
                                  point(own, false)));
            assert_false(is_below(point(own, true),
                                  point(zone_rank_least(&asked), false)));
        }
    }
}

/* The strings searched for keep their order as well. */
TEST(points_never_contradict_the_order_of_strings)
{
    uint8_t places[2][TEXT_MAX];

    for (uint64_t run = 0; run < random_runs(500000); run++) {
        struct colander_value a;
        struct colander_value b;
        bool is_high = below(2) == 0;

        if (run % 100 == 0)
            make_part();
        a = any_text(places[0], (size_t)below(part.strings.begin_size + 1));
        b = any_text(places[1], (size_t)below(part.strings.begin_size + 1));
        if (colander_value_compare(&a, &b) <= 0)
            assert_false(is_below(point(zone_rank_of(&b), is_high),
                                  point(zone_rank_of(&a), is_high)));
        else
            assert_false(is_below(point(zone_rank_of(&a), is_high),
                                  point(zone_rank_of(&b), is_high)));
    }
}

static struct zone_rank
rank_of(const char *text)
{
    struct colander_value value = colander_text(text);

    return zone_rank_of(&value);
}

/* "t-17", "t-20" and "t-39", of which two positions are kept. */
TEST(strings_between_those_of_the_part_find_none)
{
    static const char *const between[] = {
        "",     "s",     "t",    "t,99", "t-", "t-0", "t-1", "t-16",
        "t-1/", "t-2/x", "t-3/", "t-4",  "t.", "u",   "t-:"};
    static const char *const there[] = {"t-17", "t-20", "t-28", "t-28x",
                                        "t-39"};
    static const uint8_t places[] = {'1', '3', '0', '9'};

    memset(&part.strings, 0, sizeof(part.strings));
    part.strings.begin = (const uint8_t *)"t-";
    part.strings.begin_size = 2;
    part.strings.places = places;
    part.strings.place_count = 2;
    assert_true(zones_strings_init(&part.strings));
    assert_int_equal(part.strings.count, 30);
    for (size_t i = 0; i < COUNT(between); i++) {
        struct zone_rank rank = rank_of(between[i]);

        if (strcmp(between[i], "t-16") != 0)
            assert_true(is_below(point(rank, true), point(rank, false)));
    }
    for (size_t i = 0; i < COUNT(there); i++) {
        struct zone_rank rank = rank_of(there[i]);

        assert_false(is_below(point(rank, true), point(rank, false)));
        assert_true(is_below(point(rank_of("t-16"), true), point(rank, false)));
        assert_int_equal(point(rank, true).type, COLANDER_STRING);
    }
    /* Outside of all of them is outside of the type. */
    assert_int_equal(point(rank_of("t,99"), true).type, COLANDER_STRING - 1);
    assert_int_equal(point(rank_of("t-0"), true).type, COLANDER_STRING - 1);
    assert_int_equal(point(rank_of("t-4"), false).type, COLANDER_STRING + 1);
    assert_int_equal(point(rank_of("u"), false).type, COLANDER_STRING + 1);
}

TEST(places_out_of_order_or_too_many_are_refused)
{
    static const uint8_t turned[] = {'a', 'z', 'b', 'a'};
    uint8_t wide[2 * ZONES_PLACES_MAX];
    struct zones_strings strings;

    memset(&strings, 0, sizeof(strings));
    strings.places = turned;
    strings.place_count = 2;
    assert_false(zones_strings_init(&strings));
    for (size_t i = 0; i < sizeof(wide); i++)
        wide[i] = i % 2 == 0 ? 0 : UINT8_MAX;
    strings.places = wide;
    strings.place_count = 7;
    assert_true(zones_strings_init(&strings));
    strings.place_count = 8;
    assert_false(zones_strings_init(&strings));
}
