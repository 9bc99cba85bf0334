/*
 * Demo data: see demo_data.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shell/demo_data.h"

#include <stdio.h>

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

#define READINGS_PER_STATION 1000
#define FIRST_TIME 1600000000
#define TIME_STEP 60

static const char *const surnames[] = {
    "Smith",  "Nowak",     "Garcia", "Houston", "Tanaka", "Silva",  "Becker",
    "Jones",  "Kowalska",  "Lopez",  "Suzuki",  "Costa",  "Keller", "Brown",
    "Wilson", "Zielinska", "Martin", "Rossi",   "Novak",  "Dubois", "Okafor",
    "Patel",  "Andersson", "Murphy", "Yilmaz",
};

static const char *const first_names[] = {
    "Anna",  "James",  "Maria", "Piotr", "Yuki",   "Lucas", "Emma",  "Ahmed",
    "Zofia", "Daniel", "Chloe", "Mateo", "Ingrid", "Omar",  "Grace", "Jan",
};

static const char *const cities[] = {
    "Houston",  "Warsaw", "Madrid",  "Berlin", "Tokyo",  "Lisbon",
    "Chicago",  "Krakow", "Seville", "Munich", "Osaka",  "Porto",
    "Portland", "Gdansk", "Bilbao",  "Bremen", "Nagoya", "Recife",
    "Dublin",   "Lagos",  "Mumbai",  "Izmir",  "Lyon",   "Turin",
};

static const char *const words[] = {
    "coffee", "morning", "train",  "rain",    "music",  "city",   "river",
    "bread",  "garden",  "winter", "match",   "bridge", "paper",  "light",
    "again",  "never",   "today",  "already", "maybe",  "so",     "the",
    "a",      "my",      "our",    "with",    "after",  "before", "without",
    "love",   "hate",    "need",   "see",     "found",  "missed", "heard",
    "good",   "slow",    "late",   "quiet",   "bright", "broken", "new",
};

static const char *const tags[] = {
    "coffee", "music", "travel", "weather", "Houston", "football",
    "garden", "books", "trains", "food",    "news",    "photo",
};

static const char *const faults[] = {"fan", "drift", "power", "icing"};

/* A small generator: each record has its own, seeded by its number. */
struct dice {
    uint64_t state;
};

static struct dice
dice_of(uint32_t number, uint32_t kind)
{
    struct dice dice = {((uint64_t)kind << 32 | number) * 0xD1342543DE82EF95u};

    return dice;
}

/* A number below `sides`. The mixing is that of MurmurHash3. */
static uint32_t
roll(struct dice *dice, size_t sides)
{
    uint64_t mixed = dice->state += 0x9E3779B97F4A7C15u;

    mixed = (mixed ^ mixed >> 33) * 0xFF51AFD7ED558CCDu;
    mixed = (mixed ^ mixed >> 33) * 0xC4CEB9FE1A85EC53u;
    mixed ^= mixed >> 33;
    return (uint32_t)(mixed % sides);
}

static const char *
pick_word(struct dice *dice)
{
    return words[roll(dice, COUNT(words))];
}

/* Writes 5 to 11 words. */
static void
write_text(struct dice *dice, char *text, size_t size)
{
    uint32_t count = 5 + roll(dice, 7);
    size_t used = 0;

    for (uint32_t i = 0; i < count && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s",
                                 i == 0 ? "" : " ", pick_word(dice));
}

/* Most have few, and few have up to a thousand. */
static int64_t
roll_likes(struct dice *dice)
{
    int64_t die = roll(dice, 1000);

    return die * die / 1000 * die / 1000;
}

static const char *
pick_language(struct dice *dice)
{
    static const char *const languages[] = {"en", "en", "en", "en", "en",
                                            "es", "es", "pl", "de", "ja"};

    return languages[roll(dice, COUNT(languages))];
}

