/*
 * Dictionaries: the words that have a piece in them are found, and no others,
 * in whatever part they are; damaged ones are errors.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filter_model.h"
#include "filters/filter_builder.h"
#include "filters/part_find.h"

#define WORDS_MAX 2000

struct some_word {
    unsigned tag;
    char text[DICTIONARY_WORD_MAX + 1];
};

/* Words, each once, in no order. */
struct some_words {
    struct some_word words[WORDS_MAX];
    size_t count;
};

static bool
has_word(const struct some_words *words, unsigned tag, const char *text)
{
    for (size_t i = 0; i < words->count; i++) {
        if (words->words[i].tag == tag &&
            strcmp(words->words[i].text, text) == 0)
            return true;
    }
    return false;
}

/* Draws a word: most begin alike, some are long. */
static void
draw_word(uint64_t *random, char text[DICTIONARY_WORD_MAX + 1])
{
    static const char *const parts[] = {
        "a", "b", "ab", "\u00e9", "\u4eac\u90fd", "rain", "4883574", "_"};
    const uint64_t most = random_below(random, 8) == 0 ? 60 : 5;

    text[0] = '\0';
    if (random_below(random, 2) == 0)
        strcpy(text, "beginning");
    for (uint64_t i = 1 + random_below(random, most); i > 0; i--) {
        const char *part = parts[random_below(random, COUNT(parts))];

        if (strlen(text) + strlen(part) <= DICTIONARY_WORD_MAX)
            strcat(text, part);
    }
}

static void
add_words(uint64_t *random, struct dictionary_builder *builder,
          struct some_words *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct some_word *word = &words->words[words->count];
        const unsigned tag = (unsigned)random_below(random, 4) * 5;
        char text[DICTIONARY_WORD_MAX + 1];

        draw_word(random, text);
        OK(dictionary_builder_add(builder,
                                  text_word_hash(colander_slice_text(text)),
                                  tag, colander_slice_text(text), NULL));
        if (has_word(words, tag, text))
            continue;
        word->tag = tag;
        strcpy(word->text, text);
        words->count++;
    }
}

static enum colander_code
add_block(void *context, struct colander_slice block, uint32_t first,
          struct colander_error *err)
{
    (void)err;
    model_add_block(context, FILTER_DICTIONARY, first, block.data, block.size);
    return COLANDER_OK;
}

/* Makes a file of three parts; the first and the second share a dictionary. */
static void
write_words(uint64_t *random, struct some_words words[2], size_t count)
{
    struct dictionary_builder *builder = dictionary_builder_create();
    SCOPED_MODEL model = model_empty();

    words[0].count = words[1].count = 0;
    assert_non_null(builder);
    model->head.hash_version = 1;
    model->head.words_version = TEXT_WORDS_VERSION;
    for (unsigned i = 0; i < 3; i++) {
        char key[2] = {(char)('a' + i), '\0'};

        model_add_part(model, key, 1, key, 1);
        add_words(random, builder, &words[i / 2],
                  random_below(random, count + 1));
        if (i > 0)
            OK(dictionary_builder_write(builder, add_block, model, NULL));
        assert_true(i == 0 || dictionary_builder_share(builder) == 0);
    }
    dictionary_builder_destroy(builder);
    write_model(model);
}

/* Returns how many words have the piece in them. */
static size_t
count_words(const struct some_words *words, unsigned tag,
            struct colander_slice piece)
{
    size_t count = 0;

    for (size_t i = 0; i < words->count; i++) {
        char text[DICTIONARY_WORD_MAX + 2] = {0};

        strcpy(text + 1, words->words[i].text);
        count +=
            (tag == LOCATOR_TAG_ANY || words->words[i].tag == tag) &&
            memmem(text, strlen(text + 1) + 2, piece.data, piece.size) != NULL;
    }
    return count;
}

/* Whether the answer has each of the words with the piece, by its hashes. */
static bool
has_all(const struct dictionary_answer *answer, const struct some_words *words,
        unsigned tag, struct colander_slice piece)
{
    for (size_t i = 0; i < words->count; i++) {
        const struct some_word *word = &words->words[i];
        const struct some_words one = {{*word}, 1};
        const struct colander_value value = colander_text(word->text);
        bool is_there = count_words(&one, tag, piece) == 0;

        for (size_t k = 0; k < answer->count && !is_there; k++)
            is_there =
                answer->words[k].tag == word->tag &&
                answer->words[k].hash ==
                    text_word_hash(colander_slice_text(word->text)) &&
                answer->words[k].value_hash == colander_value_hash(&value);
        if (!is_there)
            return false;
    }
    return true;
}

