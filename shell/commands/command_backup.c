/*
 * The commands backup, backups and restore: copies of a store, and stores from
 * them.
 *
 * SPDX-License-Identifier: MIT
 */
#ifdef COLANDER_CLUSTER
#include "cluster/cluster.h"
#endif
#include "shell/command.h"
#include "shell/interrupt.h"
#include "shell/report.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static bool
is_address(const char *word)
{
#ifdef COLANDER_CLUSTER
    return cluster_is_address(word);
#else
    (void)word;
    return false;
#endif
}

static enum colander_code
print_backup(const struct session *session,
             const struct colander_backup *backup, const char *to,
             struct colander_error *err)
{
    struct report report = REPORT_EMPTY;

    session_add_fact(session, "backup", backup->number);
    session_add_fact(session, "files", backup->file_count);
    session_add_fact(session, "bytes", backup->size);
    session_add_fact(session, "copied_files", backup->copied_count);
    session_add_fact(session, "copied_bytes", backup->copied_size);
    session_add_fact(session, "removed", backup->removed_count);

    report_line(&report, "backup", "%06llu, %s of %s",
                (unsigned long long)backup->number,
                NUMBER_OF(backup->file_count, "file"), SIZE_OF(backup->size));
    report_line(&report, "copied", "%s of %s",
                NUMBER_OF(backup->copied_count, "file"),
                SIZE_OF(backup->copied_size));
    if (backup->copied_count < backup->file_count)
        report_add(&report, is_address(to)
                                ? ", the others were there already"
                                : ", the others are shared with the previous "
                                  "backup");
    if (backup->removed_count > 0)
        report_line(&report, "removed", "%s",
                    NUMBER_OF(backup->removed_count, "older backup"));
    return report_print(&report, session_out(session), err);
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

/* Makes `to` absolute, so that errors say the same wherever it runs. */
static enum colander_code
find_place(const char *to, char **place, struct colander_error *err)
{
    char *here = is_address(to) || to[0] == '/' || to[0] == '\0'
                     ? NULL
                     : getcwd(NULL, 0);

    if (here == NULL)
        *place = strdup(to);
    else if (asprintf(place, "%s/%s", here, to) < 0)
        *place = NULL;
    free(here);
    return *place != NULL
               ? COLANDER_OK
               : COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a path");
}

/* ------------------------------------------- what clients may have made --- */

#ifdef COLANDER_CLUSTER
static enum colander_code
count_one(void *context, const struct cluster_backup *backup,
          struct colander_error *err)
{
    uint64_t *count = context;

    (void)backup;
    (void)err;
    ++*count;
    return COLANDER_OK;
}
#endif

/* Counts the backups that are there. A place that is not there has none. */
static enum colander_code
count_backups(const char *to, uint64_t *count, struct colander_error *err)
{
    const struct dirent *entry;
    DIR *directory;

    *count = 0;
#ifdef COLANDER_CLUSTER
    if (is_address(to)) {
        enum colander_code code = cluster_list(to, NULL, count_one, count, err);

        return code == COLANDER_NOT_FOUND ? COLANDER_OK : code;
    }
#endif
    directory = opendir(to);
    if (directory == NULL && errno == ENOENT)
        return COLANDER_OK;
    if (directory == NULL)
        return COLANDER_FAIL(err, COLANDER_IO, "cannot read '%s': %s", to,
                             strerror(errno));
    while ((entry = readdir(directory)) != NULL)
        *count += isdigit((unsigned char)entry->d_name[0]) != 0;
    (void)closedir(directory);
    return COLANDER_OK;
}

/* Clients from elsewhere add backups where the server was told, up to a number,
 * and remove none. Those of this machine say where from the root. */
static enum colander_code
check_client(const struct session_client *client, const char *to,
             uint64_t keep_count, struct colander_error *err)
{
    uint64_t count = 0;
    enum colander_code code;

    if (client == NULL)
        return COLANDER_OK;
    if (client->is_local)
        return to[0] == '/' || is_address(to)
                   ? COLANDER_OK
                   : COLANDER_FAIL(err, COLANDER_INVALID,
                                   "'%s' is neither an absolute path nor an "
                                   "address",
                                   to);
    if (client->backup_to == NULL || strcmp(client->backup_to, to) != 0)
        return COLANDER_FAIL(
            err, COLANDER_READ_ONLY,
            "backups for clients of an address go where the server was told by "
            "--backup-to: %s",
            client->backup_to == NULL ? "nowhere" : client->backup_to);
    if (keep_count > 0)
        return COLANDER_FAIL(err, COLANDER_READ_ONLY,
                             "only clients of the socket remove backups");
    code = count_backups(to, &count, err);
    return code == COLANDER_OK && count >= client->backup_max
               ? COLANDER_FAIL(err, COLANDER_READ_ONLY,
                               "the server was told by --backup-max to have no "
                               "more than %s there: remove old ones",
                               NUMBER_OF(client->backup_max, "backup"))
               : code;
}

static enum colander_code
back_up(struct colander_store *store, const char *to, uint64_t keep_count,
        struct colander_backup *backup, struct colander_error *err)
{
#ifdef COLANDER_CLUSTER
    if (is_address(to))
        return cluster_backup(
            store, to,
            &(struct cluster_backup_options){.keep_count = keep_count}, backup,
            err);
#endif
    return colander_store_backup(store, to, keep_count, backup, err);
}

static enum session_exit
run_backup(struct session *session, const struct arguments *arguments)
{
    struct colander_backup backup;
    struct colander_error err;
    uint64_t keep_count = 0;
    char *to = NULL;
    enum colander_code code;

    if (session->cluster != NULL)
        return session_complain(session, SESSION_FAILED,
                                "nodes make the backups of a cluster, its "
                                "checkpoints, by themselves: 'colander cluster "
                                "status' shows them");
    if (read_positive(arguments, "keep", ", the new backup", &keep_count,
                      &err) != COLANDER_OK)
        return session_misused(session, &err);
    code = check_client(session->client, arguments->words[0], keep_count, &err);
    if (code == COLANDER_OK)
        code = find_place(arguments->words[0], &to, &err);
    if (code == COLANDER_OK)
        code = back_up(session->store, to, keep_count, &backup, &err);
    if (code == COLANDER_OK)
        code = print_backup(session, &backup, to, &err);
    free(to);
    return code == COLANDER_OK ? SESSION_FINE : session_fail(session, &err);
}

static const struct argument_option backup_options[] = {
    OPTION("keep", "N",
           "afterwards, remove the oldest backups there until N\n"
           "are left"),
    OPTIONS_END,
};

const struct command command_backup = {
    .name = "backup",
    .words = "DIR|ADDRESS [--keep N]",
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
        "ADDRESS is s3://BUCKET/PREFIX or file:///PATH: files are objects\n"
        "there, named by their content, and only those are sent that are new.\n"
        "An address is for the backups of one store.\n"
        "The server and the keys are those of other programs for S3:\n"
        "AWS_ENDPOINT_URL, AWS_ACCESS_KEY_ID, ~/.aws/config and so on.\n"
        "\n"
        "If a program has the store open, it must be a server, which makes\n"
        "it; others make backups themselves: store:backup in Lua. For the\n"
        "address of a server (http://...), DIR|ADDRESS is that of its option\n"
        "--backup-to, and --keep is not for others.\n",
    .examples = "  colander backup data backups\n"
                "  colander backup data backups --keep 7\n"
                "  colander backup data s3://backups/data --keep 7\n",
    .options = backup_options,
    .store = COMMAND_READS_WHOLE,
    .word_count_min = 1,
    .run = run_backup,
};

#ifdef COLANDER_CLUSTER
struct listing {
    struct report report;
    bool is_damaged;
};

static enum colander_code
add_backup(void *context, const struct cluster_backup *backup,
           struct colander_error *err)
{
    struct listing *listing = context;
    const time_t made = (time_t)backup->made;
    char label[32];
    char text[32];
    struct tm utc;

