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
    int one;   /**< a single slack: `joint` holds the constraints, else `cuts` */
    int split; /**< a threshold: right and wrong outputs have constraints of their own */
    int slow;  /**< constraints are looked for with a machine that changes slowly */
    dkm_cutset cuts;
    dkm_onecut joint;
    dkm_idx round;
    double *U, *G;  /**< own examples x r: the machine, and W x */
    int begun;      /**< whether H has been set */
    double *H, *V;  /**< slow: own examples x r, W x of that machine, and what violates it */
    double *slack;  /**< own examples, twice where split: what the constraints so far ask for */
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
/** Sums and the largest of what was found, over all examples. */
typedef struct dkm_jkm_finding {
    double slack;     /**< sum of xi at the machine's true constraints */
    double violation; /**< largest, beyond the slack so far where there are slacks */
    double shortfall; /**< largest, slack or not */
} dkm_jkm_finding;

/** What a constraint asks for: the margin, or half of it beside a threshold. Local. */
double dkm_jkm_asked(const dkm_jkm_loop *loop);

/** Look for the constraints that the present machine violates most. Collective. */
DKM_NODISCARD
dkm_status dkm_jkm_look(dkm_jkm_loop *loop, dkm_jkm_finding *found);

/** Add those that were found, as far as they are violated by @p least or more. Collective. */
DKM_NODISCARD
dkm_status dkm_jkm_add(dkm_jkm_loop *loop, double least);

/** Find a violated constraint of each own example, and how far the most violated one is from being
 *  met. Collective. */
DKM_NODISCARD
dkm_status dkm_jkm_search(dkm_jkm_loop *loop);
void dkm_jkm_loop_close(dkm_jkm_loop *loop);

#endif
