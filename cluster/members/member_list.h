/*
 * The members that were heard, by name. It knows no threads, topics or clocks.
 *
 * Of the processes with one name it has the one of the highest generation, and
 * of one generation that with the highest id.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef CLUSTER_MEMBER_LIST_H
#define CLUSTER_MEMBER_LIST_H

#include "cluster/members/member_record.h"

struct member_entry {
    char *name;                  /* owned */
    struct colander_buffer text; /* owned */
    uint64_t process;
    uint64_t generation;
    uint64_t heard_us; /* when it was heard last */
    bool is_past;      /* what it said may be old: it is not known when */
};

/* Starts zeroed. */
struct member_list {
    struct member_entry *entries; /* in the order of the names */
    size_t count;
    size_t capacity;
};

/* Whether one process with a name replaces another one. */
bool member_is_later(uint64_t generation, uint64_t process,
                     uint64_t other_generation, uint64_t other_process);

/* Takes what a member has said. Fails with NO_MEMORY, also if there are
 * MEMBERS_MAX, and then changes nothing. */
COLANDER_CHECKED enum colander_code
member_list_take(struct member_list *list, const struct member_record *record,
                 uint64_t now_us, bool is_past, struct colander_error *err);

/* Returns the entry, or NULL. */
const struct member_entry *member_list_find(const struct member_list *list,
                                            struct colander_slice name);

void member_list_drop(struct member_list *list, struct colander_slice name);

/* Drops those that were not heard for lost_us. */
void member_list_drop_lost(struct member_list *list, uint64_t now_us,
                           uint64_t lost_us);

/* Whether there are some of which all may be old. */
bool member_list_has_past(const struct member_list *list);

/* Drops those. */
void member_list_drop_past(struct member_list *list);

void member_list_release(struct member_list *list);

#endif
