/** @file interleave_rows.h  The rows that go into one vector register, item after item: the packing of
 *  micro-kernels. For files of vector kernels (core/simd.h).
 *
 *  Items of 32 or 64 bits: numbers, or a few small integers that one instruction multiplies together.
 *  With AVX-512 quarters of registers are filled row by row and transposed within, which takes
 *  a quarter of the time of storing single items.
 */
#ifndef DKMAP_LINALG_KERNELS_INTERLEAVE_ROWS_H
#define DKMAP_LINALG_KERNELS_INTERLEAVE_ROWS_H

#include <stdint.h>

#include "core/simd.h"

/** Items, whatever numbers they stand for. */
typedef uint32_t __attribute__((may_alias)) dkm_item_32;
typedef uint64_t __attribute__((may_alias)) dkm_item_64;

#ifdef __AVX512F__
#include <immintrin.h>

/* 16 bytes of each of four rows. */
static inline __m512i interleave_rows_quarters(const void *a, const void *b, const void *c,
                                               const void *d)
{
    __m512i q = _mm512_castsi128_si512(_mm_loadu_si128((const __m128i_u *)a));

    q = _mm512_inserti32x4(q, _mm_loadu_si128((const __m128i_u *)b), 1);
    q = _mm512_inserti32x4(q, _mm_loadu_si128((const __m128i_u *)c), 2);
    return _mm512_inserti32x4(q, _mm_loadu_si128((const __m128i_u *)d), 3);
}
#endif

/** to[l + k step] = item k of row l, for the rows of a register and @p n items. Local. */
static inline void interleave_rows_32(dkm_idx n, const dkm_item_32 *const *row, dkm_idx step,
                                      dkm_item_32 *to)
{
    dkm_idx k = 0;

#ifdef __AVX512F__
    for (; k + 4 <= n; k += 4, to += 4 * step) {
        __m512i q[4], low[2], high[2];
        for (int r = 0; r < 4; r++)
            q[r] = interleave_rows_quarters(row[r] + k, row[r + 4] + k, row[r + 8] + k,
                                            row[r + 12] + k);
        for (int r = 0; r < 2; r++) {
            low[r] = _mm512_unpacklo_epi32(q[2 * r], q[2 * r + 1]);
            high[r] = _mm512_unpackhi_epi32(q[2 * r], q[2 * r + 1]);
        }
        _mm512_storeu_si512(to, _mm512_unpacklo_epi64(low[0], low[1]));
        _mm512_storeu_si512(to + step, _mm512_unpackhi_epi64(low[0], low[1]));
        _mm512_storeu_si512(to + 2 * step, _mm512_unpacklo_epi64(high[0], high[1]));
        _mm512_storeu_si512(to + 3 * step, _mm512_unpackhi_epi64(high[0], high[1]));
    }
#endif
    for (; k < n; k++, to += step)
        for (int l = 0; l < DKM_SIMD_BYTES / 4; l++)
            to[l] = row[l][k];
}

/** The same with items of 64 bits. Local. */
static inline void interleave_rows_64(dkm_idx n, const dkm_item_64 *const *row, dkm_idx step,
                                      dkm_item_64 *to)
{
    dkm_idx k = 0;

#ifdef __AVX512F__
    for (; k + 2 <= n; k += 2, to += 2 * step) {
        __m512i even = interleave_rows_quarters(row[0] + k, row[2] + k, row[4] + k, row[6] + k);
        __m512i odd = interleave_rows_quarters(row[1] + k, row[3] + k, row[5] + k, row[7] + k);
        _mm512_storeu_si512(to, _mm512_unpacklo_epi64(even, odd));
        _mm512_storeu_si512(to + step, _mm512_unpackhi_epi64(even, odd));
    }
#endif
    for (; k < n; k++, to += step)
        for (int l = 0; l < DKM_SIMD_BYTES / 8; l++)
            to[l] = row[l][k];
}

#endif
