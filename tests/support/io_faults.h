/*
 * Calls that fail: the N-th read, write, sync, and so on, of files below a
 * directory, once or from then on until the fault is mended; or writes, when a
 * disk of so many bytes is full.
 *
 * io_faults.c stands in for the system calls, also for those of the libraries:
 * link it into the program. What it cannot see is written by the C library's
 * streams. Memory is the caller's to fail, with the linker's help: see
 * fault_is_due.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_SUPPORT_IO_FAULTS_H
#define TESTS_SUPPORT_IO_FAULTS_H

#include <stdbool.h>
#include <stdint.h>

/* What fails. Calls of each kind are counted by themselves. */
enum fault_kind {
    FAULT_READ,
    FAULT_WRITE,
    FAULT_SYNC,
    FAULT_OPEN,   /* of what is there: files, directories */
    FAULT_NAME,   /* made, renamed, linked, removed, its mode changed */
    FAULT_ROOM,   /* reserved or cut off */
    FAULT_MEMORY, /* our own allocations */
    FAULT_KINDS
};

struct fault {
    enum fault_kind kind;
    uint64_t number; /* of the call that fails, from 0 */
    int error;       /* its errno */
    bool is_short;   /* that write is half done, and says so */
    bool is_lasting; /* all later ones fail, too */
};

/* From now on calls for files below `directory`, an absolute path, are counted;
 * and fail, if `fault` (copied) is not NULL. Again only when it was mended. */
void faults_begin(const char *directory, const struct fault *fault);

/* The same, but for a disk with room for so many bytes. What is removed gives
 * nothing back. */
void faults_begin_room(const char *directory, uint64_t room);

/* From now on nothing fails, nor is counted. */
void faults_mend(void);

/* While a thread holds them, none of its calls fails, nor is counted. */
void faults_hold(bool holds);

/* Whether any call has failed, and how many there have been. */
bool faults_were_met(void);
uint64_t faults_count(enum fault_kind kind);

/* The bytes that were written. */
uint64_t faults_written(void);

/* Counts a call of that kind; true: it is to fail. Any thread. */
bool fault_is_due(enum fault_kind kind);

#endif
