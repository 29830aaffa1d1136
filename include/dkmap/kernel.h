/** @file kernel.h  Kernel expressions and the Gram matrices they make.
 *
 *  An expression such as `rbf(normalize(ssk(r=3)), sigma=1)` is parsed once into a tree, checked
 *  against the objects, and evaluated tile by tile. Before evaluation each rank works out what the
 *  kernel needs of its own objects (norms, self-kernels, counts): the prepared objects travel.
 *
 *  Rows of numbers, dense or sparse
 *    linear                   <x, x'>
 *    poly(degree=3, c=1)      (<x, x'> + c)^degree
 *    rbf(sigma=1)             exp(-||x - x'||^2 / (2 sigma^2)); with a width per column,
 *                             rbf(sigma=1;2;0.5), exp(-sum_k (x_k - x'_k)^2 / (2 sigma_k^2));
 *                             rbf(sigma=median): the median distance of training objects
 *    laplace(sigma=1)         exp(-||x - x'||_1 / sigma), or with a width per column
 *    expdot(sigma=1)          exp(<x, x'> / sigma^2)
 *    cosine                   <x, x'> / (||x|| ||x'||); zero rows: 1 among themselves, else 0
 *  Labels and sets
 *    class                    1/2 for equal labels, else 0
 *    labels                   how many labels two sets share (a label is a set of one)
 *    set                      2^(how many members two sets share)
 *  Strings of bytes
 *    ssk(r=3, lambda=0.01)    pairs of equal subsequences of r letters, each pair times lambda to
 *                             the power of the lengths that the two span, skipped letters included
 *    ssk_gaps(r=3, lambda=0.01)  ssk / lambda^(2 r): lambda to the power of the letters skipped
 *    spectrum(p=3)            pairs of equal substrings of p characters
 *    strings(p=3)             of pairs x TAB y of equal length: equal substrings of p characters
 *                             of x with the same letter of y at their middle
 *    mismatch(p=5, k=1)       for each pair of substrings, the words that differ in at most k
 *                             positions from both; their alphabet is that of the training strings
 *    align(open=10, extend=1) score of the best local alignment, letters scored by BLOSUM62, a
 *                             gap of l letters costing open + (l - 1) extend. Not positive
 *                             semidefinite: dkm_psd_clip() makes its matrix so
 *  Precomputed
 *    gram                     rows of kernel values to the training objects
 *    distance                 rows of distances to them, embedded about their mean
 *    extend(q.h5)             a kernel that dkmap extend carried to all objects with features; its
 *                             file is read again wherever the expression is used
 *    diffusion(tau=1)         exp(-tau L), L the normalized Laplacian of a graph
 *  Functions of the program, by the names they are registered under: kernel_callback.h
 *  Made from others
 *    sum(A, ...)  product(A, ...)  scale(A, by=2)  power(A, degree=2)  exp(A)
 *    rbf(A, sigma=1)          exp(-||x - x'||^2 / (2 sigma^2)) in the space of A
 *    on(0:3;7, A)             A of some columns of rows of numbers
 *    normalize(A)             A(x, x') / sqrt(A(x, x) A(x', x')); an object with A(x, x) = 0
 *                             is 1 to its equals and 0 to all others
 *    rownorm(A)               A(x, x') / (D(x) D(x')), D(x) the sum of A(x, t) over the
 *                             training objects t
 */
#ifndef DKMAP_KERNEL_H
#define DKMAP_KERNEL_H

#include <dkmap/data.h>
#include <dkmap/dmat.h>

DKM_API_BEGIN

typedef struct dkm_kernel dkm_kernel;
typedef struct dkm_prepared dkm_prepared;
typedef struct dkm_cross_gram dkm_cross_gram;

/** Read an expression. Logically collective.
 *
 *  @param[in] ctx  of all ranks that call, borrowed
 *  @param[in] text  an expression such as `rbf(sigma=2)`
 *  @param[out] kernel  new, owned by the caller; NULL on failure
 *  @return DKM_OK; DKM_ERR_ARG with the expression and a caret under the wrong place */
DKM_NODISCARD dkm_status dkm_kernel_parse(dkm_ctx *ctx, const char *text, dkm_kernel **kernel);

/** A copy of a kernel on a context, which may be another one. Logically collective on @p ctx; files
 *  that the kernel comes from are read again.
 *
 *  @param[in] ctx  of all ranks that call, borrowed
 *  @param[in] kernel  of the inputs, borrowed
 *  @param[out] copy  new, owned by the caller; NULL on failure */
DKM_NODISCARD dkm_status dkm_kernel_clone(dkm_ctx *ctx, const dkm_kernel *kernel,
                                          dkm_kernel **copy);

