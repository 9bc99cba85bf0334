/*
 * Items, as Elasticsearch's _bulk has them: what becomes of each, whatever is
 * wrong with the others. And loads that keep rows, while others write.
 *
 * SPDX-License-Identifier: MIT
 */
#include "loading/pieces.h"
#include "support/cases.h"
#include "support/scoped.h"
#include "support/store_fixture.h"

#include "loading/load.h"

#include <unistd.h>

/* A text that is loaded as if it were the body of a request. */
struct body {
    struct store_fixture *fixture;
    const char *text;
    struct colander_load_options options;
    struct colander_load_stats figures;
    struct colander_buffer outcomes; /* of all items */
    struct colander_error err;
};

static enum colander_code
look(void *context, const char *file, uint64_t *size, char **path,
     struct colander_error *err)
{
    (void)context;
    (void)err;
    *size = UINT64_MAX;
    *path = strdup(file);
    return COLANDER_OK;
}

static enum colander_code
read_body(void *context, const char *file, uint64_t offset, void *data,
          size_t size, size_t *got, bool *is_end, struct colander_error *err)
{
    const struct body *body = context;
    const char *left = body->text + offset;

    (void)file;
    (void)err;
    *got = strlen(left) < size ? strlen(left) : size;
    memcpy(data, left, *got);
    *is_end = *got == 0;
    return COLANDER_OK;
}

static bool
would_wait(void *context, const char *file)
{
    (void)context;
    (void)file;
    return false;
}

static void
report(void *context, const struct colander_load_item *item)
{
    static const char *const outcomes[] = {
        [COLANDER_LOAD_CREATED] = "created",
        [COLANDER_LOAD_UPDATED] = "updated",
        [COLANDER_LOAD_DELETED] = "deleted",
        [COLANDER_LOAD_MISSING] = "missing",
        [COLANDER_LOAD_EXISTS] = "exists",
        [COLANDER_LOAD_INVALID] = "invalid",
    };
    struct body *body = context;
    char text[400];

    (void)snprintf(text, sizeof(text), "%s %.*s %.*s %s%s\n", item->action,
                   (int)item->family.size, item->family.data,
                   item->id.size == 26 ? 2 : (int)item->id.size, item->id.data,
                   outcomes[item->outcome], item->reason == NULL ? "" : "!");
    OK(colander_buffer_append(&body->outcomes, text, strlen(text), NULL));
}

static void
body_init(struct body *body, struct store_fixture *fixture, const char *format,
          const char *text)
{
    memset(body, 0, sizeof(*body));
    body->fixture = fixture;
    body->text = text;
    colander_load_options_init(&body->options);
    body->options.format = format;
    body->options.report_item = report;
    body->options.context = body;
}

static enum colander_code
load(struct body *body, struct colander_family *family)
{
    static const char *const files[] = {"-"};
    const struct colander_load_files elsewhere = {
        .context = body,
        .look = look,
        .read = read_body,
        .would_wait = would_wait,
    };
    struct colander_load *loading = NULL;
    enum colander_code code;

    body->options.elsewhere = &elsewhere;
    OK(colander_load_create(body->fixture->store, family, &body->options,
                            &loading, why()));
    code = colander_load_run(loading, files, 1, &body->err);
    body->figures = *colander_load_stats(loading);
    colander_load_destroy(loading);
    OK(colander_buffer_append(&body->outcomes, "", 1, NULL));
    return code;
}

static void
assert_outcomes(struct store_fixture *fixture, const char *text,
                const char *outcomes)
{
    SCOPED_FAMILY family = fixture_family(fixture, "f");
    struct body body;

    body_init(&body, fixture, "elasticsearch", text);
    OK(load(&body, family));
    assert_string_equal((char *)body.outcomes.data, outcomes);
    colander_buffer_release(&body.outcomes);
}

/* ---------------------------------------------------------------- items --- */

