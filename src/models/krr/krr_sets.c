/* Residuals |y_j - f_j(x)| of numbers and ||e_c - f(x)||^2 of classes for split conformal
 * prediction (registry/conformal.c). Cost: a prediction, and p or p^2 operations per row of p
 * columns. Local. */
#include "models/krr/krr_sets.h"

#include <math.h>

#include "core/alloc.h"
#include "models/common/candidate_sets.h"

static dkm_local sets_check(const dkm_krr_dual *s, const dkm_data *Y)
{
    dkm_type type = s->outputs.encoder.type;

    if (type != DKM_DENSE && type != DKM_LABELS)
        return dkm_fail(s->fitted.ctx, DKM_ERR_UNSUPPORTED,
                        "prediction sets of krr are of numbers and classes, not of %s: kde has "
                        "them, with candidates",
                        dkm_type_name(type));
    if (Y && (dkm_data_type(Y) != type ||
              (type == DKM_DENSE && dkm_data_cols(Y) != s->outputs.encoder.cols)))
        return dkm_fail(s->fitted.ctx, DKM_ERR_ARG,
                        "the model predicts %s of %lld columns, and the calibration outputs are "
                        "%s of %lld",
                        dkm_type_name(type),
                        (long long)(type == DKM_DENSE ? s->outputs.encoder.cols : 1),
                        dkm_type_name(dkm_data_type(Y)), (long long)dkm_data_cols(Y));
    return type == DKM_LABELS ? dkm_class_sets_check(s->fitted.ctx, s->outputs.encoder.cols,
                                                     s->outputs.encoder.classes)
                              : DKM_LOCAL_OK;
}

dkm_status dkm_krr_residuals(dkm_krr_dual *s, const dkm_data *X, const dkm_data *Y, dkm_data **R)
{
    dkm_status status = DKM_OK;
    const dkm_target_encoder *encoder = &s->outputs.encoder;
    dkm_idx p = encoder->cols, d = encoder->type == DKM_DENSE ? p : 1;
    dkm_data *F = NULL;
    const double *y, *f;

    *R = NULL;
    DKM_AGREE(s->fitted.ctx, sets_check(s, Y));
    DKM_TRY(dkm_krr_dual_scores(s, X, &F));
    DKM_TRY(dkm_data_create_dense(s->fitted.ctx, dkm_data_rows(X), d, R));
    y = dkm_data_values_const(Y);
    f = dkm_data_values_const(F);
    for (dkm_idx k = 0; k < dkm_data_local_rows(X) * d; k++)
        dkm_data_values(*R)[k] = encoder->type == DKM_DENSE
                                     ? fabs(y[k] - f[k])
                                     : dkm_class_distance(f + k * p, p, encoder->classes, y[k]);
out:
    dkm_data_destroy(&F);
    return status;
}

dkm_status dkm_krr_open_sets(dkm_krr_dual *s, dkm_type *type, dkm_idx *cols)
{
    *type = s->outputs.encoder.type == DKM_DENSE ? DKM_DENSE : DKM_LABEL_SETS;
    *cols = s->outputs.encoder.type == DKM_DENSE ? 2 * s->outputs.encoder.cols : 0;
    return dkm_agree(s->fitted.ctx, sets_check(s, NULL));
}

dkm_status dkm_krr_prediction_sets(dkm_krr_dual *s, const dkm_data *X, const double *radius,
                                   dkm_data **S)
{
    dkm_status status = DKM_OK;
    dkm_data *F = NULL;

    *S = NULL;
    DKM_AGREE(s->fitted.ctx, sets_check(s, NULL));
    DKM_TRY(dkm_krr_dual_scores(s, X, &F));
    DKM_TRY(s->outputs.encoder.type == DKM_DENSE
                ? dkm_intervals(F, radius, S)
                : dkm_class_sets(F, s->outputs.encoder.classes, radius[0], S));
out:
    dkm_data_destroy(&F);
    return status;
}
