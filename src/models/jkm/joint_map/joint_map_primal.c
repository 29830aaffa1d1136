/* The linear part of a joint map through its features: W = X'U and G = X W.
 *
 * Cost: 2 m d r flops over all ranks for W, 2 n d r for n inputs; d r words are gathered. Where choices of
 * classes tell U, W is summed up where the examples are, 2 d additions for each, and reduced to the
 * shares of the features, d r words; as integers, multiples of 2^-62 of a bound, which add up in any order
 * (see joint_map_matrix.c). Other U are brought to every rank, m r words, and each makes its share of W from
 * its features of all examples, which it gets once: m d words. Replicated: W, d r numbers, and as many
 * integers twice while it is summed up. */
#include "models/jkm/joint_map/joint_map_primal.h"

#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/minmax.h"
#include "models/common/reproducible.h"

void dkm_joint_map_share(const dkm_joint_map *map, dkm_idx *first, dkm_idx *count)
{
    int rank = dkm_ctx_rank(map->fitted.ctx), size = dkm_ctx_size(map->fitted.ctx);

    *first = dkm_slab_first(dkm_data_cols(map->fitted.X), rank, size);
    *count = dkm_slab_count(dkm_data_cols(map->fitted.X), rank, size);
}

/* This rank's share of the features of all examples. */
static dkm_status bring_columns(dkm_joint_map *map)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = map->fitted.ctx;
    dkm_idx p = dkm_data_cols(map->fitted.X), step = dkm_repro_panel_rows(p), c0, mine;
    double *panel = NULL;

    dkm_joint_map_share(map, &c0, &mine);
    DKM_AGREE(ctx, dkm_alloc(ctx, step * p, &panel));
    DKM_AGREE(ctx, dkm_alloc(ctx, dkm_idx_max(map->m * mine, 1), &map->columns));
    for (dkm_idx first = 0; first < map->m; first += step) {
        dkm_idx count = map->m - first < step ? map->m - first : step;
        DKM_TRY(dkm_repro_gather(ctx, map->m, p, dkm_data_values_const(map->fitted.X), first, count,
                                 panel));
        for (dkm_idx i = 0; i < count; i++)
            memcpy(map->columns + (first + i) * mine, panel + i * p + c0,
                   (size_t)mine * sizeof *panel);
    }
out:
    DKM_FREE(panel);
    return status;
}

/* W <- every rank's rows of it. */
static dkm_status share_weights(dkm_joint_map *f, const double *own)
{
    return dkm_repro_gather(f->fitted.ctx, dkm_data_cols(f->fitted.X), f->r, own, 0,
                            dkm_data_cols(f->fitted.X), f->W);
}

/* G = beta G + X W. */
static void joint_map_primal_multiply(dkm_joint_map *f, double beta, double *G)
{
    dkm_idx p = dkm_data_cols(f->fitted.X), n = dkm_data_local_rows(f->fitted.X);

    dkm_repro_gemm(n, f->r, p, 1.0, (dkm_row_block){dkm_data_values_const(f->fitted.X), p},
                   (dkm_row_block){f->W, f->r}, beta, G);
    dkm_phase_flops(f->fitted.ctx, 2.0 * (double)f->r * (double)n * (double)p);
}

dkm_status dkm_joint_map_primal_add(dkm_joint_map *map, const double *U, double *G)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = map->fitted.ctx;
    dkm_idx first_own, mine, step = dkm_repro_panel_rows(map->r);
    double *panel = NULL, *own = NULL;

    if (!map->columns)
        DKM_TRY(bring_columns(map));
    dkm_joint_map_share(map, &first_own, &mine);
    DKM_AGREE(ctx, dkm_alloc(ctx, step * map->r, &panel));
    DKM_AGREE(ctx, dkm_calloc(ctx, mine * map->r, &own));
    for (dkm_idx first = 0; first < map->m; first += step) {
        dkm_idx count = map->m - first < step ? map->m - first : step;
        DKM_TRY(dkm_repro_gather(ctx, map->m, map->r, U, first, count, panel));
        dkm_repro_gemm_tn(mine, map->r, count, 1.0,
                          (dkm_row_block){map->columns + first * mine, mine},
                          (dkm_row_block){panel, map->r}, own);
    }
    dkm_phase_flops(ctx, 2.0 * (double)map->r * (double)map->m * (double)mine);
    DKM_TRY(share_weights(map, own));
    joint_map_primal_multiply(map, 1.0, G);
out:
    DKM_FREE(own);
    DKM_FREE(panel);
    return status;
}

