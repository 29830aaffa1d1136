/* Principal axes of outputs by a low-rank factor: with the training part of E less its means, A,
 *
 *     A'A = W diag(values) W',   Z = A W = E(train, .) C,
 *
 * where C is W above the row that takes the means off: the last column of E is ones.
 *
 * Cost: n q^2 flops for A'A of q columns, q^3 for its eigenvectors; q^2 numbers. Local. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "data/objects.h"
#include "linalg/eigen/syevd.h"
#include "selection/cv/closed_form/cv_kde.h"

#define GAP                                                                                        \
    1e-6 /* of the largest variance: directions nearer to each other than this are equal           \
          */

typedef struct axes {
    dkm_idx n, d;         /* training outputs, columns of E but for the ones */
    dkm_idx found;        /* directions with a variance */
    double *A;            /* d numbers per output */
    double *W, *variance; /* d x d and d, ascending */
    double *mean;         /* of E, d numbers */
} axes;

static void close_axes(axes *a)
{
    DKM_FREE(a->mean);
    DKM_FREE(a->variance);
    DKM_FREE(a->W);
    DKM_FREE(a->A);
}

/* A and the means; returns the sum of all squares before they are taken off. */
static double cv_kde_lowrank_center(axes *a, const dkm_cv_lowrank *lowrank, const dkm_idx *rows)
{
    double squares = 0;

    for (dkm_idx i = 0; i < a->n; i++) {
        memcpy(a->A + i * a->d, lowrank->E + rows[i] * lowrank->q, (size_t)a->d * sizeof *a->A);
        for (dkm_idx j = 0; j < a->d; j++) {
            a->mean[j] += a->A[i * a->d + j] / (double)a->n;
            squares += a->A[i * a->d + j] * a->A[i * a->d + j];
        }
    }
    for (dkm_idx i = 0; i < a->n; i++)
        for (dkm_idx j = 0; j < a->d; j++)
            a->A[i * a->d + j] -= a->mean[j];
    return squares;
}

static dkm_local find_axes(axes *a, const dkm_cv_cell *cell, double cutoff)
{
    dkm_ctx *ctx = cell->group->ctx;
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx d = cell->lowrank->q - 1;
    double squares, least;

    *a = (axes){.n = cell->train.count, .d = d};
    DKM_STEP(dkm_alloc(ctx, a->n * d, &a->A));
    DKM_STEP(dkm_calloc(ctx, d * d, &a->W));
    DKM_STEP(dkm_alloc(ctx, d, &a->variance));
    DKM_STEP(dkm_calloc(ctx, d, &a->mean));
    squares = cv_kde_lowrank_center(a, cell->lowrank, cell->train.rows);
    for (dkm_idx i = 0; i < a->n; i++)
        for (dkm_idx j = 0; j < d; j++)
            for (dkm_idx k = 0; k < d; k++)
                a->W[j * d + k] += a->A[i * d + j] * a->A[i * d + k];
    DKM_STEP(dkm_syevd_local(ctx, d, a->W, a->variance));
    least = fmax(cutoff * a->variance[d - 1], 8.0 * DBL_EPSILON * squares);
    while (a->found < d && a->variance[d - 1 - a->found] > least)
        a->found++;
out:
    return local;
}

/* Values in descending order, and how many of them the settings together ask for. */
static dkm_local cv_kde_lowrank_take_values(const axes *a, const dkm_cv_cell *cell,
                                            dkm_cv_outputs *s, dkm_eigen_info *info)
{
    dkm_eigen_settings most = dkm_cv_most_components(cell->problem->options);
    dkm_local local = dkm_alloc(cell->group->ctx, a->d, &s->values);

    if (!s->values)
        return local;
    for (dkm_idx j = 0; j < a->d; j++) {
        s->values[j] = a->variance[a->d - 1 - j];
        s->trace += s->values[j];
    }
    s->p = a->found;
    info->trace = s->trace;
    info->components = a->found ? dkm_cv_components(s, &most) : 0;
    return local;
}

/* Whether a setting takes some of several directions of equal variance, and leaves others. */
static int cuts_a_tie(const axes *a, const dkm_cv_cell *cell, const dkm_cv_outputs *s)
{
    const dkm_cv_ridge *r = cell->problem->options;

    for (dkm_idx k = 0; k < r->components; k++) {
        dkm_idx p = dkm_cv_components(s, &r->eigen[k]);
        if (p < a->found && s->values[p - 1] - s->values[p] < GAP * s->values[0])
            return 1;
    }
    return 0;
}

/* C, the points E(train, .) C = A W and the norms. */
static dkm_status place_points(const axes *a, const dkm_cv_cell *cell, dkm_idx p, dkm_cv_outputs *s)
{
    dkm_ctx *ctx = cell->group->ctx;
    dkm_status status = DKM_OK;
    dkm_idx d = a->d, q = d + 1;
    double *points;

    DKM_TRY(dkm_data_create_dense(ctx, a->n, p, &s->points));
    DKM_AGREE(ctx, dkm_calloc(ctx, a->n, &s->norms));
    DKM_AGREE(ctx, dkm_calloc(ctx, q * p, &s->C));
    for (dkm_idx j = 0; j < p; j++)
        for (dkm_idx k = 0; k < d; k++) {
            s->C[j * q + k] = a->W[(d - 1 - j) * d + k];
            s->C[j * q + d] -= a->mean[k] * s->C[j * q + k];
        }
    points = dkm_data_values(s->points);
    for (dkm_idx i = 0; i < a->n; i++) {
        const double *e = a->A + i * d;
        for (dkm_idx k = 0; k < d; k++)
            s->norms[i] += e[k] * e[k];
        for (dkm_idx j = 0; j < p; j++) {
            points[i * p + j] = 0;
            for (dkm_idx k = 0; k < d; k++)
                points[i * p + j] += e[k] * s->C[j * q + k];
        }
    }
out:
    return status;
}

dkm_status dkm_cv_outputs_by_lowrank(dkm_cv_cell *cell, dkm_cv_outputs *s, dkm_eigen_info *info,
                                     int *done)
{
    const dkm_cv_ridge *r = cell->problem->options;
    dkm_ctx *ctx = cell->group->ctx;
    dkm_status status = DKM_OK;
    axes a = {0};

    DKM_AGREE(ctx, find_axes(&a, cell, r->eigen[0].cutoff));
    DKM_AGREE(ctx, cv_kde_lowrank_take_values(&a, cell, s, info));
    *done = info->components == 0 || !cuts_a_tie(&a, cell, s);
    if (*done && info->components > 0)
        DKM_TRY(place_points(&a, cell, info->components, s));
    if (!*done)
        dkm_eigen_values_free(&s->values);
out:
    close_axes(&a);
    return status;
}
