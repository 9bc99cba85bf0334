/*
 * Objects of either kind: what was put is there, as a whole.
 *
 * The address is in $COLANDER_OBJECTS; without it, it is a directory.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cluster/objects.h"
#include "support/cases.h"
#include "support/temporary.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static char directory[TEMPORARY_SIZE];

static int
setup(void **state)
{
    const char *address = getenv("COLANDER_OBJECTS");
    char usual[TEMPORARY_SIZE + 32];
    struct objects *objects;

    (void)snprintf(usual, sizeof(usual), "file://%s/a b", directory);
    OK(objects_open(address == NULL ? usual : address, &objects, why()));
    *state = objects;
    return 0;
}

static int
teardown(void **state)
{
    objects_close(*state);
    return 0;
}

#define OBJECTS_TEST(name)                                                     \
    TEST_WITH(struct objects *objects, name, setup, teardown)

static void
put_text(struct objects *objects, const char *name, const char *text)
{
    const struct object_body body = {-1, (const uint8_t *)text, strlen(text)};

    OK(objects_put(objects, name, &body, why()));
}

static void
expect(struct objects *objects, const char *name, uint64_t offset, size_t size,
       const char *wanted)
{
    struct colander_buffer bytes = COLANDER_BUFFER_EMPTY;

    OK(objects_get(objects, name, offset, size, &bytes, why()));
    ASSERT_SAME(colander_buffer_slice(&bytes), colander_slice_text(wanted));
    colander_buffer_release(&bytes);
}

OBJECTS_TEST(what_was_put_is_there)
{
    struct colander_buffer bytes = COLANDER_BUFFER_EMPTY;

    put_text(objects, "files/one", "0123456789");
    expect(objects, "files/one", 0, 10, "0123456789");
    expect(objects, "files/one", 0, 1000, "0123456789");
    expect(objects, "files/one", 3, 4, "3456");
    expect(objects, "files/one", 9, 4, "9");
    expect(objects, "files/one", 10, 4, "");
    expect(objects, "files/one", 1000, 4, "");
    expect(objects, "files/one", 4, 0, "");
    put_text(objects, "files/one", "other");
    expect(objects, "files/one", 0, 1000, "other");
    FAILS(objects_get(objects, "files/none", 0, 10, &bytes, why()),
          COLANDER_NOT_FOUND);
    OK(objects_delete(objects, "files/one", why()));
    FAILS(objects_get(objects, "files/one", 0, 10, &bytes, why()),
          COLANDER_NOT_FOUND);
    OK(objects_delete(objects, "files/one", why()));
    assert_int_equal(bytes.size, 0);
}

OBJECTS_TEST(an_object_may_be_empty)
{
    put_text(objects, "files/empty", "");
    expect(objects, "files/empty", 0, 1000, "");
    OK(objects_delete(objects, "files/empty", why()));
}

OBJECTS_TEST(a_list_has_the_objects_of_a_folder_in_order)
{
    struct object_list list = {NULL, 0, 0};
    char name[32];

    OK(objects_list(objects, "folder", &list, why()));
    assert_int_equal(list.count, 0);
    for (unsigned i = 0; i < 9; i++) {
        (void)snprintf(name, sizeof(name), "folder/%u", 8 - i);
        put_text(objects, name, "text");
    }
    put_text(objects, "folder2/0", "other");
    OK(objects_list(objects, "folder", &list, why()));
    assert_int_equal(list.count, 9);
    for (unsigned i = 0; i < 9; i++) {
        (void)snprintf(name, sizeof(name), "folder/%u", i);
        assert_string_equal(list.items[i].name, name);
        assert_int_equal(list.items[i].size, 4);
        assert_true(list.items[i].modified > 1600000000);
        assert_ptr_equal(object_list_find(&list, name), &list.items[i]);
        OK(objects_delete(objects, name, why()));
    }
    assert_null(object_list_find(&list, "folder/9"));
    OK(objects_delete(objects, "folder2/0", why()));
    OK(objects_list(objects, "folder", &list, why()));
    assert_int_equal(list.count, 0);
}

/* Fills a file with bytes that tell where they are. */
static int
large_file(uint64_t size)
{
    const int fd = memfd_create("large", MFD_CLOEXEC);
    uint32_t *words;

    assert_true(fd >= 0);
    ZERO(ftruncate(fd, (off_t)size));
    words = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_true(words != MAP_FAILED);
    for (uint32_t i = 0; i < size / sizeof(*words); i++)
        words[i] = i * 2654435761U;
    ZERO(munmap(words, size));
    return fd;
}

/* 64 MiB are sent at once, and more in parts. */
OBJECTS_TEST(large_objects_are_whole)
{
    const uint64_t sizes[] = {64 << 20, (64 << 20) + 8, (80 << 20) - 4};
    const int fd = large_file(80 << 20);
    struct colander_buffer bytes = COLANDER_BUFFER_EMPTY;

    for (size_t i = 0; i < COUNT(sizes); i++) {
        const struct object_body body = {fd, NULL, sizes[i]};
        const uint8_t *wanted =
            mmap(NULL, sizes[i], PROT_READ, MAP_SHARED, fd, 0);

        OK(objects_put(objects, "files/large", &body, why()));
        colander_buffer_clear(&bytes);
        OK(objects_get(objects, "files/large", 0, 100 << 20, &bytes, why()));
        assert_int_equal(bytes.size, sizes[i]);
        ZERO(memcmp(bytes.data, wanted, sizes[i]));
        ZERO(munmap((void *)(uintptr_t)wanted, sizes[i]));
    }
    OK(objects_delete(objects, "files/large", why()));
    colander_buffer_release(&bytes);
    ZERO(close(fd));
}

OBJECTS_TEST(an_object_may_be_in_no_folder)
{
    struct object_list list = {NULL, 0, 0};

    put_text(objects, "cluster.json", "{}");
    put_text(objects, "families/a_b-c.json", "{}");
    expect(objects, "cluster.json", 0, 1000, "{}");
    OK(objects_list(objects, "families", &list, why()));
    assert_int_equal(list.count, 1);
    assert_string_equal(list.items[0].name, "families/a_b-c.json");
    object_list_release(&list);
    OK(objects_delete(objects, "cluster.json", why()));
    OK(objects_delete(objects, "families/a_b-c.json", why()));
}

OBJECTS_TEST(a_body_that_is_shorter_than_its_size_is_not_put)
{
    const int fd = memfd_create("short", MFD_CLOEXEC);
    const struct object_body body = {fd, NULL, 100};
    struct colander_buffer bytes = COLANDER_BUFFER_EMPTY;

    ZERO(ftruncate(fd, 99));
    FAILS(objects_put(objects, "files/short", &body, why()), COLANDER_IO);
    FAILS(objects_get(objects, "files/short", 0, 10, &bytes, why()),
          COLANDER_NOT_FOUND);
    ZERO(close(fd));
}

int
main(void)
{
    int failures;

    temporary_make(directory);
    failures = tests_run(NULL, NULL);
    temporary_remove(directory);
    return failures;
}
