/* Minimizes the leave-one-out error (loo_gradient.h) over numbers of a kernel and the ridge
 * (gradient_search.h).
 *
 * Cost: per evaluation that of loo_gradient.c and param_gradient.c. Replicated: the parameters. */
#include "models/common/tune.h"

#include <math.h>

#include "core/alloc.h"
#include "kernels/gram/gram.h"
#include "models/common/fitted_kernel.h"
#include "models/common/gradient_search.h"

typedef struct tuner {
    dkm_search search; /* the ridge comes after the numbers of the kernel */
    const dkm_data *X;
    const dkm_loo_targets *targets;
    const dkm_tune_settings *settings;
    dkm_kernel *kernel;
    dkm_tuned_kernel tuned;
} tuner;

dkm_local dkm_tuned_kernel_open(dkm_tuned_kernel *t, dkm_ctx *ctx, dkm_kernel *kernel)
{
    *t = (dkm_tuned_kernel){.kernel = kernel, .count = dkm_kernel_list_params(kernel, 0, NULL)};
    if (t->count == 0)
        return DKM_LOCAL_OK;
    if (dkm_alloc(ctx, t->count, &t->places).code != DKM_OK)
        return dkm_fail(ctx, DKM_ERR_MEMORY, "no memory for %lld numbers", (long long)t->count);
    dkm_kernel_list_params(kernel, t->count, t->places);
    return DKM_LOCAL_OK;
}

void dkm_tuned_kernel_close(dkm_tuned_kernel *t)
{
    DKM_FREE(t->places);
}

void dkm_tuned_kernel_get(const dkm_tuned_kernel *t, double *x)
{
    for (dkm_idx k = 0; k < t->count; k++)
        x[k] = log(*dkm_param_number(t->kernel, &t->places[k]));
}

dkm_local dkm_tuned_kernel_set(dkm_tuned_kernel *t, const double *x)
{
    for (dkm_idx k = 0; k < t->count; k++)
        *dkm_param_number(t->kernel, &t->places[k]) = exp(x[k]);
    return dkm_kernel_update(t->kernel);
}

double dkm_tune_trace(const dkm_dmat *G, dkm_ctx *ctx)
{
    double trace = dkm_dmat_mean_diagonal(G) * (double)dkm_dmat_rows(G);

    MPI_Bcast(&trace, 1, MPI_DOUBLE, 0, dkm_ctx_comm(ctx));
    return trace;
}

/* The error at t->x, and its gradient by the logarithms. Collective. */
static dkm_status evaluate(dkm_search *search, double *loss)
{
    dkm_status status = DKM_OK;
    tuner *t = (tuner *)search;
    dkm_idx count = t->tuned.count;
    dkm_fitted_kernel fitted = {0};
    dkm_dmat *K = NULL, *G = NULL;

    DKM_AGREE(search->ctx, dkm_tuned_kernel_set(&t->tuned, search->x));
    DKM_TRY(dkm_fitted_kernel_open(&fitted, search->ctx, t->X, t->kernel, &t->settings->layout));
    DKM_TRY(dkm_dmat_create(fitted.grid, dkm_data_rows(t->X), dkm_data_rows(t->X), fitted.nb,
                            fitted.nb, DKM_F64, &K));
    DKM_TRY(dkm_gram_fill(fitted.prepared, fitted.prepared, 1, K, NULL, NULL));
    DKM_TRY(dkm_loo_gradient(K, exp(search->x[count]), t->targets, loss, &G));
    dkm_dmat_destroy(&K);
    if (G) {
        DKM_TRY(
            dkm_gram_param_gradient(fitted.prepared, G, count, t->tuned.places, search->gradient));
        search->gradient[count] = dkm_tune_trace(G, search->ctx);
        for (dkm_idx k = 0; k <= count; k++)
            search->gradient[k] *= exp(search->x[k]);
    }
out:
    dkm_dmat_destroy(&G);
    dkm_dmat_destroy(&K);
    dkm_fitted_kernel_close(&fitted);
    return status;
}

