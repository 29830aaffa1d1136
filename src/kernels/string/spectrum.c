/* spectrum: the p-spectrum kernel, the inner product of the counts of all substrings of p
 * characters (p-mers; Leslie, Eskin and Noble 2002, Pacific Symposium on Biocomputing 7:564-575).
 * Up to 8 characters a p-mer is its own number; longer ones are identified by a 64-bit hash, so
 * that among n different ones the chance of a collision is below n^2 / 2^65. strings: the same for
 * pairs of strings of equal length, written x TAB y: what is counted are the p-mers of x together
 * with the character of y in their middle.
 *
 * Cost: sorting the p-mers of each string once, |s| log |s|; a kernel value is a sparse inner
 * product (sparse_dot.h), about |s| + |t| operations. Counts travel instead of strings: two words
 * per distinct p-mer. */
#include <string.h>

#include "kernels/evaluation/object_hash.h"
#include "kernels/string/kmer_counts.h"

static uint64_t spectrum_number_of(const char *at, dkm_idx p)
{
    uint64_t number = 0;

    if (p > 8)
        return dkm_hash_bytes(at, p);
    for (dkm_idx k = 0; k < p; k++)
        number = number << 8 | (unsigned char)at[k];
    return number;
}

static dkm_idx spectrum_longest(const dkm_objs *X)
{
    dkm_idx most = 0;

    for (dkm_idx i = 0; i < X->n; i++)
        most = X->start[i + 1] - X->start[i] > most ? X->start[i + 1] - X->start[i] : most;
    return most;
}

static dkm_local spectrum_precompute(const dkm_node *node, const dkm_objs *X, dkm_objs *out)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx p = (dkm_idx)dkm_node_param(node, 0);
    dkm_counts c = {0};

    DKM_STEP(dkm_counts_open(&c, X->ctx, X->n, spectrum_longest(X), out));
    for (dkm_idx i = 0; i < X->n; i++) {
        dkm_idx count = 0;
        for (dkm_idx at = X->start[i]; at + p <= X->start[i + 1]; at++)
            c.code[count++] = spectrum_number_of(X->bytes + at, p);
        DKM_STEP(dkm_counts_add(&c, count));
    }
out:
    dkm_counts_close(&c);
    return local;
}

/* Where y begins in a pair x TAB y of equal lengths, or a failure. */
static dkm_local split_pair(const dkm_objs *X, dkm_idx i, const char **y)
{
    const char *bytes = X->bytes + X->start[i];
    dkm_idx length = X->start[i + 1] - X->start[i];
    const char *tab = memchr(bytes, '\t', (size_t)length);

    if (!tab || 2 * (tab - bytes) + 1 != length)
        return dkm_fail(X->ctx, DKM_ERR_ARG,
                        "the kernel strings takes pairs of strings of equal length with a TAB "
                        "between them, not '%.*s'",
                        (int)(length < 40 ? length : 40), bytes);
    *y = tab + 1;
    return DKM_LOCAL_OK;
}

static dkm_local strings_precompute(const dkm_node *node, const dkm_objs *X, dkm_objs *out)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx p = (dkm_idx)dkm_node_param(node, 0);
    dkm_counts c = {0};
    const char *y = NULL;

    DKM_STEP(dkm_counts_open(&c, X->ctx, X->n, spectrum_longest(X), out));
    for (dkm_idx i = 0; i < X->n; i++) {
        dkm_idx count = 0, n = (X->start[i + 1] - X->start[i]) / 2;
        DKM_STEP(split_pair(X, i, &y));
        for (dkm_idx at = 0; at + p <= n; at++) {
            uint64_t number = spectrum_number_of(X->bytes + X->start[i] + at, p);
            uint64_t character = (unsigned char)y[at + (p - 1) / 2];
            c.code[count++] = p < 8 ? number << 8 | character : dkm_hash_mix(number, character);
        }
        DKM_STEP(dkm_counts_add(&c, count));
    }
out:
    dkm_counts_close(&c);
    return local;
}

const dkm_kernel_class dkm_kernel_class_strings = {
    .name = "strings",
    .types = DKM_TYPE_BIT(DKM_STRINGS),
    .params = DKM_PARAMS({.name = "p", .range = DKM_COUNT, .default_value = 3}),
    .precompute_params = 1,
    .precompute = strings_precompute,
    .diag = dkm_panel_diag_from_extra,
    .tile = dkm_counts_tile};

const dkm_kernel_class dkm_kernel_class_spectrum = {
    .name = "spectrum",
    .types = DKM_TYPE_BIT(DKM_STRINGS),
    .params = DKM_PARAMS({.name = "p", .range = DKM_COUNT, .default_value = 3}),
    .precompute_params = 1,
    .precompute = spectrum_precompute,
    .diag = dkm_panel_diag_from_extra,
    .tile = dkm_counts_tile};
