/*
 * The commands backup and restore: copies of a store, and stores made of them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shell/commands.h"
#include "shell/interrupt.h"
#include "shell/report.h"

#include <stdio.h>

static void
add_files(struct report *report, uint64_t count, uint64_t size)
{
    report_add_number(report, count, "file");
    report_add(report, " of ");
    report_add_size(report, size);
}

static enum colander_code
print(const struct report *report, struct colander_error *err)
{
    return report_print(report, stdout, err);
}

/* -------------------------------------------------------------- backup --- */

static enum colander_code
tell_backup(const struct colander_backup *made, struct colander_error *err)
{
    struct report report = REPORT_EMPTY;
    enum colander_code code;

    report_line(&report, "backup");
    report_add(&report, "%06llu, ", (unsigned long long)made->number);
    add_files(&report, made->file_count, made->size);
    report_line(&report, "copied");
    add_files(&report, made->copied_count, made->copied_size);
    if (made->copied_count < made->file_count) {
        report_add(&report, ", the others are shared with the backup before");
    }
    if (made->removed_count > 0) {
        report_line(&report, "removed");
        report_add_number(&report, made->removed_count, "older backup");
    }
    code = print(&report, err);
    report_release(&report);
    return code;
}

static enum session_exit
run_backup(struct session *session, const struct arguments *arguments)
{
    enum session_exit status = SESSION_FINE;
    struct colander_backup made;
    struct colander_error err;
    uint64_t keep_count = 0;
    enum colander_code code =
        arguments_number(arguments, "keep", &keep_count, &err);

    if (code == COLANDER_OK && arguments_has(arguments, "keep") &&
        keep_count == 0)
        code = COLANDER_FAIL(&err, COLANDER_INVALID,
                             "--keep must be 1 or more: the new one stays");
    if (code != COLANDER_OK)
        return session_misused(session, &err);
    interrupt_ends_program();
    code = session_open(session, arguments->words[0], COLANDER_OPEN_READ_ONLY,
                        &err);
    if (code == COLANDER_OK)
        code = colander_store_backup(session->store, arguments->words[1],
                                     keep_count, &made, &err);
    if (code == COLANDER_OK)
        code = tell_backup(&made, &err);
    if (code != COLANDER_OK)
        status = session_fail(session, &err);
    if (session_close(session, &err) != COLANDER_OK && status == SESSION_FINE)
        status = session_fail(session, &err);
    return status;
}

static const struct argument_option backup_options[] = {
    {"keep", true, false},
    {NULL, false, false},
};

static const char backup_help[] =
    "Copies all that STORE has into a new backup in DIR: DIR/000001, then\n"
    "DIR/000002, and so on. Files that the backup before has already are "
    "links\n"
    "to its own, so a backup takes the time and the space of what is new. "
    "Each\n"
    "is a store by itself: find, check, export and shell --readonly take it "
    "as\n"
    "it is, and any of them can be removed. What is copied is read again; of "
    "a\n"
    "damaged store no backup is made, and the exit code is 4. What is shared\n"
    "is not read again: check DIR/000002 does, for files that go bad later.\n"
    "\n"
    "Nobody may have the store open for writing; a program that does makes\n"
    "backups itself, while it writes: colander_store_backup, store:backup.\n"
    "\n"
    "options:\n"
    "  --keep N  when it is made, removes the oldest in DIR until N are left\n";

const struct command command_backup = {
    "backup",
    "STORE DIR [--keep N]",
    "copies a store, but for what the last backup has",
    backup_help,
    COMMAND_OPENS,
    backup_options,
    2,
    2,
    SIZE_MAX,
    run_backup,
};

/* ------------------------------------------------------------- restore --- */

static enum colander_code
tell_restored(const struct colander_backup *restored,
              struct colander_error *err)
{
    struct report report = REPORT_EMPTY;
    enum colander_code code;

    report_line(&report, "restored");
    if (restored->number != 0)
        report_add(&report, "backup %06llu, ",
                   (unsigned long long)restored->number);
    add_files(&report, restored->file_count, restored->size);
    code = print(&report, err);
    report_release(&report);
    return code;
}

static enum session_exit
run_restore(struct session *session, const struct arguments *arguments)
{
    struct colander_backup restored;
    struct colander_error err;
    uint64_t number = 0;
    enum colander_code code =
        arguments_number(arguments, "number", &number, &err);

    if (code == COLANDER_OK && arguments_has(arguments, "number") &&
        number == 0)
        code = COLANDER_FAIL(&err, COLANDER_INVALID,
                             "backups are numbered from 1 on");
    if (code != COLANDER_OK)
        return session_misused(session, &err);
    interrupt_ends_program();
    code = colander_backup_restore(arguments->words[0], number,
                                   arguments->words[1], &restored, &err);
    if (code == COLANDER_OK)
        code = tell_restored(&restored, &err);
    return code == COLANDER_OK ? SESSION_FINE : session_fail(session, &err);
}

static const struct argument_option restore_options[] = {
    {"number", true, false},
    {NULL, false, false},
};

static const char restore_help[] =
    "Makes the store STORE, which must not be there yet, of the newest backup\n"
    "in DIR. DIR may also be a store itself, such as one backup: DIR/000002.\n"
    "What was copied is read again: if a file is damaged or missing, it is\n"
    "named, no store is made, and the exit code is 4. A restore that did not\n"
    "come to its end is begun anew by the next.\n"
    "\n"
    "options:\n"
    "  --number N  backup N, and not the newest\n";

const struct command command_restore = {
    "restore",
    "DIR STORE [--number N]",
    "makes a store of a backup",
    restore_help,
    COMMAND_OPENS,
    restore_options,
    2,
    2,
    SIZE_MAX,
    run_restore,
};
