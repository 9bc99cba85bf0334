/*
 * Stores whose files are not those of one moment: an older copy of a log, a log
 * of another store, files of a backup copied over the store, and pieces of a
 * log in another place. Such a store is refused with an error that names a file
 * in question, or has exactly the rows of one moment: all that were written, or
 * those of the backup.
 *
 * A process writes a store, makes backups and copies of logs meanwhile, and is
 * killed or closes the store. Each case changes a copy of the store, and
 * another process looks at it, since RocksDB ends a process that repeats a
 * write. COLANDER_RUNS sets the number of cases.
 *
 * SPDX-License-Identifier: MIT
 */
#include "columns/bulk.h"
#include "columns/json.h"
#include "columns/upkeep.h"

#include "support/cases.h"
#include "support/children.h"
#include "support/claims.h"
#include "support/history.h"
#include "support/random.h"
#include "support/scoped.h"
#include "support/shell_command.h"
#include "support/temporary.h"
#include "support/usual.h"

#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define FAMILIES 3
#define BULK 3 /* the family that a bulk writes */
#define KEYS 60
#define STEPS_MAX 4000
#define BACKUPS_MAX 8
#define PATH_SIZE 400

/* -------------------------------------------------------------- writing --- */

enum step_kind { PUT, DELETE, DROP };

struct step {
    uint8_t kind;
    uint8_t family;
    uint16_t key;
};

/* What a process has written, in memory that outlives it. */
struct written {
    uint64_t salt; /* of the texts: stores may differ only by that */
    size_t count;
    struct step steps[STEPS_MAX];
    size_t backup_count;
    size_t backups[BACKUPS_MAX]; /* steps before each */
};

struct writing {
    char path[PATH_SIZE]; /* of the store, and the copies beside it */
    struct written *written;
    uint64_t random;
    struct colander_store *store;
    unsigned copies; /* of logs */
};

/* The text that only this step of this store writes: small, or in several
 * blocks of a log. */
static char *
make_row(const struct written *written, size_t step)
{
    uint64_t random = step;
    const size_t size = random_below(&random, 40) == 0
                            ? random_below(&random, 150000)
                            : random_below(&random, 400);
    char *row = malloc(size + 100);
    size_t at;

    if (row == NULL)
        abort();
    at = (size_t)sprintf(row, "{\"_key\":%u,\"step\":%zu,\"text\":\"",
                         written->steps[step].key, step);
    random += written->salt;
    for (size_t i = 0; i < size; i++)
        row[at + i] = (char)('a' + random_next(&random) % 26);
    (void)strcpy(row + at + size, "\"}");
    return row;
}

static const char *
family_name(unsigned family)
{
    static const char *const names[] = {"a", "b", "c", "bulk"};

    return names[family];
}

static struct colander_family *
open_family(struct colander_store *store, unsigned family)
{
    struct colander_family *opened;

    DID(colander_family_open(store, family_name(family), &opened, why()));
    return opened;
}

/* Notes a step. The process ends only between two. */
static size_t
add_step(struct writing *writing, enum step_kind kind, unsigned family,
         unsigned key)
{
    struct written *written = writing->written;

    if (written->count == STEPS_MAX)
        abort();
    written->steps[written->count] =
        (struct step){(uint8_t)kind, (uint8_t)family, (uint16_t)key};
    return written->count++;
}

static void
drop_family(struct writing *writing, unsigned number)
{
    SCOPED_FAMILY family = open_family(writing->store, number);
    enum colander_code code;

    (void)add_step(writing, DROP, number, 0);
    code = colander_family_drop(family, why());
    CLAIM(code == COLANDER_OK || code == COLANDER_NOT_FOUND);
}

