/* What plans need to know of a machine: each part of the methods is timed at two sizes, so that
 * what grows with the cube of the rows is separated from what grows with the square. The larger one is
 * past caches, and past what the allocator hands out twice: fresh pages cost time as well. */
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include <dkmap/bench.h>
#include <dkmap/eigen.h>
#include <dkmap/random.h>
#include <dkmap/ridge.h>

#include "cli/bench/bench.h"
#include "cli/bench/bench_iterations.h"
#include "cli/commands/commands.h"
#include "cli/profile/calibration.h"

enum { TINY = 64, NARROW = 8, MIDDLE = 20, WIDE = 256, FEW = 2, MANY = 32 };
enum { SOME_PAIRS = 12, PAIRS = 32, TURNS = 2, ATTEMPTS = 3 };
enum { SMALL_GRAM = 512, SMALL_TURNS = 20 };
#define GAMMA 0.01

/* Seconds of one system, by phase. */
typedef struct timing {
    double gram, factor, rest;
} timing;

typedef struct bed {
    run *r;
    dkm_ctx *ctx;
    dkm_grid *grid;
    dkm_kernel *kernel;
    dkm_data *X;
    dkm_prepared *prepared;
    dkm_idx m, nb;
} bed;

/* Spread of a column: later ones vary less, as in most data, so that eigenvalues come apart. */
static double bench_calibrate_spread(dkm_idx j)
{
    return 1.0 / sqrt(1.0 + (double)j / 10.0);
}

static void bench_calibrate_fill_rows(bed *b, dkm_idx d)
{
    dkm_idx first = dkm_data_local_first(b->X);
    double *values = dkm_data_values(b->X);

    for (dkm_idx i = 0; i < dkm_data_local_rows(b->X); i++)
        for (dkm_idx j = 0; j < d; j++)
            values[i * d + j] = bench_calibrate_spread(j) *
                                dkm_random_normal(1, 2, (uint64_t)(first + i), (uint64_t)j);
}

static dkm_status open_bed(bed *b, run *r, dkm_idx m, dkm_idx d)
{
    dkm_status status = DKM_OK;
    dkm_layout layout = run_layout(r);
    double variance = 0;
    char kernel[64];

    for (dkm_idx j = 0; j < d; j++)
        variance += bench_calibrate_spread(j) * bench_calibrate_spread(j);
    *b = (bed){.r = r, .ctx = r->ctx, .m = m};
    snprintf(kernel, sizeof kernel, "rbf(sigma=%.6g)", sqrt(variance));
    DKM_TRY(dkm_grid_create(b->ctx, layout.P, layout.Q, &b->grid));
    b->nb = layout.block ? layout.block : dkm_grid_block(b->grid, m);
    DKM_TRY(dkm_kernel_parse(b->ctx, kernel, &b->kernel));
    DKM_TRY(dkm_data_create_dense(b->ctx, m, d, &b->X));
    bench_calibrate_fill_rows(b, d);
    DKM_TRY(dkm_kernel_prepare(b->kernel, b->X, &b->prepared));
out:
    return status;
}

static void close_bed(bed *b)
{
    dkm_prepared_destroy(&b->prepared);
    dkm_data_destroy(&b->X);
    dkm_kernel_destroy(&b->kernel);
    dkm_grid_destroy(&b->grid);
}

static double bench_calibrate_wave(void *user, dkm_idx ig, dkm_idx jg)
{
    (void)user;
    return dkm_random_normal(3, 4, (uint64_t)ig, (uint64_t)jg);
}

/* One ridge system with @p cols outputs; a mean of two turns. */
static dkm_status bench_calibrate_time_ridge(run *r, dkm_idx m, dkm_idx d, dkm_idx cols,
                                             dkm_ridge_precision precision, timing *t)
{
    dkm_status status = DKM_OK;
    dkm_ridge_settings s = dkm_ridge_settings_default();
    dkm_dmat *Y = NULL, *B = NULL;
    bench clock = {.ctx = r->ctx};
    bed b;

    *t = (timing){0};
    s.gamma = GAMMA;
    s.precision = precision;
    s.keep = DKM_STORE;
    DKM_TRY(open_bed(&b, r, m, d));
    DKM_TRY(dkm_dmat_create(b.grid, m, cols, b.nb, b.nb, DKM_F64, &Y));
    dkm_dmat_fill(Y, bench_calibrate_wave, NULL);
    for (int turn = 0; turn < TURNS; turn++) {
        double all, gram, factor, begun;
        dkm_dmat_destroy(&B);
        dkm_phase_clear(b.ctx);
        begun = bench_start(&clock);
        DKM_TRY(dkm_ridge_kernel(b.kernel, b.prepared, b.nb, &s, Y, &B, NULL));
        all = bench_stop(&clock, begun);
        gram = bench_phase(&clock, "gram", NULL);
        factor = bench_phase(&clock, "factor", NULL);
        t->gram += gram / TURNS;
        t->factor += factor / TURNS;
        t->rest += fmax(all - gram - factor, 0.0) / TURNS;
    }
out:
    dkm_phase_clear(r->ctx);
    dkm_dmat_destroy(&B);
    dkm_dmat_destroy(&Y);
    close_bed(&b);
    return status;
}

