/** @file fingerprint.h  Short texts that tell matrices apart, for the names of checkpoints.
 *
 *  A fingerprint is the norm and two random linear functions of the elements, rounded to digits
 *  that do not depend on the order of a sum. It is the same on every rank count, but for a last
 *  digit that happens to be rounded the other way: a state is then computed again.
 */
#ifndef DKMAP_SOLVERS_OPERATORS_FINGERPRINT_H
#define DKMAP_SOLVERS_OPERATORS_FINGERPRINT_H

#include "matrix/multivec.h"

#define DKM_FINGERPRINT_LENGTH 80

/** Of the lower triangle of a matrix, or an empty text where no checkpoints are written. Collective
 *  where they are. */
void dkm_fingerprint_lower(const dkm_dmat *A, char text[DKM_FINGERPRINT_LENGTH]);

/** Of right-hand sides, likewise.
 *  @param[in] m          rows over all ranks
 *  @param[in] precision  that they were computed in */
void dkm_fingerprint_slab(const dkm_multivec *B, dkm_idx m, dkm_precision precision,
                          char text[DKM_FINGERPRINT_LENGTH]);

#endif