static void
write_step(struct writing *writing)
{
    const unsigned number = (unsigned)random_below(&writing->random, FAMILIES);
    const unsigned key = (unsigned)random_below(&writing->random, KEYS);
    const uint64_t kind = random_below(&writing->random, 100);
    SCOPED_FAMILY family = open_family(writing->store, number);
    SCOPED_BUFFER buffer = COLANDER_BUFFER_EMPTY;

    if (kind == 0) {
        drop_family(writing, number);
    } else if (kind < 10) {
        (void)add_step(writing, DELETE, number, key);
        DID(colander_family_delete(family, integer_key(key, &buffer), NULL,
                                   why()));
    } else {
        SCOPED_MEMORY char *row =
            make_row(writing->written, add_step(writing, PUT, number, key));

        DID(colander_family_put_json(family, row, NULL, NULL, why()));
    }
}

/* Drops the family and writes it as a whole. */
static void
write_bulk(struct writing *writing)
{
    struct colander_json_reader *reader = colander_json_reader_create();
    struct colander_family *family;
    struct colander_bulk *bulk;

    drop_family(writing, BULK);
    family = open_family(writing->store, BULK);
    DID(colander_bulk_create(family, &bulk, why()));
    for (unsigned number = 0; number < KEYS; number++) {
        SCOPED_MEMORY char *text =
            make_row(writing->written, add_step(writing, PUT, BULK, number));
        struct colander_slice key;
        struct colander_slice row;
        bool has_key;

        DID(colander_json_reader_row(reader, colander_slice_text(text), &key,
                                     &has_key, &row, why()));
        DID(colander_bulk_add(bulk, key, row, why()));
    }
    DID(colander_bulk_commit(bulk, NULL, why()));
    colander_bulk_destroy(bulk);
    colander_json_reader_destroy(reader);
    colander_family_close(family);
}

static void
backup_or_copy(struct writing *writing)
{
    struct written *written = writing->written;
    char backups[PATH_SIZE + 20];

    (void)snprintf(backups, sizeof(backups), "%s.backups", writing->path);
    if (written->backup_count < BACKUPS_MAX &&
        random_below(&writing->random, 2) == 0) {
        written->backups[written->backup_count++] = written->count;
        DID(colander_store_backup(writing->store, backups, 0, NULL, why()));
    } else {
        shell("mkdir -p '%s.old/%u' && cp '%s'/rocksdb/*.log '%s.old/%u'",
              writing->path, writing->copies, writing->path, writing->path,
              writing->copies);
        writing->copies++;
    }
}

static void
open_store(struct writing *writing)
{
    struct colander_options options = usual_options();

    options.sst_size = 64 << 10;
    DID(colander_store_open(writing->path, &options, &writing->store, why()));
}

/* Something else than a row. */
static void
do_other(struct writing *writing)
{
    const uint64_t what = random_below(&writing->random, 10);

    if (what < 4) {
        SCOPED_FAMILY family = open_family(
            writing->store, (unsigned)random_below(&writing->random, FAMILIES));

        DID(what == 0 ? colander_family_compact(family, why())
                      : colander_family_flush(family, why()));
    } else if (what == 4) {
        DID(colander_store_close(writing->store, why()));
        open_store(writing);
    } else if (what == 5) {
        write_bulk(writing);
    } else {
        backup_or_copy(writing);
    }
}

/* --write PATH SEED SALT: writes a store, and is killed or closes it. */
ROLE(write)
{
    struct writing writing = {.random = strtoull(arguments[3], NULL, 10)};
    char shared[PATH_SIZE + 20];
    bool is_killed;

    (void)snprintf(writing.path, sizeof(writing.path), "%s", arguments[2]);
    (void)snprintf(shared, sizeof(shared), "%s.written", writing.path);
    writing.written = history_map(shared, sizeof(*writing.written));
    writing.written->salt = strtoull(arguments[4], NULL, 10);
    is_killed = random_below(&writing.random, 3) > 0;
    open_store(&writing);
    for (unsigned steps = 400 + (unsigned)random_below(&writing.random, 400);
         steps > 0; steps--) {
        write_step(&writing);
        if (random_below(&writing.random, 25) == 0)
            do_other(&writing);
    }
    if (is_killed)
        (void)kill(getpid(), SIGKILL);
    DID(colander_store_close(writing.store, why()));
    return 0;
}

