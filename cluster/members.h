/*
 * Members: which nodes of a cluster are alive, and what they say of themselves.
 *
 * Each member sends a small record to a topic of one partition, again and
 * again, and reads those of the others. One that was not heard for a while, by
 * the clock of the reader, is not in its list any more, and neither is one that
 * has closed. Lists of two members may differ for some seconds, or longer if
 * one of them is cut off: nothing may depend on them but who does which work.
 *
 * Each process draws an id. Of two processes with one name the one that began
 * later is the member; the other one speaks only now and then as long as it
 * hears that one, and both have a problem. A process without a name is not a
 * member: it listens. Records that are of no use, as anyone who may write
 * to the topic can send them, are ignored and counted. FORMAT.md has the bytes.
 *
 * Life:    members_open -> say, list, state -> (members_leave) -> members_close
 *          of a listener: members_open -> list, state -> members_close
 * Threads: any number of them may use one `struct members`. It has one itself,
 *          and those of two clients of librdkafka
 * Memory:  at most MEMBERS_MAX others, and what they say
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef CLUSTER_MEMBERS_H
#define CLUSTER_MEMBERS_H

#include "cluster/topic.h"

#define MEMBERS_MAX 1000
#define MEMBERS_NAME_MAX 100          /* bytes */
#define MEMBERS_TEXT_MAX (128 * 1024) /* bytes */

struct members_options {
    struct topic_broker_options brokers; /* the address has the one topic;
                                          * borrowed until close; is_stopped and
                                          * wait_ms do not matter */
    const char *cluster; /* its id: records of others are ignored */
    const char *name;    /* of this member; NULL: it only listens */
    unsigned say_ms;     /* between two records; 0: a second */
    unsigned lost_ms;    /* that a member is silent when it is lost; 0: ten
                          * seconds. At least four times say_ms */
};

struct members;

/* Checks the name of a member: letters, digits, '_', '-' and '.', at most
 * MEMBERS_NAME_MAX, the first one a letter or digit. Fails with INVALID. */
COLANDER_CHECKED enum colander_code
members_name_check(const char *name, struct colander_error *err);

/* Begins to listen, and after that to say that this member is there, with no
 * text. Does not wait for brokers: that they do not answer, or that there is no
 * such topic, is a problem of members_state, and tried again. Fails with
 * INVALID if options cannot be used. */
COLANDER_CHECKED enum colander_code
members_open(const struct members_options *options, struct members **members,
             struct colander_error *err);

/* Sets what is said of this member from now on, copied: a text, and details
 * after it. They are sent at once if it is another text; other details wait for
 * the next record. Fails with INVALID if both are longer than MEMBERS_TEXT_MAX.
 * Requires a name. */
COLANDER_CHECKED enum colander_code members_say(struct members *members,
                                                struct colander_slice text,
                                                struct colander_slice details,
                                                struct colander_error *err);

/* A member that is alive. */
struct member {
    char *name;                  /* owned */
    struct colander_buffer text; /* what it said last */
    uint64_t age_ms;             /* since then; 0 of this one */
    bool is_self;                /* it is this one */
    bool is_past; /* that was said before this one was opened, it is not known
                   * when: the member may be gone */
};

/* Copies the list of those alive, this one included, by name. If another
 * process has replaced this one, that one is in the list. Release with
 * members_list_release. */
COLANDER_CHECKED enum colander_code members_list(struct members *members,
                                                 struct member **list,
                                                 size_t *count,
                                                 struct colander_error *err);

void members_list_release(struct member *list, size_t count);

/*
 * Returns whether others who are alive are in the list: this one has read what
 * was said before it was opened, and has heard itself since, for 2 say_ms. Once
 * it has not heard itself for half of lost_ms, as brokers do not answer or the
 * process stood still, this is false, and true again when it has heard itself
 * for lost_ms. While it is false the list may lack others, and nothing should
 * be changed because of it.
 *
 * A listener has settled when it has read what was said before, and has heard
 * all of those again, or 2 say_ms later. Those that it has not heard again are
 * not in its list.
 */
bool members_has_settled(struct members *members);

struct members_state {
    bool has_settled;
    bool has_read;     /* what was said before it was opened */
    bool is_replaced;  /* another process with this name began later */
    uint64_t heard;    /* records of members */
    uint64_t ignored;  /* records of no use */
    char problem[400]; /* "": none */
};

void members_state(struct members *members, struct members_state *state);

/* Says goodbye, soon, and nothing after it, but goes on to listen. */
void members_leave(struct members *members);

/* Says goodbye if it has not, and waits for that at most a second. NULL is
 * allowed. */
void members_close(struct members *members);

#endif
