/*
 * The ledger: see ledger.h.
 *
 * The file has two slots. One is known to be on the disk, and is not
 * overwritten before the other has been written and synced. So a power failure
 * leaves at least one. A slot:
 *
 *     0   "colander ledger 3\n" and zeros
 *     23  flags: 1 has not had room for all logs, 2 is sealed
 *     24  generation: the higher one counts
 *     32  the id of the boot: 36 characters, zeros to 72
 *     72  count of entries
 *     80  entries: 4 x number + 2 x mark + kind; size and sum of what was
 *         written, of what is written next, and of what was synced
 *         XXH3, 64 bits, of all before
 *
 * All numbers are of 64 bits, little-endian. Entries of versions 1 and 2 have
 * the bytes written and the bytes synced, without sums. Version 1 has no marks:
 * an entry begins with 2 x number + kind. Both are read and not written.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/ledger.h"

#include "core/bytes.h"
#include "core/files.h"
#include "core/logs/log_block.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#define LEDGER_NEW LEDGER_FILE ".new"

#define SLOT_SIZE 32768
#define MAGIC "colander ledger 3\n"
#define VERSION_AT 16
#define FLAGS_AT 23
#define FLAG_INCOMPLETE 1
#define FLAG_SEALED 2
#define GENERATION_AT 24
#define BOOT_AT 32
#define BOOT_SIZE 40
#define COUNT_AT 72
#define ENTRIES_AT 80
#define ENTRY_SIZE 56
#define ENTRY_SIZE_WITHOUT_SUMS 24
#define ENTRIES_MAX ((SLOT_SIZE - ENTRIES_AT - 8) / ENTRY_SIZE)
#define OLD_ENTRIES_MAX ((SLOT_SIZE - ENTRIES_AT - 8) / ENTRY_SIZE_WITHOUT_SUMS)

struct ledger {
    pthread_mutex_t mutex; /* guards all below */
    pthread_cond_t is_idle;
    bool is_syncing;  /* by a thread without the mutex: no slot is written */
    int directory_fd; /* borrowed until settle */
    int fd;           /* -1: not settled yet */
    unsigned durable; /* the slot that is on the disk */
    uint64_t generation;
    bool is_of_this_boot;
    bool is_of_another_boot; /* both are false if one of the two is not known */
    bool has_sums;           /* of its entries */
    bool has_marks;          /* a log without a mark was never synced */
    bool has_lost_marks;     /* there were too many logs since the open */
    bool is_sealed;
    bool is_torn; /* the other slot, which may be newer, is not valid */
    uint64_t mark_count;
    uint64_t durable_mark_count;
    size_t count;
    struct ledger_entry entries[OLD_ENTRIES_MAX];
    uint8_t slot[SLOT_SIZE]; /* as it is written or read */
};

/* --------------------------------------------------------------- slots --- */

/* Fills zeros if the system has no id. Then no boot equals another. */
static void
read_boot(char boot[BOOT_SIZE])
{
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t size = fd < 0 ? 0 : read(fd, boot, BOOT_SIZE - 1);

    if (fd >= 0)
        (void)close(fd);
    if (size != 37) /* with the end of the line */
        size = 1;
    memset(boot + size - 1, 0, BOOT_SIZE - (size_t)(size - 1));
}

/* Returns 0 for a slot without a version that is known. */
static unsigned
slot_version(const uint8_t *slot)
{
    const unsigned version = (unsigned)(slot[VERSION_AT] - '0');

    return memcmp(slot, MAGIC, VERSION_AT) == 0 && version <= 3 &&
                   slot[VERSION_AT + 1] == '\n'
               ? version
               : 0;
}

static size_t
slot_size(const uint8_t *slot, uint64_t count)
{
    const size_t entry_size =
        slot_version(slot) == 3 ? ENTRY_SIZE : ENTRY_SIZE_WITHOUT_SUMS;

    return ENTRIES_AT + (size_t)count * entry_size;
}

