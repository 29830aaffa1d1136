#include "cli/core/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dkmap/blas_memory.h>
#include <dkmap/data.h>
#include <dkmap/machine.h>
#include <dkmap/store.h>

#include "cli/core/checkpoint_options.h"
#include "cli/profile/comm_counter.h"
#include "cli/streams/standard_streams.h"

dkm_layout run_layout(const run *r)
{
    const value *grid = args_value(r->args, "grid", 0);
    dkm_layout layout = {.block = args_int(r->args, "block")};

    if (grid) {
        layout.P = grid->P;
        layout.Q = grid->Q;
    }
    return layout;
}

dkm_status run_positive(run *r, const char *name, double *out)
{
    dkm_local local = DKM_LOCAL_OK;

    *out = args_real(r->args, name);
    if (!(*out > 0))
        local = dkm_fail(r->ctx, DKM_ERR_ARG, "--%s must be > 0, not %s", name,
                         args_text(r->args, name));
    return dkm_agree(r->ctx, local);
}

static dkm_local check_model_ending(run *r)
{
    const char *path = args_text(r->args, "output"), *dot = strrchr(path, '.');

    if (dot && (strcmp(dot, ".h5") == 0 || strcmp(dot, ".hdf5") == 0))
        return DKM_LOCAL_OK;
    return dkm_fail(r->ctx, DKM_ERR_ARG,
                    "%s: this will be an HDF5 file: give it a name that ends in .h5", path);
}

dkm_status run_check_model_path(run *r)
{
    dkm_status status = dkm_agree(r->ctx, check_model_ending(r));

    return status == DKM_OK ? dkm_file_check_writable(r->ctx, args_text(r->args, "output"))
                            : status;
}

dkm_status run_error_context(run *r, const char *file, dkm_status status)
{
    return dkm_error_context(r->ctx, file, status);
}

/* The words of the option are auto, 0 and 1. */
static int run_svm_base(const run *r)
{
    return (int)args_value(r->args, "svm-base", 0)->integer - 1;
}

static dkm_local check_svm_base(run *r, int base)
{
    int given = run_svm_base(r);

    if (given == DKM_SVM_BASE_AUTO || base == DKM_SVM_BASE_AUTO || given == base)
        return DKM_LOCAL_OK;
    return dkm_fail(r->ctx, DKM_ERR_ARG,
                    "--svm-base %d, and the model was trained on indices from %d", given, base);
}

dkm_status run_follow_model(run *r, const dkm_model *model)
{
    dkm_status status = DKM_OK;
    int base = dkm_model_svm_base(model);

    DKM_AGREE(r->ctx, check_svm_base(r, base));
    if (base != DKM_SVM_BASE_AUTO)
        dkm_ctx_set_svm_base(r->ctx, base);
out:
    return status;
}

static dkm_local check_counting(run *r)
{
    if (!args_flag(r->args, "count-comm") || dkm_ctx_comm_reader(r->ctx))
        return DKM_LOCAL_OK;
    return dkm_fail(r->ctx, DKM_ERR_IO,
                    "--count-comm: libdkmap_mpi_profiler.so is not beside libdkmap, or cannot be "
                    "loaded");
}

static dkm_local check_grid(run *r)
{
    const value *grid = args_value(r->args, "grid", 0);
    int size = dkm_ctx_size(r->ctx);

    if (grid && (int64_t)grid->P * grid->Q > size)
        return dkm_fail(r->ctx, DKM_ERR_ARG, "--grid %s needs %lld ranks, and there are %d",
                        grid->text, (long long)grid->P * grid->Q, size);
    return DKM_LOCAL_OK;
}

/* All values of an option that may have several, separated by commas. */
static void join_values(const args *a, const option *o, char *out, size_t size)
{
    const value *v;
    size_t used = 0;

    for (int k = 0; used < size && (v = args_value(a, o->name, k)); k++)
        used += (size_t)snprintf(out + used, size - used, "%s%s", k ? "," : "", v->text);
}

/* Every option with its value goes to the record as settings.NAME. */
static void record_settings(run *r)
{
    char name[100], joined[1000];

    for (int k = 0; k < r->args->count; k++) {
        const value *v = &r->args->values[k];
        snprintf(name, sizeof name, "settings.%s", v->option->name);
        if (v->option->flags & (OPT_LIST | OPT_REPEATED) ||
            args_count(r->args, v->option->name) > 1) {
            join_values(r->args, v->option, joined, sizeof joined);
            dkm_runlog_text(r->record, name, joined);
        } else if (v->option->kind == OPT_REAL) {
            dkm_runlog_real(r->record, name, v->real);
        } else if (v->option->kind == OPT_INT) {
            dkm_runlog_int(r->record, name, v->integer);
        } else {
            dkm_runlog_text(r->record, name, v->option->kind == OPT_FLAG ? "yes" : v->text);
        }
    }
}

