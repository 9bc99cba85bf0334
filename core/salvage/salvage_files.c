/*
 * The MANIFEST, families and SST files of a damaged store.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/salvage/salvage_inside.h"

#include "core/array.h"
#include "core/logs.h"

#include <inttypes.h>
#include <stdlib.h>

#define FAMILY_PREFIX "family/"

/* ------------------------------------------------------------- MANIFEST --- */

/* Finds the MANIFEST: that of CURRENT, or else the newest. Sets *number to 0 if
 * there is none. */
static enum colander_code
choose_manifest(struct salvage *salvage, uint64_t *number,
                struct colander_error *err)
{
    struct files_numbers numbers = {NULL, 0, 0};
    enum colander_code code;

    if (logs_read_current(salvage->engine_fd, number, NULL) == COLANDER_OK &&
        *number != 0)
        return COLANDER_OK;
    code = files_list_numbers(salvage->engine_fd, LOGS_MANIFEST, "", &numbers,
                              err);
    if (code == COLANDER_OK && numbers.count > 0) {
        *number = numbers.list[numbers.count - 1];
        salvage_lose(
            salvage, salvage_rows_of(salvage, SALVAGE_UNKNOWN), "CURRENT",
            "it names no MANIFEST that exists; MANIFEST-%06" PRIu64 " is used",
            *number);
    }
    free(numbers.list);
    return code;
}

static enum colander_code
read_manifest(struct salvage *salvage, struct colander_error *err)
{
    struct manifest *manifest = &salvage->manifest;
    uint64_t number;
    enum colander_code code = choose_manifest(salvage, &number, err);

    if (code != COLANDER_OK)
        return code;
    code = manifest_read(manifest, salvage->engine_fd, number, salvage->ledger,
                         err);
    if (code != COLANDER_OK && code != COLANDER_NOT_FOUND &&
        code != COLANDER_IO)
        return code;
    if (!manifest->is_whole)
        salvage_lose(salvage, salvage_rows_of(salvage, SALVAGE_UNKNOWN),
                     files_name(LOGS_MANIFEST, number, "").text,
                     "it cannot be read to its end: SST files are used that "
                     "may have been replaced, so deleted rows may be back");
    return COLANDER_OK;
}

/* ------------------------------------------------------------- families --- */

/* Returns the name of a family by that of its column family. NULL: the column
 * family is not one of a family. */
static const char *
user_name(const char *name)
{
    const size_t size = sizeof(FAMILY_PREFIX) - 1;

    return strncmp(name, FAMILY_PREFIX, size) == 0 ? name + size : NULL;
}

static enum colander_code
add_known_families(struct salvage *salvage, struct colander_error *err)
{
    const struct manifest *manifest = &salvage->manifest;
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < manifest->family_count && code == COLANDER_OK; i++) {
        const struct manifest_family *family = &manifest->families[i];
        const char *name = user_name(family->name);

        if (name != NULL && !family->is_dropped)
            code = salvage_add_family(salvage, family->id, name, err);
    }
    return code;
}

/* Adds the family of a file that the MANIFEST does not know. */
static enum colander_code
add_family_of(struct salvage *salvage, const struct table_head *head,
              struct colander_error *err)
{
    enum colander_code code;
    const char *name;
    char *text;

    if (!head->is_known || head->family == 0 ||
        manifest_family(&salvage->manifest, head->family) != NULL)
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

/* Finds the first key of a file. Clears *has_one if it has none. */
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

/* Reports that the rows of a file of the MANIFEST are lost. */
static void
lose_table(const struct salvage *salvage, const struct manifest_table *table,
           const char *what)
{
    struct salvage_loss rows = salvage_rows_of(salvage, table->family);

    rows.after = colander_buffer_slice(&table->smallest);
    rows.is_from = true;
    rows.until = colander_buffer_slice(&table->largest);
    salvage_lose(salvage, rows, files_name("", table->number, ".sst").text,
                 "%s", what);
}

/* Whether a file whose properties are whole is not the one that the MANIFEST
 * has under its number. A file written outside the database has no number, but
 * each such file has another session. */
static bool
is_another(const struct manifest_table *known,
           const struct salvage_table *table, const struct table_file *file)
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

/* Reports a file in the place of another. The rows of the other are lost, and
 * its own may be outdated. */
static void
lose_to_another(const struct salvage *salvage,
                const struct manifest_table *known,
                const struct salvage_table *table)
{
    struct salvage_loss rows = salvage_rows_of(salvage, table->family);

    lose_table(salvage, known, "it is not the file that was written");
    if (rows.family != NULL)
        salvage_lose(salvage, rows, files_name("", table->number, ".sst").text,
                     "another file is in its place");
}

/* Describes an open file. */
static enum colander_code
note_table(struct salvage *salvage, struct salvage_table *table,
           struct table_file *file, struct colander_error *err)
{
    const struct table_head *head = table_file_head(file);
    const struct manifest_table *known =
        manifest_table(&salvage->manifest, table->number);
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
    enum colander_code code =
        array_reserve(&salvage->tables, salvage->table_count,
                      &salvage->table_capacity, 1, err);

    if (code == COLANDER_OK)
        code = table_file_open(salvage->engine_fd,
                               files_name("", number, ".sst").text, &file, err);
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

/* Adds a file, and reports it if that fails. `known` may be NULL. */
static enum colander_code
try_table(struct salvage *salvage, uint64_t number,
          const struct manifest_table *known, struct colander_error *err)
{
    struct colander_error error;
    enum colander_code code = add_table(salvage, number, &error);
    const char *what =
        code == COLANDER_NOT_FOUND ? "it is missing" : error.message;

    if (code == COLANDER_OK)
        return COLANDER_OK;
    if (code != COLANDER_CORRUPT && code != COLANDER_NOT_FOUND)
        return COLANDER_FAIL(err, code, "%s", error.message);
    if (known != NULL)
        lose_table(salvage, known, what);
    else
        salvage_lose(salvage, salvage_rows_of(salvage, SALVAGE_UNKNOWN),
                     files_name("", number, ".sst").text, "%s", what);
    return COLANDER_OK;
}

/* Adds all tables of a whole MANIFEST. */
static enum colander_code
add_live_tables(struct salvage *salvage, struct colander_error *err)
{
    const struct manifest *manifest = &salvage->manifest;
    enum colander_code code = COLANDER_OK;

    for (size_t i = 0; i < manifest->table_count && code == COLANDER_OK; i++) {
        const struct manifest_table *table = &manifest->tables[i];

        if (manifest_has_table(manifest, table) &&
            (table->family == SALVAGE_ITEMS ||
             user_name(manifest_family(manifest, table->family)->name) != NULL))
            code = try_table(salvage, table->number, table, err);
    }
    return code;
}

/* Adds all files that a damaged MANIFEST does not remove. */
static enum colander_code
add_found_tables(struct salvage *salvage, struct colander_error *err)
{
    struct files_numbers numbers = {NULL, 0, 0};
    enum colander_code code =
        files_list_numbers(salvage->engine_fd, "", ".sst", &numbers, err);

    for (size_t i = 0; i < numbers.count && code == COLANDER_OK; i++) {
        const struct manifest_table *known =
            manifest_table(&salvage->manifest, numbers.list[i]);

        if (known == NULL || known->is_live)
            code = try_table(salvage, numbers.list[i], NULL, err);
    }
    free(numbers.list);
    return code;
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
    if (code == COLANDER_OK && salvage->manifest.is_whole)
        code = add_live_tables(salvage, err);
    else if (code == COLANDER_OK)
        code = add_found_tables(salvage, err);
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
