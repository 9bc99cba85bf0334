/*
 * Blocks of an SST in the place of others: two blocks of one size are swapped,
 * or one is copied over the other. RocksDB's checksums do not know the place of
 * a block.
 *
 * The store has blocks of every kind that fit in the place of another kind. It
 * is copied, one placement is made, and the copy is checked, backed up,
 * restored, read and compacted. Check, backup and restore must name the file.
 * Reads and compactions are counted: what docs/reliability.md promises of them
 * is asserted. COLANDER_RUNS sets the number of placements.
 *
 * Every store is opened in a process of its own, because RocksDB may end it.
 *
 * SPDX-License-Identifier: MIT
 */
#include "support/placed_blocks.h"

#include <sys/mman.h>

/* ----------------------------------------------------------- placements --- */

struct placement {
    const struct sst_blocks *file;
    const struct sst_blocks *source; /* another file, or the same */
    const struct placed *from;
    const struct placed *to;
    bool is_swap;
};

/* What became of an operation. */
enum outcome { RIGHT, NAMED, HINTED, WRONG, ENDED, OUTCOMES };

static const char *const outcome_names[OUTCOMES] = {
    "right", "named", "an error without a name", "silently wrong",
    "ended the process"};

enum work { SCAN, BACKWARD, GET, FIND, COMPACT, WORKS };

static const char *const work_names[WORKS] = {"scan", "scan backward", "get",
                                              "find", "compact"};

struct moving {
    struct base *bases[3];
    char path[TEMPORARY_SIZE + 16];
    char backups[TEMPORARY_SIZE + 16];
    uint64_t random;
    struct placement placement;
    const struct base *base;
    const struct family *family; /* of the file */
    uint64_t runs[KINDS][KINDS];
    uint64_t outcomes[KINDS][KINDS][WORKS][OUTCOMES];
    bool was_named; /* by a check */
    enum work work; /* of the present process */
    enum outcome outcome;
};

/* Chooses one of all pairs of blocks of two kinds, each equally likely. Returns
 * false if there is none. A file has one filter, so another filter is that of
 * another file, with other keys. */
static bool
choose_pair(struct moving *moving, enum kind from_kind, enum kind to_kind)
{
    const bool is_other = from_kind == FILTER && to_kind == FILTER;
    const struct base *base = moving->base;
    struct placement *chosen = &moving->placement;
    uint64_t count = 0;

    for (size_t i = 0; i < base->file_count * base->file_count; i++) {
        const struct sst_blocks *file = &base->files[i % base->file_count];
        const struct sst_blocks *source = &base->files[i / base->file_count];

        if ((file != source) != is_other ||
            strcmp(file->family, source->family) != 0)
            continue;
        for (size_t j = 0; j < source->count * file->count; j++) {
            const struct placed *from = &source->blocks[j / file->count];
            const struct placed *to = &file->blocks[j % file->count];

            if (from == to || from->kind != from_kind || to->kind != to_kind ||
                from->size != to->size ||
                random_below(&moving->random, ++count) > 0)
                continue;
            *chosen = (struct placement){file, source, from, to, false};
        }
    }
    chosen->is_swap = !is_other && random_below(&moving->random, 2) == 0;
    return count > 0;
}

/* Chooses kinds first, because most blocks are of data. */
static void
choose_placement(struct moving *moving)
{
    enum kind from;
    enum kind to;

    do {
        moving->base = moving->bases[random_below(&moving->random, 3)];
        from = (enum kind)random_below(&moving->random, KINDS);
        to = (enum kind)random_below(&moving->random, KINDS);
    } while (!choose_pair(moving, from, to));
    moving->family =
        &moving->base
             ->families[family_of_file(moving->base, moving->placement.file)];
}