static dkm_status begin_record(run *r)
{
    dkm_status status = DKM_OK;

    DKM_TRY(dkm_runlog_create(r->ctx, r->args->command->name, &r->record));
    dkm_runlog_text(r->record, "line", r->args->line);
    record_settings(r);
out:
    return status;
}

/* Commands that do not compute keep no records. */
static const char *record_path(const run *r)
{
    return args_accepts(r->args, "record") ? args_text(r->args, "record") : NULL;
}

static dkm_status end_record(run *r, int is_last)
{
    dkm_status status = DKM_OK;
    char *line = NULL;

    if (r->checkpoint)
        dkm_runlog_real(r->record, "checkpoint_seconds", dkm_checkpoint_seconds(r->checkpoint));
    if (record_path(r))
        DKM_TRY(dkm_runlog_append(r->record, record_path(r)));
    if (is_last && run_wants_json(r))
        DKM_TRY(dkm_runlog_line(r->record, &line));
    if (line)
        puts(line);
out:
    dkm_runlog_line_free(&line);
    dkm_runlog_destroy(&r->record);
    return status;
}

dkm_status run_next_record(run *r)
{
    dkm_status status = DKM_OK;

    if (!r->record)
        return DKM_OK;
    DKM_TRY(end_record(r, 0));
    DKM_TRY(begin_record(r));
out:
    return status;
}

/* Labels that an XML file of Mulan names; -1 where it cannot be read. */
static dkm_idx count_named_labels(const char *path)
{
    FILE *file = fopen(path, "r");
    dkm_idx count = 0;
    char word[8] = "";
    int c;

    if (!file)
        return -1;
    while ((c = getc(file)) != EOF) {
        memmove(word, word + 1, sizeof word - 2);
        word[sizeof word - 2] = (char)c;
        count += strncmp(word, "<label ", sizeof word - 1) == 0;
    }
    fclose(file);
    return count;
}

/* Whether --labels counts columns of ARFF files; some commands mean other things by it. */
static int reads_arff_labels(const run *r)
{
    const option *row = option_find(r->args->command, "labels", strlen("labels"));

    return row && (row->flags & OPT_OF_ARFF);
}

/* --labels N, or the XML file that names them, which rank 0 reads. */
static dkm_status run_read_labels(run *r)
{
    dkm_status status = DKM_OK;
    const char *text = args_text(r->args, "labels");
    char *end;

    if (!text)
        return DKM_OK;
    r->labels = (dkm_idx)strtoll(text, &end, 10);
    if (*end) {
        r->labels = dkm_ctx_rank(r->ctx) == 0 ? count_named_labels(text) : 0;
        MPI_Bcast(&r->labels, 1, MPI_INT64_T, 0, dkm_ctx_comm(r->ctx));
    }
    DKM_REQUIRE(r->ctx, r->labels >= 1, DKM_ERR_ARG,
                "--labels %s: a number of columns, or an XML file with a <label .../> for each",
                text);
    dkm_data_label_columns(r->ctx, &r->labels);
out:
    return status;
}

/* Common options that need the context; only commands that compute have them. */
static dkm_status run_begin(run *r)
{
    dkm_status status = DKM_OK;

    if (args_accepts(r->args, "svm-base"))
        dkm_ctx_set_svm_base(r->ctx, run_svm_base(r));
    if (reads_arff_labels(r))
        DKM_TRY(run_read_labels(r));
    if (!args_accepts(r->args, "grid"))
        return DKM_OK;
    dkm_ctx_set_seed(r->ctx, (uint64_t)args_int(r->args, "seed"));
    dkm_ctx_set_threads(r->ctx, (int)args_int(r->args, "threads"));
    dkm_ctx_set_factor(r->ctx, (dkm_factor)args_value(r->args, "factor", 0)->integer);
    DKM_AGREE(r->ctx, check_grid(r));
    DKM_AGREE(r->ctx, check_counting(r));
    DKM_TRY(dkm_machine_report(r->ctx));
    DKM_TRY(dkm_blas_reserve(r->ctx));
    DKM_TRY(checkpoint_begin(r));
    if (record_path(r))
        DKM_TRY(dkm_file_check_writable(r->ctx, record_path(r)));
out:
    return status;
}

