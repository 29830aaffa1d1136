/* Ridge path by one reduction A = Q B Q' to a banded matrix for all gammas. With L L' = B + gamma I
 * and Z = Q'R the solutions are Q (L L')^-1 Z, and the diagonal of the inverse is the squared norms
 * of the rows of Q L^-T (linalg/eigen/band.h). A reduction before the choice of a regularization
 * parameter is due to Elden 1977, BIT 17:134-145 (to bidiagonal form there).
 *
 * Cost per rank: 8/3 k^3 / ranks flops once; per gamma 3 k b^2 replicated, 4 k^2 b / ranks for the
 * errors and 2 k^2 p / ranks for the outputs, with an allreduce of k p words. Replicated: Z and the
 * solutions, k p numbers per gamma of a group. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/minmax.h"
#include "linalg/eigen/band.h"
#include "solvers/eigen/power_iteration.h"
#include "solvers/ridge/shifted_cholesky.h"
#include "solvers/ridge_path/path_impl.h"

#define POWER_STEPS 4
#define SPARE       1.1

typedef struct banded {
    dkm_path_run *run;
    dkm_band band;
    dkm_dmat *A_copy; /* a copy of A, where memory allows */
    dkm_idx n, cols;  /* right-hand sides, with that of ones where it is wanted */
    double largest;   /* eigenvalue of A */
    double scale;     /* that jitter is reckoned from */
    dkm_idx group;    /* gammas at a time */
    double *Z;        /* n x cols on every rank: Q'R */
    double *S, *F;    /* for each of a group (L L')^-1 Z and Q (L L')^-1 Z */
    double *rows;     /* of this rank's slab, as dkm_loo_add() takes them */
    double *L, *work;
    double *p;     /* diagonals of the inverses of a group */
    int *sound;    /* whether each of a group has a factor */
    int *attempts; /* with growing jitter, one per gamma */
} banded;

static dkm_local band_alloc(banded *s)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_ctx *ctx = s->run->ctx;
    dkm_idx b = s->band.b, all = s->n * s->cols;

    DKM_STEP(dkm_alloc(ctx, all, &s->Z));
    DKM_STEP(dkm_alloc(ctx, all * s->group, &s->S));
    DKM_STEP(dkm_alloc(ctx, all * s->group, &s->F));
    DKM_STEP(dkm_alloc(ctx, s->run->T.n * s->cols, &s->rows));
    DKM_STEP(dkm_alloc(ctx, (b + 1) * s->n, &s->L));
    DKM_STEP(dkm_alloc(ctx, s->n * s->group, &s->p));
    DKM_STEP(dkm_alloc(ctx, s->group, &s->sound));
    DKM_STEP(dkm_alloc(ctx, 2 * (DKM_BAND_CHUNK + s->n) * b, &s->work));
    DKM_STEP(dkm_calloc(ctx, s->run->settings->count, &s->attempts));
out:
    return local;
}

static void band_close(banded *s)
{
    DKM_FREE(s->attempts);
    DKM_FREE(s->sound);
    DKM_FREE(s->work);
    DKM_FREE(s->p);
    DKM_FREE(s->L);
    DKM_FREE(s->rows);
    DKM_FREE(s->F);
    DKM_FREE(s->S);
    DKM_FREE(s->Z);
    dkm_band_close(&s->band);
    dkm_dmat_destroy(&s->A_copy);
}

static dkm_status band_reduce(banded *s)
{
    dkm_status status = DKM_OK;
    dkm_path_run *run = s->run;
    double bytes = dkm_band_bytes(run->A);

    dkm_phase_begin(run->ctx, "band");
    DKM_TRY(dkm_memory_check(run->ctx, SPARE * bytes, "the reduction to a band"));
    s->scale = fabs(dkm_dmat_mean_diagonal(run->A));
    DKM_TRY(dkm_largest_eigenvalue(run->A, &s->largest));
    if (dkm_path_stores_matrix(run, bytes))
        DKM_TRY(dkm_dmat_convert_lower(run->A, DKM_F64, &s->A_copy));
    run->product.K = s->A_copy;
    DKM_TRY(dkm_band_reduce(run->A, &s->band));
    dkm_dmat_destroy(&run->A);
out:
    dkm_phase_end(run->ctx);
    return status;
}

