/** @file nystroem_impl.h  Passes over K_mn = k(X, C), with the inputs X fed in chunks and the
 *  landmarks C on every rank, and systems made of it. */
#ifndef DKMAP_SOLVERS_NYSTROEM_NYSTROEM_IMPL_H
#define DKMAP_SOLVERS_NYSTROEM_NYSTROEM_IMPL_H

#include <dkmap/nystroem.h>

#include "kernels/gram/strips.h"
#include "solvers/krylov/pcg.h"
#include "solvers/operators/input_stream.h"
#include "solvers/ridge/shifted_cholesky.h"

typedef struct dkm_nystroem {
    dkm_ctx *ctx;
    dkm_grid *grid;
    const dkm_kernel *kernel;
    const dkm_prepared *C;
    dkm_idx m, n, nb;
    dkm_input_stream *feed;
    dkm_strips strips;
    dkm_dmat *K; /**< K_nn, double, lower triangle */
} dkm_nystroem;

/** What is compared with what, and how it is laid out; borrowed. */
typedef struct dkm_nystroem_problem {
    dkm_grid *grid;
    const dkm_kernel *kernel;
    const dkm_prepared *C; /**< landmarks */
    dkm_idx nb;
    dkm_input_stream *feed; /**< inputs; aimed at the landmarks */
    const double *roots;    /**< of the weights of this rank's inputs, K_mn is S K_mn; or NULL */
} dkm_nystroem_problem;

/** How many landmarks of m inputs: those asked for, or as many as are usual. Local. */
dkm_idx dkm_nystroem_count(const dkm_nystroem_settings *settings, dkm_idx m);

/** Bring the landmarks to every rank and compute K_nn. Collective; dkm_nystroem_close() frees, also
 *  after a failure.
 *  @return DKM_OK; DKM_ERR_MEMORY when they do not fit */
DKM_NODISCARD dkm_status dkm_nystroem_open(dkm_nystroem *s, const dkm_nystroem_problem *parts,
                                           const dkm_nystroem_settings *settings);
void dkm_nystroem_close(dkm_nystroem *s);

/** Show columns [c0, c1) of all strips. Collective. */
DKM_NODISCARD dkm_status dkm_nystroem_for_each_panel(dkm_nystroem *s, dkm_idx c0, dkm_idx c1,
                                                     dkm_strip_visitor *visitor);

/** One pass of products: U = K_mn V, or U = T where there is no V; then W = K_nm U. Matrices of m
 *  rows are this rank's slab, row-major without gaps. */
typedef struct dkm_nystroem_pass {
    dkm_idx p;             /**< columns */
    const dkm_multivec *V; /**< n rows, or NULL */
    const double *T;       /**< m rows, or NULL */
    double *F;             /**< takes U, m rows; or NULL */
    dkm_multivec *W;       /**< initialized with space for p columns of n rows; or NULL */
    double off, size;      /**< where both V and T are given: ||U - T|| and ||T|| */
} dkm_nystroem_pass;

/** Make a pass. Collective. */
DKM_NODISCARD dkm_status dkm_nystroem_products(dkm_nystroem *s, dkm_nystroem_pass *pass);
/** The same for strips in single precision, multiplied in it: of V to F, or of T to W. Collective.
 */
DKM_NODISCARD dkm_status dkm_nystroem_products_f32(dkm_nystroem *s, dkm_nystroem_pass *pass);

/** P = (S K_mn)'(S K_mn) + gamma K_nn, lower triangle. Collective.
 *  @param[out] P  new double n x n matrix, owned by the caller; NULL on failure */
DKM_NODISCARD dkm_status dkm_nystroem_sketch(dkm_nystroem *s, double gamma, dkm_dmat **P);

/** G = K_nm K_mn, lower triangle. Collective.
 *  @param[out] G  new double n x n matrix, owned by the caller; NULL on failure */
