/*
 * The command check: reads a whole store, and reports damage.
 *
 * SPDX-License-Identifier: MIT
 */
#ifdef COLANDER_CLUSTER
#include "cluster/cluster.h"
#include "cluster/definition.h"
#endif
#include "shell/command.h"
#include "shell/interrupt.h"
#include "shell/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static enum colander_code
check_store(struct session *session, bool repairs, struct colander_check *check,
            struct colander_error *err)
{
    enum colander_code code = colander_store_check(
        session->store, check, report_finding, session, err);

#ifdef COLANDER_FILTERS
    if (code == COLANDER_OK)
        code = colander_store_check_filters(session->store, repairs, check,
                                            report_finding, session, err);
#else
    (void)repairs;
#endif
    return code;
}

static enum colander_code
print_summary(const struct session *session, const struct colander_check *check,
              struct colander_error *err)
{
    struct report report = REPORT_EMPTY;

    report_line(&report, "checked", "%s of %s (%s)",
                NUMBER_OF(check->file_count, "SST file"),
                NUMBER_OF(check->row_count, "row"), SIZE_OF(check->byte_count));
#ifdef COLANDER_FILTERS
    report_add(&report, ", %s for %s", NUMBER_OF(check->filter_count, "filter"),
               NUMBER_OF(check->value_count, "value"));
#endif
    report_line(&report, "found", "%s",
                check->finding_count == 0
                    ? "nothing wrong"
                    : NUMBER_OF(check->finding_count, "damaged file"));
    if (check->repaired_count > 0)
        report_add(&report, ", %s repaired", THOUSANDS(check->repaired_count));
    if (check->leftover_count > 0)
        report_add(&report,
                   ", %s of unfinished writes: the next open for writing "
                   "removes or rebuilds them",
                   NUMBER_OF(check->leftover_count, "leftover"));
    return report_print(&report, session_out(session), err);
}

#ifdef COLANDER_CLUSTER
/* Backups at an address: of a store, or of the partitions of a cluster. */
struct object_check {
    struct session *session;
    struct cluster_check sum;
    size_t family_count; /* of a cluster */
    uint32_t partition_count;
    uint32_t empty_count;             /* of them without a checkpoint */
    char folder[CLUSTER_FOLDER_SIZE]; /* of the partition that is checked */
    uint32_t partition;
};

static enum colander_code
print_objects(const struct object_check *check, bool is_cluster,
              struct colander_error *err)
{
    const struct cluster_check *sum = &check->sum;
    struct report report = REPORT_EMPTY;

    if (is_cluster)
        report_line(&report, "checked", "%s %s with %s",
                    THOUSANDS(check->family_count),
                    check->family_count == 1 ? "family" : "families",
                    NUMBER_OF(check->partition_count, "partition"));
    if (check->empty_count > 0)
        report_add(&report, ", %s of them without a checkpoint",
                   THOUSANDS(check->empty_count));
    report_line(
        &report, is_cluster ? "read" : "checked", "%s: %s of %s",
        NUMBER_OF(sum->backup_count, is_cluster ? "checkpoint" : "backup"),
        NUMBER_OF(sum->object_count, "object"), SIZE_OF(sum->size));
    report_line(&report, "found", "%s",
                sum->finding_count == 0
                    ? "nothing wrong"
                    : NUMBER_OF(sum->finding_count, "damaged object"));
    return report_print(&report, stdout, err);
}

static void
report_of_partition(void *context, const char *object, const char *what)
{
    const struct object_check *check = context;
    char *name;

    if (asprintf(&name, "partitions/%s/%04" PRIu32 "/%s", check->folder,
                 check->partition, object) < 0)
        name = NULL;
    report_finding(check->session, name != NULL ? name : object, what);
    free(name);
}

/* Checks the checkpoints of a partition, which may have none yet. */
static enum colander_code
check_partition(struct object_check *check, const struct cluster *cluster,
                struct colander_error *err)
{
    struct cluster_check found = {.finding_count = 0};
    char *address;
    enum colander_code code = cluster_partition_address(
        cluster, check->folder, check->partition, &address, err);

    if (code == COLANDER_OK)
        code = cluster_check(address, &found, report_of_partition, check, err);
    free(address);
    check->partition_count++;
    check->empty_count += code == COLANDER_NOT_FOUND;
    check->sum.backup_count += found.backup_count;
    check->sum.object_count += found.object_count;
    check->sum.size += found.size;
    check->sum.finding_count += found.finding_count;
    return code == COLANDER_NOT_FOUND ? COLANDER_OK : code;
}

static enum colander_code
check_family(struct object_check *check, struct cluster *cluster,
             const char *name, struct colander_error *err)
{
    struct cluster_family family = {.name = NULL};
    enum colander_code code = cluster_family(cluster, name, &family, err);

    if (code == COLANDER_NOT_FOUND)
        return COLANDER_OK; /* it was removed meanwhile */
    check->family_count++;
    if (code == COLANDER_CORRUPT || code == COLANDER_TOO_NEW) {
        colander_error_context(err, "its checkpoints are not read");
        report_finding(check->session, name, err->message);
        check->sum.finding_count++;
        return COLANDER_OK;
    }
    if (code == COLANDER_OK)
        (void)cluster_family_folder(&family, check->folder);
    for (check->partition = 0;
         check->partition < family.partition_count && code == COLANDER_OK;
         check->partition++)
        code = check_partition(check, cluster, err);
    cluster_family_release(&family);
    return code;
}

