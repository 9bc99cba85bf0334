/*
 * Inputs: plain, compressed, truncated, damaged; files, pipes, folders.
 *
 * SPDX-License-Identifier: MIT
 */
#include "loading/input.h"
#include "support/cases.h"

#include "support/random.h"
#include "support/scoped.h"
#include "support/temporary.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>

#include <zlib.h>
#include <zstd.h>

static atomic_bool never;

struct resume_point {
    char directory[TEMPORARY_SIZE];
    char path[TEMPORARY_SIZE + 16];
};

static int
setup(void **state)
{
    struct resume_point *place = calloc(1, sizeof(*place));

    temporary_make(place->directory);
    (void)snprintf(place->path, sizeof(place->path), "%s/file",
                   place->directory);
    *state = place;
    return 0;
}

static int
teardown(void **state)
{
    struct resume_point *place = *state;

    temporary_remove(place->directory);
    free(place);
    return 0;
}

static void
write_file(const char *path, const void *data, size_t size)
{
    FILE *file;

    (void)remove(path); /* some file systems sync an overwritten file */
    file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    ZERO(fclose(file));
}

static void
append(struct colander_buffer *out, const void *data, size_t size)
{
    OK(colander_buffer_append(out, data, size, NULL));
}

static void
add_gzip(struct colander_buffer *out, const void *data, size_t size)
{
    uint8_t bytes[64 << 10];
    z_stream stream = {.next_in = (uint8_t *)(uintptr_t)data,
                       .avail_in = (uInt)size,
                       .next_out = bytes,
                       .avail_out = sizeof(bytes)};

    assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, 0),
                     Z_OK);
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    append(out, bytes, sizeof(bytes) - stream.avail_out);
    (void)deflateEnd(&stream);
}

static void
add_zstd(struct colander_buffer *out, const void *data, size_t size)
{
    uint8_t bytes[64 << 10];
    ZSTD_CCtx *context = ZSTD_createCCtx();
    size_t made;

    (void)ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    made = ZSTD_compress2(context, bytes, sizeof(bytes), data, size);
    assert_false(ZSTD_isError(made));
    append(out, bytes, made);
    (void)ZSTD_freeCCtx(context);
}

/* Reads everything in steps of `step`, and returns what came before the end or
 * the failure. */
static enum colander_code
read_in_steps(struct input *input, size_t step, struct colander_buffer *out,
              struct colander_error *err)
{
    uint8_t bytes[4096];
    enum colander_code code;
    size_t got;

    colander_buffer_clear(out);
    do {
        code = input_read(input, bytes, step, &got, err);
        if (code != COLANDER_OK)
            assert_int_equal(got, 0);
        append(out, bytes, got);
    } while (code == COLANDER_OK && got > 0);
    return code;
}

static enum colander_code
read_all(const char *path, struct colander_buffer *out,
         struct colander_error *err)
{
    struct input *input;
    enum colander_code code;

    OK(input_open(path, NULL, &never, &input, err));
    code = read_in_steps(input, 1000, out, err);
    if (code != COLANDER_OK) { /* and it fails again */
        struct colander_buffer none = COLANDER_BUFFER_EMPTY;

        assert_int_equal(read_in_steps(input, 1000, &none, NULL), code);
        assert_int_equal(none.size, 0);
    }
    input_close(input);
    return code;
}

static void
assert_reads_as(const char *path, struct colander_slice text)
{
    SCOPED_BUFFER out = COLANDER_BUFFER_EMPTY;

    OK(read_all(path, &out, why()));
    assert_true(colander_slice_equal(colander_buffer_slice(&out), text));
}

/* Text that compresses, but not to nothing. */
static struct colander_slice
some_text(void)
{
    static char text[2000];
    uint64_t random = 5;

    for (size_t i = 0; i < sizeof(text); i++)
        text[i] = "abcdefgh\n"[random_below(&random, 9)];
    return colander_slice_of(text, sizeof(text));
}

/* -------------------------------------------------------------- whole --- */

#define INPUT_TEST(name)                                                       \
    TEST_WITH(struct resume_point *place, name, setup, teardown)

INPUT_TEST(plain_bytes_are_returned_unchanged)
{
    struct colander_slice text = some_text();

    for (size_t size = 0; size < 6; size++) {
        write_file(place->path, "\x1f\x28\xb5\x2f\xfe\x00", size);
        assert_reads_as(place->path,
                        colander_slice_of("\x1f\x28\xb5\x2f\xfe\x00", size));
    }
    write_file(place->path, text.data, text.size);
    assert_reads_as(place->path, text);
}

