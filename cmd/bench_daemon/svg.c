/* The waterfall as a picture: a row a job, a lane a partition, the daemon's memory below. */
#include "bench_daemon/bench_daemon.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define LEFT   60
#define WIDTH  900
#define ROW    18
#define TOP    46
#define MEMORY 80

static void put(file_writer *w, const char *format, ...) CUZK_PRINTF(2, 3);
static void put(file_writer *w, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    file_write(w, text, n < 0 ? 0 : (size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1);
}

static double at(const bench_load *l, double ms)
{
    double x = LEFT + ms / l->wall_ms * WIDTH;
    return x < LEFT ? LEFT : x > LEFT + WIDTH ? LEFT + WIDTH : x;
}

static int lanes(const bench_job *j)
{
    int most = 0;
    for (size_t i = 0; i < j->stage_count; i++)
        most = j->stage[i].partition > most ? j->stage[i].partition : most;
    return most + 1;
}

static void put_job(file_writer *w, const bench_load *l, unsigned i, int y)
{
    const bench_job *j = &l->job[i];
    int n = lanes(j);
    put(w, "<text x=\"0\" y=\"%d\">%u%s</text>\n", y + 12, i, j->ok ? "" : " failed");
    for (size_t k = 0; k < j->stage_count; k++) {
        const bench_stage *s = &j->stage[k];
        double x = at(l, s->start_ms), width = at(l, s->end_ms) - x;
        double height = s->partition < 0 ? ROW - 4 : (double)(ROW - 4) / n;
        double top = y + (s->partition < 0 ? 0 : height * s->partition);
        put(w, "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"><title>%s", s->name,
            x, top, width < 0.6 ? 0.6 : width, height, s->name);
        if (s->partition >= 0)
            put(w, " of partition %d", s->partition);
        put(w, ", %.0f ms</title></rect>\n", s->end_ms - s->start_ms);
    }
}

static void put_axis(file_writer *w, const bench_load *l, int bottom)
{
    double s = l->wall_ms / 1000, step = 1;
    static const double STEPS[] = {0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600};
    for (size_t i = 0; i < sizeof(STEPS) / sizeof(STEPS[0]); i++) {
        step = STEPS[i];
        if (s / step <= 12)
            break;
    }
    for (double t = 0; t <= s && s / step < 1000; t += step) {
        double x = at(l, t * 1000);
        put(w, "<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\"/><text x=\"%.1f\" y=\"%d\">%g s</text>\n",
            x, TOP - 4, x, bottom, x + 2, TOP - 8, t);
    }
}

static void put_memory(file_writer *w, const bench_load *l, int top)
{
    if (!l->sample_count || !l->rss_peak)
        return;
    put(w, "<text x=\"0\" y=\"%d\">memory</text><text x=\"%d\" y=\"%d\">%.0f MiB</text>\n<polyline points=\"",
        top + 12, LEFT + WIDTH + 6, top + 8, (double)l->rss_peak / 1048576);
    for (size_t i = 0; i < l->sample_count; i++)
        put(w, "%.1f,%.1f ", at(l, l->sample[i].at_ms),
            top + MEMORY - (double)l->sample[i].rss / (double)l->rss_peak * (MEMORY - 6));
    put(w, "\"/>\n");
}

cuzk_status bench_svg(const bench_load *l, const char *path, cuzk_error *err)
{
    file_writer w;
    bench_summary s;
    cuzk_status st = file_writer_open(&w, path, err);
    if (st)
        return st;
    bench_summarise(l, &s);
    int bottom = TOP + (int)l->count * ROW, height = bottom + (l->sample_count ? MEMORY + 20 : 10);
    put(&w,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" role=\"img\" "
        "font-family=\"sans-serif\" "
        "font-size=\"11\">\n<style>"
        ":root{color-scheme:light dark}svg{background:#fff}text{fill:#333}line{stroke:#ddd}"
        "polyline{fill:none;stroke:#0b62c4;stroke-width:1.5}"
        "rect{fill:#8a8d91}.queue{fill:#e3e4e6}.witness{fill:#7a52c7}.prove{fill:#0b62c4}.finish{fill:#"
        "1a7f37}"
        ".srs{fill:#c77d12}"
        "@media(prefers-color-scheme:dark){svg{background:#15171a}text{fill:#ddd}line{stroke:#343940}"
        ".queue{fill:#343940}}</style>\n",
        LEFT + WIDTH + 80, height);
    put(&w,
        "<title>%u proofs in %.1f s, %u at a time, %.2f a minute</title>\n<text x=\"0\" y=\"14\">%u proofs "
        "in %.1f s, "
        "%u at a time: %.2f a minute</text>\n",
        s.completed, s.wall_s, l->concurrency, s.proofs_per_minute, s.completed, s.wall_s, l->concurrency,
        s.proofs_per_minute);
    static const char *const KEY[] = {"queue", "parse", "srs", "witness", "prove", "finish"};
    for (int i = 0; i < 6; i++)
        put(&w,
            "<rect class=\"%s\" x=\"%d\" y=\"5\" width=\"10\" height=\"10\"/><text x=\"%d\" "
            "y=\"14\">%s</text>\n",
            KEY[i], 420 + i * 85, 434 + i * 85, i == 1 ? "parse, check" : KEY[i]);
    put_axis(&w, l, bottom);
    for (unsigned i = 0; i < l->count; i++)
        put_job(&w, l, i, TOP + (int)i * ROW);
    put_memory(&w, l, bottom + 10);
    put(&w, "</svg>\n");
    return file_writer_commit(&w, err);
}
