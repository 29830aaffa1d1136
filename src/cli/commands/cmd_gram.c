#include <stdlib.h>

#include <dkmap/data.h>
#include <dkmap/grid.h>
#include <dkmap/kernel.h>

#include "cli/commands/commands.h"
#include "cli/core/run.h"
#include "cli/options/common_options.h"
#include "cli/options/gram_file.h"

static const double BATCH_BYTES = 67108864.0; /* of the matrix a rank, at a time */

/* X and what is computed against it; G has one column an object of X. */
typedef struct gram {
    run *r;
    dkm_grid *grid;
    dkm_kernel *kernel;
    dkm_data *X;
    dkm_prepared *prepared;
    dkm_cross_gram *cross;
    dkm_source *Z; /* NULL: X itself */
    dkm_idx m, nb;
    double *means;         /* of the rows of the square matrix; NULL when nothing is centered */
    dkm_psd_info spectrum; /* before it was clipped */
} gram;

static void cmd_gram_close_gram(gram *g)
{
    free(g->means);
    dkm_source_close(&g->Z);
    dkm_cross_gram_destroy(&g->cross);
    dkm_prepared_destroy(&g->prepared);
    dkm_data_destroy(&g->X);
    dkm_grid_destroy(&g->grid);
    dkm_kernel_destroy(&g->kernel);
}

static dkm_status cmd_gram_open_gram(gram *g)
{
    const args *a = g->r->args;
    dkm_ctx *ctx = g->r->ctx;
    dkm_layout layout = run_layout(g->r);
    dkm_status status = DKM_OK;

    DKM_TRY(dkm_kernel_parse(ctx, args_text(a, "kx"), &g->kernel));
    DKM_TRY(dkm_file_check_writable(ctx, args_text(a, "output")));
    DKM_TRY(dkm_grid_create(ctx, layout.P, layout.Q, &g->grid));
    dkm_phase_begin(ctx, "read");
    status = dkm_data_read(ctx, args_text(a, "x"), DKM_INPUTS, args_text(a, "x-type"), &g->X);
    dkm_phase_end(ctx);
    DKM_TRY(status);
    if (args_text(a, "z"))
        DKM_TRY(dkm_source_open(ctx, args_text(a, "z"), DKM_INPUTS, args_text(a, "x-type"), &g->Z));
    DKM_TRY(dkm_kernel_resolve(g->kernel, g->X));
    DKM_TRY(dkm_kernel_prepare(g->kernel, g->X, &g->prepared));
    g->m = dkm_data_rows(g->X);
    g->nb = layout.block ? layout.block : dkm_grid_block(g->grid, g->m);
out:
    return status;
}

static dkm_local cmd_gram_take_means(gram *g)
{
    g->means = calloc((size_t)g->m + 1, sizeof *g->means);
    if (!g->means)
        return dkm_fail(g->r->ctx, DKM_ERR_MEMORY, "no memory for %lld means", (long long)g->m);
    return DKM_LOCAL_OK;
}

/* The square matrix, centered where asked: its means are then at hand. */
static dkm_status make_square(gram *g, dkm_dmat **K)
{
    dkm_status status = DKM_OK;

    DKM_TRY(dkm_gram(g->grid, g->kernel, g->prepared, g->nb, DKM_F64, K));
    if (args_flag(g->r->args, "center")) {
        DKM_AGREE(g->r->ctx, cmd_gram_take_means(g));
        DKM_TRY(dkm_gram_center(*K, g->means));
    }
out:
    return status;
}

/* G(i, j) = k(x_i, x_j) */
static dkm_status write_square(gram *g)
{
    dkm_status status = DKM_OK;
    dkm_dmat *K = NULL;
    dkm_data *G = NULL;

    DKM_TRY(make_square(g, &K));
    if (args_flag(g->r->args, "clip"))
        DKM_TRY(dkm_psd_clip(K, &g->spectrum));
    DKM_TRY(dkm_gram_to_rows(K, &G));
    dkm_dmat_destroy(&K);
    DKM_TRY(dkm_data_write(G, args_text(g->r->args, "output")));
out:
    dkm_data_destroy(&G);
    dkm_dmat_destroy(&K);
    return status;
}

