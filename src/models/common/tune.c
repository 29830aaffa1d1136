/* Minimizes log L(theta, gamma), L the leave-one-out error (loo_gradient.h), over log theta and
 * log gamma by the limited-memory BFGS method of Nocedal 1980 (Mathematics of Computation
 * 35:773-782) in NLopt's implementation. Numbers stay within a factor 1e3 (theta) and 1e6 (gamma) of
 * where a search begins.
 *
 * Cost: per evaluation that of loo_gradient.c and param_gradient.c. Replicated: the parameters. */
#include "models/common/tune.h"

#include <math.h>
#include <string.h>

#ifdef DKM_HAVE_NLOPT
#include <nlopt.h>
#endif

#include "core/alloc.h"
#include "kernels/gram/gram.h"
#include "kernels/gram/param_gradient.h"
#include "models/common/fitted_kernel.h"

#define THETA_REACH 6.907755278982137 /* log 1e3 */
#define GAMMA_REACH 13.815510557964274
#define PRECISE     1e-6 /* relative change of the error below which a search ends */

typedef struct tuner {
    dkm_ctx *ctx;
    const dkm_data *X;
    const dkm_loo_targets *targets;
    const dkm_tune_settings *settings;
    dkm_kernel *kernel;
    dkm_param_place *places;
    dkm_idx count; /* of places; the ridge comes after them */
    double *x, *gradient, *best;
    double *from;        /* where the search at hand begins, and then NLopt's own x */
    double first, least; /* errors of the first evaluation, and of `best` */
    dkm_idx fits, end;   /* so far, and at which the search at hand ends */
    dkm_status status;
} tuner;

static void tuner_close(tuner *t)
{
    DKM_FREE(t->from);
    DKM_FREE(t->best);
    DKM_FREE(t->gradient);
    DKM_FREE(t->x);
    DKM_FREE(t->places);
}

/* List what there is to tune; x and best are where it stands. */
static dkm_local tuner_open(tuner *t, double gamma)
{
    dkm_local local = DKM_LOCAL_OK;

    t->count = dkm_kernel_list_params(t->kernel, 0, NULL);
    if (t->count == 0)
        return dkm_fail(t->ctx, DKM_ERR_ARG,
                        "the kernel %s has no numbers with derivatives that could be tuned: tune "
                        "kernels such as rbf(sigma=1), or leave --tune out",
                        dkm_kernel_text(t->kernel));
    DKM_STEP(dkm_alloc(t->ctx, t->count, &t->places));
    DKM_STEP(dkm_alloc(t->ctx, t->count + 1, &t->x));
    DKM_STEP(dkm_alloc(t->ctx, t->count + 1, &t->gradient));
    DKM_STEP(dkm_alloc(t->ctx, t->count + 1, &t->best));
    DKM_STEP(dkm_alloc(t->ctx, t->count + 1, &t->from));
    dkm_kernel_list_params(t->kernel, t->count, t->places);
    for (dkm_idx k = 0; k < t->count; k++)
        t->best[k] = log(*dkm_param_number(t->kernel, &t->places[k]));
    t->best[t->count] = log(gamma);
out:
    return local;
}

static dkm_local place_numbers(tuner *t, const double *x)
{
    for (dkm_idx k = 0; k < t->count; k++)
        *dkm_param_number(t->kernel, &t->places[k]) = exp(x[k]);
    return dkm_kernel_update(t->kernel);
}

static double trace_of(const dkm_dmat *G, dkm_ctx *ctx)
{
    double trace = dkm_dmat_mean_diagonal(G) * (double)dkm_dmat_rows(G);

    MPI_Bcast(&trace, 1, MPI_DOUBLE, 0, dkm_ctx_comm(ctx));
    return trace;
}

