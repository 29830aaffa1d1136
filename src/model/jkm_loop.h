/** @file jkm_loop.h  The rounds of a joint kernel map: look, add, solve.
 *
 *  Between rounds all there is to know is the set of constraints with their multipliers, the round
 *  and the epsilon it works at.
 */
#ifndef DKMAP_JKM_LOOP_H
#define DKMAP_JKM_LOOP_H

#include "model/cutset.h"
#include "model/onecut.h"
#include "model/oracle.h"

typedef struct dkm_jkm_loop {
    dkm_ctx *ctx;
    dkm_form *form;
    dkm_oracle *oracle;
    const dkm_jkm_settings *settings;
    int one;  /**< a single slack: `joint` holds the constraints, else `cuts` */
    int slow; /**< constraints are looked for with a machine that changes slowly */
    dkm_cutset cuts;
    dkm_onecut joint;
    dkm_idx round;
    double *U, *G;  /**< own examples x r: the machine, and W x */
    int begun;      /**< whether H has been set */
    double *H, *V;  /**< slow: own examples x r, W x of that machine, and what violates it */
    double *slack;  /**< own examples: what the constraints so far ask for */
    double started; /**< seconds of the clock */
    double told;    /**< seconds since then at the last remark */
    double first_gap;
    double least; /**< smallest of the largest violations of each round, relative to the margin */
    dkm_jkm_info info;
} dkm_jkm_loop;

/** Run rounds until all constraints are met, or the gap is closed. Collective;
 *  dkm_jkm_loop_close() frees, also after a failure. On success U is the machine.
 *  @return DKM_OK; DKM_ERR_MEMORY; DKM_ERR_NUMERIC when no machine meets all constraints */
DKM_NODISCARD
dkm_status dkm_jkm_loop_run(dkm_jkm_loop *loop, dkm_form *form, dkm_oracle *oracle,
                            const dkm_jkm_settings *settings);
/** Find a violated constraint of each own example, and how far the most violated one is from being
 *  met. Collective. */
DKM_NODISCARD
dkm_status dkm_jkm_search(dkm_jkm_loop *loop);
void dkm_jkm_loop_close(dkm_jkm_loop *loop);

#endif
