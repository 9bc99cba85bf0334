/*
 * The splitter compared with one that has the whole text and may be slow:
 * random texts of each format, seen in pieces of random sizes.
 *
 * SPDX-License-Identifier: MIT
 */
#include "loading/pieces.h"
#include "support/cases.h"
#include "support/random.h"
#include "support/scoped.h"

#define TEXT_SIZE_MAX 200

/* What the simple splitters find next: the record, and where it ends. */
struct found {
    enum split split;
    size_t from;
    size_t size;
    size_t next;
};

typedef struct found plain_function(struct colander_slice text, size_t from,
                                    int *place);

static bool
is_one_of(uint8_t byte, const char *bytes)
{
    return byte != 0 && strchr(bytes, byte) != NULL;
}

static size_t
trimmed(struct colander_slice text, size_t from, size_t end, const char *bytes)
{
    while (end > from && is_one_of(text.data[end - 1], bytes))
        end--;
    return end - from;
}

static size_t
line_from(struct colander_slice text, size_t from)
{
    while (from < text.size && text.data[from] != '\n')
        from++;
    return from;
}

/* --------------------------------------------------------------- lines --- */

static struct found
plain_jsonl(struct colander_slice text, size_t from, int *place)
{
    size_t end;

    (void)place;
    while (from < text.size && is_one_of(text.data[from], " \t\r\n"))
        from++;
    end = line_from(text, from);
    return (struct found){from == text.size ? SPLIT_END : SPLIT_RECORD, from,
                          trimmed(text, from, end, "\r"),
                          end < text.size ? end + 1 : end};
}

/* ----------------------------------------------------------------- CSV --- */

/* The bytes of the line that ends at `end`, without its CR. */
static struct found
csv_found(struct colander_slice text, enum split split, size_t from, size_t end)
{
    size_t size = end - from;

    if (size > 0 && text.data[end - 1] == '\r')
        size--;
    return (struct found){split, from, size, end < text.size ? end + 1 : end};
}

static bool
ends_line(struct colander_slice text, size_t at)
{
    if (at < text.size && text.data[at] == '\r')
        at++;
    return at >= text.size || text.data[at] == '\n';
}

static struct found
plain_csv(struct colander_slice text, size_t from, int *place)
{
    size_t at;

    (void)place;
    while (from < text.size && ends_line(text, from))
        from = line_from(text, from) < text.size ? line_from(text, from) + 1
                                                 : text.size;
    if (from == text.size)
        return (struct found){SPLIT_END, from, 0, from};
    for (at = from; at < text.size && text.data[at] != '\n'; at++) {
        if (text.data[at] != '"' || (at > from && text.data[at - 1] != ','))
            continue;
        for (at++; at < text.size; at++) {
            if (text.data[at] != '"')
                continue;
            if (at + 1 == text.size || text.data[at + 1] != '"')
                break;
            at++;
        }
        if (at == text.size ||
            !(ends_line(text, at + 1) || text.data[at + 1] == ','))
            return csv_found(text, SPLIT_BAD, from, line_from(text, from));
    }
    return csv_found(text, SPLIT_RECORD, from, at);
}

/* ---------------------------------------------------------------- JSON --- */

enum { START, RECORDS, ARRAY, AFTER };

#define WORD                                                                   \
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-+._$"

/* Returns the end of the value at `from`; *fault: where it is broken. */
static size_t
json_value(struct colander_slice text, size_t from, size_t *fault)
{
    char stack[TEXT_SIZE_MAX + 1];
    size_t depth = 0;
    uint8_t last = 0;
    bool in_string = false;

    *fault = SIZE_MAX;
    for (size_t at = from; at < text.size; at++) {
        uint8_t byte = text.data[at];

        if (in_string) {
            if (byte == '\\')
                byte = ++at < text.size ? text.data[at] : 'x';
            else if (byte == '"')
                in_string = false;
            *fault = byte == '\n' ? at : SIZE_MAX;
        } else if (byte == '"') {
            in_string = true;
        } else if (is_one_of(byte, "{[")) {
            if (depth > 0 && stack[depth - 1] == '{' ? last != ':'
                : depth > 0                          ? !is_one_of(last, "[,")
                                                     : false)
                *fault = at;
            stack[depth++] = (char)byte;
        } else if (is_one_of(byte, "}]")) {
            if (stack[--depth] != (byte == '}' ? '{' : '['))
                *fault = at;
        }
        if (*fault != SIZE_MAX)
            return at;
        if (!in_string && depth == 0)
            return at + 1;
        if (!is_one_of(byte, " \t\r\n"))
            last = byte;
    }
    *fault = text.size;
    return text.size;
}

static size_t
skip_between(struct colander_slice text, size_t from, int *place)
{
    for (; from < text.size; from++) {
        uint8_t byte = text.data[from];
        size_t at = from;

        if (byte == '[' && *place == START)
            *place = ARRAY;
        else if (byte == ']' && *place == ARRAY)
            *place = AFTER;
        else if (*place == START && is_one_of(byte, WORD)) {
            while (at < text.size && is_one_of(text.data[at], WORD " \t\r\n"))
                at++;
            if (at == text.size || text.data[at] != '=')
                break;
            from = at;
        } else if (!is_one_of(byte, *place == ARRAY   ? " \t\r\n,"
                                    : *place == AFTER ? " \t\r\n;"
                                                      : " \t\r\n,;"))
            break;
    }
    return from;
}

