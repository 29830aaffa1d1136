/* The nearest of k points for each row, by ||p||^2 - 2 <p, x>, in blocks of rows (gemm). Scores
 * that rounding could confuse are compared by differences, so that the choice does not depend
 * on the blocks.
 *
 * Cost: 2 n k d flops for the rows of a rank. Local; the k points are replicated. */
#include "selection/cluster/assign.h"

#include <float.h>
#include <math.h>

#include "core/alloc.h"
#include "data/objects.h"
#include "linalg/backend/blas.h"

#define SCORE_NUMBERS (1 << 18) /* of a block of rows, about */
#define ROWS_MOST     256
#define LANES         4

double dkm_squared_distance(const double *x, const double *y, dkm_idx d)
{
    double sum[LANES] = {0};
    dkm_idx j = 0;

    for (; j + LANES <= d; j += LANES)
        for (int l = 0; l < LANES; l++)
            sum[l] += (x[j + l] - y[j + l]) * (x[j + l] - y[j + l]);
    for (; j < d; j++)
        sum[0] += (x[j] - y[j]) * (x[j] - y[j]);
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

static void squared_norms(const double *rows, dkm_idx n, dkm_idx d, double *norms)
{
    for (dkm_idx i = 0; i < n; i++) {
        norms[i] = 0;
        for (dkm_idx j = 0; j < d; j++)
            norms[i] += rows[i * d + j] * rows[i * d + j];
    }
}

dkm_local dkm_assigner_open(dkm_nearest_points *s, const dkm_data *X, dkm_idx k)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx n = X->mine.n;

    *s = (dkm_nearest_points){.X = X, .k = k, .d = X->mine.d, .block = SCORE_NUMBERS / k};
    s->block = s->block < 1 ? 1 : s->block > ROWS_MOST ? ROWS_MOST : s->block;
    DKM_STEP(dkm_alloc(X->ctx, n, &s->norms));
    DKM_STEP(dkm_alloc(X->ctx, k, &s->points));
    DKM_STEP(dkm_alloc(X->ctx, k * s->block, &s->scores));
    squared_norms(X->mine.values, n, s->d, s->norms);
    dkm_blas_use_threads(X->ctx);
out:
    return local;
}

void dkm_assigner_close(dkm_nearest_points *s)
{
    DKM_FREE(s->norms);
    DKM_FREE(s->points);
    DKM_FREE(s->scores);
}

/* Among the points whose score is within @p slack of the best, the first of the nearest. */
static dkm_idx assign_choose(const dkm_nearest_points *s, const double *points, const double *x,
                             const double *scores, double slack, double *gap)
{
    double limit = INFINITY;
    dkm_idx chosen = 0;

    for (dkm_idx p = 0; p < s->k; p++)
        limit = fmin(limit, scores[p] + s->points[p] + slack);
    *gap = INFINITY;
    for (dkm_idx p = 0; p < s->k; p++) {
        double g;
        if (scores[p] + s->points[p] > limit)
            continue;
        g = dkm_squared_distance(x, points + p * s->d, s->d);
        if (g < *gap) {
            *gap = g;
            chosen = p;
        }
    }
    return chosen;
}

/* Two scores of at most ||x||^2 + 2 ||p||^2, each after d + 2 roundings of half an epsilon, and two
 * gaps of at most twice that after as many. */
static double slack_of(const dkm_nearest_points *s, double norm, double largest)
{
    return 4.0 * (double)(s->d + 2) * DBL_EPSILON * (norm + 2.0 * largest);
}

void dkm_assigner_find(dkm_nearest_points *s, const double *points, dkm_idx *nearest_center,
                       double *gap)
{
    dkm_idx n = s->X->mine.n, d = s->d, k = s->k, ld = d > 0 ? d : 1;
    double largest = 0;

    squared_norms(points, k, d, s->points);
    for (dkm_idx p = 0; p < k; p++)
        largest = fmax(largest, s->points[p]);
    for (dkm_idx first = 0; first < n; first += s->block) {
        dkm_idx count = n - first < s->block ? n - first : s->block;
        const double *x = s->X->mine.values + first * d;
        /* scores <- -2 P X' */
        dkm_blas_gemm(DKM_F64, 'T', 'N', k, count, d, -2.0, points, ld, x, ld, 0.0, s->scores, k);
        for (dkm_idx i = 0; i < count; i++)
            nearest_center[first + i] =
                assign_choose(s, points, x + i * d, s->scores + i * k,
                              slack_of(s, s->norms[first + i], largest), &gap[first + i]);
    }
    dkm_phase_flops(s->X->ctx, 2.0 * (double)n * (double)d * (double)k);
}