/* Draws a piece of a word: all of it, its beginning, its end, or other. */
static struct colander_slice
draw_piece(uint64_t *random, char bytes[DICTIONARY_WORD_MAX + 2])
{
    size_t from, end;

    memset(bytes, 0, DICTIONARY_WORD_MAX + 2);
    draw_word(random, bytes + 1);
    end = strlen(bytes + 1) + 2;
    from = random_below(random, 2) == 0 ? 0 : random_below(random, end - 1);
    if (random_below(random, 2) == 0)
        end = from + 1 + random_below(random, end - from);
    return colander_slice_of(bytes + from, end - from);
}

TEST(words_are_found_by_pieces_of_them)
{
    uint64_t random = random_seed(__func__);
    static struct some_words words[2];
    struct dictionary_answer answer = {.words = NULL};
    uint64_t found = 0;

    for (uint64_t runs = random_runs(20); runs > 0; runs--) {
        SCOPED_FILTER_FILE file = NULL;

        write_words(&random, words, runs % 10 == 0 ? 1000 : runs);
        file = open_model();
        for (unsigned i = 0; i < 100; i++) {
            const uint32_t part = (uint32_t)random_below(&random, 3);
            const uint32_t index = dictionary_part(file, part);
            const unsigned tag = random_below(&random, 4) == 0
                                     ? LOCATOR_TAG_ANY
                                     : (unsigned)random_below(&random, 4) * 5;
            const size_t max = random_below(&random, 2) == 0 ? 10 : WORDS_MAX;
            char bytes[DICTIONARY_WORD_MAX + 2];
            const struct colander_slice piece = draw_piece(&random, bytes);
            /* without words, a part has the next dictionary */
            const struct some_words *its = &words[index / 2];
            const size_t expected = count_words(its, tag, piece);

            assert_int_equal(index, words[1].count == 0 && part == 2 ? 3
                                    : words[0].count > 0 && part < 2 ? 1
                                    : words[1].count > 0             ? 2
                                                                     : 3);
            if (index == 3)
                continue;
            OK(dictionary_find(file, index, tag, piece, max, NULL, &answer,
                               NULL));
            assert_int_equal(answer.is_too_many, expected > max);
            assert_int_equal(answer.count, expected > max ? max : expected);
            assert_true(expected > max || has_all(&answer, its, tag, piece));
            found += answer.count;
        }
    }
    printf("%" PRIu64 " words found\n", found);
    assert_true(found > 0);
    free(answer.words);
}

/* A block begins with a zero byte; one follows each word. */
TEST(blocks_are_words_in_order)
{
    static const uint8_t expected[] = "\0a\0ab\0b\0\u00e9";
    struct dictionary_builder *builder = dictionary_builder_create();
    static const char *const words[] = {"b", "\u00e9", "a", "ab", "b"};
    SCOPED_MODEL model = model_empty();
    const struct model_block *block;
    uint8_t bytes[sizeof(expected)];

    model_add_part(model, "a", 1, "b", 1);
    for (size_t i = 0; i < COUNT(words); i++)
        OK(dictionary_builder_add(builder, 1, 3, colander_slice_text(words[i]),
                                  NULL));
    OK(dictionary_builder_write(builder, add_block, model, NULL));
    assert_int_equal(model->parts[0].block_count, 1);
    block = &model->parts[0].blocks[0];
    assert_int_equal(block->first, 3 << 16);
    assert_int_equal(
        dictionary_block_size(colander_slice_of(block->data, block->size)),
        sizeof(expected));
    assert_true(dictionary_block_unpack(
        colander_slice_of(block->data, block->size), bytes, sizeof(bytes)));
    assert_memory_equal(bytes, expected, sizeof(expected));
    dictionary_builder_destroy(builder);
}

