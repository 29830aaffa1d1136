/* Kernel matrix extrapolation (Vishwanathan, Borgwardt, Guttman and Smola 2006, Neurocomputing
 * 69(7-9):721-729): Q >= 0 that makes F Q F' nearest to K, with or without the shear constraint K -
 * F Q F' >= 0.
 *
 * With orthonormal V = F C that spans the features, K_Q = V A V' and Q = C A C'. Under the shear
 * constraint A is the Schur complement of V2'K V2 in K, which is (V'K^-1 V)^-1: with K = L L' and
 * the singular values s and right vectors B of W = L^-1 V, A = B s^-2 B'. A singular K is shifted
 * first by a little more than rounding error: as the shift goes to zero, A tends to the Schur
 * complement with a pseudo-inverse, and feature directions outside the range of K get almost no
 * weight. Without the constraint A = V'K V.
 *
 * Cost per rank: two TSQR of m x n, 4 m n^2 / ranks flops; m^3 / (3 ranks) for the factor of K
 * under the constraint, 2 m^2 n / ranks for products or solves. Replicated: a few n x n matrices.
 */
#include <dkmap/extrapolate.h>

#include <float.h>
#include <math.h>
#include <string.h>

#include <dkmap/psd.h>

#include "core/alloc.h"
#include "core/mpi_calls.h"
#include "linalg/backend/blas.h"
#include "linalg/eigen/syevd.h"
#include "linalg/factor/tsqr.h"
#include "linalg/linalg.h"
#include "linalg/multivec_gram.h"
#include "linalg/symm/symm_multivec.h"
#include "matrix/multivec.h"
#include "solvers/eigen/power_iteration.h"
#include "solvers/ridge/shifted_cholesky.h"

#define SHIFT       16.0 /* times sqrt(m) eps lambda_1: what is added to a singular K */
#define SHIFT_STEPS 5    /* each ten times the one before */
#define SINGULAR_RATIO                                                                             \
    1e4 /* directions with less than this times the shift are outside its range */

typedef struct work {
    dkm_ctx *ctx;
    dkm_dmat *K;
    dkm_multivec F; /* borrowed: not to be written to */
    dkm_idx m, n, r, t;
    double *C;      /* n x r, column-major */
    dkm_multivec V; /* m x r */
    double *A;      /* r x r: vectors of A in its columns, those that are retained first */
    double *a;      /* r values of A beside them */
    double *root;   /* n x t, row-major */
    const dkm_extrapolate_settings *settings;
    dkm_extrapolate_info info;
} work;

dkm_extrapolate_settings dkm_extrapolate_settings_default(void)
{
    return (dkm_extrapolate_settings){.shear = 1};
}

void dkm_extrapolate_free(double **root)
{
    DKM_FREE(*root);
}

static dkm_local extrapolate_check(const work *w, const dkm_data *F)
{
    if (dkm_dmat_rows(w->K) != dkm_dmat_cols(w->K) ||
        dkm_dmat_row_block(w->K) != dkm_dmat_col_block(w->K) || dkm_dmat_precision(w->K) != DKM_F64)
        return dkm_fail(w->ctx, DKM_ERR_ARG,
                        "extrapolation needs a square double matrix in square blocks");
    if (dkm_data_type(F) != DKM_DENSE)
        return dkm_fail(w->ctx, DKM_ERR_ARG, "features are rows of numbers, not %s",
                        dkm_type_name(dkm_data_type(F)));
    if (dkm_data_rows(F) != w->m)
        return dkm_fail(w->ctx, DKM_ERR_ARG,
                        "features of %lld objects, and the kernel matrix has %lld",
                        (long long)dkm_data_rows(F), (long long)w->m);
    if (w->m == 0 || w->n == 0)
        return dkm_fail(w->ctx, DKM_ERR_ARG,
                        "%lld objects with %lld features: there is nothing to extrapolate from",
                        (long long)w->m, (long long)w->n);
    return DKM_LOCAL_OK;
}

/* How many singular values count. */
static void numerical_rank(work *w, const double *s)
{
    double cutoff = w->settings->cutoff;

    w->info.cutoff = cutoff > 0 ? cutoff : (double)(w->m > w->n ? w->m : w->n) * DBL_EPSILON;
    while (w->r < w->n && w->r < w->m && s[w->r] > w->info.cutoff * s[0])
        w->r++;
    w->info.rank = w->r;
    w->info.condition = w->r > 0 ? s[0] / s[w->r - 1] : 0.0;
}

