/*
 * Policies of retention: checked, kept as a mark of their family, and turned
 * into predicates.
 *
 * The mark is a list of words, each with a zero byte after it, so that a policy
 * that was read borrows its conditions from the bytes of the mark.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/upkeep/retention_inside.h"

#include "columns/store.h"
#include "core/engine.h"
#include "core/sized.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define MARK "retention"
#define VERSION "1"
#define NUMBER_SIZE 24 /* digits, and a zero byte */

void
colander_retention_init_sized(struct colander_retention *retention,
                              size_t struct_size)
{
    const struct colander_retention all = {.size_max = UINT64_MAX};

    sized_return(retention, struct_size, &all, sizeof(all));
    memcpy(retention, &struct_size, sizeof(struct_size));
}

/* ----------------------------------------------------------- predicates --- */

struct colander_predicate *
retention_before(const char *path, enum colander_comparison before,
                 struct colander_value time, struct colander_error *err)
{
    const enum colander_comparison other =
        before == COLANDER_LT ? COLANDER_GE : COLANDER_GT;
    struct colander_predicate *const both[2] = {
        colander_where(path, before, time, err),
        colander_not(colander_where(path, other, time, err), err)};

    return colander_all_of(both, 2, err);
}

static struct colander_predicate *
meets(const struct colander_keep *keep, struct colander_error *err)
{
    return colander_where_words(keep->words, keep->word_count, NULL, err);
}

/* Creates the predicate that `keeps[index]` counts for a row, and does not keep
 * it from `time` on. */
static struct colander_predicate *
expired_by(const struct colander_keep *keeps, size_t index, const char *path,
           struct colander_value time, struct colander_error *err)
{
    struct colander_predicate **all = calloc(index + 2, sizeof(*all));
    struct colander_predicate *joined;

    if (all == NULL) {
        (void)COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                            "no memory for a condition");
        return NULL;
    }
    all[0] = retention_before(path, COLANDER_LT, time, err);
    all[1] = meets(&keeps[index], err);
    for (size_t i = 0; i < index; i++)
        all[2 + i] = colander_not(meets(&keeps[i], err), err);
    joined = colander_all_of(all, index + 2, err);
    free(all);
    return joined;
}

enum colander_code
retention_expired(const struct colander_retention *retention, const char *path,
                  const struct colander_value *reference,
                  struct colander_predicate **where, struct colander_error *err)
{
    struct colander_predicate **each =
        calloc(retention->keep_count + 1, sizeof(*each));
    struct colander_error mine = {.code = COLANDER_NO_MEMORY};
    size_t count = 0;

    *where = NULL;
    if (each == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory for conditions");
    for (size_t i = 0; i < retention->keep_count; i++) {
        struct colander_value time = *reference;

        if (!__builtin_sub_overflow(time.second, retention->keeps[i].seconds,
                                    &time.second)) /* no time is earlier */
            each[count++] = expired_by(retention->keeps, i, path, time, &mine);
    }
    if (count > 0)
        *where = colander_any_of(each, count, &mine);
    free(each);
    if (count == 0 || *where != NULL)
        return COLANDER_OK;
    return COLANDER_FAIL(err, mine.code, "%s", mine.message);
}

/* --------------------------------------------------------------- checks --- */

/* Whether the condition has @now where a value begins: not in "a@nowhere" nor
 * in "@nowadays". */
static bool
has_now(const char *condition)
{
    const char *at = condition;

    while ((at = strstr(at, "@now")) != NULL) {
        const bool begins = at == condition || !isalnum((unsigned char)at[-1]);

        at += strlen("@now");
        if (begins && !isalnum((unsigned char)*at))
            return true;
    }
    return false;
}

/* Refuses times that the clock alone tells: if it is wrong, rows that are not
 * old would meet a condition. */
static enum colander_code
check_words(const struct colander_keep *keep, struct colander_error *err)
{
    for (size_t i = 0; i < keep->word_count; i++) {
        if (has_now(keep->words[i]))
            return COLANDER_FAIL(err, COLANDER_INVALID,
                                 "%s: ages are what --keep is for: @now cannot "
                                 "be used here",
                                 keep->words[i]);
    }
    return COLANDER_OK;
}

enum colander_code
retention_accept(struct colander_retention *accepted,
                 const struct colander_retention *given,
                 struct colander_error *err)
{
    enum colander_code code;

