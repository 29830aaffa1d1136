/** @file joint_map_matrix.h  The kernel matrix K of the training inputs in two dimensions, and its
 *  products K U, the same to the last bit on any number of ranks and any grid.
 *
 *  On a grid of R x C ranks, all of them, a rank has the rows of K of the slabs of its grid row, and
 *  a range of columns: about m^2 / (R C) numbers.
 */
#ifndef DKMAP_MODELS_JKM_JOINT_MAP_JOINT_MAP_MATRIX_H
#define DKMAP_MODELS_JKM_JOINT_MAP_JOINT_MAP_MATRIX_H

#include <dkmap/grid.h>
#include <dkmap/kernel.h>

#include "kernels/gram/gram.h"

#define DKM_JOINT_MAP_OBJECT_EXTRA 16.0 /**< bytes of an input on its way, beside its entries */

/** What the shape of the grid is chosen for. */
typedef struct dkm_joint_map_load {
    double m, r;         /**< examples, coordinates of an output */
    double object_bytes; /**< of an input on its way */
    double row_bytes;    /**< of what tells an example's row of a weight vector */
    double products;     /**< expected */
} dkm_joint_map_load;

/** The shape R x C of all @p size ranks that sends least; of those with which columns are
 *  spread evenly.
 *  Local. */
void dkm_joint_map_matrix_shape(int size, const dkm_joint_map_load *load, int *R, int *C);

/** Bytes that a rank sends for the matrix, and for each product, on average. Local. */
double dkm_joint_map_matrix_bytes(const dkm_joint_map_load *load, int R, int C);
double dkm_joint_map_product_bytes(const dkm_joint_map_load *load, int R, int C);

/** Columns of the fullest of C grid columns, of m. Local. */
double dkm_joint_map_matrix_columns(double m, int C);

/** Bytes that tell choices from -1 to @p count - 1 apart. Local. */
int dkm_joint_map_choice_bytes(dkm_idx count);

typedef struct dkm_joint_map_matrix {
    dkm_ctx *ctx;
    dkm_grid *grid;
    dkm_idx m;
    dkm_range slab, rows, cols; /**< of this rank: its examples, its part of K */
    dkm_range dealt; /**< of its columns those whose rows of U it hands to its grid column */
    double *K;       /**< rows x cols, row-major */
    double norm;     /**< at least the largest sum of sizes of a row of K */
    int32_t *truth;  /**< cols: right classes of examples, once they were asked for */
} dkm_joint_map_matrix;

/** Make K. Collective; dkm_joint_map_matrix_destroy() frees, and takes NULL.
 *  @param[in] R, C  the grid; where it does not have all ranks, all x 1
 *  @return DKM_OK; DKM_ERR_MEMORY, also when K would not fit into the memory of the nodes;
 *          DKM_ERR_NUMERIC when kernel values are not finite */
DKM_NODISCARD dkm_status dkm_joint_map_matrix_create(const dkm_prepared *X, int R, int C,
                                                     dkm_joint_map_matrix **matrix);
void dkm_joint_map_matrix_destroy(dkm_joint_map_matrix **matrix);

/** A weight vector whose row of example i is unit (e_truth - e_choice), or zero where the choice is
 *  below 0. */
typedef struct dkm_joint_map_choices {
    const dkm_idx *truth;  /**< this rank's examples; the same in every call */
    const int32_t *choice; /**< this rank's examples */
    dkm_idx count;         /**< classes */
    double unit;
} dkm_joint_map_choices;

/** G = K U. Collective.
 *  @param[in]  U  this rank's examples x r
 *  @param[out] G  this rank's examples x r */
DKM_NODISCARD dkm_status dkm_joint_map_matrix_multiply(dkm_joint_map_matrix *matrix, dkm_idx r,
                                                       const double *U, double *G);

/** The same of a weight vector that choices tell, r = their count. Collective. */
DKM_NODISCARD dkm_status dkm_joint_map_matrix_multiply_choices(dkm_joint_map_matrix *matrix,
                                                               const dkm_joint_map_choices *choices,
                                                               double *G);

#endif
