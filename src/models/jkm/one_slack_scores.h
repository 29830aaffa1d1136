/** @file one_slack_scores.h  Constraints of one_slack.h as the scores W x that they give the own
 *  examples: scores of any multipliers are sums of those.
 */
#ifndef DKMAP_MODELS_JKM_ONE_SLACK_SCORES_H
#define DKMAP_MODELS_JKM_ONE_SLACK_SCORES_H

#include "models/jkm/one_slack.h"

/** Whether choices of classes say all that a kernel matrix is applied to. Local. */
int dkm_one_slack_is_named(const dkm_joint_map *map, const dkm_output_space *space,
                           const dkm_jkm_settings *settings);

/** Bytes that an example's row of a constraint takes on its way. Local. */
double dkm_one_slack_row_bytes(const dkm_joint_map *map, const dkm_output_space *space,
                               const dkm_jkm_settings *settings);

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
