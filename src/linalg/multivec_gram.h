/** @file multivec_gram.h  Inner products of multivectors and combinations of their columns.
 */
#ifndef DKMAP_LINALG_MULTIVEC_GRAM_H
#define DKMAP_LINALG_MULTIVEC_GRAM_H

#include "matrix/multivec.h"

/** G = A' B, A.cols x B.cols, the same on every rank. Collective.
 *  @param work  space for as many numbers as G, to send less; or NULL */
void dkm_multivec_inner(const dkm_multivec *A, const dkm_multivec *B, double *G, double *work);

/** This rank's part of it. Local. */
void dkm_multivec_inner_local(const dkm_multivec *A, const dkm_multivec *B, double *G);

/** C = A S + beta C with S of A.cols x k, column-major, ld = lds; C gets k columns. Local. */
void dkm_multivec_combine(const dkm_multivec *A, dkm_idx k, const double *S, dkm_idx lds,
                          double scale, double beta, dkm_multivec *C);

#endif
