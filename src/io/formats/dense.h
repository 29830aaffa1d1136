/** @file dense.h  What all readers of dense rows do alike: choose the type, check the numbers. */
#ifndef DKMAP_IO_FORMATS_DENSE_H
#define DKMAP_IO_FORMATS_DENSE_H

#include "io/formats/format.h"

/** Set the sizes and type of a file of m x d numbers. Local.
 *
 *  @param[in] labels  whether the numbers are class labels unless the user says otherwise
 *  @return ok; DKM_ERR_ARG when the type wanted is not one of numbers
 */
DKM_NODISCARD dkm_local dkm_dense_resolve_type(dkm_file *file, dkm_idx m, dkm_idx d, int labels);

/** Check that m x d numbers may stand in @p bytes of a file that packs them or leaves zeros out:
 *  32 MiB of numbers and 8256 times what the file has are allowed. Local. The best that gzip can do
 *  for bytes that become doubles is 1032 * 8 times.
 *
 *  @return ok; DKM_ERR_SIZE when they cannot be counted; DKM_ERR_FORMAT */
DKM_NODISCARD dkm_local dkm_dense_plausible(const dkm_file *file, dkm_idx m, dkm_idx d,
                                            dkm_idx bytes);

/** Check that numbers read are finite and, of labels, integers. Local. The rows of @p objs are rows
 *  first, first + step, ... of the file, its columns those from @p c0 on.
 *  @return ok; DKM_ERR_FORMAT naming file, row and column */
DKM_NODISCARD dkm_local dkm_dense_check(const dkm_file *file, dkm_idx first, dkm_idx step,
                                        dkm_idx c0, const dkm_objs *objs);

/** Whether a number can be a class label: an exact integer. Local. */
int dkm_dense_is_label(double value);

#endif
