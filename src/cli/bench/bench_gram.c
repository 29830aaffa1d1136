#include <math.h>

#include <dkmap/data.h>

#include "cli/bench/bench.h"
#include "cli/commands/commands.h"

enum { SAMPLE = 1000 };

static double rbf(const bench *b, const dkm_data *A, const dkm_data *B, dkm_idx il)
{
    const double *x = dkm_data_values_const(A) + il * b->d;
    const double *z = dkm_data_values_const(B) + il * b->d;
    double square = 0;

    for (dkm_idx k = 0; k < b->d; k++)
        square += (x[k] - z[k]) * (x[k] - z[k]);
    return exp(-square / (2.0 * b->sigma * b->sigma));
}

/* What all ranks hold at most beside the data, in units of the matrix. Collective. */
static void note_memory(bench *b, bench_turn *t)
{
    double bytes = b->precision == DKM_F64 ? 8.0 : 4.0, peak = (double)dkm_peak_resident();
    double matrix = bytes * (double)b->n * (double)b->n, data = 8.0 * (double)b->n * (double)b->d;

    MPI_Allreduce(MPI_IN_PLACE, &peak, 1, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(b->ctx));
    bench_note_real(t, "matrix_bytes", matrix);
    bench_note_real(t, "data_bytes", data);
    bench_note_real(t, "memory_ratio", (peak - data) / matrix);
}

static dkm_status time_gram(bench *b, bench_turn *t)
{
    dkm_status status = DKM_OK;
    dkm_dmat *K = NULL;
    double begun = bench_start(b);

    DKM_TRY(dkm_gram(b->grid, b->kernel, b->prepared, b->nb, b->precision, &K));
    t->seconds = bench_stop(b, begun);
    t->flops = (double)b->n * (double)b->n * (double)b->d;
    note_memory(b, t);
    DKM_TRY(bench_sample(b, K, SAMPLE, rbf, &t->residual));
out:
    dkm_dmat_destroy(&K);
    return status;
}

static dkm_status bench_gram(run *r)
{
    dkm_status status = DKM_OK;
    bench b;

    DKM_TRY(bench_open(&b, r, bench_matrix_precision(r)));
    DKM_TRY(bench_run(&b, time_gram));
out:
    bench_close(&b);
    return status;
}

static const option options[] = {ROW_N,    ROW_DENSE,  ROW_D, ROW_SIGMA, ROW_MATRIX_PRECISION,
                                 ROW_GEMM, ROW_REPEAT, {0}};

const command command_bench_gram = {
    .name = "bench gram",
    .summary = "the kernel matrix of dense rows, kernel rbf",
    .about = "Counts n^2 d operations, those of one triangle. The residual is the largest "
             "difference of a sample of entries from what the kernel's definition says. "
             "memory_ratio is what all ranks hold at most, less the data, over the bytes of the "
             "matrix.",
    .example = "mpirun -np 4 dkmap bench gram --n 16000 --precision single --record bench.jsonl",
    .tables = {options, dkm_layout_settings, compute_options, report_options},
    .run = bench_gram,
};
