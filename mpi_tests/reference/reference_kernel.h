/** @file reference_kernel.h  Kernels as they are defined, one pair at a time, slow and obvious. */
#ifndef DKMAP_REFERENCE_KERNEL_H
#define DKMAP_REFERENCE_KERNEL_H

#include <dkmap/dmat.h>

double reference_dot(dkm_idx d, const double *x, const double *y);
/** Sum of |x_k - y_k|^power. */
double reference_gap(dkm_idx d, const double *x, const double *y, int power);

/** Bytes that need not end in zero. */
typedef struct reference_text {
    dkm_idx length;
    char bytes[64];
} reference_text;

/** The gapped subsequence kernel by enumeration of all pairs of r indices: lambda to the power of
 *  the lengths spanned in both strings, summed over those that spell the same. */
double reference_ssk(const reference_text *s, const reference_text *t, dkm_idx r, double lambda);
/** Pairs of equal stretches of p letters. */
double reference_spectrum(const reference_text *s, const reference_text *t, dkm_idx p);
/** Weighted degree kernel of degree D with shifts up to S: stretches of 1, ..., D letters that both
 *  have at most S places apart. */
double reference_weighted_degree(const reference_text *s, const reference_text *t, dkm_idx D,
                                 dkm_idx S);
/** Words of p of the letters in @p alphabet that are within k mismatches of a stretch of s and one
 *  of t, counted for each pair of stretches. */
double reference_mismatch(const reference_text *s, const reference_text *t, dkm_idx p, dkm_idx k,
                          const char *alphabet);

/** Score of the best local alignment by its definition: pairs of letters score as BLOSUM62 says, of
 *  the 20 amino acids in capitals, and a gap of l letters in either costs open + (l - 1) extend. */
double reference_align(const reference_text *s, const reference_text *t, double open,
                       double extend);

/** E = exp(A) of an n x n matrix, n <= 32, by scaling, its series and squaring. */
void reference_exp(dkm_idx n, const double *A, double *E);

/** Smallest eigenvalue of a symmetric n x n matrix, by Jacobi rotations; @p A is spoilt. */
double reference_least_eigenvalue(dkm_idx n, double *A);

#endif