/* Returns the generation in ledger->slot, or 0 if that is not valid. */
static uint64_t
slot_generation(const struct ledger *ledger)
{
    const uint8_t *slot = ledger->slot;
    const uint64_t count = bytes_get_le64(slot + COUNT_AT);
    const unsigned version = slot_version(slot);
    size_t size;

    if (version == 0 || count > (version == 3 ? ENTRIES_MAX : OLD_ENTRIES_MAX))
        return 0;
    size = slot_size(slot, count);
    return XXH3_64bits(slot, size) == bytes_get_le64(slot + size)
               ? bytes_get_le64(slot + GENERATION_AT)
               : 0;
}

static struct ledger_entry
decode_entry(const struct ledger *ledger, const uint8_t *at)
{
    const uint64_t log = bytes_get_le64(at);
    struct ledger_entry entry = {
        .kind = log & 1 ? LEDGER_MANIFEST : LEDGER_WAL,
        .number = ledger->has_marks ? log >> 2 : log >> 1,
        .was_synced = !ledger->has_marks || (log & 2) != 0,
        .is_listed = true,
    };

    if (ledger->has_sums) {
        entry.number = log >> 2;
        for (size_t i = 0; i < LEDGER_EXTENTS; i++)
            entry.extents[i] =
                (struct log_extent){bytes_get_le64(at + 8 + 16 * i),
                                    bytes_get_le64(at + 16 + 16 * i)};
    } else {
        entry.extents[LEDGER_WRITTEN].size = bytes_get_le64(at + 8);
        entry.extents[LEDGER_SYNCED].size = bytes_get_le64(at + 16);
    }
    return entry;
}

static void
decode_slot(struct ledger *ledger)
{
    const uint8_t *slot = ledger->slot;
    const unsigned version = slot_version(slot);
    char boot[BOOT_SIZE] = "";
    bool is_known;
    bool is_same;

    read_boot(boot);
    is_known = boot[0] != '\0' && slot[BOOT_AT] != '\0';
    is_same = memcmp(slot + BOOT_AT, boot, BOOT_SIZE) == 0;
    ledger->is_of_this_boot = is_known && is_same;
    ledger->is_of_another_boot = is_known && !is_same;
    ledger->has_sums = version == 3;
    ledger->has_marks = version == 2 || (ledger->has_sums &&
                                         !(slot[FLAGS_AT] & FLAG_INCOMPLETE));
    ledger->is_sealed = ledger->has_sums && (slot[FLAGS_AT] & FLAG_SEALED);
    ledger->generation = bytes_get_le64(slot + GENERATION_AT);
    ledger->count = (size_t)bytes_get_le64(slot + COUNT_AT);
    for (size_t i = 0; i < ledger->count; i++)
        ledger->entries[i] = decode_entry(ledger, slot + slot_size(slot, i));
}

/* The slot has the id of the boot since settle. */
static size_t
encode_slot(struct ledger *ledger, uint64_t generation)
{
    uint8_t *slot = ledger->slot;
    uint64_t count = 0;
    size_t size;

    memcpy(slot, MAGIC, sizeof(MAGIC));
    for (size_t i = 0; i < ledger->count; i++) {
        struct ledger_entry *entry = &ledger->entries[i];
        uint8_t *at = slot + slot_size(slot, count);

        if (entry->is_leaving)
            continue;
        entry->noted = entry->extents[LEDGER_WRITTEN].size;
        bytes_put_le64(at, (entry->kind == LEDGER_MANIFEST) |
                               entry->was_synced * 2U | entry->number << 2);
        for (size_t j = 0; j < LEDGER_EXTENTS; j++) {
            bytes_put_le64(at + 8 + 16 * j, entry->extents[j].size);
            bytes_put_le64(at + 16 + 16 * j, entry->extents[j].sum);
        }
        count++;
    }
    slot[FLAGS_AT] = (uint8_t)((ledger->has_marks ? 0 : FLAG_INCOMPLETE) |
                               (ledger->is_sealed ? FLAG_SEALED : 0));
    bytes_put_le64(slot + GENERATION_AT, generation);
    bytes_put_le64(slot + COUNT_AT, count);
    size = slot_size(slot, count);
    bytes_put_le64(slot + size, XXH3_64bits(slot, size));
    return size + 8;
}

