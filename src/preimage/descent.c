/* Many small minimizations of ||Psi - phi(x)||^2 at once: the points of descent_step.h, on all
 * ranks.
 *
 * Each iteration evaluates <Psi, phi(t)> and its gradient for all points that are at work
 * (kernel_expansion.c): 4 n m d flops over all ranks for n of them, an allreduce of 2 n
 * numbers. Points are redistributed whenever half of them have settled. Per rank: its share of
 * n rows of 3 d + p numbers. */
#include "preimage/descent.h"

#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "kernels/evaluation/derivatives.h"
#include "preimage/descent_step.h"

#define MAX_ITERATIONS 2000

typedef struct descent {
    dkm_descent_walk walk;
    const dkm_preimage *pre;
    dkm_descent_state *state;
    dkm_idx width, starts;
    int iterations; /* left */
} descent;

static dkm_local open_gradient(dkm_ctx *ctx, dkm_idx n, dkm_idx d, dkm_expansion_gradient *gradient)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_alloc(ctx, n, &gradient->inner));
    DKM_STEP(dkm_alloc(ctx, n, &gradient->dk_da));
    DKM_STEP(dkm_alloc(ctx, n * d, &gradient->dk_ds));
out:
    return local;
}

static void close_gradient(dkm_expansion_gradient *gradient)
{
    DKM_FREE(gradient->inner);
    DKM_FREE(gradient->dk_da);
    DKM_FREE(gradient->dk_ds);
}

/* T holds the next directions, now that its trials are known. */
static void advance_all(const descent *s, dkm_data *T, dkm_data *points,
                        dkm_expansion_gradient *gradient)
{
    dkm_idx d = s->walk.d;

    for (dkm_idx i = 0; i < dkm_data_local_rows(T); i++) {
        double *row = dkm_data_values(points) + i * s->width, *next = dkm_data_values(T) + i * d;
        double dk_ds, dk_da = 0, self = 0, aa = dkm_descent_dot(row + d, row + d, d);
        dkm_dots same = {1, &aa, &aa, &aa};
        dkm_derivatives slopes = {&self, &dk_ds, &dk_da};
        if (!dkm_descent_at_work(&s->walk, row))
            continue;
        dkm_kernel_derivatives(s->pre->e->fitted.kernel, &same, &slopes);
        dkm_descent_point point = {d,
                                   row + d,
                                   gradient->dk_ds + i * d,
                                   gradient->inner[i],
                                   gradient->dk_da[i],
                                   self,
                                   dk_ds + 2.0 * dk_da};
        dkm_descent_advance(&s->walk, &point, row, next);
    }
}

static void take_trials(const descent *s, dkm_data *points, dkm_data *T)
{
    for (dkm_idx i = 0; i < dkm_data_local_rows(T); i++)
        memcpy(dkm_data_values(T) + i * s->walk.d,
               dkm_data_values(points) + i * s->width + s->walk.d,
               (size_t)s->walk.d * sizeof(double));
}

/* Bring the lost points of this rank to their next starts; without one left they have failed. */
static dkm_status begin_anew(const descent *s, dkm_data *points)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = s->pre->e->fitted.ctx;
    dkm_idx n = dkm_data_local_rows(points), count = 0, *indices = NULL;
    dkm_objs got = {0};

    DKM_AGREE(ctx, dkm_alloc(ctx, n, &indices));
    for (dkm_idx i = 0; i < n; i++) {
        double *c = dkm_descent_scalars(&s->walk, dkm_data_values(points) + i * s->width);
        if (c[DKM_POINT_STATE] == DKM_POINT_LOST)
            indices[count++] =
                (dkm_idx)c[DKM_POINT_START + (dkm_idx)fmod(c[DKM_POINT_TRIED], (double)s->starts)];
    }
    DKM_TRY(dkm_data_fetch(s->pre->e->fitted.X, count, indices, &got));
    count = 0;
    for (dkm_idx i = 0; i < n; i++) {
        double *row = dkm_data_values(points) + i * s->width,
               *c = dkm_descent_scalars(&s->walk, row);
        if (c[DKM_POINT_STATE] != DKM_POINT_LOST)
            continue;
        memcpy(row, got.values + count * s->walk.d, (size_t)s->walk.d * sizeof *row);
        memcpy(row + s->walk.d, got.values + count++ * s->walk.d, (size_t)s->walk.d * sizeof *row);
        c[DKM_POINT_STATE] =
            c[DKM_POINT_TRIED] < (double)s->starts ? DKM_POINT_FRESH : DKM_POINT_FAILED;
        c[DKM_POINT_TRIED] += 1;
    }
out:
    dkm_objs_clear(&got);
    DKM_FREE(indices);
    return status;
}

/* How many points, over all ranks, are at work, and how many of them are lost. */
static void count_points(const descent *s, dkm_data *points, dkm_idx counts[2])
{
    counts[0] = counts[1] = 0;
    for (dkm_idx i = 0; i < dkm_data_local_rows(points); i++) {
        double *row = dkm_data_values(points) + i * s->width;
        counts[0] += dkm_descent_at_work(&s->walk, row);
        counts[1] += dkm_descent_scalars(&s->walk, row)[DKM_POINT_STATE] == DKM_POINT_LOST;
    }
    MPI_Allreduce(MPI_IN_PLACE, counts, 2, MPI_INT64_T, MPI_SUM,
                  dkm_ctx_comm(dkm_data_ctx(points)));
}

