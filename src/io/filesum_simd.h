/** @file filesum_simd.h  What the checksum of a file spends its time on, for each instruction set. */
#ifndef DKMAP_IO_FILESUM_SIMD_H
#define DKMAP_IO_FILESUM_SIMD_H

#include "core/simd.h"

#define DKM_FILESUM_BLOCK 256 /* halfwords of 4 bytes */
#define DKM_FILESUM_LIMB  21  /* bits of a weight in each of three parts */

typedef struct dkm_filesum_kernels {
    /** sums[l] = sum_k h_k weight[l][k] over the halfwords h_k of a block, lowest byte first; @p weight has
     *  three rows of DKM_FILESUM_BLOCK, numbers of LIMB bits. */
    void (*block)(const unsigned char *bytes, const uint32_t *weight, uint64_t sums[3]);
} dkm_filesum_kernels;

DKM_SIMD_DECLARE(dkm_filesum_kernels, dkm_filesum_kernels);

#endif
