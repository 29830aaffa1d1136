/* constant: every input has the same output, a share of the mean of the training outputs. An example
 * of a method: see CONTRIBUTING.md. */
#include <string.h>

#include "core/alloc.h"
#include "models/registry/method_impl.h"

typedef struct constant {
    dkm_ctx *ctx;
    dkm_idx cols;
    double *mean; /* cols, the same on every rank */
} constant;

static void constant_destroy(void *state)
{
    constant *s = state;

    DKM_FREE(s->mean);
    dkm_free_block(s);
}

static dkm_local constant_create(dkm_ctx *ctx, dkm_idx cols, constant **state)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_calloc(ctx, 1, state));
    (*state)->ctx = ctx;
    (*state)->cols = cols;
    DKM_STEP(dkm_calloc(ctx, cols, &(*state)->mean));
out:
    return local;
}

static dkm_local constant_check(dkm_ctx *ctx, const dkm_data *Y)
{
    if (dkm_data_type(Y) == DKM_DENSE && dkm_data_rows(Y) > 0)
        return DKM_LOCAL_OK;
    return dkm_fail(ctx, DKM_ERR_UNSUPPORTED,
                    "constant learns from dense outputs, not from %lld %s",
                    (long long)dkm_data_rows(Y), dkm_type_name(dkm_data_type(Y)));
}

static dkm_status constant_predict(void *state, const dkm_data *X, dkm_data **Y)
{
    const constant *s = state;
    dkm_status status = DKM_OK;

    DKM_TRY(dkm_data_create_dense(s->ctx, dkm_data_rows(X), s->cols, Y));
    for (dkm_idx i = 0; i < dkm_data_local_rows(X); i++)
        memcpy(dkm_data_values(*Y) + i * s->cols, s->mean, (size_t)s->cols * sizeof *s->mean);
out:
    return status;
}

static dkm_idx constant_batch_rows(const void *state)
{
    (void)state;
    return 65536;
}

static dkm_status constant_to_archive(void *state, dkm_archive *archive)
{
    const constant *s = state;

    return dkm_agree(s->ctx, dkm_archive_put_reals(archive, "mean", s->cols, s->mean));
}

static dkm_local constant_read(dkm_ctx *ctx, const dkm_archive *archive, constant **state)
{
    dkm_local local = DKM_LOCAL_OK;
    const double *mean;
    dkm_idx cols = 0;

    DKM_STEP(dkm_archive_reals(archive, "mean", &cols, &mean));
    DKM_STEP(constant_create(ctx, cols, state));
    memcpy((*state)->mean, mean, (size_t)cols * sizeof *mean);
out:
    return local;
}

static dkm_status constant_from_archive(dkm_ctx *ctx, dkm_archive *archive,
                                        const dkm_layout *layout, void **state)
{
    dkm_status status = DKM_OK;
    constant *s = NULL;

    (void)layout;
    *state = NULL;
    DKM_AGREE(ctx, constant_read(ctx, archive, &s));
    *state = s;
    s = NULL;
out:
    if (s)
        constant_destroy(s);
    return status;
}

static const dkm_model_class constant_class = {.name = "constant",
                                               .predict = constant_predict,
                                               .batch_rows = constant_batch_rows,
                                               .to_archive = constant_to_archive,
                                               .from_archive = constant_from_archive,
                                               .destroy = constant_destroy};

static dkm_status constant_fit(dkm_ctx *ctx, const dkm_settings *settings, const dkm_data *X,
                               const dkm_data *Y, dkm_model **model, dkm_report *report)
{
    dkm_status status = DKM_OK;
    double weight = dkm_settings_real(settings, "share") / (double)dkm_data_rows(Y);
    constant *s = NULL;

    (void)X;
    DKM_AGREE(ctx, constant_check(ctx, Y));
    DKM_AGREE(ctx, constant_create(ctx, dkm_data_cols(Y), &s));
    for (dkm_idx k = 0; k < dkm_data_local_rows(Y) * s->cols; k++)
        s->mean[k % s->cols] += weight * dkm_data_values_const(Y)[k];
    MPI_Allreduce(MPI_IN_PLACE, s->mean, (int)s->cols, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(ctx));
    dkm_report_add_int(report, "m", dkm_data_rows(Y));
    status = dkm_model_wrap(ctx, &constant_class, s, DKM_DENSE, s->cols, model);
    s = NULL; /* taken over, whatever came of it */
out:
    if (s)
        constant_destroy(s);
    return status;
}

static const dkm_setting settings[] = {{.name = "share",
                                        .kind = DKM_SETTING_REAL,
                                        .flags = DKM_SETTING_SEARCH | DKM_SETTING_POSITIVE,
                                        .default_text = "1",
                                        .metavar = "S",
                                        .help = "of the mean that is predicted"},
                                       {0}};

const dkm_method dkm_method_constant = {
    .name = "constant",
    .summary = "the mean of the training outputs, whatever the input",
    .example = "--x x.npy --y y.npy --share 0.5",
    .inputs = "training inputs, of any type",
    .outputs = "training outputs, dense, as many",
    .settings = settings,
    .fit = constant_fit,
    .classes = {&constant_class},
};