TEST(builders_take_many_words_in_many_blocks)
{
    struct dictionary_builder *builder = dictionary_builder_create();
    struct dictionary_answer answer = {.words = NULL};
    SCOPED_MODEL model = model_empty();
    SCOPED_FILTER_FILE file = NULL;
    char word[32];

    model_add_part(model, "a", 1, "b", 1);
    for (uint32_t i = 0; i < DICTIONARY_WORDS + 1000; i++) {
        assert_true((dictionary_builder_share(builder) >= 1) ==
                    (i >= DICTIONARY_WORDS));
        (void)snprintf(word, sizeof(word), "w%" PRIu32, i);
        OK(dictionary_builder_add(builder,
                                  text_word_hash(colander_slice_text(word)), 0,
                                  colander_slice_text(word), NULL));
    }
    OK(dictionary_builder_write(builder, add_block, model, NULL));
    assert_true(model->parts[0].block_count > 50);
    dictionary_builder_destroy(builder);
    write_model(model);
    file = open_model();
    for (uint32_t i = 0; i < DICTIONARY_WORDS; i += 1 + i / 20) {
        /* all of it, its beginning, its end */
        const struct {
            size_t from;
            size_t size;
        } pieces[] = {{0, 2}, {0, 1}, {1, 1}};

        memset(word, 0, sizeof(word));
        (void)snprintf(word + 1, sizeof(word) - 1, "w%" PRIu32, i);
        for (size_t k = 0; k < COUNT(pieces); k++) {
            OK(dictionary_find(
                file, 0, 0,
                colander_slice_of(word + pieces[k].from,
                                  strlen(word + 1) + pieces[k].size),
                1000, NULL, &answer, NULL));
            assert_true(k == 1 ? answer.count > 0 : answer.count == 1);
        }
    }
    free(answer.words);
}

/* Sets `words` to numbers in an order that the sort would take apart one by
 * one, if its pivots began with `count`: each pivot is the greatest. */
static void
draw_slow_order(uint32_t *words, uint32_t count)
{
    uint32_t *left = calloc((size_t)count + 1, sizeof(*left)); /* a Fenwick */
    uint32_t step = 1;
    uint64_t random = count;

    assert_non_null(left);
    while (step * 2 <= count)
        step *= 2;
    for (uint32_t i = 1; i <= count; i++)
        left[i] = i & -i;
    for (uint32_t number = count; number > 0; number--) {
        uint32_t nth;
        uint32_t at = 0;

        random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
        nth = (uint32_t)((random >> 33) % number);
        for (uint32_t half = step; half > 0; half /= 2) {
            if (at + half <= count && left[at + half] <= nth) {
                at += half;
                nth -= left[at];
            }
        }
        words[at] = number - 1;
        for (uint32_t i = at + 1; i <= count; i += i & -i)
            left[i]--;
    }
    free(left);
}

/* Hashes with equal upper bits, and an order for known pivots: chosen
 * words take no more time than others. In quadratic time, this
 * would take longer than any test may. */
TEST(chosen_words_take_no_quadratic_time)
{
    const uint32_t count = UINT32_C(1) << 20;
    struct dictionary_builder *builder = dictionary_builder_create();
    uint32_t *words = calloc(count, sizeof(*words));
    SCOPED_MODEL model = model_empty();

    assert_true(builder != NULL && words != NULL);
    draw_slow_order(words, count);
    model_add_part(model, "a", 1, "b", 1);
    for (uint32_t i = 0; i < count; i++) {
        char word[16];

        (void)snprintf(word, sizeof(word), "%07" PRIu32, words[i]);
        OK(dictionary_builder_add(builder, i, 0, colander_slice_text(word),
                                  NULL));
    }
    OK(dictionary_builder_write(builder, add_block, model, NULL));
    assert_true(model->parts[0].block_count > 200);
    dictionary_builder_destroy(builder);
    free(words);
}

/* --------------------------------------------------------- whole files --- */

/* Builds a file of rows, each with a word of its own, `others` words more, and
 * some numbers. */