static bool
read_slot(struct ledger *ledger, int fd, off_t at)
{
    return pread(fd, ledger->slot, SLOT_SIZE, at) == SLOT_SIZE;
}

/* Overwrites the slot that is not known to be on the disk. */
static bool
write_slot(struct ledger *ledger)
{
    const uint64_t generation = ledger->generation + 1;
    const size_t size = encode_slot(ledger, generation);
    const off_t at = ledger->durable == 0 ? SLOT_SIZE : 0;

    if (pwrite(ledger->fd, ledger->slot, size, at) != (ssize_t)size)
        return false;
    ledger->generation = generation;
    return true;
}

/* Writes one slot, syncs it, and writes the other, so that damage to either
 * leaves the same. Requires the mutex, and releases it during the sync, for
 * which writers do not wait. Their notes are in the second slot. */
static bool
write_durably(struct ledger *ledger)
{
    uint64_t mark_count;
    bool is_durable;

    while (ledger->is_syncing)
        pthread_cond_wait(&ledger->is_idle, &ledger->mutex);
    mark_count = ledger->mark_count;
    is_durable = write_slot(ledger);
    ledger->is_syncing = true;
    pthread_mutex_unlock(&ledger->mutex);
    is_durable = is_durable && fdatasync(ledger->fd) == 0;
    pthread_mutex_lock(&ledger->mutex);
    ledger->is_syncing = false;
    pthread_cond_broadcast(&ledger->is_idle);
    if (is_durable) {
        ledger->durable = 1 - ledger->durable;
        ledger->durable_mark_count = mark_count;
    }
    return write_slot(ledger) && is_durable;
}

/* ---------------------------------------------------------------- open --- */

/* Decodes the valid slot with the higher generation, if there is one. */
static void
read_slots(struct ledger *ledger, int fd)
{
    for (unsigned slot = 0; slot < 2; slot++) {
        const uint64_t generation =
            read_slot(ledger, fd, (off_t)slot * SLOT_SIZE)
                ? slot_generation(ledger)
                : 0;

        ledger->is_torn = ledger->is_torn || generation == 0;
        if (generation > ledger->generation) {
            decode_slot(ledger);
            ledger->durable = slot; /* after the sync in settle */
        }
    }
}

enum colander_code
ledger_open(int directory_fd, struct ledger **ledger,
            struct colander_error *err)
{
    struct ledger *made = calloc(1, sizeof(*made));
    enum colander_code code;
    int fd;

    *ledger = NULL;
    if (made == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory for the ledger");
    code = files_open(directory_fd, LEDGER_FILE, O_RDONLY, &fd, err);
    if (code != COLANDER_OK && code != COLANDER_NOT_FOUND) {
        free(made);
        return code;
    }
    if (fd >= 0) {
        read_slots(made, fd);
        (void)close(fd);
    }
    (void)pthread_mutex_init(&made->mutex, NULL);
    (void)pthread_cond_init(&made->is_idle, NULL);
    made->directory_fd = directory_fd;
    made->fd = -1;
    *ledger = made;
    return COLANDER_OK;
}

uint64_t
ledger_least(const struct ledger *ledger, const struct ledger_entry *entry)
{
    const bool counts_written = ledger->is_of_this_boot || ledger->is_sealed;

    return entry->extents[counts_written ? LEDGER_WRITTEN : LEDGER_SYNCED].size;
}

bool
ledger_may_end(const struct ledger *ledger, const struct ledger_entry *entry,
               uint64_t whole)
{
    if (whole < ledger_least(ledger, entry))
        return false;
    if (entry->kind == LEDGER_MANIFEST)
        return entry->extents[LEDGER_SYNCED].size > 0;
    return ledger->is_of_another_boot && ledger->has_marks &&
           !entry->was_synced;
}

bool
ledger_lists_all(const struct ledger *ledger)
{
    return ledger->has_sums && ledger->has_marks;
}

/* Without a restart, the first write of a log follows its note. A slot that a
 * kill has torn may have had it. */
bool
ledger_allows(const struct ledger *ledger, const struct ledger_entry *entry,
              struct log_extent whole)
{
    const struct log_extent *written = &entry->extents[LEDGER_WRITTEN];