/* Iterations until no more than half of the points are at work, or the iterations are over. */
static dkm_status walk(descent *s, dkm_data *points, const dkm_dmat *A, dkm_idx *left)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = s->pre->e->fitted.ctx;
    dkm_idx n = dkm_data_rows(points), counts[2];
    dkm_data *T = NULL;
    dkm_expansion_gradient gradient = {0};

    DKM_TRY(dkm_data_create_dense(ctx, n, s->walk.d, &T));
    DKM_AGREE(ctx, open_gradient(ctx, dkm_data_local_rows(T), s->walk.d, &gradient));
    for (count_points(s, points, counts); 2 * counts[0] > n && s->iterations > 0; s->iterations--) {
        if (counts[1] > 0)
            DKM_TRY(begin_anew(s, points));
        take_trials(s, points, T);
        DKM_TRY(dkm_kernel_expansion_gradient(&s->state->expansion, T, A, &gradient));
        advance_all(s, T, points, &gradient);
        count_points(s, points, counts);
    }
    *left = counts[0];
out:
    close_gradient(&gradient);
    dkm_data_destroy(&T);
    return status;
}

/* The points still at work, on every rank. */
static void list_at_work(const descent *s, dkm_data *points, dkm_idx *list)
{
    dkm_ctx *ctx = dkm_data_ctx(points);
    dkm_idx mine = 0, before = 0, all = 0;

    for (dkm_idx i = 0; i < dkm_data_local_rows(points); i++)
        mine += dkm_descent_at_work(&s->walk, dkm_data_values(points) + i * s->width);
    MPI_Scan(&mine, &before, 1, MPI_INT64_T, MPI_SUM, dkm_ctx_comm(ctx));
    MPI_Allreduce(&mine, &all, 1, MPI_INT64_T, MPI_SUM, dkm_ctx_comm(ctx));
    memset(list, 0, (size_t)all * sizeof *list);
    before -= mine;
    for (dkm_idx i = 0; i < dkm_data_local_rows(points); i++)
        if (dkm_descent_at_work(&s->walk, dkm_data_values(points) + i * s->width))
            list[before++] = dkm_data_local_first(points) + i;
    MPI_Allreduce(MPI_IN_PLACE, list, (int)all, MPI_INT64_T, MPI_SUM, dkm_ctx_comm(ctx));
}

/* Rows of @p some, which are those of @p points named in the list, back to where they came from. */
static dkm_status descent_put_back(const descent *s, const dkm_data *some, const dkm_idx *list,
                                   dkm_data *points)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_data_ctx(points);
    dkm_idx first = dkm_data_local_first(points), end = first + dkm_data_local_rows(points);
    dkm_idx count = 0, *indices = NULL;
    dkm_objs got = {0};

    DKM_AGREE(ctx, dkm_alloc(ctx, end - first, &indices));
    for (dkm_idx k = 0; k < dkm_data_rows(some); k++)
        if (list[k] >= first && list[k] < end)
            indices[count++] = k;
    DKM_TRY(dkm_data_fetch(some, count, indices, &got));
    for (dkm_idx k = 0; k < count; k++)
        memcpy(dkm_data_values(points) + (list[indices[k]] - first) * s->width,
               got.values + k * s->width, (size_t)s->width * sizeof(double));
out:
    dkm_objs_clear(&got);
    DKM_FREE(indices);
    return status;
}

static dkm_status weights(const descent *s, dkm_data *points, dkm_dmat **A)
{
    dkm_status status = DKM_OK;
    dkm_idx p = s->pre->e->p;
    dkm_data *Z = NULL;

    DKM_TRY(dkm_data_create_dense(dkm_data_ctx(points), dkm_data_rows(points), p, &Z));
    for (dkm_idx i = 0; i < dkm_data_local_rows(Z); i++)
        memcpy(dkm_data_values(Z) + i * p, dkm_data_values(points) + (i + 1) * s->width - p,
               (size_t)p * sizeof(double));
    DKM_TRY(dkm_kernel_expansion_weights(s->pre->e, Z, A));
out:
    dkm_data_destroy(&Z);
    return status;
}

static dkm_status descend(descent *s, dkm_data *points)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = s->pre->e->fitted.ctx;
    dkm_idx left = 0, *list = NULL;
    dkm_data *some = NULL;
    dkm_dmat *A = NULL;

    DKM_TRY(weights(s, points, &A));
    DKM_TRY(walk(s, points, A, &left));
    dkm_dmat_destroy(&A);
    if (left == 0 || s->iterations == 0)
        goto out;
    DKM_AGREE(ctx, dkm_alloc(ctx, left, &list));
    list_at_work(s, points, list);
    DKM_TRY(dkm_data_select(points, left, list, &some));
    DKM_TRY(descend(s, some));
    DKM_TRY(descent_put_back(s, some, list, points));
