/* Fused tile products in single precision: W_rows += T V_cols and W_cols += T'V_rows, T read once.
 *
 * This is what a tile off the diagonal contributes to a symmetric product. A part of CACHE_ROWS x
 * CACHE_COLS stays in cache for both products, while the next one is prefetched. Vectors run along
 * columns: sums for two vectors of rows, or for two columns, of up to six right-hand sides stay in
 * registers. Products, and sums of at most 256 of them, are single; these sums are added in double
 * (blocked summation: the error bound is of order 256 eps, not n eps; Higham 1993, SIAM J. Sci.
 * Comput. 14(4):783-799, doi:10.1137/0914050).
 *
 * Cost: 4 na nb p flops; local, no workspace. Compiled for each instruction set (core/simd.h), with
 * -ffp-contract=fast. */
#include "linalg/kernels/symm_tile_f32.h"
#include "core/minmax.h"

#include <stddef.h>
#include <string.h>

#define CACHE_ROWS    DKM_FUSED_ROWS
#define CACHE_COLS    DKM_FUSED_COLS
#define VECTOR_FLOATS (DKM_SIMD_BYTES / 4)
#define CACHE_LINE    16 /* numbers */
#define GROUP         6  /* columns of W at a time */

#define INLINE static inline __attribute__((always_inline))

typedef float vec __attribute__((vector_size(4 * VECTOR_FLOATS), aligned(4), may_alias));

INLINE float horizontal_sum(vec v)
{
    float part[VECTOR_FLOATS];

    memcpy(part, &v, sizeof part);
    for (int half = VECTOR_FLOATS / 2; half > 0; half /= 2)
        for (int l = 0; l < half; l++)
            part[l] += part[l + half];
    return part[0];
}

/* w += s */
INLINE void fused_add_vectors(vec s, double *w)
{
    for (int l = 0; l < VECTOR_FLOATS; l++)
        w[l] += (double)s[l];
}

/* `vectors` vectors of rows from row i on, columns [0, group) of W_rows. */
INLINE void fused_gemm_n(int vectors, int group, const dkm_fused_tile *t, dkm_idx i)
{
    vec sum[2 * GROUP];

    for (int k = 0; k < group * vectors; k++)
        sum[k] = (vec){0};
    for (dkm_idx j = 0; j < t->nb; j++) {
        const float *T = t->T + i + j * t->ld;
        for (int k = 0; k < group; k++) {
            const float v = t->V_cols[j + k * t->cols_ld];
            for (int l = 0; l < vectors; l++)
                sum[k * vectors + l] += *(const vec *)(T + l * VECTOR_FLOATS) * v;
        }
    }
    for (int k = 0; k < group; k++)
        for (int l = 0; l < vectors; l++)
            fused_add_vectors(sum[k * vectors + l],
                              t->W_rows + i + l * VECTOR_FLOATS + k * t->rows_ld);
}

/* Rows that are too few for a vector. */
INLINE void fused_gemm_n_tail(int group, const dkm_fused_tile *t, dkm_idx i)
{
    for (; i < t->na; i++)
        for (int k = 0; k < group; k++) {
            float sum = 0;
            for (dkm_idx j = 0; j < t->nb; j++)
                sum += t->T[i + j * t->ld] * t->V_cols[j + k * t->cols_ld];
            t->W_rows[i + k * t->rows_ld] += (double)sum;
        }
}

INLINE void fused_rows(int group, const dkm_fused_tile *t)
{
    dkm_idx i = 0;

    for (; i + 2 * VECTOR_FLOATS <= t->na; i += 2 * VECTOR_FLOATS)
        fused_gemm_n(2, group, t, i);
    for (; i + VECTOR_FLOATS <= t->na; i += VECTOR_FLOATS)
        fused_gemm_n(1, group, t, i);
    fused_gemm_n_tail(group, t, i);
}

