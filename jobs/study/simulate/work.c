/* What computing costs in simulated time.
 *
 * A product of m x n by k takes 2 m n k / rate seconds and those of moving its operands; the rates are
 * those that `dkmap bench calibrate` measured on one rank of the node. Real operands are also
 * computed with, so that iterations converge as they do in a run. A shared matrix stands for a diagonal
 * one, with the eigenvalues 1 / (1 + i)^2 + 1e-3 i in 0 .. m - 1: its products and solves are those. */
#include <math.h>
#include <smpi/smpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/evaluation/tile_maps.h"
#include "linalg/backend/blas.h"
#include "linalg/kernels/gemm_tallskinny.h"
#include "linalg/linalg.h"
#include "linalg/symm/symm_multivec.h"
#include "matrix/dmat_impl.h"
#include "simulate.h"

#define HOST_SPEED 1e9 /* flops per second of a core of the platform file */

sim_rates sim_rate;

static struct {
    double *left; /* seconds of each rank that have yet to pass */
} work;

static double *work_left(void)
{
    if (!work.left) {
        int size = 0;
        PMPI_Comm_size(MPI_COMM_WORLD, &size);
        work.left = calloc((size_t)size, sizeof *work.left);
    }
    return &work.left[sim_rank()];
}

static void spend(double seconds)
{
    *work_left() += seconds;
}

void sim_flush(void)
{
    double *left = work_left(), seconds = *left;

    *left = 0;
    if (seconds > 0)
        smpi_execute_flops(seconds * HOST_SPEED);
}

int sim_rates_read(const char *path)
{
    static const struct {
        const char *name;
        double *value;
    } known[] = {{"rank_gemm_double", &sim_rate.gemm_double},
                 {"rank_gemm_single", &sim_rate.gemm_single},
                 {"rank_syrk", &sim_rate.syrk},
                 {"rank_trsm", &sim_rate.trsm},
                 {"rank_potrf", &sim_rate.potrf},
                 {"rank_skinny_bytes", &sim_rate.skinny_bytes},
                 {"rank_copy_bytes", &sim_rate.copy_bytes},
                 {"rank_map_element", &sim_rate.map_element}};
    FILE *f = fopen(path, "r");
    char name[64];
    double value;
    int found = 0;

    while (f && fscanf(f, "%63s %lf", name, &value) == 2)
        for (size_t k = 0; k < sizeof known / sizeof *known; k++)
            if (strcmp(name, known[k].name) == 0 && isfinite(value) && value > 0) {
                *known[k].value = value;
                found++;
            }
    if (f)
        fclose(f);
    return found == sizeof known / sizeof *known;
}

static double width_of(dkm_precision p)
{
    return p == DKM_F64 ? 8.0 : 4.0;
}

/* Rates of the blocks of a factor are measured in double, and doubled in single precision. */
static double by_precision(dkm_precision p, double rate)
{
    return p == DKM_F64 ? rate : 2.0 * rate;
}

#define WRAP(type, name, parameters)                                                               \
    type __real_##name parameters;                                                                 \
    type __wrap_##name parameters;                                                                 \
    type __wrap_##name parameters

static double gemm_seconds(dkm_precision p, double m, double n, double k)
{
    return 2.0 * m * n * k / (p == DKM_F64 ? sim_rate.gemm_double : sim_rate.gemm_single) +
           width_of(p) * (m * k + k * n + 2.0 * m * n) / sim_rate.copy_bytes;
}

double sim_gemm_rate(void)
{
    const double n = 1024, k = 256;

    return 2.0 * n * n * k / gemm_seconds(DKM_F64, n, n, k);
}

