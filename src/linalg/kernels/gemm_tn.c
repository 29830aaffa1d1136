/* C = A'B for the tiles of kernel matrices, in double and in single precision.
 *
 * A register-blocked micro-kernel (Goto and van de Geijn 2008, ACM TOMS 34(3):12,
 * doi:10.1145/1356052.1356053; Van Zee and van de Geijn 2015, ACM TOMS 41(3):14,
 * doi:10.1145/2764454): four registers of rows of A against six rows of B make 24 sums, with which
 * both multipliers of a processor with AVX-512 are always busy. A is packed, a block of 400 KiB at a
 * time, which stays in the second cache while all rows of B pass by. The rows of B are contiguous, and
 * are read where they are: tiles are as tall as they are wide, or taller, and packing B would gain
 * nothing. There is neither a scaling of C nor a product that is added to it, for which a BLAS passes
 * over C once more.
 *
 * Cost: 2 n_A n_B d flops, A read once; a workspace of DKM_TN_WORKSPACE bytes. Compiled for each
 * instruction set (core/simd.h), with -ffp-contract=fast, so that products and sums fuse; used where it
 * was measured to be faster than OpenBLAS (gemm_tn.h), elsewhere the twin that tests compare with. */
#include "linalg/kernels/gemm_tn.h"

#include <string.h>

#include "core/minmax.h"
#include "linalg/kernels/interleave_rows.h"

#if DKM_SIMD_BYTES == 64
#define REGISTERS 4 /* of rows of A */
#define COLS      6 /* rows of B */
#else
#define REGISTERS 3 /* 16 registers, not 32 */
#define COLS      4
#endif
#define DEPTH       800 /* columns of the data at a time: 6 rows of B stay in the first cache */
#define PANEL_BYTES DKM_TN_WORKSPACE

#define INLINE static inline __attribute__((always_inline))

#define REAL       double
#define NAME(x)    x##_f64
#define ITEM       dkm_item_64
#define INTERLEAVE interleave_rows_64
#include "linalg/kernels/gemm_tn.inc"
#undef REAL
#undef NAME
#undef ITEM
#undef INTERLEAVE

#define REAL       float
#define NAME(x)    x##_f32
#define ITEM       dkm_item_32
#define INTERLEAVE interleave_rows_32
#include "linalg/kernels/gemm_tn.inc"

static void gemm_tn(const dkm_tn_product *p, void *work)
{
    if (p->precision == DKM_F64)
        gemm_f64(p, work);
    else
        gemm_f32(p, work);
}

const dkm_tn_kernels DKM_SIMD(dkm_tn_kernels) = {gemm_tn};
