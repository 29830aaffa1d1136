/* Held-out predictions from the inverse G of K + gamma I over all examples. Nested, what a split
 * leaves out is an outer fold o and an inner one, i. With G(o, o) = L L' and V = G(., o) L^-T,
 * which serve all inner folds of o, and H = G(i, i) - V(i) V(i)', predictions of T are
 *
 *     -H^-1 (G(i, t) - V(i) V(t)') T.
 *
 * Where T = E(t, .) C for columns E that all splits share, the same is
 *
 *     (E(i, .) - H^-1 (G(i, .) E - V(i) L^-1 G(o, .) E)) C,
 *
 * in which G E serves all splits. It is a difference: an example that looks like no other, whose
 * prediction is nearly nothing, takes the first form, which keeps its digits unless the examples
 * left out lead to the training part by way of each other where nothing leads there directly. Then
 * a factor of the training part has to be taken.
 *
 * The identity is that of block leave-out (An, Liu and Venkatesh 2007, see cv_inverse.c). Cost
 * per split that leaves out s of m examples: s^3 / 3 flops for the factor of H, 2 s m t for t
 * columns, or 2 s q t where G E of q columns is at hand. Local to a rank. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "data/objects.h"
#include "linalg/backend/blas.h"
#include "matrix/dmat_impl.h"
#include "selection/cv/closed_form/cv_inverse.h"

#define ROUNDING 1e-13
#define FAINT    1e-9 /* of what a prediction is the difference of: below it has lost its digits */

/* A split at work. Right-hand sides and solutions are stored transposed: one column per example. */
typedef struct split {
    dkm_idx n, t, p, q; /* examples to be predicted, training examples, columns of T and of E */
    double *H;          /* n x n: H, then its factor */
    double *diagonal;   /* n: of H */
    double *most;       /* n: the largest of T'G(t, i) of each example */
    const double *V;    /* n x o, ld r: V(i); NULL where o is 0 */
    double *x;          /* p or q x n: predictions */
    double *T;          /* p x m: T', zero but for the training part */
    double *others;     /* p x r: the same of the others than the outer fold, in their order */
    double *at_o;       /* p x o: T'V(t) */
    double *cross;      /* m x n: G(., i) */
} split;

static void cv_inverse_folds_close_split(split *s)
{
    DKM_FREE(s->cross);
    DKM_FREE(s->at_o);
    DKM_FREE(s->others);
    DKM_FREE(s->T);
    DKM_FREE(s->x);
    DKM_FREE(s->most);
    DKM_FREE(s->diagonal);
    DKM_FREE(s->H);
}

static dkm_local cv_inverse_folds_open_split(split *s, const dkm_cv_inverse *made,
                                             const dkm_cv_cell *cell, dkm_idx p)
{
    dkm_ctx *ctx = cell->group->ctx;
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx n = cell->test.count, q = cell->lowrank ? cell->lowrank->q : 0;

    *s = (split){.n = n, .t = cell->train.count, .p = p, .q = q};
    if (made->outer.o > 0)
        s->V = made->outer.V + made->outer.start[cell->id.inner];
    DKM_STEP(dkm_alloc(ctx, n * n, &s->H));
    DKM_STEP(dkm_alloc(ctx, n, &s->diagonal));
    DKM_STEP(dkm_alloc(ctx, n, &s->most));
    DKM_STEP(dkm_alloc(ctx, (p > q ? p : q) * n, &s->x));
out:
    return local;
}

/* The factor of H; returns 0, or 1 where it has none. Columns of G are its rows. */
static int cv_inverse_folds_factor(split *s, const dkm_cv_inverse *made, const dkm_idx *rows)
{
    const dkm_cv_outer *f = &made->outer;

    for (dkm_idx k = 0; k < s->n; k++) {
        const double *column = made->G + rows[k] * made->m;
        for (dkm_idx i = k; i < s->n; i++)
            s->H[k * s->n + i] = column[rows[i]];
    }
    if (f->o > 0)
        dkm_blas_syrk(DKM_F64, 'N', s->n, f->o, -1.0, s->V, f->r, 1.0, s->H, s->n);
    for (dkm_idx i = 0; i < s->n; i++)
        s->diagonal[i] = s->H[i * s->n + i];
    return dkm_blas_potrf(DKM_F64, s->n, s->H, s->n) != 0;
}

/* The largest size of @p rows numbers. */
static double cv_inverse_folds_largest(dkm_idx rows, const double *x)
{
    double most = 0;

    for (dkm_idx j = 0; j < rows; j++)
        most = fmax(most, fabs(x[j]));
    return most;
}

/* x = x H^-1, x of @p rows rows. */
static void cv_inverse_folds_solve(const split *s, dkm_idx rows)
{
    dkm_blas_trsm_right(DKM_F64, 'T', rows, s->n, s->H, s->n, s->x, rows);
    dkm_blas_trsm_right(DKM_F64, 'N', rows, s->n, s->H, s->n, s->x, rows);
}

/* x = predictions of the low-rank factor; returns whether they are good. Where one is nothing but
 * rounding the other splits are spared the attempt. */