static void
move_bytes(const struct moving *moving, const struct sst_blocks *from_file,
           const struct placed *from, const struct sst_blocks *to_file,
           const struct placed *to)
{
    char from_path[2 * PATH_SIZE];
    char to_path[2 * PATH_SIZE];
    uint8_t *bytes = malloc((size_t)from->size);
    int fd;

    (void)snprintf(from_path, sizeof(from_path), "%s/%s", moving->base->path,
                   from_file->path);
    (void)snprintf(to_path, sizeof(to_path), "%s/%s", moving->path,
                   to_file->path);
    fd = open(from_path, O_RDONLY);
    assert_int_equal(pread(fd, bytes, (size_t)from->size, (off_t)from->offset),
                     from->size);
    ZERO(close(fd));
    fd = open(to_path, O_WRONLY);
    assert_int_equal(pwrite(fd, bytes, (size_t)from->size, (off_t)to->offset),
                     from->size);
    ZERO(close(fd));
    free(bytes);
}

static void
move_blocks(const struct moving *moving)
{
    const struct placement *chosen = &moving->placement;
    char command[2 * PATH_SIZE];

    (void)snprintf(command, sizeof(command), "cp -a '%s' '%s'",
                   moving->base->path, moving->path);
    ZERO(system(command));
    move_bytes(moving, chosen->source, chosen->from, chosen->file, chosen->to);
    if (chosen->is_swap)
        move_bytes(moving, chosen->file, chosen->to, chosen->file,
                   chosen->from);
}

/* -------------------------------------------------------------- looking --- */

static const char *
name_of_file(const struct moving *moving)
{
    return strrchr(moving->placement.file->path, '/') + 1;
}

/* Asserts that the error names the file, or says how to learn its name. */
static enum outcome
named(const struct moving *moving, const struct colander_error *err)
{
    if (err->code != COLANDER_CORRUPT)
        fail_msg("code %d: %s", (int)err->code, err->message);
    if (strstr(err->message, name_of_file(moving)) != NULL)
        return NAMED;
    if (strstr(err->message, "a check of the store names it") == NULL)
        fail_msg("names no file: %s", err->message);
    return HINTED;
}

static void
must_name(const struct moving *moving, const struct colander_error *err)
{
    assert_int_equal(named(moving, err), NAMED);
}

static void
note_finding(void *context, const char *file, const char *what)
{
    struct moving *moving = context;

    if (strcmp(file, moving->placement.file->path) != 0)
        fail_msg("%s: %s", file, what);
    moving->was_named = true;
}

static enum outcome
scan_rows(const struct moving *moving, struct colander_family *family,
          bool is_reverse)
{
    const struct family *model = moving->family;
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;
    SCOPED_CURSOR cursor = NULL;
    struct colander_query query = usual_query();
    struct colander_result result;
    struct colander_error err;
    enum colander_code code;
    bool is_row = true;

    query.is_reverse = is_reverse;
    code = colander_family_find(family, &query, &cursor, &err);
    for (uint64_t i = 0; code == COLANDER_OK && i <= model->count; i++) {
        const uint64_t index = is_reverse ? model->count - 1 - i : i;

        code = colander_cursor_next(cursor, &is_row, &result, &err);
        if (code != COLANDER_OK)
            break;
        if (is_row != (i < model->count))
            return WRONG;
        if (!is_row)
            break;
        encode_key(index, &key);
        if (!colander_slice_equal(result.key, colander_buffer_slice(&key)) ||
            !colander_slice_equal(result.row,
                                  colander_buffer_slice(&model->rows[index])))
            return WRONG;
    }
    return code == COLANDER_OK ? RIGHT : named(moving, &err);
}

static enum outcome
get_row(const struct moving *moving, struct colander_family *family,
        uint64_t index)
{
    SCOPED_BUFFER key = COLANDER_BUFFER_EMPTY;
    SCOPED_BUFFER row = COLANDER_BUFFER_EMPTY;
    struct colander_error err;
    bool is_found;

    encode_key(index, &key);
    if (colander_family_get(family, colander_buffer_slice(&key), NULL, &row,
                            &is_found, &err) != COLANDER_OK)
        return named(moving, &err);
    return is_found && colander_slice_equal(
                           colander_buffer_slice(&row),
                           colander_buffer_slice(&moving->family->rows[index]))
               ? RIGHT
               : WRONG;
}

