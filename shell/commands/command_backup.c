/*
 * The commands backup and restore: copies of a store, and stores from them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shell/command.h"
#include "shell/interrupt.h"
#include "shell/report.h"

#include <stdio.h>

static enum colander_code
print_backup(const struct colander_backup *backup, struct colander_error *err)
{
    struct report report = REPORT_EMPTY;

    report_line(&report, "backup", "%06llu, %s of %s",
                (unsigned long long)backup->number,
                NUMBER_OF(backup->file_count, "file"), SIZE_OF(backup->size));
    report_line(&report, "copied", "%s of %s",
                NUMBER_OF(backup->copied_count, "file"),
                SIZE_OF(backup->copied_size));
    if (backup->copied_count < backup->file_count)
        report_add(&report, ", the others are shared with the previous backup");
    if (backup->removed_count > 0)
        report_line(&report, "removed", "%s",
                    NUMBER_OF(backup->removed_count, "older backup"));
    return report_print(&report, stdout, err);
}

static enum colander_code
print_restored(const struct colander_backup *restored,
               struct colander_error *err)
{
    struct report report = REPORT_EMPTY;

    report_line(&report, "restored", "%s", "");
    if (restored->number != 0)
        report_add(&report, "backup %06llu, ",
                   (unsigned long long)restored->number);
    report_add(&report, "%s of %s", NUMBER_OF(restored->file_count, "file"),
               SIZE_OF(restored->size));
    return report_print(&report, stdout, err);
}

/* Reads the number of an option, from 1 on; 0 if the option is missing. */
static enum colander_code
read_positive(const struct arguments *arguments, const char *name,
              const char *meaning, uint64_t *number, struct colander_error *err)
{
    enum colander_code code = arguments_number(arguments, name, number, err);

    if (code == COLANDER_OK && arguments_has(arguments, name) && *number == 0)
        code = COLANDER_FAIL(err, COLANDER_INVALID, "--%s must be at least 1%s",
                             name, meaning);
    return code;
}

static enum session_exit
run_backup(struct session *session, const struct arguments *arguments)
{
    struct colander_backup backup;
    struct colander_error err;
    uint64_t keep_count = 0;
    enum colander_code code;

    if (read_positive(arguments, "keep", ", the new backup", &keep_count,
                      &err) != COLANDER_OK)
        return session_misused(session, &err);
    code = colander_store_backup(session->store, arguments->words[0],
                                 keep_count, &backup, &err);
    if (code == COLANDER_OK)
        code = print_backup(&backup, &err);
    return code == COLANDER_OK ? SESSION_FINE : session_fail(session, &err);
}

static const struct argument_option backup_options[] = {
    OPTION("keep", "N",
           "afterwards, remove the oldest backups in DIR until\n"
           "N are left"),
    OPTIONS_END,
};

const struct command command_backup = {
    .name = "backup",
    .words = "DIR [--keep N]",
    .summary = "copy a store, except what the last backup has",
    .help =
        "Copies the store into a new backup in DIR: DIR/000001, DIR/000002,\n"
        "and so on. Files that the previous backup has are linked, so a\n"
        "backup takes time and space only for what is new. Each backup is a\n"
        "store: find, check, export and shell --readonly accept it. Any\n"
        "backup can be removed.\n"
        "\n"
        "Copied files are read again. If one is damaged, no backup is made\n"
        "and the exit status is 4. Linked files are not read again: colander\n"
        "check DIR/000002 reads them too.\n"
        "\n"
        "No other program may have the store open for writing. A program\n"
        "that writes makes backups itself: colander_store_backup,\n"
        "store:backup.\n",
    .examples = "  colander backup data backups\n"
                "  colander backup data backups --keep 7\n",
    .options = backup_options,
    .store = COMMAND_READS_WHOLE,
    .word_count_min = 1,
    .run = run_backup,
};

static enum session_exit
run_restore(struct session *session, const struct arguments *arguments)
{
    struct colander_backup restored;
    struct colander_error err;
    uint64_t number = 0;
    enum colander_code code;

    if (read_positive(arguments, "number", "", &number, &err) != COLANDER_OK)
        return session_misused(session, &err);
    interrupt_ends_program();
    code = colander_backup_restore(arguments->words[0], number,
                                   arguments->words[1], &restored, &err);
    if (code == COLANDER_OK)
        code = print_restored(&restored, &err);
    return code == COLANDER_OK ? SESSION_FINE : session_fail(session, &err);
}

static const struct argument_option restore_options[] = {
    OPTION("number", "N", "restore backup N instead of the newest"),
    OPTIONS_END,
};

const struct command command_restore = {
    .name = "restore",
    .words = "DIR STORE [--number N]",
    .summary = "create a store from a backup",
    .help =
        "Creates the store STORE, which must not exist yet, from the newest\n"
        "backup in DIR. DIR may also be a store, such as one backup.\n"
        "\n"
        "Copied files are read again. If one is damaged or missing, restore\n"
        "names it and creates no store, and the exit status is 4. A restore\n"
        "that was stopped can be started again.\n",
    .examples = "  colander restore backups data\n"
                "  colander restore backups/000002 data\n",
    .options = restore_options,
    .store = COMMAND_OPENS,
    .word_count_min = 2,
    .run = run_restore,
};
