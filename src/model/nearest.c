#include "model/nearest.h"

#include <math.h>
#include <string.h>

#include <dkmap/grid.h>

#include "core/alloc.h"
#include "scalapack/blas.h"

#define POINTS     256 /* of a tile of distances, which stays in cache */
#define CANDIDATES 512
#define RUN        64 /* distances that are looked at together */

typedef struct search {
    dkm_ctx *ctx;
    const dkm_candidates *candidates;
    dkm_idx n, p, top; /* points in all, their coordinates, and how many to keep */
    double *points;    /* n x p, all of them */
    double *tile;
    double *distance; /* n x top: the best of this rank's candidates, ascending */
    dkm_idx *index;
    int *counts, *starts;
} search;

void dkm_candidates_clear(dkm_candidates *candidates)
{
    dkm_data_destroy(&candidates->Z);
    DKM_FREE(candidates->norms);
}

static dkm_idx least(dkm_idx a, dkm_idx b)
{
    return a < b ? a : b;
}

static dkm_local open_search(search *s, const dkm_data *Q, const dkm_candidates *c, dkm_idx top)
{
    dkm_local local = DKM_LOCAL_OK;
    int size;

    *s = (search){.ctx = dkm_data_ctx(Q), .candidates = c, .top = top};
    s->n = dkm_data_rows(Q);
    s->p = dkm_data_cols(Q);
    size = dkm_ctx_size(s->ctx);
    DKM_STEP(dkm_alloc(s->ctx, s->n * s->p, &s->points));
    DKM_STEP(dkm_alloc(s->ctx, least(s->n, POINTS) * least(dkm_data_local_rows(c->Z), CANDIDATES),
                       &s->tile));
    DKM_STEP(dkm_alloc(s->ctx, s->n * top, &s->distance));
    DKM_STEP(dkm_alloc(s->ctx, s->n * top, &s->index));
    DKM_STEP(dkm_alloc(s->ctx, size, &s->counts));
    DKM_STEP(dkm_alloc(s->ctx, size, &s->starts));
    for (dkm_idx k = 0; k < s->n * top; k++) {
        s->distance[k] = INFINITY;
        s->index[k] = INT64_MAX;
    }
out:
    return local;
}

static void close_search(search *s)
{
    DKM_FREE(s->points);
    DKM_FREE(s->tile);
    DKM_FREE(s->distance);
    DKM_FREE(s->index);
    DKM_FREE(s->counts);
    DKM_FREE(s->starts);
}

/* Counts and starts of every rank's slab of n rows, each of @p width items. */
static void plan_slabs(search *s, dkm_idx width)
{
    int size = dkm_ctx_size(s->ctx);

    for (int r = 0; r < size; r++) {
        s->counts[r] = (int)(dkm_slab_count(s->n, r, size) * width);
        s->starts[r] = (int)(dkm_slab_first(s->n, r, size) * width);
    }
}

static void gather_points(search *s, const dkm_data *Q)
{
    plan_slabs(s, s->p);
    MPI_Allgatherv(dkm_data_values_const(Q), (int)(dkm_data_local_rows(Q) * s->p), MPI_DOUBLE,
                   s->points, s->counts, s->starts, MPI_DOUBLE, dkm_ctx_comm(s->ctx));
}

/* Put a candidate into an ascending list of @p top, if it belongs there. */
static void insert(double *distance, dkm_idx *index, dkm_idx top, double d, dkm_idx c)
{
    dkm_idx k = top - 1;

    if (!(d < distance[k] || (d == distance[k] && c < index[k])))
        return;
    for (; k > 0 && (d < distance[k - 1] || (d == distance[k - 1] && c < index[k - 1])); k--) {
        distance[k] = distance[k - 1];
        index[k] = index[k - 1];
    }
    distance[k] = d;
    index[k] = c;
}

/* Turn products into distances, and tell the smallest. */
static double finish_run(dkm_idx n, const double *norms, double *tile)
{
    double smallest = INFINITY;

    for (dkm_idx c = 0; c < n; c++) {
        tile[c] += norms[c];
        smallest = tile[c] < smallest ? tile[c] : smallest;
    }
    return smallest;
}

/* Put those of some candidates that belong there into the list of a point. They come in ascending
 * order: one at the distance of the last of the list stays behind it. */
static void search_run(search *s, dkm_idx q, dkm_idx first, dkm_idx n, const double *tile)
{
    double *distance = s->distance + q * s->top;

    for (dkm_idx c = 0; c < n; c++)
        if (tile[c] < distance[s->top - 1])
            insert(distance, s->index + q * s->top, s->top, tile[c], first + c);
}

