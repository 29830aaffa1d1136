#include <dkmap/bench.h>

#include <limits.h>
#include <string.h>

#include "core/alloc.h"
#include "linalg/backend/blas.h"
#include "linalg/eigen/syevd.h"
#include "linalg/kernels/gemm_tallskinny.h"

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

enum { RANK_ORDER = 2048, RANK_PIECE = 512, RANK_DEPTH = 128, RANK_BLOCK = 64 };
enum {
    RANK_TURNS = 40,
    RANK_POTRF = 8
}; /* short turns, of which a busy machine leaves some alone */

/* A matrix past caches and factors for it, in both precisions. */
typedef struct rank_problem {
    double *A, *B;
    float *A32, *B32;
} rank_problem;

static dkm_local rank_problem_open(dkm_ctx *ctx, rank_problem *w)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx a = (dkm_idx)RANK_ORDER * RANK_ORDER, b = (dkm_idx)RANK_ORDER * RANK_DEPTH;

    *w = (rank_problem){0};
    DKM_STEP(dkm_alloc(ctx, a, &w->A));
    DKM_STEP(dkm_alloc(ctx, b, &w->B));
    DKM_STEP(dkm_alloc(ctx, a, &w->A32));
    DKM_STEP(dkm_alloc(ctx, b, &w->B32));
    for (dkm_idx k = 0; k < a; k++)
        w->A32[k] = (float)(w->A[k] = 1e-3 * (double)(k % 101));
    for (dkm_idx k = 0; k < b; k++)
        w->B32[k] = (float)(w->B[k] = 1e-3 * (double)(k % 103));
out:
    return local;
}

static void rank_problem_close(rank_problem *w)
{
    DKM_FREE(w->B32);
    DKM_FREE(w->A32);
    DKM_FREE(w->B);
    DKM_FREE(w->A);
}

static void rank_gemm(rank_problem *w)
{
    dkm_blas_gemm(DKM_F64, 'N', 'T', RANK_PIECE, RANK_PIECE, RANK_DEPTH, -1e-6, w->B, RANK_ORDER,
                  w->B, RANK_ORDER, 1.0, w->A, RANK_ORDER);
}

static void rank_gemm_f32(rank_problem *w)
{
    dkm_blas_gemm(DKM_F32, 'N', 'T', RANK_PIECE, RANK_PIECE, RANK_DEPTH, -1e-6, w->B32, RANK_ORDER,
                  w->B32, RANK_ORDER, 1.0, w->A32, RANK_ORDER);
}

static void rank_syrk(rank_problem *w)
{
    for (dkm_idx k = 0; k + RANK_BLOCK <= RANK_ORDER; k += RANK_BLOCK)
        dkm_blas_syrk(DKM_F64, 'N', RANK_BLOCK, 2 * RANK_BLOCK, -1e-6, w->B + k, RANK_ORDER, 1.0,
                      w->A + k + k * RANK_ORDER, RANK_ORDER);
}

/* The unit of the first block is that of a factor. */
static void rank_unit_block(rank_problem *w)
{
    for (dkm_idx j = 0; j < RANK_BLOCK; j++)
        for (dkm_idx i = 0; i < RANK_BLOCK; i++)
            w->A[i + j * RANK_ORDER] = i == j ? 1.0 : 0.0;
}

static void rank_trsm(rank_problem *w)
{
    rank_unit_block(w);
    dkm_blas_trsm_right(DKM_F64, 'T', RANK_ORDER, RANK_BLOCK, w->A, RANK_ORDER, w->B, RANK_ORDER);
}

static void rank_potrf(rank_problem *w)
{
    for (int k = 0; k < RANK_POTRF; k++) {
        rank_unit_block(w);
        (void)dkm_blas_potrf(DKM_F64, RANK_BLOCK, w->A, RANK_ORDER);
    }
}

static void rank_skinny(rank_problem *w)
{
    dkm_ts_tile t = {DKM_F64, RANK_ORDER, RANK_ORDER, RANK_ORDER, w->A};

    dkm_ts_gemm_n(&t, 8, w->B, w->B + RANK_ORDER * RANK_BLOCK);
}

static void rank_copy(rank_problem *w)
{
    memcpy(w->A32, w->A, (size_t)RANK_ORDER * RANK_ORDER * sizeof *w->A32);
}

/* Seconds of the slowest rank in the best of its turns. */
static double rank_time(dkm_ctx *ctx, rank_problem *w, void (*step)(rank_problem *))
{
    double best = 0;

    for (int turn = 0; turn < RANK_TURNS; turn++) {
        double begun = MPI_Wtime(), seconds;
        step(w);
        seconds = MPI_Wtime() - begun;
        best = turn == 0 || seconds < best ? seconds : best;
    }
    MPI_Allreduce(MPI_IN_PLACE, &best, 1, MPI_DOUBLE, MPI_MAX, dkm_ctx_comm(ctx));
    return best;
}

/* Flops per second, when what a product moves goes at the rate of a copy. */
static double rank_gemm_rate(double seconds, double width, double copy)
{
    const double n = RANK_PIECE, k = RANK_DEPTH, moved = width * (2.0 * n * k + 2.0 * n * n) / copy;

    return 2.0 * n * n * k / (seconds > 2.0 * moved ? seconds - moved : 0.5 * seconds);
}

dkm_status dkm_rank_rates_measure(dkm_ctx *ctx, dkm_rank_rates *rates)
{
    dkm_status status = DKM_OK;
    const double order = RANK_ORDER, block = RANK_BLOCK;
    rank_problem w = {0};

    *rates = (dkm_rank_rates){0};
    DKM_AGREE(ctx, rank_problem_open(ctx, &w));
    dkm_blas_use_threads(ctx);
    rates->copy_bytes = 8.0 * order * order / rank_time(ctx, &w, rank_copy);
    rates->gemm_double = rank_gemm_rate(rank_time(ctx, &w, rank_gemm), 8.0, rates->copy_bytes);
    rates->gemm_single = rank_gemm_rate(rank_time(ctx, &w, rank_gemm_f32), 4.0, rates->copy_bytes);
    rates->syrk = 2.0 * order * block * block / rank_time(ctx, &w, rank_syrk);
    rates->trsm = order * block * block / rank_time(ctx, &w, rank_trsm);
    rates->potrf = RANK_POTRF * block * block * block / 3.0 / rank_time(ctx, &w, rank_potrf);
    rates->skinny_bytes = 8.0 * order * order / rank_time(ctx, &w, rank_skinny);
out:
    rank_problem_close(&w);
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
