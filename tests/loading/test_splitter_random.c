/*
 * The splitter against one that has the whole text and does not care how long
 * it takes: random texts of each format, seen in pieces of random sizes.
 *
 * SPDX-License-Identifier: MIT
 */
#include "loading/plain_splitters.h"
#include "support/random.h"

/* --------------------------------------------------------- random texts --- */

/* A text of `words`, each a string of the list. */
static size_t
random_words(uint64_t *random, const char *const *words, size_t count,
             char *text)
{
    size_t wanted = random_below(random, TEXT_SIZE_MAX - 20);
    size_t size = 0;

    while (size < wanted) {
        const char *word = words[random_below(random, count)];

        memcpy(text + size, word, strlen(word));
        size += strlen(word);
    }
    return size;
}

#define WORDS(...)                                                             \
    static const char *const words[] = {__VA_ARGS__};                          \
    return random_words(random, words, sizeof(words) / sizeof(*words), text)

static size_t
random_lines(uint64_t *random, char *text)
{
    WORDS("a", "{}", "\n", "\r\n", "\r", " ", "\t", "\"");
}

static size_t
random_csv(uint64_t *random, char *text)
{
    WORDS("a", "b", ",", ",", "\n", "\n", "\r\n", "\r", "\"", "\"", "\"\"",
          ",\"", "\",", "\"\n", "x\",\"y\n");
}

static size_t
random_broken_json(uint64_t *random, char *text)
{
    WORDS("{", "}", "[", "]", "\"", "\n", ":", ",", " ", "{}", "{\"a\":1}",
          "\n{", "\n{\"a\":\"b\"}", "\\", "5", "null", "x=", "\"a\":", "\t",
          "\n  {", "\r\n", ";", "#");
}

/* Well laid out, with a byte that is wrong here and there. */
static size_t
random_json(uint64_t *random, char *text)
{
    static const char *const lines[] = {
        "{\"a\":1}",
        "{\"a\":{\"b\":[{},1]},\"c\":\"}\\\"{\"}",
        "{\n \"a\":\n {\n }\n}",
        "{}",
        "\"x\"",
        "7",
    };
    const char *indent = random_below(random, 2) == 0 ? "" : "  ";
    size_t size = 0;

    if (random_below(random, 2) == 0)
        size += (size_t)sprintf(text + size, "a.b = [\n");
    while (size < TEXT_SIZE_MAX - 60)
        size += (size_t)sprintf(
            text + size, "%s%s%s", indent,
            lines[random_below(random, sizeof(lines) / sizeof(*lines))],
            random_below(random, 5) == 0 ? " " : ",\n");
    if (random_below(random, 4) != 0)
        size += (size_t)sprintf(text + size, "\n];\n");
    for (uint64_t faults = random_below(random, 4); faults > 0; faults--) {
        size_t at = random_below(random, size);

        if (random_below(random, 2) == 0)
            text[at] = "{}[]\"\\\n x"[random_below(random, 9)];
        else
            memmove(text + at, text + at + 1, --size - at);
    }
    return size;
}

static size_t
random_msgpack(uint64_t *random, char *text)
{
    static const uint8_t heads[] = {
        0x80, 0x81, 0x82, 0x93, 0xa2, 0xc0, 0xc4, 0xc7, 0xcb, 0xcd,
        0xd4, 0xd8, 0xd9, 0xda, 0xdc, 0xdd, 0xde, 0xdf, 0x00, 0x00,
        0x00, 0x01, 0x02, 0x03, 0x00, 0x00, 0x01, 0x01, 0xff};
    size_t size = random_below(random, TEXT_SIZE_MAX);

    for (size_t i = 0; i < size; i++)
        text[i] = (char)heads[random_below(random, sizeof(heads))];
    if (size > 0 && random_below(random, 8) == 0)
        text[random_below(random, size)] = (char)0xc1;
    return size;
}

/* ------------------------------------------------------------ comparing --- */

static void
find_pieces(plain_function *plain, struct colander_slice text,
            struct pieces *pieces)
{
    struct found found = {SPLIT_MORE, 0, 0, 0};
    int place = START;

    memset(pieces, 0, sizeof(*pieces));
    while (found.split != SPLIT_END) {
        found = plain(text, found.next, &place);
        pieces_add(pieces,
                   (struct piece){found.split, found.from, found.size, 0, ""});
    }
}

static size_t
chunk_random(void *context)
{
    return random_below(context, 1 + random_below(context, 40));
}

static void
compare(enum record_format format, plain_function *plain,
        size_t (*make)(uint64_t *random, char *text), const char *title)
{
    uint64_t random = random_seed(title);
    char bytes[TEXT_SIZE_MAX + 60];

    for (uint64_t run = random_runs(10000); run > 0; run--) {
        struct colander_slice text =
            colander_slice_of(bytes, make(&random, bytes));
        struct pieces should;

        find_pieces(plain, text, &should);
        for (size_t i = 0; i < 4; i++) {
            chunk_function *const chunks[] = {chunk_whole, chunk_byte,
                                              chunk_random, chunk_random};
            struct splitter splitter;
            struct pieces is;

            splitter_init(&splitter, format, ',');
            cut(&splitter, text, chunks[i], &random, i == 3, &is);
            assert_pieces_equal(text, &is, &should);
            pieces_release(&is);
        }
        pieces_release(&should);
    }
}

static void
lines_are_cut_as_by_a_plain_splitter(void **state)
{
    (void)state;
    compare(RECORDS_JSONL, plain_jsonl, random_lines, "lines");
}

static void
csv_is_cut_as_by_a_plain_splitter(void **state)
{
    (void)state;
    compare(RECORDS_CSV, plain_csv, random_csv, "csv");
}

static void
json_is_cut_as_by_a_plain_splitter(void **state)
{
    (void)state;
    compare(RECORDS_JSON, plain_json, random_json, "json");
}

static void
broken_json_is_cut_as_by_a_plain_splitter(void **state)
{
    (void)state;
    compare(RECORDS_JSON, plain_json, random_broken_json, "broken json");
}

static void
msgpack_is_cut_as_by_a_plain_splitter(void **state)
{
    (void)state;
    compare(RECORDS_MSGPACK, plain_msgpack, random_msgpack, "msgpack");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_cut_as_by_a_plain_splitter),
        cmocka_unit_test(csv_is_cut_as_by_a_plain_splitter),
        cmocka_unit_test(json_is_cut_as_by_a_plain_splitter),
        cmocka_unit_test(broken_json_is_cut_as_by_a_plain_splitter),
        cmocka_unit_test(msgpack_is_cut_as_by_a_plain_splitter),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
