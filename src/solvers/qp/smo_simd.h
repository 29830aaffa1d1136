/** @file smo_simd.h  The passes over all variables of sequential minimal optimization, for each
 *  instruction set (core/simd.h). Their results are the same to the last bit for all of them. */
#ifndef DKMAP_SOLVERS_QP_SMO_SIMD_H
#define DKMAP_SOLVERS_QP_SMO_SIMD_H

#include "core/simd.h"

typedef struct dkm_smo_simd {
    /** grad -= t (plus - minus). Local. */
    void (*exchange)(dkm_idx n, double t, const double *plus, const double *minus, double *grad);
    /** grad -= t g. Local. */
    void (*shift)(dkm_idx n, double t, const double *g, double *grad);
    /** most = the largest of it and grad; least = the smallest of it and grad where a > 0. Local. */
    void (*extremes)(dkm_idx n, const double *grad, const double *a, double *most, double *least);
} dkm_smo_simd;

DKM_SIMD_DECLARE(dkm_smo_simd, dkm_smo_simd_table);

#endif
