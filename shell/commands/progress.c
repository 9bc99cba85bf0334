/* See progress.h. SPDX-License-Identifier: MIT */
#include "shell/commands/progress.h"
#include "core/clock.h"
#include "shell/output.h"

#include <inttypes.h>
#include <stdio.h>

#define SHOWN_EVERY_US 100000 /* at most */
#define SOON_US 300000        /* a shorter load shows nothing */
#define REJECTS_SHOWN 10      /* one by one; the others are counted */
#define RATED_SIZE 1000000    /* bytes of text: fewer give no rate */

#define ROW_RATE(stats, seconds)                                               \
    THOUSANDS((uint64_t)((double)(stats)->row_count / (seconds)))

void
progress_begin(struct progress *progress, const struct session *session)
{
    memset(progress, 0, sizeof(*progress));
    progress->session = session;
    progress->is_shown = session_err_is_terminal(session);
    progress->begin_us = clock_us();
    progress->shown_us = progress->begin_us + SOON_US - SHOWN_EVERY_US;
}

static double
seconds_since(const struct progress *progress)
{
    return (double)(clock_us() - progress->begin_us + 1) / 1e6;
}

/* Adds how long the rest takes at the speed so far. What an earlier load read
 * is skipped, and says nothing about the speed of this one. */
static void
add_rest(const struct progress *progress, struct report *line,
         const struct colander_load_stats *stats, double seconds)
{
    double read = (double)(stats->bytes_read - progress->bytes_before);
    double left = (double)stats->bytes_all - (double)stats->bytes_read;
    double rest = read > 0 && left > 0 ? seconds * left / read : 0;

    if (read <= 0 || rest >= 360000)
        return;
    if (rest < 60)
        report_add(line, ", %.0f s left", rest);
    else
        report_add(line, ", %.0f:%02.0f min left",
                   (double)(unsigned)(rest / 60),
                   (double)((unsigned)rest % 60));
}

/* Adds the share of the bytes, the speed and the time left. A bulk load has no
 * rows until its end. */
void
progress_add_line(const struct progress *progress, struct report *line,
                  const struct colander_load_stats *stats)
{
    const double seconds = seconds_since(progress);

    if (stats->bulk_all > 0) {
        report_add(line, "building %.0f %%",
                   100.0 * (double)stats->bulk_rows / (double)stats->bulk_all);
        return;
    }
    if (stats->bytes_all > 0)
        report_add(line, "%.0f %%, ",
                   100.0 * (double)stats->bytes_read /
                       (double)stats->bytes_all);
    if (stats->row_count > 0)
        report_add(line, "%s, %s rows/s, ", NUMBER_OF(stats->row_count, "row"),
                   ROW_RATE(stats, seconds));
    report_add(line, "%.1f MB/s", (double)stats->text_size / 1e6 / seconds);
    if (stats->bytes_all > 0)
        add_rest(progress, line, stats, seconds);
    if (stats->reject_count > 0)
        report_add(line, ", %s rejected", THOUSANDS(stats->reject_count));
}

bool
progress_is_due(struct progress *progress)
{
    uint64_t now = clock_us();

    if (!progress->is_shown || now - progress->begin_us < SOON_US ||
        now - progress->shown_us < SHOWN_EVERY_US)
        return false;
    progress->shown_us = now;
    return true;
}

void
progress_print(struct progress *progress, struct report *line)
{
    if (line->code == COLANDER_OK) {
        const struct session *session = progress->session;
        FILE *file = session_err(session);
        size_t width =
            session->client == NULL ? output_width() : session->style.width;

        if (width == 0) /* unknown */
            width = line->text.size + 1;
        fprintf(file, "\r%.*s\x1b[K",
                (int)(line->text.size < width ? line->text.size : width - 1),
                (const char *)line->text.data);
        (void)fflush(file);
        progress->is_on_screen = true;
    }
    report_release(line);
}

void
progress_show(struct progress *progress,
              const struct colander_load_stats *stats)
{
    struct report line = REPORT_EMPTY;

    if (stats->text_size == 0)
        progress->bytes_before = stats->bytes_read;
    if (!progress_is_due(progress))
        return;
    progress_add_line(progress, &line, stats);
    progress_print(progress, &line);
}

void
progress_hide(struct progress *progress)
{
    if (progress->is_on_screen)
        fputs("\r\x1b[K", session_err(progress->session));
    progress->is_on_screen = false;
}

void
progress_add_summary(const struct progress *progress,
                     const struct colander_load_stats *stats,
                     const struct progress_rows *rows, struct report *report)
{
    const double megabytes = (double)stats->text_size / 1e6;
    const double seconds = seconds_since(progress);

    const uint64_t record_count = stats->new_count + stats->replaced_count +
                                  stats->kept_count + stats->reject_count +
                                  stats->delete_count + stats->retain_count;

    if (stats->knows_new && stats->replaced_count == 0)
        report_add(report, "%s loaded", NUMBER_OF(stats->row_count, "row"));
    else
        report_add(report, "%s read", NUMBER_OF(record_count, "record"));
    if (stats->family_count > 0)
        report_add(report, " into %s famil%s", THOUSANDS(stats->family_count),
                   stats->family_count == 1 ? "y" : "ies");
    if (stats->knows_new && stats->replaced_count > 0)
        report_add(report, ": %s new, %s %s",
                   NUMBER_OF(stats->new_count, "row"),
                   THOUSANDS(stats->replaced_count), rows->replaced);
    if (stats->text_size >= RATED_SIZE)
        report_add(report, ", %.1f MB in %.1f s (%s rows/s, %.1f MB/s)",
                   megabytes, seconds, ROW_RATE(stats, seconds),
                   megabytes / seconds);
    if (!stats->knows_new && rows->count != UINT64_MAX)
        report_add(report, "; the family has %s%s",
                   rows->is_exact ? "" : "about ",
                   NUMBER_OF(rows->count, "row"));
    if (stats->reject_count > 0)
        report_add(report, "; %s rejected", THOUSANDS(stats->reject_count));
    if (stats->kept_count > 0)
        report_add(report, "; %s skipped (key exists)",
                   THOUSANDS(stats->kept_count));
    if (stats->files_skipped > 0)
        report_add(report, "; %s loaded before",
                   NUMBER_OF(stats->files_skipped, "file"));
}

bool
progress_prints_reject(struct progress *progress)
{
    if (progress->reject_count++ >= REJECTS_SHOWN)
        return false;
    progress_hide(progress);
    return true;
}

void
progress_end_rejects(struct progress *progress)
{
    if (progress->reject_count > REJECTS_SHOWN)
        session_complain(progress->session, SESSION_FINE,
                         "%" PRIu64 " more records were rejected",
                         progress->reject_count - REJECTS_SHOWN);
}
