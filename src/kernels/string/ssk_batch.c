#include "kernels/string/ssk_batch.h"

#include <string.h>

#include "core/alloc.h"

#define LANES DKM_SSK_LANES
#define CHUNK DKM_SSK_CHUNK

dkm_local dkm_ssk_open(dkm_ssk *k, dkm_ctx *ctx, dkm_idx r, double lambda, dkm_idx s_most,
                       dkm_idx t_most)
{
    dkm_local local = DKM_LOCAL_OK;

    *k = (dkm_ssk){.ctx = ctx, .r = r, .lambda = lambda, .lanes = LANES};
    DKM_STEP(dkm_alloc(ctx, s_most * LANES, &k->s));
    DKM_STEP(dkm_alloc(ctx, t_most * LANES, &k->t));
    DKM_STEP(dkm_alloc(ctx, (CHUNK + 1) * LANES, &k->ones));
    DKM_STEP(dkm_alloc(ctx, (r - 1) * (CHUNK + 1) * LANES, &k->sums));
    DKM_STEP(dkm_alloc(ctx, (r - 1) * s_most * LANES, &k->run_edge));
    DKM_STEP(dkm_alloc(ctx, (r - 1) * s_most * LANES, &k->s_edge));
    for (dkm_idx i = 0; i < (CHUNK + 1) * LANES; i++)
        k->ones[i] = 1.0;
out:
    return local;
}

void dkm_ssk_close(dkm_ssk *k)
{
    DKM_FREE(k->s);
    DKM_FREE(k->t);
    DKM_FREE(k->ones);
    DKM_FREE(k->sums);
    DKM_FREE(k->run_edge);
    DKM_FREE(k->s_edge);
}

void dkm_ssk_use(dkm_ssk *k, dkm_idx count)
{
    k->lanes = count <= DKM_SSK_FEW ? DKM_SSK_FEW : LANES;
}

void dkm_ssk_put(const dkm_ssk *k, double *chars, dkm_idx lane, const char *text, dkm_idx length,
                 dkm_idx padded)
{
    double filler = chars == k->s ? -1 : -2;

    for (dkm_idx i = 0; i < padded; i++)
        chars[i * k->lanes + lane] = i < length ? (double)(unsigned char)text[i] : filler;
}

void dkm_ssk_run(const dkm_ssk *k, dkm_idx s_length, dkm_idx t_length, double *values)
{
    memset(values, 0, (size_t)k->lanes * sizeof *values);
    if (s_length < k->r || t_length < k->r)
        return;
    DKM_SIMD_SELECT(dkm_ssk_kernels)->run(k, s_length, t_length, values);
    dkm_phase_flops(k->ctx, (double)(5 * k->r - 4) * (double)s_length * (double)t_length *
                                (double)k->lanes);
}
