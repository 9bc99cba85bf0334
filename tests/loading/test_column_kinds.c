/*
 * Columns of CSV without types: files with columns of ids, numbers, times and
 * mixtures of them, loaded in one go, one after another, or resumed, and
 * compared with their texts. $COLANDER_RUNS is the number of fields.
 *
 * SPDX-License-Identifier: MIT
 */
#include "loading/column_kind.h"
#include "loading/load.h"
#include "support/cases.h"
#include "support/random.h"
#include "support/scoped.h"
#include "support/store_fixture.h"

#include <ctype.h>
#include <math.h>

#define COLUMNS 5 /* the first is the key */
#define FILES_MAX 3
#define DECIDING 1000 /* records of a file decide */
#define ROWS_MAX 1400
#define TEXT_SIZE 40

enum content {
    DECIMAL_IDS,
    HEX_IDS,
    BASE36_IDS,
    IDS_WITH_ZEROS,
    IDS_WITH_SIGNS,
    IDS_WITH_EXPONENTS,
    LARGE_INTEGERS,
    INTEGERS, /* from here on every field is a number that a column holds */
    DECIMALS,
    NUMBERS_OR_NOTHING,
    LONG_DECIMALS,
    TIMES,
    BOOLEANS,
    WORDS,
    MIXED,
    CONTENT_COUNT,
};

struct record {
    char texts[COLUMNS][TEXT_SIZE];
};

struct sample {
    struct store_fixture *store;
    struct colander_family *family;
    char directory[TEMPORARY_SIZE];
    uint64_t *seed;
    uint64_t case_count;
    enum content contents[FILES_MAX][COLUMNS];
    size_t file_count;
    struct record records[FILES_MAX * ROWS_MAX];
    size_t begins[FILES_MAX + 1]; /* of the files in the records */
    bool is_one_load;
    struct colander_load *load; /* the last */
};

static int
setup(void **state)
{
    struct sample *sample = calloc(1, sizeof(*sample));

    ZERO(fixture_setup((void **)&sample->store));
    temporary_make(sample->directory);
    *state = sample;
    return 0;
}

static int
teardown(void **state)
{
    struct sample *sample = *state;
    int result = fixture_teardown((void **)&sample->store);

    temporary_remove(sample->directory);
    free(sample);
    return result;
}

/* --------------------------------------------------------------- texts --- */

static void
random_digits(uint64_t *seed, char *text, size_t size, unsigned base)
{
    for (size_t i = 0; i < size; i++)
        text[i] =
            "0123456789abcdefghijklmnopqrstuvwxyz"[random_below(seed, base)];
    text[size] = '\0';
}

static void
random_text(uint64_t *seed, enum content content, char *text)
{
    const unsigned number = (unsigned)random_below(seed, 3000);
    char digits[TEXT_SIZE - 8];

    switch (content) {
    case DECIMAL_IDS:
    case INTEGERS:
        snprintf(text, TEXT_SIZE, "%u", number);
        return;
    case HEX_IDS:
        random_digits(seed, text, 1 + random_below(seed, 4), 16);
        return;
    case BASE36_IDS:
        random_digits(seed, text, 1 + random_below(seed, 5), 36);
        return;
    case IDS_WITH_ZEROS:
        snprintf(text, TEXT_SIZE, "%0*u%s", (int)random_below(seed, 6), number,
                 random_below(seed, 4) ? "" : ".5");
        return;
    case IDS_WITH_SIGNS:
        snprintf(text, TEXT_SIZE, "%.1s%u", &"+- "[random_below(seed, 2)],
                 number % 50);
        return;
    case IDS_WITH_EXPONENTS:
        snprintf(text, TEXT_SIZE, "%u%.1s%u", number % 20,
                 &"eE"[random_below(seed, 2)], number / 20 % 8);
        return;
    case LARGE_INTEGERS:
        random_digits(seed, digits, 16 + random_below(seed, 8), 10);
        snprintf(text, TEXT_SIZE, "%s1%s", random_below(seed, 2) ? "-" : "",
                 digits);
        return;
    case DECIMALS:
        if (random_below(seed, 4) == 0)
            snprintf(text, TEXT_SIZE, "%u.%ue-%u", number % 9 + 1, number,
                     number % 30);
        else
            snprintf(text, TEXT_SIZE, "%s%u.%0*u",
                     random_below(seed, 2) ? "-" : "", number,
                     (int)(1 + random_below(seed, 4)), number % 10);
        return;
    case NUMBERS_OR_NOTHING:
        if (random_below(seed, 3) > 0)
            snprintf(text, TEXT_SIZE, "%u.5", number);
        else
            strcpy(text, random_below(seed, 2) ? "NA" : "");
        return;
    case LONG_DECIMALS:
        random_digits(seed, digits, 12 + random_below(seed, 12), 10);
        snprintf(text, TEXT_SIZE, "%u.%s", number % 100, digits);
        return;
    case TIMES:
        snprintf(text, TEXT_SIZE, "2020-02-%02uT10:00:00Z", number % 29 + 1);
        return;
    case BOOLEANS:
        strcpy(text, random_below(seed, 2) ? "true" : "false");
        return;
    case WORDS:
        snprintf(text, TEXT_SIZE, "%s %u", number % 2 ? "The" : "A", number);
        return;
    default:
        random_text(seed, (enum content)random_below(seed, MIXED), text);
    }
}

