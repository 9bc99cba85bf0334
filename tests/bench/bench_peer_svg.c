/*
 * One picture of all peers: how long a query takes in a column that was not
 * chosen beforehand, on a logarithmic scale, next to the cost of the load.
 *
 * SPDX-License-Identifier: MIT
 */
#include "bench_peer.h"

#include <math.h>
#include <stdio.h>

#define BAR 18    /* pixels */
#define LINE 26   /* from one bar to the next */
#define LEFT 240  /* where bars begin */
#define DECADE 62 /* pixels for a factor of ten */
#define DECADES 8 /* from 1 microsecond on */
#define TOP 64
#define RIGHT (LEFT + DECADES * DECADE)
#define LOADS (RIGHT + 70) /* the columns after the bars */
#define BYTES (LOADS + 80)
#define WIDTH (BYTES + 24)

static double
x_of(double microseconds)
{
    return LEFT + DECADE * log10(microseconds < 1 ? 1 : microseconds);
}

static void
draw_grid(FILE *file, double bottom)
{
    static const char *const names[DECADES] = {
        "1 us", "10", "100", "1 ms", "10", "100", "1 s", "10",
    };

    for (int i = 0; i < DECADES; i++)
        (void)fprintf(file,
                      "<line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%.0f\" "
                      "stroke=\"#e0e0e0\"/>\n"
                      "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s"
                      "</text>\n",
                      LEFT + i * DECADE, TOP, LEFT + i * DECADE, bottom,
                      LEFT + i * DECADE, TOP - 8, names[i]);
    (void)fprintf(file,
                  "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">load, s</text>\n"
                  "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">MB on disk"
                  "</text>\n",
                  LOADS, TOP - 8, BYTES, TOP - 8);
}

static void
draw_peer(FILE *file, const struct bench_peer_figures *figures, double y,
          bool is_ours)
{
    const double asked = figures->values[BENCH_PEER_ASKED + BENCH_WORK_OTHER];

    (void)fprintf(
        file,
        "<text x=\"%d\" y=\"%.0f\" text-anchor=\"end\"%s>%s%s</text>\n"
        "<rect x=\"%d\" y=\"%.0f\" width=\"%.1f\" height=\"%d\" "
        "fill=\"%s\"/>\n"
        "<text x=\"%d\" y=\"%.0f\" text-anchor=\"end\">%.1f</text>\n"
        "<text x=\"%d\" y=\"%.0f\" text-anchor=\"end\">%.0f</text>\n",
        LEFT - 10, y + BAR - 4, is_ours ? " font-weight=\"bold\"" : "",
        figures->name, figures->is_server ? " *" : "", LEFT, y,
        x_of(asked) - LEFT, BAR, is_ours ? "#1f77b4" : "#b8c4ce", LOADS,
        y + BAR - 4, figures->values[BENCH_PEER_LOAD], BYTES, y + BAR - 4,
        figures->values[BENCH_PEER_SIZE] / 1e6);
}

void
bench_peer_svg(FILE *file, const struct bench_work *work,
               const struct bench_peer_figures *figures, size_t count)
{
    const double bottom = TOP + (double)count * LINE;

    (void)fprintf(file,
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d "
                  "%.0f\" font-family=\"sans-serif\" font-size=\"13\" "
                  "fill=\"#333\">\n"
                  "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
                  "<text x=\"16\" y=\"24\" font-size=\"16\">Finding rows by a "
                  "value in a column that was not chosen in advance, %.3g "
                  "million rows</text>\n",
                  WIDTH, bottom + 40, (double)work->row_count / 1e6);
    draw_grid(file, bottom);
    for (size_t i = 0; i < count; i++)
        draw_peer(file, &figures[i], TOP + 4 + (double)i * LINE, i < 2);
    (void)fprintf(file,
                  "<text x=\"16\" y=\"%.0f\" fill=\"#777\">Median of up to 200 "
                  "queries, data in memory. * a server in its own process. "
                  "Drawn by colander-bench peers.</text>\n</svg>\n",
                  bottom + 24);
}
