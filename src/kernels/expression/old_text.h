/** @file old_text.h  Kernel expressions of model files from before a kernel was redefined. */
#ifndef DKMAP_KERNELS_EXPRESSION_OLD_TEXT_H
#define DKMAP_KERNELS_EXPRESSION_OLD_TEXT_H

#include <dkmap/context.h>

/** What @p text of a model file of format 1 means today: its ssk is ssk_gaps now. Directly inside
 *  normalize the two are the same, and the name stays. Local.
 *
 *  @param[out] now  new, owned by the caller
 */
DKM_NODISCARD dkm_local dkm_kernel_from_format_1(dkm_ctx *ctx, const char *text, char **now);

#endif
