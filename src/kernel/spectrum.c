/* spectrum: the inner product of the counts of all p-mers, stretches of p letters. Up to 8 letters
 * a p-mer is its own number; longer ones are told apart by a 64-bit hash, so that among n different
 * ones the chance of a mistake is below n^2 / 2^65. */
#include "kernel/counts.h"
#include "kernel/identity.h"

static uint64_t number_of(const char *at, dkm_idx p)
{
    uint64_t number = 0;

    if (p > 8)
        return dkm_hash_bytes(at, p);
    for (dkm_idx k = 0; k < p; k++)
        number = number << 8 | (unsigned char)at[k];
    return number;
}

static dkm_idx longest(const dkm_objs *X)
{
    dkm_idx most = 0;

    for (dkm_idx i = 0; i < X->n; i++)
        most = X->start[i + 1] - X->start[i] > most ? X->start[i + 1] - X->start[i] : most;
    return most;
}

static dkm_local spectrum_digest(const dkm_node *node, const dkm_objs *X, dkm_objs *out)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx p = (dkm_idx)node->param[0];
    dkm_counts c = {0};

    DKM_STEP(dkm_counts_open(&c, X->ctx, X->n, longest(X), out));
    for (dkm_idx i = 0; i < X->n; i++) {
        dkm_idx count = 0;
        for (dkm_idx at = X->start[i]; at + p <= X->start[i + 1]; at++)
            c.code[count++] = number_of(X->bytes + at, p);
        DKM_STEP(dkm_counts_add(&c, count));
    }
out:
    dkm_counts_close(&c);
    return local;
}

const dkm_kind dkm_kind_spectrum = {.name = "spectrum",
                                    .types = DKM_TYPE_BIT(DKM_STRINGS),
                                    .params = {{"p", DKM_COUNT, 3}},
                                    .digest_params = 1,
                                    .digest = spectrum_digest,
                                    .self = dkm_counts_self,
                                    .tile = dkm_counts_tile};
