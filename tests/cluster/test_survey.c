/*
 * What is missing, by what nodes say and what log and objects have.
 *
 * SPDX-License-Identifier: MIT
 */
#include "cluster/survey.h"
#include "support/cases.h"

#include <stdio.h>
#include <stdlib.h>

static const struct cluster_family rows = {.name = (char *)"rows",
                                           .topic = (char *)"c.rows",
                                           .partition_count = 2,
                                           .replica_count = 2};
static char sentences[4000]; /* that were taken, each with a line break */

static void
take(void *context, const char *sentence)
{
    (void)context;
    assert_true(strlen(sentences) + strlen(sentence) + 2 < sizeof(sentences));
    strcat(strcat(sentences, sentence), "\n");
}

/* Returns what is missing of partition 0, by nodes with these texts: n1, n2,
 * ... up to NULL. */
static const char *
lacks(const char *const *texts)
{
    struct survey_places places = {.items = NULL};
    struct member members[8] = {{.name = NULL}};
    char names[8][4];
    struct survey survey;
    size_t count = 0;

    for (; texts[count] != NULL; count++) {
        (void)snprintf(names[count], sizeof(names[count]), "n%zu", count + 1);
        members[count].name = names[count];
        OK(colander_buffer_append(&members[count].text, texts[count],
                                  strlen(texts[count]), why()));
    }
    sentences[0] = '\0';
    OK(survey_init(&survey, members, count, why()));
    survey_lacks(&survey, take, NULL);
    survey_family_lacks(&survey, &rows, take, NULL);
    OK(survey_find(&survey, &rows, 0, &places, why()));
    survey_partition_lacks(&survey, &rows, 0, &places, take, NULL);
    survey_places_release(&places);
    survey_release(&survey);
    for (size_t i = 0; i < count; i++)
        colander_buffer_release(&members[i].text);
    return sentences;
}

#define LACKS(...) lacks((const char *const[]){__VA_ARGS__, NULL})
#define FULL                                                                   \
    "http://h:1\nrows/0000\nversion 1\n"                                       \
    "partition rows/0000 following 7 0 5 1764270000\n"
#define BEHIND "http://h:2\npartition rows/0000 following 3 4 - -\n"

/* Of two nodes both own all. */
TEST(a_partition_that_all_owners_serve_lacks_nothing)
{
    assert_string_equal(LACKS(FULL, FULL), "");
    assert_string_equal(LACKS(FULL, "http://h:2\nrows/0000\n"), "");
}

TEST(nodes_that_are_missing_are_named)
{
    assert_string_equal(
        lacks((const char *const[]){NULL}),
        "no node is alive, so finds read checkpoints only: start one "
        "with colander serve CLUSTER --dir DIR --listen "
        "ADDRESS:PORT --token-file FILE\n");
    assert_string_equal(LACKS(FULL), "family rows is to have 2 replicas, and "
                                     "1 node is alive: start more\n");
    assert_string_equal(
        LACKS(FULL, "http://h:2\nrows/0000\nproblem two have the name\n"),
        "node n2: two have the name\n");
}

TEST(owners_that_do_not_serve_a_partition_are_named)
{
    assert_string_equal(LACKS(FULL, BEHIND),
                        "rows/0000 is served by 1 of its 2 owners: n2 has 4 "
                        "records to read, wait\n");
    assert_string_equal(
        LACKS(FULL, "http://h:2\npartition rows/0000 opening - - - -\n"),
        "rows/0000 is served by 1 of its 2 owners: n2 opens or restores its "
        "store, wait\n");
    assert_string_equal(LACKS("http://h:2\n", FULL),
                        "rows/0000 is served by 1 of its 2 owners: n1 has not "
                        "begun, wait or see what it prints\n");
    assert_non_null(strstr(LACKS("http://h:2\n", BEHIND),
                           "rows/0000 is served by no node, so finds fail: n"));
    assert_non_null(strstr(sentences, "n1 has not begun"));
    assert_non_null(strstr(sentences, "n2 has 4 records to read"));
}

