/*
 * What nodes say of themselves, also those of other versions, and of no good.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cluster/node_text.h"
#include "support/cases.h"
#include "support/random.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static const struct node_text_partition followed = {
    .name = "rows/0004",
    .phase = NODE_TEXT_FOLLOWING,
    .applied = 1234,
    .lag = 5,
    .checkpoint = 1200,
    .checkpoint_time = 1764270000,
    .problem = ""};

/* The lines of the format, with the version of this program. */
static const char *
golden(void)
{
    static char text[400];

    (void)snprintf(text, sizeof(text),
                   "http://h:1\n"
                   "rows/0004\n"
                   "version %s\n"
                   "problem two?have the name\n"
                   "partition rows/0004 following 1234 5 1200 1764270000\n"
                   "partition rows/0017 waiting - - - - cannot do it\n",
                   colander_version());
    return text;
}

TEST(texts_have_the_lines_of_the_format)
{
    const struct node_text_partition waits = {.name = "rows/0017",
                                              .phase = NODE_TEXT_WAITING,
                                              .applied = -1,
                                              .lag = -1,
                                              .checkpoint = -1,
                                              .checkpoint_time = -1,
                                              .problem = "cannot do it"};
    struct colander_buffer text = COLANDER_BUFFER_EMPTY;
    struct node_text read;

    OK(colander_buffer_append(&text, "http://h:1\nrows/0004\n", 21, why()));
    OK(node_text_add_node(&text, "two\nhave the name", why()));
    OK(node_text_add_partition(&text, &followed, why()));
    OK(node_text_add_partition(&text, &waits, why()));
    OK(colander_buffer_append(&text, "", 1, why()));
    assert_string_equal((const char *)text.data, golden());
    text.size--;
    OK(node_text_read(colander_buffer_slice(&text), &read, why()));
    assert_string_equal(read.address, "http://h:1");
    assert_string_equal(read.version, colander_version());
    assert_string_equal(read.problem, "two?have the name");
    assert_int_equal(read.count, 2);
    assert_string_equal(read.partitions[0].name, "rows/0004");
    assert_true(read.partitions[0].is_served);
    assert_int_equal(read.partitions[0].phase, NODE_TEXT_FOLLOWING);
    assert_int_equal(read.partitions[0].applied, 1234);
    assert_int_equal(read.partitions[0].lag, 5);
    assert_int_equal(read.partitions[0].checkpoint, 1200);
    assert_int_equal(read.partitions[0].checkpoint_time, 1764270000);
    assert_string_equal(read.partitions[0].problem, "");
    assert_false(read.partitions[1].is_served);
    assert_int_equal(read.partitions[1].phase, NODE_TEXT_WAITING);
    assert_int_equal(read.partitions[1].applied, -1);
    assert_int_equal(read.partitions[1].checkpoint_time, -1);
    assert_string_equal(read.partitions[1].problem, "cannot do it");
    assert_ptr_equal(node_text_find(&read, "rows/0017"), &read.partitions[1]);
    assert_null(node_text_find(&read, "rows/0005"));
    node_text_release(&read);
    colander_buffer_release(&text);
}

/* Nodes of the first version say only what they serve. */
TEST(texts_of_earlier_versions_are_read)
{
    struct node_text read;

    OK(node_text_read(colander_slice_text("http://h:1\nb/0001\na/12345\n"),
                      &read, why()));
    assert_string_equal(read.version, "");
    assert_int_equal(read.count, 2);
    assert_string_equal(read.partitions[0].name, "a/12345");
    assert_true(read.partitions[0].is_served);
    assert_int_equal(read.partitions[0].phase, NODE_TEXT_UNKNOWN);
    assert_int_equal(read.partitions[0].applied, -1);
    node_text_release(&read);
}

