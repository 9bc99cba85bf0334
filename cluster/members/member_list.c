/* See member_list.h. SPDX-License-Identifier: MIT */
#include "cluster/members/member_list.h"
#include "cluster/members.h"
#include "core/array.h"

bool
member_is_later(uint64_t generation, uint64_t process,
                uint64_t other_generation, uint64_t other_process)
{
    return generation != other_generation ? generation > other_generation
                                          : process > other_process;
}

/* Returns where a name is, or would be. */
static size_t
place_of(const struct member_list *list, struct colander_slice name,
         bool *is_there)
{
    size_t place = 0;

    array_search(place, list->count,
                 colander_slice_compare(
                     colander_slice_text(list->entries[place].name), name) < 0);
    *is_there = place < list->count &&
                colander_slice_equal(
                    colander_slice_text(list->entries[place].name), name);
    return place;
}

static void
release_entry(struct member_entry *entry)
{
    free(entry->name);
    colander_buffer_release(&entry->text);
}

static void
remove_at(struct member_list *list, size_t place)
{
    release_entry(&list->entries[place]);
    list->count--;
    memmove(&list->entries[place], &list->entries[place + 1],
            (list->count - place) * sizeof(*list->entries));
}

static enum colander_code
insert_at(struct member_list *list, size_t place, struct colander_slice name,
          struct colander_error *err)
{
    enum colander_code code;
    char *copy;

    if (list->count == MEMBERS_MAX)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "more than %d members",
                             MEMBERS_MAX);
    code = array_reserve(&list->entries, list->count, &list->capacity, 1, err);
    if (code != COLANDER_OK)
        return code;
    copy = strndup((const char *)name.data, name.size);
    if (copy == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a member");
    memmove(&list->entries[place + 1], &list->entries[place],
            (list->count - place) * sizeof(*list->entries));
    list->count++;
    memset(&list->entries[place], 0, sizeof(*list->entries));
    list->entries[place].name = copy;
    return COLANDER_OK;
}

/* Sets what an entry has said, if there is memory for it. */
static enum colander_code
set_text(struct member_entry *entry, struct colander_slice text,
         struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    if (text.size > entry->text.size)
        code = colander_buffer_reserve(&entry->text,
                                       text.size - entry->text.size, err);
    if (code != COLANDER_OK)
        return code;
    colander_buffer_clear(&entry->text);
    return colander_buffer_append(&entry->text, text.data, text.size, err);
}

enum colander_code
member_list_take(struct member_list *list, const struct member_record *record,
                 uint64_t now_us, bool is_past, struct colander_error *err)
{
    bool is_there;
    const size_t place = place_of(list, record->name, &is_there);
    struct member_entry *entry = is_there ? &list->entries[place] : NULL;
    enum colander_code code = COLANDER_OK;
    bool is_other;

    if (is_there && member_is_later(entry->generation, entry->process,
                                    record->generation, record->process))
        return COLANDER_OK;
    if (record->is_goodbye) {
        if (is_there)
            remove_at(list, place);
        return COLANDER_OK;
    }
    if (!is_there)
        code = insert_at(list, place, record->name, err);
    if (code != COLANDER_OK)
        return code;
    entry = &list->entries[place];
    code = set_text(entry, record->text, err);
    if (code != COLANDER_OK) {
        if (!is_there)
            remove_at(list, place);
        return code;
    }
    is_other = !is_there || entry->process != record->process;
    entry->process = record->process;
    entry->generation = record->generation;
    if (is_other || !is_past) {
        entry->heard_us = now_us;
        entry->is_past = is_past;
    }
    return COLANDER_OK;
}

const struct member_entry *
member_list_find(const struct member_list *list, struct colander_slice name)
{
    bool is_there;
    const size_t place = place_of(list, name, &is_there);

    return is_there ? &list->entries[place] : NULL;
}

void
member_list_drop(struct member_list *list, struct colander_slice name)
{
    bool is_there;
    const size_t place = place_of(list, name, &is_there);

    if (is_there)
        remove_at(list, place);
}

void
member_list_drop_lost(struct member_list *list, uint64_t now_us,
                      uint64_t lost_us)
{
    for (size_t i = list->count; i-- > 0;) {
        if (now_us - list->entries[i].heard_us >= lost_us)
            remove_at(list, i);
    }
}

bool
member_list_has_past(const struct member_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->entries[i].is_past)
            return true;
    }
    return false;
}

void
member_list_drop_past(struct member_list *list)
{
    for (size_t i = list->count; i-- > 0;) {
        if (list->entries[i].is_past)
            remove_at(list, i);
    }
}

void
member_list_release(struct member_list *list)
{
    while (list->count > 0)
        remove_at(list, list->count - 1);
    free(list->entries);
    memset(list, 0, sizeof(*list));
}