/* X, n x R->cols, one column after the other on every rank, from the rows of all slabs. */
static dkm_status band_scatter_solution(const banded *s, const dkm_multivec *R, double *X)
{
    dkm_status status = DKM_OK;
    double *all = NULL;

    DKM_AGREE(s->run->ctx, dkm_alloc(s->run->ctx, s->n * R->cols, &all));
    DKM_TRY(dkm_multivec_allgather(R, s->n, all));
    for (dkm_idx j = 0; j < R->cols; j++)
        for (dkm_idx i = 0; i < s->n; i++)
            X[i + j * s->n] = all[i * R->cols + j];
out:
    DKM_FREE(all);
    return status;
}

/* Z = Q'[R 1] */
static dkm_status band_project(banded *s)
{
    dkm_status status = DKM_OK;
    dkm_path_run *run = s->run;

    DKM_TRY(band_scatter_solution(s, &run->R, s->S));
    if (run->one.a)
        DKM_TRY(band_scatter_solution(s, &run->one, s->S + s->n * run->R.cols));
    dkm_band_apply_q(&s->band, 'T', s->cols, s->S, s->Z);
out:
    return status;
}

static double band_jitter_of(const banded *s, dkm_idx g)
{
    return dkm_jitter(s->scale + s->run->settings->gammas[g], s->attempts[g]);
}

/* All ranks do the same, but not all need round alike: what one cannot factor, none can. */
static int band_try_factor(banded *s, double shift)
{
    int info = dkm_band_pbtrf(&s->band, shift, s->L);

    MPI_Allreduce(MPI_IN_PLACE, &info, 1, MPI_INT, MPI_MAX, dkm_ctx_comm(s->run->ctx));
    return info;
}

/* The factor for a gamma, by the attempts with growing jitter where it must be; whether there is
 * one. */
static int band_factor(banded *s, dkm_idx g)
{
    double gamma = s->run->settings->gammas[g];
    int info = band_try_factor(s, gamma + band_jitter_of(s, g));

    while (info != 0 && s->attempts[g] < DKM_JITTER_STEPS) {
        s->attempts[g]++;
        dkm_jitter_report(s->run->ctx, "K + gamma I", info, band_jitter_of(s, g), s->attempts[g]);
        info = band_try_factor(s, gamma + band_jitter_of(s, g));
    }
    return info == 0;
}

/* F = Q (L L')^-1 Z for @p cols columns. */
static void band_solve(banded *s, dkm_idx cols)
{
    memcpy(s->S, s->Z, (size_t)(s->n * cols) * sizeof *s->S);
    dkm_band_pbtrs(&s->band, s->L, cols, s->S);
    dkm_band_apply_q(&s->band, 'N', cols, s->S, s->F);
}

static dkm_idx band_first_row(const banded *s)
{
    dkm_ctx *ctx = s->run->ctx;

    return dkm_slab_first(s->n, dkm_ctx_rank(ctx), dkm_ctx_size(ctx));
}

/* Errors of gamma g, place k of its group. */
static void band_add_errors(banded *s, dkm_idx g, dkm_idx k)
{
    dkm_path_run *run = s->run;
    dkm_idx first = band_first_row(s), cols = run->T.cols;
    const double *F = s->F + k * s->n * s->cols + first, *p = s->p + k * s->n + first;
    const double *u = run->one.a ? F + s->n * cols : NULL;
    dkm_loo_piece piece = {g, 0, run->T.n, 0, cols, 1, {{s->rows, cols, u, p, 1}}};

    for (dkm_idx i = 0; i < run->T.n; i++)
        for (dkm_idx j = 0; j < cols; j++)
            s->rows[i * cols + j] = F[i + j * s->n];
    dkm_loo_add(&run->loo, &piece);
    dkm_loo_finish(&run->loo, g, 1, run->points);
}

/* (L L')^-1 Z and the diagonal of the inverse for gamma g, place k of its group. */
static void band_prepare_errors(banded *s, dkm_idx g, dkm_idx k)
{
    double *S = s->S + k * s->n * s->cols;

    memcpy(S, s->Z, (size_t)(s->n * s->cols) * sizeof *S);
    s->sound[k] = band_factor(s, g);
    if (s->sound[k]) {
        dkm_band_pbtrs(&s->band, s->L, s->cols, S);
        dkm_band_inverse_diagonal(&s->band, s->L, s->work, s->p + k * s->n);
    } else {
        dkm_log(s->run->ctx, DKM_WARN, "gamma = %g is passed over", s->run->settings->gammas[g]);
    }
}

