/** @file example_weights.h  Weights of examples: an example of weight 2 counts as two.
 *
 *  With W = diag(w) and S = W^1/2, weighted ridge regression (K + gamma W^-1) A = Y is the plain one
 *  (S K S + gamma I) B = S Y with A = S B: kernel matrices and right-hand sides are scaled by the
 *  roots of the weights, and every solver stays as it is. Replicated: m numbers.
 */
#ifndef DKMAP_MODELS_COMMON_EXAMPLE_WEIGHTS_H
#define DKMAP_MODELS_COMMON_EXAMPLE_WEIGHTS_H

#include "models/common/cost_model.h"
#include "models/common/fitted_kernel.h"
#include "models/registry/settings_impl.h"

typedef struct dkm_example_weights {
    dkm_ctx *ctx;
    dkm_idx m, first; /**< examples, and the first of this rank */
    double total;     /**< sum of the weights */
    dkm_idx count;    /**< examples that weigh anything */
    double *root;     /**< of each example, the square root of its weight; NULL: all weigh 1 */
} dkm_example_weights;

/** The rows of the table of settings. */
#define DKM_ROW_WEIGHTS                                                                            \
    {                                                                                              \
        .name = "weights", .kind = DKM_SETTING_DATA, .metavar = "FILE",                            \
        .help = "a number > 0 per example: one of weight 2 counts as two"                          \
    }
#define DKM_ROW_CLASS_WEIGHTS                                                                      \
    {                                                                                              \
        .name = "class-weights", .kind = DKM_SETTING_CHOICE, .metavar = "WORD",                    \
        .choices = "none|balanced|", .default_text = "none",                                       \
        .help = "balanced: examples of a class weigh m / (classes x its examples), so that all "   \
                "classes count alike; times --weights"                                             \
    }

/** The weights that settings ask for: of --weights, times those of --class-weights where the method
 *  has it. Collective.
 *
 *  @param[in]  Y        outputs; may be NULL
 *  @param[in]  m        examples
 *  @param[out] weights  new column of @p m numbers, owned by the caller; NULL where none are asked
 *                       for, or all are 1
 *  @return DKM_OK; DKM_ERR_ARG for another number of rows, more than one column, and numbers that
 *          are not above 0 and finite (the row is named); DKM_ERR_UNSUPPORTED for weights of classes
 *          where outputs are no labels */
DKM_NODISCARD dkm_status dkm_read_weights(dkm_ctx *ctx, const dkm_settings *settings,
                                          const dkm_data *Y, dkm_idx m, dkm_data **weights);
/** The same for vertices of a graph, where 0 stands for an output that is not known. */
DKM_NODISCARD dkm_status dkm_read_vertex_weights(dkm_ctx *ctx, const dkm_settings *settings,
                                                 const dkm_data *Y, dkm_idx m, dkm_data **weights);

/** Bytes per rank of @p vectors numbers per example, where settings ask for weights; else 0. The plan
 *  names them. Local. */
double dkm_example_weights_estimate(const dkm_settings *settings, dkm_idx m, double vectors,
                                    dkm_cost *cost);

/** Weights of all examples on every rank. Collective.
 *  @param[out] all  new array; DKM_FREE() frees it; NULL on failure */
DKM_NODISCARD dkm_status dkm_example_weights_gather(const dkm_data *weights, double **all);

/** Roots of weights on every rank. Collective; dkm_example_weights_close() frees, also after a
 *  failure.
 *  @param[in] weights  a column of numbers > 0, or NULL: all weigh 1 */
DKM_NODISCARD dkm_status dkm_example_weights_open(dkm_example_weights *w, dkm_ctx *ctx,
                                                  const dkm_data *weights);
void dkm_example_weights_close(dkm_example_weights *w);

/** Roots of this rank's examples; NULL where all weigh 1. Local. */
static inline const double *dkm_example_roots(const dkm_example_weights *w)
{
    return w->root ? w->root + w->first : NULL;
}

/** Gram matrices of the training inputs are S K S from now on, or K where @p w is NULL. Local; @p w
 *  is borrowed until then. */
void dkm_example_weights_apply(const dkm_example_weights *w, const dkm_fitted_kernel *fitted);

/** Rows, or columns, of a distributed matrix times the roots; rows divided by them, 0 where a root is
 *  0. Local. */
void dkm_example_weights_scale(const dkm_example_weights *w, dkm_dmat *B);
void dkm_example_weights_scale_cols(const dkm_example_weights *w, dkm_dmat *K);
void dkm_example_weights_unscale(const dkm_example_weights *w, dkm_dmat *B);

/** Dense or sparse rows times the roots. Collective.
 *  @param[out] scaled  new, owned by the caller; NULL on failure and where all weigh 1 */
DKM_NODISCARD dkm_status dkm_example_weights_scale_rows(const dkm_example_weights *w,
                                                        const dkm_data *X, dkm_data **scaled);

#endif
