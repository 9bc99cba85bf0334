/* See follow.h. SPDX-License-Identifier: MIT */
#include "loading/follow.h"

#include <poll.h>
#include <unistd.h>

/* A search for the file to read. */
struct search {
    struct follow *follow;
    const struct colander_load_options *options;
    const struct resume_point *point;
    struct source *source; /* to be opened: */
    bool looks;            /* to look whether it has the point, not to load */
    struct colander_error *err;
};

void
follow_init(struct follow *follow, const char *log, const atomic_bool *stops)
{
    memset(follow, 0, sizeof(*follow));
    follow->log = log;
    follow->stops = stops;
}

void
follow_release(struct follow *follow)
{
    input_close(follow->last);
    growing_release(&follow->growing);
    log_files_release(&follow->files);
    log_files_release(&follow->later);
    colander_buffer_release(&follow->at);
}

/* Opens a file of the list, at the point or else at its beginning. */
static enum colander_code
open_file(const struct search *search, size_t index,
          const struct resume_point *point)
{
    struct follow *follow = search->follow;
    const struct log_file *file = &follow->files.files[index];
    struct colander_buffer *at = &follow->at;
    enum colander_code code;

    if (search->looks)
        return source_open(search->source, file->path, search->options,
                           follow->stops, point, search->err);
    colander_buffer_clear(at);
    code = colander_buffer_append(at, file->path, strlen(file->path) + 1,
                                  search->err);
    if (code != COLANDER_OK)
        return code;
    if (file->is_compressed)
        return source_open(search->source, (const char *)at->data,
                           search->options, follow->stops, point, search->err);
    growing_begin(&follow->growing, follow->log);
    return source_open_growing(search->source, (const char *)at->data,
                               search->options, follow->stops, point,
                               &follow->growing, search->err);
}

/* Waits for a moment in which files may be renamed. */
static enum colander_code
wait_a_moment(const struct search *search)
{
    (void)poll(NULL, 0, GROWING_WAIT_MS);
    if (atomic_load(search->follow->stops))
        return COLANDER_FAIL(search->err, COLANDER_CANCELLED,
                             "the load was cancelled");
    return COLANDER_OK;
}

static enum colander_code
read_files(const struct search *search)
{
    struct follow *follow = search->follow;

    return log_files_read(&follow->files, follow->log, search->err);
}

/* ------------------------------------------------------------ the place --- */

/* Whether the failure is not about the file that was tried. */
static bool
is_final(enum colander_code code)
{
    return code == COLANDER_CANCELLED || code == COLANDER_NO_MEMORY;
}

/* Whether a file is long enough for the point, as far as is known. */
static bool
may_have_point(const struct search *search, size_t index)
{
    const struct log_file *file = &search->follow->files.files[index];

    return search->point != NULL && file->inode != 0 &&
           (file->is_compressed || file->size >= search->point->offset);
}

/* Opens the file of the list that has the bytes before the point; first tries
 * the one with its inode. Sets *index to it; to `count` if there is none. */
static enum colander_code
try_files(const struct search *search, size_t *index)
{
    const struct log_files *files = &search->follow->files;

    for (int pass = 0; pass < 2; pass++) {
        for (*index = 0; *index < files->count; ++*index) {
            const bool has_inode =
                files->files[*index].inode == search->point->inode;
            enum colander_code code;

            if ((pass == 0) != has_inode || !may_have_point(search, *index))
                continue;
            code = open_file(search, *index, search->point);
            if (code == COLANDER_OK || is_final(code))
                return code;
        }
    }
    return COLANDER_OK;
}

/* The same for the files that there are now. If files were renamed or copied
 * while it searched, it tries again. */
static enum colander_code
open_place(const struct search *search, size_t *index)
{
    struct follow *follow = search->follow;
    enum colander_code code;

    do {
        code = read_files(search);
        if (code == COLANDER_OK)
            code = try_files(search, index);
        if (code != COLANDER_OK || *index < follow->files.count)
            return code;
        code = log_files_read(&follow->later, follow->log, search->err);
    } while (code == COLANDER_OK &&
             !log_files_equal(&follow->files, &follow->later));
    return code;
}

/* Opens the log at its beginning, once it exists. What else has its name at
 * first is an error. */
static enum colander_code
open_log(const struct search *search)
{
    struct follow *follow = search->follow;
    const bool waits = follow->has_begun || search->point != NULL;
    enum colander_code code = COLANDER_OK;

    while (code == COLANDER_OK && follow->files.files[0].inode == 0 &&
           (waits || access(follow->log, F_OK) != 0)) {
        code = wait_a_moment(search);
        if (code == COLANDER_OK)
            code = read_files(search);
    }
    return code == COLANDER_OK ? open_file(search, 0, NULL) : code;
}

