#include <dkmap/bench.h>

#include <limits.h>
#include <string.h>

#include "core/alloc.h"
#include "linalg/backend/blas.h"
#include "linalg/eigen/syevd.h"

#define GEMM_TURNS 3

typedef struct gemm_problem {
    dkm_precision precision;
    dkm_idx n;
    void *A, *B, *C;
} gemm_problem;

/* Numbers of about 1 in A and B: nothing that a processor is slow or quick with. */
static void bench_fill(const gemm_problem *w)
{
    for (dkm_idx k = 0; k < w->n * w->n; k++) {
        double value = 1.0 + 1e-3 * (double)(k % 101);
        if (w->precision == DKM_F64)
            ((double *)w->A)[k] = ((double *)w->B)[k] = value;
        else
            ((float *)w->A)[k] = ((float *)w->B)[k] = (float)value;
    }
}

static dkm_local gemm_problem_open(dkm_ctx *ctx, dkm_precision precision, dkm_idx n,
                                   gemm_problem *w)
{
    dkm_local local = DKM_LOCAL_OK;
    size_t bytes = precision == DKM_F64 ? sizeof(double) : sizeof(float);

    *w = (gemm_problem){.precision = precision, .n = n};
    if (n < 1 || n > INT_MAX)
        return dkm_fail(ctx, DKM_ERR_ARG, "matrices of order %lld cannot be multiplied",
                        (long long)n);
    DKM_STEP(dkm_alloc_at(ctx, __FILE__, __LINE__, n * n, bytes, &w->A));
    DKM_STEP(dkm_alloc_at(ctx, __FILE__, __LINE__, n * n, bytes, &w->B));
    DKM_STEP(dkm_calloc_at(ctx, __FILE__, __LINE__, n * n, bytes, &w->C));
    bench_fill(w);
out:
    return local;
}

static void gemm_problem_close(gemm_problem *w)
{
    DKM_FREE(w->A);
    DKM_FREE(w->B);
    DKM_FREE(w->C);
}

/* Seconds since @p begun, of the slowest rank. */
static double max_elapsed(dkm_ctx *ctx, double begun)
{
    double seconds = MPI_Wtime() - begun;

    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, dkm_ctx_comm(ctx));
    return seconds;
}

static double gemm_problem_time(dkm_ctx *ctx, const gemm_problem *w)
{
    double begun;

    MPI_Barrier(dkm_ctx_comm(ctx));
    begun = MPI_Wtime();
    dkm_blas_gemm(w->precision, 'N', 'N', w->n, w->n, w->n, 1.0, w->A, w->n, w->B, w->n, 0.0, w->C,
                  w->n);
    return max_elapsed(ctx, begun);
}

dkm_status dkm_gemm_rate(dkm_ctx *ctx, dkm_precision precision, dkm_idx n, double *rate)
{
    dkm_status status = DKM_OK;
    double order = (double)n, best = 0;
    gemm_problem w = {0};

    *rate = 0;
    DKM_AGREE(ctx, gemm_problem_open(ctx, precision, n, &w));
    dkm_blas_use_threads(ctx);
    for (int turn = 0; turn < GEMM_TURNS; turn++) {
        double seconds = gemm_problem_time(ctx, &w);
        best = turn == 0 || seconds < best ? seconds : best;
    }
    *rate = 2.0 * order * order * order * dkm_ctx_size(ctx) / best;
out:
    gemm_problem_close(&w);
    return status;
}

static dkm_eigen_library library_of(const char *name)
{
    return strcmp(name, "elpa") == 0 ? DKM_EIGEN_ELPA : DKM_EIGEN_SCALAPACK;
}

int dkm_eigen_built_in(const char *library)
{
    return (strcmp(library, "elpa") == 0 || strcmp(library, "scalapack") == 0) &&
           dkm_la_syevd_has(library_of(library));
}

static dkm_local check_direct(dkm_ctx *ctx, const dkm_dmat *K, const char *library)
{
    if (dkm_dmat_rows(K) != dkm_dmat_cols(K) || dkm_dmat_row_block(K) != dkm_dmat_col_block(K) ||
        dkm_dmat_precision(K) != DKM_F64)
        return dkm_fail(ctx, DKM_ERR_ARG,
                        "eigenpairs need a square double matrix in square blocks");
    if (!dkm_eigen_built_in(library))
        return dkm_fail(ctx, DKM_ERR_UNSUPPORTED, "dkmap was built without an eigensolver '%s'",
                        library);
    return DKM_LOCAL_OK;
}

dkm_status dkm_eigen_direct(dkm_dmat *K, const char *library, double *values, double *seconds)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_grid_ctx(dkm_dmat_grid(K));
    dkm_eigen_library taken = library_of(library);
    dkm_dmat *Z = NULL;
    double begun;

    DKM_AGREE(ctx, check_direct(ctx, K, library));
    DKM_TRY(dkm_memory_check(ctx, dkm_la_syevd_bytes(K, taken), "the full eigensolve"));
    MPI_Barrier(dkm_ctx_comm(ctx));
    begun = MPI_Wtime();
    DKM_TRY(dkm_la_syevd(K, &taken, values, &Z));
    *seconds = max_elapsed(ctx, begun);
out:
    dkm_dmat_destroy(&Z);
    return status;
}
