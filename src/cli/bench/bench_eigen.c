#include <math.h>
#include <stdlib.h>

#include <dkmap/bench.h>
#include <dkmap/data.h>
#include <dkmap/eigen.h>

#include "cli/bench/bench.h"
#include "cli/commands/commands.h"

enum { CHECKED = 64 }; /* pairs whose residual is measured anew */

/* What came out of a turn. */
typedef struct pairs {
    double *values;
    dkm_data *vectors;
    dkm_eigen_info info;
} pairs;

static void free_pairs(pairs *p)
{
    dkm_eigen_values_free(&p->values);
    dkm_data_destroy(&p->vectors);
}

/* Take the mean off every column. Collective. */
static void bench_eigen_center(bench *b, dkm_data *V)
{
    dkm_idx cols = dkm_data_cols(V), rows = dkm_data_local_rows(V);
    double means[CHECKED] = {0}, *v = dkm_data_values(V);

    for (dkm_idx k = 0; k < rows * cols; k++)
        means[k % cols] += v[k] / (double)b->n;
    MPI_Allreduce(MPI_IN_PLACE, means, CHECKED, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(b->ctx));
    for (dkm_idx k = 0; k < rows * cols; k++)
        v[k] -= means[k % cols];
}

/* The pair that column c of those checked is: from the first to the last in even steps. */
static dkm_idx pair_of(const pairs *p, dkm_idx c, dkm_idx checked)
{
    return checked > 1 ? c * (p->info.components - 1) / (checked - 1) : 0;
}

static void copy_columns(const pairs *p, dkm_data *V)
{
    dkm_idx cols = dkm_data_cols(V), all = p->info.components;

    for (dkm_idx il = 0; il < dkm_data_local_rows(V); il++)
        for (dkm_idx c = 0; c < cols; c++)
            dkm_data_values(V)[il * cols + c] =
                dkm_data_values_const(p->vectors)[il * all + pair_of(p, c, cols)];
}

/* max ||w - lambda v|| / lambda_1. Collective. */
static double largest_residual(bench *b, const pairs *p, const dkm_data *W)
{
    dkm_idx cols = dkm_data_cols(W), all = p->info.components;
    double squares[CHECKED] = {0}, worst = 0;

    for (dkm_idx il = 0; il < dkm_data_local_rows(W); il++)
        for (dkm_idx c = 0; c < cols; c++) {
            dkm_idx j = pair_of(p, c, cols);
            double v = dkm_data_values_const(p->vectors)[il * all + j];
            double r = dkm_data_values_const(W)[il * cols + c] - p->values[j] * v;
            squares[c] += r * r;
        }
    MPI_Allreduce(MPI_IN_PLACE, squares, CHECKED, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(b->ctx));
    for (dkm_idx c = 0; c < cols; c++)
        worst = squares[c] <= worst ? worst : squares[c];
    return sqrt(worst) / p->values[0];
}

/* K v anew from the objects, in double, whatever the solver did with its own matrix. */
static dkm_status bench_eigen_measure(bench *b, const pairs *p, int centered, double *residual)
{
    dkm_status status = DKM_OK;
    dkm_idx checked = p->info.components < CHECKED ? p->info.components : CHECKED;
    dkm_data *W = NULL;

    if (checked == 0)
        return DKM_OK;
    DKM_TRY(dkm_data_create_dense(b->ctx, b->n, checked, &W));
    copy_columns(p, W);
    if (centered)
        bench_eigen_center(b, W);
    DKM_TRY(dkm_gram_apply(b->grid, b->prepared, b->nb, checked, dkm_data_values(W)));
    if (centered)
        bench_eigen_center(b, W);
    *residual = largest_residual(b, p, W);
out:
    dkm_data_destroy(&W);
    return status;
}

/* What direct calls of the libraries came to. */
typedef struct direct {
    double seconds;    /* of the fastest; 0 before the first */
    double difference; /* of eigenvalues from ours, relative to the largest */
} direct;

static void note_direct(direct *all, const pairs *p, const double *ascending, dkm_idx n,
                        double seconds)
{
    for (dkm_idx j = 0; j < p->info.components; j++)
        all->difference =
            fmax(all->difference, fabs(ascending[n - 1 - j] - p->values[j]) / p->values[0]);
    all->seconds = all->seconds > 0 && all->seconds < seconds ? all->seconds : seconds;
}

static dkm_local bench_eigen_take_values(bench *b, double **values)
{
    *values = calloc((size_t)b->n, sizeof **values);
    if (!*values)
        return dkm_fail(b->ctx, DKM_ERR_MEMORY, "no memory for %lld eigenvalues", (long long)b->n);
    return DKM_LOCAL_OK;
}

