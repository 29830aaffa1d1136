/* Ridge path by one eigendecomposition A = V diag(l) V' for all gammas. With Z = V'R the solutions
 * are B = V diag(w) Z, w = 1 / (l + gamma), or l / (l^2 + gamma) if coefficients are penalized;
 * errors are those of loo.h (Rifkin and Lippert 2007, MIT-CSAIL-TR-2007-025; Golub, Heath and Wahba
 * 1979, Technometrics 21(2):215-223, doi:10.1080/00401706.1979.10489751).
 *
 * Cost per rank, k the order and p outputs: a full eigensolve, and 2 k^2 (p + 1) / ranks flops per
 * gamma. Held: V, its workspace, and a copy of A if memory allows; weights are replicated. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/minmax.h"
#include "linalg/eigen/syevd.h"
#include "linalg/linalg.h"
#include "solvers/eigen/eigen_autotune.h"
#include "solvers/operators/spectral_filter.h"
#include "solvers/ridge/shifted_cholesky.h"
#include "solvers/ridge_path/path_eigen_impl.h"

#define GROUP_MAX 32 /* gammas that go together */
#define NARROW    16 /* columns that are worth their own product */
#define SPARE     1.1

dkm_idx dkm_path_eigen_chunk(const dkm_path_run *run)
{
    return run->X ? dkm_path_chunk(run) : dkm_slab_count(run->m, 0, dkm_ctx_size(run->ctx));
}

/* The error rate needs all columns of a row together; else they can go in blocks. */
static void path_eigen_plan(dkm_path_eigen *s)
{
    const dkm_path_settings *settings = s->run->settings;
    dkm_idx c = s->run->T.cols, narrow = settings->classes || c < NARROW ? c : NARROW;
    double column = 8.0 * s->parts * (double)dkm_path_eigen_chunk(s->run);
    double columns_that_fit = settings->work_bytes / column; /* columns of all gammas together */

    s->group = dkm_idx_clamp(columns_that_fit / (double)narrow,
                             settings->count < GROUP_MAX ? settings->count : GROUP_MAX);
    s->cols = settings->classes ? c : dkm_idx_clamp(columns_that_fit / (double)s->group, c);
}

static dkm_local path_eigen_open(dkm_path_eigen *s, dkm_path_run *run)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_ctx *ctx = run->ctx;

    *s = (dkm_path_eigen){.run = run, .parts = dkm_path_penalizes_coefficients(run) ? 2 : 1};
    path_eigen_plan(s);
    DKM_STEP(dkm_alloc(ctx, run->k, &s->l));
    DKM_STEP(dkm_calloc(ctx, run->settings->count, &s->attempts));
    DKM_STEP(dkm_alloc(ctx, run->k * s->parts * s->group, &s->w));
    DKM_STEP(dkm_multivec_init(&s->Z, ctx, run->k, run->R.cols));
    if (run->one.a)
        DKM_STEP(dkm_multivec_init(&s->one, ctx, run->k, 1));
out:
    return local;
}

static void path_eigen_close(dkm_path_eigen *s)
{
    dkm_dmat_destroy(&s->V);
    dkm_dmat_destroy(&s->A_copy);
    dkm_multivec_free(&s->one);
    dkm_multivec_free(&s->Z);
    DKM_FREE(s->w);
    DKM_FREE(s->attempts);
    DKM_FREE(s->l);
}

/* A copy of the matrix serves the residual; in the primal there is no other way to it. */
int dkm_path_stores_matrix(const dkm_path_run *run, double bytes)
{
    double local = 8.0 * (double)dkm_dmat_ld(run->A) * (double)dkm_dmat_local_cols(run->A);

    if (run->X || run->settings->keep != DKM_STORAGE_AUTO)
        return run->X || run->settings->keep == DKM_STORE;
    return dkm_memory_fits(run->ctx, SPARE * (local + bytes));
}

