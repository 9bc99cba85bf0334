/*
 * The ledger: see ledger.h.
 *
 * The file has two slots, written in turns, so that one that is torn leaves the
 * one before. A slot:
 *
 *     0   "colander ledger 1\n" and zeros to 24
 *     24  generation: the higher one counts
 *     32  the boot, as the system names it: 36 characters, zeros to 72
 *     72  count of entries
 *     80  entries: 2 x number + kind, bytes written, bytes synced
 *         XXH3, 64 bits, of all before
 *
 * All numbers are of 64 bits, little-endian.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/ledger.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
#include <xxhash.h>

#define SLOT_SIZE 32768
#define MAGIC "colander ledger 1\n"
#define GENERATION_AT 24
#define BOOT_AT 32
#define BOOT_SIZE 40
#define COUNT_AT 72
#define ENTRIES_AT 80
#define ENTRY_SIZE 24
#define ENTRIES_MAX ((SLOT_SIZE - ENTRIES_AT - 8) / ENTRY_SIZE)

/* A note is due when a log has grown by a sixteenth, or so much. */
#define NOTE_EVERY 65536

struct ledger {
    pthread_mutex_t mutex; /* guards all below */
    int directory_fd;      /* borrowed until settle */
    int fd;                /* -1: notes are not kept yet */
    uint64_t generation;
    bool is_of_this_boot;
    size_t count;
    struct ledger_entry entries[ENTRIES_MAX];
    uint8_t slot[SLOT_SIZE]; /* as it is written or read */
};

/* --------------------------------------------------------------- slots --- */

