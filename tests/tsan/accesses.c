/*
 * Reports to ThreadSanitizer what memory our code reads, writes and frees
 * through functions of the C library. README.md explains why it must be
 * reported.
 *
 * The linker redirects our calls here (--wrap), and no others: RocksDB calls
 * the C library as before.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tsan/accesses.h"

#include <malloc.h>
#include <string.h>

void *
__wrap_memcpy(void *to, const void *from, size_t size)
{
    __tsan_read_range(from, size);
    __tsan_write_range(to, size);
    return __real_memcpy(to, from, size);
}

void *
__wrap_memmove(void *to, const void *from, size_t size)
{
    __tsan_read_range(from, size);
    __tsan_write_range(to, size);
    return __real_memmove(to, from, size);
}

void *
__wrap_memset(void *to, int byte, size_t size)
{
    __tsan_write_range(to, size);
    return __real_memset(to, byte, size);
}

/* More than is compared if there is a difference earlier: callers guarantee
 * that all of it exists. */
int
__wrap_memcmp(const void *one, const void *other, size_t size)
{
    __tsan_read_range(one, size);
    __tsan_read_range(other, size);
    return __real_memcmp(one, other, size);
}

size_t
__wrap_strlen(const char *text)
{
    const size_t size = __real_strlen(text);

    __tsan_read_range(text, size + 1);
    return size;
}

/* The C library does the reading: a file is not our memory. A test may have
 * calls of its own, which fail. */
__attribute__((weak)) ssize_t
__wrap_pread(int fd, void *to, size_t size, off_t at)
{
    __tsan_write_range(to, size);
    return __real_pread(fd, to, size, at);
}

__attribute__((weak)) ssize_t
__wrap_pwrite(int fd, const void *from, size_t size, off_t at)
{
    __tsan_read_range(from, size);
    return __real_pwrite(fd, from, size, at);
}

/* Freeing counts as writing: no other thread may use the memory then or
 * later. */
void
tsan_freed(void *memory)
{
    if (memory != NULL)
        __tsan_write_range(memory, malloc_usable_size(memory));
}

void
__wrap_free(void *memory)
{
    tsan_freed(memory);
    __real_free(memory);
}

/* operator delete(void *), delete(void *, size_t), delete[](void *). */
void
__wrap__ZdlPv(void *memory)
{
    tsan_freed(memory);
    __real__ZdlPv(memory);
}

void
__wrap__ZdlPvm(void *memory, size_t size)
{
    tsan_freed(memory);
    __real__ZdlPvm(memory, size);
}

void
__wrap__ZdaPv(void *memory)
{
    tsan_freed(memory);
    __real__ZdaPv(memory);
}
