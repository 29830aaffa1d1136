/** @file cost_model.h  Bytes, operations and seconds of the parts that fits are made of.
 *
 *  A method's estimate fills in the terms, adds the phases that it goes through, and sums up.
 */
#ifndef DKMAP_MODELS_COMMON_COST_MODEL_H
#define DKMAP_MODELS_COMMON_COST_MODEL_H

#include <dkmap/estimate.h>
#include <dkmap/landmarks.h>
#include <dkmap/ridge_path.h>

/** What phases depend on. */
/** Products of a Gram matrix in two dimensions with weight vectors, of the fullest rank. */
typedef struct dkm_cost_products {
    double rows, cols;  /**< of the matrix on the rank; 0: a slab of rows */
    double matrix_sent; /**< bytes, to make it */
    double sent;        /**< bytes, for each product */
} dkm_cost_products;

typedef struct dkm_cost_terms {
    dkm_workload work;
    const dkm_rates *rates; /**< NULL where they are not known */
    dkm_idx outputs;        /**< right-hand sides of the ridge system, coordinates of a joint map */
    dkm_idx components;     /**< wanted eigenpairs; 0 is all */
    int mixed;              /**< factor in single precision beside the double matrix */
    int recomputed;         /**< without that matrix, which is computed anew for each product */
    dkm_idx constraints;    /**< that a joint map ends with */
    int primal; /**< it goes through the features of its inputs, without a Gram matrix */
    int kept;   /**< scores of its constraints are kept: one application per iteration */
    int named;  /**< one number per example tells a constraint */
    dkm_cost_products products; /**< with its Gram matrix in two dimensions, or 0 */
    dkm_idx landmarks;          /**< of a fit on landmarks, and how they are chosen */
    dkm_landmark_method choice;
    int values_recomputed; /**< kernel values to them are computed anew in every step, not stored */
    int single;            /**< they are of single precision */
    int all_centers;       /**< the landmarks precondition the system of all inputs */
    dkm_idx gammas; /**< that a ridge path has, with errors of each where there are several */
    int errors;
    dkm_path_solver solver; /**< of the path */
} dkm_cost_terms;

/** A phase that takes so many bytes on the fullest rank; seconds are NaN where unknown. */
void dkm_cost_add_phase(dkm_cost *cost, const char *name, double bytes, double flops,
                        double seconds);
/** The diagonal of a Gram matrix, on every rank. */
void dkm_cost_add_diagonal(dkm_cost *cost, const dkm_cost_terms *terms, const char *name,
                           double held, double cols);
/** A Gram matrix of objects of @p bytes and @p cols numbers each, with @p held bytes beside it. */
void dkm_cost_add_gram(dkm_cost *cost, const dkm_cost_terms *terms, const char *name, double held,
                       double bytes, double cols);
/** Whether a fit in mixed precision computes the double matrix anew, as it does not fit beside the factor. */
int dkm_cost_recomputes(const dkm_cost_terms *terms);
/** A Cholesky factor, and solving with it. */
void dkm_cost_add_ridge(dkm_cost *cost, const dkm_cost_terms *terms, double held);
/** Ridge regression on landmarks by conjugate gradients, from their choice to the last step. */
void dkm_cost_add_pcg(dkm_cost *cost, const dkm_cost_terms *terms, double held);
/** A factor and its solves in double, as one phase: the exact fit that another is compared with. */
void dkm_cost_add_comparison(dkm_cost *cost, const dkm_cost_terms *terms, double held);
/** A ridge path of rows of @p columns numbers, by their normal matrix. */
void dkm_cost_add_primal(dkm_cost *cost, const dkm_cost_terms *terms, double columns, double held);
/** A ridge path under the Nystroem kernel of landmarks, from their choice to the last gamma. */
void dkm_cost_add_nystroem(dkm_cost *cost, const dkm_cost_terms *terms, double held);
/** How landmarks are chosen. */
void dkm_cost_add_landmark_choice(dkm_cost *cost, const dkm_cost_terms *terms, double held);
/** Principal components of that kernel, once the landmarks are chosen. */
void dkm_cost_add_landmark_components(dkm_cost *cost, const dkm_cost_terms *terms, double held);
/** Whether kernel values to landmarks are of single precision. */
int dkm_cost_single_values(dkm_ridge_precision precision, dkm_idx m);
/** Leading or all eigenpairs. */
void dkm_cost_add_eigen(dkm_cost *cost, const dkm_cost_terms *terms, double held);
/** The cutting-plane method of a joint map. */
void dkm_cost_add_cutting_plane(dkm_cost *cost, const dkm_cost_terms *terms, double held);

/** Bytes of an array that every rank has all of, which the plan names. */
double dkm_cost_replicate(dkm_cost *cost, const char *name, double bytes);

/** Bytes of a rank's examples, of its share of one row of @p bytes per example, and of the
 *  examples' coordinates along components. */
double dkm_cost_data(const dkm_cost_terms *terms);
double dkm_cost_rows(const dkm_cost_terms *terms, double bytes);
double dkm_cost_coordinates(const dkm_cost_terms *terms);

/** Bytes of a rank's rows without the means of their columns, which the kernel keeps beside dense
 *  rows far from the origin. Whether they are is not known before they are read. */
double dkm_cost_shifted_rows(const dkm_cost_terms *terms, const dkm_kernel *kernel, dkm_type type,
                             dkm_idx cols);

/** Peak and totals, once all phases are there, and the time of messages between nodes. */
void dkm_cost_sum_up(dkm_cost *cost, const dkm_cost_terms *terms);

#endif