static int predict_base(const split *s, dkm_cv_inverse *made, const dkm_cv_lowrank *lowrank,
                        const dkm_idx *rows)
{
    double faintest = INFINITY;
    const dkm_cv_outer *f = &made->outer;

    for (dkm_idx i = 0; i < s->n; i++)
        memcpy(s->x + i * s->q, made->EG + rows[i] * s->q, (size_t)s->q * sizeof *s->x);
    if (f->o > 0)
        dkm_blas_gemm(DKM_F64, 'N', 'T', s->q, s->n, f->o, -1.0, f->at_o, s->q, s->V, f->r, 1.0,
                      s->x, s->q);
    cv_inverse_folds_solve(s, s->q);
    for (dkm_idx i = 0; i < s->n; i++)
        for (dkm_idx j = 0; j < s->q; j++)
            s->x[i * s->q + j] = lowrank->E[rows[i] * s->q + j] - s->x[i * s->q + j];
    for (dkm_idx i = 0; i < s->n; i++)
        faintest = fmin(faintest, cv_inverse_folds_largest(s->q, s->x + i * s->q));
    made->faint = faintest < ROUNDING * lowrank->scale;
    return faintest >= FAINT * lowrank->scale;
}

static dkm_local cv_inverse_folds_allocate(split *s, const dkm_cv_inverse *made, dkm_ctx *ctx)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_calloc(ctx, s->p * made->m, &s->T));
    DKM_STEP(dkm_alloc(ctx, s->p * made->outer.r, &s->others));
    DKM_STEP(dkm_alloc(ctx, s->p * made->outer.o, &s->at_o));
    DKM_STEP(dkm_alloc(ctx, made->m * s->n, &s->cross));
out:
    return local;
}

/* x = T'G(t, i) - T'V(t) V(i)'. */
static void cv_inverse_folds_inner(const split *s, const dkm_cv_inverse *made, const dkm_idx *rows)
{
    const dkm_cv_outer *f = &made->outer;
    dkm_idx m = made->m;

    for (dkm_idx k = 0; k < s->n; k++)
        memcpy(s->cross + k * m, made->G + rows[k] * m, (size_t)m * sizeof *s->cross);
    dkm_blas_gemm(DKM_F64, 'N', 'N', s->p, s->n, m, 1.0, s->T, s->p, s->cross, m, 0.0, s->x, s->p);
    for (dkm_idx i = 0; i < s->n; i++)
        s->most[i] = cv_inverse_folds_largest(s->p, s->x + i * s->p);
    if (f->o == 0)
        return;
    for (dkm_idx i = 0; i < f->r; i++)
        memcpy(s->others + i * s->p, s->T + f->other[i] * s->p, (size_t)s->p * sizeof *s->T);
    dkm_blas_gemm(DKM_F64, 'N', 'N', s->p, f->o, f->r, 1.0, s->others, s->p, f->V, f->r, 0.0,
                  s->at_o, s->p);
    dkm_blas_gemm(DKM_F64, 'N', 'T', s->p, s->n, f->o, -1.0, s->at_o, s->p, s->V, f->r, 1.0, s->x,
                  s->p);
}

/* x = predictions of T, but for their sign; @p good is whether all are accurate. */
static dkm_status predict_targets(split *s, const dkm_cv_inverse *made, const dkm_cv_cell *cell,
                                  const dkm_dmat *T, int *good)
{
    dkm_ctx *ctx = cell->group->ctx;
    dkm_status status = DKM_OK;

    DKM_AGREE(ctx, cv_inverse_folds_allocate(s, made, ctx));
    for (dkm_idx j = 0; j < s->p; j++)
        for (dkm_idx i = 0; i < s->t; i++)
            s->T[cell->train.rows[i] * s->p + j] = dkm_dmat_at(T, i, j);
    cv_inverse_folds_inner(s, made, cell->test.rows);
    cv_inverse_folds_solve(s, s->p);
    *good = 1;
    for (dkm_idx i = 0; i < s->n; i++)
        *good = *good && cv_inverse_folds_largest(s->p, s->x + i * s->p) * s->diagonal[i] >=
                             FAINT * s->most[i];
out:
    return status;
}

/* F = x'C of a low-rank factor, or -x'. */
static void cv_inverse_folds_fill(const split *s, const double *C, dkm_dmat *F)
{
    if (C)
        dkm_blas_gemm(DKM_F64, 'T', 'N', s->n, s->p, s->q, 1.0, s->x, s->q, C, s->q, 0.0,
                      dkm_dmat_f64(F), dkm_dmat_ld(F));
    for (dkm_idx j = 0; !C && j < s->p; j++)
        for (dkm_idx i = 0; i < s->n; i++)
            dkm_dmat_put(F, i, j, -s->x[i * s->p + j]);
}

dkm_status dkm_cv_inverse_try(dkm_cv_cell *cell, const dkm_cv_targets *targets,
                              dkm_cv_visit_predictions take, void *state, int *done)
{
    dkm_cv_inverse *made = cell->shared;
    const double *C = targets->C;
    dkm_status status = DKM_OK;
    dkm_dmat *F = NULL;
    split s = {0};
    int fits = 0, good = 1;

    *done = 0;
    if (!made || !made->G)
        return DKM_OK;
    DKM_TRY(dkm_cv_inverse_invert(made, cell, &fits));
    if (!fits)
        goto out;
    DKM_AGREE(cell->group->ctx, cv_inverse_folds_open_split(&s, made, cell, targets->T->n));
    if (cv_inverse_folds_factor(&s, made, cell->test.rows) != 0)
        goto out;
    if (C && (made->faint || !predict_base(&s, made, cell->lowrank, cell->test.rows)))
        C = NULL;
    if (!C)
        DKM_TRY(predict_targets(&s, made, cell, targets->T, &good));
    if (!good)
        goto out;
    DKM_TRY(dkm_dmat_create(cell->group->grid, s.n, s.p, cell->nb, cell->nb, DKM_F64, &F));
    cv_inverse_folds_fill(&s, C, F);
    DKM_TRY(take(cell, state, cell->id.part, F));
    *done = 1;
out:
    dkm_dmat_destroy(&F);
    cv_inverse_folds_close_split(&s);
    return status;
}