/* -------------------------------------------------------------- looking --- */

/* The step that wrote each row, plus one; 0: there is none. */
struct rows {
    size_t steps[FAMILIES + 1][KEYS];
};

static void
apply_step(const struct written *written, size_t index, struct rows *rows)
{
    const struct step *step = &written->steps[index];

    if (step->kind == DROP)
        memset(rows->steps[step->family], 0, sizeof(rows->steps[0]));
    else
        rows->steps[step->family][step->key] =
            step->kind == PUT ? index + 1 : 0;
}

/* Whether the store had these rows after some step: the last of all, that of a
 * backup, or another one, in this order of preference. */
enum moment { NEVER, EARLIER, OF_BACKUP, LATEST };

static enum moment
find_moment(const struct written *written, const struct rows *rows)
{
    struct rows now = {{{0}}};
    enum moment best = NEVER;

    for (size_t step = 0; step <= written->count; step++) {
        enum moment moment = step == written->count ? LATEST : EARLIER;

        for (size_t i = 0; i < written->backup_count && moment == EARLIER; i++)
            moment = written->backups[i] == step ? OF_BACKUP : EARLIER;
        if (moment > best && memcmp(&now, rows, sizeof(now)) == 0)
            best = moment;
        if (step < written->count)
            apply_step(written, step, &now);
    }
    return best;
}

static bool
read_rows(const struct written *written, struct colander_store *store,
          unsigned number, struct rows *rows, struct colander_error *err)
{
    SCOPED_FAMILY family = open_family(store, number);
    SCOPED_CURSOR cursor = NULL;
    struct colander_result result;
    enum colander_code code = colander_family_find(family, NULL, &cursor, err);
    bool is_row = true;

    while (code == COLANDER_OK && is_row) {
        struct colander_value step;
        struct colander_value text;
        SCOPED_MEMORY char *expected = NULL;
        const char *expected_text;
        bool is_found;

        code = colander_cursor_next(cursor, &is_row, &result, err);
        if (code != COLANDER_OK || !is_row)
            break;
        DID(colander_row_get(result.row, "step", &step, &is_found, why()));
        CLAIM(is_found && step.integer >= 0 &&
              (size_t)step.integer < written->count);
        DID(colander_row_get(result.row, "text", &text, &is_found, why()));
        expected = make_row(written, (size_t)step.integer);
        expected_text = strstr(expected, "\"text\":\"") + 8;
        CLAIM(is_found && strlen(expected_text) == text.bytes.size + 2 &&
              memcmp(expected_text, text.bytes.data, text.bytes.size) == 0);
        CLAIM(written->steps[step.integer].family == number);
        rows->steps[number][written->steps[step.integer].key] =
            (size_t)step.integer + 1;
    }
    return code == COLANDER_OK;
}

enum outcome { RIGHT = 40, BACKUP, SHORT, REFUSED };

/* --look PATH WRITTEN FILE...: ends with an outcome. */
struct look {
    const char *path;
    const struct written *written;
    char **files; /* that were changed */
};

/* The error must name a file that was changed. */
static enum outcome
refuse(const struct look *look, const struct colander_error *err)
{
    CLAIM(err->code == COLANDER_CORRUPT || err->code == COLANDER_IO);
    for (char **file = look->files; *file != NULL; file++) {
        if (strstr(err->message, *file) != NULL)
            return REFUSED;
    }
    (void)fprintf(stderr, "names no file: %s\n", err->message);
    _exit(1);
}

