#include <dkmap/bench.h>
#include <dkmap/ridge.h>

#include "cli/bench/bench.h"
#include "cli/commands/commands.h"

/* What a fit of ridge regression communicates: the Gram matrix, its factor and the solves. */
static dkm_status bench_comm_solve(bench *b, bench_turn *t)
{
    dkm_status status = DKM_OK;
    dkm_dmat *K = NULL, *Y = NULL, *X = NULL;
    dkm_ridge_info info;
    double n = (double)b->n, gamma, begun;

    DKM_TRY(run_positive(b->r, "gamma", &gamma));
    DKM_TRY(bench_random(b, args_int(b->r->args, "outputs"), b->precision, &Y));
    begun = bench_start(b);
    DKM_TRY(dkm_gram(b->grid, b->kernel, b->prepared, b->nb, b->precision, &K));
    DKM_TRY(dkm_ridge_solve(K, gamma, Y, &X, &info));
    t->seconds = bench_stop(b, begun);
    t->flops = n * n * (double)b->d + n * n * n / 3.0;
    t->residual = info.residual;
    bench_note_text(t, "factor", dkm_factor_name(b->ctx));
out:
    dkm_dmat_destroy(&X);
    dkm_dmat_destroy(&Y);
    dkm_dmat_destroy(&K);
    return status;
}

static dkm_local bench_comm_check(run *r)
{
    if (dkm_ctx_comm_reader(r->ctx))
        return DKM_LOCAL_OK;
    return dkm_fail(r->ctx, DKM_ERR_IO,
                    "libdkmap_mpi_profiler.so is not beside libdkmap, or cannot be loaded: nothing "
                    "would be counted");
}

static dkm_status bench_comm(run *r)
{
    dkm_status status = DKM_OK;
    bench b = {0};

    DKM_AGREE(r->ctx, bench_comm_check(r));
    DKM_TRY(bench_open(&b, r, bench_matrix_precision(r)));
    b.against_gemm = 0;
    DKM_TRY(bench_run(&b, bench_comm_solve));
out:
    bench_close(&b);
    return status;
}

static const option options[] = {
    ROW_N,
    ROW_DENSE,
    ROW_D,
    ROW_SIGMA,
    ROW_GAMMA("1"),
    {.name = "outputs",
     .kind = OPT_INT,
     .metavar = "P",
     .min = 1,
     .default_text = "1",
     .help = "right-hand sides"},
    ROW_MATRIX_PRECISION,
    {.name = "repeat",
     .kind = OPT_INT,
     .metavar = "R",
     .min = 1,
     .max = 1000,
     .default_text = "1",
     .help = "how often: counts are the same each time, seconds are not"},
    {0}};

const command command_bench_comm = {
    .name = "bench comm",
    .summary = "bytes, messages and seconds in MPI of a ridge system, phase by phase",
    .about = "Makes a Gram matrix, factors it and solves, and prints for each phase what the ranks "
             "communicated: least, mean and most of a rank. Bytes are those given to MPI; what its "
             "collectives make of them is counted by jobs/study/count_comm.sh. Any command counts "
             "the same with --count-comm.",
    .example = "mpirun -np 16 --oversubscribe dkmap bench comm --n 4096 --d 20",
    .counts_comm = 1,
    .tables = {options, dkm_layout_settings, compute_options, report_options},
    .run = bench_comm,
};