static dkm_status path_eigen_decompose(dkm_path_eigen *s)
{
    dkm_status status = DKM_OK;
    dkm_path_run *run = s->run;
    dkm_eigen_library library = DKM_EIGEN_SCALAPACK;
    double bytes;

    dkm_phase_begin(run->ctx, "eigen");
    DKM_TRY(dkm_eigen_choose_library(run->A, &library));
    bytes = dkm_la_syevd_bytes(run->A, library);
    DKM_TRY(dkm_memory_check(run->ctx, SPARE * bytes, "the full eigensolve"));
    if (dkm_path_stores_matrix(run, bytes))
        DKM_TRY(dkm_dmat_convert(run->A, DKM_F64, &s->A_copy));
    run->product.K = s->A_copy;
    DKM_TRY(dkm_la_syevd(run->A, &library, s->l, &s->V));
    dkm_dmat_destroy(&run->A);
out:
    dkm_phase_end(run->ctx);
    return status;
}

double dkm_path_eigen_jitter(const dkm_path_eigen *s, dkm_idx g)
{
    return dkm_jitter(s->scale + s->run->settings->gammas[g], s->attempts[g]);
}

static double path_eigen_shifted(const dkm_path_eigen *s, dkm_idx g, double l)
{
    return l + s->run->settings->gammas[g] + dkm_path_eigen_jitter(s, g);
}

/* The least l + gamma must be positive; jitter is added as for the Cholesky factor. */
static void path_eigen_find_jitter(dkm_path_eigen *s)
{
    for (dkm_idx j = 0; j < s->run->k; j++)
        s->scale += s->l[j] / (double)s->run->k;
    s->scale = fabs(s->scale);
    for (dkm_idx g = 0; g < s->run->settings->count && s->parts == 1; g++) {
        while (!(path_eigen_shifted(s, g, s->l[0]) > 0) && s->attempts[g] < DKM_JITTER_STEPS)
            s->attempts[g]++;
        if (s->attempts[g] > 0)
            dkm_jitter_report(s->run->ctx, "K + gamma I", s->run->k, dkm_path_eigen_jitter(s, g),
                              s->attempts[g]);
    }
}

void dkm_path_eigen_weights(const dkm_path_eigen *s, dkm_idx g, double *w)
{
    double gamma = s->run->settings->gammas[g], root = sqrt(gamma);
    dkm_idx k = s->run->k;
    int sound = path_eigen_shifted(s, g, s->l[0]) > 0;

    for (dkm_idx j = 0; j < k; j++) {
        double l = s->l[j];
        if (s->parts == 1) {
            w[j] = sound ? 1.0 / path_eigen_shifted(s, g, l) : NAN;
        } else {
            w[j] = root / (l * l + gamma);
            w[k + j] = l / (l * l + gamma);
        }
    }
}

dkm_status dkm_path_eigen_project(const dkm_path_eigen *s, const dkm_multivec *R, dkm_multivec *Z)
{
    dkm_status status = DKM_OK;

    Z->cols = R->cols;
    for (dkm_idx c = 0; c < R->cols; c += s->cols)
        DKM_TRY(dkm_spectral_filter_project(s->V, c + s->cols < R->cols ? s->cols : R->cols - c,
                                            R->a + c, R->ld, Z->a + c, Z->ld));
out:
    return status;
}

/* B <- B + sign V diag(w) Z with the first w at hand. */
static dkm_status path_eigen_add_solution(const dkm_path_eigen *s, double sign, dkm_multivec *B)
{
    dkm_status status = DKM_OK;
    dkm_idx n = B->n, all = B->cols;
    double *rows = NULL;

    DKM_AGREE(s->run->ctx, dkm_alloc(s->run->ctx, n * s->cols, &rows));
    for (dkm_idx c = 0; c < all; c += s->cols) {
        dkm_idx cols = c + s->cols < all ? s->cols : all - c;
        DKM_TRY(dkm_spectral_filter_apply(s->V, 1, s->w, cols, s->Z.a + c, s->Z.ld, rows));
        for (dkm_idx i = 0; i < n; i++)
            for (dkm_idx j = 0; j < cols; j++)
                B->a[i * B->ld + c + j] += sign * rows[i * cols + j];
    }
out:
    DKM_FREE(rows);
    return status;
}