/* Columns of Y divided by s. */
static void scale_by_inverse(dkm_idx rows, dkm_idx cols, double *Y, const double *s)
{
    for (dkm_idx j = 0; j < cols; j++)
        for (dkm_idx i = 0; i < rows; i++)
            Y[i + j * rows] /= s[j];
}

/* V = F Y / s is orthonormal but for rounding that grows with the condition of F: a second pass
 * over V itself takes that off. C = Y / s Y2 / s2. */
static dkm_status feature_basis(work *w)
{
    dkm_status status = DKM_OK;
    double *s = NULL, *Y = NULL, *Y2 = NULL;
    dkm_multivec first = {0};

    DKM_AGREE(w->ctx, dkm_alloc(w->ctx, w->n, &s));
    DKM_AGREE(w->ctx, dkm_alloc(w->ctx, w->n * w->n, &Y));
    DKM_TRY(dkm_tsqr_svd(w->ctx, w->F.n, w->n, w->F.a, s, Y));
    numerical_rank(w, s);
    scale_by_inverse(w->n, w->r, Y, s);
    DKM_AGREE(w->ctx, dkm_multivec_init(&first, w->ctx, w->m, w->r));
    DKM_AGREE(w->ctx, dkm_multivec_init(&w->V, w->ctx, w->m, w->r));
    DKM_AGREE(w->ctx, dkm_alloc(w->ctx, w->r * w->r, &Y2));
    DKM_AGREE(w->ctx, dkm_alloc(w->ctx, w->n * w->r, &w->C));
    dkm_multivec_combine(&w->F, w->r, Y, w->n, 1.0, 0.0, &first);
    DKM_TRY(dkm_tsqr_svd(w->ctx, first.n, w->r, first.a, s, Y2));
    scale_by_inverse(w->r, w->r, Y2, s);
    dkm_multivec_combine(&first, w->r, Y2, w->r, 1.0, 0.0, &w->V);
    dkm_blas_gemm(DKM_F64, 'N', 'N', w->n, w->r, w->r, 1.0, Y, w->n, Y2, w->r, 0.0, w->C, w->n);
out:
    dkm_multivec_free(&first);
    DKM_FREE(Y2);
    DKM_FREE(Y);
    DKM_FREE(s);
    return status;
}

/* rows <- L^-1 rows, by way of the grid. */
static dkm_status extrapolate_solve(const work *w, dkm_multivec *S)
{
    dkm_status status = DKM_OK;
    dkm_dmat *B = NULL;

    dkm_phase_begin(w->ctx, "solve");
    DKM_TRY(dkm_dmat_create_like(w->K, S->cols, dkm_dmat_row_block(w->K), DKM_F64, &B));
    DKM_TRY(dkm_dmat_from_rows(B, S->a));
    dkm_la_trsm('N', w->K, B);
    DKM_TRY(dkm_dmat_to_rows(B, S->a));
out:
    dkm_phase_end(w->ctx);
    dkm_dmat_destroy(&B);
    return status;
}

/* rows <- K rows */
static dkm_status extrapolate_apply_kernel(const work *w, dkm_multivec *S)
{
    dkm_status status;

    dkm_phase_begin(w->ctx, "product");
    status = dkm_symm_multivec('L', w->K, S->cols, S->a);
    dkm_phase_end(w->ctx);
    return status;
}

/* Factor K, or K shifted where it is singular to rounding. */
static dkm_status extrapolate_factor(work *w, dkm_shifted_cholesky *f)
{
    dkm_status status = DKM_OK;
    double least = SHIFT * sqrt((double)w->m) * DBL_EPSILON * w->info.largest, smallest = 0;
    double shift = fmax(least, -2.0 * w->info.smallest);
    dkm_idx potrf_info = 0;

    DKM_TRY(dkm_shifted_cholesky_attempt(f, 0.0, &potrf_info));
    if (potrf_info == 0)
        DKM_TRY(dkm_smallest_eigenvalue(w->K, &smallest));
    if (potrf_info == 0 && smallest > least)
        return DKM_OK;
    for (int step = 0; step < SHIFT_STEPS; step++, shift *= 10) {
        w->info.shift = shift;
        DKM_TRY(dkm_shifted_cholesky_attempt(f, shift, &potrf_info));
        if (potrf_info == 0)
            return DKM_OK;
    }
    DKM_AGREE(w->ctx, dkm_fail(w->ctx, DKM_ERR_NUMERIC,
                               "the kernel matrix is not positive semidefinite (leading minor "
                               "%lld), not even with %.1e added to its diagonal",
                               (long long)potrf_info, w->info.shift));
out:
    return status;
}

