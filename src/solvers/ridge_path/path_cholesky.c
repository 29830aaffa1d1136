/* Ridge path by one Cholesky factorization L L' = A + gamma I per gamma. Besides the solution,
 * leave-one-out errors (loo.h) need the diagonal of the inverse, which is the squared norms of the
 * columns of L^-1; in the primal, x'(A + gamma I)^-1 x of each input, which is the squared norms of
 * the rows of X L^-T.
 *
 * If coefficients are penalized, A = K K, and the system (A + gamma I) a = T gives B = K a. Errors
 * are then computed from a and B, and from the diagonals of (A + gamma I)^-1 and K (A + gamma
 * I)^-1.
 *
 * Cost per rank and gamma: k^3 / (3 ranks) flops for the factor, k^3 / (3 ranks) for its inverse
 * and 2 k^2 p / ranks for the outputs; in the primal m k^2 / ranks instead of the inverse.
 * Replicated: two diagonals of k numbers. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "linalg/linalg.h"
#include "solvers/operators/spectral_filter.h"
#include "solvers/ridge/shifted_cholesky.h"
#include "solvers/ridge_path/path_impl.h"

typedef struct solver {
    dkm_path_run *run;
    dkm_shifted_cholesky factor;
    dkm_dmat *square; /* K K, where coefficients are penalized */
    dkm_dmat *R;      /* right-hand sides of the system */
    dkm_dmat *one;
    dkm_multivec B, a; /* solution for the gamma at hand, and what it is made of where squared */
    dkm_multivec u, v; /* the same for the right-hand side of ones */
    double *p, *q;     /* diagonals, m numbers each; in the primal ones, k of them */
    int found;         /* a solution is stored */
} solver;

static dkm_local path_chol_alloc(solver *s)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_path_run *run = s->run;
    dkm_idx cols = run->R.cols;

    DKM_STEP(dkm_multivec_init(&s->B, run->ctx, run->k, cols));
    DKM_STEP(dkm_alloc(run->ctx, run->k, &s->p));
    if (run->one.a)
        DKM_STEP(dkm_multivec_init(&s->u, run->ctx, run->k, 1));
    if (!dkm_path_penalizes_coefficients(run))
        goto out;
    DKM_STEP(dkm_multivec_init(&s->a, run->ctx, run->k, cols));
    DKM_STEP(dkm_alloc(run->ctx, run->k, &s->q));
    if (run->one.a)
        DKM_STEP(dkm_multivec_init(&s->v, run->ctx, run->k, 1));
out:
    s->B.cols = s->a.cols = cols;
    s->u.cols = s->v.cols = 1;
    return local;
}

/* K K beside K, both triangles of which are filled. */
static dkm_status path_chol_square(solver *s)
{
    dkm_status status = DKM_OK;
    dkm_path_run *run = s->run;
    double m = (double)run->m;

    DKM_TRY(dkm_memory_check(
        run->ctx, 8.0 * (double)dkm_dmat_ld(run->A) * (double)dkm_dmat_local_cols(run->A),
        "the square of the kernel matrix"));
    DKM_TRY(dkm_dmat_create_like(run->A, run->k, run->nb, DKM_F64, &s->square));
    DKM_TRY(dkm_dmat_symmetrize('L', run->A));
    dkm_phase_begin(run->ctx, "square");
    dkm_la_syrk('N', 1.0, run->A, 0.0, s->square);
    dkm_phase_flops(run->ctx, m * m * m / dkm_ctx_size(run->ctx));
    dkm_phase_end(run->ctx);
    run->product.K = run->A;
out:
    return status;
}

static dkm_status path_chol_from_rows(const solver *s, const dkm_multivec *rows, dkm_dmat **M)
{
    dkm_status status = DKM_OK;
    const dkm_path_run *run = s->run;

    DKM_TRY(dkm_dmat_create(run->grid, run->k, rows->cols, run->nb, run->nb, DKM_F64, M));
    DKM_TRY(dkm_dmat_from_rows(*M, rows->a));
out:
    return status;
}

static dkm_status path_chol_open(solver *s, dkm_path_run *run)
{
    dkm_status status = DKM_OK;
    int squared = dkm_path_penalizes_coefficients(run);

    s->run = run;
    DKM_AGREE(run->ctx, path_chol_alloc(s));
    DKM_TRY(path_chol_from_rows(s, &run->R, &s->R));
    if (run->one.a)
        DKM_TRY(path_chol_from_rows(s, &run->one, &s->one));
    if (squared)
        DKM_TRY(path_chol_square(s));
    DKM_TRY(dkm_shifted_cholesky_open(&s->factor, squared ? s->square : run->A,
                                      squared ? "K'K + gamma I" : "K + gamma I"));
out:
    return status;
}