/* Eigenpairs of one matrix: seconds, and rounds of the block method. */
static dkm_status bench_calibrate_time_eigen(run *r, dkm_idx m, dkm_eigen_solver solver,
                                             dkm_idx pairs, double *seconds, double *rounds)
{
    dkm_status status = DKM_OK;
    dkm_eigen_settings s = dkm_eigen_settings_default();
    bench clock = {.ctx = r->ctx};
    dkm_eigen_info info = {0};
    double *values = NULL, begun;
    dkm_data *vectors = NULL;
    dkm_dmat *K = NULL;
    bed b;

    s.solver = solver;
    s.components = pairs;
    s.center = 1;
    DKM_TRY(open_bed(&b, r, m, MIDDLE));
    DKM_TRY(dkm_gram(b.grid, b.kernel, b.prepared, b.nb, DKM_F64, &K));
    begun = bench_start(&clock);
    DKM_TRY(dkm_eigen_leading(K, &s, &values, &vectors, NULL, &info));
    *seconds = bench_stop(&clock, begun);
    *rounds = info.rounds > 0 ? (double)info.rounds : 1.0;
out:
    dkm_phase_clear(r->ctx);
    dkm_eigen_values_free(&values);
    dkm_data_destroy(&vectors);
    dkm_dmat_destroy(&K);
    close_bed(&b);
    return status;
}

/* t = a x + b y at two sizes; neither share is negative. Where a busy machine leaves nothing for the
 * leading term, that gets all of the larger time: a rate without bound would plan no time at all. */
static void bench_calibrate_split(const double x[2], const double y[2], const double t[2],
                                  double *a, double *b)
{
    double det = x[0] * y[1] - x[1] * y[0];

    *a = (t[0] * y[1] - t[1] * y[0]) / det;
    *b = (x[0] * t[1] - x[1] * t[0]) / det;
    if (!(*a > 0) || !(*b > 0)) {
        *a = t[1] / x[1];
        *b = 0;
    }
}

/* The two sizes, and what they come to. */
typedef struct sizes {
    dkm_idx small, large;
    double square[2], third[2];
} sizes;

static sizes bench_calibrate_read_sizes(const run *r)
{
    sizes z = {.large = args_int(r->args, "n")};
    double m[2];

    z.small = z.large * 2 / 5;
    m[0] = (double)z.small;
    m[1] = (double)z.large;
    for (int k = 0; k < 2; k++) {
        z.square[k] = m[k] * m[k];
        z.third[k] = m[k] * m[k] * m[k] / 3.0;
    }
    return z;
}

static dkm_status measure_gram(run *r, calibration *c)
{
    dkm_status status = DKM_OK;
    const sizes z = bench_calibrate_read_sizes(r);
    const double elements = 0.5 * z.square[1];
    const double x[2] = {elements * NARROW, elements * WIDE}, y[2] = {elements, elements};
    double t[2];
    timing narrow, wide;

    DKM_TRY(bench_calibrate_time_ridge(r, z.large, NARROW, FEW, DKM_RIDGE_DOUBLE, &narrow));
    DKM_TRY(bench_calibrate_time_ridge(r, z.large, WIDE, FEW, DKM_RIDGE_DOUBLE, &wide));
    t[0] = narrow.gram;
    t[1] = wide.gram;
    bench_calibrate_split(x, y, t, &c->gram_column, &c->gram_element);
out:
    return status;
}

