/*
 * Private to members.c and members_talk.c: the members, and their thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef CLUSTER_MEMBERS_INSIDE_H
#define CLUSTER_MEMBERS_INSIDE_H

#include "cluster/kafka.h"
#include "cluster/members.h"
#include "cluster/members/member_list.h"

struct members {
    struct kafka_trouble trouble; /* first: the clients have its address */
    struct topic_broker_options brokers;
    struct kafka_address address;
    uint64_t process;
    uint64_t say_us;
    uint64_t lost_us;
    char *cluster;
    char *name; /* of a listener: "" */
    bool is_listener;
    pthread_t thread;
    bool has_thread;
    atomic_bool is_stopped;
    atomic_bool is_leaving;

    /* Of the thread: */
    rd_kafka_t *consumer;
    rd_kafka_queue_t *queue;
    rd_kafka_topic_t *heard; /* NULL: it is not being read */
    rd_kafka_t *producer;
    rd_kafka_topic_t *said; /* NULL: it has said nothing yet */
    struct colander_buffer record;
    bool is_on_its_way; /* a record */
    bool has_left;      /* it has said goodbye */
    uint64_t started_us;
    uint64_t said_us;

    pthread_mutex_t lock;        /* of what follows */
    struct member_list list;     /* of others, also of those with its name */
    struct colander_buffer text; /* with its details, */
    size_t plain_size;           /* before which there is so much */
    bool is_news;                /* the text was not said yet */
    uint64_t generation;         /* at first the highest one that was heard */
    bool is_past;                /* it reads what was said before */
    uint64_t opened_us;
    uint64_t heard_us;   /* when it has heard itself, or a listener the end
                          * of the past; 0: never */
    uint64_t settles_us; /* when it settles, if it is heard until then; 0: it
                          * has not heard itself since the past was read */
    bool is_settled;
    uint64_t heard_count;
    uint64_t ignored_count;
    char failure[300]; /* the last one of a client */
};

/* Makes the clients, which members_talk_end also frees if that fails. */
COLANDER_CHECKED enum colander_code
members_talk_begin(struct members *members, struct colander_error *err);

void members_talk_end(struct members *members);

/* Runs the thread, until is_stopped. */
void *members_talk(void *members);

/* Returns the other process that has the name, or NULL. Requires the lock. */
const struct member_entry *members_rival(const struct members *members);

/* Whether that is the later one. Requires the lock. */
bool members_is_replaced(const struct members *members);

#endif