    colander_retention_init(accepted);
    code = sized_accept(accepted, sizeof(*accepted), given,
                        "members of the policy", err);
    if (code != COLANDER_OK)
        return code;
    if (accepted->keep_count == 0 && accepted->size_max == UINT64_MAX)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "the policy keeps every row");
    if (accepted->size_max == 0)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "at least a byte is kept: size_max is 0");
    for (size_t i = 0; i < accepted->keep_count; i++) {
        if (accepted->keeps[i].seconds < 1)
            return COLANDER_FAIL(err, COLANDER_INVALID,
                                 "rows are kept for a second at least");
        if (accepted->keeps[i].word_count == 0 && i + 1 < accepted->keep_count)
            return COLANDER_FAIL(err, COLANDER_INVALID,
                                 "how long all other rows are kept comes last");
        code = check_words(&accepted->keeps[i], err);
        if (code != COLANDER_OK)
            return code;
    }
    return COLANDER_OK;
}

enum colander_code
retention_time_column(struct colander_family *family,
                      struct colander_buffer *path, struct colander_error *err)
{
    bool found = false;
    enum colander_code code =
        colander_family_time_column(family, path, &found, err);

    if (code != COLANDER_OK || found)
        return code;
    return COLANDER_FAIL(err, COLANDER_INVALID,
                         "family '%s' has no time column",
                         colander_family_name(family));
}

/* Fails if a condition cannot be read, or all are too many. */
static enum colander_code
check_conditions(const struct colander_retention *retention, const char *path,
                 struct colander_error *err)
{
    const struct colander_value epoch = colander_timestamp(0, 0);
    struct colander_predicate *where;
    enum colander_code code =
        retention_expired(retention, path, &epoch, &where, err);

    if (code == COLANDER_OK)
        colander_predicate_destroy(where);
    return code;
}

/* ----------------------------------------------------------------- mark --- */

static void
add_word(struct colander_buffer *mark, const char *word,
         enum colander_code *code, struct colander_error *err)
{
    if (*code == COLANDER_OK)
        *code = colander_buffer_append(mark, word, strlen(word) + 1, err);
}

static void
add_number(struct colander_buffer *mark, const char *word, uint64_t number,
           enum colander_code *code, struct colander_error *err)
{
    char digits[NUMBER_SIZE];

    (void)snprintf(digits, sizeof(digits), "%" PRIu64, number);
    add_word(mark, word, code, err);
    add_word(mark, digits, code, err);
}

static enum colander_code
encode(const struct colander_retention *retention, const char *original,
       const char *path, struct colander_buffer *mark,
       struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    add_word(mark, VERSION, &code, err);
    add_word(mark, original, &code, err);
    add_word(mark, path, &code, err);
    for (size_t i = 0; i < retention->keep_count; i++) {
        const struct colander_keep *keep = &retention->keeps[i];

        for (size_t j = 0; j < keep->word_count; j++) {
            add_word(mark, "where", &code, err);
            add_word(mark, keep->words[j], &code, err);
        }
        add_number(mark, "keep", (uint64_t)keep->seconds, &code, err);
    }
    if (retention->size_max != UINT64_MAX)
        add_number(mark, "size", retention->size_max, &code, err);
    return code;
}

/* A policy that was read from a mark. */
struct kept_retention {
    struct colander_retention shown; /* first: programs have its address */
    struct colander_buffer mark;
    struct colander_keep *keeps;
    const char **words; /* of all keeps, one after another */
    const char *path;   /* the time column for which it was set */
};

void
colander_retention_destroy(struct colander_retention *retention)
{
    struct kept_retention *kept = (struct kept_retention *)retention;

    if (kept == NULL)
        return;
    colander_buffer_release(&kept->mark);
    free(kept->keeps);
    free(kept->words);
    free(kept);
}

/* Returns the next word of a mark and moves *at behind it; NULL: none. */
static const char *
next_word(const struct colander_buffer *mark, size_t *at)
{
    const char *word = (const char *)mark->data + *at;
    const char *end =
        *at < mark->size ? memchr(word, 0, mark->size - *at) : NULL;

    if (end == NULL)
        return NULL;
    *at += (size_t)(end - word) + 1;
    return word;
}

static bool
read_number(const char *word, uint64_t most, uint64_t *number)
{
    char *end = NULL;

    *number = word == NULL ? 0 : strtoull(word, &end, 10);
    return *number > 0 && *end == '\0' && *number <= most;
}