static enum colander_code
check_cluster(struct object_check *check, struct cluster *cluster,
              struct colander_error *err)
{
    struct cluster_texts names = {.items = NULL};
    enum colander_code code = cluster_family_names(cluster, &names, NULL, err);

    for (size_t i = 0; i < names.count && code == COLANDER_OK; i++)
        code = check_family(check, cluster, names.items[i], err);
    cluster_texts_release(&names);
    return code;
}

static enum session_exit
check_address(struct session *session, const char *address, bool repairs)
{
    struct object_check check = {.session = session};
    struct cluster *cluster = NULL;
    struct colander_error err;
    enum colander_code code;

    if (repairs)
        return session_complain(session, SESSION_USAGE,
                                "backups at an address cannot be repaired");
    code = cluster_open(address, &cluster, &err);
    if (code == COLANDER_OK)
        code = check_cluster(&check, cluster, &err);
    else if (code == COLANDER_NOT_FOUND)
        code =
            cluster_check(address, &check.sum, report_finding, session, &err);
    if (code == COLANDER_OK)
        code = print_objects(&check, cluster != NULL, &err);
    cluster_close(cluster);
    if (code != COLANDER_OK)
        return session_fail(session, &err);
    return check.sum.finding_count > 0 ? SESSION_DAMAGED : SESSION_FINE;
}
#endif

/* Checks the store that is open. */
static enum session_exit
check_open(struct session *session, bool repairs, struct colander_check *check)
{
    struct colander_error err;
    enum colander_code code = check_store(session, repairs, check, &err);

    if (code == COLANDER_OK)
        code = print_summary(session, check, &err);
    if (code != COLANDER_OK)
        return session_fail(session, &err);
    return check->finding_count > check->repaired_count ? SESSION_DAMAGED
                                                        : SESSION_FINE;
}

static bool
is_cancelled(void *context)
{
    (void)context;
    return interrupt_happened();
}

/* Checks the store of a server, which cannot lack what an open needs. */
static enum session_exit
check_for_client(struct session *session, bool repairs)
{
    struct colander_check check = {.is_cancelled = is_cancelled};

    if (repairs && session->is_read_only)
        return session_complain(session, SESSION_FAILED, "%s",
                                session_read_only(session));
    return check_open(session, repairs, &check);
}

/* Opens the store, with what a repair of it needs. */
static enum colander_code
open_store(struct session *session, const char *path, bool repairs,
           struct colander_check *check, struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    if (repairs)
        code = colander_store_repair(path, check, report_finding, session, err);
    return code == COLANDER_OK ? session_open(session, path,
                                              repairs ? COLANDER_OPEN_EXISTING
                                                      : COLANDER_OPEN_READ_ONLY,
                                              err)
                               : code;
}

static enum session_exit
run_check(struct session *session, const struct arguments *arguments)
{
    const bool repairs = arguments_has(arguments, "repair");
    const char *store = arguments->words[0];
    struct colander_check check = {.file_count = 0};
    enum session_exit status = SESSION_FINE;
    struct colander_error err;
    enum colander_code code;

    if (session->client != NULL)
        return check_for_client(session, repairs);
    interrupt_ends_program();
    if (command_is_elsewhere(store)) {
        (void)command_run_elsewhere(session, arguments, &status);
        return status;
    }
#ifdef COLANDER_CLUSTER
    if (cluster_is_address(store))
        return check_address(session, store, repairs);
#endif
    code = open_store(session, store, repairs, &check, &err);
    if (code == COLANDER_BUSY &&
        command_run_elsewhere(session, arguments, &status))
        return status;
    if (code != COLANDER_OK)
        return session_fail(session, &err);
    return session_finish(session, check_open(session, repairs, &check));
}

static const struct argument_option options[] = {
    OPTION_FLAG("repair", "rebuild what can be rebuilt without loss: value\n"
                          "filters, the record of options (with defaults),\n"
                          "CURRENT"),
    OPTIONS_END,
};

const struct command command_check = {
    .name = "check",
    .words = "STORE|ADDRESS [--repair]",
    .summary = "read the whole store, and report damage",
    .help =
        "Reads all of a store: every SST file, byte by byte and row by row;\n"
        "the logs; and every value filter, which must find every value of\n"
        "every row of its SST file. Prints a line for each damaged file;\n"
        "the exit status is then 4. Changes nothing without --repair, and\n"
        "never a row: for damaged SST files see colander salvage --help.\n"
        "\n"
        "At an ADDRESS (colander backup --help) reads every object of all\n"
        "backups, or of the checkpoints of a cluster, and prints a line for\n"
        "each that is damaged or missing. Those of before a repartition are\n"
        "not read.\n",
    .examples = "  colander check data\n"
                "  colander check s3://backups/data\n"
                "  colander check data --repair\n",
    .options = options,
    .store = COMMAND_OPENS,
    .goes_elsewhere = true,
    .word_count_min = 1,
    .run = run_check,
};