static void
put_64(uint8_t *bytes, uint64_t number)
{
    for (unsigned i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(number >> (8 * i));
}

static uint64_t
get_64(const uint8_t *bytes)
{
    uint64_t number = 0;

    for (unsigned i = 8; i-- > 0;)
        number = number << 8 | bytes[i];
    return number;
}

/* Zeros when the system does not say; then no boot is like another. */
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

/* The generation in ledger->slot, or 0 when it is none. */
static uint64_t
slot_generation(const struct ledger *ledger)
{
    const uint8_t *slot = ledger->slot;
    const uint64_t count = get_64(slot + COUNT_AT);

    if (memcmp(slot, MAGIC, sizeof(MAGIC)) != 0 || count > ENTRIES_MAX ||
        XXH3_64bits(slot, slot_size(count)) != get_64(slot + slot_size(count)))
        return 0;
    return get_64(slot + GENERATION_AT);
}

static void
decode_slot(struct ledger *ledger)
{
    const uint8_t *slot = ledger->slot;
    char boot[BOOT_SIZE] = "";

    read_boot(boot);
    ledger->is_of_this_boot =
        boot[0] != '\0' && memcmp(slot + BOOT_AT, boot, BOOT_SIZE) == 0;
    ledger->generation = get_64(slot + GENERATION_AT);
    ledger->count = (size_t)get_64(slot + COUNT_AT);
    for (size_t i = 0; i < ledger->count; i++) {
        const uint8_t *at = slot + slot_size(i);
        struct ledger_entry *entry = &ledger->entries[i];

        entry->kind = get_64(at) & 1 ? LEDGER_MANIFEST : LEDGER_WAL;
        entry->number = get_64(at) >> 1;
        entry->written = get_64(at + 8);
        entry->synced = get_64(at + 16);
    }
}

/* The boot stands in the slot since settle. */
static size_t
encode_slot(struct ledger *ledger, uint64_t generation)
{
    uint8_t *slot = ledger->slot;
    uint64_t count = 0;
    size_t size;

    for (size_t i = 0; i < ledger->count; i++) {
        struct ledger_entry *entry = &ledger->entries[i];
        uint8_t *at = slot + slot_size(count);

        if (entry->is_leaving)
            continue;
        entry->noted = entry->written;
        put_64(at, entry->number << 1 | (entry->kind == LEDGER_MANIFEST));
        put_64(at + 8, entry->written);
        put_64(at + 16, entry->synced);
        count++;
    }
    put_64(slot + GENERATION_AT, generation);
    put_64(slot + COUNT_AT, count);
    size = slot_size(count);
    put_64(slot + size, XXH3_64bits(slot, size));
    return size + 8;
}

static bool
read_slot(struct ledger *ledger, int fd, off_t at)
{
    return pread(fd, ledger->slot, SLOT_SIZE, at) == SLOT_SIZE;
}

/* In the place of the older one; again there when that failed. */
static bool
write_slot(struct ledger *ledger)
{
    const uint64_t generation = ledger->generation + 1;
    const size_t size = encode_slot(ledger, generation);

    if (pwrite(ledger->fd, ledger->slot, size,
               (off_t)(generation % 2 * SLOT_SIZE)) != (ssize_t)size)
        return false;
    ledger->generation = generation;
    return true;
}

/* Both: then the older one, too, says no more than is true. */
static bool
write_slots(struct ledger *ledger)
{
    if (!write_slot(ledger))
        return false;
    return write_slot(ledger);
}

/* ---------------------------------------------------------------- open --- */

static enum colander_code
fail_errno(const char *what, struct colander_error *err)
{
    return COLANDER_FAIL(err, COLANDER_IO, "cannot %s '" LEDGER_FILE "': %s",
                         what, strerror(errno));
}

/* Takes the slot of the higher generation, if one is whole. */
static void
read_slots(struct ledger *ledger, int fd)
{
    for (off_t at = 0; at < 2 * SLOT_SIZE; at += SLOT_SIZE) {
        if (read_slot(ledger, fd, at) &&
            slot_generation(ledger) > ledger->generation)
            decode_slot(ledger);
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
    /* without waiting for who writes into it, should it be a pipe */
    fd = openat(directory_fd, LEDGER_FILE, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 && errno != ENOENT) {
        free(made);
        return fail_errno("read", err);
    }
    if (fd >= 0) {
        read_slots(made, fd);
        (void)close(fd);
    }
    (void)pthread_mutex_init(&made->mutex, NULL);
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
ledger_may_have_holes(const struct ledger_entry *entry)
{
    return entry->kind == LEDGER_MANIFEST && entry->synced > 0;
}

/* ------------------------------------------------------------- entries --- */

/* Logs are written where the list ends. */
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

/* Of more logs than there is room for, nothing is known of the oldest. */
static struct ledger_entry *
add_entry(struct ledger *ledger, enum ledger_kind kind, uint64_t number)
{
    struct ledger_entry *entry;

    if (ledger->count == ENTRIES_MAX)
        remove_entry(ledger, &ledger->entries[0]);
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

uint64_t
ledger_written(struct ledger *ledger, enum ledger_kind kind, uint64_t number)
{
    const struct ledger_entry *entry;
    uint64_t written;

    pthread_mutex_lock(&ledger->mutex);
    entry = find_entry(ledger, kind, number);
    written = entry == NULL ? 0 : entry->written;
    pthread_mutex_unlock(&ledger->mutex);
    return written;
}

uint64_t
ledger_next_wal(struct ledger *ledger, uint64_t number)
{
    uint64_t next = 0;

    pthread_mutex_lock(&ledger->mutex);
    for (size_t i = 0; i < ledger->count; i++) {
        const struct ledger_entry *entry = &ledger->entries[i];

        if (entry->kind == LEDGER_WAL && entry->written > 0 &&
            !entry->is_leaving && entry->number > number &&
            (next == 0 || entry->number < next))
            next = entry->number;
    }
    pthread_mutex_unlock(&ledger->mutex);
    return next;
}

const struct ledger_entry *
ledger_missing(const struct ledger *ledger, size_t *at)
{
    while (*at < ledger->count) {
        const struct ledger_entry *entry = &ledger->entries[(*at)++];

        if (!entry->is_found && entry->kind == LEDGER_WAL && entry->written > 0)
            return entry;
    }
    return NULL;
}

uint64_t
ledger_last_manifest(const struct ledger *ledger)
{
    uint64_t last = 0;

    for (size_t i = 0; i < ledger->count; i++) {
        const struct ledger_entry *entry = &ledger->entries[i];

        if (entry->kind == LEDGER_MANIFEST && entry->number > last)
            last = entry->number;
    }
    return last;
}

enum colander_code
ledger_settle(struct ledger *ledger, struct colander_error *err)
{
    for (size_t i = ledger->count; i-- > 0;) {
        if (!ledger->entries[i].is_found)
            remove_entry(ledger, &ledger->entries[i]);
    }
    ledger->fd = openat(ledger->directory_fd, LEDGER_FILE,
                        O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (ledger->fd < 0)
        return fail_errno("make", err);
    memset(ledger->slot, 0, SLOT_SIZE);
    memcpy(ledger->slot, MAGIC, sizeof(MAGIC));
    read_boot((char *)ledger->slot + BOOT_AT);
    /* Room for both slots now: on a full disk logs must be able to go. */
    errno = posix_fallocate(ledger->fd, 0, (off_t)(2 * SLOT_SIZE));
    if (errno != 0 || !write_slots(ledger) || fsync(ledger->fd) != 0)
        return fail_errno("write", err);
    return COLANDER_OK;
}

enum colander_code
ledger_settle_synced(struct ledger *ledger, struct colander_error *err)
{
    for (size_t i = 0; i < ledger->count; i++)
        ledger->entries[i].synced = ledger->entries[i].written;
    return ledger_settle(ledger, err);
}

/* --------------------------------------------------------------- notes --- */

/* A note of what was written that cannot be kept is only missing. */
void
ledger_note_written(struct ledger *ledger, enum ledger_kind kind,
                    uint64_t number, uint64_t size)
{
    const uint64_t lag = size / 16 < NOTE_EVERY ? size / 16 : NOTE_EVERY;
    struct ledger_entry *entry;

    pthread_mutex_lock(&ledger->mutex);
    entry = entry_of(ledger, kind, number);
    entry->written = size;
    if (size > entry->noted + lag)
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
    is_noted =
        kind == LEDGER_MANIFEST ? write_slots(ledger) : write_slot(ledger);
    pthread_mutex_unlock(&ledger->mutex);
    if (kind == LEDGER_MANIFEST) /* written seldom, by one thread at a time */
        is_noted = is_noted && fdatasync(ledger->fd) == 0;
    return is_noted;
}

/* The sync is waited for without the mutex, for which writers wait: what they
 * note meanwhile does not have the log either. RocksDB may remove a log by two
 * threads at once: the entry stays until the first knows how that went. */
bool
ledger_forget(struct ledger *ledger, enum ledger_kind kind, uint64_t number)
{
    struct ledger_entry *entry;
    bool is_forgotten = true;
    bool is_another;

    pthread_mutex_lock(&ledger->mutex);
    entry = find_entry(ledger, kind, number);
    is_another = entry != NULL && entry->is_leaving;
    if (entry != NULL && !is_another) {
        entry->is_leaving = true;
        is_forgotten = write_slots(ledger);
    }
    pthread_mutex_unlock(&ledger->mutex);
    if (entry == NULL || is_another)
        return entry == NULL;
    is_forgotten = is_forgotten && fdatasync(ledger->fd) == 0;
    pthread_mutex_lock(&ledger->mutex);
    entry = find_entry(ledger, kind, number);
    if (entry != NULL && is_forgotten)
        remove_entry(ledger, entry);
    if (entry != NULL && !is_forgotten) {
        entry->is_leaving = false;
        entry->noted = 0; /* the file may have it or not */
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
    (void)pthread_mutex_destroy(&ledger->mutex);
    free(ledger);
}
