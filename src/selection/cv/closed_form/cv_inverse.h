/** @file cv_inverse.h  The inverse of K + gamma I over all examples, and what the inner folds of an
 * outer one share. Of a group of one rank. */
#ifndef DKMAP_SELECTION_CV_CLOSED_FORM_CV_INVERSE_H
#define DKMAP_SELECTION_CV_CLOSED_FORM_CV_INVERSE_H

#include "selection/cv/closed_form/cv_ridge.h"

/** What the inner folds of an outer one share: with G(o, o) = L L', V = G(., o) L^-T. */
typedef struct dkm_cv_outer {
    dkm_idx fold;   /**< -1: none yet */
    dkm_idx o, r;   /**< examples of it, and others; where o is 0 nothing follows */
    dkm_idx *out;   /**< o */
    dkm_idx *other; /**< r: inner fold by inner fold */
    dkm_idx *start; /**< where each inner fold begins there */
    double *L;      /**< o x o */
    double *V;      /**< r x o, in the order of the others */
    double *at_o;   /**< q x o: E'G(., o) L^-T of a low-rank factor E; else NULL */
} dkm_cv_outer;

/** What serves all splits of one kernel and gamma. */
typedef struct dkm_cv_inverse {
    dkm_idx m;
    double *G;  /**< m x m; NULL where the matrix is too near to a singular one */
    double *EG; /**< q x m: E'G of a low-rank factor E; else NULL */
    int faint;  /**< some predictions are too faint to be had from EG */
    dkm_cv_outer outer;
} dkm_cv_inverse;

/** Make the outer fold that of the cell. Collective on the group.
 *  @param[out] fits  0 where G(o, o) has no factor */
DKM_NODISCARD dkm_status dkm_cv_inverse_invert(dkm_cv_inverse *made, const dkm_cv_cell *cell,
                                               int *fits);

#endif