WRAP(void, dkm_blas_gemm,
     (dkm_precision p, char ta, char tb, dkm_idx m, dkm_idx n, dkm_idx k, double alpha,
      const void *A, dkm_idx lda, const void *B, dkm_idx ldb, double beta, void *C, dkm_idx ldc))
{
    spend(gemm_seconds(p, (double)m, (double)n, (double)k));
    if (!sim_is_shared(A) && !sim_is_shared(B) && !sim_is_shared(C))
        __real_dkm_blas_gemm(p, ta, tb, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
}

WRAP(void, dkm_blas_syrk,
     (dkm_precision p, char trans, dkm_idx n, dkm_idx k, double alpha, const void *A, dkm_idx lda,
      double beta, void *C, dkm_idx ldc))
{
    spend((double)n * (double)n * (double)k / by_precision(p, sim_rate.syrk));
    if (!sim_is_shared(A) && !sim_is_shared(C))
        __real_dkm_blas_syrk(p, trans, n, k, alpha, A, lda, beta, C, ldc);
}

WRAP(void, dkm_blas_trsm_right,
     (dkm_precision p, char trans, dkm_idx m, dkm_idx n, const void *L, dkm_idx ldl, void *B,
      dkm_idx ldb))
{
    spend((double)m * (double)n * (double)n / by_precision(p, sim_rate.trsm));
    if (!sim_is_shared(L) && !sim_is_shared(B))
        __real_dkm_blas_trsm_right(p, trans, m, n, L, ldl, B, ldb);
}

WRAP(int, dkm_blas_potrf, (dkm_precision p, dkm_idx n, void *A, dkm_idx lda))
{
    spend((double)n * (double)n * (double)n / 3.0 / by_precision(p, sim_rate.potrf));
    if (!sim_is_shared(A))
        return __real_dkm_blas_potrf(p, n, A, lda);
    sim_sample_block();
    return 0;
}

/* A tile is read once, whatever the few columns. */
static void spend_skinny(const dkm_ts_tile *t)
{
    spend((double)t->na * (double)t->nb * width_of(t->precision) / sim_rate.skinny_bytes);
}

extern const dkm_ts_kernels __real_dkm_ts_kernels_baseline;
extern const dkm_ts_kernels __wrap_dkm_ts_kernels_baseline;

static void skinny_n(const dkm_ts_tile *t, dkm_idx pad, const void *V, void *W)
{
    spend_skinny(t);
    if (!sim_is_shared(t->T))
        __real_dkm_ts_kernels_baseline.gemm_n(t, pad, V, W);
}

static void skinny_t(const dkm_ts_tile *t, dkm_idx pad, const void *V, void *W)
{
    spend_skinny(t);
    if (!sim_is_shared(t->T))
        __real_dkm_ts_kernels_baseline.gemm_t(t, pad, V, W);
}

const dkm_ts_kernels __wrap_dkm_ts_kernels_baseline = {skinny_n, skinny_t};

WRAP(void, dkm_map_gauss, (const dkm_tile *C, const double *a, const double *b, double rate))
{
    spend((double)C->na * (double)C->nb * sim_rate.map_element);
    if (!sim_is_shared(C->c))
        __real_dkm_map_gauss(C, a, b, rate);
}

/* ScaLAPACK is not here: its product takes the time of its flops, sends nothing and is left out. What
 * pcg preconditions with is then gamma K_nn, so that iterations are to be given. */
WRAP(void, dkm_la_syrk, (char trans, double alpha, const dkm_dmat *A, double beta, dkm_dmat *C))
{
    double inner = (double)(trans == 'T' ? A->m : A->n),
           ranks = (double)dkm_grid_rows(C->grid) * (double)dkm_grid_cols(C->grid);

    (void)alpha;
    spend((double)C->n * (double)C->n * inner / ranks / sim_rate.gemm_double);
    for (dkm_idx k = 0; k < C->ld * C->n_loc && C->precision == DKM_F64; k++)
        C->a.f64[k] *= beta;
}

/* Shared matrices stand for diagonal ones: eigenvalue of row i. */
static double eigenvalue(dkm_idx i)
{
    return 1.0 / ((1.0 + (double)i) * (1.0 + (double)i)) + 1e-3;
}

/* V <- diag(eigenvalues)^sign V. */
static void apply_diagonal(dkm_ctx *ctx, dkm_idx m, int sign, dkm_idx p, dkm_idx ldv,
                           const double *V, dkm_idx ldw, double *W)
{
    int rank = dkm_ctx_rank(ctx), size = dkm_ctx_size(ctx);
    dkm_idx first = dkm_slab_first(m, rank, size), n = dkm_slab_count(m, rank, size);

    for (dkm_idx i = 0; i < n; i++)
        for (dkm_idx j = 0; j < p; j++)
            W[i * ldw + j] = sign > 0 ? V[i * ldv + j] * eigenvalue(first + i)
                                      : V[i * ldv + j] / eigenvalue(first + i);
}

/* All ranks have about as much of a matrix that is shared. */
static int is_shared_matrix(const dkm_dmat *A)
{
    return sim_is_shared(A->a.any);
}

/* V as it is before a product with a shared matrix, which may overwrite it; NULL for other matrices. */
static double *copy_for_shared(const dkm_dmat *K, const dkm_multivec *V)
{
    size_t numbers = (size_t)(V->n * V->cols);
    double *copy = is_shared_matrix(K) ? malloc((numbers + 1) * sizeof *copy) : NULL;

    for (dkm_idx i = 0; copy && i < V->n; i++)
        memcpy(copy + i * V->cols, V->a + i * V->ld, (size_t)V->cols * sizeof *copy);
    return copy;
}

/* W is what the diagonal that a shared matrix stands for makes of the copy. */
static void finish_for_shared(const dkm_dmat *K, double *copy, dkm_multivec *W)
{
    if (copy)
        apply_diagonal(dkm_grid_ctx(K->grid), K->m, 1, W->cols, W->cols, copy, W->ld, W->a);
    free(copy);
}

WRAP(dkm_status, dkm_symm_apply,
     (char uplo, const dkm_dmat *K, const dkm_multivec *V, dkm_multivec *W))
{
    double *copy = copy_for_shared(K, V);
    dkm_status status = __real_dkm_symm_apply(uplo, K, V, W);

    finish_for_shared(K, copy, W);
    return status;
}

WRAP(dkm_status, dkm_symm_apply_again,
     (dkm_symm * sweep, char uplo, const dkm_dmat *K, const dkm_multivec *V, dkm_multivec *W))
{
    double *copy = copy_for_shared(K, V);
    dkm_status status = __real_dkm_symm_apply_again(sweep, uplo, K, V, W);

    finish_for_shared(K, copy, W);
    return status;
}

WRAP(dkm_status, dkm_symm_multivec, (char uplo, const dkm_dmat *K, dkm_idx p, double *rows))
{
    dkm_multivec V = dkm_multivec_view(dkm_grid_ctx(K->grid), K->m, p, rows);

    return __wrap_dkm_symm_apply(uplo, K, &V, &V);
}

WRAP(dkm_status, dkm_la_potrs_multivec, (const dkm_dmat *L, dkm_idx p, double *rows))
{
    dkm_ctx *ctx = dkm_grid_ctx(L->grid);
    size_t bytes =
        (size_t)(dkm_slab_count(L->n, dkm_ctx_rank(ctx), dkm_ctx_size(ctx)) * p) * sizeof *rows;
    double *copy = is_shared_matrix(L) ? malloc(bytes + 1) : NULL;
    dkm_status status;

    if (copy)
        memcpy(copy, rows, bytes);
    status = __real_dkm_la_potrs_multivec(L, p, rows);
    if (copy)
        apply_diagonal(ctx, L->n, -1, p, p, copy, p, rows);
    free(copy);
    return status;
}
