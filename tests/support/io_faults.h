/*
 * System calls that fail: the N-th read, write, sync and so on of files in a
 * directory, once or from then on until the fault is repaired; or all writes
 * once a disk of a given size is full.
 *
 * io_faults.c replaces the system calls, also for the libraries: link it into
 * the program. It does not see writes made through the C library's streams. The
 * caller makes allocations fail, with the linker's help: see fault_is_due.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_SUPPORT_IO_FAULTS_H
#define TESTS_SUPPORT_IO_FAULTS_H

#include <stdbool.h>
#include <stdint.h>

/* What fails. Calls are counted by kind. */
enum fault_kind {
    FAULT_READ,
    FAULT_WRITE,
    FAULT_SYNC,
    FAULT_OPEN,   /* of existing files or directories */
    FAULT_NAME,   /* create, rename, link, remove, chmod */
    FAULT_ROOM,   /* reserve or truncate */
    FAULT_MEMORY, /* our own allocations */
    FAULT_KINDS
};

struct fault {
    enum fault_kind kind;
    uint64_t number; /* of the failing call, from 0 */
    int error;       /* its errno */
    bool is_short;   /* half of that write succeeds, and it says so */
    bool is_lasting; /* all later ones fail, too */
};

/* From now on calls for files in `directory`, an absolute path, are counted,
 * and fail if `fault` (copied) is not NULL. Call faults_repair() before calling
 * it again. */
void faults_begin(const char *directory, const struct fault *fault);

/* The same for a disk with `room` bytes. Removing files frees no space. */
void faults_begin_room(const char *directory, uint64_t room);

/* From now on nothing fails or is counted. */
void faults_repair(void);

/* While a thread holds them, none of its calls fails or is counted. */
void faults_hold(bool holds);

/* Whether any call has failed, and how many have. */
bool faults_were_met(void);
uint64_t faults_count(enum fault_kind kind);

/* Returns the number of bytes written. */
uint64_t faults_written(void);

/* Counts a call of that kind. Returns true if it must fail. Any thread. */
bool fault_is_due(enum fault_kind kind);

#endif