/* `wide` columns of T from column j on, columns [0, group) of W_cols. */
INLINE void fused_gemm_t(int wide, int group, const dkm_fused_tile *t, dkm_idx j)
{
    vec sum[2 * GROUP];
    float rest[2 * GROUP] = {0};
    dkm_idx i = 0;

    for (int k = 0; k < group * wide; k++)
        sum[k] = (vec){0};
    for (; i + VECTOR_FLOATS <= t->na; i += VECTOR_FLOATS)
        for (int k = 0; k < group; k++) {
            const vec v = *(const vec *)(t->V_rows + i + k * t->rows_ld);
            for (int l = 0; l < wide; l++)
                sum[k * wide + l] += *(const vec *)(t->T + i + (j + l) * t->ld) * v;
        }
    for (; i < t->na; i++)
        for (int k = 0; k < group; k++)
            for (int l = 0; l < wide; l++)
                rest[k * wide + l] += t->T[i + (j + l) * t->ld] * t->V_rows[i + k * t->rows_ld];
    for (int k = 0; k < group; k++)
        for (int l = 0; l < wide; l++)
            t->W_cols[j + l + k * t->cols_ld] +=
                (double)horizontal_sum(sum[k * wide + l]) + (double)rest[k * wide + l];
}

/* Columns j and j + 1 of a part that begins at @p next; that there is none does no harm. */
INLINE void prefetch_tile(const float *next, dkm_idx ld, dkm_idx j)
{
    for (dkm_idx i = 0; i < CACHE_ROWS; i += CACHE_LINE) {
        __builtin_prefetch(next + i + j * ld, 0, 2);
        __builtin_prefetch(next + i + (j + 1) * ld, 0, 2);
    }
}

INLINE void fused_cols(int group, const dkm_fused_tile *t, const float *next)
{
    dkm_idx j = 0;

    for (; j + 2 <= t->nb; j += 2) {
        if (next)
            prefetch_tile(next, t->ld, j);
        fused_gemm_t(2, group, t, j);
    }
    if (j < t->nb)
        fused_gemm_t(1, group, t, j);
}

/* The number of columns is a constant in each copy of the loops. */
static void fused_add_group(int group, const dkm_fused_tile *t, const float *next)
{
#define CASE(n)                                                                                    \
    case n:                                                                                        \
        if (t->V_rows)                                                                             \
            fused_cols(n, t, next);                                                                \
        if (t->V_cols)                                                                             \
            fused_rows(n, t);                                                                      \
        break;
    switch (group) {
        CASE(1)
        CASE(2)
        CASE(3)
        CASE(4)
        CASE(5)
        CASE(6)
    default:
        break;
    }
#undef CASE
}

/* Numbers of the tall matrices from other positions on. */
static void fused_accumulate(dkm_fused_tile *t, dkm_idx rows, dkm_idx cols)
{
    if (t->V_rows) {
        t->V_rows += rows;
        t->W_cols += cols;
    }
    if (t->V_cols) {
        t->V_cols += cols;
        t->W_rows += rows;
    }
}

/* All columns for a part of the tile, in groups of about the same size. */
static void fused_add_part(const dkm_fused_tile *t, const float *next)
{
    dkm_idx groups = (t->p + GROUP - 1) / GROUP;

    for (dkm_idx g = 0, k = 0, size; g < groups; g++, k += size) {
        dkm_fused_tile some = *t;
        size = (t->p - k + groups - g - 1) / (groups - g);
        fused_accumulate(&some, k * t->rows_ld, k * t->cols_ld);
        fused_add_group((int)size, &some, g == 0 ? next : NULL);
    }
}

static void block(const dkm_fused_tile *t, dkm_idx i, dkm_idx j)
{
    dkm_idx row = i * CACHE_ROWS, col = j * CACHE_COLS, next = col + CACHE_COLS;
    dkm_fused_tile part = *t;

    part.na = dkm_idx_min(CACHE_ROWS, t->na - row);
    part.nb = dkm_idx_min(CACHE_COLS, t->nb - col);
    part.T += row + col * t->ld;
    fused_accumulate(&part, row, col);
    fused_add_part(&part, row + CACHE_ROWS < t->na ? part.T + CACHE_ROWS : t->T + next * t->ld);
}

const dkm_fused_kernels DKM_SIMD(dkm_fused_kernels) = {block};