/* Reads one option of the mark. Returns false if it is none. */
static bool
decode_option(struct kept_retention *kept, const char *name, const char *value,
              size_t *word_count)
{
    struct colander_keep *keep = &kept->keeps[kept->shown.keep_count];
    uint64_t number;

    if (value == NULL)
        return false;
    if (strcmp(name, "where") == 0) {
        kept->words[(*word_count)++] = value;
        keep->word_count++;
        return true;
    }
    if (strcmp(name, "size") == 0)
        return keep->word_count == 0 &&
               read_number(value, UINT64_MAX - 1, &kept->shown.size_max);
    if (strcmp(name, "keep") != 0 || !read_number(value, INT64_MAX, &number))
        return false;
    keep->words = kept->words + *word_count - keep->word_count;
    keep->seconds = (int64_t)number;
    kept->shown.keep_count++;
    return true;
}

/* Reads the mark from `at` on. */
static enum colander_code
decode_options(struct kept_retention *kept, size_t at,
               struct colander_error *err)
{
    const size_t count_max = kept->mark.size / 2 + 1;
    struct colander_retention accepted;
    size_t word_count = 0;
    const char *name;

    kept->keeps = calloc(count_max, sizeof(*kept->keeps));
    kept->words = calloc(count_max, sizeof(*kept->words));
    if (kept->keeps == NULL || kept->words == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a policy");
    kept->shown.keeps = kept->keeps;
    while (at < kept->mark.size) {
        name = next_word(&kept->mark, &at);
        if (name == NULL ||
            !decode_option(kept, name, next_word(&kept->mark, &at),
                           &word_count))
            return COLANDER_FAIL(err, COLANDER_CORRUPT,
                                 "its mark '" MARK "' is damaged");
    }
    if (kept->keeps[kept->shown.keep_count].word_count > 0 ||
        retention_accept(&accepted, &kept->shown, NULL) != COLANDER_OK)
        return COLANDER_FAIL(err, COLANDER_CORRUPT,
                             "its mark '" MARK "' is damaged");
    return COLANDER_OK;
}

/* Reads the mark, and whether it was written here, for this time column. */
static enum colander_code
decode(struct kept_retention *kept, const char *original, const char *path,
       enum colander_retention_state *state, struct colander_error *err)
{
    size_t at = 0;
    const char *version = next_word(&kept->mark, &at);
    const char *its_original = next_word(&kept->mark, &at);
    const char *its_path = next_word(&kept->mark, &at);

    if (its_path == NULL)
        return COLANDER_FAIL(err, COLANDER_CORRUPT,
                             "its mark '" MARK "' is damaged");
    if (strcmp(version, VERSION) != 0)
        return COLANDER_FAIL(err, COLANDER_TOO_NEW,
                             "it is of version %.20s, and this library knows "
                             "version " VERSION,
                             version);
    *state = COLANDER_RETENTION_IN_FORCE;
    kept->path = its_path;
    if (strcmp(its_path, path) != 0)
        *state = COLANDER_RETENTION_PAUSED_TIME;
    if (strcmp(its_original, original) != 0)
        *state = COLANDER_RETENTION_PAUSED_STORE;
    return decode_options(kept, at, err);
}

/* ------------------------------------------------------------------ set --- */

static enum colander_code
write_mark(struct colander_family *family, struct colander_slice mark,
           struct colander_error *err)
{
    struct colander_write_options synced;
    struct colander_batch *batch = NULL;
    enum colander_code code = colander_batch_create(family->store, &batch, err);

    colander_write_options_init(&synced);
    synced.durability = COLANDER_SYNC;
    if (code == COLANDER_OK)
        code = colander_batch_mark(batch, family, colander_slice_text(MARK),
                                   mark, err);
    if (code == COLANDER_OK)
        code = colander_batch_commit(batch, &synced, err);
    colander_batch_destroy(batch);
    return code;
}

/* Encodes the policy as one that is set here. */
static enum colander_code
encode_here(struct colander_family *family,
            const struct colander_retention *given,
            struct colander_buffer *mark, struct colander_error *err)
{
    struct colander_buffer path = COLANDER_BUFFER_EMPTY;
    struct colander_buffer original = COLANDER_BUFFER_EMPTY;
    struct colander_retention retention;
    enum colander_code code = retention_accept(&retention, given, err);

