/* Residuals and prediction sets of joint kernel maps that choose among classes or candidates: the
 * margin max_c F(x, c) - F(x, y) of the joint score; see dkmap/conformal.h. Calibration outputs are
 * labels: classes, or numbers of candidates. Costs what a list of all candidates costs. */
#include "core/alloc.h"
#include "models/common/candidate_sets.h"
#include "models/jkm/jkm_impl.h"

/* Numbers of the classes, ascending; NULL where the model chooses among candidates. */
static const double *jkm_classes(const dkm_jkm *s)
{
    return s->space.classes.classes;
}

static dkm_local jkm_check_sets(const dkm_jkm *s, const dkm_data *Y)
{
    if (s->space.count == 0)
        return dkm_fail(s->ctx, DKM_ERR_UNSUPPORTED,
                        "the model predicts vectors: prediction sets take candidates");
    if (Y && dkm_data_type(Y) != DKM_LABELS)
        return dkm_fail(s->ctx, DKM_ERR_ARG,
                        "calibration outputs of jkm are labels, classes or numbers of candidates; "
                        "these are %s",
                        dkm_type_name(dkm_data_type(Y)));
    return jkm_classes(s) ? dkm_class_sets_check(s->ctx, s->space.count, jkm_classes(s))
                          : DKM_LOCAL_OK;
}

/* All candidates with their scores, best first. */
static dkm_status jkm_list_all(dkm_jkm *s, const dkm_data *X, dkm_data **lists)
{
    dkm_idx top = s->top;
    dkm_status status;

    s->top = s->space.count;
    status = dkm_jkm_predict(s, X, lists);
    s->top = top;
    return status;
}

static dkm_local jkm_margin(const dkm_jkm *s, const double *list, double wanted, dkm_idx row,
                            double *margin)
{
    for (dkm_idx c = 0; c < s->space.count; c++)
        if (list[2 * c] == wanted) {
            *margin = list[1] - list[2 * c + 1];
            return DKM_LOCAL_OK;
        }
    return dkm_fail(s->ctx, DKM_ERR_ARG, "calibration row %lld: %g is no class or candidate",
                    (long long)row, wanted);
}

static dkm_local jkm_margins(const dkm_jkm *s, const dkm_data *lists, const dkm_data *Y,
                             double *margins)
{
    dkm_local local = DKM_LOCAL_OK;

    for (dkm_idx i = 0; i < dkm_data_local_rows(Y); i++)
        DKM_STEP(jkm_margin(s, dkm_data_values_const(lists) + i * 2 * s->space.count,
                            dkm_data_values_const(Y)[i], dkm_data_local_first(Y) + i, margins + i));
out:
    return local;
}

dkm_status dkm_jkm_residuals(void *state, const dkm_data *X, const dkm_data *Y, dkm_data **R)
{
    dkm_jkm *s = state;
    dkm_status status = DKM_OK;
    dkm_data *lists = NULL;

    *R = NULL;
    DKM_AGREE(s->ctx, jkm_check_sets(s, Y));
    DKM_TRY(jkm_list_all(s, X, &lists));
    DKM_TRY(dkm_data_create_dense(s->ctx, dkm_data_rows(X), 1, R));
    DKM_AGREE(s->ctx, jkm_margins(s, lists, Y, dkm_data_values(*R)));
out:
    dkm_data_destroy(&lists);
    if (status != DKM_OK)
        dkm_data_destroy(R);
    return status;
}

dkm_status dkm_jkm_open_sets(void *state, dkm_type *type, dkm_idx *cols)
{
    *type = DKM_LABEL_SETS;
    *cols = 0;
    return dkm_agree(((dkm_jkm *)state)->ctx, jkm_check_sets(state, NULL));
}

/* The place of a class or candidate among all: numbers of classes may be far apart. */
static dkm_idx jkm_place(const dkm_jkm *s, double label)
{
    const double *classes = jkm_classes(s);
    dkm_idx low = 0, high = s->space.count;

    if (!classes)
        return (dkm_idx)label;
    while (high - low > 1) {
        dkm_idx middle = low + (high - low) / 2;
        if (classes[middle] <= label)
            low = middle;
        else
            high = middle;
    }
    return low;
}

dkm_status dkm_jkm_prediction_sets(void *state, const dkm_data *X, const double *radius,
                                   dkm_data **S)
{
    dkm_jkm *s = state;
    dkm_status status = DKM_OK;
    dkm_idx count = s->space.count, n = dkm_data_local_rows(X);
    dkm_data *lists = NULL;
    double *margins = NULL;

    *S = NULL;
    DKM_AGREE(s->ctx, jkm_check_sets(s, NULL));
    DKM_TRY(jkm_list_all(s, X, &lists));
    DKM_AGREE(s->ctx, dkm_alloc(s->ctx, n * count, &margins));
    for (dkm_idx k = 0; k < n * count; k++) {
        const double *list = dkm_data_values_const(lists) + k / count * 2 * count;
        margins[k / count * count + jkm_place(s, list[2 * (k % count)])] =
            list[1] - list[2 * (k % count) + 1];
    }
    DKM_TRY(dkm_candidate_sets(s->ctx, dkm_data_rows(X), count, jkm_classes(s), margins,
                               radius[0] * (1.0 + 1e-12), S));
out:
    DKM_FREE(margins);
    dkm_data_destroy(&lists);
    return status;
}