static enum outcome
find_row(const struct moving *moving, struct colander_family *family,
         uint64_t index)
{
    SCOPED_PREDICATE where = colander_where(
        "n", COLANDER_EQ, colander_integer((int64_t)(1000 + index)), NULL);
    SCOPED_CURSOR cursor = NULL;
    struct colander_query query = usual_query();
    struct colander_result result;
    struct colander_error err;
    bool is_row;

    query.where = where;
    if (colander_family_find(family, &query, &cursor, &err) != COLANDER_OK ||
        colander_cursor_next(cursor, &is_row, &result, &err) != COLANDER_OK)
        return named(moving, &err);
    return is_row && colander_slice_equal(
                         result.row,
                         colander_buffer_slice(&moving->family->rows[index]))
               ? RIGHT
               : WRONG;
}

/* Opens the store. A refusal names the file. */
static struct colander_store *
open_store(struct moving *moving, enum colander_open_mode mode)
{
    struct colander_options options = usual_options();
    struct colander_store *store;
    struct colander_error err;

    options.mode = mode;
    if (colander_store_open(moving->path, &options, &store, &err) ==
        COLANDER_OK)
        return store;
    must_name(moving, &err);
    return NULL;
}

/* Check, backup and restore notice every placement. */
static void
must_be_noticed(void *context)
{
    struct moving *moving = context;
    struct colander_check check = {0};
    struct colander_store *store;
    struct colander_error err;
    char to[TEMPORARY_SIZE + 32];

    (void)snprintf(to, sizeof(to), "%s.restored", moving->path);
    FAILS(colander_backup_restore(moving->path, 0, to, NULL, &err),
          COLANDER_CORRUPT);
    must_name(moving, &err);
    temporary_remove(to);
    store = open_store(moving, COLANDER_OPEN_READ_ONLY);
    if (store == NULL)
        return;
    moving->was_named = false;
    OK(colander_store_check(store, &check, note_finding, moving, NULL));
    OK(colander_store_check_filters(store, false, &check, note_finding, moving,
                                    NULL));
    if (!moving->was_named)
        fail_msg("check found nothing wrong");
    FAILS(colander_store_backup(store, moving->backups, 0, NULL, &err),
          COLANDER_CORRUPT);
    must_name(moving, &err);
    OK(colander_store_close(store, NULL));
}

/* Reads each row by its key or by its value. The worst outcome counts. */
static enum outcome
read_each(struct moving *moving, struct colander_family *family)
{
    enum outcome worst = RIGHT;

    for (uint64_t i = 0; i < moving->family->count; i++) {
        const enum outcome outcome = moving->work == GET
                                         ? get_row(moving, family, i)
                                         : find_row(moving, family, i);

        worst = outcome > worst ? outcome : worst;
    }
    return worst;
}

static enum outcome
compact(struct moving *moving, struct colander_family *family)
{
    struct colander_error err;

    if (colander_family_compact(family, &err) == COLANDER_OK)
        return scan_rows(moving, family, false);
    must_name(moving, &err);
    return NAMED;
}

static void
do_work(void *context)
{
    struct moving *moving = context;
    struct colander_store *store =
        open_store(moving, moving->work == COMPACT ? COLANDER_OPEN_EXISTING
                                                   : COLANDER_OPEN_READ_ONLY);
    struct colander_family *family;
    struct colander_error err;

    moving->outcome = NAMED;
    if (store == NULL)
        return;
    OK(colander_family_open(store, moving->family->name, &family, NULL));
    if (moving->work == SCAN || moving->work == BACKWARD)
        moving->outcome = scan_rows(moving, family, moving->work == BACKWARD);
    else if (moving->work == COMPACT)
        moving->outcome = compact(moving, family);
    else
        moving->outcome = read_each(moving, family);
    colander_family_close(family);
    if (colander_store_close(store, &err) != COLANDER_OK)
        must_name(moving, &err);
}

static bool
is_between(enum kind kind, enum kind low, enum kind high)
{
    return kind >= low && kind <= high;
}

/* Whether a block of another kind is in the place of properties, metaindex or
 * filter, without which no file is opened. */
static bool
is_refused(const struct placement *placement)
{
    const enum kind from = placement->from->kind;
    const enum kind to = placement->to->kind;

    if (from == to)
        return false;
    return to == FILTER || is_between(to, PROPERTIES, METAINDEX) ||
           (placement->is_swap &&
            (from == FILTER || is_between(from, PROPERTIES, METAINDEX)));
}