    (void)err;
    (void)gmtime_r(&made, &utc);
    (void)strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc);
    (void)snprintf(label, sizeof(label), "%06llu",
                   (unsigned long long)backup->number);
    report_line(&listing->report, label, "%s, ", text);
    if (backup->problem == NULL)
        report_add(&listing->report, "%s of %s",
                   NUMBER_OF(backup->file_count, "file"),
                   SIZE_OF(backup->size));
    else
        report_add(&listing->report, "%s", backup->problem);
    listing->is_damaged = listing->is_damaged || backup->problem != NULL;
    return COLANDER_OK;
}

static enum session_exit
run_backups(struct session *session, const struct arguments *arguments)
{
    struct listing listing = {.report = REPORT_EMPTY};
    struct colander_error err;
    enum colander_code code;

    interrupt_ends_program();
    if (!is_address(arguments->words[0]))
        code = COLANDER_FAIL(&err, COLANDER_INVALID,
                             "'%s' is neither file:///PATH nor "
                             "s3://BUCKET/PREFIX: backups in a directory are "
                             "listed by ls",
                             arguments->words[0]);
    else
        code =
            cluster_list(arguments->words[0], NULL, add_backup, &listing, &err);
    if (code == COLANDER_OK)
        code = report_print(&listing.report, stdout, &err);
    else
        report_release(&listing.report);
    if (code != COLANDER_OK)
        return session_fail(session, &err);
    return listing.is_damaged ? SESSION_DAMAGED : SESSION_FINE;
}

static const struct argument_option backups_options[] = {OPTIONS_END};

const struct command command_backups = {
    .name = "backups",
    .words = "ADDRESS",
    .summary = "list the backups at an address",
    .help =
        "Lists the backups that colander backup has made at ADDRESS, the\n"
        "oldest first: the number, when it was made, and the files of the\n"
        "store. One whose list is damaged is named, and the exit status is\n"
        "4. Backups in a directory are listed by ls.\n",
    .examples = "  colander backups s3://backups/data\n",
    .options = backups_options,
    .store = COMMAND_OPENS,
    .word_count_min = 1,
    .run = run_backups,
};
#endif

static enum colander_code
restore(const char *from, uint64_t number, const char *path,
        struct colander_backup *restored, struct colander_error *err)
{
#ifdef COLANDER_CLUSTER
    if (is_address(from))
        return cluster_restore(from, number, path, NULL, restored, err);
#endif
    return colander_backup_restore(from, number, path, restored, err);
}

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
    code = restore(arguments->words[0], number, arguments->words[1], &restored,
                   &err);
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
    .words = "DIR|ADDRESS STORE [--number N]",
    .summary = "create a store from a backup",
    .help =
        "Creates the store STORE, which must not exist yet, from the newest\n"
        "backup in DIR. DIR may also be a store, such as one backup. ADDRESS\n"
        "is one that colander backup takes; colander backups lists what is\n"
        "there.\n"
        "\n"
        "Copied files are read again. If one is damaged or missing, restore\n"
        "names it and creates no store, and the exit status is 4. A restore\n"
        "that was stopped can be started again.\n",
    .examples = "  colander restore backups data\n"
                "  colander restore s3://backups/data data --number 2\n"
                "  colander restore backups/000002 data\n",
    .options = restore_options,
    .store = COMMAND_OPENS,
    .word_count_min = 2,
    .run = run_restore,
};
