/* A polynomial hash (Carter and Wegman, Universal Classes of Hash Functions, 1979, their class for long
 * strings) with a fixed argument:
 *
 *   f = sum_k h_k r^k  mod p,   p = 2^61 - 1,
 *
 * over the halfwords h_k of four bytes of the file, k being the place of the halfword. f is linear in the bytes, so
 * that parts add up wherever they are cut.
 *
 * r is a primitive root of p. A change d of one halfword, 0 < |d| < 2^32 < p, changes f by d r^k, which is not zero. Two
 * flipped bits, +-2^a in halfword i and +-2^b in halfword j, would cancel if r^(j-i) = -+2^(a-b): as -1 and 2 generate a
 * group of 122 elements, this needs j - i to be a multiple of (p - 1) / 122 = 1.9e16. Of random damage, one in p is
 * missed.
 *
 * Cost: three multiplications of 32 by 21 bits for four bytes, in vectors (filesum_simd.c), with one reduction for
 * BLOCK of them, and BLOCK + log2(offset) multiplications modulo p for a call. Nothing is replicated. */
#include "io/filesum.h"

#include <string.h>

#include "io/filesum_simd.h"

#define PRIME   ((UINT64_C(1) << 61) - 1)
#define ROOT    UINT64_C(0x1f83d9abfb41bd6f)
#define UNIT    4 /* bytes of a halfword */
#define BLOCK   DKM_FILESUM_BLOCK
#define MAX_SUM 31 /* bits that are reduced over ranks at a time */

__extension__ typedef unsigned __int128 wide;

static uint64_t reduce(wide x)
{
    uint64_t once;

    x = (x & PRIME) + (x >> 61); /* below 2^68 for any x, below 2^62 for a product */
    once = (uint64_t)(x & PRIME) + (uint64_t)(x >> 61);
    return once >= PRIME ? once - PRIME : once;
}

static uint64_t multiply(uint64_t a, uint64_t b)
{
    return reduce((wide)a * b);
}

/* r^k */
static uint64_t power(uint64_t k)
{
    uint64_t result = 1;

    for (uint64_t square = ROOT; k > 0; k >>= 1, square = multiply(square, square))
        if (k & 1)
            result = multiply(result, square);
    return result;
}

/* At most four bytes, which do not pass the end of a halfword, as a number. */
static uint64_t halfword(dkm_idx offset, const unsigned char *bytes, dkm_idx count)
{
    uint64_t value = 0;

    for (dkm_idx k = 0; k < count; k++)
        value |= (uint64_t)bytes[k] << 8 * ((offset + k) % UNIT);
    return value;
}

/* r^k for the halfwords k of a block, in limbs. @return r^BLOCK */
static uint64_t list_weights(uint32_t weight[3 * BLOCK])
{
    const uint64_t limb = (UINT64_C(1) << DKM_FILESUM_LIMB) - 1;
    uint64_t r_k = 1;

    for (int k = 0; k < BLOCK; k++) {
        for (int l = 0; l < 3; l++)
            weight[l * BLOCK + k] = (uint32_t)(r_k >> l * DKM_FILESUM_LIMB & limb);
        r_k = multiply(r_k, ROOT);
    }
    return r_k;
}

/* The sum over blocks from @p bytes on, and r_k moved on. */
static uint64_t sum_blocks(const unsigned char *bytes, dkm_idx blocks, uint64_t *r_k)
{
    const dkm_filesum_kernels *kernels = DKM_SIMD_SELECT(dkm_filesum_kernels);
    uint32_t weight[3 * BLOCK];
    uint64_t step = list_weights(weight), sum = 0, part[3];

    for (dkm_idx k = 0; k < blocks; k++, bytes += BLOCK * UNIT) {
        kernels->block(bytes, weight, part);
        sum = dkm_filesum_combine(
            sum, multiply(*r_k, reduce(part[0] + ((wide)part[1] << DKM_FILESUM_LIMB) +
                                       ((wide)part[2] << 2 * DKM_FILESUM_LIMB))));
        *r_k = multiply(*r_k, step);
    }
    return sum;
}

uint64_t dkm_filesum(dkm_idx offset, const void *bytes, dkm_idx count)
{
    const unsigned char *at = bytes, *end = at + count;
    dkm_idx head = (UNIT - offset % UNIT) % UNIT;
    uint64_t r_k = power((uint64_t)(offset / UNIT)), sum = 0;

    head = head < count ? head : count;
    if (head > 0) {
        sum = multiply(r_k, halfword(offset, at, head));
        r_k = multiply(r_k, ROOT);
        at += head;
    }
    if (end - at >= BLOCK * UNIT) {
        dkm_idx blocks = (end - at) / (BLOCK * UNIT);
        sum = dkm_filesum_combine(sum, sum_blocks(at, blocks, &r_k));
        at += blocks * BLOCK * UNIT;
    }
    for (; at < end; at += UNIT) {
        dkm_idx left = end - at < UNIT ? end - at : UNIT;
        sum = dkm_filesum_combine(sum, multiply(r_k, halfword(0, at, left)));
        r_k = multiply(r_k, ROOT);
        if (left < UNIT)
            break;
    }
    return sum;
}

uint64_t dkm_filesum_combine(uint64_t a, uint64_t b)
{
    uint64_t sum = a + b;

    return sum >= PRIME ? sum - PRIME : sum;
}

/* Halves of the sums, as the whole ones of more than eight ranks would not fit in 64 bits. */
uint64_t dkm_filesum_combine_ranks(dkm_ctx *ctx, uint64_t mine)
{
    uint64_t half[2] = {mine & ((UINT64_C(1) << MAX_SUM) - 1), mine >> MAX_SUM};

    MPI_Allreduce(MPI_IN_PLACE, half, 2, MPI_UINT64_T, MPI_SUM, dkm_ctx_comm(ctx));
    return reduce(((wide)half[1] << MAX_SUM) + half[0]);
}

/* The odd weight of the word at place @p at. */
static uint64_t weight_format_2(uint64_t at)
{
    uint64_t z = (at + 1) * 0x9e3779b97f4a7c15u;

    return (z ^ (z >> 32)) | 1u;
}

/* At most eight bytes within one word. */
static uint64_t word_sum_format_2(dkm_idx offset, const unsigned char *bytes, dkm_idx count)
{
    uint64_t word = 0;

    for (dkm_idx k = 0; k < count; k++)
        word |= (uint64_t)bytes[k] << 8 * ((offset + k) % 8);
    return word * weight_format_2((uint64_t)offset / 8);
}

uint64_t dkm_filesum_format_2(dkm_idx offset, const void *bytes, dkm_idx count)
{
    const unsigned char *b = bytes;
    uint64_t sum = 0;

    while (count > 0) {
        dkm_idx step = 8 - offset % 8;
        step = step < count ? step : count;
        sum += word_sum_format_2(offset, b, step);
        offset += step;
        b += step;
        count -= step;
    }
    return sum;
}
