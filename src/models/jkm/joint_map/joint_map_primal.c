/* The linear part of a joint map through its features: W = X'U and G = X W.
 *
 * Cost: 2 m d r flops over all ranks for W, 2 n d r for n inputs; d r words are gathered.
 * Replicated: W, d r numbers. */
#include "models/jkm/joint_map/joint_map_primal.h"

#include <string.h>

#include "core/alloc.h"
#include "models/common/reproducible.h"

void dkm_joint_map_share(const dkm_joint_map *map, dkm_idx *first, dkm_idx *count)
{
    int rank = dkm_ctx_rank(map->fitted.ctx), size = dkm_ctx_size(map->fitted.ctx);

    *first = dkm_slab_first(dkm_data_cols(map->fitted.X), rank, size);
    *count = dkm_slab_count(dkm_data_cols(map->fitted.X), rank, size);
}

dkm_status dkm_joint_map_primal_columns(dkm_joint_map *map)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = map->fitted.ctx;
    dkm_idx p = dkm_data_cols(map->fitted.X), step = dkm_repro_panel_rows(p), c0, mine;
    double *panel = NULL;

    dkm_joint_map_share(map, &c0, &mine);
    DKM_AGREE(ctx, dkm_alloc(ctx, step * p, &panel));
    DKM_AGREE(ctx, dkm_alloc(ctx, map->m * mine, &map->columns));
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

dkm_local dkm_joint_map_primal_count(const dkm_joint_map *map, const int32_t *truth,
                                     const int32_t *choice, double unit, double *own)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx first, mine, r = map->r;
    double *sums = NULL; /* r x features: the sum of a class lies together */

    dkm_joint_map_share(map, &first, &mine);
    DKM_STEP(dkm_calloc(map->fitted.ctx, r * mine, &sums));
    for (dkm_idx i = 0; i < map->m; i++) {
        const double *restrict x = map->columns + i * mine;
        double *restrict right = sums + truth[i] * mine;
        double *restrict wrong = sums + (choice[i] >= 0 ? choice[i] : 0) * mine;
        for (dkm_idx k = 0; choice[i] >= 0 && k < mine; k++) {
            right[k] += x[k];
            wrong[k] -= x[k];
        }
    }
    for (dkm_idx c = 0; c < r; c++)
        for (dkm_idx k = 0; k < mine; k++)
            own[k * r + c] = unit * sums[c * mine + k];
out:
    DKM_FREE(sums);
    return local;
}