/* A = B s^-2 B', largest first. */
static dkm_status extrapolate_shear(work *w)
{
    dkm_status status = DKM_OK;
    dkm_shifted_cholesky f = {0};
    dkm_multivec W = {0};

    DKM_TRY(dkm_shifted_cholesky_open(&f, w->K, "K"));
    DKM_TRY(extrapolate_factor(w, &f));
    DKM_AGREE(w->ctx, dkm_multivec_init(&W, w->ctx, w->m, w->r));
    dkm_multivec_append(&W, &w->V);
    DKM_TRY(extrapolate_solve(w, &W));
    DKM_TRY(dkm_tsqr_svd(w->ctx, W.n, w->r, W.a, w->a, w->A));
    for (dkm_idx j = 0; j < w->r; j++)
        w->a[j] = 1.0 / (w->a[j] * w->a[j]);
    w->info.direction_cutoff = SINGULAR_RATIO * w->info.shift;
    DKM_TRY(dkm_shifted_cholesky_restore(&f));
out:
    dkm_multivec_free(&W);
    dkm_shifted_cholesky_close(&f);
    return status;
}

/* A = V'K V, decomposed; negative values are rounding. */
static dkm_status extrapolate_project(work *w)
{
    dkm_status status = DKM_OK;
    dkm_multivec KV = {0};

    DKM_AGREE(w->ctx, dkm_multivec_init(&KV, w->ctx, w->m, w->r));
    dkm_multivec_append(&KV, &w->V);
    DKM_TRY(extrapolate_apply_kernel(w, &KV));
    dkm_multivec_inner(&w->V, &KV, w->A, NULL);
    DKM_AGREE(w->ctx, dkm_syevd_local(w->ctx, w->r, w->A, w->a));
    dkm_mpi_bcast(w->a, w->r, MPI_DOUBLE, 0, dkm_ctx_comm(w->ctx));
    dkm_mpi_bcast(w->A, w->r * w->r, MPI_DOUBLE, 0, dkm_ctx_comm(w->ctx));
    w->info.direction_cutoff =
        fmax((double)w->r * DBL_EPSILON * w->info.largest, -2.0 * fmin(w->info.smallest, 0.0));
out:
    dkm_multivec_free(&KV);
    return status;
}

/* root = C B sqrt(a) for the directions that are retained; values of A ascend. */
static dkm_status extrapolate_root(work *w)
{
    dkm_status status = DKM_OK;
    dkm_idx dropped = 0;

    while (dropped < w->r && !(w->a[dropped] > w->info.direction_cutoff))
        dropped++;
    w->t = w->info.dimensions = w->r - dropped;
    DKM_AGREE(w->ctx, dkm_alloc(w->ctx, w->n * w->t, &w->root));
    for (dkm_idx j = dropped; j < w->r; j++)
        for (dkm_idx i = 0; i < w->r; i++)
            w->A[i + j * w->r] *= sqrt(w->a[j]);
    /* row-major n x t is column-major t x n */
    dkm_blas_gemm(DKM_F64, 'T', 'T', w->t, w->n, w->r, 1.0, w->A + dropped * w->r,
                  w->r > 0 ? w->r : 1, w->C, w->n, 0.0, w->root, w->t > 0 ? w->t : 1);
out:
    return status;
}