static bool
are_numbers(enum content content)
{
    return content >= INTEGERS && content <= NUMBERS_OR_NOTHING;
}

/* Sometimes another kind of text, after the records that decide. */
static void
random_field(struct sample *sample, size_t file, size_t row, size_t column,
             char *text)
{
    enum content content = sample->contents[file][column];

    if (row >= DECIDING && random_below(sample->seed, 20) == 0)
        content = MIXED;
    do {
        random_text(sample->seed, content, text);
    } while (column == 0 && text[0] == '\0');
}

/* --------------------------------------------------------------- loads --- */

static void
name_file(const struct sample *sample, size_t file, char *path)
{
    snprintf(path, TEMPORARY_SIZE + 16, "%s/%zu.csv", sample->directory, file);
}

/* Writes the records from `begin` to `end`, after those that are there. */
static void
write_records(const struct sample *sample, size_t file, size_t begin,
              size_t end)
{
    char path[TEMPORARY_SIZE + 16];
    FILE *out;

    name_file(sample, file, path);
    out = fopen(path, begin == sample->begins[file] ? "we" : "ae");
    assert_non_null(out);
    if (begin == sample->begins[file])
        fputs("k,a,b,c,d,copy\n", out);
    for (size_t i = begin; i < end; i++) {
        for (size_t k = 0; k < COLUMNS; k++)
            fprintf(out,
                    random_below(sample->seed, 9) == 0 &&
                            sample->records[i].texts[k][0] != '\0'
                        ? "\"%s\","
                        : "%s,",
                    sample->records[i].texts[k]);
        fprintf(out, "x%s\n", sample->records[i].texts[0]);
    }
    ZERO(fclose(out));
}

static void
run_load(struct sample *sample, size_t file, size_t count, bool resumes)
{
    static const char *const key[] = {"k"};
    char paths[FILES_MAX][TEMPORARY_SIZE + 16];
    const char *files[FILES_MAX];
    struct colander_load_options options;

    for (size_t i = 0; i < count; i++) {
        name_file(sample, file + i, paths[i]);
        files[i] = paths[i];
    }
    colander_load_options_init(&options);
    options.key = key;
    options.key_count = 1;
    options.resumes = resumes;
    colander_load_destroy(sample->load);
    OK(colander_load_create(sample->store->store, sample->family, &options,
                            &sample->load, why()));
    OK(colander_load_run(sample->load, files, count, why()));
    assert_int_equal(colander_load_stats(sample->load)->reject_count, 0);
}

