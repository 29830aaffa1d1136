/* Held-out predictions from the inverse of the whole matrix. With G = (K + gamma I)^-1 over all
 * examples, t the training part and s all others,
 *
 *     K(s, t) (K(t, t) + gamma I)^-1 = -G(s, s)^-1 G(s, t),
 *
 * so that every split takes a factor of the order of what it leaves out. An inverse takes as long
 * as three factors of its order: it pays where there are many splits. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "data/objects.h"
#include "dmat/dmat_impl.h"
#include "scalapack/blas.h"
#include "select/cv_impl.h"

#define WORST 1e11 /* condition up to which an inverse is as good as a factor, in practice */
#define EDGE  64   /* of a tile while the triangle is mirrored */

/* What serves all splits of one kernel and gamma. */
typedef struct inverse {
    double *G; /* m x m; NULL where the matrix is too near to a singular one */
} inverse;

/* Examples outside the training part, those to be predicted last. */
typedef struct outside {
    dkm_idx n, s, p; /* training examples, others, columns of T */
    dkm_idx *rows;   /* s */
    double *cross;   /* n x s: G(t, s) */
    double *factor;  /* s x s: of G(s, s) */
    double *F;       /* p x s: predictions, but for their sign */
} outside;

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

void dkm_cv_inverse_drop(void **shared)
{
    inverse *made = *shared;

    if (made)
        DKM_FREE(made->G);
    DKM_FREE(*shared);
}

static void close_outside(outside *o)
{
    DKM_FREE(o->F);
    DKM_FREE(o->factor);
    DKM_FREE(o->cross);
    DKM_FREE(o->rows);
}

static dkm_local open_outside(outside *o, const dkm_cv_cell *cell, dkm_idx p)
{
    dkm_ctx *ctx = cell->group->ctx;
    const dkm_cv_part *train = &cell->train, *test = &cell->test;
    dkm_idx m = cell->K->m, at = 0, t = 0, u = 0;
    dkm_local local = DKM_LOCAL_OK;

    *o = (outside){.n = train->count, .s = m - train->count, .p = p};
    DKM_STEP(dkm_alloc(ctx, o->s, &o->rows));
    DKM_STEP(dkm_alloc(ctx, o->n * o->s, &o->cross));
    DKM_STEP(dkm_alloc(ctx, o->s * o->s, &o->factor));
    DKM_STEP(dkm_alloc(ctx, p * o->s, &o->F));
    for (dkm_idx i = 0; i < m; i++)
        if (t < train->count && train->rows[t] == i)
            t++;
        else if (u < test->count && test->rows[u] == i)
            u++;
        else
            o->rows[at++] = i;
    memcpy(o->rows + at, test->rows, (size_t)test->count * sizeof *o->rows);
out:
    return local;
}

/* Cut G, whose columns are its rows. */
static void cut(outside *o, const double *G, dkm_idx m, const dkm_idx *train)
{
    for (dkm_idx k = 0; k < o->s; k++) {
        const double *column = G + o->rows[k] * m;
        for (dkm_idx i = 0; i < o->n; i++)
            o->cross[k * o->n + i] = column[train[i]];
        for (dkm_idx i = k; i < o->s; i++)
            o->factor[k * o->s + i] = column[o->rows[i]];
    }
}

/* F = T'G(t, s) G(s, s)^-1, of which only the columns of the test part are wanted: with those last
 * they need no other ones on the way back. Returns 0, or 1 where G(s, s) has no factor. */
static int solve(outside *o, const dkm_dmat *T, dkm_idx tested)
{
    dkm_idx skip = o->s - tested;

    dkm_blas_gemm(DKM_F64, 'T', 'N', o->p, o->s, o->n, 1.0, dkm_dmat_f64_const(T), dkm_dmat_ld(T),
                  o->cross, o->n, 0.0, o->F, o->p);
    if (dkm_blas_potrf(DKM_F64, o->s, o->factor, o->s) != 0)
        return 1;
    dkm_blas_lower_solve_right(DKM_F64, 'T', o->p, o->s, o->factor, o->s, o->F, o->p);
    dkm_blas_lower_solve_right(DKM_F64, 'N', o->p, tested, o->factor + skip * (o->s + 1), o->s,
                               o->F + skip * o->p, o->p);
    return 0;
}

dkm_status dkm_cv_inverse_try(dkm_cv_cell *cell, const dkm_dmat *T, dkm_cv_take take, void *state,
                              int *done)
{
    const inverse *shared = cell->shared;
    dkm_ctx *ctx = cell->group->ctx;
    dkm_idx tested = cell->test.count;
    dkm_status status = DKM_OK;
    dkm_dmat *F = NULL;
    outside o = {0};

    *done = 0;
    if (!shared || !shared->G)
        return DKM_OK;
    DKM_AGREE(ctx, open_outside(&o, cell, T->n));
    cut(&o, shared->G, cell->K->m, cell->train.rows);
    if (solve(&o, T, tested) != 0)
        goto out;
    DKM_TRY(dkm_dmat_create(cell->group->grid, tested, o.p, cell->nb, cell->nb, DKM_F64, &F));
    for (dkm_idx j = 0; j < o.p; j++)
        for (dkm_idx i = 0; i < tested; i++)
            dkm_dmat_put(F, i, j, -o.F[(o.s - tested + i) * o.p + j]);
    DKM_TRY(take(cell, state, cell->place.part, F));
    *done = 1;
out:
    dkm_dmat_destroy(&F);
    close_outside(&o);
    return status;
}