/* Rows [first, first + count) of G(i, j) = k(z_i, x_j). */
static dkm_status write_batch(gram *g, dkm_idx first, dkm_idx count, dkm_sink *sink)
{
    dkm_status status = DKM_OK;
    dkm_data *Z = NULL, *G = NULL;
    dkm_prepared *prepared = NULL;
    dkm_dmat *K = NULL;

    DKM_TRY(dkm_source_read(g->Z, first, count, &Z));
    DKM_TRY(dkm_kernel_prepare_new(g->prepared, Z, &prepared));
    DKM_TRY(dkm_cross_gram_eval(g->cross, prepared, g->nb, &K));
    if (g->means)
        DKM_TRY(dkm_gram_center_new(K, g->means));
    DKM_TRY(dkm_data_create_dense(g->r->ctx, count, g->m, &G));
    DKM_TRY(dkm_dmat_to_rows(K, dkm_data_values(G)));
    DKM_TRY(dkm_sink_write(sink, G));
out:
    dkm_data_destroy(&G);
    dkm_dmat_destroy(&K);
    dkm_prepared_destroy(&prepared);
    dkm_data_destroy(&Z);
    return status;
}

static dkm_idx batch_rows(const gram *g)
{
    double rows = BATCH_BYTES * dkm_ctx_size(g->r->ctx) / sizeof(double) / (double)(g->m + 1);

    return rows < 1 ? 1 : (dkm_idx)rows;
}

static dkm_status cmd_gram_write_rows(gram *g, dkm_idx n, dkm_sink *sink)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = g->r->ctx;
    dkm_idx step = batch_rows(g);

    dkm_phase_begin(ctx, "stream");
    for (dkm_idx first = 0; first < n; first += step) {
        dkm_idx count = n - first < step ? n - first : step;
        DKM_TRY(write_batch(g, first, count, sink));
        dkm_progress(ctx, (double)(first + count), (double)n);
    }
out:
    dkm_phase_end(ctx);
    return status;
}

/* G(i, j) = k(z_i, x_j), streamed over the rows of Z */
static dkm_status write_cross(gram *g)
{
    const args *a = g->r->args;
    dkm_ctx *ctx = g->r->ctx;
    dkm_status status = DKM_OK;
    dkm_sink *sink = NULL;
    dkm_dmat *K = NULL;
    dkm_idx n = dkm_source_rows(g->Z);

    DKM_TRY(dkm_sink_open(ctx, args_text(a, "output"), DKM_DENSE, n, g->m, &sink));
    if (args_flag(a, "center"))
        DKM_TRY(make_square(g, &K));
    dkm_dmat_destroy(&K);
    DKM_TRY(dkm_cross_gram_create(g->grid, g->kernel, g->prepared, g->nb, DKM_F64, &g->cross));
    DKM_TRY(cmd_gram_write_rows(g, n, sink));
    DKM_TRY(dkm_sink_commit(sink));
out:
    dkm_dmat_destroy(&K);
    dkm_sink_close(&sink);
    return status;
}

static dkm_local cmd_gram_check_options(run *r)
{
    if (args_flag(r->args, "clip") && args_text(r->args, "z"))
        return dkm_fail(r->ctx, DKM_ERR_ARG, "--clip is for the square matrix: leave --z out");
    return DKM_LOCAL_OK;
}

static dkm_status run_gram(run *r)
{
    gram g = {.r = r};
    dkm_status status = DKM_OK;

    DKM_AGREE(r->ctx, cmd_gram_check_options(r));
    DKM_TRY(cmd_gram_open_gram(&g));
    DKM_TRY(g.Z ? write_cross(&g) : write_square(&g));
    report_int(r, "rows", g.Z ? dkm_source_rows(g.Z) : g.m);
    report_int(r, "cols", g.m);
    report_text(r, "kernel", dkm_kernel_text(g.kernel));
    if (args_flag(r->args, "clip"))
        gram_file_tell_clipped(r, &g.spectrum);
    report_seconds(r);
    report_text(r, "output", args_text(r->args, "output"));
out:
    cmd_gram_close_gram(&g);
    return status;
}

static const option options[] = {
    ROW_X("objects: one column each, and without --z one row each"),
    {.name = "z", .kind = OPT_TEXT, .metavar = "FILE", .help = "other objects: one row each"},
    ROW_KX,
    {.name = "center",
     .kind = OPT_FLAG,
     .help = "take the mean of the objects --x off, in the space of the kernel"},
    {.name = "clip",
     .kind = OPT_FLAG,
     .help = "drop negative eigenvalues, after centring, and tell how many there were, their share "
             "of the absolute spectrum, and its smallest and largest"},
    ROW_X_TYPE,
    ROW_OUTPUT("matrix to write: .npy .csv .tsv .h5"),
    {0}};

const command command_gram = {
    .name = "gram",
    .summary = "write the kernel matrix of objects",
    .about = "Writes G(i, j) = k(x_i, x_j), or with --z the rows G(i, j) = "
             "k(z_i, x_j) that "
             "a model trained on x of type gram takes as new inputs.",
    .example = "mpirun -np 4 dkmap gram --x x.npy --kx 'rbf(sigma=2)' -o gram.npy",
    .tables = {options, dkm_layout_settings, compute_options, report_options},
    .run = run_gram,
};