static void path_chol_close(solver *s)
{
    dkm_shifted_cholesky_close(&s->factor);
    dkm_dmat_destroy(&s->one);
    dkm_dmat_destroy(&s->R);
    dkm_dmat_destroy(&s->square);
    DKM_FREE(s->q);
    DKM_FREE(s->p);
    dkm_multivec_free(&s->v);
    dkm_multivec_free(&s->u);
    dkm_multivec_free(&s->a);
    dkm_multivec_free(&s->B);
}

/* From a to B = K a, in slabs. */
static dkm_status path_chol_apply_matrix(const solver *s, const dkm_multivec *a, dkm_multivec *B)
{
    memcpy(B->a, a->a, (size_t)(a->n * a->ld) * sizeof *a->a);
    return dkm_kernel_op_multiply(&s->run->product, B);
}

/* The solution in B, and in u that of the right-hand side of ones. */
static dkm_status path_chol_solve(solver *s)
{
    dkm_status status = DKM_OK;
    int squared = dkm_path_penalizes_coefficients(s->run);
    dkm_dmat *X = NULL, *U = NULL;

    DKM_TRY(dkm_shifted_cholesky_solve(&s->factor, s->R, &X));
    DKM_TRY(dkm_dmat_to_rows(X, squared ? s->a.a : s->B.a));
    if (squared)
        DKM_TRY(path_chol_apply_matrix(s, &s->a, &s->B));
    if (!s->one)
        goto out;
    DKM_TRY(dkm_dmat_convert(s->one, DKM_F64, &U));
    dkm_shifted_cholesky_apply(&s->factor, U);
    DKM_TRY(dkm_dmat_to_rows(U, squared ? s->v.a : s->u.a));
    if (squared)
        DKM_TRY(path_chol_apply_matrix(s, &s->v, &s->u));
out:
    dkm_dmat_destroy(&U);
    dkm_dmat_destroy(&X);
    return status;
}

static dkm_loo_part path_chol_part_of(const dkm_multivec *b, const dkm_multivec *u, const double *p)
{
    return (dkm_loo_part){b->a, b->ld, u->a, p, 1};
}

static void path_chol_scale(double by, dkm_idx n, double *a)
{
    for (dkm_idx i = 0; a && i < n; i++)
        a[i] *= by;
}

static void path_chol_add_dual(solver *s, dkm_idx g)
{
    dkm_path_run *run = s->run;
    dkm_idx first = dkm_slab_first(run->m, dkm_ctx_rank(run->ctx), dkm_ctx_size(run->ctx));
    dkm_loo_piece piece = {g, 0, run->T.n, 0, run->T.cols, 1, {{0}}};
    double root = sqrt(run->settings->gammas[g]);

    dkm_shifted_cholesky_diagonals(&s->factor, s->q ? run->A : NULL, s->p, s->q);
    piece.part[0] = path_chol_part_of(&s->B, &s->u, s->p + first);
    if (s->q) {
        path_chol_scale(root, s->a.n * s->a.ld, s->a.a);
        path_chol_scale(root, s->v.n, s->v.a);
        path_chol_scale(root, run->m, s->p);
        piece.parts = 2;
        piece.part[0] = path_chol_part_of(&s->a, &s->v, s->p + first);
        piece.part[1] = path_chol_part_of(&s->B, &s->u, s->q + first);
    }
    dkm_loo_add(&run->loo, &piece);
}

typedef struct fit {
    double *b, *u, *p;
} fit;

static dkm_local path_chol_open_fit(const solver *s, fit *f)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_ctx *ctx = s->run->ctx;
    dkm_idx rows = dkm_path_chunk(s->run);

    DKM_STEP(dkm_alloc(ctx, rows * s->B.cols, &f->b));
    DKM_STEP(dkm_alloc(ctx, rows, &f->p));
    if (s->one)
        DKM_STEP(dkm_alloc(ctx, rows, &f->u));
out:
    return local;
}

static void path_chol_close_fit(fit *f)
{
    DKM_FREE(f->u);
    DKM_FREE(f->p);
    DKM_FREE(f->b);
}

static void path_chol_add_fit(solver *s, dkm_idx g, dkm_idx first, fit *f)
{
    dkm_path_run *run = s->run;
    dkm_idx left = run->T.n - first, chunk = dkm_path_chunk(run), cols = run->T.cols;
    dkm_idx rows = left < 0 ? 0 : left < chunk ? left : chunk;
    dkm_loo_piece piece = {g, first, rows, 0, cols, 1, {{f->b, cols, f->u, f->p, 1}}};

    for (dkm_idx i = 0; i < rows; i++) {
        f->p[i] = 1.0 - f->p[i];
        if (f->u)
            f->u[i] = dkm_path_one(run, first + i) - f->u[i];
    }
    dkm_path_complement(run, &piece, f->b);
    dkm_loo_add(&run->loo, &piece);
}

