/** @file joint_map.h  Joint kernels that are linear in the coordinates z of outputs.
 *
 *      J((x, z), (x', z')) = sum_p m_p(x, x') z_p z'_p
 *                                + identity <x, z> <x', z'>
 *      m_p = K(x, x') + diagonal x_p x'_p + sum over patch terms of weight s_p(x, x')
 *
 *  A weight vector w = sum_i Phi(x_i, u_i) is stored as one row u_i per example; its value at new
 * inputs is W x = sum_i m(x_i, x) o u_i + identity <x_i, u_i> x, without ever forming W. Where K is
 * linear on dense rows of fewer features than there are examples, that part goes through the
 * features instead of K.
 */
#ifndef DKMAP_MODELS_JKM_JOINT_MAP_JOINT_MAP_H
#define DKMAP_MODELS_JKM_JOINT_MAP_JOINT_MAP_H

#include "kernels/joint/joint_impl.h"
#include "kernels/joint/patches.h"
#include "models/common/fitted_kernel.h"
#include "models/jkm/joint_map/joint_map_matrix.h"

typedef enum dkm_joint_map_kernel {
    DKM_JOINT_MAP_NONE,
    DKM_JOINT_MAP_GRAM,
    DKM_JOINT_MAP_PRIMAL
} dkm_joint_map_kernel;

typedef struct dkm_joint_map_patch {
    double weight;
    dkm_patches cells;
} dkm_joint_map_patch;

/** K-mers of p characters of inputs, each with the place of the output at its middle. */
typedef struct dkm_joint_map_strings {
    double weight;
    dkm_idx p;
    dkm_idx count;   /**< different k-mers of the training inputs */
    uint64_t *code;  /**< count, ascending */
    int32_t *window; /**< training inputs of this rank x positions: which one, or -1 */
} dkm_joint_map_strings;

typedef struct dkm_joint_map {
    dkm_fitted_kernel fitted; /**< of the inputs */
    dkm_joint_map_kernel kernel;
    dkm_idx m, r; /**< examples, coordinates of an output */
    double diagonal, identity;
    dkm_idx patches;
    dkm_joint_map_patch *patch;
    dkm_idx string_terms; /**< terms of strings */
    dkm_joint_map_strings *strings;
    dkm_idx positions;            /**< of strings: r = positions x characters */
    dkm_data *K;                  /**< training, GRAM: rows of K in slabs, or */
    dkm_joint_map_matrix *matrix; /**< K in two dimensions */
    double *
        columns; /**< training, PRIMAL: this rank's share of the features of all examples, once rows
                          of coordinates were applied */
    double *W;   /**< PRIMAL: features x r, of the last weight vector applied */
} dkm_joint_map;

/** Some constraints: the example of each and its row of coordinates. */
typedef struct dkm_joint_map_rows {
    dkm_idx count;
    const dkm_idx *example;
    const double *V; /**< count x r */
} dkm_joint_map_rows;

/** Set up for training inputs, which are taken over (nulled, also on failure). Collective;
 *  dkm_joint_map_close() frees, also after a failure.
 *
 *  @param[in] kernels  as dkm_joint_resolve() worked them out
 *  @param[in] positions   0, or by how many positions of strings coordinates are sorted
 *  @param[in] r        coordinates of an output
 *  @return DKM_OK; DKM_ERR_ARG when the shape of patches, or the width of inputs, is not r */
DKM_NODISCARD dkm_status dkm_joint_map_open(dkm_joint_map *map, const dkm_data *X,
                                            const dkm_joint *joint,
                                            const dkm_joint_kernels *kernels, dkm_idx positions,
                                            dkm_idx r, const dkm_layout *layout);
void dkm_joint_map_close(dkm_joint_map *map);

/** Whether inputs enter by a kernel alone. Local. */
int dkm_joint_map_is_kernel(const dkm_joint_map *map);

/** Make ready to apply weight vectors to the training inputs themselves. Collective.
 *  @param[in] products  NULL: K, where it is needed, in rows, for dkm_joint_map_gram() as well; else in two
 *                       dimensions, for as many products of such rows (the other fields are set here)
 *  @param[in] layout    the grid of the latter, or zeros
 *  @return DKM_OK; DKM_ERR_MEMORY, also when K would not fit into the memory of the nodes;
 *          DKM_ERR_NUMERIC */
DKM_NODISCARD dkm_status dkm_joint_map_train(dkm_joint_map *map, dkm_joint_map_load *products,
                                             const dkm_layout *layout);

/** G = W x of every input of @p A, or of the training inputs where A is NULL. Collective.
 *
 *  @param[in]  U  this rank's slab of the weight vector, m x r
 *  @param[out] G  this rank's inputs x r */
DKM_NODISCARD dkm_status dkm_joint_map_apply(dkm_joint_map *map, const dkm_data *A, const double *U,
                                             double *G);

/** out(a, b) = <Phi(x_a, v_a), Phi(x_b, v_b)> for constraints a and b, of maps that were not trained for
 *  products alone. Collective.
 *
 *  @param[in]  A    the same on every rank, examples counted from the first of all
 *  @param[in]  B    of this rank's own examples, counted from its first
 *  @param[out] out  A.count x B.count, row-major */
DKM_NODISCARD dkm_status dkm_joint_map_gram(dkm_joint_map *map, dkm_joint_map_rows A,
                                            dkm_joint_map_rows B, double *out);

#endif