static void
build_rows(uint32_t rows, uint32_t others, uint32_t numbers)
{
    struct colander_filter_options options;
    SCOPED_BUILDER row_builder = colander_row_builder_create();
    SCOPED_MEMORY char *text = malloc(100 + others * 16);
    struct filter_builder *builder;
    struct settings *settings;

    colander_filter_options_init(&options);
    OK(settings_create(&options, &settings, NULL));
    (void)unlink(path);
    OK(filter_builder_create(path, settings, &builder, NULL));
    for (uint32_t i = 0; i < rows; i++) {
        struct sst_entry entry = {.block = SST_BLOCK_UNKNOWN, .is_put = true};
        char *at = text + sprintf(text, "Row%06" PRIu32 "x", i);
        uint8_t key[4];

        for (uint32_t k = 0; k < others; k++)
            at += sprintf(at, " w%" PRIu32, i * others + k);
        colander_row_builder_add(row_builder, "text", colander_text(text));
        colander_row_builder_begin_array(row_builder, "numbers");
        for (uint32_t k = 0; k < numbers; k++)
            colander_row_builder_add(row_builder, NULL,
                                     colander_integer(i * numbers + k));
        colander_row_builder_end(row_builder);
        OK(colander_row_builder_finish(row_builder, &entry.value, NULL));
        bytes_put_be32(key, i);
        entry.key = colander_slice_of(key, sizeof(key));
        OK(filter_builder_add(builder, &entry, NULL));
    }
    OK(filter_builder_finish(builder, (const uint8_t *)"tag of 16 bytes.", 0,
                             NULL));
    filter_builder_destroy(builder);
    settings_unref(settings);
}

/* Finds each row by a piece of its word, in the part that has it. */
static void
find_rows(const struct filter_file *file)
{
    const struct hash_hints none = {NULL, 0, 0};
    const uint64_t hash =
        path_hash_name(PATH_HASH_START, colander_slice_text("text"));
    struct row_ranges ranges = ROW_RANGES_EMPTY;

    for (uint32_t i = 0; i < file->part_count; i++) {
        const struct filter_part *part = &file->parts[i];

        for (uint32_t row = 0; row < part->shape.row_count; row += 97) {
            struct piece_answers pieces = {.answers = NULL};
            char piece[16];
            const int size =
                sprintf(piece, "ow%06" PRIu64 "x", part->first_row + row);
            const struct filter_query query = {
                .kind = FILTER_QUERY_PIECE,
                .path_hashes = &hash,
                .path_length = 1,
                .piece = colander_slice_of(piece, (size_t)size + 1),
            };

            OK(part_find(file, part, &query, &none, &pieces, NULL, &ranges,
                         NULL));
            assert_int_equal(ranges.count, 1);
            assert_int_equal(ranges.ranges[0].first, row);
            assert_int_equal(ranges.ranges[0].end, row + 1);
            piece_answers_release(&pieces);
        }
    }
    row_ranges_release(&ranges);
}

static uint32_t
count_dictionaries(const struct filter_file *file)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < file->part_count; i++)
        count += file->parts[i].block_count[FILTER_DICTIONARY] > 0;
    return count;
}

TEST(parts_share_a_dictionary_until_it_is_full)
{
    SCOPED_FILTER_FILE shared = NULL;
    SCOPED_FILTER_FILE full = NULL;

    build_rows(5000, 1, 1000); /* parts are full of numbers */
    shared = open_model();
    assert_true(shared->part_count >= 4);
    assert_int_equal(count_dictionaries(shared), 1);
    find_rows(shared);
    build_rows(700, 1000, 1); /* dictionaries are full */
    full = open_model();
    assert_true(full->part_count >= 3);
    assert_int_equal(count_dictionaries(full), full->part_count);
    find_rows(full);
}

/* Asks the first part for a piece. Returns the words that its dictionary had,
 * or UINT64_MAX if all rows are to be read. */
static uint64_t
ask_piece(const struct filter_file *file, struct piece_answers *pieces,
          const struct filter_query *query)
{
    const struct hash_hints none = {NULL, 0, 0};
    const uint64_t before = pieces->words_found;
    struct row_ranges ranges = ROW_RANGES_EMPTY;
    bool is_all;

    OK(part_find(file, &file->parts[0], query, &none, pieces, NULL, &ranges,
                 NULL));
    is_all = ranges.count == 1 &&
             row_ranges_rows(&ranges) == file->parts[0].shape.row_count;
    row_ranges_release(&ranges);
    return is_all ? UINT64_MAX : pieces->words_found - before;
}

/* Few rows are read rather than a dictionary, whose search can be cancelled.
 * All pieces together look up a limited number of words. */
