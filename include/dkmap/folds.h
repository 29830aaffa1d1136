/** @file folds.h  Examples dealt out to folds at random, the same on any number of ranks.
 *
 *  Examples are shuffled by numbers that depend on the seed and the place of the example alone, and
 *  dealt to the folds in turn: sizes differ by one at the most. Where examples have classes they
 *  are dealt class after class, so that the members of a class are spread as evenly.
 *
 *  Groups of examples that must stay together are dealt whole, the largest first, each to the fold
 *  where the shares of the classes stay most even.
 */
#ifndef DKMAP_FOLDS_H
#define DKMAP_FOLDS_H

#include <dkmap/data.h>

DKM_API_BEGIN

/** Deal some examples to folds. Local; the same on every rank.
 *
 *  @param[in] ctx  of all ranks that call, borrowed
 *  @param[in]  stream   of random numbers: another one, another deal
 *  @param[in]  count    of examples to deal, at least as many as folds
 *  @param[in]  rows     which they are; NULL: 0, 1, 2, ...
 *  @param[in]  classes  of all examples, by their place among all; NULL: there are none
 *  @param[in] folds  how many, at most as many as examples
 *  @param[out] fold     one of 0 .. folds-1 for each of @p rows
 *  @return ok; DKM_ERR_ARG for fewer than 2 folds or fewer examples than folds (both are named);
 *          DKM_ERR_MEMORY */
DKM_NODISCARD dkm_local dkm_folds_assign(dkm_ctx *ctx, uint64_t stream, dkm_idx count,
                                         const dkm_idx *rows, const double *classes, dkm_idx folds,
                                         dkm_idx *fold);

/** Deal groups of examples to folds: those with equal keys stay together. Local; the same on every
 *  rank.
 *
 *  A group with g_c of the N_c examples of class c goes to the fold f where
 *  sum_c ((n_fc + g_c)^2 - n_fc^2) / N_c^2 is least, n_fc being those already there.
 *
 *  @param[in] ctx  of all ranks that call, borrowed
 *  @param[in] stream  of the random numbers
 *  @param[in] count  of examples that are dealt
 *  @param[in] rows  their numbers among all examples
 *  @param[in] classes  of all examples, or NULL
 *  @param[in] keys  of all examples, by their place among all; the others as of dkm_folds_assign()
 *  @param[in] folds  how many, at most as many as groups
 *  @param[out] fold  of each of the rows
 *  @return ok; DKM_ERR_ARG for fewer groups than folds; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_local dkm_folds_assign_groups(dkm_ctx *ctx, uint64_t stream, dkm_idx count,
                                                const dkm_idx *rows, const double *classes,
                                                const double *keys, dkm_idx folds, dkm_idx *fold);

/** How many folds there are in fold numbers of examples. Collective.
 *
 *  @param[in]  fold   labels or a column of numbers: whole, from 1 on, none left out
 *  @param[out] folds  at least 2
 *  @return DKM_OK; DKM_ERR_ARG naming the row or the fold that is wrong; DKM_ERR_MEMORY
 */
DKM_NODISCARD dkm_status dkm_folds_count(const dkm_data *fold, dkm_idx *folds);

/** The class with the fewest members, the first of several. Local.
 *
 *  @param[in] ctx  of all ranks that call, borrowed
 *  @param[in] m  examples of all ranks
 *  @param[in]  classes  of @p m examples, m > 0
 *  @param[out] smallest  the class with the fewest examples
 *  @param[out] members  how many it has */
DKM_NODISCARD dkm_local dkm_folds_smallest(dkm_ctx *ctx, dkm_idx m, const double *classes,
                                           double *smallest, dkm_idx *members);

/** The class of every example, on every rank. Collective.
 *
 *  @param[in] Y  outputs, borrowed
 *  @param[out] classes  new array for dkm_folds_free(); NULL for outputs that are not labels */
DKM_NODISCARD dkm_status dkm_folds_classes(const dkm_data *Y, double **classes);
/** A number for every example, on every rank, equal where labels, numbers of a column or strings
 *  are. Collective.
 *
 *  @param[in] data  groups of all examples, one each
 *  @param[out] keys  new array for dkm_folds_free(); NULL on failure
 *  @return DKM_OK; DKM_ERR_UNSUPPORTED for other objects; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_status dkm_folds_keys(const dkm_data *data, double **keys);
void dkm_folds_free(double **classes);

DKM_API_END

#endif
