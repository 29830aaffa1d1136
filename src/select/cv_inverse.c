/* Held-out predictions from the inverse of the whole matrix. With G = (K + gamma I)^-1 over all
 * examples, t the training part and s all others,
 *
 *     K(s, t) (K(t, t) + gamma I)^-1 = -G(s, s)^-1 G(s, t),
 *
 * so that every split takes a factor of the order of what it leaves out. An inverse takes as long
 * as three factors of its order: it pays where there are many splits.
 *
 * Nested, s is an outer fold o and an inner one, i. With G(o, o) = L L' and V = G(., o) L^-T, which
 * serve all inner folds of o, predictions of T are
 *
 *     -(G(i, i) - V(i) V(i)')^-1 (G(i, t) - V(i) V(t)') T.
 */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "data/objects.h"
#include "dmat/dmat_impl.h"
#include "scalapack/blas.h"
#include "select/cv_impl.h"

#define WORST 1e11 /* condition up to which an inverse is as good as a factor, in practice */
#define EDGE  64   /* of a tile while the triangle is mirrored */

/* What the inner folds of an outer one share. */
typedef struct outer_fold {
    dkm_idx fold;   /* -1: none yet */
    dkm_idx o, r;   /* examples of it, and others */
    dkm_idx *out;   /* o */
    dkm_idx *place; /* of each example among the others, or -1 */
    double *L;      /* o x o */
    double *V;      /* r x o */
} outer_fold;

/* What serves all splits of one kernel and gamma. */
typedef struct inverse {
    dkm_idx m;
    double *G; /* m x m; NULL where the matrix is too near to a singular one */
    outer_fold outer;
} inverse;

/* A split at work. Right-hand sides and solutions are kept transposed: a column an example. */
typedef struct split {
    dkm_idx n, t, p; /* examples to be predicted, training examples, columns of T */
    double *T;       /* p x r: T', zero for those to be predicted */
    double *H;       /* n x n */
    double *V;       /* n x o: V(i) */
    double *at_o;    /* p x o: T'V(t) */
    double *cross;   /* t x n: G(t, i) */
    double *x;       /* p x n: predictions, but for their sign */
} split;

dkm_idx dkm_cv_inverse_parts(const dkm_cv_problem *problem, int groups)
{
    const dkm_cv_ridge *r = problem->options;
    double m = (double)dkm_data_rows(problem->X), one = 1.0 / (double)problem->folds;
    double n = m * (problem->train_on_one ? one : 1.0 - one), k = (double)problem->kernels;
    double splits = (double)problem->folds, gammas = (double)r->gammas, direct, shared;

    if (problem->inner) {
        n *= 1.0 - 1.0 / (double)problem->inner;
        splits *= (double)problem->inner;
    }
    direct = ceil(k * splits / groups) * gammas * n * n * n / 3.0;
    shared = ceil(k * gammas / groups) * (m * m * m + splits * pow(m - n, 3) / 3.0);
    return r->gammas <= DKM_CV_EIGEN_PAYS && shared < direct ? r->gammas : 0;
}

/* The upper triangle from the lower one. */
static void mirror(dkm_idx m, double *A)
{
    for (dkm_idx j0 = 0; j0 < m; j0 += EDGE)
        for (dkm_idx i0 = j0; i0 < m; i0 += EDGE)
            for (dkm_idx j = j0; j < m && j < j0 + EDGE; j++)
                for (dkm_idx i = i0 > j ? i0 : j + 1; i < m && i < i0 + EDGE; i++)
                    A[i * m + j] = A[j * m + i];
}

static double largest_row_sum(dkm_idx m, const double *K)
{
    double most = 0;

    for (dkm_idx i = 0; i < m; i++) {
        double sum = 0;
        for (dkm_idx j = 0; j < m; j++)
            sum += fabs(K[i * m + j]);
        most = fmax(most, sum);
    }
    return most;
}