FIXTURE_TEST(each_item_has_its_outcome)
{
    SCOPED_FAMILY family = fixture_family(fixture, "f");
    SCOPED_FAMILY other = fixture_family(fixture, "g");

    assert_outcomes(fixture,
                    "{\"index\":{\"_id\":\"a\"}}\n{\"n\":1}\n"
                    "{\"index\":{\"_id\":\"a\"}}\n{\"n\":2}\n"
                    "{\"create\":{\"_id\":\"a\"}}\n{\"n\":3}\n"
                    "{\"create\":{\"_id\":7,\"_index\":\"g\"}}\n{\"n\":4}\n"
                    "{\"update\":{\"_id\":\"a\"}}\n{\"doc\":{\"m\":5}}\n"
                    "{\"update\":{\"_id\":\"b\"}}\n{\"doc\":{\"m\":6}}\n"
                    "{\"update\":{\"_id\":\"c\"}}\n"
                    "{\"doc\":{\"m\":7},\"doc_as_upsert\":true}\n"
                    "{\"index\":{}}\n{\"n\":8}\n"
                    "{\"delete\":{\"_id\":\"c\"}}\n"
                    "{\"delete\":{\"_id\":\"c\"}}\n"
                    "{\"create\":{\"_id\":\"c\"}}\n{\"n\":9}",
                    "index f a created\nindex f a updated\n"
                    "create f a exists!\ncreate g 7 created\n"
                    "update f a updated\nupdate f b missing!\n"
                    "update f c created\nindex f 01 created\n"
                    "delete f c deleted\ndelete f c missing\n"
                    "create f c created\n");
    assert_row(family, "a", "{\"_key\":\"a\",\"n\":2,\"m\":5}");
    assert_row(family, "b", NULL);
    assert_row(family, "c", "{\"_key\":\"c\",\"n\":9}");
    assert_row(other, "7", "{\"_key\":\"7\",\"n\":4}");
    assert_int_equal(count_rows(family), 3);
}

/* A client that counts its items counts as many. */
FIXTURE_TEST(a_bad_item_is_one_item_and_harms_no_other)
{
    static const char *const bad[] = {
        "{\"index\":{\"_id\":\"x\"}}\n{\"n\":\n",
        "{\"index\":{\"_id\":\"x\"}}\nnot JSON\n",
        "{\"index\":{\"_id\":\"x\"}}\n[1]\n",
        "{\"index\":{\"_id\":\"x\"}}\n\n",
        "{\"index\":{\"_id\":\"x\"}}\n{\"n\":99999999999999999999}\n",
        "{\"index\":{\"_id\":[1]}}\n{\"n\":1}\n",
        "{\"index\":{\"_id\":}}\n{\"n\":1}\n",
        "{\"index\":{\"_id\":\"x\",\"if_seq_no\":5}}\n{\"n\":1}\n",
        "{\"index\":{\"_id\":\"x\",\"pipeline\":\"p\"}}\n{\"n\":1}\n",
        "{\"index\":{},\"create\":{}}\n{\"n\":1}\n",
        "{\"index\":{\"_index\":\"\\u0001\"}}\n{\"n\":1}\n",
        "{\"index\":{\"_index\":\"a\\u0000b\"}}\n{\"n\":1}\n",
        "{\"update\":{\"_id\":\"x\"}}\n{\"script\":\"n\"}\n",
        "{\"update\":{\"_id\":\"x\"}}\n{\"doc\":5}\n",
        "{\"update\":{\"_id\":\"x\"}}\n{}\n",
        "{\"update\":{\"_id\":\"x\"}}\n{\"doc\":{\"_key\":1}}\n",
        "{\"update\":{}}\n{\"doc\":{\"n\":1}}\n",
        "{\"delete\":{}}\n",
        "{\"upsert\":{\"_id\":\"x\"}}\n{\"n\":1}\n",
        "{\"INDEX\":{\"_id\":\"x\"}}\n{\"n\":1}\n",
        "rubbish\n{\"n\":1}\n",
        "rubbish\n",
        "[]\n",
        "\"index\"\n{\"n\":1}\n\n{\"n\":1}\n",
    };
    SCOPED_FAMILY family = fixture_family(fixture, "f");

    for (size_t i = 0; i < COUNT(bad); i++) {
        struct body body;
        char text[400];
        size_t count = 0;

        (void)snprintf(text, sizeof(text),
                       "{\"index\":{\"_id\":\"first%zu\"}}\n{\"n\":1}\n%s"
                       "{\"index\":{\"_id\":\"last%zu\"}}\n{\"n\":2}\n",
                       i, bad[i], i);
        body_init(&body, fixture, "elasticsearch", text);
        OK(load(&body, family));
        for (const char *at = (char *)body.outcomes.data;
             (at = strchr(at, '\n')) != NULL; at++)
            count++;
        if (count != 3 || body.figures.row_count != 2 ||
            body.figures.reject_count != 1 ||
            strstr((char *)body.outcomes.data, "!\nindex f last") == NULL)
            fail_msg("%s: %s", bad[i], (char *)body.outcomes.data);
        colander_buffer_release(&body.outcomes);
    }
    assert_int_equal(count_rows(family), 2 * COUNT(bad));
}