INPUT_TEST(concatenated_compressed_streams_are_one)
{
    struct colander_slice text = some_text();
    SCOPED_BUFFER file = COLANDER_BUFFER_EMPTY;

    add_gzip(&file, text.data, 1000);
    add_gzip(&file, "", 0);
    add_gzip(&file, text.data + 1000, text.size - 1000);
    append(&file, "\0\0\0\0\0", 5);
    write_file(place->path, file.data, file.size);
    assert_reads_as(place->path, text);

    colander_buffer_clear(&file);
    append(&file, "\x50\x2a\x4d\x18\x02\0\0\0xx", 10); /* a frame to skip */
    add_zstd(&file, text.data, 1000);
    add_zstd(&file, "", 0);
    add_zstd(&file, text.data + 1000, text.size - 1000);
    write_file(place->path, file.data, file.size);
    assert_reads_as(place->path, text);
}

INPUT_TEST(bytes_after_compressed_ones_are_an_error)
{
    SCOPED_BUFFER file = COLANDER_BUFFER_EMPTY;
    SCOPED_BUFFER out = COLANDER_BUFFER_EMPTY;

    add_gzip(&file, "abc", 3);
    append(&file, "\0x", 2);
    write_file(place->path, file.data, file.size);
    FAILS(read_all(place->path, &out, why()), COLANDER_CORRUPT);
    assert_int_equal(out.size, 3);
    assert_non_null(strstr(error_text(), "follow the gzip data"));

    colander_buffer_clear(&file);
    add_zstd(&file, "abc", 3);
    append(&file, "xxxxxxxx", 8);
    write_file(place->path, file.data, file.size);
    FAILS(read_all(place->path, &out, why()), COLANDER_CORRUPT);
    assert_int_equal(out.size, 3);
    assert_non_null(strstr(error_text(), "follow the zstd data"));
}

INPUT_TEST(a_window_that_is_too_large_is_refused)
{
    SCOPED_BUFFER out = COLANDER_BUFFER_EMPTY;

    /* a frame of a window of 2^28 bytes, with an empty last block */
    write_file(place->path, "\x28\xb5\x2f\xfd\x00\x90\x01\x00\x00", 9);
    FAILS(read_all(place->path, &out, why()), COLANDER_LIMIT);
    assert_non_null(strstr(error_text(), "128 MiB"));
    write_file(place->path, "\x28\xb5\x2f\xfd\x00\x88\x01\x00\x00", 9);
    OK(read_all(place->path, &out, why()));
}

/* ------------------------------------------------------------ damaged --- */

/* Truncated anywhere, it returns the start of the text, and then fails. */
static void
cut_off_anywhere(const char *path, const struct colander_buffer *file,
                 size_t magic_size)
{
    struct colander_slice text = some_text();
    SCOPED_BUFFER out = COLANDER_BUFFER_EMPTY;

    for (size_t size = magic_size; size < file->size; size++) {
        write_file(path, file->data, size);
        FAILS(read_all(path, &out, NULL), COLANDER_CORRUPT);
        assert_true(out.size <= text.size);
        assert_memory_equal(out.data, text.data, out.size);
    }
}

