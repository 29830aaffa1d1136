/* With M_l(i, j) the sum over pairs of subsequences of length l that end at s_i and t_j,
 *   M_1(i, j) = [s_i = t_j]
 *   S_l(i, j) = sum of lambda^(i - i' + j - j') M_l(i', j') over i' <= i, j' <= j
 *   M_l(i, j) = [s_i = t_j] S_(l-1)(i - 1, j - 1),     k = sum of M_r(i, j).
 * S_l(i, j) = run + lambda S_l(i - 1, j) where run = M_l(i, j) + lambda run goes along j. Nothing
 * is ever subtracted, so that small values keep all their digits.
 *
 * t is taken in stretches that stay in the first cache. At the end of a row a stretch hands on its
 * run and its last S_l: edges. Within a row levels go from r down, so that S_(l-1) is still that of
 * the row before when S_l needs it. */
#include "kernel/ssk_lanes.h"

#include <string.h>

#ifdef __SSE2__
#include <xmmintrin.h>
#endif

#include "core/alloc.h"

#define LANES   DKM_SSK_LANES
#define STRETCH 64
#define WIDE    4 /* numbers of a vector */
#define VECTORS (LANES / WIDE)

/* How many vectors are in use is a constant in each copy of the loops. */
#define INLINE static inline __attribute__((always_inline))

typedef double vec __attribute__((vector_size(WIDE * sizeof(double))));
typedef int64_t mask __attribute__((vector_size(WIDE * sizeof(double))));

#define WHERE(m, x) ((vec)((m) & (mask)(x)))

dkm_local dkm_ssk_open(dkm_ssk *k, dkm_ctx *ctx, dkm_idx r, double lambda, dkm_idx s_most,
                       dkm_idx t_most)
{
    dkm_local local = DKM_LOCAL_OK;

    *k = (dkm_ssk){.ctx = ctx, .r = r, .lambda = lambda, .lanes = LANES};
    DKM_STEP(dkm_alloc(ctx, s_most * LANES, &k->s));
    DKM_STEP(dkm_alloc(ctx, t_most * LANES, &k->t));
    DKM_STEP(dkm_alloc(ctx, (STRETCH + 1) * LANES, &k->ones));
    DKM_STEP(dkm_alloc(ctx, (r - 1) * (STRETCH + 1) * LANES, &k->sums));
    DKM_STEP(dkm_alloc(ctx, (r - 1) * s_most * LANES, &k->run_edge));
    DKM_STEP(dkm_alloc(ctx, (r - 1) * s_most * LANES, &k->s_edge));
    for (dkm_idx i = 0; i < (STRETCH + 1) * LANES; i++)
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
    k->lanes = count <= WIDE ? WIDE : count <= 2 * WIDE ? 2 * WIDE : LANES;
}

void dkm_ssk_put(const dkm_ssk *k, double *letters, dkm_idx lane, const char *text, dkm_idx length,
                 dkm_idx padded)
{
    double filler = letters == k->s ? -1 : -2;

    for (dkm_idx i = 0; i < padded; i++)
        letters[i * k->lanes + lane] = i < length ? (double)(unsigned char)text[i] : filler;
}

/* total += sum of M_r(i, j) over a stretch of n letters of t; before points at S_(r-1)(i - 1, j -
 * 1).
 */
INLINE void add_matches(dkm_idx n, int vectors, const vec *letter, const vec *restrict t,
                        const vec *restrict before, vec *restrict total)
{
    vec sum[VECTORS], c[VECTORS];

    for (int v = 0; v < vectors; v++) {
        sum[v] = total[v];
        c[v] = letter[v];
    }
    for (dkm_idx j = 0; j < n; j++)
        for (int v = 0; v < vectors; v++)
            sum[v] += WHERE(t[j * vectors + v] == c[v], before[j * vectors + v]);
    for (int v = 0; v < vectors; v++)
        total[v] = sum[v];
}

