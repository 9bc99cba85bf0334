/*
 * Any bytes as the answer of an S3 server, the list of a backup, and a file of
 * settings. Nothing crashes, and a list that is accepted is encoded as it
 * was.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cluster/file_list.h"
#include "cluster/s3_answer.h"
#include "cluster/s3_settings.h"
#include "fuzz/fuzz.h"

#include <xxhash.h>

static void
read_answer(const uint8_t *data, size_t size)
{
    uint8_t *bytes = fuzz_copy(data, size);
    struct s3_answer answer;

    memset(&answer, 0, sizeof(answer));
    if (s3_answer_read(&answer, colander_slice_of(bytes, size), NULL) ==
        COLANDER_OK) {
        expect(size > 0);
        for (size_t i = 0; i < answer.objects.count; i++)
            expect(answer.objects.items[i].name[0] != '\0');
    }
    s3_answer_release(&answer);
    free(bytes);
}

/* A checksum that is right is put after the bytes. */
static void
read_list(const uint8_t *data, size_t size)
{
    struct colander_buffer again = COLANDER_BUFFER_EMPTY;
    uint8_t *bytes = malloc(size + sizeof(XXH128_canonical_t));
    const size_t whole = size + sizeof(XXH128_canonical_t);
    XXH128_canonical_t sum;
    struct file_list list;

    expect(bytes != NULL);
    memcpy(bytes, data, size);
    XXH128_canonicalFromHash(&sum, XXH3_128bits(data, size));
    memcpy(bytes + size, &sum, sizeof(sum));
    if (file_list_decode(&list, colander_slice_of(bytes, whole), NULL) ==
        COLANDER_OK) {
        struct file_list second;

        for (size_t i = 0; i < list.count; i++)
            expect(file_list_find(&list, list.items[i].name) == &list.items[i]);
        (void)file_list_size(&list);
        OK(file_list_encode(&list, &again, NULL));
        expect(again.size <= whole); /* a number may take more bytes */
        OK(file_list_decode(&second, colander_buffer_slice(&again), NULL));
        expect(second.count == list.count);
        file_list_release(&second);
        colander_buffer_release(&again);
    }
    file_list_release(&list);
    free(bytes);
}

static void
read_settings(const uint8_t *data, size_t size)
{
    char *text = strndup((const char *)data, size);
    char *value;

    expect(text != NULL);
    value = s3_settings_find(text, "default", "region");
    expect(value == NULL || value[0] != '\0');
    free(value);
    free(s3_settings_find(text, "other", "s3.addressing_style"));
    free(text);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_answer(data, size);
    read_list(data, size);
    read_settings(data, size);
    return 0;
}
