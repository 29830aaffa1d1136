/* Minimizes the leave-one-out error (loo_gradient.h) over numbers of a kernel and the ridge
 * (gradient_search.h).
 *
 * Coarse to fine: the searches from several starts look at a random subset of the examples, where an
 * evaluation costs the cube of its share. The best end begins a search by GROWTH times as many, and so on
 * to one by all, each with the second derivatives at the end of the one before (cf. Swersky, Snoek and Adams
 * 2013, Multi-task Bayesian optimization, NIPS 26, for settings carried over from subsets). What is
 * found is a minimum for all examples.
 *
 * Cost: per evaluation that of loo_gradient.c and param_gradient.c. Replicated: the parameters, and the
 * indices of a subset. */
#include "models/common/tune.h"

#include <math.h>

#include <dkmap/landmarks.h>

#include "core/alloc.h"
#include "core/minmax.h"
#include "kernels/gram/gram.h"
#include "models/common/fitted_kernel.h"
#include "models/common/gradient_search.h"

#define SUBSET_ABOVE 2000 /* examples, from which on a subset is worth it where nothing is said */
#define SUBSET_OF    16   /* it is one example in so many... */
#define SUBSET_LEAST 500  /* ...and no fewer than this */
#define GROWTH       2
#define STAGES       16
#define FITS_STAGED  8 /* looks, for which it takes no fewer */
#define FULL_SHARE   3 /* one look in so many is not for the first subset */
#define ROUGH                                                                                      \
    1e-4 /* relative change at which a search by a subset ends: less says nothing of all */

typedef struct tuner {
    dkm_search search; /* the ridge comes after the numbers of the kernel */
    const dkm_data *X;
    const dkm_loo_targets *targets; /* of X */
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

/* The kernel and gamma become the best that was seen. Collective. */
static dkm_status tune_take(tuner *t, double *gamma)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = t->search.ctx;

    DKM_AGREE(ctx, dkm_tuned_kernel_set(&t->tuned, t->search.best));
    DKM_REQUIRE(ctx, isfinite(t->search.least), DKM_ERR_NUMERIC,
                "no leave-one-out error near %s with a ridge of %g: begin elsewhere",
                dkm_kernel_text(t->kernel), *gamma);
    *gamma = exp(t->search.best[t->tuned.count]);
out:
    return status;
}

/* Searches from several starts, within so many evaluations. Collective. */
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
    DKM_TRY(tune_take(t, gamma));
out:
    return status;
}

static void tuner_close(tuner *t)
{
    dkm_search_close(&t->search);
    dkm_tuned_kernel_close(&t->tuned);
}

int dkm_tune_can_select(const dkm_data *X)
{
    dkm_type type = dkm_data_type(X);

    return type != DKM_GRAM && type != DKM_DISTANCE && type != DKM_GRAPH;
}

dkm_status dkm_tune_select(const dkm_data *X, dkm_idx count, dkm_data **some)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_data_ctx(X);
    dkm_idx *rows = NULL;

    *some = NULL;
    DKM_AGREE(ctx, dkm_alloc(ctx, count, &rows));
    DKM_TRY(dkm_landmarks_uniform(ctx, dkm_data_rows(X), count, rows));
    DKM_TRY(dkm_data_select(X, count, rows, some));
out:
    DKM_FREE(rows);
    return status;
}

/* Examples to begin with; 0: all. */
static dkm_idx subset_of(const dkm_settings *s, const dkm_data *X, dkm_idx fits)
{
    dkm_idx m = dkm_data_rows(X), count = m >= SUBSET_ABOVE ? m / SUBSET_OF : 0;

    if (count > 0)
        count = dkm_idx_max(count, SUBSET_LEAST);
    if (dkm_settings_given(s, "tune-subset"))
        count = dkm_settings_int(s, "tune-subset");
    return count < m && fits >= FITS_STAGED && dkm_tune_can_select(X) ? count : 0;
}

