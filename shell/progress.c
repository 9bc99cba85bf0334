/*
 * Progress: see progress.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "shell/progress.h"
#include "shell/clock.h"
#include "shell/output.h"
#include "shell/text.h"

#include <stdio.h>
#include <unistd.h>

#define SHOWN_EVERY_US 100000 /* at most */
#define SOON_US 300000        /* a load that is over by then shows nothing */
#define RATED_SIZE 1000000    /* bytes of text: less is no measure */

void
progress_begin(struct progress *progress)
{
    memset(progress, 0, sizeof(*progress));
    progress->is_shown = isatty(STDERR_FILENO) == 1;
    progress->begin_us = clock_us();
    progress->shown_us = progress->begin_us + SOON_US - SHOWN_EVERY_US;
}

static double
seconds_since(const struct progress *progress)
{
    return (double)(clock_us() - progress->begin_us + 1) / 1e6;
}

/* Appends how long the rest takes, if it goes on like that. What an earlier
 * load has read is skipped, and says nothing of how fast this one is. */
static enum colander_code
append_rest(const struct progress *progress, struct colander_buffer *line,
            const struct loading_figures *figures, double seconds,
            struct colander_error *err)
{
    double read = (double)(figures->bytes_read - progress->bytes_before);
    double left = (double)figures->bytes_all - (double)figures->bytes_read;
    double rest = read > 0 && left > 0 ? seconds * left / read : 0;

    if (read <= 0 || rest >= 360000)
        return COLANDER_OK;
    if (rest < 60)
        return text_append_format(line, err, ", %.0f s left", rest);
    return text_append_format(line, err, ", %.0f:%02.0f min left",
                              (double)(unsigned)(rest / 60),
                              (double)((unsigned)rest % 60));
}

/* ", 1,234 rejected" */
static enum colander_code
append_other(struct colander_buffer *text, const char *before, uint64_t count,
             const char *what, struct colander_error *err)
{
    enum colander_code code = text_append_format(text, err, "%s", before);

    if (code == COLANDER_OK)
        code = text_append_count(text, count, err);
    if (code == COLANDER_OK)
        code = text_append_format(text, err, " %s", what);
    return code;
}

/* Appends how many rows there are, and how fast they come. */
static enum colander_code
append_rows(struct colander_buffer *line, const struct loading_figures *figures,
            double seconds, struct colander_error *err)
{
    enum colander_code code;

    code = text_append_count(line, figures->row_count, err);
    if (code == COLANDER_OK)
        code = text_append_format(line, err, " rows, ");
    if (code == COLANDER_OK)
        code = text_append_count(
            line, (uint64_t)((double)figures->row_count / seconds), err);
    if (code == COLANDER_OK)
        code = text_append_format(line, err, " rows/s, ");
    return code;
}

/* Appends one line: how much of the bytes, how fast, how long. A bulk load has
 * no rows until its end. */
static enum colander_code
append_line(const struct progress *progress, struct colander_buffer *line,
            const struct loading_figures *figures, double seconds,
            struct colander_error *err)
{
    enum colander_code code = COLANDER_OK;

    if (figures->bulk_all > 0)
        return text_append_format(line, err, "building %.0f %%",
                                  100.0 * (double)figures->bulk_rows /
                                      (double)figures->bulk_all);
    if (figures->bytes_all > 0)
        code = text_append_format(line, err, "%.0f %%, ",
                                  100.0 * (double)figures->bytes_read /
                                      (double)figures->bytes_all);
    if (code == COLANDER_OK && figures->row_count > 0)
        code = append_rows(line, figures, seconds, err);
    if (code == COLANDER_OK)
        code = text_append_format(line, err, "%.1f MB/s",
                                  (double)figures->text_size / 1e6 / seconds);
    if (code == COLANDER_OK && figures->bytes_all > 0)
        code = append_rest(progress, line, figures, seconds, err);
    if (code == COLANDER_OK && figures->reject_count > 0)
        code = append_other(line, ", ", figures->reject_count, "rejected", err);
    return code;
}

void
progress_show(struct progress *progress, const struct loading_figures *figures)
{
    struct colander_buffer line = COLANDER_BUFFER_EMPTY;
    uint64_t now = clock_us();

    if (figures->text_size == 0)
        progress->bytes_before = figures->bytes_read;
    if (!progress->is_shown || now - progress->begin_us < SOON_US ||
        now - progress->shown_us < SHOWN_EVERY_US)
        return;
    progress->shown_us = now;
    if (append_line(progress, &line, figures, seconds_since(progress), NULL) ==
        COLANDER_OK) {
        size_t width = output_width();

        fprintf(stderr, "\r%.*s\x1b[K",
                (int)(line.size < width ? line.size : width - 1),
                (const char *)line.data);
        (void)fflush(stderr);
        progress->is_on_screen = true;
    }
    colander_buffer_release(&line);
}

void
progress_hide(struct progress *progress)
{
    if (progress->is_on_screen)
        fputs("\r\x1b[K", stderr);
    progress->is_on_screen = false;
}

/* Appends how much text in what time, where that is enough to tell a rate. */
static enum colander_code
append_rates(struct colander_buffer *text,
             const struct loading_figures *figures, double seconds,
             struct colander_error *err)
{
    const double megabytes = (double)figures->text_size / 1e6;
    enum colander_code code;

    if (figures->text_size < RATED_SIZE)
        return COLANDER_OK;
    code = text_append_format(text, err, ", %.1f MB in %.1f s (", megabytes,
                              seconds);
    if (code == COLANDER_OK)
        code = text_append_count(
            text, (uint64_t)((double)figures->row_count / seconds), err);
    if (code == COLANDER_OK)
        code = text_append_format(text, err, " rows/s, %.1f MB/s)",
                                  megabytes / seconds);
    return code;
}

/* "1 row", "2,345 rows" */
static enum colander_code
append_counted(struct colander_buffer *text, uint64_t count, const char *noun,
               struct colander_error *err)
{
    enum colander_code code = text_append_count(text, count, err);

    if (code == COLANDER_OK)
        code =
            text_append_format(text, err, " %s%s", noun, count == 1 ? "" : "s");
    return code;
}

enum colander_code
progress_append_summary(const struct progress *progress,
                        const struct loading_figures *figures,
                        struct colander_buffer *text,
                        struct colander_error *err)
{
    enum colander_code code;

    code = append_counted(text, figures->row_count, "row", err);
    if (code == COLANDER_OK)
        code = text_append_format(text, err, " loaded");
    if (code == COLANDER_OK)
        code = append_rates(text, figures, seconds_since(progress), err);
    if (code == COLANDER_OK && figures->reject_count > 0)
        code = append_other(text, "; ", figures->reject_count, "rejected", err);
    if (code == COLANDER_OK && figures->kept_count > 0)
        code = append_other(text, "; ", figures->kept_count,
                            "had a row already", err);
    if (code == COLANDER_OK && figures->files_skipped > 0) {
        code = text_append_format(text, err, "; ");
        if (code == COLANDER_OK)
            code = append_counted(text, figures->files_skipped, "file", err);
        if (code == COLANDER_OK)
            code = text_append_format(text, err, " loaded before");
    }
    return code;
}