/* Loads a file in two parts, as a log that grows. */
static void
load_growing(struct sample *sample, size_t file)
{
    const size_t begin = sample->begins[file];
    const size_t end = sample->begins[file + 1];
    const size_t middle =
        end == begin ? end : begin + random_below(sample->seed, end - begin);

    write_records(sample, file, begin, middle);
    run_load(sample, file, 1, false);
    write_records(sample, file, middle, end);
    if (middle == begin) /* that wrote the file again */
        run_load(sample, file, 1, false);
    else
        run_load(sample, file, 1, true);
}

static void
load_all(struct sample *sample)
{
    const uint64_t way = random_below(sample->seed, 3);

    sample->is_one_load = way == 0;
    for (size_t i = 0; i < sample->file_count; i++) {
        if (way < 2)
            write_records(sample, i, sample->begins[i], sample->begins[i + 1]);
        if (way == 1)
            run_load(sample, i, 1, false);
        if (way == 2)
            load_growing(sample, i);
    }
    if (way == 0)
        run_load(sample, 0, sample->file_count, false);
}

/* Makes up the files. Returns the number of their fields. */
static uint64_t
draw(struct sample *sample)
{
    char name[32];
    size_t count = 0;

    snprintf(name, sizeof(name), "f%" PRIu64, sample->case_count++);
    sample->family = fixture_family(sample->store, name);
    sample->file_count = 1 + random_below(sample->seed, FILES_MAX);
    for (size_t i = 0; i < sample->file_count; i++) {
        const size_t rows = random_below(
            sample->seed, random_below(sample->seed, 4) == 0 ? ROWS_MAX : 60);

        for (size_t k = 0; k < COLUMNS; k++)
            sample->contents[i][k] =
                i > 0 && random_below(sample->seed, 2)
                    ? sample->contents[0][k]
                    : (enum content)random_below(sample->seed, CONTENT_COUNT);
        sample->begins[i] = count;
        for (size_t row = 0; row < rows; row++, count++) {
            for (size_t k = 0; k < COLUMNS; k++)
                random_field(sample, i, row, k,
                             sample->records[count].texts[k]);
        }
    }
    sample->begins[sample->file_count] = count;
    return count * COLUMNS;
}

/* --------------------------------------------------------------- model --- */

/* The digits of a number without zeros around, and its power of ten. */
static long
normalize(const char *text, char *digits)
{
    long power = 0;
    bool has_point = false;
    size_t size = 0;

    for (; *text != '\0' && tolower((unsigned char)*text) != 'e'; text++) {
        if (*text == '.')
            has_point = true;
        if (!isdigit((unsigned char)*text))
            continue;
        if (size > 0 || *text != '0')
            digits[size++] = *text;
        power -= has_point;
    }
    if (*text != '\0')
        power += strtol(text + 1, NULL, 10);
    while (size > 0 && digits[size - 1] == '0') {
        size--;
        power++;
    }
    digits[size] = '\0';
    return size == 0 ? 0 : power;
}

static void
assert_same_number(const char *text, const char *printed)
{
    char digits[2][64];
    long power = normalize(text, digits[0]);
    long other = normalize(printed, digits[1]);

    if (strcmp(digits[0], digits[1]) != 0 || power != other ||
        (text[0] == '-' && digits[0][0] != '\0') !=
            (printed[0] == '-' && digits[1][0] != '\0'))
        fail_msg("'%s' became %s", text, printed);
}

/* The text may have become the value. */
static void
assert_kept(const char *text, const struct colander_value *value, bool is_key)
{
    SCOPED_BUFFER printed = COLANDER_BUFFER_EMPTY;
    const char *digits;
    const char *shown;

    if (value->type == COLANDER_STRING) {
        ASSERT_SAME(value->bytes, colander_slice_text(text));
        return;
    }
    OK(colander_json_append_value(&printed, value, why()));
    OK(colander_buffer_append(&printed, "", 1, why()));
    shown = (const char *)printed.data;
    if (value->type == COLANDER_BOOLEAN || is_key) {
        assert_string_equal(shown, text);
        assert_true(!is_key || value->type == COLANDER_INTEGER ||
                    value->type == COLANDER_UNSIGNED);
        return;
    }
    assert_true(colander_type_is_number(value->type));
    assert_same_number(text, shown);
    digits = text + (text[0] == '-');
    assert_true(isdigit((unsigned char)digits[0]));
    assert_false(digits[0] == '0' && isdigit((unsigned char)digits[1]));
    if (value->type == COLANDER_DOUBLE) {
        assert_true(value->number == strtod(text, NULL));
        assert_non_null(strpbrk(text, "+-."));
    }
}

