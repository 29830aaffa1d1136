/* What the terms of a joint kernel come to: one kernel of inputs and one of outputs. */
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "kernels/expression/expression.h"
#include "kernels/joint/joint_impl.h"

#define FIXED                                                                                      \
    64 /* bytes of an expression that is not the user's, and of what joins expressions             \
        */

/* The kernels of one term and the weight of their product in the sum; no kernel where that is 0. */
static double term_kernels(const dkm_joint_term *t, const char **kx, const char **ky,
                           char rbf[FIXED])
{
    char sigma[DKM_NUMBER_SIZE];

    switch (t->kind) {
    case DKM_JOINT_TENSOR:
        return t->weight;
    case DKM_JOINT_LINEAR:
        *kx = *ky = "linear";
        return t->weight;
    case DKM_JOINT_DIAG:
    case DKM_JOINT_PATCH:
        *ky = "linear";
        return t->weight * (1 - t->lambda);
    case DKM_JOINT_IDENTITY:
        *ky = "linear";
        return 0;
    case DKM_JOINT_STRINGS:
        *ky = DKM_JOINT_LETTERS;
        return 0;
    case DKM_JOINT_RBF:
        dkm_expression_print(t->sigma, sigma);
        snprintf(rbf, FIXED, "rbf(sigma=%s)", sigma);
        *kx = *ky = rbf;
        return t->weight;
    }
    return 0;
}

static dkm_local agree_outputs(const dkm_joint *joint, const char *ky, dkm_joint_kernels *kernels)
{
    if (!kernels->ky)
        return dkm_strdup(joint->ctx, ky, &kernels->ky);
    if (strcmp(kernels->ky, ky) == 0)
        return DKM_LOCAL_OK;
    return dkm_fail(
        joint->ctx, DKM_ERR_ARG,
        "joint kernel %s: its terms want %s and %s of the outputs, and there can be one "
        "kernel of outputs only",
        joint->text, kernels->ky, ky);
}

dkm_local dkm_joint_resolve(const dkm_joint *joint, const char *kx, const char *ky,
                            dkm_joint_kernels *kernels)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx size = FIXED + joint->terms * ((dkm_idx)strlen(kx) + 2 * FIXED), used = 0, count = 0;
    char rbf[FIXED], by[DKM_NUMBER_SIZE];

    *kernels = (dkm_joint_kernels){0};
    DKM_STEP(dkm_calloc(joint->ctx, size, &kernels->kx));
    for (dkm_idx k = 0; k < joint->terms; k++) {
        const char *of_x = kx, *of_y = ky;
        double weight = term_kernels(&joint->term[k], &of_x, &of_y, rbf);
        DKM_STEP(agree_outputs(joint, of_y, kernels));
        if (weight == 0)
            continue;
        dkm_expression_print(weight, by);
        used += snprintf(kernels->kx + used, (size_t)(size - used), "%s%s%s%s%s%s",
                         count++ ? ", " : "sum(", weight == 1 ? "" : "scale(", of_x,
                         weight == 1 ? "" : ", by=", weight == 1 ? "" : by, weight == 1 ? "" : ")");
    }
    if (count == 0)
        DKM_FREE(kernels->kx);
    else if (count == 1)
        memmove(kernels->kx, kernels->kx + 4, (size_t)(used - 4) + 1);
    else
        snprintf(kernels->kx + used, (size_t)(size - used), ")");
out:
    return local;
}

void dkm_joint_kernels_clear(dkm_joint_kernels *kernels)
{
    DKM_FREE(kernels->kx);
    DKM_FREE(kernels->ky);
}

double dkm_joint_diagonal(const dkm_joint *joint)
{
    double sum = 0;

    for (dkm_idx k = 0; k < joint->terms; k++)
        if (joint->term[k].kind == DKM_JOINT_DIAG)
            sum += joint->term[k].weight * joint->term[k].lambda;
    return sum;
}

double dkm_joint_identity(const dkm_joint *joint)
{
    double sum = 0;

    for (dkm_idx k = 0; k < joint->terms; k++)
        if (joint->term[k].kind == DKM_JOINT_IDENTITY)
            sum += joint->term[k].weight;
    return sum;
}

int dkm_joint_is_patch(const dkm_joint_term *term)
{
    return term->kind == DKM_JOINT_PATCH && term->weight * term->lambda > 0;
}
