/** @file svm_base.h  The index base of svmlight files, decided by the first of them. */
#ifndef DKMAP_CORE_SVM_BASE_H
#define DKMAP_CORE_SVM_BASE_H

#include <dkmap/context.h>

/** The base of inputs (0) or outputs (1), or DKM_SVM_BASE_AUTO. Local. */
int dkm_svm_base_of(const dkm_ctx *ctx, int outputs);

/** Decide it. Logically collective. */
void dkm_svm_base_decide(dkm_ctx *ctx, int outputs, int base);

#endif