    if (!entry->is_listed) /* an open may leave one that it emptied */
        return whole.size == 0 || !ledger_lists_all(ledger);
    if (ledger->is_sealed)
        return whole.size == written->size && whole.sum == written->sum;
    return whole.size == 0 || written->size > 0 ||
           entry->extents[LEDGER_AHEAD].size > 0 || !ledger->has_sums ||
           !ledger->is_of_this_boot || ledger->is_torn;
}

/* ------------------------------------------------------------- entries --- */

/* Searches from the end, where the logs are that are written now. */
static struct ledger_entry *
find_entry(struct ledger *ledger, enum ledger_kind kind, uint64_t number)
{
    for (size_t i = ledger->count; i-- > 0;) {
        struct ledger_entry *entry = &ledger->entries[i];

        if (entry->kind == kind && entry->number == number)
            return entry;
    }
    return NULL;
}

static void
remove_entry(struct ledger *ledger, const struct ledger_entry *entry)
{
    const size_t at = (size_t)(entry - ledger->entries);

    ledger->count--;
    memmove(&ledger->entries[at], &ledger->entries[at + 1],
            (ledger->count - at) * sizeof(*entry));
}

/* Removes the oldest if there are too many logs, and its mark with it. */
static void
limit_entries(struct ledger *ledger, size_t count_max)
{
    while (ledger->count > count_max) {
        remove_entry(ledger, &ledger->entries[0]);
        ledger->has_marks = false;
        ledger->has_lost_marks = true;
    }
}

static struct ledger_entry *
add_entry(struct ledger *ledger, enum ledger_kind kind, uint64_t number)
{
    struct ledger_entry *entry;

    limit_entries(ledger, ENTRIES_MAX - 1);
    entry = &ledger->entries[ledger->count++];
    memset(entry, 0, sizeof(*entry));
    entry->kind = kind;
    entry->number = number;
    entry->is_listed = true;
    return entry;
}

static struct ledger_entry *
entry_of(struct ledger *ledger, enum ledger_kind kind, uint64_t number)
{
    struct ledger_entry *entry = find_entry(ledger, kind, number);

    return entry != NULL ? entry : add_entry(ledger, kind, number);
}

struct ledger_entry
ledger_noted(struct ledger *ledger, enum ledger_kind kind, uint64_t number)
{
    struct ledger_entry noted = {.kind = kind, .number = number};
    const struct ledger_entry *entry;

    pthread_mutex_lock(&ledger->mutex);
    entry = find_entry(ledger, kind, number);
    if (entry != NULL)
        noted = *entry;
    pthread_mutex_unlock(&ledger->mutex);
    return noted;
}

void
ledger_found(struct ledger *ledger, enum ledger_kind kind, uint64_t number,
             struct log_extent whole)
{
    struct ledger_entry *entry = entry_of(ledger, kind, number);

