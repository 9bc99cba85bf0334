/*
 * The ledger: see ledger.h.
 *
 * The file has two slots. One is known to be on the disk, and is not
 * overwritten before the other has been written and synced. So a power failure
 * leaves at least one. A slot:
 *
 *     0   "colander ledger 2\n" and zeros to 24
 *     24  generation: the higher one counts
 *     32  the id of the boot: 36 characters, zeros to 72
 *     72  count of entries
 *     80  entries: 4 x number + 2 x mark + kind, bytes written, bytes synced
 *         XXH3, 64 bits, of all before
 *
 * All numbers are of 64 bits, little-endian. Version 1 has 2 x number + kind,
 * and no marks. It is written if there are too many logs for all marks.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/ledger.h"

#include "core/bytes.h"
#include "core/files.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
#include <xxhash.h>

#define SLOT_SIZE 32768
#define MAGIC "colander ledger 2\n"
#define MAGIC_WITHOUT_MARKS "colander ledger 1\n"
#define GENERATION_AT 24
#define BOOT_AT 32
#define BOOT_SIZE 40
#define COUNT_AT 72
#define ENTRIES_AT 80
#define ENTRY_SIZE 24
#define ENTRIES_MAX ((SLOT_SIZE - ENTRIES_AT - 8) / ENTRY_SIZE)

/* A log is noted when it has grown by a sixteenth, or by this. */
#define NOTE_EVERY 65536

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
    bool has_marks;          /* a log without a mark was never synced */
    bool has_lost_marks;     /* there were too many logs since the open */
    uint64_t mark_count;
    uint64_t durable_mark_count;
    size_t count;
    struct ledger_entry entries[ENTRIES_MAX];
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

static size_t
slot_size(uint64_t count)
{
    return ENTRIES_AT + (size_t)count * ENTRY_SIZE;
}

/* Returns the generation in ledger->slot, or 0 if that is not valid. */
static uint64_t
slot_generation(const struct ledger *ledger)
{
    const uint8_t *slot = ledger->slot;
    const uint64_t count = bytes_get_le64(slot + COUNT_AT);

    if ((memcmp(slot, MAGIC, sizeof(MAGIC)) != 0 &&
         memcmp(slot, MAGIC_WITHOUT_MARKS, sizeof(MAGIC)) != 0) ||
        count > ENTRIES_MAX ||
        XXH3_64bits(slot, slot_size(count)) !=
            bytes_get_le64(slot + slot_size(count)))
        return 0;
    return bytes_get_le64(slot + GENERATION_AT);
}

static void
decode_slot(struct ledger *ledger)
{
    const uint8_t *slot = ledger->slot;
    char boot[BOOT_SIZE] = "";
    bool is_known;
    bool is_same;

    read_boot(boot);
    is_known = boot[0] != '\0' && slot[BOOT_AT] != '\0';
    is_same = memcmp(slot + BOOT_AT, boot, BOOT_SIZE) == 0;
    ledger->is_of_this_boot = is_known && is_same;
    ledger->is_of_another_boot = is_known && !is_same;
    ledger->has_marks = memcmp(slot, MAGIC, sizeof(MAGIC)) == 0;
    ledger->generation = bytes_get_le64(slot + GENERATION_AT);
    ledger->count = (size_t)bytes_get_le64(slot + COUNT_AT);
    for (size_t i = 0; i < ledger->count; i++) {
        const uint8_t *at = slot + slot_size(i);
        const uint64_t log = bytes_get_le64(at);
        struct ledger_entry *entry = &ledger->entries[i];

        entry->kind = log & 1 ? LEDGER_MANIFEST : LEDGER_WAL;
        entry->was_synced = !ledger->has_marks || (log & 2) != 0;
        entry->number = ledger->has_marks ? log >> 2 : log >> 1;
        entry->written = bytes_get_le64(at + 8);
        entry->synced = bytes_get_le64(at + 16);
    }
}

