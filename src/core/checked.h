/** @file checked.h  Integers that may not fit where they are going. */
#ifndef DKMAP_CORE_CHECKED_H
#define DKMAP_CORE_CHECKED_H

#include <dkmap/context.h>

/** @p value as a 32-bit int, or DKM_ERR_SIZE naming @p what. Local. */
DKM_NODISCARD dkm_local dkm_checked_int(dkm_ctx *ctx, dkm_idx value, const char *what, int *out);

/** a * b, or DKM_ERR_SIZE naming @p what when it leaves 64 bits. Local. */
DKM_NODISCARD dkm_local dkm_checked_mul(dkm_ctx *ctx, dkm_idx a, dkm_idx b, const char *what,
                                        dkm_idx *out);

#endif
