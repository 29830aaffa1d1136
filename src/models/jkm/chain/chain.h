/** @file chain.h  Chains: outputs that are label sequences, one label per position of the input.
 *
 *      F(x, y) = sum_t <w(y_t), phi(x, t)> + sum_(t > 0) transition(y_(t-1), y_t)
 *
 *  phi is explicit. Of strings it is one-hot: which character is at each place of a window around
 *  t, what is beyond either end being a character of its own; its inner product is
 *  weighted-degree(degree=1). Of dense rows it is the row: the kernel is linear. A weight vector is
 *  features x labels numbers, and labels x labels for the transitions after them.
 */
#ifndef DKMAP_MODELS_JKM_CHAIN_CHAIN_H
#define DKMAP_MODELS_JKM_CHAIN_CHAIN_H

#include <dkmap/jkm.h>

#include "models/common/reproducible.h"
#include "models/jkm/chain/sequences.h"
#include "models/jkm/chain/viterbi.h"

enum { DKM_CHAIN_BYTES = 256, DKM_CHAIN_WINDOW = 9999 };

/** What a weight vector is about. */
typedef struct dkm_chain_map {
    dkm_type type;   /**< of inputs: strings or dense */
    dkm_idx window;  /**< of strings: characters, odd */
    dkm_idx column;  /**< of dense rows: which has the numbers of sequences */
    dkm_idx letters; /**< of strings: different characters of the training inputs */
    double alphabet[DKM_CHAIN_BYTES]; /**< those, ascending */
    dkm_idx features;
    dkm_idx k;       /**< labels */
    double *labels;  /**< k, ascending: their numbers, or characters */
    dkm_type output; /**< strings or labels */
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
    int32_t *path;  /**< own positions: what was found last */
    dkm_viterbi viterbi;
    double *w; /**< weight vector, the same on every rank */
} dkm_chain;

/** Numbers of a weight vector. Local. */
dkm_idx dkm_chain_map_size(const dkm_chain_map *map);
void dkm_chain_map_clear(dkm_chain_map *map);

/** Make ready to score sequences. Collective; dkm_chain_close() frees, also after a failure. */
DKM_NODISCARD dkm_status dkm_chain_open(dkm_chain *chain, const dkm_chain_map *map,
                                        const dkm_data *X);
void dkm_chain_close(dkm_chain *chain);

/** Learn characters, labels and features of training data, and each position's label. Collective.
 *  @param[in,out] map  type, window and column are set
 *  @return DKM_OK; DKM_ERR_ARG for lengths that differ, naming the row; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_status dkm_chain_learn(dkm_chain_map *map, const dkm_data *X, const dkm_data *Y);
DKM_NODISCARD dkm_status dkm_chain_take_truth(dkm_chain *chain, const dkm_data *Y);

/** G = scores of labels at the own positions, x k, under chain->w. Local. */
void dkm_chain_scores(dkm_chain *chain, double *G);

/** sums += Phi(x, truth) - Phi(x, path), over the own sequences. Local. */
void dkm_chain_add_difference(const dkm_chain *chain, dkm_twosum *sums);

/** Find the best path of each own sequence, with the loss added in where @p loss. Local. */
void dkm_chain_search(dkm_chain *chain, const double *G, int loss);

/** By how much the path of an own sequence, with its loss, scores above its truth. Local. */
double dkm_chain_violation(const dkm_chain *chain, const double *G, dkm_idx sequence);

/** Fit. Collective; see dkm_jkm_fit(). */
DKM_NODISCARD dkm_status dkm_jkm_chain_fit(dkm_ctx *ctx, const dkm_data *X, const dkm_data *Y,
                                           const dkm_kernel *kx, const dkm_jkm_settings *settings,
                                           dkm_model **model, dkm_jkm_info *info);

/** A chain after training. */
typedef struct dkm_jkm_chain {
    dkm_ctx *ctx;
    dkm_chain_map map;
    double *w;
    char *kx;
    double C;
} dkm_jkm_chain;

/** Free the model and all it has. Local. */
void dkm_jkm_chain_destroy(void *state);

#endif