TEST(malformed_lines_are_left_out)
{
    static const char *const lines[] = {
        "partition",
        "partition a/0001",
        "partition a/0001 following",
        "partition a/0001 following 1 2 3",
        "partition a/0001 following 1 2 3 x",
        "partition a/0001 following 1 2 3 -4",
        "partition a/0001 following 1 2 3 1234567890123456789",
        "partition  a/0001 following 1 2 3 4",
        "partition a1 following 1 2 3 4",
        "partition /0001 following 1 2 3 4",
        "partition a/001 following 1 2 3 4",
        "partition a/0001x following 1 2 3 4",
        "partition a/0001 following 1 2 3 4 \x1b[31m",
        "partition a/0001 following 1 2 3 4 \xc3\xa9",
        "later a/0001",
        "a/000\x01",
        "",
    };
    struct colander_buffer text = COLANDER_BUFFER_EMPTY;
    struct node_text read;

    OK(colander_buffer_append(&text, "http://h:1\n", 11, why()));
    for (size_t i = 0; i < COUNT(lines); i++) {
        OK(colander_buffer_append(&text, lines[i], strlen(lines[i]), why()));
        OK(colander_buffer_append(&text, "\n", 1, why()));
    }
    OK(colander_buffer_append(&text, "a/0001", 6, why())); /* was cut */
    OK(node_text_read(colander_buffer_slice(&text), &read, why()));
    assert_string_equal(read.address, "http://h:1");
    assert_int_equal(read.count, 0);
    node_text_release(&read);
    OK(node_text_read(colander_slice_text("\na/0001\n"), &read, why()));
    assert_int_equal(read.count, 0); /* where is it? */
    node_text_release(&read);
    OK(node_text_read(colander_slice_of(NULL, 0), &read, why()));
    assert_string_equal(read.address, "");
    node_text_release(&read);
    /* a phase of a later version */
    OK(node_text_read(
        colander_slice_text("h\npartition a/0001 asleep 1 2 3 4\n"), &read,
        why()));
    assert_int_equal(read.count, 1);
    assert_int_equal(read.partitions[0].phase, NODE_TEXT_UNKNOWN);
    assert_int_equal(read.partitions[0].lag, 2);
    node_text_release(&read);
    colander_buffer_release(&text);
}

/* Whatever is cut, changed or said twice, each partition is there once, in
 * order, with texts that can be printed. */
TEST(hostile_texts_are_harmless)
{
    uint64_t random = random_seed("hostile texts");
    const size_t size = strlen(golden());

    for (int i = 0; i < 3000; i++) {
        const size_t copy_count = 1 + random_next(&random) % 3;
        char *text = malloc(copy_count * size); /* sanitizers see its end */
        size_t used = random_next(&random) % (copy_count * size + 1);
        struct node_text read;

        for (size_t j = 0; j < copy_count; j++)
            memcpy(text + j * size, golden(), size);
        for (uint64_t j = random_next(&random) % 8; j > 0; j--)
            text[random_next(&random) % (copy_count * size)] =
                (char)(random_next(&random) % 3 == 0
                           ? "\n /-"[random_next(&random) % 4]
                           : (int)(random_next(&random) & 255));
        OK(node_text_read(colander_slice_of(text, used), &read, why()));
        for (size_t j = 0; j < read.count; j++) {
            const struct node_text_partition *found = &read.partitions[j];

            assert_true(j == 0 || strcmp(found[-1].name, found->name) < 0);
            assert_ptr_equal(node_text_find(&read, found->name), found);
            for (const char *at = found->problem; *at != '\0'; at++)
                assert_true(*at >= ' ' && *at <= '~');
            assert_true(found->applied >= -1 && found->lag >= -1);
        }
        node_text_release(&read);
        free(text);
    }
}

/* A node with very many partitions says how far the first ones are. */
TEST(details_are_bounded)
{
    struct node_text_partition partition = followed;
    struct colander_buffer details = COLANDER_BUFFER_EMPTY;
    char name[30];
    struct node_text read;

    OK(colander_buffer_append(&details, "h\n", 2, why()));
    OK(node_text_add_node(&details, "", why()));
    partition.name = name;
    for (int i = 0; i < 10000; i++) {
        (void)snprintf(name, sizeof(name), "rows/%04d", i);
        OK(node_text_add_partition(&details, &partition, why()));
    }
    assert_true(details.size <= 64 * 1024);
    OK(node_text_read(colander_buffer_slice(&details), &read, why()));
    assert_true(read.count > 1000);
    node_text_release(&read);
    colander_buffer_release(&details);
}