/* With any bit flipped it fails, unless the bit did not matter. */
static void
flip_anything(const char *path, struct colander_buffer *file, size_t magic_size)
{
    struct colander_slice text = some_text();
    SCOPED_BUFFER out = COLANDER_BUFFER_EMPTY;

    for (size_t bit = magic_size * 8; bit < file->size * 8; bit++) {
        enum colander_code code;

        file->data[bit / 8] ^= (uint8_t)(1 << bit % 8);
        write_file(path, file->data, file->size);
        code = read_all(path, &out, NULL);
        if (code == COLANDER_OK)
            assert_true(
                colander_slice_equal(colander_buffer_slice(&out), text));
        else
            assert_true(code == COLANDER_CORRUPT || code == COLANDER_LIMIT);
        file->data[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
}

INPUT_TEST(compressed_bytes_that_are_cut_or_damaged_are_reported)
{
    struct colander_slice text = some_text();
    SCOPED_BUFFER file = COLANDER_BUFFER_EMPTY;

    for (size_t magic_size = 2; magic_size <= 4; magic_size += 2) {
        colander_buffer_clear(&file);
        if (magic_size == 2)
            add_gzip(&file, text.data, text.size);
        else
            add_zstd(&file, text.data, text.size);
        cut_off_anywhere(place->path, &file, magic_size);
        flip_anything(place->path, &file, magic_size);
    }
}

/* -------------------------------------------------------------- steps --- */

INPUT_TEST(bytes_are_stepped_over)
{
    struct colander_slice text = some_text();
    SCOPED_BUFFER file = COLANDER_BUFFER_EMPTY;

    for (int kind = 0; kind < 3; kind++) {
        SCOPED_BUFFER out = COLANDER_BUFFER_EMPTY;
        struct input *input;
        uint64_t skipped;
        uint8_t bytes[3];
        size_t got;

        colander_buffer_clear(&file);
        if (kind == 0)
            append(&file, text.data, text.size);
        else if (kind == 1)
            add_gzip(&file, text.data, text.size);
        else
            add_zstd(&file, text.data, text.size);
        write_file(place->path, file.data, file.size);
        assert_int_equal(input_open(place->path, NULL, &never, &input, NULL),
                         0);
        assert_int_equal(input_skip(input, 10, &skipped, NULL), 0);
        assert_int_equal(skipped, 10);
        assert_int_equal(input_read(input, bytes, 3, &got, NULL), 0);
        assert_int_equal(got, 3);
        assert_memory_equal(bytes, text.data + 10, 3);
        assert_int_equal(input_skip(input, 1500, &skipped, NULL), 0);
        assert_int_equal(skipped, 1500);
        OK(read_in_steps(input, 7, &out, NULL));
        assert_int_equal(out.size, text.size - 1513);
        assert_memory_equal(out.data, text.data + 1513, out.size);
        assert_int_equal(input_skip(input, 1, &skipped, NULL), 0);
        assert_int_equal(skipped, 0);
        assert_int_equal(input_bytes_read(input), file.size);
        input_close(input);
        assert_int_equal(input_open(place->path, NULL, &never, &input, NULL),
                         0);
        assert_int_equal(input_skip(input, 1000000, &skipped, NULL), 0);
        assert_int_equal(skipped, text.size);
        input_close(input);
    }
}

/* -------------------------------------------------- other than files --- */

INPUT_TEST(what_is_not_a_file_is_reported)
{
    struct input *input;

    FAILS(input_open("/no/such/file", NULL, &never, &input, why()),
          COLANDER_NOT_FOUND);
    assert_string_equal(error_text(), "cannot open: No such file or directory");
    assert_null(input);
    FAILS(input_open(place->directory, NULL, &never, &input, why()),
          COLANDER_INVALID);
    assert_string_equal(error_text(), "is a directory: name the files in it");
    assert_null(input);
}

static void *
write_slowly(void *path)
{
    struct colander_slice text = some_text();
    SCOPED_BUFFER file = COLANDER_BUFFER_EMPTY;
    int pipe = open(path, O_WRONLY);

    add_zstd(&file, text.data, text.size);
    for (size_t i = 0; i < file.size; i++) {
        if (write(pipe, file.data + i, 1) != 1)
            break;
    }
    (void)close(pipe);
    return NULL;
}

INPUT_TEST(a_pipe_with_bytes_one_by_one_is_read)
{
    pthread_t writer;

    assert_int_equal(mkfifo(place->path, 0600), 0);
    ZERO(pthread_create(&writer, NULL, write_slowly, place->path));
    assert_reads_as(place->path, some_text());
    (void)pthread_join(writer, NULL);
}

/* Ends a waiting read from another thread. */
struct stop {
    atomic_bool stops;
    struct input *cancelled; /* NULL: `stops` is set */
};

static void *
stop_later(void *context)
{
    struct stop *stop = context;

    (void)usleep(20000);
    if (stop->cancelled != NULL)
        input_cancel(stop->cancelled);
    else
        atomic_store(&stop->stops, true);
    return NULL;
}

INPUT_TEST(a_silent_pipe_is_stopped_or_cancelled)
{
    assert_int_equal(mkfifo(place->path, 0600), 0);
    for (int i = 0; i < 2; i++) {
        struct stop stop = {false, NULL};
        struct input *input;
        pthread_t stopper;
        uint8_t byte;
        size_t got;

        assert_int_equal(input_open(place->path, NULL,
                                    i == 0 ? &stop.stops : NULL, &input, NULL),
                         0);
        stop.cancelled = i == 0 ? NULL : input;
        ZERO(pthread_create(&stopper, NULL, stop_later, &stop));
        FAILS(input_read(input, &byte, 1, &got, NULL), COLANDER_CANCELLED);
        (void)pthread_join(stopper, NULL);
        input_close(input);
    }
}

INPUT_TEST(standard_input_is_a_file_like_any_other)
{
    struct colander_slice text = some_text();
    SCOPED_BUFFER file = COLANDER_BUFFER_EMPTY;

    add_gzip(&file, text.data, text.size);
    write_file(place->path, file.data, file.size);
    assert_non_null(freopen(place->path, "rb", stdin));
    assert_reads_as("-", text);
}