/* The error at t->x, and its gradient by the logarithms. Collective. */
static dkm_status evaluate(tuner *t, double *loss)
{
    dkm_status status = DKM_OK;
    double gamma = exp(t->x[t->count]);
    dkm_fitted_kernel fitted = {0};
    dkm_dmat *K = NULL, *G = NULL;

    t->fits++;
    DKM_AGREE(t->ctx, place_numbers(t, t->x));
    DKM_TRY(dkm_fitted_kernel_open(&fitted, t->ctx, t->X, t->kernel, &t->settings->layout));
    DKM_TRY(dkm_dmat_create(fitted.grid, dkm_data_rows(t->X), dkm_data_rows(t->X), fitted.nb,
                            fitted.nb, DKM_F64, &K));
    DKM_TRY(dkm_gram_fill(fitted.prepared, fitted.prepared, 1, K, NULL, NULL));
    DKM_TRY(dkm_loo_gradient(K, gamma, t->targets, loss, &G));
    dkm_dmat_destroy(&K);
    if (G) {
        DKM_TRY(dkm_gram_param_gradient(fitted.prepared, G, t->count, t->places, t->gradient));
        t->gradient[t->count] = trace_of(G, t->ctx);
        for (dkm_idx k = 0; k <= t->count; k++)
            t->gradient[k] *= exp(t->x[k]);
    }
    dkm_progress(t->ctx, (double)t->fits, (double)t->settings->fits);
out:
    dkm_dmat_destroy(&G);
    dkm_dmat_destroy(&K);
    dkm_fitted_kernel_close(&fitted);
    return status;
}

/* Of rank 0, and with it of all. Collective. */
static dkm_status evaluate_at(tuner *t, double *loss)
{
    MPI_Bcast(t->x, (int)t->count + 1, MPI_DOUBLE, 0, dkm_ctx_comm(t->ctx));
    t->status = evaluate(t, loss);
    if (t->status == DKM_OK)
        MPI_Bcast(loss, 1, MPI_DOUBLE, 0, dkm_ctx_comm(t->ctx));
    if (t->fits == 1)
        t->first = *loss;
    if (t->status == DKM_OK && *loss < t->least) {
        t->least = *loss;
        memcpy(t->best, t->x, (size_t)(t->count + 1) * sizeof *t->x);
    }
    return t->status;
}

/* The start of search number k > 0: numbers of the kernel are 1/3, 3, 1/9, 9, ... times those given,
 * and the ridge is a hundredth, for where a search begins with too much of it, it ends with a flat f. */
static double shift_of(dkm_idx k, int is_ridge)
{
    if (k == 0)
        return 0.0;
    return is_ridge ? -log(100.0) : (k % 2 ? -1.0 : 1.0) * log(3.0) * (double)((k + 1) / 2);
}

enum { SEARCH_ENDS, SEARCH_LOOKS };

/* On ranks other than 0: evaluate wherever the search looks. Collective. */
static void follow(tuner *t)
{
    int next = SEARCH_LOOKS;
    double loss = INFINITY;

    while (next == SEARCH_LOOKS) {
        MPI_Bcast(&next, 1, MPI_INT, 0, dkm_ctx_comm(t->ctx));
        if (next == SEARCH_LOOKS)
            t->status = evaluate_at(t, &loss);
    }
}

#ifdef DKM_HAVE_NLOPT

/* What NLopt calls on rank 0, while the others wait in follow(). Where there is no error, as too far
 * away for a factor, the value is large and the slope none. */
static double objective(unsigned n, const double *x, double *gradient, void *user)
{
    tuner *t = user;
    int next = SEARCH_LOOKS;
    double loss = INFINITY;

    if (t->status != DKM_OK)
        return HUGE_VAL;
    MPI_Bcast(&next, 1, MPI_INT, 0, dkm_ctx_comm(t->ctx));
    memcpy(t->x, x, n * sizeof *x);
    if (evaluate_at(t, &loss) != DKM_OK || !(loss > 0) || !isfinite(loss)) {
        for (unsigned k = 0; gradient && k < n; k++)
            gradient[k] = 0;
        return t->status != DKM_OK ? HUGE_VAL : loss <= 0 ? -700 : 700;
    }
    for (unsigned k = 0; gradient && k < n; k++)
        gradient[k] = t->gradient[k] / loss;
    return log(loss);
}

