/* Cross-validation of ridge regression from one inverse G of K + gamma I over all examples (block
 * leave-out; An, Liu and Venkatesh 2007, Pattern Recognition 40(8):2154-2162,
 * doi:10.1016/j.patcog.2006.12.015). With t the training part and s all others,
 *
 *     K(s, t) (K(t, t) + gamma I)^-1 = -G(s, s)^-1 G(s, t),
 *
 * so every split needs a factorization of the order of what it leaves out (cv_inverse_folds.c). An
 * inverse costs as much as three factorizations of its order: it pays off with many splits.
 *
 * Cost: m^3 flops for G; m^2 numbers on the one rank of each group; groups work independently. */
#include "selection/cv/closed_form/cv_inverse.h"

#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "data/objects.h"
#include "linalg/backend/blas.h"
#include "linalg/kernels/gemm_tallskinny.h"

#define WORST 1e11 /* condition up to which an inverse is as good as a factor, in practice */

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

/* At least the largest eigenvalue: the trace of a positive semidefinite matrix where that will do,
 * else the largest row sum. */
static double cv_inverse_size_of(dkm_idx m, const double *K, double will_do)
{
    double most = 0, trace = 0;

    for (dkm_idx i = 0; i < m; i++)
        trace += K[i * m + i];
    for (dkm_idx i = 0; i < m && !(trace <= will_do); i++) {
        double sum = 0;
        for (dkm_idx j = 0; j < m; j++)
            sum += fabs(K[i * m + j]);
        most = fmax(most, sum);
    }
    return trace <= will_do ? trace : most;
}

/* G, or none where the matrix has no factor. */
static void cv_inverse_invert(dkm_cv_inverse *made, const double *K, double gamma)
{
    dkm_idx m = made->m;

    for (dkm_idx j = 0; j < m; j++) { /* the lower triangle */
        memcpy(made->G + j * m + j, K + j * m + j, (size_t)(m - j) * sizeof *K);
        made->G[j * m + j] += gamma;
    }
    if (dkm_blas_potrf(DKM_F64, m, made->G, m) != 0) {
        DKM_FREE(made->G);
        return;
    }
    dkm_blas_potri(m, made->G, m);
    dkm_blas_symmetrize(m, made->G, m);
}

/* E'G; a few columns take less time beside zeros that fill their lanes than gemm takes. */
static dkm_local cv_inverse_multiply(const dkm_cv_lowrank *lowrank, dkm_cv_inverse *made,
                                     dkm_ctx *ctx)
{
    dkm_idx m = made->m, q = lowrank->q, lanes = dkm_ts_nrhs_pad(q);
    dkm_local local = DKM_LOCAL_OK;
    double *V = NULL, *W = NULL;

    DKM_STEP(dkm_alloc(ctx, q * m, &made->EG));
    if (q > DKM_NRHS_MAX) {
        dkm_blas_gemm(DKM_F64, 'N', 'N', q, m, m, 1.0, lowrank->E, q, made->G, m, 0.0, made->EG, q);
        return local;
    }
    DKM_STEP(dkm_calloc(ctx, lanes * m, &V));
    DKM_STEP(dkm_calloc(ctx, lanes * m, &W));
    for (dkm_idx i = 0; i < m; i++)
        memcpy(V + i * lanes, lowrank->E + i * q, (size_t)q * sizeof *V);
    dkm_ts_gemm_t(&(dkm_ts_tile){DKM_F64, m, m, m, made->G}, lanes, V, W);
    for (dkm_idx i = 0; i < m; i++)
        memcpy(made->EG + i * q, W + i * lanes, (size_t)q * sizeof *W);
out:
    DKM_FREE(W);
    DKM_FREE(V);
    return local;
}

dkm_status dkm_cv_inverse_make(dkm_cv_cell *cell, void **shared)
{
    const dkm_cv_ridge *r = cell->problem->options;
    const dkm_cv_lowrank *lowrank = cell->lowrank;
    dkm_ctx *ctx = cell->group->ctx;
    const double *K = cell->K->mine.values;
    dkm_idx m = cell->K->m;
    double gamma = r->gamma[cell->id.part];
    dkm_status status = DKM_OK;
    dkm_cv_inverse *made = NULL;

    *shared = NULL;
    DKM_AGREE(ctx, dkm_calloc(ctx, 1, &made));
    *shared = made;
    made->m = m;
    made->outer.fold = -1;
    if (cv_inverse_size_of(m, K, WORST * gamma) > WORST * gamma)
        return DKM_OK;
    DKM_AGREE(ctx, dkm_alloc(ctx, m * m, &made->G));
    dkm_blas_use_threads(ctx);
    cv_inverse_invert(made, K, gamma);
    if (!lowrank || !made->G)
        return DKM_OK;
    DKM_AGREE(ctx, cv_inverse_multiply(lowrank, made, ctx));
out:
    return status;
}