/** Replace words that stand for numbers, as in `rbf(sigma=median)`, by these numbers.
 *
 *  Collective. dkm_kernel_text() gives the numbers afterwards. A kernel without such words is left
 *  as it is. dkm_fit() does this for the kernels of its settings.
 *
 *  @param[in,out] kernel  nothing is prepared for it yet
 *  @param[in]     X       training objects
 *  @return DKM_OK; DKM_ERR_UNSUPPORTED; DKM_ERR_NUMERIC where they give no number within the range
 *          of the parameter; DKM_ERR_MEMORY
 */
DKM_NODISCARD dkm_status dkm_kernel_resolve(dkm_kernel *kernel, const dkm_data *X);

/** Whether no such words are left. Local. */
int dkm_kernel_is_resolved(const dkm_kernel *kernel);

/** Whether it is <x, x'>, and nothing else. Local. */
int dkm_kernel_is_linear(const dkm_kernel *kernel);

/** The expression in canonical form, every parameter written out. Local. */
const char *dkm_kernel_text(const dkm_kernel *kernel);

/** Whether values between two objects depend on all training objects: rownorm, distance,
 *  diffusion, mismatch (whose alphabet is theirs), and words that are not resolved yet. Local. */
int dkm_kernel_is_data_dependent(const dkm_kernel *kernel);

void dkm_kernel_destroy(dkm_kernel **kernel);

/** Work out what @p kernel needs of each object of @p X, which is borrowed until the prepared
 *  objects are destroyed.
 *
 *  Collective.
 *
 *  @return DKM_OK; DKM_ERR_UNSUPPORTED when the kernel is not one for these objects (both named)
 */
DKM_NODISCARD dkm_status dkm_kernel_prepare(const dkm_kernel *kernel, const dkm_data *X,
                                            dkm_prepared **prepared);
/** The same for new objects that will be compared with training objects, which are borrowed too.
 *
 *  Collective. Kernels such as rownorm, gram or distance look at all training objects: their new
 *  objects must be prepared so, and those of rbf and laplace on dense rows, which take the means of
 *  the training columns off where these are far from zero. For all other kernels it is the same as
 *  dkm_kernel_prepare().
 */
DKM_NODISCARD dkm_status dkm_kernel_prepare_new(const dkm_prepared *training, const dkm_data *X,
                                                dkm_prepared **prepared);
dkm_idx dkm_prepared_rows(const dkm_prepared *prepared);
void dkm_prepared_destroy(dkm_prepared **prepared);

/** K(i, j) = k(x_i, x_j), lower triangle; the strict upper one is left zero.
 *
 *  Collective. Every rank computes its own tiles; objects arrive in panels of bounded size.
 *
 *  @param[in] grid  borrowed; must outlive what is made on it
 *  @param[in] kernel  of the inputs, borrowed
 *  @param[in] X  inputs, borrowed
 *  @param[in]  nb  block size, rows and columns
 *  @param[in] precision  of the values
 *  @param[out] K   new m x m matrix, owned by the caller; NULL on failure */
DKM_NODISCARD dkm_status dkm_gram(dkm_grid *grid, const dkm_kernel *kernel, const dkm_prepared *X,
                                  dkm_idx nb, dkm_precision precision, dkm_dmat **K);

/** K from the rows of a given Gram matrix, dense and in slabs.
 *
 *  Collective.
 *
 *  @param[in] grid  borrowed; must outlive what is made on it
 *  @param[in] G  rows of a Gram matrix in slabs
 *  @param[in] nb  block size
 *  @param[out] K  new m x m matrix in blocks of nb, owned by the caller; NULL on failure
 *  @return DKM_OK; DKM_ERR_ARG when it is not square, or not symmetric (the worst pair is named) */
DKM_NODISCARD dkm_status dkm_gram_from_rows(dkm_grid *grid, const dkm_data *G, dkm_idx nb,
                                            dkm_dmat **K);

/** K(i, j) = k(a_i, b_j) for all i, j, in blocks of mb x nb.
 *
 *  Collective. Where the kernel looks at training objects, B are those.
 */
DKM_NODISCARD dkm_status dkm_gram_cross(dkm_grid *grid, const dkm_kernel *kernel,
                                        const dkm_prepared *A, const dkm_prepared *B, dkm_idx mb,
                                        dkm_idx nb, dkm_precision precision, dkm_dmat **K);

/** Make ready for rows k(new, training) in many batches: the training objects of a rank's columns
 *  are brought to it once, where they take no more than twice its share of the data.
 *
 *  Collective.
 *
 *  @param[in] grid  borrowed; must outlive what is made on it
 *  @param[in] kernel  of the inputs, borrowed
 *  @param[in]  B      training objects, borrowed until dkm_cross_gram_destroy()
 *  @param[in]  nb     block size of the columns
 *  @param[in] precision  of the values
 *  @param[out] cross  new, owned by the caller; NULL on failure */
