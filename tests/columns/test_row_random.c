/*
 * Random and damaged rows, read by every function that reads rows in place.
 *
 * SPDX-License-Identifier: MIT
 */
#include "rows.h"
#include "support/cases.h"

/* The depth that msgpack-c unpacks. */
#define THEIR_LEVELS 30

static void
assert_scalar(const struct colander_value *ours, const msgpack_object *theirs)
{
    msgpack_timestamp timestamp;

    switch (ours->type) {
    case COLANDER_NULL:
        assert_int_equal(theirs->type, MSGPACK_OBJECT_NIL);
        return;
    case COLANDER_BOOLEAN:
        assert_int_equal(theirs->type, MSGPACK_OBJECT_BOOLEAN);
        assert_int_equal(ours->boolean, theirs->via.boolean);
        return;
    case COLANDER_INTEGER:
        assert_true(theirs->type == MSGPACK_OBJECT_POSITIVE_INTEGER ||
                    theirs->type == MSGPACK_OBJECT_NEGATIVE_INTEGER);
        assert_int_equal(ours->integer < 0,
                         theirs->type == MSGPACK_OBJECT_NEGATIVE_INTEGER);
        assert_true(ours->integer == theirs->via.i64);
        return;
    case COLANDER_UNSIGNED:
        assert_int_equal(theirs->type, MSGPACK_OBJECT_POSITIVE_INTEGER);
        assert_true(ours->natural > INT64_MAX);
        assert_true(ours->natural == theirs->via.u64);
        return;
    case COLANDER_DOUBLE:
        assert_true(theirs->type == MSGPACK_OBJECT_FLOAT32 ||
                    theirs->type == MSGPACK_OBJECT_FLOAT64);
        assert_memory_equal(&ours->number, &theirs->via.f64, 8);
        return;
    case COLANDER_STRING:
    case COLANDER_BINARY:
        assert_int_equal(theirs->type, ours->type == COLANDER_STRING
                                           ? MSGPACK_OBJECT_STR
                                           : MSGPACK_OBJECT_BIN);
        assert_int_equal(ours->bytes.size, theirs->via.str.size);
        assert_memory_equal(ours->bytes.data, theirs->via.str.ptr,
                            ours->bytes.size);
        return;
    case COLANDER_TIMESTAMP:
        assert_true(msgpack_object_to_timestamp(theirs, &timestamp));
        assert_true(ours->second == timestamp.tv_sec);
        assert_int_equal(ours->nanosecond, timestamp.tv_nsec);
        return;
    default:
        assert_int_equal(ours->type, COLANDER_EXTENSION);
        assert_int_equal(theirs->type, MSGPACK_OBJECT_EXT);
        assert_int_equal(ours->extension_type, theirs->via.ext.type);
        assert_int_equal(ours->bytes.size, theirs->via.ext.size);
        assert_memory_equal(ours->bytes.data, theirs->via.ext.ptr,
                            ours->bytes.size);
    }
}

/* Asserts that our members of `container` are those of msgpack-c. */
static void
assert_container(struct colander_slice container, const msgpack_object *theirs)
{
    struct colander_members members;
    struct colander_slice name;
    struct colander_value value;
    uint32_t count = 0;
    bool is_member;

    OK(colander_members_init(&members, container, why()));
    assert_int_equal(theirs->type, members.is_map ? MSGPACK_OBJECT_MAP
                                                  : MSGPACK_OBJECT_ARRAY);
    for (;; count++) {
        const msgpack_object *other;

        OK(colander_members_next(&members, &is_member, &name, &value, why()));
        if (!is_member)
            break;
        if (members.is_map) {
            const msgpack_object_kv *pair = &theirs->via.map.ptr[count];

            assert_int_equal(name.size, pair->key.via.str.size);
            assert_memory_equal(name.data, pair->key.via.str.ptr, name.size);
            other = &pair->val;
        } else {
            other = &theirs->via.array.ptr[count];
        }
        if (value.type >= COLANDER_ARRAY)
            assert_container(value.bytes, other);
        else
            assert_scalar(&value, other);
    }
    assert_int_equal(count, theirs->via.array.size);
}

static unsigned
levels_of(struct colander_slice container)
{
    struct colander_members members;
    struct colander_slice name;
    struct colander_value value;
    unsigned deepest = 0;
    bool is_member;

    OK(colander_members_init(&members, container, why()));
    for (;;) {
        OK(colander_members_next(&members, &is_member, &name, &value, why()));
        if (!is_member)
            return 1 + deepest;
        if (value.type >= COLANDER_ARRAY) {
            unsigned levels = levels_of(value.bytes);

            deepest = levels > deepest ? levels : deepest;
        }
    }
}