    entry->extents[LEDGER_WRITTEN] = whole;
    entry->extents[LEDGER_AHEAD] = whole;
    if (entry->extents[LEDGER_SYNCED].size > whole.size)
        entry->extents[LEDGER_SYNCED] = whole;
    entry->is_found = true;
}

void
ledger_cut(struct ledger *ledger, uint64_t number, struct log_extent whole)
{
    ledger_found(ledger, LEDGER_WAL, number, whole);
    entry_of(ledger, LEDGER_WAL, number)->is_cut = true;
}

struct ledger_entry
ledger_next(struct ledger *ledger, enum ledger_kind kind, uint64_t number)
{
    struct ledger_entry next = {.kind = kind};

    pthread_mutex_lock(&ledger->mutex);
    for (size_t i = 0; i < ledger->count; i++) {
        const struct ledger_entry *entry = &ledger->entries[i];

        if (entry->kind == kind && !entry->is_leaving &&
            entry->number > number &&
            (next.number == 0 || entry->number < next.number))
            next = *entry;
    }
    pthread_mutex_unlock(&ledger->mutex);
    return next;
}

/* Gives the ledger a file of its own if a copy of the store has the same one,
 * by a hard link. Other files are not changed in place. */
static enum colander_code
own_file(int directory, struct colander_error *err)
{
    struct stat status;
    enum colander_code code;

    if (fstatat(directory, LEDGER_FILE, &status, 0) != 0 || status.st_nlink < 2)
        return COLANDER_OK;
    (void)unlinkat(directory, LEDGER_NEW, 0);
    code = files_copy(directory, LEDGER_FILE, directory, LEDGER_NEW,
                      FILES_WHOLE, err);
    if (code == COLANDER_OK &&
        renameat(directory, LEDGER_NEW, directory, LEDGER_FILE) != 0)
        code = files_fail(err, "put in place", LEDGER_FILE);
    return code == COLANDER_OK ? files_sync_names(directory, ".", err) : code;
}

static enum colander_code
settle(struct ledger *ledger, struct colander_error *err)
{
    enum colander_code code;
    bool is_written;

    for (size_t i = ledger->count; i-- > 0;) {
        struct ledger_entry *entry = &ledger->entries[i];

        entry->was_synced = entry->was_synced || !ledger->has_marks;
        if (!entry->is_found ||
            (entry->is_cut && entry->extents[LEDGER_WRITTEN].size == 0))
            remove_entry(ledger, entry);
        else
            entry->is_cut = false;
    }
    limit_entries(ledger, ENTRIES_MAX);
    ledger->has_marks = !ledger->has_lost_marks;
    ledger->has_sums = true;
    code = own_file(ledger->directory_fd, err);
    if (code != COLANDER_OK)
        return code;
    ledger->fd = openat(ledger->directory_fd, LEDGER_FILE,
                        O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (ledger->fd < 0)
        return files_fail(err, "create", LEDGER_FILE);
    memset(ledger->slot, 0, SLOT_SIZE);
    read_boot((char *)ledger->slot + BOOT_AT);
    /* Both slots need their room now, to remove logs from a full disk. What was
     * read may not be on the disk yet. */
    errno = posix_fallocate(ledger->fd, 0, (off_t)(2 * SLOT_SIZE));
    is_written = errno == 0 && fsync(ledger->fd) == 0;
    pthread_mutex_lock(&ledger->mutex);
    is_written = is_written && write_durably(ledger);
    pthread_mutex_unlock(&ledger->mutex);
    return is_written ? COLANDER_OK : files_fail(err, "write", LEDGER_FILE);
}

enum colander_code
ledger_settle(struct ledger *ledger, struct colander_error *err)
{
    ledger->is_sealed = false;
    return settle(ledger, err);
}

enum colander_code
ledger_settle_synced(struct ledger *ledger, struct colander_error *err)
{
    for (size_t i = 0; i < ledger->count; i++) {
        struct ledger_entry *entry = &ledger->entries[i];

        entry->extents[LEDGER_SYNCED] = entry->extents[LEDGER_WRITTEN];
        entry->was_synced = true;
    }
    ledger->is_sealed = true;
    return settle(ledger, err);
}

/* --------------------------------------------------------------- notes --- */

bool
ledger_begin(struct ledger *ledger, uint64_t number)
{
    struct ledger_entry *entry;
    bool is_synced;

    pthread_mutex_lock(&ledger->mutex);
    entry = entry_of(ledger, LEDGER_WAL, number);
    memset(entry->extents, 0, sizeof(entry->extents));
    is_synced = write_durably(ledger);
    pthread_mutex_unlock(&ledger->mutex);
    return is_synced;
}

/* Whether the file must be written for a log of `size` bytes: it has grown by a
 * sixteenth, or into another block. So each record that is in several blocks is
 * noted: only the sum shows that a part of it is in the place of another. */
static bool
is_due(const struct ledger_entry *entry, uint64_t size)
{
    return size > entry->noted + size / 16 ||
           size / LOG_BLOCK_SIZE != entry->noted / LOG_BLOCK_SIZE;
}

bool
ledger_note_ahead(struct ledger *ledger, enum ledger_kind kind, uint64_t number,
                  struct log_extent whole)
{
    struct ledger_entry *entry;
    bool is_noted = true;

    pthread_mutex_lock(&ledger->mutex);
    entry = entry_of(ledger, kind, number);
    if (is_due(entry, whole.size)) {
        const bool is_first = entry->noted == 0;

        while (is_first && ledger->is_syncing)
            pthread_cond_wait(&ledger->is_idle, &ledger->mutex);
        entry = entry_of(ledger, kind, number); /* it may have moved */
        entry->extents[LEDGER_AHEAD] = whole;
        is_noted = (!ledger->is_syncing && write_slot(ledger)) || !is_first;
    }
    pthread_mutex_unlock(&ledger->mutex);
    return is_noted;
}

/* If the write fails, the ledger only knows less. */
void
ledger_note_written(struct ledger *ledger, enum ledger_kind kind,
                    uint64_t number, struct log_extent whole)
{
    struct ledger_entry *entry;

    pthread_mutex_lock(&ledger->mutex);
    entry = entry_of(ledger, kind, number);
    entry->extents[LEDGER_WRITTEN] = whole;
    if (is_due(entry, whole.size) && !ledger->is_syncing)
        (void)write_slot(ledger);
    pthread_mutex_unlock(&ledger->mutex);
}

bool
ledger_note_synced(struct ledger *ledger, enum ledger_kind kind,
                   uint64_t number, struct log_extent whole)
{
    struct ledger_entry *entry;
    bool is_noted;

    pthread_mutex_lock(&ledger->mutex);
    entry = entry_of(ledger, kind, number);
    if (entry->extents[LEDGER_WRITTEN].size < whole.size)
        entry->extents[LEDGER_WRITTEN] = whole;
    entry->extents[LEDGER_SYNCED] = whole;
    if (kind == LEDGER_MANIFEST)
        is_noted = write_durably(ledger);
    else
        is_noted = !ledger->is_syncing && write_slot(ledger);
    pthread_mutex_unlock(&ledger->mutex);
    return is_noted;
}

bool
ledger_mark_synced(struct ledger *ledger, uint64_t number, bool is_relied_on)
{
    struct ledger_entry *entry;
    bool is_marked = true;

    pthread_mutex_lock(&ledger->mutex);
    entry = entry_of(ledger, LEDGER_WAL, number);
    if (!entry->was_synced)
        ledger->mark_count++;
    entry->was_synced = true;
    if (is_relied_on && ledger->durable_mark_count != ledger->mark_count)
        is_marked = write_durably(ledger);
    pthread_mutex_unlock(&ledger->mutex);
    return is_marked;
}

/* Two threads of RocksDB may remove one log: the entry stays until the first is
 * done. */
bool
ledger_forget(struct ledger *ledger, enum ledger_kind kind, uint64_t number)
{
    struct ledger_entry *entry;
    bool is_forgotten;

    pthread_mutex_lock(&ledger->mutex);
    entry = find_entry(ledger, kind, number);
    is_forgotten = entry == NULL;
    if (entry != NULL && !entry->is_leaving) {
        entry->is_leaving = true;
        is_forgotten = write_durably(ledger);
        entry = find_entry(ledger, kind, number); /* it may have moved */
        if (entry != NULL && is_forgotten)
            remove_entry(ledger, entry);
        if (entry != NULL && !is_forgotten) {
            entry->is_leaving = false;
            entry->noted = 0; /* not known */
        }
    }
    pthread_mutex_unlock(&ledger->mutex);
    return is_forgotten;
}

void
ledger_seal(struct ledger *ledger)
{
    pthread_mutex_lock(&ledger->mutex);
    ledger->is_sealed = true;
    (void)write_durably(ledger);
    pthread_mutex_unlock(&ledger->mutex);
}

void
ledger_close(struct ledger *ledger)
{
    if (ledger == NULL)
        return;
    if (ledger->fd >= 0)
        (void)close(ledger->fd);
    (void)pthread_cond_destroy(&ledger->is_idle);
    (void)pthread_mutex_destroy(&ledger->mutex);
    free(ledger);
}