dkm_status dkm_cv_inverse_make(dkm_cv_cell *cell, void **shared)
{
    const dkm_cv_ridge *r = cell->problem->options;
    dkm_ctx *ctx = cell->group->ctx;
    const double *K = cell->K->mine.values;
    dkm_idx m = cell->K->m;
    double gamma = r->gamma[cell->place.part];
    dkm_status status = DKM_OK;
    inverse *made = NULL;

    *shared = NULL;
    DKM_AGREE(ctx, dkm_calloc(ctx, 1, &made));
    *shared = made;
    made->m = m;
    made->outer.fold = -1;
    if (largest_row_sum(m, K) > WORST * gamma)
        return DKM_OK;
    DKM_AGREE(ctx, dkm_alloc(ctx, m * m, &made->G));
    dkm_blas_use_threads(ctx);
    memcpy(made->G, K, (size_t)(m * m) * sizeof *K);
    for (dkm_idx i = 0; i < m; i++)
        made->G[i * m + i] += gamma;
    if (dkm_blas_potrf(DKM_F64, m, made->G, m) == 0 && dkm_blas_potri(DKM_F64, m, made->G, m) == 0)
        mirror(m, made->G);
    else
        DKM_FREE(made->G);
out:
    return status;
}

static void close_outer(outer_fold *f)
{
    DKM_FREE(f->V);
    DKM_FREE(f->L);
    DKM_FREE(f->place);
    DKM_FREE(f->out);
    f->fold = -1;
}

void dkm_cv_inverse_drop(void **shared)
{
    inverse *made = *shared;

    if (made) {
        close_outer(&made->outer);
        DKM_FREE(made->G);
    }
    DKM_FREE(*shared);
}

/* Tell examples in neither part of the split from the others. */
static dkm_local list_outer(const inverse *made, const dkm_cv_cell *cell, outer_fold *f)
{
    dkm_ctx *ctx = cell->group->ctx;
    const dkm_cv_part *train = &cell->train, *test = &cell->test;
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx m = made->m, t = 0, u = 0, at = 0;

    f->r = train->count + test->count;
    f->o = m - f->r;
    DKM_STEP(dkm_alloc(ctx, f->o, &f->out));
    DKM_STEP(dkm_alloc(ctx, m, &f->place));
    DKM_STEP(dkm_alloc(ctx, f->o * f->o, &f->L));
    DKM_STEP(dkm_alloc(ctx, f->r * f->o, &f->V));
    for (dkm_idx i = 0; i < m; i++) {
        int trains = t < train->count && train->rows[t] == i;
        int tests = u < test->count && test->rows[u] == i;
        f->place[i] = trains || tests ? t + u : -1;
        if (!trains && !tests)
            f->out[at++] = i;
        t += trains;
        u += tests;
    }
out:
    return local;
}

/* L and V; returns 0, or 1 where G(o, o) has no factor. */
static int factor_outer(const inverse *made, outer_fold *f)
{
    dkm_idx o = f->o, m = made->m;

    for (dkm_idx k = 0; k < o; k++) {
        const double *column = made->G + f->out[k] * m;
        for (dkm_idx i = k; i < o; i++)
            f->L[k * o + i] = column[f->out[i]];
        for (dkm_idx i = 0; i < m; i++)
            if (f->place[i] >= 0)
                f->V[k * f->r + f->place[i]] = column[i];
    }
    if (o == 0)
        return 0;
    if (dkm_blas_potrf(DKM_F64, o, f->L, o) != 0)
        return 1;
    dkm_blas_lower_solve_right(DKM_F64, 'T', f->r, o, f->L, o, f->V, f->r);
    return 0;
}

/* Make the outer fold that of the cell; @p fits is 0 where there is no factor. */
static dkm_status turn_to(inverse *made, const dkm_cv_cell *cell, int *fits)
{
    dkm_idx fold = cell->place.inner < 0 ? -2 - cell->place.outer : cell->place.outer;
    dkm_status status = DKM_OK;

    *fits = 1;
    if (made->outer.fold == fold)
        return DKM_OK;
    close_outer(&made->outer);
    DKM_AGREE(cell->group->ctx, list_outer(made, cell, &made->outer));
    *fits = factor_outer(made, &made->outer) == 0;
    made->outer.fold = *fits ? fold : -1;
out:
    return status;
}

static void close_split(split *s)
{
    DKM_FREE(s->x);
    DKM_FREE(s->cross);
    DKM_FREE(s->at_o);
    DKM_FREE(s->V);
    DKM_FREE(s->H);
    DKM_FREE(s->T);
}