/* One library called directly on the same matrix. */
static dkm_status time_library(bench *b, const pairs *p, const char *library, direct *all,
                               double *seconds)
{
    dkm_status status = DKM_OK;
    double *values = NULL;
    dkm_dmat *K = NULL;

    DKM_AGREE(b->ctx, bench_eigen_take_values(b, &values));
    DKM_TRY(dkm_gram(b->grid, b->kernel, b->prepared, b->nb, DKM_F64, &K));
    if (args_flag(b->r->args, "center"))
        DKM_TRY(dkm_gram_center(K, values));
    DKM_TRY(dkm_eigen_direct(K, library, values, seconds));
    note_direct(all, p, values, b->n, *seconds);
out:
    dkm_dmat_destroy(&K);
    free(values);
    return status;
}

static dkm_status bench_eigen_compare(bench *b, bench_turn *t, const pairs *p)
{
    dkm_status status = DKM_OK;
    direct all = {0, 0};
    double seconds;

    DKM_TRY(time_library(b, p, "scalapack", &all, &seconds));
    bench_note_real(t, "direct_scalapack", seconds);
    if (dkm_eigen_built_in("elpa")) {
        DKM_TRY(time_library(b, p, "elpa", &all, &seconds));
        bench_note_real(t, "direct_elpa", seconds);
    }
    bench_note_real(t, "direct_difference", all.difference);
    bench_note_real(t, "over_direct", t->seconds / all.seconds);
out:
    return status;
}

static dkm_eigen_settings bench_eigen_settings_of(const bench *b)
{
    dkm_eigen_settings s = dkm_eigen_settings_default();
    int full = args_flag(b->r->args, "full");
    dkm_idx components = args_int(b->r->args, "components");

    s.center = args_flag(b->r->args, "center");
    s.solver = full ? DKM_EIGEN_FULL : DKM_EIGEN_BLOCK;
    s.components = full || components > b->n ? b->n : components;
    if (full)
        s.cutoff = -1; /* even those that rounding makes negative */
    return s;
}

static void bench_eigen_note_info(bench *b, bench_turn *t, const dkm_eigen_info *info)
{
    double n = (double)b->n;
    int block = info->rounds > 0;

    t->flops = block ? 2.0 * n * n * (double)info->products : 10.0 / 3.0 * n * n * n;
    bench_note_text(t, "solver", info->solver);
    bench_note_real(t, "components", (double)info->components);
    if (block) {
        bench_note_real(t, "rounds", info->rounds);
        bench_note_real(t, "products", (double)info->products);
        bench_note_real(t, "own_residual", info->residual);
    }
}

static dkm_status bench_eigen_time_eigen(bench *b, bench_turn *t)
{
    dkm_status status = DKM_OK;
    dkm_eigen_settings settings = bench_eigen_settings_of(b);
    pairs p = {0};
    dkm_dmat *K = NULL;
    double begun;

    DKM_TRY(dkm_gram(b->grid, b->kernel, b->prepared, b->nb, DKM_F64, &K));
    begun = bench_start(b);
    DKM_TRY(dkm_eigen_leading(K, &settings, &p.values, &p.vectors, NULL, &p.info));
    t->seconds = bench_stop(b, begun);
    dkm_dmat_destroy(&K);
    bench_eigen_note_info(b, t, &p.info);
    DKM_TRY(bench_eigen_measure(b, &p, settings.center, &t->residual));
    if (settings.solver == DKM_EIGEN_FULL)
        DKM_TRY(bench_eigen_compare(b, t, &p));
out:
    dkm_dmat_destroy(&K);
    free_pairs(&p);
    return status;
}

static dkm_status bench_eigen(run *r)
{
    dkm_status status = DKM_OK;
    bench b;

    DKM_TRY(bench_open(&b, r, DKM_F64));
    DKM_TRY(bench_run(&b, bench_eigen_time_eigen));
out:
    bench_close(&b);
    return status;
}

static const option options[] = {
    ROW_N,
    ROW_DENSE,
    ROW_D,
    ROW_SIGMA,
    {.name = "components",
     .kind = OPT_INT,
     .metavar = "P",
     .min = 1,
     .default_text = "64",
     .help = "leading components to find by the block method"},
    {.name = "full",
     .kind = OPT_FLAG,
     .help = "find all components by the full solver instead, and "
             "call each library's directly for comparison"},
    {.name = "center", .kind = OPT_FLAG, .help = "take the mean off in the space of the kernel"},
    ROW_GEMM,
    ROW_REPEAT,
    {0}};

const command command_bench_eigen = {
    .name = "bench eigen",
    .summary = "eigenpairs of a kernel matrix, the leading ones or all",
    .about = "Times the solver alone. Counts 2 n^2 operations a product of the block method, and "
             "10/3 n^3 of a full solve: reduction to tridiagonal form and back. The residual is "
             "the largest ||K v - lambda v|| / lambda_1 of up to 64 pairs, with K v computed "
             "anew. over_direct is the time over that of the faster library.",
    .example = "mpirun -np 4 dkmap bench eigen --n 4000 --full --record bench.jsonl",
    .tables = {options, dkm_layout_settings, compute_options, report_options},
    .run = bench_eigen,
};
