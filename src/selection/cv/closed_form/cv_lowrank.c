/* Outputs as few columns: L = E E' by pivoted Cholesky of an m x m Gram matrix, stopped at rank q
 * (Harbrecht, Peters and Schneider 2012, Appl. Numer. Math. 62(4):428-440,
 * doi:10.1016/j.apnum.2011.10.001). What a split has to learn is then a combination of the columns
 * of E.
 *
 * Cost: m q^2 flops, m q numbers; local. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "data/objects.h"
#include "selection/cv/closed_form/cv_ridge.h"

#define ROUNDING 1e-13 /* of the largest diagonal element: what may be left of a matrix */

/* More than so many columns take longer than they save. */
static dkm_idx most_columns(dkm_idx m)
{
    return m / 4 < DKM_CV_LOWRANK_MAX ? m / 4 : DKM_CV_LOWRANK_MAX;
}

static dkm_idx cv_lowrank_largest(dkm_idx m, const double *rest)
{
    dkm_idx at = 0;

    for (dkm_idx i = 1; i < m; i++)
        if (rest[i] > rest[at])
            at = i;
    return at;
}

/* y = y - a x */
static void cv_lowrank_take_off(dkm_idx m, double a, const double *x, double *y)
{
    for (dkm_idx i = 0; i < m; i++)
        y[i] -= a * x[i];
}

/* Column k of the factor, from the pivot with most left: E(., k) = (L(., p) - E E(p, .)') / root.
 */
static void add_column(const dkm_data *L, dkm_idx k, dkm_idx pivot, double *rest, double *E)
{
    dkm_idx m = L->m;
    double root = sqrt(rest[pivot]), *e = E + k * m;

    memcpy(e, L->mine.values + pivot * m, (size_t)m * sizeof *e);
    for (dkm_idx j = 0; j < k; j++)
        cv_lowrank_take_off(m, E[j * m + pivot], E + j * m, e);
    for (dkm_idx i = 0; i < m; i++) {
        e[i] /= root;
        rest[i] -= e[i] * e[i];
    }
    rest[pivot] = 0;
}

/* Whether L = E E': a matrix that is not positive semidefinite has more beside its diagonal. */
static int is_product(const dkm_data *L, dkm_idx q, const double *E, double limit, double *row)
{
    dkm_idx m = L->m;
    double most = 0;

    for (dkm_idx i = 0; i < m && most <= limit; i++) {
        memcpy(row, L->mine.values + i * m, (size_t)m * sizeof *row);
        for (dkm_idx k = 0; k < q; k++)
            cv_lowrank_take_off(i, E[k * m + i], E + k * m, row);
        for (dkm_idx j = 0; j < i; j++)
            most = fabs(row[j]) > most ? fabs(row[j]) : most;
    }
    return most <= limit;
}

dkm_local dkm_cv_lowrank_of_gram(dkm_ctx *ctx, const dkm_data *L, dkm_cv_lowrank *lowrank)
{
    dkm_local local = DKM_LOCAL_OK;
    double *rest = NULL, *E = NULL, *rows = NULL, limit;
    dkm_idx m = L->m, most = most_columns(m), q = 0, pivot;

    DKM_STEP(dkm_alloc(ctx, m, &rest));
    DKM_STEP(dkm_alloc(ctx, m * most, &E));
    for (dkm_idx i = 0; i < m; i++)
        rest[i] = L->mine.values[i * m + i];
    pivot = cv_lowrank_largest(m, rest);
    limit = ROUNDING * rest[pivot];
    for (; q < most && rest[pivot] > limit; pivot = cv_lowrank_largest(m, rest))
        add_column(L, q++, pivot, rest, E);
    if (q > 0 && q < most && is_product(L, q, E, limit, rest)) {
        DKM_STEP(dkm_alloc(ctx, m * q, &rows));
        for (dkm_idx i = 0; i < m; i++)
            for (dkm_idx k = 0; k < q; k++)
                rows[i * q + k] = E[k * m + i];
        DKM_STEP(dkm_cv_lowrank_of_rows(ctx, m, q, rows, lowrank));
    }
out:
    DKM_FREE(rows);
    DKM_FREE(E);
    DKM_FREE(rest);
    return local;
}

dkm_local dkm_cv_lowrank_of_rows(dkm_ctx *ctx, dkm_idx m, dkm_idx cols, const double *rows,
                                 dkm_cv_lowrank *lowrank)
{
    dkm_local local = DKM_LOCAL_OK;

    if (cols >= most_columns(m))
        return local;
    DKM_STEP(dkm_alloc(ctx, m * (cols + 1), &lowrank->E));
    lowrank->q = cols + 1;
    lowrank->scale = 1;
    for (dkm_idx i = 0; i < m; i++) {
        double *e = lowrank->E + i * lowrank->q;
        memcpy(e, rows + i * cols, (size_t)cols * sizeof *e);
        e[cols] = 1;
        for (dkm_idx j = 0; j < cols; j++)
            lowrank->scale = fmax(lowrank->scale, fabs(e[j]));
    }
out:
    return local;
}
