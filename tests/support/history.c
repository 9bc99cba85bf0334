/*
 * What writers have begun and what was acknowledged: see history.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/history.h"

#include "support/claims.h"

#include <fcntl.h>
#include <sys/mman.h>

void *
history_map(const char *path, size_t size)
{
    const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    void *memory = MAP_FAILED;

    if (fd >= 0 && ftruncate(fd, (off_t)size) == 0)
        memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd >= 0)
        close(fd);
    return memory == MAP_FAILED ? NULL : memory;
}

void
history_settle(struct history *history, uint64_t version)
{
    atomic_store(&history->begun, version);
    atomic_store(&history->acknowledged, version);
}

struct colander_value
version_text(uint64_t index, uint64_t version, char text[48])
{
    (void)snprintf(text, 48, "%llu of %llu", (unsigned long long)version,
                   (unsigned long long)index);
    return colander_text(text);
}

struct colander_slice
integer_key(uint64_t index, struct colander_buffer *key)
{
    const struct colander_value part = colander_integer((int64_t)index);

    colander_buffer_clear(key);
    DID(colander_key_encode(&part, 1, key, why()));
    return colander_buffer_slice(key);
}
