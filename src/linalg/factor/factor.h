/** @file factor.h  The Cholesky factorizations that dkm_la_potrf() chooses from.
 *
 *  Each works on the block-cyclic matrix in place, so that another library with that layout can be
 *  added as one more record.
 */
#ifndef DKMAP_LINALG_FACTOR_FACTOR_H
#define DKMAP_LINALG_FACTOR_FACTOR_H

#include "linalg/linalg.h"

typedef struct dkm_factor_backend {
    const char *name;
    /** Factor A = L L', lower triangle, from a state in which @p from columns are done. @p info is
     *  set on the ranks of the grid that know of a failure, and 0 elsewhere. Collective; the
     *  conditions of dkm_la_potrf_from() hold. */
    dkm_status (*factorize)(dkm_dmat *A, dkm_idx from, const dkm_la_monitor *monitor,
                            dkm_idx *info);
} dkm_factor_backend;

extern const dkm_factor_backend dkm_factor_own;       /**< potrf.c */
extern const dkm_factor_backend dkm_factor_scalapack; /**< potrf_scalapack.c */

/** The one that dkm_ctx_set_factor() asks for; by default the faster one. Local. */
const dkm_factor_backend *dkm_factor_choose(const dkm_ctx *ctx);

/** The largest info of all ranks: those outside the grid do not see what fails in it. Collective.
 */
dkm_idx dkm_factor_agree_info(dkm_ctx *ctx, dkm_idx info);

#endif