static int
compare_records(const void *a, const void *b)
{
    const struct record *const *first = a;
    const struct record *const *second = b;
    const int order = strcmp((*first)->texts[0], (*second)->texts[0]);

    return order != 0 ? order : (*first > *second) - (*first < *second);
}

/* The last record of each key text, by that text. Returns how many. */
static size_t
last_records(const struct sample *sample, const struct record **records)
{
    const size_t count = sample->begins[sample->file_count];
    size_t kept = 0;

    for (size_t i = 0; i < count; i++)
        records[i] = &sample->records[i];
    qsort(records, count, sizeof(*records), compare_records);
    for (size_t i = 0; i < count; i++) {
        if (i + 1 == count ||
            strcmp(records[i]->texts[0], records[i + 1]->texts[0]) != 0)
            records[kept++] = records[i];
    }
    return kept;
}

/* The record that the row was: its column `copy` has the text of the key. */
static const struct record *
record_of(struct colander_slice row, const struct record **records,
          size_t count)
{
    char wanted[TEXT_SIZE];
    struct colander_value copy;
    size_t low = 0;
    size_t high = count;
    bool found;

    OK(colander_row_get(row, "copy", &copy, &found, why()));
    assert_true(found && copy.type == COLANDER_STRING);
    snprintf(wanted, TEXT_SIZE, "%.*s", (int)copy.bytes.size - 1,
             (const char *)copy.bytes.data + 1);
    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (strcmp(records[middle]->texts[0], wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    assert_true(low < count);
    assert_string_equal(records[low]->texts[0], wanted);
    return records[low];
}

/* The types of the values of a column, as bits. */
static unsigned
type_bit(const struct colander_value *value)
{
    return colander_type_is_number(value->type) ? 1
           : value->type == COLANDER_BOOLEAN    ? 2
                                                : 4;
}

static void
check_row(const struct sample *sample, const struct record *record,
          struct colander_slice row, unsigned *types)
{
    static const char *const names[] = {"k", "a", "b", "c", "d"};
    size_t file = 0;
    bool decides;

    while (record >= &sample->records[sample->begins[file + 1]])
        file++;
    decides = record < &sample->records[sample->begins[file] + DECIDING];
    for (size_t i = 0; i < COLUMNS; i++) {
        const char *text = record->texts[i];
        struct colander_value value;
        bool found;

        OK(colander_row_get(row, names[i], &value, &found, why()));
        assert_int_equal(found, text[0] != '\0');
        if (!found)
            continue;
        assert_kept(text, &value, i == 0);
        if (i > 0 && decides && are_numbers(sample->contents[file][i]) &&
            strcmp(text, "NA") != 0)
            assert_true(colander_type_is_number(value.type));
        types[i] |= type_bit(&value);
    }
}

/* Mixed columns are reported, and only if they are mixed. */
static void
check_reports(struct sample *sample, const unsigned *types, bool is_exact)
{
    struct colander_load_mixed mixed;
    unsigned reported[COLUMNS] = {0};
    size_t at = 0;

    while (colander_load_mixed(sample->load, &at, &mixed)) {
        const size_t column =
            mixed.path[0] == 'k' ? 0 : (size_t)(mixed.path[0] - 'a' + 1);

        assert_string_not_equal(mixed.path, "copy");
        reported[column] =
            (unsigned)(mixed.integer_count + mixed.double_count > 0) |
            (unsigned)(mixed.boolean_count > 0) << 1 |
            (unsigned)(mixed.string_count > 0) << 2;
    }
    for (size_t i = 0; i < COLUMNS; i++) {
        const bool is_mixed = (types[i] & (types[i] - 1)) != 0;

        if (is_mixed)
            assert_int_equal(reported[i] & types[i], types[i]);
        else if (is_exact)
            assert_int_equal(reported[i], 0);
    }
}

static void
check_family(struct sample *sample)
{
    static const struct record *records[FILES_MAX * ROWS_MAX];
    const size_t count = last_records(sample, records);
    struct colander_cursor *cursor;
    struct colander_result result;
    unsigned types[COLUMNS] = {0};
    size_t row_count = 0;
    bool is_row;

    OK(colander_family_find(sample->family, NULL, &cursor, why()));
    for (;; row_count++) {
        OK(colander_cursor_next(cursor, &is_row, &result, why()));
        if (!is_row)
            break;
        check_row(sample, record_of(result.row, records, count), result.row,
                  types);
    }
    colander_cursor_close(cursor);
    assert_int_equal(row_count, count);
    if (sample->is_one_load)
        check_reports(sample, types,
                      count == sample->begins[sample->file_count]);
}

TEST_WITH(struct sample *sample, texts_keep_their_digits_and_keys, setup,
          teardown)
{
    uint64_t seed = random_seed("texts_keep_their_digits_and_keys");
    const uint64_t runs = random_runs(40000);

    sample->seed = &seed;
    for (uint64_t done = 0; done < runs;) {
        done += draw(sample);
        load_all(sample);
        check_family(sample);
        OK(colander_family_drop(sample->family, why()));
        colander_family_close(sample->family);
    }
    colander_load_destroy(sample->load);
}

/* --------------------------------------------------------------- kinds --- */

TEST(all_fields_of_the_sample_decide_the_kind)
{
    static const struct {
        const char *texts[4];
        enum column_kind kind;
        enum column_kind key_kind;
    } columns[] = {
        {{"1", "2", "18446744073709551615"}, COLUMN_NUMBER, COLUMN_WHOLE},
        {{"1", "2.5", "-3.25e-7"}, COLUMN_NUMBER, COLUMN_TEXT},
        {{"1", "-0"}, COLUMN_NUMBER, COLUMN_TEXT},
        {{"1", "NA", "n/a", ""}, COLUMN_NUMBER, COLUMN_TEXT},
        {{"true", "false", "-"}, COLUMN_BOOLEAN, COLUMN_TEXT},
        {{"1", "true"}, COLUMN_TEXT, COLUMN_TEXT},
        {{"1", "1e5"}, COLUMN_TEXT, COLUMN_TEXT},
        {{"1", "007"}, COLUMN_TEXT, COLUMN_TEXT},
        {{"1", "18446744073709551616"}, COLUMN_TEXT, COLUMN_TEXT},
        {{"1", "0.12345678901234567890"}, COLUMN_TEXT, COLUMN_TEXT},
        {{"NA", "null"}, COLUMN_GUESSED, COLUMN_TEXT},
        {{NULL}, COLUMN_GUESSED, COLUMN_WHOLE},
    };

    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
        unsigned seen = 0;

        for (size_t k = 0; k < 4 && columns[i].texts[k] != NULL; k++)
            seen |= column_kind_see(colander_slice_text(columns[i].texts[k]));
        assert_int_equal(column_kind_decide(seen, false), columns[i].kind);
        assert_int_equal(column_kind_decide(seen, true), columns[i].key_kind);
    }
}

TEST(a_field_that_does_not_fit_is_a_string)
{
    static const struct {
        enum column_kind kind;
        enum colander_type type;
        const char *text;
    } fields[] = {
        {COLUMN_GUESSED, COLANDER_INTEGER, "5"},
        {COLUMN_GUESSED, COLANDER_BOOLEAN, "true"},
        {COLUMN_GUESSED, COLANDER_STRING, "1e5"},
        {COLUMN_TEXT, COLANDER_STRING, "5"},
        {COLUMN_NUMBER, COLANDER_DOUBLE, "1.10"},
        {COLUMN_NUMBER, COLANDER_STRING, "true"},
        {COLUMN_NUMBER, COLANDER_STRING, "12e3"},
        {COLUMN_BOOLEAN, COLANDER_BOOLEAN, "true"},
        {COLUMN_BOOLEAN, COLANDER_STRING, "1"},
        {COLUMN_WHOLE, COLANDER_INTEGER, "7"},
        {COLUMN_WHOLE, COLANDER_UNSIGNED, "18446744073709551615"},
        {COLUMN_WHOLE, COLANDER_STRING, "-0"},
        {COLUMN_WHOLE, COLANDER_STRING, "007"},
        {COLUMN_WHOLE, COLANDER_STRING, "7.0"},
        {COLUMN_WHOLE, COLANDER_STRING, "true"},
    };

    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
        assert_int_equal(column_kind_read(fields[i].kind,
                                          colander_slice_text(fields[i].text))
                             .type,
                         fields[i].type);
}

/* ------------------------------------------------------ several files --- */

/* Appends to file `file`, or creates it. */
static void
append(const struct sample *sample, size_t file, const char *text)
{
    char path[TEMPORARY_SIZE + 16];
    FILE *out;

    name_file(sample, file, path);
    out = fopen(path, "ae");
    assert_non_null(out);
    fputs(text, out);
    ZERO(fclose(out));
}

/* The keys of the family as JSON, each with a space after it. */
static void
assert_keys(const struct sample *sample, const char *expected)
{
    SCOPED_BUFFER keys = COLANDER_BUFFER_EMPTY;
    struct colander_cursor *cursor;
    struct colander_result result;
    bool is_row = true;

    OK(colander_family_find(sample->family, NULL, &cursor, why()));
    while (is_row) {
        OK(colander_cursor_next(cursor, &is_row, &result, why()));
        if (is_row)
            OK(colander_json_append_key(&keys, result.key, why()));
        if (is_row)
            OK(colander_buffer_append(&keys, " ", 1, why()));
    }
    colander_cursor_close(cursor);
    OK(colander_buffer_append(&keys, "", 1, why()));
    assert_string_equal((const char *)keys.data, expected);
    colander_load_destroy(sample->load);
    colander_family_close(sample->family);
}

TEST_WITH(struct sample *sample, one_file_with_texts_makes_all_keys_texts,
          setup, teardown)
{
    sample->family = fixture_family(sample->store, "f");
    append(sample, 0, "k\n7\n8\n");
    append(sample, 1, "k\na9\n7\n");
    run_load(sample, 0, 2, false);
    assert_keys(sample, "\"7\" \"8\" \"a9\" ");
}

TEST_WITH(struct sample *sample, keys_of_the_family_decide_for_later_loads,
          setup, teardown)
{
    sample->family = fixture_family(sample->store, "f");
    append(sample, 0, "k\n7\n8\n");
    append(sample, 1, "k\na9\n7\n007\n-0\n");
    run_load(sample, 0, 1, false);
    run_load(sample, 1, 1, false);
    assert_keys(sample, "7 8 \"-0\" \"007\" \"a9\" ");
}

TEST_WITH(struct sample *sample, a_resumed_load_decides_as_the_first, setup,
          teardown)
{
    struct colander_load_mixed mixed;
    size_t at = 0;

    sample->family = fixture_family(sample->store, "f");
    append(sample, 0, "k,a,b\n1,1,x\n2,2,5\n");
    run_load(sample, 0, 1, false);
    assert_false(colander_load_mixed(sample->load, &at, &mixed));
    append(sample, 0, "3,y,6\n4,4,7\nz,NA,8\n");
    run_load(sample, 0, 1, true);
    at = 0;
    assert_true(colander_load_mixed(sample->load, &at, &mixed));
    assert_string_equal(mixed.path, "k");
    assert_int_equal(mixed.integer_count, 2);
    assert_int_equal(mixed.string_count, 1);
    assert_true(colander_load_mixed(sample->load, &at, &mixed));
    assert_string_equal(mixed.path, "a");
    assert_int_equal(mixed.integer_count, 1);
    assert_int_equal(mixed.string_count, 2);
    assert_null(mixed.missing);
    assert_false(colander_load_mixed(sample->load, &at, &mixed));
    assert_keys(sample, "1 2 3 4 \"z\" ");
}
