/*
 * What files a damaged store has, and what is known of each.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/salvage/salvage_inside.h"

#include "core/files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define FAMILY_PREFIX "family/"

/* ------------------------------------------------------------- MANIFEST --- */

/* The number of a MANIFEST; 0: it is none. */
static uint64_t
number_of_manifest(const char *name)
{
    uint64_t number = 0;
    char back[SALVAGE_NAME_SIZE];

    if (strncmp(name, "MANIFEST-", 9) == 0)
        number = strtoull(name + 9, NULL, 10);
    (void)snprintf(back, sizeof(back), "MANIFEST-%06" PRIu64, number);
    return strcmp(back, name) == 0 ? number : 0;
}

/* The number of the MANIFEST that CURRENT names; 0: none that is there. */
static uint64_t
read_current(const struct salvage *salvage)
{
    const int fd = openat(salvage->engine_fd, "CURRENT",
                          O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    char name[SALVAGE_NAME_SIZE] = "";
    ssize_t size;

    if (fd < 0)
        return 0;
    size = pread(fd, name, sizeof(name) - 1, 0);
    (void)close(fd);
    if (size < 2 || name[size - 1] != '\n')
        return 0;
    name[size - 1] = '\0';
    if (faccessat(salvage->engine_fd, name, F_OK, 0) != 0)
        return 0;
    return number_of_manifest(name);
}

static enum colander_code
note_newest(void *context, int directory, const char *name,
            struct colander_error *err)
{
    uint64_t *newest = context;
    const uint64_t number = number_of_manifest(name);

    (void)directory;
    (void)err;
    if (number > *newest)
        *newest = number;
    return COLANDER_OK;
}

/* The MANIFEST that counts: CURRENT's, or else the newest. 0: none is there. */
static enum colander_code
choose_manifest(struct salvage *salvage, uint64_t *number,
                struct colander_error *err)
{
    enum colander_code code;

    *number = read_current(salvage);
    if (*number != 0)
        return COLANDER_OK;
    code = files_visit(salvage->engine_fd, ".", note_newest, number, err);
    if (code == COLANDER_OK && *number != 0)
        salvage_lose(salvage, salvage_rows_of(salvage, SALVAGE_UNKNOWN),
                     DIRECTORY_ENGINE "/CURRENT",
                     "it names no MANIFEST that is there; MANIFEST-%06" PRIu64
                     " is taken",
                     *number);
    return code;
}

/* Whether the ledger knows more of the MANIFEST than can be read of it. */
static bool
has_lost_its_end(struct salvage *salvage, uint64_t number)
{
    struct ledger_entry noted = ledger_found(salvage->ledger, LEDGER_MANIFEST,
                                             number, salvage->versions.whole);

    return salvage->versions.whole < ledger_least(salvage->ledger, &noted);
}

static enum colander_code
read_manifest(struct salvage *salvage, struct colander_error *err)
{
    struct version_log *versions = &salvage->versions;
    char name[SALVAGE_NAME_SIZE];
    enum colander_code code;
    uint64_t number;

    code = choose_manifest(salvage, &number, err);
    if (code != COLANDER_OK)
        return code;
    (void)snprintf(name, sizeof(name), "MANIFEST-%06" PRIu64, number);
    code = version_log_read(versions, salvage->engine_fd, name, err);
    if (code != COLANDER_OK && code != COLANDER_NOT_FOUND &&
        code != COLANDER_IO)
        return code;
    if (code == COLANDER_OK && has_lost_its_end(salvage, number))
        versions->is_whole = false;
    (void)snprintf(name, sizeof(name), DIRECTORY_ENGINE "/MANIFEST-%06" PRIu64,
                   number);
    if (!versions->is_whole)
        salvage_lose(salvage, salvage_rows_of(salvage, SALVAGE_UNKNOWN), name,
                     "it cannot be read to its end: SST files are taken that "
                     "may have been replaced, so deleted rows may be back");
    return COLANDER_OK;
}

/* -------------------------------------------------------------- families ---
 */

/* The name that users know, of a column family; NULL: not theirs. */
static const char *
user_name(const char *name)
{
    const size_t size = sizeof(FAMILY_PREFIX) - 1;

    return strncmp(name, FAMILY_PREFIX, size) == 0 ? name + size : NULL;
}

static enum colander_code
add_known_families(struct salvage *salvage, struct colander_error *err)
{
    const struct version_log *versions = &salvage->versions;
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < versions->family_count && code == COLANDER_OK; i++) {
        const struct version_family *family = &versions->families[i];
        const char *name = user_name(family->name);

        if (name != NULL && !family->is_dropped)
            code = salvage_add_family(salvage, family->id, name, err);
    }
    return code;
}