static dkm_status path_eigen_correct(void *state, const dkm_multivec *R)
{
    dkm_status status = DKM_OK;
    dkm_path_eigen *s = state;

    if (R)
        DKM_TRY(dkm_path_eigen_project(s, R, &s->Z));
    DKM_TRY(path_eigen_add_solution(s, R ? 1.0 : -1.0, &s->run->B));
out:
    return status;
}

/* The eigenvalues of the system's matrix that are least and largest in size. */
static void path_eigen_extremes(const dkm_path_eigen *s, double *least, double *largest)
{
    dkm_idx k = s->run->k;

    *least = s->l[0];
    *largest = s->l[k - 1];
    if (s->parts == 1)
        return;
    *least = INFINITY;
    for (dkm_idx j = 0; j < k; j++)
        *least = fmin(*least, s->l[j] * s->l[j]);
    *largest = fmax(s->l[0] * s->l[0], *largest * *largest);
}

static dkm_local path_eigen_check_finite(const dkm_path_eigen *s, dkm_idx g)
{
    if (s->parts == 2 || path_eigen_shifted(s, g, s->l[0]) > 0)
        return DKM_LOCAL_OK;
    return dkm_fail(s->run->ctx, DKM_ERR_NUMERIC,
                    "K + gamma I is not positive definite (least eigenvalue %.1e), not even with "
                    "%.1e added: is the kernel positive definite? use a larger gamma",
                    s->l[0] + s->run->settings->gammas[g], dkm_path_eigen_jitter(s, g));
}

/* The solution for the best gamma. */
static dkm_status path_eigen_solve_best(dkm_path_eigen *s)
{
    dkm_status status = DKM_OK;
    dkm_path_run *run = s->run;
    double gamma = run->settings->gammas[run->best], least, largest;

    DKM_AGREE(run->ctx, path_eigen_check_finite(s, run->best));
    path_eigen_extremes(s, &least, &largest);
    run->ridge = (dkm_ridge_info){.precision = "double",
                                  .jitter = dkm_path_eigen_jitter(s, run->best),
                                  .jitter_steps = s->attempts[run->best],
                                  .recomputed = !s->A_copy};
    run->ridge.condition = (largest + gamma) / (least + gamma + run->ridge.jitter);
    memset(run->B.a, 0, (size_t)(run->B.n * run->B.ld) * sizeof *run->B.a);
    dkm_path_eigen_weights(s, run->best, s->w);
    if (s->parts == 2)
        memcpy(s->w, s->w + run->k, (size_t)run->k * sizeof *s->w);
    DKM_TRY(path_eigen_add_solution(s, 1.0, &run->B));
    for (dkm_idx j = 0; j < run->k && s->parts == 2; j++)
        s->w[j] = 1.0 / (s->l[j] * s->l[j] + gamma);
    DKM_TRY(dkm_path_refine(run, gamma, largest, path_eigen_correct, s));
out:
    return status;
}

dkm_status dkm_path_by_eigen(dkm_path_run *run)
{
    dkm_status status = DKM_OK;
    dkm_path_eigen s = {0};

    DKM_AGREE(run->ctx, path_eigen_open(&s, run));
    DKM_TRY(path_eigen_decompose(&s));
    path_eigen_find_jitter(&s);
    DKM_TRY(dkm_path_eigen_project(&s, &run->R, &s.Z));
    if (run->errors)
        DKM_TRY(dkm_path_eigen_loo(&s));
    DKM_TRY(dkm_path_select_best(run));
    dkm_phase_begin(run->ctx, "solve");
    status = path_eigen_solve_best(&s);
    dkm_phase_end(run->ctx);
out:
    run->product.K = NULL;
    path_eigen_close(&s);
    return status;
}