TEST(dictionaries_are_searched_as_far_as_that_pays)
{
    const atomic_bool is_cancelled = true;
    static const char *const texts[] = {"ow00010", "ow00011", "ow00012",
                                        "ow00013", "ow00014", "ow00015",
                                        "ow00016", "ow00017"};
    SCOPED_MEMORY struct filter_query *queries =
        calloc(COUNT(texts), sizeof(*queries));
    const struct filter_query beginning = {
        .kind = FILTER_QUERY_PIECE,
        .piece = colander_slice_of("\0row00010", 9),
    };
    const struct hash_hints none = {NULL, 0, 0};
    struct row_ranges ranges = ROW_RANGES_EMPTY;
    struct piece_answers pieces = {.answers = NULL};
    SCOPED_FILTER_FILE file = NULL;

    assert_non_null(queries);
    for (size_t i = 0; i < COUNT(texts); i++) {
        queries[i].kind = FILTER_QUERY_PIECE;
        queries[i].piece = colander_slice_text(texts[i]);
    }
    build_rows(1000, 20, 1);
    file = open_model();
    assert_int_equal(count_dictionaries(file), 1);

    pieces.row_count = 1000; /* all of them */
    assert_int_equal(ask_piece(file, &pieces, &queries[0]), 10);
    assert_false(pieces.is_dear);
    piece_answers_release(&pieces);
    pieces.row_count = 10;
    assert_int_equal(ask_piece(file, &pieces, &queries[0]), UINT64_MAX);
    assert_true(pieces.is_dear);
    assert_int_equal(ask_piece(file, &pieces, &beginning), 10);
    piece_answers_release(&pieces);

    /* 71 words are worth it */
    for (size_t i = 0; i < COUNT(texts); i++)
        assert_int_equal(ask_piece(file, &pieces, &queries[i]),
                         i < 7 ? 10 : UINT64_MAX);
    assert_true(pieces.is_too_many);
    piece_answers_release(&pieces);

    pieces.is_cancelled = &is_cancelled;
    FAILS(part_find(file, &file->parts[0], &queries[0], &none, &pieces, NULL,
                    &ranges, why()),
          COLANDER_CANCELLED);
    row_ranges_release(&ranges);
    piece_answers_release(&pieces);
}

/* A search of a dictionary that is larger than the cache leaves there what
 * other finds need. */
TEST(dictionaries_do_not_empty_the_cache)
{
    struct block_cache *small = block_cache_create(200000, 4096);
    struct dictionary_answer answer = {.words = NULL};
    struct filter_file *file;
    struct cached_block *block;
    uint32_t first;
    uint64_t misses;

    build_rows(1000, 200, 1);
    OK(filter_file_open(path, small, &file, NULL));
    OK(filter_file_block(file, &file->parts[0], FILTER_LOCATOR, 0, &block,
                         &first, NULL));
    block_cache_release(small, block);
    for (unsigned i = 0; i < 4; i++)
        OK(dictionary_find(file, dictionary_part(file, 0), LOCATOR_TAG_ANY,
                           colander_slice_text("none"), 1, NULL, &answer,
                           NULL));
    misses = block_cache_sizes(small).misses;
    assert_true(misses > 20);
    OK(filter_file_block(file, &file->parts[0], FILTER_LOCATOR, 0, &block,
                         &first, NULL));
    block_cache_release(small, block);
    assert_int_equal(block_cache_sizes(small).misses, misses);
    filter_file_unref(file);
    block_cache_destroy(small);
    free(answer.words);
}

/* Returns how many blocks a search reads. */
static uint64_t
search_misses(struct filter_file *file, struct block_cache *small)
{
    const uint64_t before = block_cache_sizes(small).misses;
    struct dictionary_answer answer = {.words = NULL};

    OK(dictionary_find(file, dictionary_part(file, 0), LOCATOR_TAG_ANY,
                       colander_slice_text("none"), 1, NULL, &answer, NULL));
    free(answer.words);
    return block_cache_sizes(small).misses - before;
}

/* Other blocks, small or large, have filled it. A dictionary that takes less
 * than half of it stays, and of a larger one that half does. */