static void
assert_unpacked_equal(struct colander_slice row)
{
    msgpack_zone zone;
    msgpack_object object;

    if (levels_of(row) > THEIR_LEVELS)
        return;
    assert_true(msgpack_zone_init(&zone, 4096));
    object = unpack(row, &zone);
    assert_container(row, &object);
    msgpack_zone_destroy(&zone);
}

struct bench {
    uint64_t seed;
    struct colander_buffer whole; /* a valid row */
    struct colander_buffer row;
    struct colander_buffer path;
    struct colander_buffer out;
};

static void
bench_init(struct bench *bench, const char *test)
{
    memset(bench, 0, sizeof(*bench));
    bench->seed = random_seed(test);
}

static void
bench_release(struct bench *bench)
{
    colander_buffer_release(&bench->whole);
    colander_buffer_release(&bench->row);
    colander_buffer_release(&bench->path);
    colander_buffer_release(&bench->out);
}

/* Reads `row` in every way: a row that passes the check must be read without an
 * error; others end in an error or an answer. */
static bool
read_all(struct bench *bench, struct colander_slice row)
{
    const char *path = random_path(&bench->path, &bench->seed);
    struct colander_value value;
    enum colander_code code = colander_row_check(row, why());
    bool is_row = code == COLANDER_OK;
    bool found;

    assert_true(is_row || code == COLANDER_INVALID || code == COLANDER_LIMIT);
    code = colander_row_get(row, path, &value, &found, why());
    assert_true(code == COLANDER_OK || (!is_row && code == COLANDER_CORRUPT));
    code = colander_row_select(row, &path, 1, &bench->out, why());
    assert_true(code == COLANDER_OK || (!is_row && code == COLANDER_CORRUPT));
    if (is_row)
        OK(colander_row_check(colander_buffer_slice(&bench->out), why()));
    code = colander_row_patch(row, colander_buffer_slice(&bench->whole),
                              &bench->out, why());
    assert_true(code == COLANDER_OK || (!is_row && row.size > 0));
    code = colander_row_patch(colander_buffer_slice(&bench->whole), row,
                              &bench->out, why());
    assert_int_equal(code == COLANDER_OK, is_row);
    return is_row;
}

TEST(rows_are_read_as_msgpack_c_reads_them)
{
    struct bench bench;

    bench_init(&bench, "rows_are_read_as_msgpack_c_reads_them");
    for (int i = 0; i < 50000; i++) {
        random_row(&bench.whole, &bench.seed);
        assert_unpacked_equal(colander_buffer_slice(&bench.whole));
    }
    bench_release(&bench);
}

TEST(rows_cut_off_at_every_byte_are_read_safely)
{
    struct bench bench;

    bench_init(&bench, "rows_cut_off_at_every_byte_are_read_safely");
    for (int i = 0; i < 100; i++) {
        random_row(&bench.whole, &bench.seed);
        for (size_t size = 0; size < bench.whole.size; size++) {
            struct colander_slice copy =
                exact_copy(colander_slice_of(bench.whole.data, size));

            assert_false(read_all(&bench, copy));
            exact_free(copy);
        }
    }
    bench_release(&bench);
}

TEST(damaged_rows_are_read_safely)
{
    uint64_t runs = random_runs(400000);
    uint64_t row_count = 0;
    struct bench bench;

    bench_init(&bench, "damaged_rows_are_read_safely");
    for (uint64_t i = 0; i < runs; i++) {
        struct colander_slice copy;

        if (i % 16 == 0)
            random_row(&bench.whole, &bench.seed);
        colander_buffer_clear(&bench.row);
        put_bytes(&bench.row, bench.whole.data, bench.whole.size);
        damage_row(&bench.row, &bench.seed);
        copy = exact_copy(colander_buffer_slice(&bench.row));
        if (read_all(&bench, copy)) {
            assert_unpacked_equal(copy);
            row_count++;
        }
        exact_free(copy);
    }
    assert_true(runs < 1000 || row_count > runs / 100);
    bench_release(&bench);
}

TEST(random_bytes_are_read_safely)
{
    uint64_t runs = random_runs(400000) / 4;
    struct bench bench;

    bench_init(&bench, "random_bytes_are_read_safely");
    random_row(&bench.whole, &bench.seed);
    for (uint64_t i = 0; i < runs; i++) {
        unsigned size = (unsigned)random_below(&bench.seed, 40);
        struct colander_slice copy;

        colander_buffer_clear(&bench.row);
        put_byte(&bench.row, 0x80 | (unsigned)random_below(&bench.seed, 5));
        while (size-- > 0) {
            uint64_t byte = random_next(&bench.seed);

            /* half of them heads of containers and short strings */
            if (byte & 0x100)
                byte = 0x80 | (byte & 0x33);
            put_byte(&bench.row, byte & 0xff);
        }
        copy = exact_copy(colander_buffer_slice(&bench.row));
        if (read_all(&bench, copy))
            assert_unpacked_equal(copy);
        exact_free(copy);
    }
    bench_release(&bench);
}