/* The slot has the id of the boot since settle. */
static size_t
encode_slot(struct ledger *ledger, uint64_t generation)
{
    uint8_t *slot = ledger->slot;
    uint64_t count = 0;
    size_t size;

    for (size_t i = 0; i < ledger->count; i++) {
        struct ledger_entry *entry = &ledger->entries[i];
        uint8_t *at = slot + slot_size(count);
        uint64_t log;

        if (entry->is_leaving)
            continue;
        entry->noted = entry->written;
        log = (entry->kind == LEDGER_MANIFEST) |
              (ledger->has_marks ? entry->number << 2 | entry->was_synced * 2U
                                 : entry->number << 1);
        bytes_put_le64(at, log);
        bytes_put_le64(at + 8, entry->written);
        bytes_put_le64(at + 16, entry->synced);
        count++;
    }
    memcpy(slot, ledger->has_marks ? MAGIC : MAGIC_WITHOUT_MARKS,
           sizeof(MAGIC));
    bytes_put_le64(slot + GENERATION_AT, generation);
    bytes_put_le64(slot + COUNT_AT, count);
    size = slot_size(count);
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
        if (read_slot(ledger, fd, (off_t)slot * SLOT_SIZE) &&
            slot_generation(ledger) > ledger->generation) {
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
    int fd;

    *ledger = NULL;
    if (made == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory for the ledger");
    /* an open of a pipe must not wait */
    fd = openat(directory_fd, LEDGER_FILE, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 && errno != ENOENT) {
        free(made);
        return files_fail(err, "read", LEDGER_FILE);
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
    return ledger->is_of_this_boot ? entry->written : entry->synced;
}

bool
ledger_may_end(const struct ledger *ledger, const struct ledger_entry *entry,
               uint64_t whole)
{
    if (whole < ledger_least(ledger, entry))
        return false;
    if (entry->kind == LEDGER_MANIFEST)
        return entry->synced > 0;
    return ledger->is_of_another_boot && ledger->has_marks &&
           !entry->was_synced;
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
static struct ledger_entry *
add_entry(struct ledger *ledger, enum ledger_kind kind, uint64_t number)
{
    struct ledger_entry *entry;

    if (ledger->count == ENTRIES_MAX) {
        remove_entry(ledger, &ledger->entries[0]);
        ledger->has_marks = false;
        ledger->has_lost_marks = true;
    }
    entry = &ledger->entries[ledger->count++];
    memset(entry, 0, sizeof(*entry));
    entry->kind = kind;
    entry->number = number;
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

struct ledger_entry
ledger_found(struct ledger *ledger, enum ledger_kind kind, uint64_t number,
             uint64_t size)
{
    struct ledger_entry *entry = entry_of(ledger, kind, number);
    const struct ledger_entry before = *entry;

    entry->written = size;
    if (entry->synced > size)
        entry->synced = size;
    entry->is_found = true;
    return before;
}

void
ledger_cut(struct ledger *ledger, uint64_t number, uint64_t size)
{
    (void)ledger_found(ledger, LEDGER_WAL, number, size);
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

enum colander_code
ledger_settle(struct ledger *ledger, struct colander_error *err)
{
    bool is_written;

    for (size_t i = ledger->count; i-- > 0;) {
        struct ledger_entry *entry = &ledger->entries[i];

        entry->was_synced = entry->was_synced || !ledger->has_marks;
        if (!entry->is_found || (entry->is_cut && entry->written == 0))
            remove_entry(ledger, entry);
        else
            entry->is_cut = false;
    }
    ledger->has_marks = !ledger->has_lost_marks;
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
ledger_settle_synced(struct ledger *ledger, struct colander_error *err)
{
    for (size_t i = 0; i < ledger->count; i++) {
        ledger->entries[i].synced = ledger->entries[i].written;
        ledger->entries[i].was_synced = true;
    }
    return ledger_settle(ledger, err);
}

/* --------------------------------------------------------------- notes --- */

/* If the write fails, the ledger only knows less. */
void
ledger_note_written(struct ledger *ledger, enum ledger_kind kind,
                    uint64_t number, uint64_t size)
{
    const uint64_t lag = size / 16 < NOTE_EVERY ? size / 16 : NOTE_EVERY;
    struct ledger_entry *entry;

    pthread_mutex_lock(&ledger->mutex);
    entry = entry_of(ledger, kind, number);
    entry->written = size;
    if (size > entry->noted + lag && !ledger->is_syncing)
        (void)write_slot(ledger);
    pthread_mutex_unlock(&ledger->mutex);
}

bool
ledger_note_synced(struct ledger *ledger, enum ledger_kind kind,
                   uint64_t number, uint64_t size)
{
    struct ledger_entry *entry;
    bool is_noted;

    pthread_mutex_lock(&ledger->mutex);
    entry = entry_of(ledger, kind, number);
    if (entry->written < size)
        entry->written = size;
    entry->synced = size;
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

bool
ledger_sync(struct ledger *ledger)
{
    bool is_synced;

    pthread_mutex_lock(&ledger->mutex);
    is_synced = write_durably(ledger);
    pthread_mutex_unlock(&ledger->mutex);
    return is_synced;
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
