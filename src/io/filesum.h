/** @file filesum.h  A checksum of a file from those of its parts.
 *
 *  The sums of any parts of a file, in any order and on any ranks, combine to the sum of the file, and bytes of
 *  zero, as in holes, add nothing.
 */
#ifndef DKMAP_IO_FILESUM_H
#define DKMAP_IO_FILESUM_H

#include <dkmap/context.h>

/** The sum of some bytes of a file. Local.
 *
 *  Every change within four bytes, and every two bits that are flipped anywhere in a file of less than
 *  10^16 bytes, change it; other damage does not with a probability of 2^-61.
 *
 *  @param[in] offset  of the bytes in the file */
uint64_t dkm_filesum(dkm_idx offset, const void *bytes, dkm_idx count);

/** The sum of two parts together. Local. */
uint64_t dkm_filesum_combine(uint64_t a, uint64_t b);

/** The sum of the parts of all ranks. Collective. */
uint64_t dkm_filesum_combine_ranks(dkm_ctx *ctx, uint64_t mine);

/** The checksum of files up to format 2, modulo 2^64, by plain addition. Two flips of the topmost bits of words
 *  of eight bytes cancel in it. Local. */
uint64_t dkm_filesum_format_2(dkm_idx offset, const void *bytes, dkm_idx count);

#endif