static enum outcome
look_once(const struct look *look, enum colander_open_mode mode)
{
    struct colander_options options = usual_options();
    struct colander_recovery recovery;
    struct rows rows = {{{0}}};
    struct colander_store *store;
    struct colander_error err;
    enum moment moment;

    options.mode = mode;
    if (colander_store_open(look->path, &options, &store, &err) != COLANDER_OK)
        return refuse(look, &err);
    colander_store_recovery(store, &recovery);
    for (unsigned i = 0; i <= FAMILIES; i++) {
        if (!read_rows(look->written, store, i, &rows, &err))
            return refuse(look, &err);
    }
    if (colander_store_close(store, &err) != COLANDER_OK)
        return refuse(look, &err);
    moment = find_moment(look->written, &rows);
    if (moment == LATEST || moment == OF_BACKUP)
        return moment == LATEST ? RIGHT : BACKUP;
    (void)fprintf(stderr, "rows of %s, dropped %llu\n",
                  moment == NEVER ? "no moment" : "an earlier moment",
                  (unsigned long long)recovery.dropped_size);
    CLAIM(moment == EARLIER && recovery.dropped_size > 0);
    return SHORT;
}

ROLE(look)
{
    struct look look = {.path = arguments[2], .files = arguments + 4};
    enum outcome first;
    enum outcome second;

    (void)alarm(60);
    look.written = history_map(arguments[3], sizeof(struct written));
    first = look_once(&look, COLANDER_OPEN_READ_ONLY);
    second = look_once(&look, COLANDER_OPEN_EXISTING);
    CLAIM(first == second);
    /* what was dropped has been reported */
    if (second != REFUSED && second != SHORT)
        CLAIM(look_once(&look, COLANDER_OPEN_READ_ONLY) == second);
    return (int)second;
}

/* -------------------------------------------------------------- changes --- */

#define CHANGED_MAX 200

struct changing {
    char scene[TEMPORARY_SIZE + 16]; /* a store and its copies */
    char other[TEMPORARY_SIZE + 16]; /* another store */
    char path[TEMPORARY_SIZE + 16];  /* the copy that is changed */
    uint64_t random;
    char changed[CHANGED_MAX][100]; /* names of files */
    size_t changed_count;
    bool may_be_backup;
    bool may_be_short;
    unsigned counts[REFUSED - RIGHT + 1];
};

static void
note_changed(struct changing *changing, const char *path)
{
    const char *slash = strrchr(path, '/');

    assert_true(changing->changed_count < CHANGED_MAX);
    (void)snprintf(changing->changed[changing->changed_count++], 100, "%s",
                   slash == NULL ? path : slash + 1);
}

/* Picks a file of that pattern. Returns false if there is none. */
static bool
pick(struct changing *changing, const char *directory, const char *pattern,
     char path[2 * PATH_SIZE])
{
    glob_t found;
    bool is_found;

    (void)snprintf(path, 2 * PATH_SIZE, "%s%s", directory, pattern);
    is_found = glob(path, GLOB_BRACE, NULL, &found) == 0;
    if (is_found)
        (void)snprintf(
            path, 2 * PATH_SIZE, "%s",
            found.gl_pathv[random_below(&changing->random, found.gl_pathc)]);
    globfree(&found);
    return is_found;
}

/* A log of an earlier moment, of the other store, or of this one. */
static bool
pick_log(struct changing *changing, char path[2 * PATH_SIZE])
{
    switch (random_below(&changing->random, 4)) {
    case 0:
        return pick(changing, changing->other, "/rocksdb/*.log", path);
    case 1:
        return pick(changing, changing->other, ".old/*/*.log", path);
    case 2:
        return pick(changing, changing->path, "/rocksdb/*.log", path);
    default:
        return pick(changing, changing->scene, ".old/*/*.log", path);
    }
}

/* A log over a log of the store. */
static bool
put_over(struct changing *changing)
{
    char from[2 * PATH_SIZE];
    char to[2 * PATH_SIZE];

    if (!pick_log(changing, from) ||
        !pick(changing, changing->path, "/rocksdb/*.log", to))
        return false;
    if (strcmp(from, to) != 0)
        shell("cp '%s' '%s'", from, to);
    note_changed(changing, to);
    return true;
}