static dkm_local open_split(split *s, const inverse *made, const dkm_cv_cell *cell, dkm_idx p)
{
    dkm_ctx *ctx = cell->group->ctx;
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx n = cell->test.count, o = made->outer.o;

    *s = (split){.n = n, .t = cell->train.count, .p = p};
    DKM_STEP(dkm_calloc(ctx, p * made->outer.r, &s->T));
    DKM_STEP(dkm_alloc(ctx, n * n, &s->H));
    DKM_STEP(dkm_alloc(ctx, n * o, &s->V));
    DKM_STEP(dkm_alloc(ctx, p * o, &s->at_o));
    DKM_STEP(dkm_alloc(ctx, s->t * n, &s->cross));
    DKM_STEP(dkm_alloc(ctx, p * n, &s->x));
out:
    return local;
}

/* G(i, i), G(t, i) and V(i): columns of G are its rows. */
static void cut_split(split *s, const inverse *made, const dkm_idx *rows, const dkm_idx *train)
{
    const outer_fold *f = &made->outer;

    for (dkm_idx k = 0; k < s->n; k++) {
        const double *column = made->G + rows[k] * made->m;
        for (dkm_idx i = 0; i < s->t; i++)
            s->cross[k * s->t + i] = column[train[i]];
        for (dkm_idx i = k; i < s->n; i++)
            s->H[k * s->n + i] = column[rows[i]];
    }
    for (dkm_idx k = 0; k < f->o; k++)
        for (dkm_idx i = 0; i < s->n; i++)
            s->V[k * s->n + i] = f->V[k * f->r + f->place[rows[i]]];
}

/* x = T'G(t, i) - T'V(t) V(i)', and H. */
static void meet(split *s, const outer_fold *f, const dkm_dmat *T, const dkm_idx *train)
{
    dkm_blas_gemm(DKM_F64, 'T', 'N', s->p, s->n, s->t, 1.0, dkm_dmat_f64_const(T), dkm_dmat_ld(T),
                  s->cross, s->t, 0.0, s->x, s->p);
    if (f->o == 0)
        return;
    for (dkm_idx i = 0; i < s->t; i++)
        for (dkm_idx j = 0; j < s->p; j++)
            s->T[f->place[train[i]] * s->p + j] = dkm_dmat_at(T, i, j);
    dkm_blas_gemm(DKM_F64, 'N', 'N', s->p, f->o, f->r, 1.0, s->T, s->p, f->V, f->r, 0.0, s->at_o,
                  s->p);
    dkm_blas_gemm(DKM_F64, 'N', 'T', s->p, s->n, f->o, -1.0, s->at_o, s->p, s->V, s->n, 1.0, s->x,
                  s->p);
    dkm_blas_syrk(DKM_F64, 'N', s->n, f->o, -1.0, s->V, s->n, 1.0, s->H, s->n);
}

/* x = x H^-1; returns 0, or 1 where H has no factor. */
static int solve(split *s)
{
    if (dkm_blas_potrf(DKM_F64, s->n, s->H, s->n) != 0)
        return 1;
    dkm_blas_lower_solve_right(DKM_F64, 'T', s->p, s->n, s->H, s->n, s->x, s->p);
    dkm_blas_lower_solve_right(DKM_F64, 'N', s->p, s->n, s->H, s->n, s->x, s->p);
    return 0;
}

dkm_status dkm_cv_inverse_try(dkm_cv_cell *cell, const dkm_dmat *T, dkm_cv_take take, void *state,
                              int *done)
{
    inverse *made = cell->shared;
    dkm_ctx *ctx = cell->group->ctx;
    dkm_status status = DKM_OK;
    dkm_dmat *F = NULL;
    split s = {0};
    int fits = 0;

    *done = 0;
    if (!made || !made->G)
        return DKM_OK;
    DKM_TRY(turn_to(made, cell, &fits));
    if (!fits)
        goto out;
    DKM_AGREE(ctx, open_split(&s, made, cell, T->n));
    cut_split(&s, made, cell->test.rows, cell->train.rows);
    meet(&s, &made->outer, T, cell->train.rows);
    if (solve(&s) != 0)
        goto out;
    DKM_TRY(dkm_dmat_create(cell->group->grid, s.n, s.p, cell->nb, cell->nb, DKM_F64, &F));
    for (dkm_idx j = 0; j < s.p; j++)
        for (dkm_idx i = 0; i < s.n; i++)
            dkm_dmat_put(F, i, j, -s.x[i * s.p + j]);
    DKM_TRY(take(cell, state, cell->place.part, F));
    *done = 1;
out:
    dkm_dmat_destroy(&F);
    close_split(&s);
    return status;
}