/* Factor and what follows it, in one precision. */
static dkm_status measure_ridge(run *r, dkm_ridge_precision precision, double *cube,
                                double *by_square, double *column, double *base)
{
    dkm_status status = DKM_OK;
    const sizes z = bench_calibrate_read_sizes(r);
    const double s = z.square[1], x[2] = {s * FEW, s * MANY}, y[2] = {s, s};
    double factor[2], rest[2];
    timing small, few, many;

    DKM_TRY(bench_calibrate_time_ridge(r, z.small, MIDDLE, FEW, precision, &small));
    DKM_TRY(bench_calibrate_time_ridge(r, z.large, MIDDLE, FEW, precision, &few));
    DKM_TRY(bench_calibrate_time_ridge(r, z.large, MIDDLE, MANY, precision, &many));
    factor[0] = small.factor;
    factor[1] = fmin(few.factor, many.factor);
    rest[0] = few.rest;
    rest[1] = many.rest;
    bench_calibrate_split(z.third, z.square, factor, cube, by_square);
    bench_calibrate_split(x, y, rest, column, base);
out:
    return status;
}

static dkm_status measure_eigen(run *r, calibration *c)
{
    dkm_status status = DKM_OK;
    const sizes z = bench_calibrate_read_sizes(r);
    const double m[2] = {(double)z.small, (double)z.large}, one[2] = {1, 1};
    const double root[2] = {sqrt(SOME_PAIRS), sqrt(PAIRS)}, block = dkm_cost_eigen_block(PAIRS);
    double x[2], y[2], t[2], rounds[2], seconds = 0, none;

    DKM_TRY(bench_calibrate_time_eigen(r, z.small, DKM_EIGEN_BLOCK, PAIRS, &t[0], &rounds[0]));
    DKM_TRY(bench_calibrate_time_eigen(r, z.large, DKM_EIGEN_BLOCK, PAIRS, &t[1], &rounds[1]));
    for (int k = 0; k < 2; k++) {
        t[k] /= rounds[k];
        x[k] = z.square[k] * block;
        y[k] = m[k] * block * dkm_cost_eigen_basis(PAIRS);
    }
    bench_calibrate_split(x, y, t, &c->round_column, &c->round_basis);
    DKM_TRY(
        bench_calibrate_time_eigen(r, z.large, DKM_EIGEN_BLOCK, SOME_PAIRS, &seconds, &rounds[0]));
    bench_calibrate_split(root, one, rounds, &c->rounds_root, &c->rounds_base);
    DKM_TRY(bench_calibrate_time_eigen(r, z.small, DKM_EIGEN_FULL, PAIRS, &seconds, &none));
    c->full_cube = seconds / (3.0 * z.third[0]);
out:
    return status;
}

static dkm_status measure_rounds(run *r, calibration *c)
{
    dkm_status status = DKM_OK;
    const sizes z = bench_calibrate_read_sizes(r);
    const double x[2] = {z.square[1] * FEW, z.square[1] * MANY}, y[2] = {z.square[1], z.square[1]};
    bench_joint few, many;
    double t[2];

    DKM_TRY(bench_rounds(r, z.large, FEW, &few));
    DKM_TRY(bench_rounds(r, z.large, MANY, &many));
    t[0] = few.apply;
    t[1] = many.apply;
    bench_calibrate_split(x, y, t, &c->apply_column, &c->apply_square);
    c->rows_square =
        fmax(0.5 * (few.start + many.start) / z.square[1] - c->gram_column * BENCH_FEATURES, 0.0);
out:
    return status;
}

/* Nodes are distinguished by who shares memory. */
static void count_machine(run *r, calibration *c)
{
    MPI_Comm node;
    int rank = 0, first, nodes = 0;

    MPI_Comm_split_type(dkm_ctx_comm(r->ctx), MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &rank);
    first = rank == 0;
    MPI_Allreduce(&first, &nodes, 1, MPI_INT, MPI_SUM, dkm_ctx_comm(r->ctx));
    MPI_Comm_free(&node);
    c->ranks = dkm_ctx_size(r->ctx);
    c->nodes = nodes;
    c->cores = (double)sysconf(_SC_NPROCESSORS_ONLN);
}

/* What a rank holds that has worked on next to nothing: libraries, and buffers of theirs. */
static dkm_status measure_base(run *r, calibration *c)
{
    dkm_status status = DKM_OK;
    timing tiny;

    DKM_TRY(bench_calibrate_time_ridge(r, TINY, NARROW, FEW, DKM_RIDGE_MIXED, &tiny));
    c->base_bytes = (double)dkm_peak_resident();
    MPI_Allreduce(MPI_IN_PLACE, &c->base_bytes, 1, MPI_DOUBLE, MPI_MAX, dkm_ctx_comm(r->ctx));
out:
    return status;
}