/* A log beside those of the store, under a number of its own. */
static bool
put_beside(struct changing *changing)
{
    char from[2 * PATH_SIZE];
    char to[2 * PATH_SIZE];
    struct stat status;

    if (!pick_log(changing, from) ||
        !pick(changing, changing->path, "/rocksdb/*.log", to))
        return false;
    do
        (void)snprintf(
            strrchr(to, '/') + 1, 20, "%06llu.log",
            1 + (unsigned long long)random_below(&changing->random, 400));
    while (stat(to, &status) == 0);
    shell("cp '%s' '%s'", from, to);
    note_changed(changing, to);
    return true;
}

/* Any files of a backup over those of the store. */
static bool
lay_over(struct changing *changing)
{
    char backup[2 * PATH_SIZE];
    char pattern[3 * PATH_SIZE];
    const uint64_t share = random_below(&changing->random, 5);
    glob_t found;

    if (!pick(changing, changing->scene, ".backups/0*", backup))
        return false;
    (void)snprintf(pattern, sizeof(pattern), "%s/{*,*/*}", backup);
    assert_int_equal(glob(pattern, GLOB_BRACE, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        const char *name = found.gl_pathv[i] + strlen(backup) + 1;
        struct stat status;
        bool is_copied;

        ZERO(stat(found.gl_pathv[i], &status));
        if (!S_ISREG(status.st_mode))
            continue;
        is_copied = random_below(&changing->random, 4) >= share;
        if (is_copied)
            shell("cp '%s' '%s/%s'", found.gl_pathv[i], changing->path, name);
        /* a ledger that is copied may list a log that is not */
        if (is_copied || strstr(name, ".log") != NULL)
            note_changed(changing, name);
    }
    globfree(&found);
    changing->may_be_backup = true;
    return true;
}

/* Reads up to `size` bytes at `at`. Returns how many there are. */
static size_t
read_piece(const char *path, off_t at, uint8_t *bytes, size_t size)
{
    int fd = open(path, O_RDONLY);
    ssize_t got = pread(fd, bytes, size, at);

    assert_true(fd >= 0 && got >= 0);
    ZERO(close(fd));
    return (size_t)got;
}

static void
write_piece(const char *path, off_t at, const uint8_t *bytes, size_t size)
{
    int fd = open(path, O_WRONLY);

    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, bytes, size, at), (ssize_t)size);
    ZERO(close(fd));
}

/* A place in a file, most often at the beginning of a block. */
static off_t
pick_place(struct changing *changing, off_t size)
{
    const off_t at = (off_t)random_below(&changing->random, (uint64_t)size);

    return random_below(&changing->random, 3) == 0 ? at : at - at % 32768;
}

/* Pieces of one log, or of another copy of it, in each other's place, or one
 * repeated. */
static bool
move_pieces(struct changing *changing)
{
    static uint8_t one[65536];
    static uint8_t other[65536];
    const size_t size = (size_t)4096 << random_below(&changing->random, 5);
    char from[2 * PATH_SIZE];
    char path[2 * PATH_SIZE];
    struct stat status;
    size_t got;
    off_t at;

    if (!pick(changing, changing->path, "/rocksdb/*.log", path))
        return false;
    ZERO(stat(path, &status));
    if (status.st_size == 0)
        return false;
    (void)snprintf(from, sizeof(from), "%s", path);
    if (random_below(&changing->random, 3) == 0 && !pick_log(changing, from))
        return false;
    at = pick_place(changing, status.st_size);
    got = read_piece(from, at, one, size);
    note_changed(changing, path);
    changing->may_be_short = true;
    switch (random_below(&changing->random, 3)) {
    case 0: /* its beginning, at the end */
        got = read_piece(from, 0, one, size);
        write_piece(path, status.st_size, one, got);
        break;
    case 1:
        write_piece(path, pick_place(changing, status.st_size), one, got);
        break;
    default: {
        const off_t place = pick_place(changing, status.st_size);
        const size_t swapped = read_piece(path, place, other, got);

        write_piece(path, place, one, swapped);
        write_piece(path, at, other, swapped);
    }
    }
    return true;
}