/* Whether RocksDB cannot see that keys are out of order: an entry is there
 * twice. */
static bool
is_doubled_key(const struct placement *placement)
{
    const ptrdiff_t apart = placement->from - placement->to;

    return placement->file == placement->source && !placement->is_swap &&
           placement->from->has_one_key && (apart == 1 || apart == -1);
}

/* Asserts what is promised of reads and compactions. */
static void
must_be_as_promised(const struct moving *moving)
{
    const struct placement *placement = &moving->placement;
    const bool is_same_kind = placement->from->kind == placement->to->kind;
    const enum outcome outcome = moving->outcome;

    if (is_refused(placement))
        assert_int_equal(outcome, NAMED);
    if (is_same_kind && placement->from->kind == FILTER &&
        (moving->work == SCAN || moving->work == BACKWARD ||
         moving->work == COMPACT))
        assert_int_equal(outcome, RIGHT);
    if (moving->work == COMPACT && !is_doubled_key(placement))
        assert_true(outcome != WRONG);
    if (moving->work == COMPACT && is_same_kind)
        assert_true(outcome != ENDED);
}

static void
describe(const struct placement *placement, const struct family *family)
{
    printf("%s: %s block at %llu of %s %s %s block at %llu of %s\n",
           family->name, kind_names[placement->from->kind],
           (unsigned long long)placement->from->offset, placement->source->path,
           placement->is_swap ? "swapped with" : "over",
           kind_names[placement->to->kind],
           (unsigned long long)placement->to->offset, placement->file->path);
}

static void
move_once(struct moving *moving)
{
    const struct placement *placement = &moving->placement;

    choose_placement(moving);
    describe(placement, moving->family);
    move_blocks(moving);
    assert_true(run_apart(must_be_noticed, moving));
    moving->runs[placement->from->kind][placement->to->kind]++;
    for (unsigned work = 0; work < WORKS; work++) {
        moving->work = (enum work)work;
        if (!run_apart(do_work, moving))
            moving->outcome = ENDED;
        moving->outcomes[placement->from->kind][placement->to->kind][work]
                        [moving->outcome]++;
        must_be_as_promised(moving);
    }
    temporary_remove(moving->path);
    temporary_remove(moving->backups);
}

static void
print_outcomes(const struct moving *moving, enum kind from, enum kind to)
{
    printf("%s to %s: %llu placements", kind_names[from], kind_names[to],
           (unsigned long long)moving->runs[from][to]);
    for (unsigned work = 0; work < WORKS; work++) {
        printf("; %s", work_names[work]);
        for (unsigned i = 0; i < OUTCOMES; i++)
            printf("%s %llu %s", i == 0 ? "" : ",",
                   (unsigned long long)moving->outcomes[from][to][work][i],
                   outcome_names[i]);
    }
    printf("\n");
}

TEST(moved_blocks_are_noticed)
{
    struct moving *moving = mmap(NULL, sizeof(*moving), PROT_READ | PROT_WRITE,
                                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    char directory[TEMPORARY_SIZE];

    assert_true(moving != MAP_FAILED);

    moving->random = random_seed(__func__);
    temporary_make(directory);
    (void)snprintf(moving->path, sizeof(moving->path), "%s/store", directory);
    (void)snprintf(moving->backups, sizeof(moving->backups), "%s/backups",
                   directory);
    for (unsigned i = 0; i < 3; i++)
        moving->bases[i] = make_base(
            directory,
            (enum colander_compression)(COLANDER_COMPRESSION_NONE + i),
            moving->random);
    for (uint64_t runs = random_runs(40); runs > 0; runs--)
        move_once(moving);
    for (unsigned from = 0; from < KINDS; from++) {
        for (unsigned to = 0; to < KINDS; to++) {
            if (moving->runs[from][to] > 0)
                print_outcomes(moving, (enum kind)from, (enum kind)to);
        }
    }
    for (unsigned i = 0; i < 3; i++)
        destroy_base(moving->bases[i]);
    ZERO(munmap(moving, sizeof(*moving)));
    temporary_remove(directory);
}
