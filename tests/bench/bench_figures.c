/*
 * The figures of an experiment, as text and as JSON.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_figures.h"

#include <stdarg.h>
#include <stdlib.h>

struct bench_figures {
    bool is_json;
    bool is_first; /* of its group */
    unsigned depth;
    struct colander_buffer json;
};

static void
begin_member(struct bench_figures *figures, const char *name)
{
    if (!figures->is_first)
        bench_print(&figures->json, ",");
    figures->is_first = false;
    if (name != NULL)
        bench_print(&figures->json, "\"%s\":", name);
}

struct bench_figures *
bench_figures_begin(const struct bench_options *options, const char *experiment,
                    uint64_t rows)
{
    struct bench_figures *figures = bench_allocate(1, sizeof(*figures));

    bench_progress("%s", "");
    figures->is_json = options->is_json;
    printf("%s\n", experiment);
    bench_print(&figures->json, "{\"experiment\":\"%s\"", experiment);
    if (rows != 0)
        bench_figure(figures, 0, (double)rows, "rows");
    bench_figure(figures, 0, options->rounds, "rounds");
    return figures;
}

void
bench_figure(struct bench_figures *figures, int decimals, double value,
             const char *format, ...)
{
    va_list arguments;
    char name[100];

    va_start(arguments, format);
    (void)vsnprintf(name, sizeof(name), format, arguments);
    va_end(arguments);
    begin_member(figures, name);
    bench_print(&figures->json, "%.*f", decimals, value);
    if (figures->depth == 0)
        printf("  %-36s %16.*f\n", name, decimals, value);
    else
        printf("  %s %.*f", name, decimals, value);
}

void
bench_figure_text(struct bench_figures *figures, const char *name,
                  const char *text)
{
    begin_member(figures, name);
    bench_print(&figures->json, "\"%s\"", text);
    if (figures->depth == 0)
        printf("  %-36s %16s\n", name, text);
    else
        printf("  %s %s", name, text);
}

void
bench_figures_open(struct bench_figures *figures, const char *name,
                   char bracket)
{
    begin_member(figures, name);
    bench_print(&figures->json, "%c", bracket);
    figures->is_first = true;
    figures->depth++;
    if (name != NULL)
        printf("  %s%s", name, bracket == '[' ? "\n" : "");
    else
        printf("   ");
}

void
bench_figures_close(struct bench_figures *figures, char bracket)
{
    bench_print(&figures->json, "%c", bracket);
    figures->is_first = false;
    figures->depth--;
    if (bracket == '}')
        printf("\n");
}

void
bench_figures_end(struct bench_figures *figures)
{
    if (figures->is_json)
        printf("%s}\n", (const char *)figures->json.data);
    colander_buffer_release(&figures->json);
    free(figures);
}
