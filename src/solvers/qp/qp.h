/** @file qp.h  The quadratic programs of support vector machines, grown a few constraints at a
 * time.
 *
 *      maximize   b'a - 1/2 a'G a   subject to   a >= 0
 *      and, with a budget C,   sum of a over a group <= C   for every group
 *
 *  G is the Gram matrix of constraints <w, d_c> >= b_c, w = sum a_c d_c; a group is an example
 *  (one slack each) or all constraints (one slack). A program lives on one rank and is solved there
 *  with its last solution as the start: what comes out depends on G, b and the history alone. Rows
 *  of G may be stored elsewhere (distributed.h); they are asked for as they are needed.
 */
#ifndef DKMAP_SOLVERS_QP_QP_H
#define DKMAP_SOLVERS_QP_QP_H

#include <dkmap/context.h>

/** How to come by rows of G that are not here. */
typedef struct dkm_qp_row_provider {
    void *user;
    void (*row)(void *user, dkm_idx c, double *row);         /**< of n numbers */
    void (*times)(void *user, const double *a, double *out); /**< out = G a */
    double *diagonal;                                        /**< n */
    /* rows that were asked for lately, while a program is solved */
    dkm_idx slots, clock;
    dkm_idx *holds, *used; /**< slots: whose row, -1 for none, and when it was asked for */
    dkm_idx *slot;         /**< n: where the row is, or -1 */
    double *rows;          /**< slots x n */
} dkm_qp_row_provider;

typedef struct dkm_qp {
    dkm_ctx *ctx;
    dkm_idx n, capacity;
    double *G; /**< symmetric n x n, both triangles, ld = capacity; NULL where they are far */
    dkm_qp_row_provider *provider; /**< NULL where G is here; borrowed */
    double *b;                     /**< n */
    double *a;                     /**< n, >= 0 */
    dkm_idx *group;                /**< n */
    const double *share; /**< of each group: its budget is that share of C; NULL: all of it.
                              Borrowed */
    /* of the active set of dkm_qp_active_set(), stored between calls */
    dkm_idx active;          /**< how many a_c are free to move */
    dkm_idx *member;         /**< which, in the order of the factor */
    double *L;               /**< lower Cholesky factor of their G, see dkm_qp_factor_row() */
    dkm_idx factor_capacity; /**< rows reserved for L */
} dkm_qp;

/** How a solve ended. */
typedef struct dkm_qp_info {
    dkm_idx steps;
    double objective; /**< b'a - 1/2 a'Ga */
    double violation; /**< of the optimality conditions, in units of b */
    int exact;        /**< it is within the tolerance: not stopped earlier by the duality gap */
    int unbounded;    /**< some a >= 0 has G a = 0 and b'a > 0: no w meets all constraints */
    double alone;     /**< without a budget: largest multiplier of a constraint on its own, b / G */
} dkm_qp_info;

/** An empty program. dkm_qp_clear() frees. Local. */
dkm_qp dkm_qp_empty(dkm_ctx *ctx);
void dkm_qp_clear(dkm_qp *qp);

/** Reserve space for @p count more constraints, each with a = 0, b and group still to be set, and their
 *  rows and columns of G as well. Local.
 *  @return ok; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_local dkm_qp_grow(dkm_qp *qp, dkm_idx count);

/** Drop G, whose rows are with @p far from now on. Local. */
void dkm_qp_use_row_provider(dkm_qp *qp, dkm_qp_row_provider *provider);

/** Keep the constraints with keep[c] != 0, in their order; those with a > 0 must stay. Local. */
void dkm_qp_keep(dkm_qp *qp, const char *keep);

/** Solve without budgets, by an active set with an updated Cholesky factor. Local.
 *
 *  @param[in] tolerance  on b_c - (G a)_c of constraints with a_c = 0, and stands for them all
 *  @return ok; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_local dkm_qp_active_set(dkm_qp *qp, double tolerance, dkm_qp_info *info);

/** How well a program with a budget is to be solved: to the first that is reached. */
typedef struct dkm_qp_target {
    double tolerance; /**< on the spread of gradients within a group */
    double gap;       /**< between the objective and its bound from the primal; 0: any */
} dkm_qp_target;

/** Solve with a budget, two multipliers of one group at a time. Local.
 *
 *  @param[in] budget  C > 0 of every group
 *  @return ok; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_local dkm_qp_smo(dkm_qp *qp, double budget, dkm_qp_target target,
                                   dkm_qp_info *info);

/** Row c of G; valid until two other rows were asked for. Local. */
const double *dkm_qp_row(dkm_qp *qp, dkm_idx c);
/** G_cc. Local. */
double dkm_qp_diagonal(const dkm_qp *qp, dkm_idx c);
/** out_c = (G a)_c of all constraints, but for some with skip[c] != 0 (may be NULL). Local. */
void dkm_qp_matvec(const dkm_qp *qp, const double *a, const char *skip, double *out);

/** Reserve space for one more row of the factor. Local.
 *  @return ok; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_local dkm_qp_widen_factor(dkm_qp *qp);
/** Row i of the factor: i + 1 numbers, and space for one more. Local. */
double *dkm_qp_factor_row(const dkm_qp *qp, dkm_idx i);

/** Set up and drop the cache of remote rows for a solve. Local.
 *  @return ok; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_local dkm_qp_row_cache_open(dkm_qp *qp);
void dkm_qp_row_cache_close(dkm_qp *qp);

/** b'a - 1/2 a'Ga. Local.
 *  @param[out] scratch  n */
double dkm_qp_objective(const dkm_qp *qp, double *scratch);

/** x'y of n numbers, in an order that depends on n alone. Local. */
double dkm_qp_dot(dkm_idx n, const double *x, const double *y);

#endif