static dkm_status path_chol_add_chunk(solver *s, dkm_idx g, dkm_idx first)
{
    dkm_status status = DKM_OK;
    dkm_path_run *run = s->run;
    dkm_dmat *E = NULL;
    fit f = {0};

    DKM_AGREE(run->ctx, path_chol_open_fit(s, &f));
    DKM_TRY(dkm_path_inputs(run, first, &E));
    DKM_TRY(dkm_spectral_filter_apply(E, 1, s->p, s->B.cols, s->B.a, s->B.ld, f.b));
    if (s->one)
        DKM_TRY(dkm_spectral_filter_apply(E, 1, s->p, 1, s->u.a, 1, f.u));
    dkm_la_trsm_right(s->factor.A, E);
    DKM_TRY(dkm_spectral_filter_diagonal(E, 1, s->p, f.p));
    path_chol_add_fit(s, g, first, &f);
out:
    dkm_dmat_destroy(&E);
    path_chol_close_fit(&f);
    return status;
}

static dkm_status path_chol_add_primal(solver *s, dkm_idx g)
{
    dkm_status status = DKM_OK;
    dkm_path_run *run = s->run;
    dkm_idx most = dkm_slab_count(run->m, 0, dkm_ctx_size(run->ctx));

    for (dkm_idx j = 0; j < run->k; j++)
        s->p[j] = 1.0;
    for (dkm_idx first = 0; first < most; first += dkm_path_chunk(run))
        DKM_TRY(path_chol_add_chunk(s, g, first));
out:
    return status;
}

static dkm_status path_chol_find_errors(solver *s, dkm_idx g)
{
    dkm_status status = DKM_OK;

    dkm_phase_begin(s->run->ctx, "errors");
    if (s->run->X)
        DKM_TRY(path_chol_add_primal(s, g));
    else
        path_chol_add_dual(s, g);
    dkm_loo_finish(&s->run->loo, g, 1, s->run->points);
out:
    dkm_phase_end(s->run->ctx);
    return status;
}

/* Keep the solution at hand where it is the best so far; dkm_path_select_best() decides alike. */
static void path_chol_keep_best(solver *s, dkm_idx g)
{
    dkm_path_run *run = s->run;
    dkm_multivec swap = run->B;

    if (run->errors && !(isfinite(dkm_path_error(run, g)) &&
                         (!s->found || dkm_path_error(run, g) < dkm_path_error(run, run->best))))
        return;
    s->found = 1;
    run->best = g;
    run->ridge = s->factor.info;
    run->B = s->B;
    s->B = swap;
    s->B.cols = run->B.cols;
}

/* In a list a gamma without a factor is passed over: it has no errors. */
static dkm_status path_chol_visit(solver *s, dkm_idx g)
{
    dkm_status status = DKM_OK;
    dkm_path_run *run = s->run;

    status = dkm_shifted_cholesky_factorize(&s->factor, run->settings->gammas[g]);
    if (status == DKM_ERR_NUMERIC && run->settings->count > 1) {
        dkm_log(run->ctx, DKM_WARN, "gamma = %g is passed over", run->settings->gammas[g]);
        return DKM_OK;
    }
    DKM_TRY(status);
    DKM_TRY(path_chol_solve(s));
    if (run->errors)
        DKM_TRY(path_chol_find_errors(s, g));
    path_chol_keep_best(s, g);
out:
    return status;
}

/* The residual of a is not that of B = K a. */
static dkm_status path_chol_measure_squared(solver *s)
{
    return dkm_path_residual(s->run, s->run->settings->gammas[s->run->best], s->factor.largest,
                             &s->a);
}

dkm_status dkm_path_by_cholesky(dkm_path_run *run)
{
    dkm_status status = DKM_OK;
    dkm_idx count = run->settings->count;
    solver s = {0};

    dkm_phase_begin(run->ctx, "solve");
    DKM_TRY(path_chol_open(&s, run));
    for (dkm_idx g = 0; g < count; g++) {
        DKM_TRY(path_chol_visit(&s, g));
        dkm_progress(run->ctx, (double)(g + 1), (double)count);
    }
    DKM_TRY(dkm_path_select_best(run));
    if (dkm_path_penalizes_coefficients(run))
        DKM_TRY(path_chol_measure_squared(&s));
out:
    dkm_phase_end(run->ctx);
    run->product.K = NULL;
    path_chol_close(&s);
    return status;
}
