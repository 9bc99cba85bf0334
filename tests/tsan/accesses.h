/*
 * The functions of accesses.c, and those that report to ThreadSanitizer.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_TSAN_ACCESSES_H
#define TESTS_TSAN_ACCESSES_H

#include <stddef.h>
#include <sys/types.h>

/* NOLINTBEGIN(bugprone-reserved-identifier): the names are the linker's. It
 * asks for some of them on behalf of shared libraries, too. */
#pragma GCC visibility push(default)

/* The names that GCC uses for a struct copy. */
void __tsan_read_range(const void *memory, unsigned long size);
void __tsan_write_range(void *memory, unsigned long size);

void *__real_memcpy(void *to, const void *from, size_t size);
void *__wrap_memcpy(void *to, const void *from, size_t size);
void *__real_memmove(void *to, const void *from, size_t size);
void *__wrap_memmove(void *to, const void *from, size_t size);
void *__real_memset(void *to, int byte, size_t size);
void *__wrap_memset(void *to, int byte, size_t size);
int __real_memcmp(const void *one, const void *other, size_t size);
int __wrap_memcmp(const void *one, const void *other, size_t size);
size_t __real_strlen(const char *text);
size_t __wrap_strlen(const char *text);
ssize_t __real_pread(int fd, void *to, size_t size, off_t at);
ssize_t __wrap_pread(int fd, void *to, size_t size, off_t at);
ssize_t __real_pwrite(int fd, const void *from, size_t size, off_t at);
ssize_t __wrap_pwrite(int fd, const void *from, size_t size, off_t at);
void *__real_realloc(void *memory, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void __real_free(void *memory);
void __wrap_free(void *memory);
void __real__ZdlPv(void *memory);
void __wrap__ZdlPv(void *memory);
void __real__ZdlPvm(void *memory, size_t size);
void __wrap__ZdlPvm(void *memory, size_t size);
void __real__ZdaPv(void *memory);
void __wrap__ZdaPv(void *memory);

#pragma GCC visibility pop
/* NOLINTEND(bugprone-reserved-identifier) */

/* No other thread may use the memory then or later. */
void tsan_freed(void *memory);

#endif
