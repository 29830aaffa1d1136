/** @file joint_impl.h  A joint kernel as a weighted sum of terms, and what a fit makes of them. */
#ifndef DKMAP_KERNELS_JOINT_JOINT_IMPL_H
#define DKMAP_KERNELS_JOINT_JOINT_IMPL_H

#include <dkmap/joint.h>

typedef enum dkm_joint_kind {
    DKM_JOINT_TENSOR,
    DKM_JOINT_LINEAR,
    DKM_JOINT_DIAG,
    DKM_JOINT_PATCH,
    DKM_JOINT_RBF,
    DKM_JOINT_IDENTITY,
    DKM_JOINT_STRINGS
} dkm_joint_kind;

typedef struct dkm_joint_term {
    dkm_joint_kind kind;
    double weight;         /**< of the term in the sum */
    double lambda;         /**< diag, patch */
    double sigma;          /**< rbf */
    dkm_idx height, width; /**< patch; height 1 is a signal */
    dkm_idx size, step;    /**< patch; size is p of strings */
} dkm_joint_term;

struct dkm_joint {
    dkm_ctx *ctx;
    char *text;
    dkm_idx terms;
    dkm_joint_term *term;
};

/** What terms `strings` want of the outputs: coordinates by place and letter. */
#define DKM_JOINT_LETTERS "letters"

/** One kernel of inputs that stands for all terms K(x, x') l(y, y') of the sum, and the l that they
 *  share. */
typedef struct dkm_joint_kernels {
    char *kx; /**< an expression; NULL when no term has an input kernel */
    char *ky; /**< an expression, or DKM_JOINT_LETTERS */
} dkm_joint_kernels;

/** Work out the kernels of inputs and outputs. Local; dkm_joint_kernels_clear() frees, also after a
 *  failure.
 *
 *  @param[in] kx, ky  what `tensor`, `diag` and `patch` stand on
 *  @return ok; DKM_ERR_ARG when terms want different kernels of outputs (both are named) */
DKM_NODISCARD dkm_local dkm_joint_resolve(const dkm_joint *joint, const char *kx, const char *ky,
                                          dkm_joint_kernels *kernels);
void dkm_joint_kernels_clear(dkm_joint_kernels *kernels);

/** The weight of sum_k x_k x'_k y_k y'_k in the sum. Local. */
double dkm_joint_diagonal(const dkm_joint *joint);

/** The weight of <x, y> <x', y'> in the sum. Local. */
double dkm_joint_identity(const dkm_joint *joint);

/** Is a term a sum over patches of positive weight? Local. */
int dkm_joint_is_patch(const dkm_joint_term *term);

#endif