DKM_NODISCARD dkm_status dkm_nystroem_normal_matrix(dkm_nystroem *s, dkm_dmat **G);
/** The same in half the time where strips are single precision, and less exact. Collective.
 *  @param[out] off  what G is off by: the root of the mean square of the eigenvalues of the
 *                   difference, measured; 0 where strips are double precision */
DKM_NODISCARD dkm_status dkm_nystroem_normal_matrix_f32(dkm_nystroem *s, dkm_dmat **G, double *off);

/** What the landmarks leave of k(x, x), a mean over some inputs. Collective. */
DKM_NODISCARD dkm_status dkm_nystroem_residual_trace(const dkm_nystroem *s, double *rest);

/** G += scale K_nn for a matrix in the layout of K_nn. Local. */
void dkm_nystroem_add_knn(const dkm_nystroem *s, double scale, dkm_dmat *G);

/** Factor a positive semidefinite n x n matrix, shifted by what rounding may have taken from it.
 *  Collective; dkm_shifted_cholesky_close() frees, also after a failure. */
DKM_NODISCARD dkm_status dkm_nystroem_factor(const dkm_nystroem *s, dkm_dmat *P,
                                             dkm_shifted_cholesky *factor);

/** A solution of (K + gamma I) B = T; borrowed. */
typedef struct dkm_nystroem_solution {
    const dkm_prepared *X; /**< prepared as training objects, K = k(X, X) */
    dkm_idx m;
    double gamma;
    const dkm_multivec *B, *T;
} dkm_nystroem_solution;

/** ||T - (K + gamma I) B|| / ||T|| with K in double, from 256 of its rows drawn at random, or all
 *  where they are fewer. Collective. */
DKM_NODISCARD dkm_status dkm_nystroem_residual_estimate(const dkm_nystroem *s,
                                                        const dkm_nystroem_solution *check,
                                                        double *residual);

/** Conjugate gradients for slabs of @p rows rows, which are reported in @p info; a run
 *  that stops above the tolerance is logged with the reason. Collective.
 *  @return DKM_OK; DKM_ERR_MEMORY; DKM_ERR_NUMERIC when the solution is not finite */
DKM_NODISCARD dkm_status dkm_nystroem_pcg(const dkm_nystroem *s, const dkm_pcg_settings *how,
                                          dkm_idx rows, const dkm_multivec *Y, dkm_multivec *X,
                                          dkm_nystroem_info *info);
/** The part of the report that is known before the first iteration. Local. */
dkm_nystroem_info dkm_nystroem_info_init(const dkm_nystroem *s,
                                         const dkm_nystroem_settings *settings);

/** Solve (K_nm K_mn + gamma K_nn) A = K_nm T.
 *
 *  Collective. Stops with what it has when the residual does not shrink any more; @p info says so,
 *  and the reason is logged.
 *
 *  @param[in]  T     this rank's slab of m rows of p numbers
 *  @param[out] A     new double n x p matrix, owned by the caller; NULL on failure
 *  @param[out] info  the report
 *  @return DKM_OK; DKM_ERR_MEMORY; DKM_ERR_NUMERIC when the solution is not finite
 */
DKM_NODISCARD dkm_status dkm_nystroem_ridge(dkm_nystroem *s, const dkm_nystroem_settings *settings,
                                            double gamma, dkm_idx p, const double *T, dkm_dmat **A,
                                            dkm_nystroem_info *info);

/** Solve (K + gamma I) B = T with K = k(X, X), the landmarks giving the preconditioner.
 *
 *  Collective; as dkm_nystroem_ridge() else. The inputs are in memory.
 *
 *  @param[in]     X  the inputs, prepared as training objects
 *  @param[in,out] T  this rank's slab of m rows of p numbers; becomes B
 */
DKM_NODISCARD dkm_status dkm_nystroem_exact_pcg(dkm_nystroem *s, const dkm_prepared *X,
                                                const dkm_nystroem_settings *settings, double gamma,
                                                dkm_idx p, double *T, dkm_nystroem_info *info);

#endif