out:
    dkm_data_destroy(&some);
    DKM_FREE(list);
    dkm_dmat_destroy(&A);
    return status;
}

/* Every point lost, with the training objects nearest to its Psi as starts. A Psi that is no number is
 * near to none: it starts at the first. */
static dkm_status make_points(const descent *s, const dkm_data *Z, dkm_data **points)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_data_ctx(Z);
    dkm_idx n = dkm_data_local_rows(Z), p = dkm_data_cols(Z), *index = NULL;
    dkm_idx m = dkm_data_rows(s->pre->e->fitted.X);
    double *distance = NULL;

    DKM_AGREE(ctx, dkm_alloc(ctx, n * s->starts, &index));
    DKM_AGREE(ctx, dkm_alloc(ctx, n * s->starts, &distance));
    DKM_TRY(dkm_topk(Z, &s->state->training, s->starts, index, distance));
    DKM_TRY(dkm_data_create_dense(ctx, dkm_data_rows(Z), s->width, points));
    for (dkm_idx i = 0; i < n; i++) {
        double *row = dkm_data_values(*points) + i * s->width,
               *c = dkm_descent_scalars(&s->walk, row);
        c[DKM_POINT_STATE] = DKM_POINT_LOST;
        for (dkm_idx k = 0; k < s->starts; k++)
            c[DKM_POINT_START + k] =
                index[i * s->starts + k] < m ? (double)index[i * s->starts + k] : 0.0;
        memcpy(row + s->width - p, dkm_data_values_const(Z) + i * p, (size_t)p * sizeof *row);
    }
out:
    DKM_FREE(distance);
    DKM_FREE(index);
    return status;
}

static void report(const descent *s, dkm_data *points)
{
    dkm_idx counts[2] = {0, 0};

    for (dkm_idx i = 0; i < dkm_data_local_rows(points); i++) {
        double *row = dkm_data_values(points) + i * s->width;
        counts[0] += dkm_descent_scalars(&s->walk, row)[DKM_POINT_STATE] == DKM_POINT_FAILED;
        counts[1] += dkm_descent_at_work(&s->walk, row);
    }
    MPI_Allreduce(MPI_IN_PLACE, counts, 2, MPI_INT64_T, MPI_SUM,
                  dkm_ctx_comm(dkm_data_ctx(points)));
    if (counts[0] > 0)
        dkm_log(dkm_data_ctx(points), DKM_WARN,
                "%s found no way from any start for %lld of %lld points: they get the nearest "
                "training object",
                s->walk.rule->name, (long long)counts[0], (long long)dkm_data_rows(points));
    if (counts[1] > 0)
        dkm_log(dkm_data_ctx(points), DKM_WARN,
                "%s had not settled after %d iterations for %lld of %lld points",
                s->walk.rule->name, MAX_ITERATIONS, (long long)counts[1],
                (long long)dkm_data_rows(points));
}

dkm_status dkm_descent_prepare(const dkm_preimage *pre, void *state)
{
    dkm_status status = DKM_OK;
    dkm_descent_state *s = state;

    DKM_TRY(dkm_preimage_training(pre, &s->training));
    DKM_TRY(dkm_kernel_expansion_open(&s->expansion, pre->e));
out:
    return status;
}

void dkm_descent_clear(void *state)
{
    dkm_descent_state *s = state;

    dkm_candidates_clear(&s->training);
    dkm_kernel_expansion_close(&s->expansion);
}

dkm_idx dkm_descent_width(const dkm_preimage *pre)
{
    const dkm_embedding *e = pre->e;

    return 2 * dkm_data_rows(e->fitted.X) + 6 * dkm_data_cols(e->fitted.X) + DKM_POINT_SCALARS +
           e->p;
}

dkm_status dkm_descent_solve(const dkm_preimage *pre, dkm_descent_state *state,
                             const dkm_descent_rule *rule, const dkm_data *Z, dkm_data **Y)
{
    dkm_status status = DKM_OK;
    dkm_idx d = dkm_data_cols(pre->e->fitted.X), m = dkm_data_rows(pre->e->fitted.X);
    descent s = {{rule, d, state->expansion.size},
                 pre,
                 state,
                 3 * d + DKM_POINT_SCALARS + pre->e->p,
                 m < DKM_POINT_STARTS ? m : DKM_POINT_STARTS,
                 MAX_ITERATIONS};
    dkm_data *points = NULL, *found = NULL;

    DKM_TRY(make_points(&s, Z, &points));
    DKM_TRY(begin_anew(&s, points));
    DKM_TRY(descend(&s, points));
    report(&s, points);
    DKM_TRY(dkm_data_create_dense(pre->e->fitted.ctx, dkm_data_rows(Z), d, &found));
    for (dkm_idx i = 0; i < dkm_data_local_rows(found); i++)
        memcpy(dkm_data_values(found) + i * d, dkm_data_values(points) + i * s.width,
               (size_t)d * sizeof(double));
    *Y = found;
    found = NULL;
out:
    dkm_data_destroy(&found);
    dkm_data_destroy(&points);
    return status;
}
