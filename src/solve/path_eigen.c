/* One eigendecomposition A = V diag(l) V' for all gammas. With Z = V'R the solutions are
 * B = V diag(w) Z, w = 1 / (l + gamma), or l / (l^2 + gamma) where coefficients are penalised. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "scalapack/eigen.h"
#include "scalapack/linalg.h"
#include "solve/eigen_choice.h"
#include "solve/factor.h"
#include "solve/filter.h"
#include "solve/spectrum.h"

#define GROUP_MOST   32 /* gammas that go together */
#define NARROW       16 /* columns that are worth their own product */
#define REFINE_STEPS 3
#define REFINED      1e-13
#define SPARE        1.1

dkm_idx dkm_spectrum_rows(const dkm_path_run *run)
{
    return run->X ? dkm_path_chunk(run) : dkm_slab_count(run->m, 0, dkm_ctx_size(run->ctx));
}

static dkm_idx within(double wanted, dkm_idx most)
{
    return wanted < 1 ? 1 : wanted > (double)most ? most : (dkm_idx)wanted;
}

/* The error rate needs all columns of a row together; else they can go in blocks. */
static void plan(dkm_spectrum *s)
{
    const dkm_path_settings *settings = s->run->settings;
    dkm_idx c = s->run->T.cols, narrow = settings->classes || c < NARROW ? c : NARROW;
    double column = 8.0 * s->parts * (double)dkm_spectrum_rows(s->run);
    double room = settings->work_bytes / column; /* columns of all gammas together */

    s->group =
        within(room / (double)narrow, settings->count < GROUP_MOST ? settings->count : GROUP_MOST);
    s->cols = settings->classes ? c : within(room / (double)s->group, c);
}

static dkm_local open_spectrum(dkm_spectrum *s, dkm_path_run *run)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_ctx *ctx = run->ctx;

    *s = (dkm_spectrum){.run = run, .parts = dkm_path_squared(run) ? 2 : 1};
    plan(s);
    DKM_STEP(dkm_alloc(ctx, run->k, &s->l));
    DKM_STEP(dkm_calloc(ctx, run->settings->count, &s->rungs));
    DKM_STEP(dkm_alloc(ctx, run->k * s->parts * s->group, &s->w));
    DKM_STEP(dkm_slab_init(&s->Z, ctx, run->k, run->R.cols));
    if (run->one.a)
        DKM_STEP(dkm_slab_init(&s->one, ctx, run->k, 1));
out:
    return local;
}

static void close_spectrum(dkm_spectrum *s)
{
    dkm_dmat_destroy(&s->V);
    dkm_dmat_destroy(&s->kept);
    dkm_slab_free(&s->one);
    dkm_slab_free(&s->Z);
    DKM_FREE(s->w);
    DKM_FREE(s->rungs);
    DKM_FREE(s->l);
}

/* A copy of the matrix serves the residual; in the primal there is no other way to it. */
int dkm_path_keeps(const dkm_path_run *run, double bytes)
{
    double local = 8.0 * (double)dkm_dmat_ld(run->A) * (double)dkm_dmat_local_cols(run->A);

    if (run->X || run->settings->keep != DKM_KEEP_AUTO)
        return run->X || run->settings->keep == DKM_KEEP_MATRIX;
    return dkm_memory_fits(run->ctx, SPARE * (local + bytes));
}

static dkm_status decompose(dkm_spectrum *s)
{
    dkm_status status = DKM_OK;
    dkm_path_run *run = s->run;
    dkm_eigen_library library = DKM_EIGEN_SCALAPACK;
    double bytes;

    dkm_phase_begin(run->ctx, "eigen");
    DKM_TRY(dkm_eigen_choose_library(run->A, &library));
    bytes = dkm_la_eigen_bytes(run->A, library);
    DKM_TRY(dkm_memory_check(run->ctx, SPARE * bytes, "the full eigensolve"));
    if (dkm_path_keeps(run, bytes))
        DKM_TRY(dkm_dmat_convert(run->A, DKM_F64, &s->kept));
    run->product.K = s->kept;
    DKM_TRY(dkm_la_eigen(run->A, &library, s->l, &s->V));
    dkm_dmat_destroy(&run->A);
out:
    dkm_phase_end(run->ctx);
    return status;
}

double dkm_spectrum_jitter(const dkm_spectrum *s, dkm_idx g)
{
    return dkm_jitter(s->scale + s->run->settings->gammas[g], s->rungs[g]);
}

static double shifted(const dkm_spectrum *s, dkm_idx g, double l)
{
    return l + s->run->settings->gammas[g] + dkm_spectrum_jitter(s, g);
}

/* The least l + gamma must be positive; the ladder is that of the Cholesky factor. */
static void find_jitter(dkm_spectrum *s)
{
    for (dkm_idx j = 0; j < s->run->k; j++)
        s->scale += s->l[j] / (double)s->run->k;
    s->scale = fabs(s->scale);
    for (dkm_idx g = 0; g < s->run->settings->count && s->parts == 1; g++) {
        while (!(shifted(s, g, s->l[0]) > 0) && s->rungs[g] < DKM_JITTER_STEPS)
            s->rungs[g]++;
        if (s->rungs[g] > 0)
            dkm_jitter_tell(s->run->ctx, "K + gamma I", s->run->k, dkm_spectrum_jitter(s, g),
                            s->rungs[g]);
    }
}