dkm_tune_settings dkm_tune_read(const dkm_settings *s, const dkm_data *X)
{
    dkm_idx fits = dkm_settings_int(s, "tune-fits");

    return (dkm_tune_settings){.fits = fits,
                               .starts = dkm_settings_int(s, "tune-starts"),
                               .columns = dkm_settings_choice(s, "tune-widths") == 1,
                               .subset = subset_of(s, X, fits),
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
    if (tuned->subset > 0) {
        dkm_report_add_int(report, "tune_subset", tuned->subset);
        dkm_report_add_int(report, "tune_full_fits", tuned->full);
    }
}

/* Numbers of examples, each GROWTH times the one before, and at last all. */
static int list_stages(dkm_idx m, dkm_idx subset, dkm_idx sizes[STAGES])
{
    int count = 0;

    for (dkm_idx n = subset; n > 0 && (count == 0 || 2 * n <= m) && count < STAGES - 1; n *= GROWTH)
        sizes[count++] = n;
    sizes[count++] = m;
    return count;
}

/* Some of the examples: inputs, and targets less their own means. */
typedef struct subset {
    dkm_data *X, *T;
    dkm_loo_targets targets;
} subset;

static dkm_status subset_open(subset *u, const dkm_data *X, const dkm_loo_targets *targets,
                              dkm_idx count)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_data_ctx(X);
    dkm_data *T = NULL;
    double *means = NULL;

    DKM_TRY(dkm_data_create_dense(ctx, dkm_data_rows(X), targets->T.cols, &T));
    dkm_multivec_pack(&targets->T, dkm_data_values(T));
    DKM_TRY(dkm_tune_select(T, count, &u->T));
    DKM_TRY(dkm_tune_select(X, count, &u->X));
    u->targets = *targets;
    u->targets.T = dkm_multivec_view(ctx, count, targets->T.cols, dkm_data_values(u->T));
    DKM_AGREE(ctx, dkm_alloc(ctx, targets->T.cols, &means));
    if (targets->center)
        dkm_multivec_center(&u->targets.T, count, means);
out:
    DKM_FREE(means);
    dkm_data_destroy(&T);
    return status;
}

static void subset_close(subset *u)
{
    dkm_data_destroy(&u->T);
    dkm_data_destroy(&u->X);
}

/* The searches from all starts, by the examples that come first, with widths per column after them. */
static dkm_status tune_first(tuner *t, dkm_idx fits, double *gamma)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = t->search.ctx;
    int columns = t->settings->columns;

    DKM_TRY(tune_round(t, t->settings->starts, columns ? (fits + 2) / 3 : fits, gamma));
    if (!columns)
        goto out;
    tuner_close(t);
    DKM_AGREE(ctx, dkm_kernel_widen(t->kernel, dkm_data_cols(t->X)));
    DKM_AGREE(ctx, dkm_kernel_update(t->kernel));
    DKM_TRY(tune_round(t, 1, fits - t->search.fits, gamma));
out:
    return status;
}

/* From the end of the stage before, by more examples. */
static dkm_status tune_further(tuner *t, dkm_idx fits, double *gamma)
{
    dkm_status status = DKM_OK;

    dkm_search_restart(&t->search);
    DKM_TRY(dkm_search_refine(&t->search, fits));
    DKM_TRY(tune_take(t, gamma));
out:
    return status;
}

/* One of @p count stages: sizes[k] examples. */
static dkm_status tune_stage(tuner *t, int k, int count, const dkm_idx sizes[STAGES], double *gamma)
{
    dkm_status status = DKM_OK;
    const dkm_data *X = t->X;
    const dkm_loo_targets *targets = t->targets;
    dkm_idx left = t->settings->fits - t->search.fits;
    int last = k == count - 1;
    subset some = {0};

    if (k > 0 && !last && left < 2) /* the one that is left is for all examples */
        return DKM_OK;
    if (!last) {
        DKM_TRY(subset_open(&some, X, targets, sizes[k]));
        t->X = some.X;
        t->targets = &some.targets;
        left = k == 0 ? left - left / FULL_SHARE : left / 2;
    }
    t->search.precise = last ? 0 : ROUGH;
    DKM_TRY(k == 0 ? tune_first(t, left, gamma) : tune_further(t, left, gamma));
    if (!last && 2 * t->search.n <= t->settings->fits - t->search.fits)
        DKM_TRY(dkm_search_take_curvature(&t->search));
out:
    t->X = X;
    t->targets = targets;
    subset_close(&some);
    return status;
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
    dkm_idx sizes[STAGES], before = 0;
    int count = list_stages(dkm_data_rows(X), settings->subset, sizes);

    *info = (dkm_tune_info){.subset = settings->subset};
    DKM_TRY(dkm_search_check(ctx));
    DKM_REQUIRE(ctx, !settings->columns || dkm_data_type(X) == DKM_DENSE, DKM_ERR_ARG,
                "a width per column is for dense rows, not for %s",
                dkm_type_name(dkm_data_type(X)));
    for (int k = 0; k < count; k++) {
        before = t.search.fits;
        DKM_TRY(tune_stage(&t, k, count, sizes, gamma));
    }
    info->before = t.search.first;
    info->after = t.search.least;
    info->fits = t.search.fits;
    info->full = t.search.fits - before;
    info->params = t.tuned.count + 1;
out:
    tuner_close(&t);
    return status;
}
