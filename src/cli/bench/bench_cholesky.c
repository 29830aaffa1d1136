#include <dkmap/bench.h>
#include <dkmap/ridge.h>

#include "cli/bench/bench.h"
#include "cli/commands/commands.h"

/* The factorization is a part of solving a system of one right-hand side, whose residual is known.
 */
static dkm_status bench_cholesky_time_cholesky(bench *b, bench_turn *t)
{
    dkm_status status = DKM_OK;
    dkm_dmat *K = NULL, *y = NULL, *x = NULL;
    dkm_ridge_info info;
    dkm_idx calls = 0;
    double n = (double)b->n, gamma;

    DKM_TRY(run_positive(b->r, "gamma", &gamma));
    DKM_TRY(dkm_gram(b->grid, b->kernel, b->prepared, b->nb, b->precision, &K));
    DKM_TRY(bench_random(b, 1, b->precision, &y));
    (void)bench_start(b);
    DKM_TRY(dkm_ridge_solve(K, gamma, y, &x, &info));
    t->seconds = bench_phase(b, "factor", &calls);
    t->flops = (double)calls * n * n * n / 3.0;
    t->residual = info.residual;
    bench_note_real(t, "condition", info.condition);
    bench_note_text(t, "factor", dkm_factor_name(b->ctx));
    if (info.jitter_steps > 0)
        bench_note_real(t, "jitter", info.jitter);
out:
    dkm_dmat_destroy(&x);
    dkm_dmat_destroy(&y);
    dkm_dmat_destroy(&K);
    return status;
}

static dkm_status bench_cholesky(run *r)
{
    dkm_status status = DKM_OK;
    bench b;

    DKM_TRY(bench_open(&b, r, bench_matrix_precision(r)));
    DKM_TRY(bench_run(&b, bench_cholesky_time_cholesky));
out:
    bench_close(&b);
    return status;
}

static const option options[] = {ROW_N,     ROW_DENSE,      ROW_D,
                                 ROW_SIGMA, ROW_GAMMA("1"), ROW_MATRIX_PRECISION,
                                 ROW_GEMM,  ROW_REPEAT,     {0}};

const command command_bench_cholesky = {
    .name = "bench cholesky",
    .summary = "the factor of a kernel matrix plus a ridge",
    .about = "Times the factorization alone and counts n^3 / 3 operations. The residual is that of "
             "a system with one right side, ||(K + gamma I) x - y|| / ||y||.",
    .example = "mpirun -np 4 dkmap bench cholesky --n 12000 --record bench.jsonl",
    .tables = {options, dkm_layout_settings, compute_options, report_options},
    .run = bench_cholesky,
};
