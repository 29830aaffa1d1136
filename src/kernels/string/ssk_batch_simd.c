/* Gap-weighted subsequence kernel of several pairs of strings at once (Lodhi, Saunders,
 * Shawe-Taylor, Cristianini and Watkins 2002, JMLR 2:419-444; here only the gaps are weighted, and
 * contiguous matches count 1). With M_l(i, j) the sum over pairs of subsequences of length l that
 * end at s_i and t_j,
 *   M_1(i, j) = [s_i = t_j]
 *   S_l(i, j) = sum of lambda^(i - i' + j - j') M_l(i', j') over i' <= i, j' <= j
 *   M_l(i, j) = [s_i = t_j] S_(l-1)(i - 1, j - 1),     k = sum of M_r(i, j).
 * S_l(i, j) = run + lambda S_l(i - 1, j) where run = M_l(i, j) + lambda run goes along j. Nothing
 * is ever subtracted, so small values keep all their digits.
 *
 * Cost: about 4 r |s| |t| flops per pair, in vectors of pairs; nothing is sent. Workspace: r rows
 * of S for a chunk of t per pair.
 *
 * t is processed in chunks that stay in the first-level cache. At the end of a row a chunk hands
 * on its run and its last S_l: edges. Within a row levels go from r down, two at a time while
 * registers last, so that S_(l-1) is still that of the row before when S_l needs it. Compiled for
 * each instruction set (core/simd.h). */
#include "kernels/string/ssk_batch.h"

#include <string.h>

#ifdef __SSE2__
#include <xmmintrin.h>
#endif

#define LANES   DKM_SSK_LANES
#define CHUNK   DKM_SSK_CHUNK
#define WIDE    (DKM_SIMD_BYTES < 32 ? 2 : 4) /* numbers of a vector */
#define VECTORS (LANES / WIDE)
#define LEVELS  2

typedef double vec __attribute__((vector_size(WIDE * sizeof(double))));
typedef int64_t mask __attribute__((vector_size(WIDE * sizeof(double))));

#define WHERE(m, x) ((vec)((m) & (mask)(x)))

/* How many vectors and levels there are is a constant in each copy of the loops. */
#define INLINE static inline __attribute__((always_inline))

/* Where one row of a segment of t begins. */
typedef struct place {
    dkm_idx i, s_length; /* the row, of how many */
    dkm_idx n;           /* characters of the segment */
    const vec *t;
} place;

/* S_l of the row at hand: entry 0 is the character of t before the segment. */
static vec *sums_of(const dkm_ssk *k, dkm_idx level)
{
    double *sums = level == 0 ? k->ones : k->sums + (level - 1) * (CHUNK + 1) * k->lanes;

    return (vec *)(void *)sums;
}

static vec *edge_of(const dkm_ssk *k, double *edges, dkm_idx level, const place *at)
{
    return (vec *)(void *)(edges + ((level - 1) * at->s_length + at->i) * k->lanes);
}

/* Turn S of `levels` levels from `top` down from that of the row before into that of this row;
 * where there is a total, add M_r to it first, `top` being r - 1. */
INLINE void do_levels(const dkm_ssk *k, int vectors, int levels, dkm_idx top, const place *at,
                      vec *total)
{
    vec run[LEVELS][VECTORS], old[LEVELS][VECTORS], sum[VECTORS], character[VECTORS], *S[LEVELS];
    const vec *below = sums_of(k, top - levels), *t = at->t;
    const vec decay = (vec){0} + k->lambda;

    for (int l = 0; l < levels; l++)
        S[l] = sums_of(k, top - l);
    for (int v = 0; v < vectors; v++) {
        character[v] = ((const vec *)(const void *)k->s)[at->i * vectors + v];
        sum[v] = total ? total[v] : character[v];
        for (int l = 0; l < levels; l++) {
            run[l][v] = edge_of(k, k->run_edge, top - l, at)[v];
            old[l][v] = S[l][v];
        }
    }
    for (dkm_idx j = 0; j < at->n; j++)
        for (int v = 0; v < vectors; v++) {
            mask match = t[j * vectors + v] == character[v];
            if (total)
                sum[v] += WHERE(match, levels > 0 ? old[0][v] : below[j * vectors + v]);
            for (int l = 0; l < levels; l++) {
                vec *next = &S[l][(j + 1) * vectors + v];
                vec before = l + 1 < levels ? old[l + 1][v] : below[j * vectors + v];
                run[l][v] = WHERE(match, before) + decay * run[l][v];
                old[l][v] = *next;
                *next = run[l][v] + decay * old[l][v];
            }
        }
    for (int v = 0; v < vectors; v++) {
        if (total)
            total[v] = sum[v];
        for (int l = 0; l < levels; l++)
            edge_of(k, k->run_edge, top - l, at)[v] = run[l][v];
    }
}

INLINE void do_row(const dkm_ssk *k, int vectors, const place *at, vec *total)
{
    dkm_idx l = k->r - 1;

    if (l == 0)
        do_levels(k, vectors, 0, l, at, total);
    else if (l == 1)
        do_levels(k, vectors, 1, l, at, total);
    else
        do_levels(k, vectors, 2, l, at, total);
    for (l -= 2; l > 1; l -= 2)
        do_levels(k, vectors, 2, l, at, NULL);
    if (l == 1)
        do_levels(k, vectors, 1, l, at, NULL);
    for (l = 1; l < k->r; l++)
        for (int v = 0; v < vectors; v++) {
            vec *S = sums_of(k, l), *edge = edge_of(k, k->s_edge, l, at);
            S[v] = edge[v];
            edge[v] = S[at->n * vectors + v];
        }
}

INLINE void sum_chunks(const dkm_ssk *k, int vectors, dkm_idx s_length, dkm_idx t_length,
                       vec *total)
{
    dkm_idx lanes = vectors * WIDE;
    size_t edges = (size_t)((k->r - 1) * s_length * lanes) * sizeof(double);
    place at = {.s_length = s_length};

    memset(k->run_edge, 0, edges);
    memset(k->s_edge, 0, edges);
    for (dkm_idx j = 0; j < t_length; j += CHUNK) {
        at.n = t_length - j < CHUNK ? t_length - j : CHUNK;
        at.t = (const vec *)(const void *)(k->t + j * lanes);
        memset(k->sums, 0, (size_t)((k->r - 1) * (CHUNK + 1) * lanes) * sizeof(double));
        for (at.i = 0; at.i < s_length; at.i++)
            do_row(k, vectors, &at, total);
    }
}

/* Sums that decay past the least normal number become zero at once: subnormal ones are slow. */
static unsigned flush_subnormals(void)
{
#ifdef __SSE2__
    unsigned before = _mm_getcsr();

    _mm_setcsr(before | 0x8040);
    return before;
#else
    return 0;
#endif
}

static void ssk_batch_restore(unsigned before)
{
#ifdef __SSE2__
    _mm_setcsr(before);
#else
    (void)before;
#endif
}

static void run(const dkm_ssk *k, dkm_idx s_length, dkm_idx t_length, double *values)
{
    vec total[VECTORS] = {{0}};
    unsigned before = flush_subnormals();

    if (k->lanes == DKM_SSK_FEW)
        sum_chunks(k, DKM_SSK_FEW / WIDE, s_length, t_length, total);
    else
        sum_chunks(k, VECTORS, s_length, t_length, total);
    ssk_batch_restore(before);
    memcpy(values, total, (size_t)k->lanes * sizeof *values);
}

const dkm_ssk_kernels DKM_SIMD(dkm_ssk_kernels) = {run};
