/* See members.h. SPDX-License-Identifier: MIT */
#include "cluster/members/members_inside.h"
#include "core/clock.h"
#include "core/thread.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#define SAY_MS 1000
#define LOST_MS 10000

/* ------------------------------------------------------------- opening --- */

enum colander_code
members_name_check(const char *name, struct colander_error *err)
{
    if (member_record_is_name(colander_slice_text(name)))
        return COLANDER_OK;
    return COLANDER_FAIL(err, COLANDER_INVALID,
                         "'%.120s' cannot be the name of a node: it has 1 to "
                         "%d letters, digits, '_', '-' and '.', and begins "
                         "with a letter or digit",
                         name, MEMBERS_NAME_MAX);
}

static enum colander_code
set_options(struct members *members, const struct members_options *options,
            struct colander_error *err)
{
    const unsigned say_ms = options->say_ms > 0 ? options->say_ms : SAY_MS;
    const unsigned lost_ms = options->lost_ms > 0 ? options->lost_ms : LOST_MS;
    enum colander_code code = options->name == NULL
                                  ? COLANDER_OK
                                  : members_name_check(options->name, err);

    if (code == COLANDER_OK && lost_ms / 4 < say_ms)
        code = COLANDER_FAIL(err, COLANDER_INVALID,
                             "a member that says every %u ms that it is there "
                             "cannot be lost after %u ms",
                             say_ms, lost_ms);
    members->brokers = options->brokers;
    members->say_us = say_ms * UINT64_C(1000);
    members->lost_us = lost_ms * UINT64_C(1000);
    members->cluster = strdup(options->cluster);
    members->is_listener = options->name == NULL;
    members->name = strdup(members->is_listener ? "" : options->name);
    members->opened_us = clock_us();
    members->is_past = true;
    if (code == COLANDER_OK &&
        (members->cluster == NULL || members->name == NULL))
        code = COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for members");
    if (code == COLANDER_OK &&
        getrandom(&members->process, sizeof(members->process), 0) !=
            (ssize_t)sizeof(members->process))
        code = COLANDER_FAIL(err, COLANDER_IO, "no random number");
    if (code == COLANDER_OK)
        code = kafka_address_read(&members->address, options->brokers.address,
                                  err);
    if (code == COLANDER_OK && members->address.topic_count != 1)
        code = COLANDER_FAIL(err, COLANDER_INVALID,
                             "members speak in one topic, not in %zu",
                             members->address.topic_count);
    return code;
}

enum colander_code
members_open(const struct members_options *options, struct members **members,
             struct colander_error *err)
{
    struct members *opened = calloc(1, sizeof(*opened));
    enum colander_code code;

    *members = NULL;
    if (opened == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for members");
    pthread_mutex_init(&opened->trouble.lock, NULL);
    pthread_mutex_init(&opened->lock, NULL);
    code = set_options(opened, options, err);
    if (code == COLANDER_OK)
        code = members_talk_begin(opened, err);
    if (code == COLANDER_OK) {
        opened->has_thread =
            thread_create(&opened->thread, members_talk, opened) == 0;
        if (!opened->has_thread)
            code = COLANDER_FAIL(err, COLANDER_IO, "cannot start a thread");
    }
    if (code == COLANDER_OK)
        *members = opened;
    else
        members_close(opened);
    return code;
}

void
members_leave(struct members *members)
{
    atomic_store(&members->is_leaving, true);
}

void
members_close(struct members *members)
{
    if (members == NULL)
        return;
    atomic_store(&members->is_stopped, true);
    if (members->has_thread)
        (void)pthread_join(members->thread, NULL);
    members_talk_end(members);
    kafka_address_release(&members->address);
    member_list_release(&members->list);
    colander_buffer_release(&members->record);
    colander_buffer_release(&members->text);
    pthread_mutex_destroy(&members->lock);
    pthread_mutex_destroy(&members->trouble.lock);
    free(members->cluster);
    free(members->name);
    free(members);
}

/* ----------------------------------------------------------------- use --- */

enum colander_code
members_say(struct members *members, struct colander_slice text,
            struct colander_slice details, struct colander_error *err)
{
    const size_t size = text.size + details.size;
    struct colander_buffer copy = COLANDER_BUFFER_EMPTY;
    struct colander_buffer before;
    enum colander_code code;

