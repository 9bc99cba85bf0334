/*
 * Mending: see mend.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "core/mend.h"

#include "core/directory.h"
#include "core/files.h"
#include "core/ledger.h"
#include "core/log_walk.h"
#include "core/logs.h"
#include "core/options.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define CURRENT_NEW "CURRENT.colander"

struct mending {
    const char *path;
    struct directory directory;
    void (*tell)(void *context, const char *file, const char *what);
    void *context;
    char manifest[32]; /* one of them */
    size_t manifest_count;
};

/* ------------------------------------------------------------- COLANDER --- */

static enum colander_code
make_record(struct mending *mending, const struct colander_error *why,
            struct colander_error *err)
{
    struct colander_buffer record = COLANDER_BUFFER_EMPTY;
    struct colander_options options;
    char what[sizeof(why->message) + 64];
    enum colander_code code;

    colander_options_init(&options);
    options_fill_kept(&options);
    code = options_encode(&options, &record, err);
    if (code == COLANDER_OK)
        code = directory_write_record(&mending->directory,
                                      colander_buffer_slice(&record), err);
    colander_buffer_release(&record);
    if (code != COLANDER_OK)
        return code;
    (void)snprintf(what, sizeof(what),
                   "%s: made anew, with the default options", why->message);
    mending->tell(mending->context, DIRECTORY_RECORD, what);
    return COLANDER_OK;
}

static enum colander_code
mend_record(struct mending *mending, struct colander_error *err)
{
    struct colander_buffer record = COLANDER_BUFFER_EMPTY;
    struct colander_options kept;
    struct colander_error why;
    enum colander_code code;

    colander_options_init(&kept);
    if (mending->directory.is_store) {
        code = directory_read_record(&mending->directory, &record, &why);
        if (code == COLANDER_OK)
            code = options_decode(colander_buffer_slice(&record), &kept, &why);
        colander_buffer_release(&record);
    } else {
        code = COLANDER_FAIL(&why, COLANDER_CORRUPT, "it is missing");
    }
    if (code == COLANDER_CORRUPT)
        return make_record(mending, &why, err);
    if (code != COLANDER_OK)
        return COLANDER_FAIL(err, code, "%s", why.message);
    return COLANDER_OK;
}

/* -------------------------------------------------------------- CURRENT --- */

static enum colander_code
note_manifest(void *context, int directory, const char *name,
              struct colander_error *err)
{
    struct mending *mending = context;

    (void)directory;
    (void)err;
    if (strncmp(name, "MANIFEST-", 9) != 0)
        return COLANDER_OK;
    (void)snprintf(mending->manifest, sizeof(mending->manifest), "%s", name);
    mending->manifest_count++;
    return COLANDER_OK;
}

/* Whether there is one MANIFEST only, and it can be read to its end. */
static bool
has_one_manifest(struct mending *mending, const char *engine)
{
    struct log_state state;

    return files_visit(mending->directory.fd, DIRECTORY_ENGINE, note_manifest,
                       mending, NULL) == COLANDER_OK &&
           mending->manifest_count == 1 &&
           log_walk(engine, mending->manifest, &state, NULL) == COLANDER_OK &&
           state.bad_at == state.size && state.size > 0;
}

/* Whether no later one was there: RocksDB may leave one that counts no more,
 * and with that the store would be as it was long ago, its new files gone. */
static bool
is_last_manifest(const struct mending *mending)
{
    const uint64_t number =
        strtoull(mending->manifest + strlen("MANIFEST-"), NULL, 10);
    struct ledger *ledger;
    bool is_last;

    if (ledger_open(mending->directory.fd, &ledger, NULL) != COLANDER_OK)
        return false;
    is_last = ledger_last_manifest(ledger) == number;
    ledger_close(ledger);
    return is_last;
}

static enum colander_code
write_current(struct mending *mending, int engine, struct colander_error *err)
{
    char line[sizeof(mending->manifest) + 1];
    enum colander_code code;

    (void)snprintf(line, sizeof(line), "%s\n", mending->manifest);
    files_remove(engine, CURRENT_NEW);
    code = files_write(engine, CURRENT_NEW, colander_slice_text(line), err);
    if (code == COLANDER_OK &&
        renameat(engine, CURRENT_NEW, engine, "CURRENT") != 0)
        code = files_fail(err, "put in place", "CURRENT");
    return code == COLANDER_OK ? files_sync_names(engine, ".", err) : code;
}

static enum colander_code
mend_current(struct mending *mending, struct colander_error *err)
{
    char engine[PATH_MAX];
    char name[32];
    struct colander_error why;
    enum colander_code code;
    int fd;

    (void)snprintf(engine, sizeof(engine), "%s/" DIRECTORY_ENGINE,
                   mending->path);
    code = logs_read_current(engine, name, sizeof(name), &why);
    if (code == COLANDER_OK && name[0] == '\0')
        code = COLANDER_FAIL(&why, COLANDER_CORRUPT, "it is missing");
    if (code != COLANDER_CORRUPT || !has_one_manifest(mending, engine) ||
        !is_last_manifest(mending))
        return COLANDER_OK; /* whoever opens it says what is wrong */
    fd = openat(mending->directory.fd, DIRECTORY_ENGINE,
                O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return files_fail(err, "open", DIRECTORY_ENGINE);
    code = write_current(mending, fd, err);
    (void)close(fd);
    if (code == COLANDER_OK)
        mending->tell(mending->context, DIRECTORY_ENGINE "/CURRENT",
                      "it names no MANIFEST: made anew, for the only one");
    return code;
}

enum colander_code
mend_store(const char *path,
           void (*tell)(void *context, const char *file, const char *what),
           void *context, struct colander_error *err)
{
    struct mending mending = {path, DIRECTORY_CLOSED, tell, context, "", 0};
    enum colander_code code =
        directory_open_damaged(&mending.directory, path, true, err);

    if (code == COLANDER_OK)
        code = mend_record(&mending, err);
    if (code == COLANDER_OK)
        code = mend_current(&mending, err);
    directory_close(&mending.directory);
    return code;
}
