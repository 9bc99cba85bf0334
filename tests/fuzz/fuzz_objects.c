/*
 * Any bytes as the answer of an S3 server, the list of a backup, a file of
 * settings, and the definition of a cluster or family. Nothing crashes, and a
 * list or definition that is accepted is encoded as it was.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cluster/definition.h"
#include "cluster/file_list.h"
#include "cluster/s3/s3_answer.h"
#include "cluster/s3/s3_settings.h"
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

static void
read_definitions(const uint8_t *data, size_t size)
{
    const struct colander_slice json = colander_slice_of(data, size);
    struct colander_buffer first = COLANDER_BUFFER_EMPTY;
    struct colander_buffer second = COLANDER_BUFFER_EMPTY;
    struct cluster_definition cluster = {.name = NULL};
    struct cluster_family family = {.name = NULL};

    if (cluster_definition_decode(&cluster, json, NULL) == COLANDER_OK) {
        OK(cluster_definition_encode(&cluster, &first, NULL));
        cluster_definition_release(&cluster);
        OK(cluster_definition_decode(&cluster, colander_buffer_slice(&first),
                                     NULL));
        OK(cluster_definition_encode(&cluster, &second, NULL));
    } else if (cluster_family_decode(&family, json, NULL) == COLANDER_OK) {
        OK(cluster_family_encode(&family, &first, NULL));
        cluster_family_release(&family);
        OK(cluster_family_decode(&family, colander_buffer_slice(&first), NULL));
        OK(cluster_family_encode(&family, &second, NULL));
    }
    expect(colander_slice_equal(colander_buffer_slice(&first),
                                colander_buffer_slice(&second)));
    cluster_definition_release(&cluster);
    cluster_family_release(&family);
    colander_buffer_release(&first);
    colander_buffer_release(&second);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_answer(data, size);
    read_list(data, size);
    read_settings(data, size);
    read_definitions(data, size);
    return 0;
}