/* The family of a file that nothing knows but itself. */
static enum colander_code
add_family_of(struct salvage *salvage, const struct table_head *head,
              struct colander_error *err)
{
    enum colander_code code;
    const char *name;
    char *text;

    if (!head->is_known || head->family == 0 ||
        version_log_family(&salvage->versions, head->family) != NULL)
        return COLANDER_OK;
    text =
        strndup((const char *)head->family_name.data, head->family_name.size);
    if (text == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY, "no memory for a family");
    name = user_name(text);
    code = name == NULL ? COLANDER_OK
                        : salvage_add_family(salvage, head->family, name, err);
    free(text);
    return code;
}

/* --------------------------------------------------------------- tables --- */

/* The number of an SST; 0: it is none. */
static uint64_t
number_of_table(const char *name)
{
    const uint64_t number = strtoull(name, NULL, 10);
    char back[SALVAGE_NAME_SIZE];

    (void)snprintf(back, sizeof(back), "%06" PRIu64 ".sst", number);
    return strcmp(back, name) == 0 ? number : 0;
}

/* Finds the first key of a file that is open. *has_one: there is one. */
static enum colander_code
find_first_key(struct table_file *file, struct colander_buffer *key,
               bool *has_one, struct colander_error *err)
{
    enum table_step step = TABLE_GAP;
    enum colander_code code = COLANDER_OK;
    struct table_entry entry;
    struct table_gap gap;

    while (code == COLANDER_OK && step == TABLE_GAP)
        code = table_file_next(file, &step, &entry, &gap, err);
    *has_one = code == COLANDER_OK && step == TABLE_ENTRY;
    if (*has_one)
        code = colander_buffer_append(key, entry.key.data, entry.key.size, err);
    return code;
}

/* Tells that the rows of a file of the MANIFEST are not there. */
static void
lose_table(const struct salvage *salvage, const struct version_table *table,
           const char *why)
{
    struct salvage_loss rows = salvage_rows_of(salvage, table->family);
    char name[SALVAGE_NAME_SIZE];

    (void)snprintf(name, sizeof(name), DIRECTORY_ENGINE "/%06" PRIu64 ".sst",
                   table->number);
    rows.after = colander_buffer_slice(&table->smallest);
    rows.is_from = true;
    rows.until = colander_buffer_slice(&table->largest);
    salvage_lose(salvage, rows, name, "%s", why);
}

/* Whether a file, of which at least the end is whole, is not the one that the
 * MANIFEST has under its number. What was written beside the database knows no
 * number, but each such file is of another session. */
static bool
is_another(const struct version_table *known, const struct salvage_table *table,
           const struct table_file *file)
{
    const struct table_head *head = table_file_head(file);
    const struct colander_slice key = colander_buffer_slice(&table->first_key);

    if (!head->is_known)
        return false;
    if (head->family != known->family ||
        (head->session != 0 && known->session != 0 &&
         head->session != known->session))
        return true;
    if (!head->is_external && head->number != 0)
        return head->number != table->number;
    return table_file_size(file) != known->size ||
           (table->has_rows &&
            (colander_slice_compare(
                 key, colander_buffer_slice(&known->smallest)) < 0 ||
             colander_slice_compare(
                 key, colander_buffer_slice(&known->largest)) > 0));
}

/* Tells of a file that stands in the place of another: those rows are not
 * there, and its own may have been replaced. */
static void
lose_to_another(const struct salvage *salvage,
                const struct version_table *known,
                const struct salvage_table *table)
{
    struct salvage_loss rows = salvage_rows_of(salvage, table->family);
    char name[SALVAGE_NAME_SIZE];

    lose_table(salvage, known, "it is not the file that was written");
    if (rows.family == NULL)
        return;
    (void)snprintf(name, sizeof(name), DIRECTORY_ENGINE "/%06" PRIu64 ".sst",
                   table->number);
    salvage_lose(salvage, rows, name, "another file is in its place");
}

/* Notes a file that is open. */
static enum colander_code
note_table(struct salvage *salvage, struct salvage_table *table,
           struct table_file *file, struct colander_error *err)
{
    const struct table_head *head = table_file_head(file);
    const struct version_table *known =
        version_log_table(&salvage->versions, table->number);
    enum colander_code code = add_family_of(salvage, head, err);