    if (code == COLANDER_OK)
        code = retention_check_pattern(family, &retention, err);
    if (code == COLANDER_OK)
        code = retention_time_column(family, &path, err);
    if (code == COLANDER_OK)
        code = check_conditions(&retention, (const char *)path.data, err);
    if (code == COLANDER_OK)
        code = engine_original(family->store->engine, true, &original, err);
    if (code == COLANDER_OK)
        code = colander_buffer_append(&original, "", 1, err);
    if (code == COLANDER_OK)
        code = encode(&retention, (const char *)original.data,
                      (const char *)path.data, mark, err);
    colander_buffer_release(&path);
    colander_buffer_release(&original);
    return code;
}

enum colander_code
colander_family_set_retention(struct colander_family *family,
                              const struct colander_retention *retention,
                              struct colander_error *err)
{
    struct colander_buffer mark = COLANDER_BUFFER_EMPTY;
    enum colander_code code = store_check_writable(family->store, err);

    if (code == COLANDER_OK && !colander_family_exists(family))
        code = COLANDER_FAIL(err, COLANDER_NOT_FOUND, "no family '%s'",
                             colander_family_name(family));
    if (code == COLANDER_OK && retention != NULL)
        code = encode_here(family, retention, &mark, err);
    if (code == COLANDER_OK)
        code = write_mark(family, colander_buffer_slice(&mark), err);
    colander_buffer_release(&mark);
    return code;
}

/* ------------------------------------------------------------------ get --- */

/* Reads the text that the store has and no copy of it, and the time column;
 * both "" if there is none. */
static enum colander_code
read_place(struct colander_family *family, struct colander_buffer *original,
           struct colander_buffer *path, struct colander_error *err)
{
    bool found;
    enum colander_code code =
        engine_original(family->store->engine, false, original, err);

    if (code == COLANDER_OK)
        code = colander_buffer_append(original, "", 1, err);
    if (code == COLANDER_OK)
        code = colander_family_time_column(family, path, &found, err);
    if (code == COLANDER_OK && !found)
        code = colander_buffer_append(path, "", 1, err);
    return code;
}

static enum colander_code
read_kept(struct colander_family *family, struct kept_retention *kept,
          bool *found, enum colander_retention_state *state,
          struct colander_error *err)
{
    struct colander_buffer original = COLANDER_BUFFER_EMPTY;
    struct colander_buffer path = COLANDER_BUFFER_EMPTY;
    enum colander_code code = colander_family_mark(
        family, colander_slice_text(MARK), &kept->mark, found, err);

    if (code == COLANDER_OK && *found)
        code = read_place(family, &original, &path, err);
    if (code == COLANDER_OK && *found) {
        code = decode(kept, (const char *)original.data,
                      (const char *)path.data, state, err);
        if (code != COLANDER_OK)
            colander_error_context(err, "retention of family '%s'",
                                   colander_family_name(family));
    }
    colander_buffer_release(&original);
    colander_buffer_release(&path);
    return code;
}

enum colander_code
colander_family_retention(struct colander_family *family,
                          struct colander_retention **retention,
                          enum colander_retention_state *state,
                          struct colander_error *err)
{
    struct kept_retention *kept = calloc(1, sizeof(*kept));
    bool found = false;
    enum colander_code code;

    *retention = NULL;
    *state = COLANDER_RETENTION_NONE;
    if (kept == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a policy");
    colander_retention_init(&kept->shown);
    code = read_kept(family, kept, &found, state, err);
    if (code != COLANDER_OK || !found) {
        colander_retention_destroy(&kept->shown);
        *state = COLANDER_RETENTION_NONE;
        return code;
    }
    *retention = &kept->shown;
    return COLANDER_OK;
}

const char *
retention_path(const struct colander_retention *kept)
{
    return ((const struct kept_retention *)kept)->path;
}

enum colander_code
retention_check_same(struct colander_family *family,
                     const struct colander_retention *kept,
                     struct colander_error *err)
{
    const struct kept_retention *own = (const struct kept_retention *)kept;
    struct colander_buffer now = COLANDER_BUFFER_EMPTY;
    bool found = false;
    bool is_same = false;
    enum colander_code code = colander_family_mark(
        family, colander_slice_text(MARK), &now, &found, err);

    if (code == COLANDER_OK && found) {
        is_same = now.size == own->mark.size &&
                  memcmp(now.data, own->mark.data, now.size) == 0;
        code = colander_family_time_column(family, &now, &found, err);
        is_same = is_same && code == COLANDER_OK && found &&
                  strcmp((const char *)now.data, own->path) == 0;
    }
    colander_buffer_release(&now);
    if (code != COLANDER_OK || is_same)
        return code;
    return COLANDER_FAIL(err, COLANDER_CANCELLED,
                         "the retention of family '%s' was changed meanwhile: "
                         "the rest was not deleted",
                         colander_family_name(family));
}