/* Searches from several starts, within so many evaluations; the kernel and gamma are then the best
 * that was seen. Collective. */
static dkm_status tune_round(tuner *t, dkm_idx starts, dkm_idx fits, double *gamma)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = t->search.ctx;

    DKM_AGREE(ctx, dkm_tuned_kernel_open(&t->tuned, ctx, t->kernel));
    DKM_REQUIRE(ctx, t->tuned.count > 0, DKM_ERR_ARG,
                "the kernel %s has no numbers with derivatives that could be tuned: tune "
                "kernels such as rbf(sigma=1), or leave --tune out",
                dkm_kernel_text(t->kernel));
    DKM_AGREE(ctx, dkm_search_open(&t->search, t->tuned.count + 1));
    t->search.ridge = t->tuned.count;
    dkm_tuned_kernel_get(&t->tuned, t->search.best);
    t->search.best[t->tuned.count] = log(*gamma);
    DKM_TRY(dkm_search_run(&t->search, starts, fits));
    DKM_AGREE(ctx, dkm_tuned_kernel_set(&t->tuned, t->search.best));
    DKM_REQUIRE(ctx, isfinite(t->search.least), DKM_ERR_NUMERIC,
                "no leave-one-out error near %s with a ridge of %g: begin elsewhere",
                dkm_kernel_text(t->kernel), *gamma);
    *gamma = exp(t->search.best[t->tuned.count]);
out:
    return status;
}

static void tuner_close(tuner *t)
{
    dkm_search_close(&t->search);
    dkm_tuned_kernel_close(&t->tuned);
}

dkm_tune_settings dkm_tune_read(const dkm_settings *s)
{
    return (dkm_tune_settings){.fits = dkm_settings_int(s, "tune-fits"),
                               .starts = dkm_settings_int(s, "tune-starts"),
                               .columns = dkm_settings_choice(s, "tune-widths") == 1,
                               .layout = dkm_settings_layout(s)};
}

void dkm_tune_report(dkm_report *report, const char *kernel, double gamma, double scale,
                     const dkm_tune_info *tuned)
{
    dkm_report_add_text(report, "start_kernel", kernel);
    dkm_report_add_real(report, "start_gamma", gamma);
    dkm_report_add_real(report, "start_loo", scale * tuned->before);
    dkm_report_add_int(report, "tuned_parameters", tuned->params);
    dkm_report_add_int(report, "tune_fits", tuned->fits);
}

dkm_status dkm_kernel_tune(const dkm_data *X, const dkm_loo_targets *targets,
                           const dkm_tune_settings *settings, dkm_kernel *kernel, double *gamma,
                           dkm_tune_info *info)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_data_ctx(X);
    tuner t = {.search = {.ctx = ctx,
                          .evaluate = evaluate,
                          .first = INFINITY,
                          .least = INFINITY,
                          .most = settings->fits},
               .X = X,
               .targets = targets,
               .settings = settings,
               .kernel = kernel};
    dkm_idx fits = settings->columns ? (settings->fits + 2) / 3 : settings->fits;

    *info = (dkm_tune_info){0};
    DKM_TRY(dkm_search_check(ctx));
    DKM_REQUIRE(ctx, !settings->columns || dkm_data_type(X) == DKM_DENSE, DKM_ERR_ARG,
                "a width per column is for dense rows, not for %s",
                dkm_type_name(dkm_data_type(X)));
    DKM_TRY(tune_round(&t, settings->starts, fits, gamma));
    if (settings->columns) {
        tuner_close(&t);
        DKM_AGREE(ctx, dkm_kernel_widen(kernel, dkm_data_cols(X)));
        DKM_AGREE(ctx, dkm_kernel_update(kernel));
        DKM_TRY(tune_round(&t, 1, settings->fits - t.search.fits, gamma));
    }
    *info = (dkm_tune_info){.before = t.search.first,
                            .after = t.search.least,
                            .fits = t.search.fits,
                            .params = t.tuned.count + 1};
out:
    tuner_close(&t);
    return status;
}
