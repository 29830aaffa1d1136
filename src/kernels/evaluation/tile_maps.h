/** @file tile_maps.h  What is done to every element of a tile, vectorised, in either precision. */
#ifndef DKMAP_KERNELS_EVALUATION_TILE_MAPS_H
#define DKMAP_KERNELS_EVALUATION_TILE_MAPS_H

#include "core/simd.h"

/** Part of a local array: na x nb, column-major. */
typedef struct dkm_tile {
    dkm_precision precision;
    dkm_idx na, nb, ld;
    void *c;
} dkm_tile;

/** Address of element (i, j). */
static inline void *dkm_tile_at(const dkm_tile *C, dkm_idx i, dkm_idx j)
{
    return (char *)C->c + (i + j * C->ld) * (dkm_idx)(C->precision == DKM_F64 ? 8 : 4);
}

static inline void dkm_tile_put(const dkm_tile *C, dkm_idx i, dkm_idx j, double value)
{
    if (C->precision == DKM_F64)
        *(double *)dkm_tile_at(C, i, j) = value;
    else
        *(float *)dkm_tile_at(C, i, j) = (float)value;
}

static inline double dkm_tile_get(const dkm_tile *C, dkm_idx i, dkm_idx j)
{
    return C->precision == DKM_F64 ? *(double *)dkm_tile_at(C, i, j)
                                   : (double)*(float *)dkm_tile_at(C, i, j);
}

/** The functions below that are compiled for each instruction set. */
typedef struct dkm_map_kernels {
    void (*gauss)(const dkm_tile *C, const double *a, const double *b, double rate);
    void (*matern)(const dkm_tile *C, const double *a, const double *b, double rate,
                   const double by[2]);
    void (*exp)(const dkm_tile *C, double rate);
    void (*power)(const dkm_tile *C, double shift, dkm_idx degree);
    void (*sides)(const dkm_tile *C, const double *a, const double *b);
    void (*normalize)(const dkm_tile *C, const double *a, const double *b);
    void (*scale)(const dkm_tile *C, double by);
    void (*add)(const dkm_tile *C, const dkm_tile *D);
    void (*multiply)(const dkm_tile *C, const dkm_tile *D);
    void (*widen)(const dkm_tile *C, dkm_idx first, dkm_idx count, double *to);
    void (*exp_f64)(dkm_idx n, const double *x, double *y);
    void (*exp_f32)(dkm_idx n, const float *x, float *y);
} dkm_map_kernels;

DKM_SIMD_DECLARE(dkm_map_kernels, dkm_map_kernels);

/** c = exp(-rate max(0, a_i + b_j - 2 c)): from inner products to a Gaussian. */
void dkm_map_gauss(const dkm_tile *C, const double *a, const double *b, double rate);
/** c = (1 + by[0] t + by[1] t^2) exp(-t), t = sqrt(rate max(0, a_i + b_j - 2 c)): from inner products to
 *  a Matern kernel. */
void dkm_map_matern(const dkm_tile *C, const double *a, const double *b, double rate,
                    const double by[2]);
/** c = exp(rate c). */
void dkm_map_exp(const dkm_tile *C, double rate);
/** c = (c + shift)^degree, degree >= 1. */
void dkm_map_power(const dkm_tile *C, double shift, dkm_idx degree);
/** c = a_i b_j c. */
void dkm_map_sides(const dkm_tile *C, const double *a, const double *b);
/** c = c / sqrt(a_i b_j), and 0 where that is 0. */
void dkm_map_normalize(const dkm_tile *C, const double *a, const double *b);
/** c = 1 where a_i = b_j = 0 and the objects are alike by their ids; without ids all are. */
void dkm_map_zero_pairs(const dkm_tile *C, const double *a, const double *b, const double *id_a,
                        const double *id_b);
/** c = by c. */
void dkm_map_scale(const dkm_tile *C, double by);
/** c = c + d. */
void dkm_map_add(const dkm_tile *C, const dkm_tile *D);
/** c = c d. */
void dkm_map_multiply(const dkm_tile *C, const dkm_tile *D);
/** Elements (i .. i + count, j) = values. */
void dkm_map_store(const dkm_tile *C, dkm_idx i, dkm_idx j, dkm_idx count, const double *values);

/** to(i, j) = c(i, first + j) in double: @p count columns of C of single precision, without gaps.
 */
void dkm_tile_widen(const dkm_tile *C, dkm_idx first, dkm_idx count, double *to);

/** y = exp(x), for n numbers: what the maps use, so that it can be measured against libm. */
void dkm_exp_f64(dkm_idx n, const double *x, double *y);
void dkm_exp_f32(dkm_idx n, const float *x, float *y);

#endif