/* Seconds of one rank per kernel value: the best of some small Gram matrices. */
static dkm_status measure_map(run *r, calibration *c)
{
    dkm_status status = DKM_OK;
    const double elements = 0.5 * SMALL_GRAM * SMALL_GRAM;
    dkm_dmat *K = NULL;
    double best = 0;
    bed b;

    DKM_TRY(open_bed(&b, r, SMALL_GRAM, 1));
    for (int turn = 0; turn < SMALL_TURNS; turn++) {
        bench clock = {.ctx = r->ctx};
        double begun = bench_start(&clock), seconds;
        DKM_TRY(dkm_gram(b.grid, b.kernel, b.prepared, b.nb, DKM_F64, &K));
        seconds = bench_stop(&clock, begun);
        dkm_dmat_destroy(&K);
        best = turn == 0 || seconds < best ? seconds : best;
    }
    c->rank_map_element = best * c->ranks / elements;
out:
    dkm_phase_clear(r->ctx);
    close_bed(&b);
    return status;
}

/* What one rank does at a time, for models of messages and for simulations. */
static dkm_status measure_rank(run *r, calibration *c)
{
    dkm_status status = DKM_OK;
    dkm_rank_rates rank;

    DKM_TRY(dkm_rank_rates_measure(r->ctx, &rank));
    c->rank_gemm_double = rank.gemm_double;
    c->rank_gemm_single = rank.gemm_single;
    c->rank_syrk = rank.syrk;
    c->rank_trsm = rank.trsm;
    c->rank_potrf = rank.potrf;
    c->rank_skinny_bytes = rank.skinny_bytes;
    c->rank_copy_bytes = rank.copy_bytes;
    DKM_TRY(measure_map(r, c));
out:
    return status;
}

static dkm_status measure_all(run *r, calibration *c)
{
    dkm_status status = DKM_OK;

    *c = (calibration){0};
    count_machine(r, c);
    DKM_TRY(measure_base(r, c));
    DKM_TRY(measure_gram(r, c));
    DKM_TRY(measure_ridge(r, DKM_RIDGE_DOUBLE, &c->double_cube, &c->double_square, &c->solve_column,
                          &c->solve_square));
    DKM_TRY(measure_ridge(r, DKM_RIDGE_MIXED, &c->single_cube, &c->single_square, &c->refine_column,
                          &c->refine_square));
    DKM_TRY(measure_eigen(r, c));
    DKM_TRY(measure_rounds(r, c));
    DKM_TRY(measure_rank(r, c));
out:
    return status;
}

/* Times that a busy machine made nonsense of are measured again. */
static dkm_status measure_soundly(run *r, calibration *c)
{
    dkm_status status = DKM_OK;
    const char *bad = NULL;

    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        if (bad)
            dkm_log(r->ctx, DKM_WARN, "the rate %s came out as 0 or without bound: measuring again",
                    bad);
        DKM_TRY(measure_all(r, c));
        bad = calibration_unsound(c);
        if (!bad)
            goto out;
    }
    DKM_AGREE(
        r->ctx,
        dkm_fail(r->ctx, DKM_ERR_NUMERIC,
                 "the rate %s came out as 0 or without bound %d times: nothing is stored; use a "
                 "larger --n, on a machine that does nothing else",
                 bad, ATTEMPTS));
out:
    return status;
}

static dkm_status calibrate(run *r)
{
    dkm_status status = DKM_OK;
    calibration c;
    char path[CALIBRATION_PATH];

    DKM_TRY(calibration_place(r, path));
    DKM_TRY(measure_soundly(r, &c));
    DKM_TRY(calibration_write(r, &c, path));
    report_int(r, "ranks", (int64_t)c.ranks);
    report_real(r, "double_gflops", 1e-9 / c.double_cube);
    report_real(r, "single_gflops", 1e-9 / c.single_cube);
    report_real(r, "gram_gflops", 2e-9 / c.gram_column);
    report_real(r, "rank_gemm_gflops", 1e-9 * c.rank_gemm_double);
    report_seconds(r);
    report_text(r, "calibration", path);
out:
    return status;
}

static const option options[] = {{.name = "n",
                                  .kind = OPT_INT,
                                  .metavar = "N",
                                  .min = 256,
                                  .max = 65536,
                                  .default_text = "4096",
                                  .help = "rows of the larger of the two sizes"},
                                 {0}};

const command command_bench_calibrate = {
    .name = "bench calibrate",
    .summary = "measure this machine for `dkmap plan`, and keep the figures",
    .about =
        "Times the parts of all methods at two sizes on these ranks and keeps what it finds in "
        "a file for this machine and rank count. `dkmap bench --calibrate` is the same.",
    .example = "mpirun -np 16 dkmap bench --calibrate",
    .tables = {options, dkm_layout_settings, compute_options, report_options},
    .run = calibrate,
};