static void close_outer(dkm_cv_outer *f)
{
    DKM_FREE(f->at_o);
    DKM_FREE(f->V);
    DKM_FREE(f->L);
    DKM_FREE(f->start);
    DKM_FREE(f->other);
    DKM_FREE(f->out);
    f->fold = -1;
}

void dkm_cv_inverse_drop(void **shared)
{
    dkm_cv_inverse *made = *shared;

    if (made) {
        close_outer(&made->outer);
        DKM_FREE(made->EG);
        DKM_FREE(made->G);
    }
    DKM_FREE(*shared);
}

/* Examples of the outer fold, those of neither part, and the others inner fold by inner fold. */
static void cv_inverse_deal(const dkm_cv_cell *cell, dkm_cv_outer *f, dkm_idx m)
{
    const dkm_cv_part *train = &cell->train, *test = &cell->test;
    dkm_idx at = 0, o = 0, t = 0, u = 0;

    for (dkm_idx i = 0; i < m; i++)
        if (t < train->count && train->rows[t] == i)
            t++;
        else if (u < test->count && test->rows[u] == i)
            u++;
        else
            f->out[o++] = i;
    for (dkm_idx fold = 0; fold < cell->problem->inner; fold++) {
        f->start[fold] = at;
        for (dkm_idx i = 0, k = 0; i < m; i++)
            if (k < o && f->out[k] == i)
                k++;
            else if (cell->inner[i] == fold)
                f->other[at++] = i;
    }
}

static dkm_local open_outer(const dkm_cv_inverse *made, const dkm_cv_cell *cell, dkm_cv_outer *f)
{
    dkm_ctx *ctx = cell->group->ctx;
    dkm_local local = DKM_LOCAL_OK;

    f->r = cell->train.count + cell->test.count;
    f->o = made->m - f->r;
    if (f->o == 0)
        return local;
    DKM_STEP(dkm_alloc(ctx, f->o, &f->out));
    DKM_STEP(dkm_alloc(ctx, f->r, &f->other));
    DKM_STEP(dkm_alloc(ctx, cell->problem->inner, &f->start));
    DKM_STEP(dkm_alloc(ctx, f->o * f->o, &f->L));
    DKM_STEP(dkm_alloc(ctx, f->r * f->o, &f->V));
    if (made->EG)
        DKM_STEP(dkm_alloc(ctx, cell->lowrank->q * f->o, &f->at_o));
    cv_inverse_deal(cell, f, made->m);
out:
    return local;
}

/* L, V and E'G(., o) L^-T; returns 0, or 1 where G(o, o) has no factor. */
static int factor_outer(const dkm_cv_inverse *made, dkm_idx q, dkm_cv_outer *f)
{
    dkm_idx o = f->o, m = made->m;

    for (dkm_idx k = 0; k < o; k++) {
        const double *column = made->G + f->out[k] * m;
        for (dkm_idx i = k; i < o; i++)
            f->L[k * o + i] = column[f->out[i]];
        for (dkm_idx i = 0; i < f->r; i++)
            f->V[k * f->r + i] = column[f->other[i]];
    }
    if (o == 0)
        return 0;
    if (dkm_blas_potrf(DKM_F64, o, f->L, o) != 0)
        return 1;
    dkm_blas_trsm_right(DKM_F64, 'T', f->r, o, f->L, o, f->V, f->r);
    for (dkm_idx k = 0; made->EG && k < o; k++)
        memcpy(f->at_o + k * q, made->EG + f->out[k] * q, (size_t)q * sizeof *f->at_o);
    if (made->EG)
        dkm_blas_trsm_right(DKM_F64, 'T', q, o, f->L, o, f->at_o, q);
    return 0;
}

dkm_status dkm_cv_inverse_invert(dkm_cv_inverse *made, const dkm_cv_cell *cell, int *fits)
{
    dkm_idx fold = cell->id.inner < 0 ? -2 - cell->id.outer : cell->id.outer;
    dkm_status status = DKM_OK;

    *fits = 1;
    if (made->outer.fold == fold)
        return DKM_OK;
    close_outer(&made->outer);
    DKM_AGREE(cell->group->ctx, open_outer(made, cell, &made->outer));
    *fits = factor_outer(made, cell->lowrank ? cell->lowrank->q : 0, &made->outer) == 0;
    made->outer.fold = *fits ? fold : -1;
out:
    return status;
}
