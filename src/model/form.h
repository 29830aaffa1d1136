/** @file form.h  Joint kernels that are linear in the coordinates z of outputs.
 *
 *      J((x, z), (x', z')) = sum_p m_p(x, x') z_p z'_p
 *                                + identity <x, z> <x', z'>
 *      m_p = K(x, x') + diagonal x_p x'_p + sum over patch terms of weight s_p(x, x')
 *
 *  A machine w = sum_i Phi(x_i, u_i) is kept as one row u_i an example; its value at new inputs is
 *  W x = sum_i m(x_i, x) o u_i + identity <x_i, u_i> x, without ever forming W. Where K is linear
 * on dense rows of fewer features than there are examples, that part goes through the features
 * instead of K.
 */
#ifndef DKMAP_FORM_H
#define DKMAP_FORM_H

#include "kernel/joint_impl.h"
#include "kernel/partition.h"
#include "model/base.h"

typedef enum dkm_form_kernel { DKM_FORM_NONE, DKM_FORM_GRAM, DKM_FORM_PRIMAL } dkm_form_kernel;

typedef struct dkm_form_patch {
    double weight;
    dkm_partition cells;
} dkm_form_patch;

/** Stretches of p letters of inputs, each with the place of the output at its middle. */
typedef struct dkm_form_strings {
    double weight;
    dkm_idx p;
    dkm_idx count;   /**< different stretches of the training inputs */
    uint64_t *code;  /**< count, ascending */
    int32_t *window; /**< training inputs of this rank x places: which one, or -1 */
} dkm_form_strings;

typedef struct dkm_form {
    dkm_base base; /**< of the inputs */
    dkm_form_kernel kernel;
    dkm_idx m, r; /**< examples, coordinates of an output */
    double diagonal, identity;
    dkm_idx patches;
    dkm_form_patch *patch;
    dkm_idx stretches; /**< terms of strings */
    dkm_form_strings *strings;
    dkm_idx places;  /**< of strings: r = places x letters */
    dkm_data *K;     /**< training, GRAM: rows of K in slabs */
    double *columns; /**< training, PRIMAL: this rank's share of the features of all examples */
    double *W;       /**< PRIMAL: features x r, of the last machine applied */
} dkm_form;

/** Some constraints: the example of each and its row of coordinates. */
typedef struct dkm_form_rows {
    dkm_idx count;
    const dkm_idx *example;
    const double *V; /**< count x r */
} dkm_form_rows;

/** Set up for training inputs, which are taken over (nulled, also on failure). Collective;
 *  dkm_form_close() frees, also after a failure.
 *
 *  @param[in] kernels  as dkm_joint_resolve() worked them out
 *  @param[in] places   0, or by how many places of strings coordinates are sorted
 *  @param[in] r        coordinates of an output
 *  @return DKM_OK; DKM_ERR_ARG when the shape of patches, or the width of inputs, is not r */
DKM_NODISCARD
dkm_status dkm_form_open(dkm_form *form, dkm_data **X, const dkm_joint *joint,
                         const dkm_joint_kernels *kernels, dkm_idx places, dkm_idx r,
                         const dkm_layout *layout);
void dkm_form_close(dkm_form *form);

/** Make ready to apply machines to the training inputs themselves. Collective.
 *  @return DKM_OK; DKM_ERR_MEMORY, also when K would not fit into the memory of the nodes */
DKM_NODISCARD
dkm_status dkm_form_train(dkm_form *form);

/** G = W x of every input of @p A, or of the training inputs where A is NULL. Collective.
 *
 *  @param[in]  U  this rank's slab of the machine, m x r
 *  @param[out] G  this rank's inputs x r */
DKM_NODISCARD
dkm_status dkm_form_apply(dkm_form *form, const dkm_data *A, const double *U, double *G);

/** out(a, b) = <Phi(x_a, v_a), Phi(x_b, v_b)> for constraints a and b. Collective.
 *
 *  @param[in]  A    the same on every rank, examples counted from the first of all
 *  @param[in]  B    of this rank's own examples, counted from its first
 *  @param[out] out  A.count x B.count, row-major */
DKM_NODISCARD
dkm_status dkm_form_gram(dkm_form *form, dkm_form_rows A, dkm_form_rows B, double *out);

#endif
