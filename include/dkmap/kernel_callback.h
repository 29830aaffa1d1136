/** @file kernel_callback.h  Kernels that are functions of the program.
 *
 *  A registered kernel is used by its name wherever a kernel expression is: alone, or inside others
 *  as in `normalize(mine)` or `sum(mine, rbf(sigma=2))`, for every method, on any number of ranks.
 *  A model that uses one names it in its file, and can be loaded only by a program that registers
 *  it again.
 */
#ifndef DKMAP_KERNEL_CALLBACK_H
#define DKMAP_KERNEL_CALLBACK_H

#include <dkmap/arrays.h>

DKM_API_BEGIN

/** The functions of a kernel. They are called on each rank for the values that the rank needs, in
 *  any order and number, and may not communicate. */
typedef struct dkm_kernel_callback {
    void *user; /**< passed to the functions; outlives the context */
    /** values[i * (count of B) + j] = k(a_i, b_j), for a symmetric, positive semidefinite k.
     *  @return 0; anything else makes the call that needs the values fail on all ranks */
    int (*block)(void *user, const dkm_rows *A, const dkm_rows *B, double *values);
    /** values[i] = k(x_i, x_i); NULL: read off blocks. Returns as block(). */
    int (*diagonal)(void *user, const dkm_rows *X, double *values);
} dkm_kernel_callback;

/** Register a kernel under a name for expressions.
 *
 *  Logically collective. A name that was registered before gets the new functions, also in kernels
 *  that use it already.
 *
 *  @param[in] ctx  of all ranks that call, borrowed
 *  @param[in] name  a letter, then letters, digits, '_' or '-'; not that of a built-in kernel
 *  @param[in] callback  copied; what it points to must stay
 *  @return DKM_OK; DKM_ERR_ARG; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_status dkm_kernel_register(dkm_ctx *ctx, const char *name,
                                             const dkm_kernel_callback *callback);

DKM_API_END

#endif
