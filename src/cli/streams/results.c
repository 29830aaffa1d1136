#include <stdio.h>

#include "cli/core/run.h"
#include "cli/streams/standard_streams.h"

enum { NAME_WIDTH = 24 };

/* With --json nothing but the object goes to standard output. */
static int prints_lines(const run *r)
{
    return dkm_ctx_rank(r->ctx) == 0 && !run_wants_json(r);
}

/* Lines make way for a file that goes to standard output. */
static FILE *lines_to(const run *r)
{
    return standard_output_taken(r->args) ? stderr : stdout;
}

int run_wants_json(const run *r)
{
    return args_flag(r->args, "json");
}

void run_print(run *r, const char *text)
{
    if (!prints_lines(r))
        return;
    listener_clear(r->listener);
    fprintf(lines_to(r), "%s\n", text);
}

static void print_line(run *r, const char *name, const char *text)
{
    if (!prints_lines(r))
        return;
    listener_clear(r->listener);
    fprintf(lines_to(r), "%-*s %s\n", NAME_WIDTH, name, text);
}

static void print_real(run *r, const char *name, double number)
{
    char text[40];

    snprintf(text, sizeof text, "%.6g", number);
    print_line(r, name, text);
}

void run_show(run *r, const char *name, const char *text)
{
    print_line(r, name, text);
    if (run_wants_json(r))
        dkm_runlog_note(r->record, name, text);
}

void run_show_real(run *r, const char *name, double number)
{
    print_real(r, name, number);
    if (run_wants_json(r))
        dkm_runlog_note_real(r->record, name, number);
}

void report_text(run *r, const char *name, const char *text)
{
    print_line(r, name, text);
    if (r->record)
        dkm_runlog_text(r->record, name, text);
}

void report_real(run *r, const char *name, double number)
{
    print_real(r, name, number);
    if (r->record)
        dkm_runlog_real(r->record, name, number);
}

void report_int(run *r, const char *name, int64_t number)
{
    char text[40];

    snprintf(text, sizeof text, "%lld", (long long)number);
    print_line(r, name, text);
    if (r->record)
        dkm_runlog_int(r->record, name, number);
}

void report_grid(run *r, int P, int Q)
{
    char text[40];

    snprintf(text, sizeof text, "%dx%d", P, Q);
    report_text(r, "grid", text);
}

void report_seconds(run *r)
{
    char text[40];

    snprintf(text, sizeof text, "%.3f", MPI_Wtime() - r->started);
    print_line(r, "seconds", text);
}