/* Turn S_l of the row before into that of this row. */
INLINE void next_row(dkm_idx n, int vectors, double lambda, const vec *letter,
                     const vec *restrict t, const vec *restrict before, vec *restrict S,
                     vec *restrict edge)
{
    vec run[VECTORS], c[VECTORS], decay = {lambda, lambda, lambda, lambda};

    for (int v = 0; v < vectors; v++) {
        run[v] = edge[v];
        c[v] = letter[v];
    }
    for (dkm_idx j = 0; j < n; j++)
        for (int v = 0; v < vectors; v++) {
            dkm_idx at = j * vectors + v;
            run[v] = WHERE(t[at] == c[v], before[at]) + decay * run[v];
            S[at] = run[v] + decay * S[at];
        }
    for (int v = 0; v < vectors; v++)
        edge[v] = run[v];
}

/* S_l(i, j) of the row at hand: entry 0 is the letter of t before the stretch. */
static double *sums_of(const dkm_ssk *k, dkm_idx level)
{
    return level == 0 ? k->ones : k->sums + (level - 1) * (STRETCH + 1) * k->lanes;
}

/* Row i against a stretch of n letters of t. */
INLINE void do_row(const dkm_ssk *k, int vectors, dkm_idx i, dkm_idx s_length, const double *t,
                   dkm_idx n, double *total)
{
    dkm_idx lanes = vectors * WIDE;
    const vec *c = (const vec *)(const void *)(k->s + i * lanes);
    const vec *tv = (const vec *)(const void *)t;

    add_matches(n, vectors, c, tv, (const vec *)(const void *)sums_of(k, k->r - 1),
                (vec *)(void *)total);
    for (dkm_idx l = k->r - 1; l > 0; l--)
        next_row(n, vectors, k->lambda, c, tv, (const vec *)(const void *)sums_of(k, l - 1),
                 (vec *)(void *)(sums_of(k, l) + lanes),
                 (vec *)(void *)(k->run_edge + ((l - 1) * s_length + i) * lanes));
    for (dkm_idx l = 1; l < k->r; l++) {
        double *S = sums_of(k, l), *edge = k->s_edge + ((l - 1) * s_length + i) * lanes;
        memcpy(S, edge, (size_t)lanes * sizeof *S);
        memcpy(edge, S + n * lanes, (size_t)lanes * sizeof *S);
    }
}

INLINE void do_stretches(const dkm_ssk *k, int vectors, dkm_idx s_length, dkm_idx t_length,
                         double *total)
{
    dkm_idx lanes = vectors * WIDE;
    size_t edges = (size_t)((k->r - 1) * s_length * lanes) * sizeof(double);

    memset(k->run_edge, 0, edges);
    memset(k->s_edge, 0, edges);
    for (dkm_idx j = 0; j < t_length; j += STRETCH) {
        dkm_idx n = t_length - j < STRETCH ? t_length - j : STRETCH;
        memset(k->sums, 0, (size_t)((k->r - 1) * (STRETCH + 1) * lanes) * sizeof(double));
        for (dkm_idx i = 0; i < s_length; i++)
            do_row(k, vectors, i, s_length, k->t + j * lanes, n, total);
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

static void restore(unsigned before)
{
#ifdef __SSE2__
    _mm_setcsr(before);
#else
    (void)before;
#endif
}

void dkm_ssk_run(const dkm_ssk *k, dkm_idx s_length, dkm_idx t_length, double *values)
{
    _Alignas(64) double total[LANES] = {0};
    unsigned before;

    if (s_length >= k->r && t_length >= k->r) {
        before = flush_subnormals();
        if (k->lanes == WIDE)
            do_stretches(k, 1, s_length, t_length, total);
        else if (k->lanes == 2 * WIDE)
            do_stretches(k, 2, s_length, t_length, total);
        else
            do_stretches(k, VECTORS, s_length, t_length, total);
        restore(before);
        dkm_phase_flops(k->ctx,
                        (double)(5 * k->r - 4) * (double)s_length * (double)t_length * LANES);
    }
    memcpy(values, total, (size_t)k->lanes * sizeof *values);
}