DKM_NODISCARD dkm_status dkm_cross_gram_create(dkm_grid *grid, const dkm_kernel *kernel,
                                               const dkm_prepared *B, dkm_idx nb,
                                               dkm_precision precision, dkm_cross_gram **cross);
/** K(i, j) = k(a_i, b_j) in blocks of mb x nb, as dkm_gram_cross() would make it, but for the
 *  rounding of sums over rows of 2048 columns and more. Collective. */
DKM_NODISCARD dkm_status dkm_cross_gram_eval(dkm_cross_gram *cross, const dkm_prepared *A,
                                             dkm_idx mb, dkm_dmat **K);
void dkm_cross_gram_destroy(dkm_cross_gram **cross);

/** V <- K V with K = k(X, X) in double, tile by tile, never stored.
 *
 *  Collective. The price of a Gram matrix a call, the memory of a few panels and m x d numbers (at
 *  most 128 MiB of them at a time).
 *
 *  @param[in] grid  borrowed; must outlive what is made on it
 *  @param[in] X  inputs, borrowed
 *  @param[in]     nb    block size of the layout in which ranks share the work
 *  @param[in] d  columns of the product
 *  @param[in,out] rows  this rank's slab of an m x d matrix, row-major, ld = d */
DKM_NODISCARD dkm_status dkm_gram_apply(dkm_grid *grid, const dkm_prepared *X, dkm_idx nb,
                                        dkm_idx d, double *rows);

/** All of the Gram matrix as dense rows in slabs, in double. Collective.
 *
 *  @param[in] grid  borrowed; must outlive what is made on it
 *  @param[in] kernel  of the inputs, borrowed
 *  @param[in] X  inputs, borrowed
 *  @param[in] nb  block size of the tiles
 *  @param[in]  centered  take H K H, H = I - 1 1'/m, instead of K
 *  @param[out] rows      new, owned by the caller; symmetric to the last bit; NULL on failure */
DKM_NODISCARD dkm_status dkm_gram_rows(dkm_grid *grid, const dkm_kernel *kernel,
                                       const dkm_prepared *X, dkm_idx nb, int centered,
                                       dkm_data **rows);

/** Rows of the Gram matrix of this rank's slab, the same to the last bit on any number of ranks
 * (and symmetric up to rounding). Collective.
 *  @param[in] X  inputs, borrowed
 *  @param[out] rows  local rows x m, row-major */
DKM_NODISCARD dkm_status dkm_gram_slab(const dkm_prepared *X, double *rows);

/** A symmetric double matrix, given by its lower triangle, as dense rows in slabs. Collective.
 *
 *  @param[in,out] K     in square blocks; the strict upper triangle may be filled as well
 *  @param[out]    rows  new, owned by the caller; NULL on failure
 */
DKM_NODISCARD dkm_status dkm_gram_to_rows(dkm_dmat *K, dkm_data **rows);

/** values[i] = k(a_i, b_i) for the objects of this rank's slab. Collective.
 *  @param[in] A, B  as many objects each, prepared for the same kernel
 *  @param[out] values  one for each of this rank's pairs */
DKM_NODISCARD dkm_status dkm_kernel_elementwise(const dkm_prepared *A, const dkm_prepared *B,
                                                double *values);

/** values[i] = k(x_i, x_i) for the objects of this rank's slab; NaN where it cannot be known (new
 *  rows of a precomputed Gram matrix). Collective. */
DKM_NODISCARD dkm_status dkm_kernel_diagonal(const dkm_prepared *X, double *values);

/** Means of the rows of a symmetric matrix given by its lower triangle. Collective.
 *  @param[in] K  lower triangle read
 *  @param[out] means  m numbers, the same on every rank */
DKM_NODISCARD dkm_status dkm_gram_means(const dkm_dmat *K, double *means);

/** K <- H K H, H = I - 1 1'/m: the Gram matrix of objects whose mean in feature space is zero.
 *
 *  Collective.
 *
 *  @param[in,out] K      symmetric, lower triangle read and written
 *  @param[out]    means  m numbers, the means of the rows before centering, on every rank: new rows
 *                        need them
 */
DKM_NODISCARD dkm_status dkm_gram_center(dkm_dmat *K, double *means);

/** Centre rows of k(new, training) by the training objects' mean.
 *
 *  Collective. K(i, j) <- K(i, j) - mean of row i - means[j] + mean of means.
 *
 *  @param[in,out] K  rows of new objects; centered
 *  @param[in] means  as dkm_gram_center() gave them */
DKM_NODISCARD dkm_status dkm_gram_center_new(dkm_dmat *K, const double *means);

DKM_API_END

#endif