dkm_status dkm_joint_map_primal_values(dkm_joint_map *map, const double *own, double *G)
{
    dkm_status status = DKM_OK;

    DKM_TRY(share_weights(map, own));
    joint_map_primal_multiply(map, 0.0, G);
out:
    return status;
}

/* Sums over the own examples as integers, in units of 2^-bits. */
typedef struct sums {
    int bits;
    int64_t *row;    /* features: an example */
    int64_t *all;    /* r x features: the sum of a class lies together */
    int64_t *turned; /* features x r */
    int64_t *own;    /* this rank's features x r */
    int *counts;     /* of every rank */
} sums;

static void close_sums(sums *s)
{
    DKM_FREE(s->row);
    DKM_FREE(s->all);
    DKM_FREE(s->turned);
    DKM_FREE(s->own);
    DKM_FREE(s->counts);
}

static dkm_local open_sums(const dkm_joint_map *map, sums *s)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_ctx *ctx = map->fitted.ctx;
    dkm_idx p = dkm_data_cols(map->fitted.X), first, mine;

    dkm_joint_map_share(map, &first, &mine);
    DKM_STEP(dkm_alloc(ctx, p, &s->row));
    DKM_STEP(dkm_calloc(ctx, p * map->r, &s->all));
    DKM_STEP(dkm_alloc(ctx, p * map->r, &s->turned));
    DKM_STEP(dkm_alloc(ctx, mine * map->r, &s->own));
    DKM_STEP(dkm_alloc(ctx, dkm_ctx_size(ctx), &s->counts));
    for (int k = 0; k < dkm_ctx_size(ctx); k++)
        s->counts[k] = (int)(map->r * dkm_slab_count(p, k, dkm_ctx_size(ctx)));
out:
    return local;
}

/* A bound of all sums: how many examples there are with a choice, times their largest number. */
static double bound_sums(const dkm_joint_map *map, const int32_t *choice)
{
    const dkm_data *X = map->fitted.X;
    dkm_idx p = dkm_data_cols(X), count = 0;
    double most = 0;

    for (dkm_idx i = 0; i < dkm_data_local_rows(X); i++) {
        if (choice[i] < 0)
            continue;
        count++;
        most = dkm_largest_size(p, dkm_data_values_const(X) + i * p, most);
    }
    MPI_Allreduce(MPI_IN_PLACE, &count, 1, MPI_INT64_T, MPI_SUM, dkm_ctx_comm(map->fitted.ctx));
    MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_DOUBLE, MPI_MAX, dkm_ctx_comm(map->fitted.ctx));
    return 1.001 * most * (double)count;
}

static void add_example(dkm_idx p, const double *restrict x, double unit, int64_t *restrict row,
                        int64_t *restrict right, int64_t *restrict wrong)
{
    for (dkm_idx k = 0; k < p; k++)
        row[k] = (int64_t)rint(unit * x[k]);
    for (dkm_idx k = 0; k < p; k++)
        right[k] += row[k];
    for (dkm_idx k = 0; k < p; k++)
        wrong[k] -= row[k];
}

static void add_examples(const dkm_joint_map *map, const dkm_idx *truth, const int32_t *choice,
                         sums *s)
{
    const dkm_data *X = map->fitted.X;
    dkm_idx p = dkm_data_cols(X), r = map->r;
    double unit = ldexp(1.0, s->bits);

    for (dkm_idx i = 0; i < dkm_data_local_rows(X); i++)
        if (choice[i] >= 0)
            add_example(p, dkm_data_values_const(X) + i * p, unit, s->row, s->all + truth[i] * p,
                        s->all + choice[i] * p);
    for (dkm_idx k = 0; k < p; k++)
        for (dkm_idx c = 0; c < r; c++)
            s->turned[k * r + c] = s->all[c * p + k];
}

dkm_status dkm_joint_map_primal_sum(const dkm_joint_map *map, const dkm_idx *truth,
                                    const int32_t *choice, double unit, double *own)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = map->fitted.ctx;
    dkm_idx first, mine;
    double bound = bound_sums(map, choice);
    sums s = {.bits = dkm_fixed_point_bits(bound)};

    dkm_joint_map_share(map, &first, &mine);
    DKM_REQUIRE(ctx, isfinite(bound), DKM_ERR_NUMERIC, "inputs are not finite");
    DKM_AGREE(ctx, open_sums(map, &s));
    add_examples(map, truth, choice, &s);
    MPI_Reduce_scatter(s.turned, s.own, s.counts, MPI_INT64_T, MPI_SUM, dkm_ctx_comm(ctx));
    for (dkm_idx k = 0; k < mine * map->r; k++)
        own[k] = unit * ldexp((double)s.own[k], -s.bits);
out:
    close_sums(&s);
    return status;
}