TEST(dictionaries_get_half_of_a_full_cache)
{
    for (unsigned is_larger = 0; is_larger < 2; is_larger++) {
        const size_t capacity = is_larger ? 2000000 : 4000000;
        const size_t size = is_larger ? 20000 : 4096;
        struct block_cache *small = block_cache_create(capacity, 4096);
        struct filter_file *file;
        uint64_t misses;

        build_rows(1000, 200, 1);
        OK(filter_file_open(path, small, &file, NULL));
        for (uint32_t i = 0; i < 2 * capacity / size; i++) {
            struct cached_block *block = block_cache_allocate(small, size);

            assert_non_null(block);
            memset(block_cache_bytes(block), 0, size);
            block_cache_add(small, block, UINT64_MAX, i);
            block_cache_release(small, block);
        }
        misses = search_misses(file, small);
        assert_true(misses > 10);
        for (unsigned i = 0; i < 4; i++)
            (void)search_misses(file, small);
        assert_true(search_misses(file, small) <=
                    (is_larger ? misses * 3 / 4 : misses / 4));
        assert_true(block_cache_bytes_in_turn(small) <=
                    capacity / 2 + 2 * DICTIONARY_BLOCK_SIZE);
        filter_file_unref(file);
        block_cache_destroy(small);
    }
}

/* However small the cache is, each block of a dictionary is read once for all
 * pieces of a question. */
TEST(several_pieces_read_a_dictionary_once)
{
    struct block_cache *small = block_cache_create(20000, 4096);
    static const char *const texts[] = {"ow00010", "no", "ow00011", "ne"};
    struct filter_query queries[COUNT(texts)] = {0};
    struct filter_file *file;
    uint64_t blocks;

    build_rows(1000, 200, 1);
    OK(filter_file_open(path, small, &file, NULL));
    blocks =
        file->parts[dictionary_part(file, 0)].block_count[FILTER_DICTIONARY];
    assert_true(blocks > 20);
    for (unsigned are_many = 0; are_many < 2; are_many++) {
        struct piece_answers pieces = {.are_many = are_many == 1};
        uint64_t misses = block_cache_sizes(small).misses;

        for (size_t i = 0; i < COUNT(texts); i++) {
            queries[i].kind = FILTER_QUERY_PIECE;
            queries[i].piece = colander_slice_text(texts[i]);
            (void)ask_piece(file, &pieces, &queries[i]);
        }
        misses = block_cache_sizes(small).misses - misses;
        piece_answers_release(&pieces);
        if (are_many)
            assert_in_range(misses, blocks, blocks * 2 - 1);
        else
            assert_true(misses >= blocks * 3);
    }
    filter_file_unref(file);
    block_cache_destroy(small);
}

/* Whatever is damaged, all words are found, or an error is. */
TEST(damaged_dictionaries_are_errors)
{
    uint64_t random = random_seed(__func__);
    static struct some_words words[2];
    SCOPED(file_bytes_free) struct file_bytes bytes;
    struct dictionary_answer answer = {.words = NULL};
    const struct colander_slice piece = colander_slice_text("a");
    uint64_t errors = 0;

    do
        write_words(&random, words, 200);
    while (words[0].count == 0 || words[1].count == 0);
    bytes = file_bytes_read(path);
    for (uint64_t runs = random_runs(400); runs > 0; runs--) {
        const size_t at = random_below(&random, bytes.size);
        const uint8_t changed =
            (uint8_t)(bytes.data[at] ^ 1u << random_below(&random, 8));
        SCOPED_FILTER_FILE file = NULL;
        enum colander_code code;

        bytes_overwrite(path, at, &changed, 1);
        code = filter_file_open(path, cache, &file, NULL);
        for (uint32_t i = 1; code == COLANDER_OK && i < 3; i++) {
            code = dictionary_find(file, i, LOCATOR_TAG_ANY, piece, WORDS_MAX,
                                   NULL, &answer, NULL);
            assert_true(code != COLANDER_OK || has_all(&answer, &words[i / 2],
                                                       LOCATOR_TAG_ANY, piece));
        }
        assert_true(code == COLANDER_OK || code == COLANDER_CORRUPT ||
                    code == COLANDER_TOO_NEW);
        errors += code != COLANDER_OK;
        bytes_overwrite(path, at, &bytes.data[at], 1);
    }
    assert_true(errors > 0);
    free(answer.words);
}

int
main(void)
{
    return tests_run(directory_create, directory_remove);
}