    table->family = head->is_known  ? head->family
                    : known != NULL ? known->family
                                    : SALVAGE_UNKNOWN;
    if (code == COLANDER_OK)
        code = find_first_key(file, &table->first_key, &table->has_rows, err);
    if (code != COLANDER_OK || known == NULL)
        return code;
    if (is_another(known, table, file))
        lose_to_another(salvage, known, table);
    else
        table->external_sequence = known->only_sequence;
    return COLANDER_OK;
}

static enum colander_code
add_table(struct salvage *salvage, uint64_t number, struct colander_error *err)
{
    struct salvage_table table = {.number = number};
    struct table_file *file = NULL;
    struct salvage_table *grown;
    char name[SALVAGE_NAME_SIZE];
    enum colander_code code;

    grown =
        realloc(salvage->tables, (salvage->table_count + 1) * sizeof(*grown));
    if (grown == NULL)
        return COLANDER_FAIL(err, COLANDER_NO_MEMORY,
                             "no memory for SST files");
    salvage->tables = grown;
    (void)snprintf(name, sizeof(name), "%06" PRIu64 ".sst", number);
    code = table_file_open(salvage->engine_fd, name, &file, err);
    if (code == COLANDER_OK)
        code = note_table(salvage, &table, file, err);
    table_file_close(file);
    if (code != COLANDER_OK) {
        colander_buffer_release(&table.first_key);
        return code;
    }
    salvage->tables[salvage->table_count++] = table;
    return COLANDER_OK;
}

/* All that the MANIFEST has. */
static enum colander_code
add_live_tables(struct salvage *salvage, struct colander_error *err)
{
    const struct version_log *versions = &salvage->versions;
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < versions->table_count && code == COLANDER_OK; i++) {
        const struct version_table *table = &versions->tables[i];
        const struct version_family *family =
            version_log_family(versions, table->family);
        struct colander_error why;

        if (!table->is_live || family == NULL || family->is_dropped ||
            user_name(family->name) == NULL)
            continue;
        code = add_table(salvage, table->number, &why);
        if (code == COLANDER_NOT_FOUND)
            lose_table(salvage, table, "it is missing");
        else if (code == COLANDER_CORRUPT)
            lose_table(salvage, table, why.message);
        else if (code != COLANDER_OK)
            return COLANDER_FAIL(err, code, "%s", why.message);
        code = COLANDER_OK;
    }
    return code;
}

static enum colander_code
add_if_not_removed(void *context, int directory, const char *name,
                   struct colander_error *err)
{
    struct salvage *salvage = context;
    const uint64_t number = number_of_table(name);
    const struct version_table *known =
        version_log_table(&salvage->versions, number);
    struct colander_error why;
    char path[SALVAGE_NAME_SIZE];
    enum colander_code code;

    (void)directory;
    if (number == 0 || (known != NULL && !known->is_live))
        return COLANDER_OK;
    code = add_table(salvage, number, &why);
    if (code == COLANDER_OK)
        return COLANDER_OK;
    if (code != COLANDER_CORRUPT && code != COLANDER_NOT_FOUND)
        return COLANDER_FAIL(err, code, "%s", why.message);
    (void)snprintf(path, sizeof(path), DIRECTORY_ENGINE "/%06" PRIu64 ".sst",
                   number);
    salvage_lose(salvage, salvage_rows_of(salvage, SALVAGE_UNKNOWN), path, "%s",
                 why.message);
    return COLANDER_OK;
}

static int
compare_tables(const void *a, const void *b)
{
    const struct salvage_table *one = a;
    const struct salvage_table *other = b;

    return colander_slice_compare(colander_buffer_slice(&one->first_key),
                                  colander_buffer_slice(&other->first_key));
}

enum colander_code
salvage_find_files(struct salvage *salvage, struct colander_error *err)
{
    enum colander_code code = read_manifest(salvage, err);

    if (code == COLANDER_OK)
        code = add_known_families(salvage, err);
    if (code == COLANDER_OK && salvage->versions.is_whole)
        code = add_live_tables(salvage, err);
    else if (code == COLANDER_OK)
        code = files_visit(salvage->engine_fd, ".", add_if_not_removed, salvage,
                           err);
    for (size_t i = 0; i < salvage->table_count && code == COLANDER_OK; i++) {
        if (salvage->tables[i].family == SALVAGE_UNKNOWN)
            code =
                salvage_add_nameless(salvage, SALVAGE_UNKNOWN, "unknown", err);
    }
    if (code == COLANDER_OK && salvage->table_count > 1)
        qsort(salvage->tables, salvage->table_count, sizeof(*salvage->tables),
              compare_tables);
    return code;
}