FIXTURE_TEST(an_item_too_large_is_one_item)
{
    SCOPED_FAMILY family = fixture_family(fixture, "f");
    static const char *const heads[] = {"{\"index\":{\"_id\":\"x\"}}\n", ""};

    for (size_t i = 0; i < COUNT(heads); i++) {
        SCOPED_BUFFER text = COLANDER_BUFFER_EMPTY;
        struct body body;

        OK(colander_buffer_append(&text, heads[i], strlen(heads[i]), NULL));
        OK(colander_buffer_append(&text, "{\"n\":\"", 6, NULL));
        OK(colander_buffer_reserve(&text, 5000000, NULL));
        memset(text.data + text.size, 'x', 4000000);
        text.size += 4000000;
        OK(colander_buffer_append(
            &text,
            "\"}\n{\"index\":{\"_id\":\"y\"}}\n{\"n\":1}\n"
            "{\"delete\":{\"_id\":\"y\"}}\n",
            sizeof("\"}\n{\"index\":{\"_id\":\"y\"}}\n{\"n\":1}\n"
                   "{\"delete\":{\"_id\":\"y\"}}\n"),
            NULL));
        body_init(&body, fixture, "elasticsearch", (char *)text.data);
        body.options.record_size = 1024;
        OK(load(&body, family));
        assert_non_null(strstr((char *)body.outcomes.data,
                               "invalid!\nindex f y created\n"
                               "delete f y deleted\n"));
        assert_int_equal(body.figures.reject_count, 1);
        colander_buffer_release(&body.outcomes);
    }
}

FIXTURE_TEST(items_may_have_to_name_their_family)
{
    SCOPED_FAMILY family = fixture_family(fixture, "f");
    struct body body;

    body_init(&body, fixture, "elasticsearch",
              "{\"index\":{\"_id\":\"a\"}}\n{}\n"
              "{\"index\":{\"_id\":\"a\",\"_index\":\"g\"}}\n{}\n"
              "{\"index\":{\"_id\":\"a\",\"_index\":\"g{day}\"}}\n{}\n");
    body.options.items_name_families = true;
    OK(load(&body, family));
    assert_string_equal((char *)body.outcomes.data,
                        "index  a invalid!\nindex g a created\n"
                        "index g{day} a invalid!\n");
    assert_false(colander_family_exists(family));
    colander_buffer_release(&body.outcomes);
}