/* Of three nodes one does not own it, and serves it until the others do. */
TEST(a_node_that_does_not_own_a_partition_serves_it_meanwhile)
{
    struct survey_places places = {.items = NULL};
    struct survey survey;
    char names[3][3] = {"n1", "n2", "n3"};
    struct member members[3] = {
        {.name = names[0]}, {.name = names[1]}, {.name = names[2]}};
    const char *texts[4] = {"http://h:1\n", "http://h:2\n", "http://h:3\n"};
    size_t other;

    OK(survey_init(&survey, members, 3, why()));
    OK(survey_find(&survey, &rows, 0, &places, why()));
    assert_int_equal(places.count, 2);
    assert_int_equal(places.owner_count, 2);
    other = 3 - (size_t)(places.items[0].node - survey.nodes) -
            (size_t)(places.items[1].node - survey.nodes);
    survey_places_release(&places);
    survey_release(&survey);
    texts[other] = FULL;
    assert_non_null(
        strstr(lacks(texts), "rows/0000 is served by 0 of its 2 owners: "));
}

TEST(problems_of_a_partition_are_named)
{
    assert_non_null(strstr(
        LACKS(FULL,
              "h\npartition rows/0000 stopped 3 - - - offsets are gone\n"),
        "rows/0000 has stopped at n2: offsets are gone. It continues if"));
    assert_non_null(strstr(sentences, "1 of its 2 owners: n2 has a problem\n"));
    assert_string_equal(LACKS(FULL, FULL "partition rows/0000 x 1 2 3 4 no\n"),
                        ""); /* the first one counts */
    assert_string_equal(
        LACKS(FULL, "h\nrows/0000\npartition rows/0000 following 3 0 - - "
                    "checkpoint: no space\n"),
        "rows/0000 at n2: checkpoint: no space\n");
}

/* Also while nodes still have those of before. */
TEST(partitions_of_a_later_generation_have_names_of_their_own)
{
    struct cluster_family later = rows;
    struct survey_places places = {.items = NULL};
    struct member members[2] = {{.name = (char *)"n1"}, {.name = (char *)"n2"}};
    struct survey survey;

    later.generation = 3;
    for (size_t i = 0; i < 2; i++)
        OK(colander_buffer_append(&members[i].text, FULL, strlen(FULL), why()));
    sentences[0] = '\0';
    OK(survey_init(&survey, members, 2, why()));
    OK(survey_find(&survey, &later, 0, &places, why()));
    survey_partition_lacks(&survey, &later, 0, &places, take, NULL);
    assert_non_null(strstr(sentences, "rows.3/0000 is served by no node"));
    survey_places_release(&places);
    survey_release(&survey);
    for (size_t i = 0; i < 2; i++)
        colander_buffer_release(&members[i].text);
}

/* -------------------------------------------------------------- the log --- */

static const char *
log_lacks(int64_t low, int64_t high, int64_t checkpoint, int64_t age_seconds,
          int64_t retention_seconds)
{
    const struct survey_log log = {
        .low = low,
        .high = high,
        .checkpoint = checkpoint,
        .checkpoint_time = 1000000 - age_seconds,
        .now = 1000000,
        .retention_ms = retention_seconds < 0 ? -1 : retention_seconds * 1000,
    };

    sentences[0] = '\0';
    survey_log_lacks(&rows, 1, &log, take, NULL);
    return sentences;
}

TEST(a_checkpoint_must_be_younger_than_a_third_of_the_retention)
{
    assert_string_equal(log_lacks(0, 100, 50, 3600, 3 * 3600), "");
    assert_string_equal(
        log_lacks(0, 100, 50, 2 * 86400 + 1, 6 * 86400),
        "rows/0001: its newest checkpoint is 2 days old, and brokers keep "
        "records for 6 days: see what its nodes print of checkpoints, or set "
        "a longer retention.ms of topic c.rows\n");
    /* with all that the log has it may be of any age */
    assert_string_equal(log_lacks(0, 100, 100, 900000, 3600), "");
    /* brokers keep records forever, or do not say how long */
    assert_string_equal(log_lacks(0, 100, 50, 900000, -1), "");
    /* there is none, or the ends of the log are unknown */
    assert_string_equal(log_lacks(0, 100, -1, 0, 3600), "");
    assert_string_equal(log_lacks(-1, -1, 50, 900000, 3600), "");
    /* made later than now, by another clock */
    assert_string_equal(log_lacks(0, 100, 50, -5, 1), "");
}

TEST(a_checkpoint_must_reach_to_where_the_log_begins)
{
    assert_string_equal(log_lacks(50, 100, 50, 0, 3600), "");
    assert_string_equal(
        log_lacks(51, 100, 50, 0, 3600),
        "rows/0001: its newest checkpoint ends before offset 50, and the log "
        "begins at 51, so a store that is lost does not come back: see what "
        "its nodes print of checkpoints\n");
}