/* Distances less q.q of points [q0, q0 + nq) to this rank's candidates [c0, c0 + nc). */
static void search_tile(search *s, dkm_idx q0, dkm_idx nq, dkm_idx c0, dkm_idx nc)
{
    const double *Z = dkm_data_values_const(s->candidates->Z) + c0 * s->p;
    dkm_idx first = dkm_data_local_first(s->candidates->Z) + c0;

    dkm_blas_gemm(DKM_F64, 'T', 'N', nc, nq, s->p, -2.0, Z, s->p, s->points + q0 * s->p, s->p, 0.0,
                  s->tile, nc);
    for (dkm_idx q = 0; q < nq; q++)
        for (dkm_idx c = 0; c < nc; c += RUN) {
            double *run = s->tile + q * nc + c;
            if (finish_run(least(RUN, nc - c), s->candidates->norms + c0 + c, run) <
                s->distance[(q0 + q + 1) * s->top - 1])
                search_run(s, q0 + q, first + c, least(RUN, nc - c), run);
        }
}

static void search_all(search *s)
{
    dkm_idx mine = dkm_data_local_rows(s->candidates->Z);

    for (dkm_idx q0 = 0; q0 < s->n; q0 += POINTS)
        for (dkm_idx c0 = 0; c0 < mine; c0 += CANDIDATES)
            search_tile(s, q0, least(s->n - q0, POINTS), c0, least(mine - c0, CANDIDATES));
}

static double square(const double *q, dkm_idx p)
{
    double sum = 0;

    for (dkm_idx j = 0; j < p; j++)
        sum += q[j] * q[j];
    return sum;
}

/* Merge the lists that other ranks hold for this rank's points, one rank after the other. */
static dkm_status merge(search *s, dkm_idx *index, double *distance)
{
    dkm_status status = DKM_OK;
    int rank = dkm_ctx_rank(s->ctx), size = dkm_ctx_size(s->ctx);
    dkm_idx mine = dkm_slab_count(s->n, rank, size), total = mine * s->top;
    dkm_idx first = dkm_slab_first(s->n, rank, size), *their_index = NULL;
    double *their_distance = NULL;
    MPI_Comm comm = dkm_ctx_comm(s->ctx);

    DKM_AGREE(s->ctx, dkm_alloc(s->ctx, total, &their_index));
    DKM_AGREE(s->ctx, dkm_alloc(s->ctx, total, &their_distance));
    plan_slabs(s, s->top);
    memcpy(index, s->index + first * s->top, (size_t)total * sizeof *index);
    memcpy(distance, s->distance + first * s->top, (size_t)total * sizeof *distance);
    for (int step = 1; step < size; step++) {
        int to = (rank + step) % size, from = (rank + size - step) % size;
        MPI_Sendrecv(s->index + s->starts[to], s->counts[to], MPI_INT64_T, to, 0, their_index,
                     (int)total, MPI_INT64_T, from, 0, comm, MPI_STATUS_IGNORE);
        MPI_Sendrecv(s->distance + s->starts[to], s->counts[to], MPI_DOUBLE, to, 1, their_distance,
                     (int)total, MPI_DOUBLE, from, 1, comm, MPI_STATUS_IGNORE);
        for (dkm_idx k = 0; k < total; k++)
            insert(distance + k / s->top * s->top, index + k / s->top * s->top, s->top,
                   their_distance[k], their_index[k]);
    }
    for (dkm_idx k = 0; k < total; k++)
        distance[k] =
            fmax(0.0, distance[k] + square(s->points + (first + k / s->top) * s->p, s->p));
out:
    DKM_FREE(their_index);
    DKM_FREE(their_distance);
    return status;
}

dkm_status dkm_nearest(const dkm_data *Q, const dkm_candidates *candidates, dkm_idx top,
                       dkm_idx *index, double *distance)
{
    dkm_status status = DKM_OK;
    search s = {0};

    DKM_AGREE(dkm_data_ctx(Q), open_search(&s, Q, candidates, top));
    dkm_phase_begin(s.ctx, "nearest");
    gather_points(&s, Q);
    search_all(&s);
    status = merge(&s, index, distance);
    dkm_phase_end(s.ctx);
out:
    close_search(&s);
    return status;
}

dkm_status dkm_candidates_list(dkm_ctx *ctx, dkm_idx n, dkm_idx top, const dkm_idx *index,
                               const double *distance, dkm_data **Y)
{
    dkm_status status = dkm_data_create_dense(ctx, n, 2 * top, Y);

    for (dkm_idx k = 0; status == DKM_OK && k < dkm_data_local_rows(*Y) * top; k++) {
        dkm_data_values(*Y)[2 * k] = (double)index[k];
        dkm_data_values(*Y)[2 * k + 1] = distance[k] > 0.0 ? distance[k] : 0.0;
    }
    return status;
}