static dkm_local flush_results(run *r)
{
    if (fflush(stdout) != 0 || ferror(stdout))
        return dkm_fail(r->ctx, DKM_ERR_IO, "cannot write to standard output");
    return DKM_LOCAL_OK;
}

static void show_spread(char *line, size_t size, const char *name, double min, double mean,
                        double max)
{
    size_t used = strlen(line);

    snprintf(line + used, size - used, " %s %.6g %.6g %.6g", name, min, mean, max);
}

/* A line for each phase: least, mean and most of a rank. Collective. */
static void run_show_comm(run *r)
{
    enum { PHASES = 64 };
    dkm_phase_summary phases[PHASES];
    int count;

    if (!dkm_ctx_comm_reader(r->ctx))
        return;
    count = dkm_phase_summaries(r->ctx, PHASES, phases);
    for (int k = 0; k < count; k++) {
        const dkm_comm_counts *min = &phases[k].comm_min, *mean = &phases[k].comm_mean,
                              *max = &phases[k].comm_max;
        char line[400];
        snprintf(line, sizeof line, "%-12s", phases[k].name);
        show_spread(line, sizeof line, "bytes", min->bytes, mean->bytes, max->bytes);
        show_spread(line, sizeof line, "messages", min->messages, mean->messages, max->messages);
        show_spread(line, sizeof line, "collectives", min->collectives, mean->collectives,
                    max->collectives);
        show_spread(line, sizeof line, "seconds", min->seconds, mean->seconds, max->seconds);
        run_show(r, "comm", line);
    }
}

static dkm_status perform(run *r)
{
    dkm_status status = DKM_OK;

    DKM_AGREE(r->ctx, standard_streams_check(r->ctx, r->args));
    DKM_AGREE(r->ctx, written_files_check(r->ctx, r->args));
    DKM_TRY(run_begin(r));
    if (record_path(r) || run_wants_json(r))
        DKM_TRY(begin_record(r));
    DKM_TRY(r->args->command->run(r));
    run_show_comm(r);
    if (r->record)
        DKM_TRY(end_record(r, 1));
    DKM_AGREE(r->ctx, flush_results(r));
out:
    dkm_checkpoint_close(&r->checkpoint);
    dkm_runlog_destroy(&r->record);
    return status;
}

/* Objects still alive at the end are a bug of ours; the sum over the ranks is reported. */
static void report_leaks(dkm_ctx *ctx)
{
    long long mine = dkm_ctx_live_blocks(ctx), all = 0;

    MPI_Reduce(&mine, &all, 1, MPI_LONG_LONG, MPI_SUM, 0, dkm_ctx_comm(ctx));
    if (all != 0)
        dkm_log(ctx, DKM_DEBUG, "%lld blocks of memory were not given back", all);
}

/* What was asked for cannot be: that is wrong usage, also where only the files tell. */
static int exit_of(dkm_status status)
{
    switch (status) {
    case DKM_OK:
        return EXIT_DONE;
    case DKM_ERR_ARG:
    case DKM_ERR_UNSUPPORTED:
        return EXIT_USAGE;
    case DKM_ERR_STOPPED:
        return EXIT_STOPPED;
    default:
        return EXIT_FAILED;
    }
}

int run_in_context(const args *a, dkm_ctx *ctx)
{
    listener shown;
    run r = {.args = a, .ctx = ctx, .listener = &shown, .started = MPI_Wtime()};
    dkm_status status;

    dkm_ctx_set_listener(ctx,
                         listener_make(&shown, args_flag(a, "quiet"), args_flag(a, "verbose")));
    if (args_accepts(r.args, "kernel-dir"))
        dkm_store_kernel_folder(ctx, args_text(r.args, "kernel-dir"));
    dkm_ctx_set_comm_reader(ctx, args_counts_comm(a) ? comm_counter_reader() : NULL);
    status = perform(&r);
    listener_clear(&shown);
    if (status != DKM_OK && dkm_ctx_rank(ctx) == 0)
        fprintf(stderr, "dkmap: %s\n",
                *dkm_ctx_message(ctx) ? dkm_ctx_message(ctx) : dkm_status_text(status));
    report_leaks(ctx);
    return exit_of(status);
}

int run_command(const args *a, MPI_Comm comm)
{
    dkm_ctx *ctx = NULL;
    int code;

    if (dkm_ctx_create(comm, &ctx) != DKM_OK) {
        fprintf(stderr, "dkmap: no memory to begin with\n");
        return EXIT_FAILED;
    }
    code = run_in_context(a, ctx);
    dkm_ctx_destroy(&ctx);
    return code;
}
