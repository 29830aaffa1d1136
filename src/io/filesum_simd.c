/* Sums of products for the checksum of filesum.h, for one instruction set: compiled for each of them
 * (core/simd.h). Weights of 61 bits come in limbs of LIMB bits, so that a product with a halfword of 32
 * bits has 53 at most and a block of them adds up in 64. Local, no workspace. */
#include "io/filesum_simd.h"

static void add_block(const unsigned char *bytes, const uint32_t *restrict weight, uint64_t sums[3])
{
    const uint32_t *low = weight, *middle = weight + DKM_FILESUM_BLOCK,
                   *high = weight + 2 * DKM_FILESUM_BLOCK;
    uint32_t halfword[DKM_FILESUM_BLOCK];
    uint64_t a = 0, b = 0, c = 0;

    for (int k = 0; k < DKM_FILESUM_BLOCK; k++, bytes += 4)
        halfword[k] = bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
                      (uint32_t)bytes[3] << 24;
    for (int k = 0; k < DKM_FILESUM_BLOCK; k++) {
        a += (uint64_t)halfword[k] * low[k];
        b += (uint64_t)halfword[k] * middle[k];
        c += (uint64_t)halfword[k] * high[k];
    }
    sums[0] = a;
    sums[1] = b;
    sums[2] = c;
}

const dkm_filesum_kernels DKM_SIMD(dkm_filesum_kernels) = {add_block};