void dkm_spectrum_weights(const dkm_spectrum *s, dkm_idx g, double *w)
{
    double gamma = s->run->settings->gammas[g], root = sqrt(gamma);
    dkm_idx k = s->run->k;
    int sound = shifted(s, g, s->l[0]) > 0;

    for (dkm_idx j = 0; j < k; j++) {
        double l = s->l[j];
        if (s->parts == 1) {
            w[j] = sound ? 1.0 / shifted(s, g, l) : NAN;
        } else {
            w[j] = root / (l * l + gamma);
            w[k + j] = l / (l * l + gamma);
        }
    }
}

dkm_status dkm_spectrum_project(const dkm_spectrum *s, const dkm_slab *R, dkm_slab *Z)
{
    dkm_status status = DKM_OK;

    Z->cols = R->cols;
    for (dkm_idx c = 0; c < R->cols; c += s->cols)
        DKM_TRY(dkm_filter_project(s->V, c + s->cols < R->cols ? s->cols : R->cols - c, R->a + c,
                                   R->ld, Z->a + c, Z->ld));
out:
    return status;
}

/* B <- B + sign V diag(w) Z with the first w at hand. */
static dkm_status add_solution(const dkm_spectrum *s, double sign, dkm_slab *B)
{
    dkm_status status = DKM_OK;
    dkm_idx n = B->n, all = B->cols;
    double *rows = NULL;

    DKM_AGREE(s->run->ctx, dkm_alloc(s->run->ctx, n * s->cols, &rows));
    for (dkm_idx c = 0; c < all; c += s->cols) {
        dkm_idx cols = c + s->cols < all ? s->cols : all - c;
        DKM_TRY(dkm_filter_apply(s->V, 1, s->w, cols, s->Z.a + c, s->Z.ld, rows));
        for (dkm_idx i = 0; i < n; i++)
            for (dkm_idx j = 0; j < cols; j++)
                B->a[i * B->ld + c + j] += sign * rows[i * cols + j];
    }
out:
    DKM_FREE(rows);
    return status;
}

/* Corrections by the decomposition itself, as long as they shrink the residual. */
static dkm_status refine(dkm_spectrum *s, double gamma, double largest)
{
    dkm_status status = DKM_OK;
    dkm_path_run *run = s->run;
    dkm_slab R = {0};

    DKM_AGREE(run->ctx, dkm_slab_init(&R, run->ctx, run->k, run->B.cols));
    DKM_TRY(dkm_path_residual(run, gamma, largest, &R));
    for (int step = 0; step < REFINE_STEPS && run->ridge.residual > REFINED; step++) {
        dkm_ridge_info before = run->ridge;
        DKM_TRY(dkm_spectrum_project(s, &R, &s->Z));
        DKM_TRY(add_solution(s, 1.0, &run->B));
        DKM_TRY(dkm_path_residual(run, gamma, largest, &R));
        run->ridge.steps = step + 1;
        if (run->ridge.residual < before.residual)
            continue;
        DKM_TRY(add_solution(s, -1.0, &run->B));
        run->ridge = before;
        break;
    }
out:
    dkm_slab_free(&R);
    return status;
}

/* The eigenvalues of the system's matrix that are least and largest in size. */
static void find_ends(const dkm_spectrum *s, double *least, double *largest)
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

static dkm_local check_sound(const dkm_spectrum *s, dkm_idx g)
{
    if (s->parts == 2 || shifted(s, g, s->l[0]) > 0)
        return DKM_LOCAL_OK;
    return dkm_fail(s->run->ctx, DKM_ERR_NUMERIC,
                    "K + gamma I is not positive definite (least eigenvalue %.1e), not even with "
                    "%.1e added: is the kernel positive definite? use a larger gamma",
                    s->l[0] + s->run->settings->gammas[g], dkm_spectrum_jitter(s, g));
}

/* The solution for the best gamma. */
static dkm_status solve_best(dkm_spectrum *s)
{
    dkm_status status = DKM_OK;
    dkm_path_run *run = s->run;
    double gamma = run->settings->gammas[run->best], least, largest;

    DKM_AGREE(run->ctx, check_sound(s, run->best));
    find_ends(s, &least, &largest);
    run->ridge = (dkm_ridge_info){.precision = "double",
                                  .jitter = dkm_spectrum_jitter(s, run->best),
                                  .jitter_steps = s->rungs[run->best],
                                  .recomputed = !s->kept};
    run->ridge.condition = (largest + gamma) / (least + gamma + run->ridge.jitter);
    memset(run->B.a, 0, (size_t)(run->B.n * run->B.ld) * sizeof *run->B.a);
    dkm_spectrum_weights(s, run->best, s->w);
    if (s->parts == 2)
        memcpy(s->w, s->w + run->k, (size_t)run->k * sizeof *s->w);
    DKM_TRY(add_solution(s, 1.0, &run->B));
    for (dkm_idx j = 0; j < run->k && s->parts == 2; j++)
        s->w[j] = 1.0 / (s->l[j] * s->l[j] + gamma);
    DKM_TRY(refine(s, gamma, largest));
out:
    return status;
}

dkm_status dkm_path_by_eigen(dkm_path_run *run)
{
    dkm_status status = DKM_OK;
    dkm_spectrum s = {0};

    DKM_AGREE(run->ctx, open_spectrum(&s, run));
    DKM_TRY(decompose(&s));
    find_jitter(&s);
    DKM_TRY(dkm_spectrum_project(&s, &run->R, &s.Z));
    if (run->errors)
        DKM_TRY(dkm_spectrum_errors(&s));
    DKM_TRY(dkm_path_settle(run));
    dkm_phase_begin(run->ctx, "solve");
    status = solve_best(&s);
    dkm_phase_end(run->ctx);
out:
    run->product.K = NULL;
    close_spectrum(&s);
    return status;
}
