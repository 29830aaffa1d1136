/** @file landmarks.h  A few objects that stand for many: which of m to take.
 *
 *  Choices are functions of the seed, the objects and the kernel: they do not depend on the number
 *  of ranks. Indices are in ascending order, the same on every rank.
 *
 *    uniform    every object is as likely as any other
 *    leverage   in proportion to how much of an object is not explained by a first uniform draw,
 *               l_i = k(x, x) - k(x, S) (K_SS + gamma I)^-1 k(S, x)
 *    pivoted    randomly pivoted Cholesky: each in proportion to what those before leave of it
 *    first      those that stand first
 *    farthest   each the farthest from those before, in the space of the kernel
 *    cholesky   pivoted Cholesky: each the one of which those before leave most
 */
#ifndef DKMAP_LANDMARKS_H
#define DKMAP_LANDMARKS_H

#include <dkmap/kernel.h>

DKM_API_BEGIN

/** Every way to choose with the name users type. */
#define DKM_LANDMARK_LIST(X)                                                                       \
    X(DKM_LANDMARKS_UNIFORM, "uniform")                                                            \
    X(DKM_LANDMARKS_LEVERAGE, "leverage")                                                          \
    X(DKM_LANDMARKS_PIVOTED, "pivoted")                                                            \
    X(DKM_LANDMARKS_FIRST, "first")                                                                \
    X(DKM_LANDMARKS_FARTHEST, "farthest")                                                          \
    X(DKM_LANDMARKS_CHOLESKY, "cholesky")

#define DKM_LANDMARK_ENUM(code, name) code,
typedef enum dkm_landmark_method {
    DKM_LANDMARK_LIST(DKM_LANDMARK_ENUM) DKM_LANDMARK_COUNT
} dkm_landmark_method;
#undef DKM_LANDMARK_ENUM

/** Name of a choice. Local. */
const char *dkm_landmark_name(dkm_landmark_method choice);

/** @p count of m indices, each set of them as likely as any other.
 *
 *  Collective. No rank looks at more than its share of the m.
 *
 *  @param[in] ctx  of all ranks that call, borrowed
 *  @param[in] m  objects to draw from
 *  @param[in]  count   at most m
 *  @param[out] indices  space for @p count numbers
 *  @return DKM_OK; DKM_ERR_ARG; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_status dkm_landmarks_uniform(dkm_ctx *ctx, dkm_idx m, dkm_idx count,
                                               dkm_idx *indices);

/** @p count of the objects of X by any choice.
 *
 *  Collective. Leverage takes m x min(count / 2, 2000) kernel values, pivoted m x count of them,
 * stored in double.
 *
 *  @param[in] grid  borrowed; must outlive what is made on it
 *  @param[in] X  inputs, borrowed
 *  @param[in] choice  the method
 *  @param[in]  gamma   of leverage: the ridge that landmarks are for
 *  @param[in,out] count  at most the number of objects; fewer come back when those explain all the
 *                      others to rounding (not of uniform and first)
 *  @param[out] indices  space for @p count numbers
 *  @return DKM_OK; DKM_ERR_ARG; DKM_ERR_MEMORY; DKM_ERR_NUMERIC */
DKM_NODISCARD dkm_status dkm_landmarks_choose(dkm_grid *grid, const dkm_prepared *X,
                                              dkm_landmark_method choice, double gamma,
                                              dkm_idx *count, dkm_idx *indices);

DKM_API_END

#endif