FIXTURE_TEST(a_load_has_so_many_items_and_families)
{
    SCOPED_FAMILY family = fixture_family(fixture, "f");
    SCOPED_BUFFER text = COLANDER_BUFFER_EMPTY;
    struct body body;

    for (int i = 0; i < 101; i++) {
        char item[100];

        (void)snprintf(item, sizeof(item),
                       "{\"index\":{\"_id\":\"a\",\"_index\":\"f%d\"}}\n{}\n",
                       i);
        OK(colander_buffer_append(&text, item, strlen(item), NULL));
    }
    OK(colander_buffer_append(&text, "", 1, NULL));
    body_init(&body, fixture, "elasticsearch", (char *)text.data);
    OK(load(&body, family));
    assert_int_equal(body.figures.row_count, 100);
    assert_int_equal(body.figures.reject_count, 1);
    colander_buffer_release(&body.outcomes);
}

FIXTURE_TEST(items_without_an_id_may_have_a_hash_or_columns_as_key)
{
    static const char *const keys[] = {COLANDER_LOAD_HASH, "n"};

    for (size_t i = 0; i < COUNT(keys); i++) {
        SCOPED_FAMILY family = fixture_family(fixture, keys[i] + (i == 0));
        struct body body;

        body_init(&body, fixture, "elasticsearch",
                  "{\"index\":{}}\n{\"n\":5}\n{\"index\":{}}\n{\"n\":5}\n"
                  "{\"index\":{\"_id\":\"a\"}}\n{\"n\":5}\n"
                  "{\"update\":{\"_id\":\"a\"}}\n{\"doc\":{\"m\":5}}\n"
                  "{\"delete\":{\"_id\":\"a\"}}\n");
        body.options.key = &keys[i];
        body.options.key_count = 1;
        OK(load(&body, family));
        assert_int_equal(body.figures.reject_count, 0);
        assert_int_equal(count_rows(family), 1);
        colander_buffer_release(&body.outcomes);
    }
}

/* -------------------------------------------------------------- rejects --- */

static void
note_column(void *context, const struct colander_load_reject *reject)
{
    struct body *body = context;
    char text[60];

    (void)snprintf(text, sizeof(text), "%d:%d\n", (int)reject->line,
                   (int)reject->column);
    OK(colander_buffer_append(&body->outcomes, text, strlen(text), NULL));
}

/* Not where the record before was at fault. */
FIXTURE_TEST(a_record_that_is_wrong_as_a_whole_is_reported_at_its_beginning)
{
    SCOPED_FAMILY family = fixture_family(fixture, "f");
    struct body body;

    body_init(&body, fixture, "jsonl",
              "{\"text\":\"of some length\",\"n\":oops}\n{\"_key\":{}}");
    body.options.report_reject = note_column;
    OK(load(&body, family));
    assert_string_equal((char *)body.outcomes.data, "1:30\n2:1\n");
    colander_buffer_release(&body.outcomes);
}

/* ----------------------------------------------------------------- late --- */

/* Puts a row, after the load has looked for those that are there. */
static void
put_late(void *context, const struct colander_load_reject *reject)
{
    struct body *body = context;
    SCOPED_FAMILY family = fixture_family(body->fixture, "f");

    if (strstr(reject->reason, "already a row") == NULL)
        OK(put_text(body->fixture, family, "b", "n", colander_integer(9),
                    NULL));
}

FIXTURE_TEST(a_row_that_is_written_meanwhile_is_kept)
{
    for (int i = 0; i < 2; i++) {
        SCOPED_FAMILY family = fixture_family(fixture, "f");
        struct body body;

        body_init(&body, fixture, "jsonl",
                  "{\"_key\":\"a\",\"n\":1}\nbad\n{\"_key\":\"b\",\"n\":1}\n");
        body.options.report_reject = put_late;
        body.options.duplicates =
            i == 0 ? COLANDER_LOAD_KEEP : COLANDER_LOAD_REJECT;
        OK(load(&body, family));
        assert_row(family, "b", "{\"_key\":\"b\",\"n\":9}");
        assert_int_equal(body.figures.row_count, 1);
        assert_int_equal(body.figures.new_count, 1);
        assert_int_equal(body.figures.kept_count, i == 0);
        assert_int_equal(body.figures.reject_count, 1 + (i == 1));
        colander_buffer_release(&body.outcomes);
        OK(colander_family_drop(family, NULL));
    }
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
