/* Minimizes the leave-one-out error (loo_gradient.h) over numbers of a kernel and the ridge
 * (gradient_search.h).
 *
 * Coarse to fine: the searches from several starts look at a random subset of the examples, where an
 * evaluation costs the cube of its share. The best end begins a search by GROWTH times as many, and so on
 * to one by all, each with the second derivatives at the end of the one before (cf. Swersky, Snoek and Adams
 * 2013, Multi-task Bayesian optimization, NIPS 26, for settings carried over from subsets). What is
 * found is a minimum for all examples.
 *
 * A subset may have its minimum where all examples have none, or a worse one. The mean of n squares of normal
 * residuals has a relative standard error of sqrt(2 / n): points that the first searches have seen, whose error is not
 * above the least by DOUBT of these, compete with its end at the next size, a few that are far from one another, and the
 * search goes on from the winner. Where all examples are looked at, the point where it all began competes. If they confirm
 * less than a part in SHRINKS of what the subset before had promised to gain over that point, it is no guide: they are
 * searched from the beginning too.
 *
 * A look at n of m examples counts (n / m)^2 of one at all, for m^2 and m^3 are the costs of its parts.
 *
 * Cost: per evaluation that of loo_gradient.c and param_gradient.c. Replicated: the parameters, as many points as
 * were seen by the first subset, and the indices of a subset. */
#include "models/common/tune.h"

#include <math.h>
#include <string.h>

#include <dkmap/landmarks.h>

#include "core/alloc.h"
#include "core/minmax.h"
#include "kernels/gram/gram.h"
#include "models/common/fitted_kernel.h"
#include "models/common/gradient_search.h"

#define SUBSET_ABOVE 2000 /* examples, from which on a subset is worth it where nothing is said */
#define SUBSET_OF    16   /* it is one example in so many... */
#define SUBSET_LEAST 500  /* ...and no fewer than this */
#define SUBSET_SPARE 25   /* examples that a subset has at least for each number that is tuned */
#define GROWTH       2
#define STAGES       16
#define FITS_STAGED  8   /* looks, for which it takes no fewer */
#define FULL_SHARE   3   /* the first subset costs one part of so many */
#define DOUBT        4   /* standard errors that the order of two points is in doubt */
#define APART        1.0 /* logarithms of numbers that are far from one another differ by so much */
#define RIVALS       5   /* points that compete, the first one among them */
#define SHRINKS      3   /* a gain by a subset is confirmed by such a part of it */
#define ROUGH                                                                                      \
    1e-4 /* relative change at which a search by a subset ends: less says nothing of all */

/* Points that were seen, a row of the search's numbers each. */
typedef struct trail {
    dkm_idx count, capacity;
    double *x, *loss;
} trail;

typedef struct tuner {
    dkm_search search; /* the ridge comes after the numbers of the kernel */
    trail seen;        /* of the first subset; then the points that compete */
    int follows;       /* points are added to it */
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

/* Space for so many points. */
static dkm_local trail_open(trail *r, dkm_ctx *ctx, dkm_idx n, dkm_idx capacity)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_FREE(r->loss);
    DKM_FREE(r->x);
    *r = (trail){.capacity = capacity};
    DKM_STEP(dkm_alloc(ctx, capacity * n, &r->x));
    DKM_STEP(dkm_alloc(ctx, capacity, &r->loss));
out:
    return local;
}

static void trail_close(trail *r)
{
    DKM_FREE(r->loss);
    DKM_FREE(r->x);
}

static void trail_add(trail *r, const dkm_search *s, double loss)
{
    if (r->count == r->capacity || !isfinite(loss))
        return;
    memcpy(r->x + r->count * s->n, s->x, (size_t)s->n * sizeof *s->x);
    r->loss[r->count++] = loss;
}

/* The largest difference of the logarithms of a number. */
static double distance_of(dkm_idx n, const double *x, const double *y)
{
    double most = 0;

    for (dkm_idx k = 0; k < n; k++)
        most = fmax(most, fabs(x[k] - y[k]));
    return most;
}

/* The point, of those in doubt, that is the farthest from `best` and the first @p chosen points: its index, or
 * -1 where none is far. */
