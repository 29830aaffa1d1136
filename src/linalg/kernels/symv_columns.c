/* Fused y += A x and z += A'w for a few columns of A: the symmetric product with one vector reads each
 * element once (Howell, Demmel, Fulton, Hammarling and Marmol 2008, ACM TOMS 34(3):14,
 * doi:10.1145/1356052.1356055).
 *
 * COLUMNS columns pass by together, a vector of rows at a time: their sums for z stay in registers, and
 * y is read and written once for all of them. Nothing is prefetched: the processor foresees so many
 * columns by itself, and instructions for it made the product a quarter slower.
 *
 * Cost: 4 m count flops, A read once; local, no workspace. */
#include "linalg/kernels/symv_columns.h"

#define COLUMNS (DKM_SIMD_BYTES == 64 ? 8 : 4) /* as many sums and factors as registers hold */
#define WIDE    (DKM_SIMD_BYTES / (int)sizeof(double))

#define INLINE static inline __attribute__((always_inline))

typedef double vec __attribute__((vector_size(DKM_SIMD_BYTES), aligned(sizeof(double)), may_alias));

INLINE void columns(int count, dkm_idx m, const double *A, dkm_idx ld, const double *x_rows,
                    const double *x_cols, double *y_rows, double *y_cols)
{
    vec sums[8] = {{0}};
    dkm_idx i = 0;

    for (; i + WIDE <= m; i += WIDE) {
        vec x = *(const vec *)(x_rows + i), y = *(const vec *)(y_rows + i);
        for (int j = 0; j < count; j++) {
            vec a = *(const vec *)(A + i + j * ld);
            y += a * x_cols[j];
            sums[j] += a * x;
        }
        *(vec *)(y_rows + i) = y;
    }
    for (int j = 0; j < count; j++) {
        double sum = 0;
        for (int v = 0; v < WIDE; v++)
            sum += sums[j][v];
        for (dkm_idx k = i; k < m; k++) {
            sum += A[k + j * ld] * x_rows[k];
            y_rows[k] += A[k + j * ld] * x_cols[j];
        }
        y_cols[j] += sum;
    }
}

static void add(const dkm_symv_tile *t, const double *x_rows, const double *x_cols, double *y_rows,
                double *y_cols)
{
    dkm_idx j = 0;

    for (; j + COLUMNS <= t->count; j += COLUMNS)
        columns(COLUMNS, t->m, t->A + j * t->ld, t->ld, x_rows, x_cols + j, y_rows, y_cols + j);
    if (j + COLUMNS / 2 <= t->count) {
        columns(COLUMNS / 2, t->m, t->A + j * t->ld, t->ld, x_rows, x_cols + j, y_rows, y_cols + j);
        j += COLUMNS / 2;
    }
    for (; j < t->count; j++)
        columns(1, t->m, t->A + j * t->ld, t->ld, x_rows, x_cols + j, y_rows, y_cols + j);
}

const dkm_symv_kernels DKM_SIMD(dkm_symv_kernels) = {add};