/* The user's account: the same one for every tweet of theirs. */
static void
add_user(struct colander_row_builder *builder, uint32_t user)
{
    struct dice dice = dice_of(user, 3);
    const char *surname = surnames[user % COUNT(surnames)];
    uint32_t namesake = (uint32_t)(user / COUNT(surnames));
    char name[64];

    if (namesake == 0)
        snprintf(name, sizeof(name), "%s", surname);
    else
        snprintf(name, sizeof(name), "%s%u", surname, namesake);
    colander_row_builder_add(builder, "user", colander_text(name));
    colander_row_builder_begin_map(builder, "profile");
    snprintf(name, sizeof(name), "%s %s",
             first_names[roll(&dice, COUNT(first_names))], surname);
    colander_row_builder_add(builder, "name", colander_text(name));
    colander_row_builder_add(builder, "city",
                             colander_text(cities[roll(&dice, COUNT(cities))]));
    colander_row_builder_add(builder, "followers",
                             colander_integer(roll(&dice, 20000)));
    colander_row_builder_end(builder);
}

static void
add_hashtags(struct colander_row_builder *builder, struct dice *dice)
{
    uint32_t count = 1 + roll(dice, 2);

    colander_row_builder_begin_map(builder, "entities");
    colander_row_builder_begin_array(builder, "hashtags");
    for (uint32_t i = 0; i < count; i++) {
        colander_row_builder_begin_map(builder, NULL);
        colander_row_builder_add(builder, "text",
                                 colander_text(tags[roll(dice, COUNT(tags))]));
        colander_row_builder_end(builder);
    }
    colander_row_builder_end(builder);
    colander_row_builder_end(builder);
}

enum colander_code
demo_tweet(struct colander_row_builder *builder, uint32_t number,
           struct colander_buffer *key, struct colander_slice *row,
           struct colander_error *err)
{
    struct dice dice = dice_of(number, 1);
    char text[256];
    enum colander_code code;

    snprintf(text, sizeof(text), "t%06u", number);
    code = colander_key_text(text, key, err);
    if (code != COLANDER_OK)
        return code;
    add_user(builder, roll(&dice, 4000));
    write_text(&dice, text, sizeof(text));
    colander_row_builder_add(builder, "text", colander_text(text));
    colander_row_builder_add(builder, "lang",
                             colander_text(pick_language(&dice)));
    colander_row_builder_add(builder, "likes",
                             colander_integer(roll_likes(&dice)));
    if (roll(&dice, 10) < 3)
        colander_row_builder_add(
            builder, "place",
            colander_text(cities[roll(&dice, COUNT(cities))]));
    if (roll(&dice, 10) < 4)
        add_hashtags(builder, &dice);
    return colander_row_builder_finish(builder, row, err);
}

/* A decimal number of tenths. */
static struct colander_value
tenths(uint32_t number)
{
    return colander_double((double)number / 10);
}

enum colander_code
demo_reading(struct colander_row_builder *builder, uint32_t number,
             struct colander_buffer *key, struct colander_slice *row,
             struct colander_error *err)
{
    struct dice dice = dice_of(number, 2);
    uint32_t step = number % READINGS_PER_STATION;
    struct colander_value parts[2];
    char station[32];
    enum colander_code code;

    snprintf(station, sizeof(station), "sensor-%u",
             number / READINGS_PER_STATION);
    parts[0] = colander_text(station);
    parts[1] = colander_integer(FIRST_TIME + (int64_t)step * TIME_STEP);
    code = colander_key_encode(parts, 2, key, err);
    if (code != COLANDER_OK)
        return code;
    colander_row_builder_add(builder, "temperature",
                             tenths(150 + step / 20 + roll(&dice, 20)));
    colander_row_builder_add(builder, "humidity",
                             colander_integer(30 + roll(&dice, 50)));
    colander_row_builder_add(builder, "pressure",
                             tenths(9900 + roll(&dice, 300)));
    colander_row_builder_add(builder, "battery",
                             colander_integer(100 - step / 25));
    if (roll(&dice, 2000) == 0)
        colander_row_builder_add(
            builder, "fault",
            colander_text(faults[roll(&dice, COUNT(faults))]));
    return colander_row_builder_finish(builder, row, err);
}
