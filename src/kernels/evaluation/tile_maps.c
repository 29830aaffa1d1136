#include "kernels/evaluation/tile_maps.h"

#define KERNELS DKM_SIMD_SELECT(dkm_map_kernels)

void dkm_map_gauss(const dkm_tile *C, const double *a, const double *b, double rate)
{
    KERNELS->gauss(C, a, b, rate);
}

void dkm_map_matern(const dkm_tile *C, const double *a, const double *b, double rate,
                    const double by[2])
{
    KERNELS->matern(C, a, b, rate, by);
}

void dkm_map_exp(const dkm_tile *C, double rate)
{
    KERNELS->exp(C, rate);
}

void dkm_map_power(const dkm_tile *C, double shift, dkm_idx degree)
{
    KERNELS->power(C, shift, degree);
}

void dkm_map_sides(const dkm_tile *C, const double *a, const double *b)
{
    KERNELS->sides(C, a, b);
}

void dkm_map_normalize(const dkm_tile *C, const double *a, const double *b)
{
    KERNELS->normalize(C, a, b);
}

void dkm_map_zero_pairs(const dkm_tile *C, const double *a, const double *b, const double *id_a,
                        const double *id_b)
{
    for (dkm_idx j = 0; j < C->nb; j++)
        for (dkm_idx i = 0; b[j] == 0 && i < C->na; i++)
            if (a[i] == 0 && (!id_a || id_a[i] == id_b[j]))
                dkm_tile_put(C, i, j, 1.0);
}

void dkm_map_scale(const dkm_tile *C, double by)
{
    KERNELS->scale(C, by);
}

void dkm_map_add(const dkm_tile *C, const dkm_tile *D)
{
    KERNELS->add(C, D);
}

void dkm_map_multiply(const dkm_tile *C, const dkm_tile *D)
{
    KERNELS->multiply(C, D);
}

void dkm_map_store(const dkm_tile *C, dkm_idx i, dkm_idx j, dkm_idx count, const double *values)
{
    for (dkm_idx k = 0; k < count; k++)
        dkm_tile_put(C, i + k, j, values[k]);
}

void dkm_exp_f64(dkm_idx n, const double *x, double *y)
{
    KERNELS->exp_f64(n, x, y);
}

void dkm_exp_f32(dkm_idx n, const float *x, float *y)
{
    KERNELS->exp_f32(n, x, y);
}

void dkm_tile_widen(const dkm_tile *C, dkm_idx first, dkm_idx count, double *to)
{
    KERNELS->widen(C, first, count, to);
}
