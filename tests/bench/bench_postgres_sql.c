/*
 * What PostgreSQL is told and asked about rows of jsonb.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_postgres_sql.h"
#include "bench_scalars.h"

#define COLUMNS_MAX 32 /* of an index */
#define BLOOM_BITS 32  /* of a signature for each column, of which 4 are set */
#define BLOOM_BITS_MIN 80

/* Any depth, also in arrays. */
#define ANYWHERE                                                               \
    "jsonb_path_exists(doc, '$.** ? (@ == $v)', "                              \
    "jsonb_build_object('v', $1::text))"

/* The text at a path without arrays. */
static void
add_text(struct bench_statement *statement, const char *path)
{
    size_t size = strcspn(path, BENCH_PATH_MARKS);

    bench_statement_add(statement, "(doc");
    for (; path[size] != '\0'; size = strcspn(path, BENCH_PATH_MARKS)) {
        bench_statement_add(statement, "->'");
        bench_statement_add_quoted(statement, path, size);
        bench_statement_add(statement, "'");
        path += size + 1;
    }
    bench_statement_add(statement, "->>'");
    bench_statement_add_quoted(statement, path, size);
    bench_statement_add(statement, "')");
}

/* ------------------------------------------------------------- indexes --- */

/* They fit one signature, and can be asked one by one. */
static bool
has_few_columns(const struct bench_work *work)
{
    return !work->has_arrays && work->path_count <= COLUMNS_MAX;
}

static void
add_bloom(struct bench_statement *statement, const char *const *paths,
          size_t count)
{
    const size_t bits = count * BLOOM_BITS;

    bench_statement_add(statement, "CREATE EXTENSION IF NOT EXISTS bloom;"
                                   "CREATE INDEX ON rows USING bloom (");
    for (size_t i = 0; i < count; i++) {
        bench_statement_add(statement, i == 0 ? "" : ", ");
        add_text(statement, paths[i]);
    }
    bench_statement_add(statement, ") WITH (length = %zu",
                        bits < BLOOM_BITS_MIN ? BLOOM_BITS_MIN : bits);
    for (size_t i = 0; i < count; i++)
        bench_statement_add(statement, ", col%zu = 4", i + 1);
    bench_statement_add(statement, ");");
}

void
bench_postgres_add_index(struct bench_statement *statement,
                         enum bench_postgres_way way, const char *column)
{
    const bool is_brin = way == BENCH_POSTGRES_BRIN;

    if (way == BENCH_POSTGRES_BLOOM) {
        add_bloom(statement, &column, 1);
        return;
    }
    bench_statement_add(statement, "CREATE INDEX ON rows USING %s (",
                        is_brin ? "brin" : "btree");
    add_text(statement, column);
    bench_statement_add(statement, "%s);", is_brin ? " text_bloom_ops" : "");
}

/* Where there are too many columns for one signature, each column asked about
 * gets one of its own. */
void
bench_postgres_add_indexes(struct bench_statement *statement,
                           enum bench_postgres_way way,
                           const struct bench_work *work)
{
    switch (way) {
    case BENCH_POSTGRES_SCAN:
        return;
    case BENCH_POSTGRES_GIN:
        bench_statement_add(
            statement, "CREATE INDEX ON rows USING gin (doc jsonb_path_ops);");
        return;
    case BENCH_POSTGRES_BLOOM:
        if (has_few_columns(work)) {
            add_bloom(statement, (const char *const *)work->paths,
                      work->path_count);
            return;
        }
        bench_postgres_add_index(statement, way, work->other);
        break;
    default:
        break;
    }
    bench_postgres_add_index(statement, way, work->chosen);
}

bool
bench_postgres_has_index(enum bench_postgres_way way,
                         const struct bench_work *work, const char *column)
{
    const bool is_bloom = way == BENCH_POSTGRES_BLOOM;

    if (way == BENCH_POSTGRES_GIN || (is_bloom && has_few_columns(work)))
        return true;
    if (way == BENCH_POSTGRES_SCAN || column == NULL)
        return false;
    return strcmp(column, work->chosen) == 0 ||
           (is_bloom && strcmp(column, work->other) == 0);
}

/* ----------------------------------------------------------- questions --- */

/* The document that has nothing but the value, at the path. Each name opens a
 * map, each element an array; they are closed in turn.
 * NOLINTNEXTLINE(misc-no-recursion) */
static void
add_document(struct bench_statement *statement, const char *path)
{
    const size_t size = strcspn(path, BENCH_PATH_MARKS);

    if (*path == '\0') {
        bench_statement_add(statement, "$1::text");
        return;
    }
    if (*path == BENCH_PATH_MEMBER) {
        add_document(statement, path + 1);
        return;
    }
    if (*path == BENCH_PATH_ELEMENT) {
        bench_statement_add(statement, "jsonb_build_array(");
        add_document(statement, path + 1);
    } else {
        bench_statement_add(statement, "jsonb_build_object('");
        bench_statement_add_quoted(statement, path, size);
        bench_statement_add(statement, "', ");
        add_document(statement, path + size);
    }
    bench_statement_add(statement, ")");
}

static void
add_contained(struct bench_statement *statement, const char *path)
{
    bench_statement_add(statement, "doc @> ");
    add_document(statement, path);
}

/* By each path, which finds by an index, and scans faster than a search at any
 * depth. Texts are looked at once more, as a number may have the same text as
 * a string. */
static void
add_each(struct bench_statement *statement, enum bench_postgres_way way,
         const struct bench_work *work)
{
    bench_statement_add(statement, "(");
    for (size_t i = 0; i < work->path_count; i++) {
        bench_statement_add(statement, i == 0 ? "" : " OR ");
        if (way == BENCH_POSTGRES_GIN) {
            add_contained(statement, work->paths[i]);
        } else {
            add_text(statement, work->paths[i]);
            bench_statement_add(statement, " = $1");
        }
    }
    bench_statement_add(statement, ")");
    if (way != BENCH_POSTGRES_GIN)
        bench_statement_add(statement, " AND " ANYWHERE);
}

void
bench_postgres_add_question(struct bench_statement *statement,
                            enum bench_postgres_way way,
                            const struct bench_work *work, const char *column)
{
    bench_statement_add(statement, "SELECT doc FROM rows WHERE ");
    if (column == NULL &&
        (way == BENCH_POSTGRES_GIN || has_few_columns(work))) {
        add_each(statement, way, work);
    } else if (column == NULL) {
        bench_statement_add(statement, ANYWHERE);
    } else if (way == BENCH_POSTGRES_GIN) {
        add_contained(statement, column);
    } else {
        add_text(statement, column);
        bench_statement_add(statement, " = $1");
    }
}
