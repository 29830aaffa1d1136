/** @file constraint_set.h  The working set of a cutting-plane solver and its quadratic program.
 *
 *  A structural SVM is trained on a small set of the constraints <w, d_c> >= b_c - xi
 * (Tsochantaridis et al. 2005). Two formulations implement this interface: n-slack (n_slack.c),
 * where every example has a slack and constraints are those of single examples, and 1-slack
 * (one_slack.c), where a constraint sums up one of every example and all share one slack (Joachims
 * et al. 2009).
 *
 *  What takes a number per constraint (right-hand side, multiplier, age) is here, on every rank;
 * the program with its Gram matrix is on rank 0, or spread over the ranks. How a constraint is
 *  represented is the formulation's own.
 */
#ifndef DKMAP_MODELS_JKM_CONSTRAINT_SET_H
#define DKMAP_MODELS_JKM_CONSTRAINT_SET_H

#include "io/archive/archive.h"
#include "models/common/reproducible.h"
#include "models/jkm/joint_map/joint_map.h"
#include "models/jkm/separation_oracle.h"
#include "solvers/qp/distributed.h"

#define DKM_QP_ACCURACY 0.01 /**< tolerance of the QP, relative to that of the iterations */

typedef struct dkm_constraint_set dkm_constraint_set;

/** What the own examples fall short of. */
typedef struct dkm_violations {
    dkm_twosum slack; /**< sum of xi at w */
    double beyond;    /**< largest violation, beyond the slack that the set already requires */
    double most;      /**< largest violation, slack or not */
} dkm_violations;

/** A formulation. */
typedef struct dkm_constraint_ops {
    const char *name;
    /** The slack that constraint c shares with others. Local. */
    dkm_idx (*slack_of)(const dkm_constraint_set *set, dkm_idx c);
    /** U = the weight vector, this rank's examples x r. Collective. */
    dkm_status (*weights)(const dkm_constraint_set *set, double *U);
    /** G = W x of the own examples, x r; U is workspace for the weight vector. Collective. */
    dkm_status (*scores)(dkm_constraint_set *set, double *U, double *G);
    /** By how much the oracle's constraints are violated at those scores. Local. */
    void (*measure)(dkm_constraint_set *set, const double *G, dkm_violations *found);
    /** Add what was measured last, as far as it is violated by @p least. Collective. */
    dkm_status (*add)(dkm_constraint_set *set, double least);
    /** Solve the QP from the last solution, on rank 0. Collective.
     *  @param[in]  objective  about what it will be, to which tolerances are relative
     *  @param[in]  gap        duality gap at which it is solved well enough; 0: to the tolerance */
    dkm_status (*solve)(dkm_constraint_set *set, double objective, double gap, dkm_qp_info *info);
    /** Drop the formulation's part of constraints with keep[c] == 0. Local. */
    void (*keep)(dkm_constraint_set *set, const char *keep);
    /** The formulation's part of a state, and back; n is known. Collective.
     *  @param[out] lent  what the state borrows, to be freed after it was saved */
    dkm_status (*save)(dkm_constraint_set *set, dkm_archive *state, double **lent);
    dkm_status (*load)(dkm_constraint_set *set, const dkm_archive *state);
    /** Free the formulation's part, also of a set that failed half-way. Local. */
    void (*clear)(dkm_constraint_set *set);
} dkm_constraint_ops;

struct dkm_constraint_set {
    const dkm_constraint_ops *ops;
    dkm_ctx *ctx;
    dkm_joint_map *map;
    const dkm_separation_oracle *oracle;
    const dkm_jkm_settings *settings;
    dkm_idx n, capacity;
    dkm_idx *age;     /**< n, iterations since its multiplier was positive */
    double *b, *a;    /**< n, right-hand sides and multipliers */
    double threshold; /**< t of constraints <w, d> + s t >= b; 0 where there is none */
    dkm_qp qp;        /**< on rank 0 */
    dkm_qp_distributed *distributed; /**< who has the rows of its Gram matrix; NULL: rank 0 */
    double *lent[2];                 /**< of a state, while it is saved */
};

/** An empty set; dkm_constraint_set_destroy() frees, and takes NULL. All inputs are borrowed.
 *  Collective.
 *  @return DKM_OK; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_status dkm_n_slack_create(dkm_joint_map *map, const dkm_separation_oracle *oracle,
                                            const dkm_jkm_settings *settings,
                                            dkm_constraint_set **set);
DKM_NODISCARD dkm_status dkm_one_slack_create(dkm_joint_map *map,
                                              const dkm_separation_oracle *oracle,
                                              const dkm_jkm_settings *settings,
                                              dkm_constraint_set **set);
void dkm_constraint_set_destroy(dkm_constraint_set **set);

/** What a constraint requires: the margin, or half of it beside a threshold. Local. */
double dkm_constraint_set_margin(const dkm_constraint_set *set);

/** Solve the QP, broadcast multipliers and threshold, and count ages. Collective. */
DKM_NODISCARD dkm_status dkm_constraint_set_solve(dkm_constraint_set *set, double objective,
                                                  double gap, dkm_qp_info *info);

/** Drop constraints whose multiplier was zero for @p age iterations. Collective. */
DKM_NODISCARD dkm_status dkm_constraint_set_prune(dkm_constraint_set *set, dkm_idx age);

/** Multiply right-hand sides, multipliers and the threshold by @p ratio: the solution of the scaled
 *  program where no budget limits it. Local, with the same arguments on every rank. */
void dkm_constraint_set_rescale(dkm_constraint_set *set, double ratio);

/** ||w||^2, of a w whose dual objective is b'a - 1/2 ||w||^2. Local. */
double dkm_constraint_set_squared_norm(const dkm_constraint_set *set, double objective);

/** The sum of all multipliers, and the largest sum of those that share a slack. Local. */
double dkm_constraint_set_total(const dkm_constraint_set *set);
double dkm_constraint_set_largest_budget(const dkm_constraint_set *set);

/** Add the set with its program to a state, which borrows from it until
 *  dkm_constraint_set_saved(); fill an empty set from a state. Collective. */
DKM_NODISCARD dkm_status dkm_constraint_set_save(dkm_constraint_set *set, dkm_archive *state);
void dkm_constraint_set_saved(dkm_constraint_set *set);
DKM_NODISCARD dkm_status dkm_constraint_set_load(dkm_constraint_set *set, const dkm_archive *state);

/** For formulations: an empty base; capacity for @p count constraints more; a fresh constraint c with
 *  right-hand side b; multipliers from the program of rank 0 to all ranks, with the info of the
 *  solve. The first three are local, the last is collective. */
void dkm_constraint_set_init(dkm_constraint_set *set, dkm_joint_map *map,
                             const dkm_separation_oracle *oracle, const dkm_jkm_settings *settings);
DKM_NODISCARD dkm_local dkm_constraint_set_reserve(dkm_constraint_set *set, dkm_idx count);
void dkm_constraint_set_begin(dkm_constraint_set *set, dkm_idx c, double b);
void dkm_constraint_set_publish(dkm_constraint_set *set, dkm_qp_info *info);

/** The solve of formulations with one slack for all examples: SMO on rank 0. Collective. */
DKM_NODISCARD dkm_status dkm_constraint_set_solve_one_slack(dkm_constraint_set *set,
                                                            double objective, double gap,
                                                            dkm_qp_info *info);

#endif
