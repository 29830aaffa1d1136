/** @file one_slack_scores.h  Constraints of one_slack.h as the scores W x that they give the own
 *  examples: scores of any multipliers are sums of those.
 */
#ifndef DKMAP_MODELS_JKM_ONE_SLACK_SCORES_H
#define DKMAP_MODELS_JKM_ONE_SLACK_SCORES_H

#include "models/jkm/one_slack.h"

/** One number of each example, from its rank to all. Collective.
 *  @param[in]  mine  this rank's examples
 *  @param[out] all   m */
DKM_NODISCARD dkm_status dkm_one_slack_gather(const dkm_one_slack *s, const int32_t *mine,
                                              int32_t *all);

/** The classes of all examples, once. Collective. */
DKM_NODISCARD dkm_status dkm_one_slack_learn_truth(dkm_one_slack *s);

/** Whether there is memory for the scores of one constraint more. Local, the same on all ranks. */
int dkm_one_slack_scores_fit(const dkm_one_slack *s);

/** Scores of constraint @p k, from its choices where s->named, else from its rows U, which may be
 *  NULL otherwise. Collective.
 *  @param[out] G  this rank's examples x r */
DKM_NODISCARD dkm_status dkm_one_slack_scores_make(dkm_one_slack *s, dkm_idx k, const double *U,
                                                   double *G);

/** G += the scores that are kept, times their multipliers. Local. */
void dkm_one_slack_scores_add(const dkm_one_slack *s, double *G);

#endif