/* K <- K - Z Z' with Z = F root, and what that says. */
static dkm_status extrapolate_residual(work *w)
{
    dkm_status status = DKM_OK;
    dkm_idx nb = dkm_dmat_row_block(w->K);
    double trace = dkm_dmat_mean_diagonal(w->K) * (double)w->m, norm, retained;
    dkm_multivec Z = {0};
    dkm_dmat *D = NULL;

    dkm_phase_begin(w->ctx, "compare");
    DKM_TRY(dkm_dmat_symmetrize('L', w->K));
    norm = dkm_dmat_norm(w->K);
    DKM_AGREE(w->ctx, dkm_multivec_init(&Z, w->ctx, w->m, w->t));
    dkm_blas_gemm(DKM_F64, 'N', 'N', w->t, Z.n, w->n, 1.0, w->root, w->t > 0 ? w->t : 1, w->F.a,
                  w->n, 0.0, Z.a, w->t > 0 ? w->t : 1);
    Z.cols = w->t;
    retained = dkm_multivec_norm(&Z);
    DKM_TRY(dkm_dmat_create_like(w->K, w->t, nb, DKM_F64, &D));
    DKM_TRY(dkm_dmat_from_rows(D, Z.a));
    if (w->t > 0)
        dkm_la_syrk('N', -1.0, D, 1.0, w->K);
    DKM_TRY(dkm_dmat_symmetrize('L', w->K));
    w->info.residual = norm > 0 ? dkm_dmat_norm(w->K) / norm : 0.0;
    w->info.explained = trace > 0 ? retained * retained / trace : 1.0;
out:
    dkm_phase_end(w->ctx);
    dkm_dmat_destroy(&D);
    dkm_multivec_free(&Z);
    return status;
}

static void extrapolate_report(const work *w)
{
    const dkm_extrapolate_info *i = &w->info;

    if (i->rank < i->n)
        dkm_log(w->ctx, DKM_INFO,
                "the features are of rank %lld of %lld: singular values below %.1e of the largest "
                "count as zero",
                (long long)i->rank, (long long)i->n, i->cutoff);
    if (i->shift > 0)
        dkm_log(w->ctx, DKM_INFO,
                "the kernel matrix is singular: %.2e, %.1e of its largest eigenvalue, was added to "
                "its diagonal",
                i->shift, i->shift / i->largest);
    if (i->dimensions > 0)
        return;
    if (i->rank == 0 || !(i->largest > 0))
        dkm_log(w->ctx, DKM_WARN, "Q is zero, because %s",
                i->rank == 0 ? "all features are" : "the kernel matrix is");
    else
        dkm_log(w->ctx, DKM_WARN,
                "Q is zero: no combination of the %lld features lies in the range of the kernel "
                "matrix, which is singular; where its rank is at most %lld (objects less features) "
                "the shear constraint leaves nothing else as a rule. Take features made from the "
                "matrix (landmarks), more features, or --no-shear",
                (long long)i->n, (long long)(i->m - i->rank));
}

static dkm_status extrapolate_find_q(work *w)
{
    dkm_status status = DKM_OK;

    DKM_TRY(dkm_psd_check(w->K, &w->info.smallest, &w->info.largest));
    DKM_TRY(feature_basis(w));
    DKM_AGREE(w->ctx, dkm_alloc(w->ctx, w->r * w->r, &w->A));
    DKM_AGREE(w->ctx, dkm_calloc(w->ctx, w->r, &w->a));
    if (w->r > 0 && w->info.largest > 0)
        DKM_TRY(w->settings->shear ? extrapolate_shear(w) : extrapolate_project(w));
    DKM_TRY(extrapolate_root(w));
    DKM_TRY(extrapolate_residual(w));
out:
    return status;
}

dkm_status dkm_extrapolate(dkm_dmat *K, const dkm_data *F, const dkm_extrapolate_settings *settings,
                           double **root, dkm_extrapolate_info *info)
{
    dkm_status status = DKM_OK;
    work w = {.ctx = dkm_data_ctx(F), .K = K, .settings = settings};

    *root = NULL;
    dkm_phase_begin(w.ctx, "extrapolate");
    w.m = w.info.m = dkm_dmat_rows(K);
    w.n = w.info.n = dkm_data_cols(F);
    w.F = (dkm_multivec){w.ctx, dkm_data_local_rows(F), w.n, w.n,
                         (double *)(uintptr_t)dkm_data_values_const(F)};
    DKM_AGREE(w.ctx, extrapolate_check(&w, F));
    DKM_TRY(extrapolate_find_q(&w));
    extrapolate_report(&w);
    *root = w.root;
    w.root = NULL;
    if (info)
        *info = w.info;
out:
    dkm_phase_end(w.ctx);
    dkm_multivec_free(&w.V);
    DKM_FREE(w.root);
    DKM_FREE(w.C);
    DKM_FREE(w.A);
    DKM_FREE(w.a);
    return status;
}