static dkm_idx trail_farthest(const trail *r, const dkm_search *s, double doubt, dkm_idx chosen)
{
    dkm_idx found = -1;
    double most = APART;

    for (dkm_idx i = chosen; i < r->count; i++) {
        double gap = distance_of(s->n, r->x + i * s->n, s->best);
        for (dkm_idx k = 0; k < chosen; k++)
            gap = fmin(gap, distance_of(s->n, r->x + i * s->n, r->x + k * s->n));
        if (gap >= most && r->loss[i] <= (1.0 + doubt) * s->least) {
            most = gap;
            found = i;
        }
    }
    return found;
}

static void trail_swap(trail *r, dkm_idx n, dkm_idx i, dkm_idx j)
{
    double loss = r->loss[i];

    r->loss[i] = r->loss[j];
    r->loss[j] = loss;
    for (dkm_idx k = 0; k < n; k++) {
        double x = r->x[i * n + k];
        r->x[i * n + k] = r->x[j * n + k];
        r->x[j * n + k] = x;
    }
}

/* Leave the points that compete with `best`, by the losses of a subset of @p count examples: the first one that
 * was seen, and others. */
static void trail_choose(trail *r, const dkm_search *s, dkm_idx count)
{
    double doubt = DOUBT * sqrt(2.0 / (double)count);
    dkm_idx chosen = r->count > 0, next;

    while (chosen < RIVALS && (next = trail_farthest(r, s, doubt, chosen)) >= 0)
        trail_swap(r, s->n, chosen++, next);
    r->count = chosen;
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
    MPI_Bcast(loss, 1, MPI_DOUBLE, 0, dkm_ctx_comm(search->ctx));
    if (t->follows)
        trail_add(&t->seen, search, *loss);
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
    if (t->follows)
        DKM_AGREE(ctx, trail_open(&t->seen, ctx, t->search.n, fits));
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
    trail_close(&t->seen);
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

/* Examples to begin with, enough for the numbers that are tuned; 0: all. */
static dkm_idx subset_for(const dkm_data *X, const dkm_tune_settings *settings,
                          const dkm_kernel *kernel)
{
    dkm_idx numbers = 1 + dkm_kernel_list_params(kernel, 0, NULL), m = dkm_data_rows(X), count;

    if (settings->columns)
        numbers = dkm_idx_max(numbers, 1 + dkm_data_cols(X));
    count = dkm_idx_max(settings->subset, SUBSET_SPARE * numbers);
    return settings->subset > 0 && count < m ? count : 0;
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
    dkm_search_restart(&t->search); /* of more numbers, whose slope is not known */
    DKM_AGREE(ctx, dkm_kernel_widen(t->kernel, dkm_data_cols(t->X)));
    DKM_AGREE(ctx, dkm_kernel_update(t->kernel));
    DKM_TRY(tune_round(t, 1, fits - t->search.fits, gamma));
out:
    return status;
}

/* Look at the end of the stage before and at @p rivals points that compete with it. The best is where the search
 * goes on from; if that is not the end, second derivatives there are of no use. The first point and the second best one
 * compete again. @p gain is that of the end over the first point. Collective. */
static dkm_status tune_compete(tuner *t, dkm_idx rivals, double *gain)
{
    dkm_status status = DKM_OK;
    dkm_search *s = &t->search;
    trail *r = &t->seen;
    dkm_idx second = 1;
    double end = INFINITY;

    r->count = dkm_idx_min(r->count, rivals);
    memcpy(s->from, s->best, (size_t)s->n * sizeof *s->best);
    DKM_TRY(dkm_search_look(s, s->from, &end));
    for (dkm_idx k = 0; k < r->count; k++) {
        DKM_TRY(dkm_search_look(s, r->x + k * s->n, &r->loss[k]));
        second = k > 1 && r->loss[k] < r->loss[second] ? k : second;
    }
    *gain = r->count > 0 ? 1.0 - end / r->loss[0] : INFINITY;
    if (s->least < end)
        DKM_FREE(s->basis);
    if (r->count < 2)
        goto out;
    trail_swap(r, s->n, 1, second);
    r->count = 2;
    if (r->loss[1] < end) {
        memcpy(r->x + s->n, s->from, (size_t)s->n * sizeof *s->from);
        r->loss[1] = end;
    }
out:
    return status;
}

/* The search from @p start instead, and from `best` where that ends no better. Collective. */
static dkm_status tune_again(tuner *t, const double *start, dkm_idx fits)
{
    dkm_status status = DKM_OK;
    dkm_search *s = &t->search;
    size_t size = (size_t)s->n * sizeof *s->best;
    dkm_idx end = s->fits + fits;
    double least = s->least, *best = NULL;

    DKM_AGREE(s->ctx, dkm_alloc(s->ctx, s->n, &best));
    memcpy(best, s->best, size);
    memcpy(s->best, start, size);
    DKM_FREE(s->basis);
    dkm_search_restart(s);
    DKM_TRY(dkm_search_refine(s, fits));
    if (s->least <= least)
        goto out;
    memcpy(s->best, best, size);
    dkm_search_restart(s);
    DKM_TRY(dkm_search_refine(s, dkm_idx_max(end - s->fits, 1)));
out:
    DKM_FREE(best);
    return status;
}

/* From the end of the stage before, by more examples. */
static dkm_status tune_further(tuner *t, dkm_idx rivals, int last, dkm_idx fits, double *gamma)
{
    dkm_status status = DKM_OK;
    dkm_search *s = &t->search;
    dkm_idx end = s->fits + fits;
    double promised = t->seen.count > 0 ? 1.0 - s->least / t->seen.loss[0] : 0.0, gain = INFINITY;

    dkm_search_restart(s);
    DKM_TRY(tune_compete(t, rivals, &gain));
    fits = dkm_idx_max(end - s->fits, 1);
    if (last && gain < promised / SHRINKS)
        DKM_TRY(tune_again(t, t->seen.x, fits));
    else
        DKM_TRY(dkm_search_refine(s, fits));
    DKM_TRY(tune_take(t, gamma));
out:
    return status;
}

/* Looks at the examples of this stage that cost so much. */
static dkm_idx looks_for(const tuner *t, double spent)
{
    return (dkm_idx)fmin(spent / t->search.cost, (double)t->settings->fits);
}

/* The search by the examples of stage k. */
static dkm_status stage_search(tuner *t, int k, int last, double left, double *gamma)
{
    dkm_idx rivals = dkm_idx_min(looks_for(t, left / 4), last && k > 1 ? 1 : RIVALS);

    if (k > 0)
        return tune_further(t, rivals, last, looks_for(t, last ? left : left / 2), gamma);
    return tune_first(t, dkm_idx_max(looks_for(t, last ? left : left / FULL_SHARE), 1), gamma);
}

/* One of @p count stages: sizes[k] examples. */
static dkm_status tune_stage(tuner *t, int k, int count, const dkm_idx sizes[STAGES], double *gamma)
{
    dkm_status status = DKM_OK;
    const dkm_data *X = t->X;
    const dkm_loo_targets *targets = t->targets;
    double left = (double)t->settings->fits - t->search.spent,
           share = (double)sizes[k] / (double)sizes[count - 1];
    int last = k == count - 1;
    subset some = {0};

    t->search.cost = share * share;
    if (k > 0 && !last && (left < 2 || looks_for(t, left / 4) < 1)) /* at all examples instead */
        return DKM_OK;
    if (!last) {
        DKM_TRY(subset_open(&some, X, targets, sizes[k]));
        t->X = some.X;
        t->targets = &some.targets;
    }
    t->search.precise = last ? 0 : ROUGH;
    t->follows = k == 0 && !last;
    DKM_TRY(stage_search(t, k, last, left, gamma));
    t->follows = 0;
    if (!last)
        trail_choose(&t->seen, &t->search, sizes[k]);
    left = (double)t->settings->fits - t->search.spent;
    if (!last && t->search.n <= looks_for(t, left / 4))
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
    dkm_idx sizes[STAGES], before = 0, few = subset_for(X, settings, kernel);
    int count = list_stages(dkm_data_rows(X), few, sizes);

    *info = (dkm_tune_info){.subset = few};
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