static struct found
plain_json(struct colander_slice text, size_t from, int *place)
{
    size_t fault = SIZE_MAX;
    size_t end;

    from = skip_between(text, from, place);
    if (from == text.size) {
        enum split split = *place == ARRAY ? SPLIT_BAD : SPLIT_END;

        *place = AFTER;
        return (struct found){split, from, 0, from};
    }
    if (*place == AFTER || !is_one_of(text.data[from], WORD "{[\""))
        return (struct found){SPLIT_BROKEN, from, 0, from};
    if (*place == START)
        *place = RECORDS;
    if (is_one_of(text.data[from], WORD)) {
        for (end = from; end < text.size && is_one_of(text.data[end], WORD);)
            end++;
        return (struct found){SPLIT_BAD, from, end - from, end};
    }
    end = json_value(text, from, &fault);
    if (fault == text.size) {
        *place = AFTER;
        return (struct found){SPLIT_BAD, from,
                              trimmed(text, from, end, " \t\r\n"), end};
    }
    if (fault != SIZE_MAX)
        return (struct found){SPLIT_BROKEN, from, 0, from};
    return (struct found){text.data[from] == '{' ? SPLIT_RECORD : SPLIT_BAD,
                          from, end - from, end};
}

/* ------------------------------------------------------------- msgpack --- */

static uint64_t
big_endian(struct colander_slice text, size_t at, size_t size)
{
    uint64_t number = 0;

    for (size_t i = 0; i < size; i++)
        number = number << 8 | (at + i < text.size ? text.data[at + i] : 0);
    return number;
}

/* Returns the end of the value at `from`; SIZE_MAX if it does not end. */
static size_t
msgpack_value(struct colander_slice text, size_t from)
{
    static const uint8_t fixed[32] = {0, 0, 0,  0, 0, 0, 0, 0, 0, 0, 4,
                                      8, 1, 2,  4, 8, 1, 2, 4, 8, 2, 3,
                                      5, 9, 17, 0, 0, 0, 0, 0, 0, 0};
    static const uint8_t counted[32] = {0, 0, 0, 0, 1, 2, 4, 1, 2, 4, 0,
                                        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                                        0, 0, 0, 1, 2, 4, 2, 4, 2, 4};
    uint8_t head = from < text.size ? text.data[from] : 0xc1;
    uint64_t values = 0;
    uint64_t size = 0;

    if (head == 0xc1)
        return SIZE_MAX;
    from++;
    if (head >= 0x80 && head < 0xa0) {
        values = (uint64_t)(head & 0x0f) * (head < 0x90 ? 2 : 1);
    } else if (head >= 0xa0 && head < 0xc0) {
        size = head & 0x1f;
    } else if (head >= 0xc0 && head < 0xe0) {
        size = big_endian(text, from, counted[head - 0xc0]);
        from += counted[head - 0xc0] + fixed[head - 0xc0];
        if (head >= 0xdc) {
            values = size * (head >= 0xde ? 2 : 1);
            size = 0;
        } else if (head >= 0xc7 && head <= 0xc9) {
            from++; /* the type */
        }
    }
    if (from > text.size || size > text.size - from)
        return SIZE_MAX;
    from += size;
    for (; values > 0 && from != SIZE_MAX; values--)
        from = msgpack_value(text, from);
    return from;
}

static struct found
plain_msgpack(struct colander_slice text, size_t from, int *place)
{
    size_t end = from;
    uint8_t head;

    (void)place;
    if (from == text.size)
        return (struct found){SPLIT_END, from, 0, from};
    head = text.data[from];
    end = msgpack_value(text, from);
    if (end == SIZE_MAX)
        return (struct found){SPLIT_BAD, from, text.size - from, text.size};
    return (struct found){head >> 4 == 8 || head == 0xde || head == 0xdf
                              ? SPLIT_RECORD
                              : SPLIT_BAD,
                          from, end - from, end};
}

/* --------------------------------------------------------- random texts --- */

/* A text of `words` strings of the list. */
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

/* Valid layout, with a wrong byte here and there. */
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
    while (found.split != SPLIT_END && found.split != SPLIT_BROKEN) {
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

TEST(texts_are_cut_as_by_a_plain_splitter)
{
    static const struct {
        enum record_format format;
        plain_function *plain;
        size_t (*make)(uint64_t *random, char *text);
    } kinds[] = {
        {RECORDS_JSONL, plain_jsonl, random_lines},
        {RECORDS_CSV, plain_csv, random_csv},
        {RECORDS_JSON, plain_json, random_json},
        {RECORDS_JSON, plain_json, random_broken_json},
        {RECORDS_MSGPACK, plain_msgpack, random_msgpack},
    };
    chunk_function *const chunks[] = {chunk_whole, chunk_byte, chunk_random,
                                      chunk_random};
    uint64_t random = random_seed(__func__);
    char bytes[TEXT_SIZE_MAX + 60];

    for (uint64_t run = random_runs(50000); run > 0; run--) {
        const size_t kind = run % 5;
        struct colander_slice text =
            colander_slice_of(bytes, kinds[kind].make(&random, bytes));
        SCOPED(pieces_release) struct pieces expected;

        find_pieces(kinds[kind].plain, text, &expected);
        for (size_t i = 0; i < 4; i++) {
            struct splitter splitter;
            SCOPED(pieces_release) struct pieces pieces;

            splitter_init(&splitter, kinds[kind].format, ',');
            cut(&splitter, text, chunks[i], &random, i == 3, &pieces);
            assert_pieces_equal(text, &pieces, &expected);
        }
    }
}