static void lead(tuner *t)
{
    unsigned n = (unsigned)t->count + 1;
    nlopt_opt opt = nlopt_create(NLOPT_LD_LBFGS, n);
    int next = SEARCH_ENDS;
    double value;

    for (unsigned k = 0; opt && k < n; k++) {
        double reach = k + 1 < n ? THETA_REACH : GAMMA_REACH;
        nlopt_set_lower_bound(opt, (int)k, t->from[k] - reach);
        nlopt_set_upper_bound(opt, (int)k, t->from[k] + reach);
    }
    if (opt) {
        nlopt_set_min_objective(opt, objective, t);
        nlopt_set_maxeval(opt, (int)(t->end - t->fits));
        nlopt_set_ftol_abs(opt, PRECISE);
        nlopt_optimize(opt, t->from,
                       &value); /* t->best has what was found, also after it gave up */
        nlopt_destroy(opt);
    }
    MPI_Bcast(&next, 1, MPI_INT, 0, dkm_ctx_comm(t->ctx));
}

static dkm_status check_nlopt(dkm_ctx *ctx)
{
    (void)ctx;
    return DKM_OK;
}

#else

static void lead(tuner *t)
{
    (void)t;
}

static dkm_status check_nlopt(dkm_ctx *ctx)
{
    return dkm_agree(ctx, dkm_fail(ctx, DKM_ERR_UNSUPPORTED,
                                   "tuning needs NLopt, and this dkmap was built without it "
                                   "(Debian: libnlopt-dev)"));
}

#endif

/* Searches from several starts, within so many evaluations; the kernel and gamma are then the best
 * that was seen. Collective. */
static dkm_status tune_round(tuner *t, dkm_idx starts, dkm_idx fits, double *gamma)
{
    dkm_status status = DKM_OK;
    dkm_idx begun = t->fits;
    double *given = NULL;

    DKM_AGREE(t->ctx, tuner_open(t, *gamma));
    DKM_AGREE(t->ctx, dkm_alloc(t->ctx, t->count + 1, &given));
    memcpy(given, t->best, (size_t)(t->count + 1) * sizeof *given);
    for (dkm_idx k = 0; k < starts; k++) {
        for (dkm_idx i = 0; i <= t->count; i++)
            t->from[i] = given[i] + shift_of(k, i == t->count);
        t->end = begun + fits * (k + 1) / starts;
        if (dkm_ctx_rank(t->ctx) == 0)
            lead(t);
        else
            follow(t);
        DKM_TRY(t->status);
    }
    DKM_AGREE(t->ctx, place_numbers(t, t->best));
    DKM_REQUIRE(t->ctx, isfinite(t->least), DKM_ERR_NUMERIC,
                "no leave-one-out error near %s with a ridge of %g: begin elsewhere",
                dkm_kernel_text(t->kernel), *gamma);
    *gamma = exp(t->best[t->count]);
out:
    DKM_FREE(given);
    return status;
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
    tuner t = {.ctx = dkm_data_ctx(X),
               .X = X,
               .targets = targets,
               .settings = settings,
               .kernel = kernel,
               .least = INFINITY};
    dkm_idx fits = settings->columns ? (settings->fits + 2) / 3 : settings->fits;

    *info = (dkm_tune_info){0};
    DKM_TRY(check_nlopt(t.ctx));
    DKM_REQUIRE(t.ctx, !settings->columns || dkm_data_type(X) == DKM_DENSE, DKM_ERR_ARG,
                "a width per column is for dense rows, not for %s",
                dkm_type_name(dkm_data_type(X)));
    DKM_TRY(tune_round(&t, settings->starts, fits, gamma));
    if (settings->columns) {
        tuner_close(&t);
        DKM_AGREE(t.ctx, dkm_kernel_widen(kernel, dkm_data_cols(X)));
        DKM_AGREE(t.ctx, dkm_kernel_update(kernel));
        DKM_TRY(tune_round(&t, 1, settings->fits - t.fits, gamma));
    }
    *info =
        (dkm_tune_info){.before = t.first, .after = t.least, .fits = t.fits, .params = t.count + 1};
out:
    tuner_close(&t);
    return status;
}
