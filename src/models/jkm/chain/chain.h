/** @file chain.h  Chains: outputs that are label sequences, one label per position of the input.
 *
 *      F(x, y) = sum_t <w(y_t), phi(x, t)> + sum_(t > 0) transition(y_(t-1), y_t)
 *
 *  Two kernels have explicit features phi. Of strings they are one-hot: which character is at each
 *  place of a window around t, what is beyond either end being a character of its own; the inner
 *  product is weighted-degree(degree=1). Of dense rows they are the row: the kernel is linear. Any
 *  other kernel has those of landmarks (emission.h). A weight vector is features x labels numbers,
 *  and labels x labels for the transitions after them.
 */
#ifndef DKMAP_MODELS_JKM_CHAIN_CHAIN_H
#define DKMAP_MODELS_JKM_CHAIN_CHAIN_H

#include <dkmap/jkm.h>

#include "models/common/reproducible.h"
#include "models/jkm/chain/emission.h"
#include "models/jkm/chain/sequences.h"
#include "models/jkm/chain/viterbi.h"

enum { DKM_CHAIN_BYTES = 256, DKM_CHAIN_WINDOW = 9999, DKM_CHAIN_LABELS = 10000 };

/** What a weight vector is about. */
typedef struct dkm_chain_map {
    dkm_type type;   /**< of inputs: strings or dense */
    dkm_idx window;  /**< of strings: characters, odd */
    dkm_idx column;  /**< of dense rows: which has the numbers of sequences */
    dkm_idx n_chars; /**< of strings: different characters of the training inputs */
    double alphabet[DKM_CHAIN_BYTES]; /**< those, ascending */
    dkm_idx features; /**< of a position; 0 where scores come from an emission after training */
    dkm_idx k;        /**< labels */
    double *labels;   /**< k, ascending: their numbers, or characters */
    dkm_type output;  /**< strings or labels */
    char pad;         /**< of windows under a kernel: what is beyond either end */
    dkm_emission emission; /**< under a kernel without explicit features */
} dkm_chain_map;

/** Sequences seen through a map. */
typedef struct dkm_chain {
    dkm_ctx *ctx;
    const dkm_chain_map *map;
    dkm_sequences sequences;
    int32_t *code;  /**< of strings: letters of all own sequences, each with half a window at both
                         ends; `letters` stands for what is beyond, one more for what is new */
    double *table;  /**< of strings: window x (letters + 2) x k, the weights of each code */
    int32_t *truth; /**< training: own positions */
    double *weight; /**< training: own sequences; NULL: all weigh 1 */
    int32_t *path;  /**< own positions: what was found last */
    dkm_viterbi viterbi;
    double *w; /**< weight vector, the same on every rank */
} dkm_chain;

/** Numbers of a weight vector. Local. */
dkm_idx dkm_chain_map_size(const dkm_chain_map *map);
void dkm_chain_map_clear(dkm_chain_map *map);

/** Find the sequences of inputs. Collective; dkm_chain_close() frees, also after a failure. */
DKM_NODISCARD dkm_status dkm_chain_open(dkm_chain *chain, const dkm_chain_map *map,
                                        const dkm_data *X);
/** Make ready to score them, the number of features being known. Local. */
DKM_NODISCARD dkm_local dkm_chain_allocate(dkm_chain *chain);
void dkm_chain_close(dkm_chain *chain);

/** Learn characters, labels and features of training data, and each position's label. Collective.
 *  @param[in,out] map  type, window and column are set
 *  @return DKM_OK; DKM_ERR_ARG for lengths that differ, naming the row; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_status dkm_chain_learn(dkm_chain_map *map, const dkm_data *X, const dkm_data *Y);
DKM_NODISCARD dkm_status dkm_chain_take_truth(dkm_chain *chain, const dkm_data *Y);

/** Weights of training sequences: their slacks cost C times that. Collective.
 *  @param[in] weights  a column of numbers > 0, one per string or row; NULL: all weigh 1
 *  @return DKM_OK; DKM_ERR_ARG for rows of one sequence that differ, naming the row; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_status dkm_chain_take_weights(dkm_chain *chain, const dkm_data *weights);

/** What a sequence's slack costs, relative to C. Local. */
static inline double dkm_chain_weight(const dkm_chain *chain, dkm_idx sequence)
{
    return chain->weight ? chain->weight[sequence] : 1.0;
}

/** G = scores of labels at the own positions, x k, under chain->w. Local. */
void dkm_chain_scores(dkm_chain *chain, double *G);

/** sums += Phi(x, truth) - Phi(x, path), over the own sequences. Local. */
void dkm_chain_add_difference(const dkm_chain *chain, dkm_twosum *sums);

/** Find the best path of each own sequence, with the loss added in where @p loss. Local. */
void dkm_chain_search(dkm_chain *chain, const double *G, int loss);

/** By how much the path of an own sequence, with its loss, scores above its truth, unweighted.
 *  Local. */
double dkm_chain_violation(const dkm_chain *chain, const double *G, dkm_idx sequence);

/** Whether the features of a kernel are explicit for inputs of a type. Local. */
int dkm_chain_is_explicit(dkm_type type, const dkm_kernel *kx);

/** Check settings against inputs, and find the objects that the kernel of a chain is about.
 *  Collective.
 *  @param[out] positions  new, in slabs, owned by the caller; NULL on failure */
DKM_NODISCARD dkm_status dkm_jkm_chain_positions(const dkm_data *X,
                                                 const dkm_jkm_settings *settings,
                                                 dkm_data **positions);

/** Fit. Collective; see dkm_jkm_fit(). */
DKM_NODISCARD dkm_status dkm_jkm_chain_fit(dkm_ctx *ctx, const dkm_data *X, const dkm_data *Y,
                                           const dkm_kernel *kx, const dkm_jkm_settings *settings,
                                           dkm_model **model, dkm_jkm_info *info);

/** A chain after training. */
typedef struct dkm_jkm_chain {
    dkm_ctx *ctx;
    dkm_chain_map map;
    double *w; /**< of transitions alone where there is an emission */
    char *kx;
    double C;
    uint64_t fingerprint; /**< of what it was trained on, while it is */
} dkm_jkm_chain;

/** Find the sequences of new inputs and the scores of their labels. Collective; the caller closes
 *  @p chain and frees @p G, also after a failure.
 *  @param[out] G  new, own positions x k */
DKM_NODISCARD dkm_status dkm_jkm_chain_score(dkm_jkm_chain *model, const dkm_data *X,
                                             dkm_chain *chain, double **G);

/** Prediction sets, see dkm_model_class. Collective. */
DKM_NODISCARD dkm_status dkm_jkm_chain_residuals(void *state, const dkm_data *X, const dkm_data *Y,
                                                 dkm_data **R);
DKM_NODISCARD dkm_status dkm_jkm_chain_open_sets(void *state, dkm_type *type, dkm_idx *cols);
DKM_NODISCARD dkm_status dkm_jkm_chain_prediction_sets(void *state, const dkm_data *X,
                                                       const double *radius, dkm_data **S);

/** Free the model and all it has. Local. */
void dkm_jkm_chain_destroy(void *state);

#endif