static void
change(struct changing *changing)
{
    static bool (*const changes[])(struct changing *) = {put_over, put_beside,
                                                         lay_over, move_pieces};
    static const char *const names[] = {"over", "beside", "overlay", "pieces"};
    unsigned left = random_below(&changing->random, 4) == 0 ? 2 : 1;

    changing->changed_count = 0;
    changing->may_be_backup = false;
    changing->may_be_short = false;
    for (unsigned tries = 0; left > 0 && tries < 100; tries++) {
        const uint64_t which = random_below(&changing->random, COUNT(changes));

        if (changes[which](changing)) {
            printf("%s ", names[which]);
            left--;
        }
    }
}

/* ----------------------------------------------------------------- test --- */

static void
look_at(struct changing *changing)
{
    char written[TEMPORARY_SIZE + 40];
    const char *arguments[5 + CHANGED_MAX] = {"test", "--look", changing->path,
                                              written};
    int status;
    int outcome;

    (void)snprintf(written, sizeof(written), "%s.written", changing->scene);
    for (size_t i = 0; i < changing->changed_count; i++) {
        arguments[4 + i] = changing->changed[i];
        printf("%s ", changing->changed[i]);
    }
    (void)fflush(stdout);
    status = child_run(arguments);
    outcome = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    printf("%d\n", outcome);
    assert_in_range(outcome, RIGHT, REFUSED);
    assert_true(outcome != BACKUP || changing->may_be_backup);
    assert_true(outcome != SHORT || changing->may_be_short);
    changing->counts[outcome - RIGHT]++;
}

static void
write_scene(const char *path, uint64_t seed, uint64_t salt)
{
    char numbers[2][24];
    const char *const arguments[] = {"test",     "--write",  path,
                                     numbers[0], numbers[1], NULL};
    int status;

    (void)snprintf(numbers[0], sizeof(numbers[0]), "%" PRIu64, seed);
    (void)snprintf(numbers[1], sizeof(numbers[1]), "%" PRIu64, salt);
    status = child_run(arguments);
    assert_true(WIFEXITED(status) ? WEXITSTATUS(status) == 0
                                  : WTERMSIG(status) == SIGKILL);
}

/* Each scene is used for some cases. The other store has the same layout as
 * this one in half of them, and other texts. */
TEST(files_that_do_not_belong_together_are_refused)
{
    SCOPED_MEMORY struct changing *changing = calloc(1, sizeof(*changing));
    char directory[TEMPORARY_SIZE];
    const uint64_t runs = random_runs(50);

    changing->random = random_seed(__func__);
    for (uint64_t run = 0; run < runs; run++) {
        if (run % 25 == 0) {
            const uint64_t seed = random_next(&changing->random);

            temporary_make(directory);
            (void)snprintf(changing->scene, sizeof(changing->scene), "%s/scene",
                           directory);
            (void)snprintf(changing->other, sizeof(changing->other), "%s/other",
                           directory);
            (void)snprintf(changing->path, sizeof(changing->path), "%s/store",
                           directory);
            write_scene(changing->scene, seed, 1);
            write_scene(changing->other,
                        seed + random_below(&changing->random, 2), 2);
        }
        shell("cp -a '%s' '%s'", changing->scene, changing->path);
        change(changing);
        look_at(changing);
        temporary_remove(changing->path);
        if (run % 25 == 24 || run + 1 == runs)
            temporary_remove(directory);
    }
    printf("%u right, %u as the backup, %u short and reported, %u refused\n",
           changing->counts[0], changing->counts[1], changing->counts[2],
           changing->counts[3]);
    assert_true(runs < 50 || changing->counts[3] >= runs / 8);
}
