/** @file kernel.h  Kernel expressions and the Gram matrices they make.
 *
 *  An expression such as `rbf(normalize(ssk(r=3)), sigma=1)` is parsed once into a tree, checked
 *  against the objects, and evaluated tile by tile. Before evaluation each rank works out what the
 *  kernel needs of its own objects (norms, self-kernels, counts): the prepared objects travel.
 */
#ifndef DKMAP_KERNEL_H
#define DKMAP_KERNEL_H

#include <dkmap/data.h>
#include <dkmap/dmat.h>

typedef struct dkm_kernel dkm_kernel;
typedef struct dkm_prepared dkm_prepared;

/** Read an expression. Logically collective.
 *
 *  @param[out] kernel  new, owned by the caller; NULL on failure
 *  @return DKM_OK; DKM_ERR_ARG with the expression and a caret under the wrong place
 */
DKM_NODISCARD
dkm_status dkm_kernel_parse(dkm_ctx *ctx, const char *text, dkm_kernel **kernel);

/** The expression in canonical form, every parameter written out. Local. */
const char *dkm_kernel_text(const dkm_kernel *kernel);

void dkm_kernel_destroy(dkm_kernel **kernel);

/** Work out what @p kernel needs of each object of @p X, which is borrowed until the prepared
 *  objects are destroyed.
 *
 *  Collective.
 *
 *  @return DKM_OK; DKM_ERR_UNSUPPORTED when the kernel is not one for these objects (both named)
 */
DKM_NODISCARD
dkm_status dkm_kernel_prepare(const dkm_kernel *kernel, const dkm_data *X, dkm_prepared **prepared);
dkm_idx dkm_prepared_rows(const dkm_prepared *prepared);
void dkm_prepared_destroy(dkm_prepared **prepared);

/** K(i, j) = k(x_i, x_j), lower triangle; the strict upper one is left zero.
 *
 *  Collective. Every rank computes its own tiles; objects arrive in panels of bounded size.
 *
 *  @param[in]  nb  block size, rows and columns
 *  @param[out] K   new m x m matrix, owned by the caller; NULL on failure
 */
DKM_NODISCARD
dkm_status dkm_gram(dkm_grid *grid, const dkm_kernel *kernel, const dkm_prepared *X, dkm_idx nb,
                    dkm_precision precision, dkm_dmat **K);

/** K(i, j) = k(a_i, b_j) for all i, j, in blocks of mb x nb. Collective. */
DKM_NODISCARD
dkm_status dkm_gram_cross(dkm_grid *grid, const dkm_kernel *kernel, const dkm_prepared *A,
                          const dkm_prepared *B, dkm_idx mb, dkm_idx nb, dkm_precision precision,
                          dkm_dmat **K);

#endif