    if (size > MEMBERS_TEXT_MAX)
        return COLANDER_FAIL(err, COLANDER_INVALID,
                             "a member cannot say %zu bytes, only %d", size,
                             MEMBERS_TEXT_MAX);
    code = colander_buffer_append(&copy, text.data, text.size, err);
    if (code == COLANDER_OK)
        code = colander_buffer_append(&copy, details.data, details.size, err);
    if (code == COLANDER_OK) {
        pthread_mutex_lock(&members->lock);
        before = members->text;
        if (!colander_slice_equal(
                colander_slice_of(before.data, members->plain_size), text))
            members->is_news = true;
        members->text = copy;
        members->plain_size = text.size;
        copy = before;
        pthread_mutex_unlock(&members->lock);
    }
    colander_buffer_release(&copy);
    return code;
}

static enum colander_code
add(struct member *list, size_t *count, const char *name,
    const struct colander_buffer *text, struct colander_error *err)
{
    struct member *member = &list[(*count)++];

    member->name = strdup(name);
    if (member->name == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a member");
    return colander_buffer_append(&member->text, text->data, text->size, err);
}

/* Adds all of the list, and this member at its place in the order. */
static enum colander_code
add_all(const struct members *members, struct member *list, size_t *count,
        struct colander_error *err)
{
    const uint64_t now = clock_us();
    bool has_self = members->is_listener || members_is_replaced(members);
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i <= members->list.count && code == COLANDER_OK; i++) {
        const bool is_end = i == members->list.count;
        const struct member_entry *entry =
            is_end ? NULL : &members->list.entries[i];
        const int order = is_end ? 1 : strcmp(entry->name, members->name);

        if (order >= 0 && !has_self) {
            has_self = true;
            code = add(list, count, members->name, &members->text, err);
            list[*count - 1].is_self = true;
            if (order == 0) /* an earlier process */
                continue;
        }
        if (code != COLANDER_OK || is_end ||
            now - entry->heard_us >= members->lost_us)
            continue;
        code = add(list, count, entry->name, &entry->text, err);
        list[*count - 1].age_ms = (now - entry->heard_us) / 1000;
        list[*count - 1].is_past = entry->is_past;
    }
    return code;
}

enum colander_code
members_list(struct members *members, struct member **list, size_t *count,
             struct colander_error *err)
{
    enum colander_code code;

    *count = 0;
    pthread_mutex_lock(&members->lock);
    *list = calloc(members->list.count + 1, sizeof(**list));
    code = *list != NULL ? add_all(members, *list, count, err)
                         : COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                                         "no memory for members");
    pthread_mutex_unlock(&members->lock);
    if (code != COLANDER_OK) {
        members_list_release(*list, *count);
        *list = NULL;
        *count = 0;
    }
    return code;
}

void
members_list_release(struct member *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(list[i].name);
        colander_buffer_release(&list[i].text);
    }
    free(list);
}

bool
members_has_settled(struct members *members)
{
    struct members_state state;

    members_state(members, &state);
    return state.has_settled;
}

/* Says what is wrong. Requires the lock. */
static void
describe(const struct members *members, uint64_t silent_us, const char *trouble,
         struct members_state *state)
{
    const char *failure =
        members->failure[0] != '\0' ? members->failure : trouble;

    if (members->is_listener) {
        if (members->is_past)
            (void)snprintf(state->problem, sizeof(state->problem), "%s",
                           failure);
        return;
    }
    if (state->is_replaced)
        (void)snprintf(state->problem, sizeof(state->problem),
                       "another process has the name '%s' and began later: "
                       "this one is not a member. Give it another name",
                       members->name);
    else if (!members->is_past && members_rival(members) != NULL)
        (void)snprintf(state->problem, sizeof(state->problem),
                       "another process, which began earlier, has the name "
                       "'%s', too: end it, or give it another name",
                       members->name);
    else if (silent_us >= members->lost_us / 2 &&
             !atomic_load(&members->is_leaving))
        (void)snprintf(state->problem, sizeof(state->problem),
                       "other members were not heard for %.1f seconds%s%s",
                       (double)silent_us / 1e6, failure[0] != '\0' ? ": " : "",
                       failure);
}

void
members_state(struct members *members, struct members_state *state)
{
    char trouble[sizeof(members->trouble.text)];
    uint64_t since;
    uint64_t now;

    pthread_mutex_lock(&members->trouble.lock);
    memcpy(trouble, members->trouble.text, sizeof(trouble));
    pthread_mutex_unlock(&members->trouble.lock);
    memset(state, 0, sizeof(*state));
    pthread_mutex_lock(&members->lock);
    now = clock_us();
    since = members->heard_us > 0 ? members->heard_us : members->opened_us;
    state->has_settled =
        members->is_settled &&
        (members->is_listener || now - since < members->lost_us / 2);
    state->has_read = !members->is_past;
    state->is_replaced = members_is_replaced(members);
    state->heard = members->heard_count;
    state->ignored = members->ignored_count;
    describe(members, now - since, trouble, state);
    pthread_mutex_unlock(&members->lock);
}
