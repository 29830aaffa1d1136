/** @file decode_loss.h  The loss of decoding leave-one-out predictions of kernel dependency
 *  estimation, and how it changes with the Gram matrices of inputs and outputs. */
#ifndef DKMAP_SOLVERS_TUNE_DECODE_LOSS_H
#define DKMAP_SOLVERS_TUNE_DECODE_LOSS_H

#include <dkmap/dmat.h>

/** Matrices of m x m in the same square blocks, m > 2. */
typedef struct dkm_decoding {
    double gamma;          /**< the ridge */
    double temperature;    /**< T > 0 */
    const dkm_dmat *L;     /**< Gram matrix of the outputs, both triangles */
    const dkm_dmat *Delta; /**< loss of one output in the place of another, both triangles */
    int no_gradient;       /**< the losses alone are wanted */
} dkm_decoding;

typedef struct dkm_decode_info {
    double loss;    /**< expected loss; infinite where K + gamma I is not positive definite */
    double nearest; /**< loss of the nearest outputs, which is what a prediction is */
    double by_temperature; /**< d loss / dT */
    dkm_dmat *by_K, *by_L; /**< d loss / dK and d loss / dL, lower triangles are to be read; new,
                                owned by the caller; NULL where there is no gradient */
} dkm_decode_info;

/** The mean over examples i of sum_c p_ic Delta_ic, where p_ic is proportional to
 *  exp(-|psi(y_c) - f_i|^2 / T) over the other training outputs c, and f_i is what a fit without
 *  example i predicts at x_i.
 *
 *  Collective.
 *
 *  @param[in,out] K     Gram matrix of the inputs, lower triangle read; overwritten
 *  @param[out]    info  the same on every rank
 *  @return DKM_OK; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_status dkm_decode_loss(dkm_dmat *K, const dkm_decoding *problem,
                                         dkm_decode_info *info);

#endif