/* Opens the file of the point, or else the log. */
static enum colander_code
open_first(const struct search *search, bool *resumes, bool *is_lost)
{
    size_t index = 0;
    enum colander_code code =
        search->point != NULL ? open_place(search, &index) : read_files(search);

    *resumes = search->point != NULL && index < search->follow->files.count;
    if (code != COLANDER_OK || *resumes)
        return code;
    *is_lost = search->point != NULL;
    return open_log(search);
}

/* ------------------------------------------------------------- the next --- */

/* Sets *index to the file that was read to its end; to `count` if it is not
 * there any more. If it was compressed since, its inode is another one. If
 * files were renamed after they were listed, it looks again. */
static enum colander_code
find_last(const struct search *search, size_t *index)
{
    struct follow *follow = search->follow;
    struct search look = *search;
    struct source source;
    enum colander_code code = read_files(search);

    if (code != COLANDER_OK)
        return code;
    *index = log_files_find(&follow->files, follow->inode);
    if (*index < follow->files.count || search->point == NULL)
        return COLANDER_OK;
    memset(&source, 0, sizeof(source));
    look.source = &source;
    look.looks = true;
    do {
        source_close(&source);
        code = open_place(&look, index);
    } while (code == COLANDER_OK && *index < follow->files.count &&
             follow->files.files[*index].inode != input_inode(source.input));
    source_close(&source);
    return code;
}

/* Opens the file `last - 1`, which comes after the last one. The log may still
 * be what `last` was copied from: then the point is in it, too. */
static enum colander_code
try_next(const struct search *search, size_t last, bool *resumes)
{
    const size_t next = last > 0 ? last - 1 : 0; /* 0: it was renamed back */
    enum colander_code code;

    *resumes = next == 0 && may_have_point(search, next);
    if (*resumes) {
        code = open_file(search, next, search->point);
        if (code == COLANDER_OK || is_final(code))
            return code;
    }
    *resumes = false;
    return open_file(search, next, NULL);
}

/* Whether the last file has become longer since it was over: it is a copy that
 * took long to be written. */
static bool
has_grown(const struct follow *follow, size_t last)
{
    const struct log_file *file = &follow->files.files[last];

    return last < follow->files.count && !file->is_compressed &&
           file->inode == follow->inode && file->size > follow->size;
}

/* Sets *is_next to whether the open file comes after the last one. If files
 * were renamed or copied in the meantime, it may be another, or the last one
 * may not be over. */
static enum colander_code
check_next(const struct search *search, bool *is_next)
{
    struct follow *follow = search->follow;
    size_t last = 0;
    enum colander_code code = find_last(search, &last);

    if (code == COLANDER_OK) {
        const size_t next =
            log_files_find(&follow->files, input_inode(search->source->input));

        follow->is_over = !has_grown(follow, last);
        *is_next = follow->is_over &&
                   (last == follow->files.count || last == next + 1);
    }
    return code;
}

/* Opens the file after the one that was read to its end. While files are being
 * renamed, it tries again. */
static enum colander_code
open_next(const struct search *search, bool *resumes, bool *is_lost)
{
    const struct log_files *files = &search->follow->files;

    for (;;) {
        bool is_next = false;
        size_t last = 0;
        enum colander_code code = find_last(search, &last);

        if (code != COLANDER_OK)
            return code;
        if (last == files->count)
            return open_log(search);
        code = try_next(search, last, resumes);
        if (code == COLANDER_OK && !*resumes)
            code = check_next(search, &is_next);
        if (code == COLANDER_OK && (is_next || *resumes))
            return COLANDER_OK;
        source_close(search->source);
        if (code == COLANDER_OK || code == COLANDER_NOT_FOUND)
            code = wait_a_moment(search);
        if (code != COLANDER_OK)
            return code;
        if (!search->follow->is_over)
            return open_first(search, resumes, is_lost);
    }
}

/* --------------------------------------------------------------- public --- */

enum colander_code
follow_open(struct follow *follow, const struct colander_load_options *options,
            const struct resume_point *point, struct source *source,
            bool *resumes, bool *is_lost, struct colander_error *err)
{
    struct colander_error unwanted;
    const struct search search = {.follow = follow,
                                  .options = options,
                                  .point = point,
                                  .source = source,
                                  .err = err != NULL ? err : &unwanted};
    enum colander_code code;

    memset(source, 0, sizeof(*source));
    do {
        *resumes = false;
        *is_lost = false;
        follow->growing.is_cut = false;
        code = follow->is_over ? open_next(&search, resumes, is_lost)
                               : open_first(&search, resumes, is_lost);
    } while (code != COLANDER_OK && follow->growing.is_cut);
    input_close(follow->last);
    follow->last = NULL;
    return code;
}

bool
follow_note(struct follow *follow, struct source *source,
            enum colander_code code)
{
    follow->last = source->input;
    source->input = NULL;
    follow->inode = input_inode(follow->last);
    follow->size = source->grows ? growing_size(&follow->growing) : UINT64_MAX;
    follow->is_over = code == COLANDER_OK;
    follow->has_begun = true;
    return follow->is_over || (source->grows && follow->growing.is_cut);
}
