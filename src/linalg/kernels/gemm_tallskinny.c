/* Tall-skinny GEMM micro-kernel: W += op(T) V for a tile T and 1 to DKM_NRHS_MAX right-hand sides.
 *
 * BLAS packs both factors before it multiplies, which for few right-hand sides takes as long as the
 * product (Goto and van de Geijn 2008, ACM TOMS 34(3):12, doi:10.1145/1356052.1356053); here T is
 * read in place. V and W are row-major with nrhs_pad = 8, 16 or 24 numbers per row. Sums for a few
 * rows of W stay in registers, ACCUMULATORS of them, while V_BLOCK rows of V pass by: two
 * vectors of right-hand sides at a time, so that enough registers remain. T is prefetched: its lines
 * are as far apart as its columns, too far for the processor to foresee them.
 *
 * Cost: 2 na nb nrhs_pad flops, T read once; local, no workspace. Compiled for each instruction set
 * (core/simd.h), with -ffp-contract=fast, so that products and sums fuse. A vector is as long as a
 * register, but for 8 or 24 single precision numbers half of one where registers hold 16. */
#include "linalg/kernels/gemm_tallskinny.h"
#include "core/minmax.h"

/* Vectors of sums at a time. */
#if DKM_SIMD_BYTES == 64
#define ACCUMULATORS 16
#else
#define ACCUMULATORS 12 /* 16 registers, not 32 */
#endif
#define V_BLOCK    64 /* objects of V at a time: they stay in the first cache */
#define AHEAD      2  /* groups of rows of W between a line of T's prefetch and its use */
#define LINE_BYTES 64

/* How many vectors and objects there are is a constant in each copy of the loops. */
#define INLINE static inline __attribute__((always_inline))

/* Numbers per row of V and W, and whether objects of W are columns of the tile. */
typedef struct shape {
    int nrhs_pad, trans;
} shape;

typedef struct extent {
    dkm_idx outs, ins; /* objects of W and of V */
    dkm_idx ld;        /* of the tile */
} extent;

#define REAL         double
#define NAME(x)      x##_f64
#define VECTOR_BYTES DKM_SIMD_BYTES
#include "linalg/kernels/gemm_tallskinny.inc"
#undef REAL
#undef NAME
#undef VECTOR_BYTES

#define REAL         float
#define NAME(x)      x##_f32
#define VECTOR_BYTES DKM_SIMD_BYTES
#include "linalg/kernels/gemm_tallskinny.inc"
#undef NAME
#undef VECTOR_BYTES

#define NAME(x)      x##_8_f32
#define VECTOR_BYTES (DKM_SIMD_BYTES < 32 ? DKM_SIMD_BYTES : 32)
#include "linalg/kernels/gemm_tallskinny.inc"

static const void *tile_element(const dkm_ts_tile *t, dkm_idx i, dkm_idx j)
{
    dkm_idx k = i + j * t->ld;

    return t->precision == DKM_F64 ? (const void *)((const double *)t->T + k)
                                   : (const void *)((const float *)t->T + k);
}

static const void *rhs_row(const dkm_ts_tile *t, dkm_idx nrhs_pad, const void *V, dkm_idx k)
{
    return t->precision == DKM_F64 ? (const void *)((const double *)V + k * nrhs_pad)
                                   : (const void *)((const float *)V + k * nrhs_pad);
}

static void add(const dkm_ts_tile *t, shape c, const extent *s, const void *T, const void *V,
                void *W)
{
    if (t->precision == DKM_F64)
        add_f64(c, s, T, V, W);
    else if (c.nrhs_pad % 16 == 0)
        add_f32(c, s, T, V, W);
    else
        add_8_f32(c, s, T, V, W);
}

static void gemm_n(const dkm_ts_tile *t, dkm_idx nrhs_pad, const void *V, void *W)
{
    for (dkm_idx j = 0; j < t->nb; j += V_BLOCK) {
        extent s = {t->na, dkm_idx_min(V_BLOCK, t->nb - j), t->ld};
        add(t, (shape){(int)nrhs_pad, 0}, &s, tile_element(t, 0, j), rhs_row(t, nrhs_pad, V, j), W);
    }
}

static void gemm_t(const dkm_ts_tile *t, dkm_idx nrhs_pad, const void *V, void *W)
{
    for (dkm_idx i = 0; i < t->na; i += V_BLOCK) {
        extent s = {t->nb, dkm_idx_min(V_BLOCK, t->na - i), t->ld};
        add(t, (shape){(int)nrhs_pad, 1}, &s, tile_element(t, i, 0), rhs_row(t, nrhs_pad, V, i), W);
    }
}

const dkm_ts_kernels DKM_SIMD(dkm_ts_kernels) = {gemm_n, gemm_t};
