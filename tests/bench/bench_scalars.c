/*
 * The scalars of a row, at every depth, with their paths.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_lines.h"

#define PATH_SIZE 1024

struct visit {
    bench_take_scalar *take;
    void *context;
    char path[PATH_SIZE];
};

static size_t
append(struct visit *visit, size_t size, const char *text, size_t text_size)
{
    if (text_size >= PATH_SIZE - size)
        bench_fail("a row", "a path in it is too long");
    memcpy(visit->path + size, text, text_size);
    visit->path[size + text_size] = '\0';
    return size + text_size;
}

/* Appends a member's name to the first `size` bytes of the path. */
static size_t
extend(struct visit *visit, size_t size, struct colander_slice name,
       bool is_map)
{
    const char member = BENCH_PATH_MEMBER;
    const char element = BENCH_PATH_ELEMENT;

    if (!is_map)
        return append(visit, size, &element, 1);
    if (size > 0)
        size = append(visit, size, &member, 1);
    return append(visit, size, (const char *)name.data, name.size);
}

/* Rows are of bounded depth.
 * NOLINTNEXTLINE(misc-no-recursion) */
static void
visit_members(struct visit *visit, size_t size, struct colander_slice container)
{
    struct colander_members members;
    struct colander_value value;
    struct colander_slice name;
    bool is_member;

    bench_check(colander_members_init(&members, container, &bench_error));
    for (;;) {
        size_t end;

        bench_check(colander_members_next(&members, &is_member, &name, &value,
                                          &bench_error));
        if (!is_member)
            return;
        end = extend(visit, size, name, members.is_map);
        if (value.type == COLANDER_MAP || value.type == COLANDER_ARRAY)
            visit_members(visit, end, value.bytes);
        else
            visit->take(visit->context, visit->path, &value);
    }
}

void
bench_scalars_visit(struct colander_slice row, bench_take_scalar *take,
                    void *context)
{
    struct visit visit = {.take = take, .context = context};

    visit_members(&visit, 0, row);
}
