/*
 * The order in which a find looks at the recent rows and the files: a row that
 * moves from one to the other meanwhile is found.
 *
 * The linker redirects both looks to this test, which flushes after the first.
 *
 * SPDX-License-Identifier: MIT
 */
#include "filters/filters.h"
#include "filters/registry.h"
#include "support/cases.h"
#include "support/plain_finds.h"
#include "support/scoped.h"
#include "support/store_fixture.h"

/* To flush after the next look of this thread; NULL: none. */
static _Thread_local struct colander_family *flushed_next;

/* NOLINTBEGIN(bugprone-reserved-identifier): the names are the linker's. */
struct recent_view *__real_recent_view_create(struct recent *recent);
struct recent_view *__wrap_recent_view_create(struct recent *recent);
enum colander_code __real_registry_view(struct registry *registry,
                                        struct family_filters *family,
                                        struct file_view **view,
                                        struct colander_error *err);
enum colander_code __wrap_registry_view(struct registry *registry,
                                        struct family_filters *family,
                                        struct file_view **view,
                                        struct colander_error *err);
/* NOLINTEND(bugprone-reserved-identifier) */

static void
flush_once(void)
{
    struct colander_family *family = flushed_next;

    flushed_next = NULL;
    if (family != NULL)
        OK(colander_family_flush(family, why()));
}

struct recent_view *
__wrap_recent_view_create(struct recent *recent)
{
    struct recent_view *view = __real_recent_view_create(recent);

    flush_once();
    return view;
}

enum colander_code
__wrap_registry_view(struct registry *registry, struct family_filters *family,
                     struct file_view **view, struct colander_error *err)
{
    const enum colander_code code =
        __real_registry_view(registry, family, view, err);

    flush_once();
    return code;
}

FIXTURE_TEST(a_row_flushed_between_the_looks_is_found)
{
    SCOPED_FAMILY family = fixture_family(fixture, "f");
    uint64_t count;

    for (int64_t i = 0; i < 300; i++) /* or else it would scan */
        put_at(family, i, fixture_row(fixture, "n", colander_integer(-i)));
    OK(colander_family_flush(family, NULL));
    for (int64_t i = 1; i <= 5; i++) {
        OK(put_text(fixture, family, "k", "n", colander_integer(i), NULL));
        OK(colander_family_await_filters(family, why())); /* the view is kept */
        flushed_next = family;
        OK(find_count(family, "n", i, &count));
        assert_null(flushed_next);
        assert_int_equal(count, 1);
    }
}