/* Errors of all gammas, a group at a time; one without a factor has none. */
static void band_find_errors(banded *s)
{
    dkm_path_run *run = s->run;
    dkm_idx all = run->settings->count;

    dkm_phase_begin(run->ctx, "errors");
    for (dkm_idx g = 0; g < all; g += s->group) {
        dkm_idx count = g + s->group < all ? s->group : all - g;
        for (dkm_idx k = 0; k < count; k++) {
            band_prepare_errors(s, g + k, k);
            dkm_progress(run->ctx, (double)(g + k), (double)all);
        }
        dkm_band_apply_q(&s->band, 'N', s->cols * count, s->S, s->F);
        for (dkm_idx k = 0; k < count; k++)
            if (s->sound[k])
                band_add_errors(s, g + k, k);
    }
    dkm_phase_end(run->ctx);
}

/* B <- B + sign F */
static void band_add_solution(banded *s, double sign)
{
    dkm_multivec *B = &s->run->B;

    for (dkm_idx i = 0; i < B->n; i++)
        for (dkm_idx j = 0; j < B->cols; j++)
            B->a[i * B->ld + j] += sign * s->F[band_first_row(s) + i + j * s->n];
}

static dkm_status band_correct(void *state, const dkm_multivec *R)
{
    dkm_status status = DKM_OK;
    banded *s = state;

    if (R) {
        DKM_TRY(band_scatter_solution(s, R, s->S));
        dkm_band_apply_q(&s->band, 'T', R->cols, s->S, s->Z);
        band_solve(s, R->cols);
    }
    band_add_solution(s, R ? 1.0 : -1.0);
out:
    return status;
}

/* The least eigenvalue of B + shift I by inverse iteration with its factor. */
static double band_smallest_eigenvalue(const banded *s)
{
    double *v = s->S, norm = 0;

    for (dkm_idx i = 0; i < s->n; i++)
        v[i] = 1.0 + 0.5 * sin((double)i);
    for (int step = 0; step < POWER_STEPS; step++) {
        norm = 0;
        for (dkm_idx i = 0; i < s->n; i++)
            norm += v[i] * v[i];
        for (dkm_idx i = 0; i < s->n; i++)
            v[i] /= sqrt(norm);
        dkm_band_pbtrs(&s->band, s->L, 1, v);
    }
    norm = 0;
    for (dkm_idx i = 0; i < s->n; i++)
        norm += v[i] * v[i];
    return 1.0 / sqrt(norm);
}

/* The solution for the best gamma. */
static dkm_status band_solve_best(banded *s)
{
    dkm_status status = DKM_OK;
    dkm_path_run *run = s->run;
    double gamma = run->settings->gammas[run->best], jitter;

    DKM_REQUIRE(run->ctx, band_factor(s, run->best), DKM_ERR_NUMERIC,
                "K + gamma I is not positive definite, not even with %.1e added: is the kernel "
                "positive definite? use a larger gamma",
                band_jitter_of(s, run->best));
    jitter = band_jitter_of(s, run->best);
    run->ridge = (dkm_ridge_info){.precision = "double",
                                  .jitter = jitter,
                                  .jitter_steps = s->attempts[run->best],
                                  .recomputed = !s->A_copy};
    band_solve(s, run->B.cols);
    memset(run->B.a, 0, (size_t)(run->B.n * run->B.ld) * sizeof *run->B.a);
    band_add_solution(s, 1.0);
    run->ridge.condition = (s->largest + gamma) / fmax(band_smallest_eigenvalue(s) - jitter, gamma);
    DKM_TRY(dkm_path_refine(run, gamma, s->largest, band_correct, s));
out:
    return status;
}

static dkm_idx band_group_of(const banded *s)
{
    const dkm_path_settings *settings = s->run->settings;

    return dkm_idx_clamp(settings->work_bytes / (16.0 * (double)(s->n * s->cols)), settings->count);
}

dkm_status dkm_path_by_band(dkm_path_run *run)
{
    dkm_status status = DKM_OK;
    banded s = {.run = run, .n = run->k, .cols = run->R.cols + (run->one.a ? 1 : 0)};

    s.group = band_group_of(&s);
    DKM_TRY(band_reduce(&s));
    DKM_AGREE(run->ctx, band_alloc(&s));
    DKM_TRY(band_project(&s));
    if (run->errors)
        band_find_errors(&s);
    DKM_TRY(dkm_path_select_best(run));
    dkm_phase_begin(run->ctx, "solve");
    status = band_solve_best(&s);
    dkm_phase_end(run->ctx);
out:
    run->product.K = NULL;
    band_close(&s);
    return status;
}
