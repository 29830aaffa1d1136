/* Points of a grid of settings as a problem for cross-validation: by a closed form where the method
 * has one that honors all of them, else by fits. */
#include <string.h>

#include "core/alloc.h"
#include "models/common/method_parts.h"
#include "selection/cv/closed_form/closed_forms.h"

struct dkm_cv_search {
    dkm_ctx *ctx;
    const dkm_method *method;
    dkm_cv_points points;
    const dkm_data *X, *Y;
    dkm_data *groups; /* that the method must not have parted; or NULL */
    dkm_kernel **kx, **ky;
    const dkm_cv_closed_form *form; /* NULL: fits */
    double *gammas;
    dkm_eigen_settings *eigen;
    dkm_cv_ridge ridge;
    dkm_cv_fits fits;
    int warned; /* of a fit that did otherwise than asked: once is enough */
};

void dkm_cv_search_destroy(dkm_cv_search **search)
{
    dkm_cv_search *s = *search;

    if (!s)
        return;
    for (dkm_idx k = 0; k < s->points.kernels; k++) {
        if (s->ky)
            dkm_kernel_destroy(&s->ky[k]);
        if (s->kx)
            dkm_kernel_destroy(&s->kx[k]);
    }
    dkm_data_destroy(&s->groups);
    DKM_FREE(s->eigen);
    DKM_FREE(s->gammas);
    DKM_FREE(s->ky);
    DKM_FREE(s->kx);
    DKM_FREE(*search);
}

static void log_warnings(dkm_cv_search *s, dkm_ctx *ctx, const dkm_report *report)
{
    for (dkm_idx k = 0; k < dkm_report_count(report) && !s->warned; k++)
        if (dkm_report_at(report, k)->kind == DKM_RESULT_WARNING) {
            dkm_log(ctx, DKM_WARN, "%s", dkm_report_at(report, k)->text);
            s->warned = 1;
        }
}

/* Fit one point to some examples. */
static dkm_status refit(void *user, dkm_ctx *ctx, dkm_idx kernel, dkm_idx setting,
                        const dkm_cv_examples *examples, dkm_model **model)
{
    dkm_cv_search *s = user;
    dkm_status status = DKM_OK;
    dkm_settings *point = NULL;
    dkm_report *report = NULL;

    *model = NULL;
    DKM_AGREE(ctx, dkm_report_create(ctx, &report));
    DKM_TRY(dkm_settings_copy(ctx, s->points.setting[setting], &point));
    DKM_TRY(dkm_settings_replace_kernels(ctx, point, s->points.kernel[kernel]));
    if (s->fits.gram)
        DKM_TRY(dkm_settings_set(point, "kx", "gram"));
    if (examples->weights)
        DKM_TRY(dkm_settings_set_data(point, "weights", examples->weights));
    DKM_TRY(dkm_method_fit(ctx, s->method, point, examples->X, examples->Y, model, report));
    log_warnings(s, ctx, report);
out:
    dkm_report_destroy(&report);
    dkm_settings_destroy(&point);
    return status;
}

static dkm_local reserve(dkm_cv_search *s)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_calloc(s->ctx, s->points.kernels, &s->kx));
    DKM_STEP(dkm_calloc(s->ctx, s->points.kernels, &s->ky));
    DKM_STEP(dkm_calloc(s->ctx, s->points.settings, &s->gammas));
    DKM_STEP(dkm_calloc(s->ctx, s->points.settings, &s->eigen));
out:
    return local;
}

static dkm_status read_kernels(dkm_cv_search *s)
{
    dkm_status status = DKM_OK;

    for (dkm_idx k = 0; k < s->points.kernels; k++) {
        const dkm_settings *point = s->points.kernel[k];
        DKM_TRY(dkm_settings_check(s->ctx, point));
        if (dkm_method_has_setting(s->method, "kx"))
            DKM_TRY(dkm_settings_kernel(s->ctx, point, "kx", NULL, &s->kx[k]));
        if (dkm_method_has_setting(s->method, "ky"))
            DKM_TRY(dkm_settings_kernel(s->ctx, point, "ky", NULL, &s->ky[k]));
    }
out:
    return status;
}

static dkm_local check_settings(const dkm_cv_search *s)
{
    dkm_local local = DKM_LOCAL_OK;

    for (dkm_idx k = 0; k < s->points.settings; k++) {
        DKM_STEP(dkm_settings_check_cv(s->ctx, s->points.setting[k]));
        DKM_STEP(dkm_settings_check_values(s->ctx, s->points.setting[k]));
    }
out:
    return local;
}

/* Whether two settings ask for the same of an eigensolver. */
static int same_eigen(const dkm_eigen_settings *a, const dkm_eigen_settings *b)
{
    return a->components == b->components && a->share == b->share && a->solver == b->solver;
}

/* The settings as gammas times components, the gammas changing fastest; 0 where they are not. */
static int arrange_ridge(dkm_cv_search *s, const double *gamma, const dkm_eigen_settings *eigen)
{
    dkm_idx n = s->points.settings, gammas = 1;

    while (gammas < n && same_eigen(&eigen[gammas], &eigen[0]))
        gammas++;
    for (dkm_idx k = 0; k < n; k++) {
        if (n % gammas != 0 || gamma[k] != gamma[k % gammas] ||
            !same_eigen(&eigen[k], &eigen[k / gammas * gammas]))
            return 0;
        s->gammas[k % gammas] = gamma[k];
        s->eigen[k / gammas] = eigen[k];
    }
    s->ridge = (dkm_cv_ridge){.gammas = gammas,
                              .gamma = s->gammas,
                              .center = s->ridge.center,
                              .components = n / gammas,
                              .eigen = s->eigen};
    return 1;
}

/* What a closed form needs of every setting. */
static dkm_local read_ridge(dkm_cv_search *s, double *gamma, dkm_eigen_settings *eigen)
{
    dkm_local local = DKM_LOCAL_OK;

    for (dkm_idx k = 0; k < s->points.settings; k++) {
        const dkm_settings *point = s->points.setting[k];
        gamma[k] = dkm_settings_real(point, "gamma");
        eigen[k] = dkm_eigen_settings_default();
        if (dkm_method_has_setting(s->method, "components"))
            DKM_STEP(dkm_read_eigen(s->ctx, point, &eigen[k]));
        if (dkm_method_has_setting(s->method, "center"))
            s->ridge.center = dkm_settings_flag(point, "center");
    }
out:
    return local;
}

/* Whether one closed form serves all points: the same wherever settings are. */
static int all_honored(const dkm_cv_search *s, const dkm_cv_closed_form *form)
{
    if (!form || (form->fits_are_faster && form->fits_are_faster(s->points.setting[0], s->kx[0])))
        return 0;
    for (dkm_idx k = 0; k < s->points.settings; k++)
        if (!dkm_cv_honors(form, s->points.setting[k]))
            return 0;
    return 1;
}

static dkm_local choose_form(dkm_cv_search *s)
{
    const dkm_cv_closed_form *form = dkm_cv_closed_form_of(s->method->name);
    dkm_local local = DKM_LOCAL_OK;
    dkm_eigen_settings *eigen = NULL;
    double *gamma = NULL;

    if (!all_honored(s, form))
        return local;
    DKM_STEP(dkm_calloc(s->ctx, s->points.settings, &gamma));
    DKM_STEP(dkm_calloc(s->ctx, s->points.settings, &eigen));
    DKM_STEP(read_ridge(s, gamma, eigen));
    if (arrange_ridge(s, gamma, eigen))
        s->form = form;
out:
    DKM_FREE(eigen);
    DKM_FREE(gamma);
    return local;
}

dkm_status dkm_cv_search_create(dkm_ctx *ctx, const dkm_cv_points *points, dkm_cv_search **search)
{
    dkm_status status = DKM_OK;
    dkm_cv_search *s = NULL;

    *search = NULL;
    DKM_REQUIRE(ctx, points->kernels > 0 && points->settings > 0, DKM_ERR_ARG,
                "there is no setting to try");
    DKM_AGREE(ctx, dkm_calloc(ctx, 1, &s));
    s->ctx = ctx;
    s->points = *points;
    s->method = points->setting[0]->method;
    s->fits = (dkm_cv_fits){.user = s, .gram = s->method->takes_gram, .fit = refit};
    DKM_AGREE(ctx, reserve(s));
    DKM_AGREE(ctx, check_settings(s));
    DKM_TRY(read_kernels(s));
    DKM_AGREE(ctx, choose_form(s));
    *search = s;
    s = NULL;
out:
    dkm_cv_search_destroy(&s);
    return status;
}

/* Objects that are known by a matrix of all of them. */
static int is_matrix(dkm_type type)
{
    return type == DKM_GRAM || type == DKM_DISTANCE || type == DKM_GRAPH;
}

static int any_data_dependent(const dkm_cv_search *s, dkm_kernel *const *kernels)
{
    for (dkm_idx k = 0; k < s->points.kernels; k++)
        if (kernels[k] && dkm_kernel_is_data_dependent(kernels[k]))
            return 1;
    return 0;
}

/* A kernel that looks at all training objects must not see those held out: fits work it out anew
 * in each fold. But no part of a graph stands for itself: all of it is known beforehand, as is
 * usual with its kernels. */
static void keep_apart(dkm_cv_search *s)
{
    int inputs = any_data_dependent(s, s->kx), outputs = any_data_dependent(s, s->ky);

    if (s->kx[0] && is_matrix(dkm_data_type(s->X)))
        s->fits.gram = 1;
    if (inputs && dkm_data_type(s->X) == DKM_GRAPH) {
        dkm_log(s->ctx, DKM_WARN,
                "the kernel of a graph has seen the vertices of all folds, those held out as well, "
                "though not their outputs");
        inputs = 0;
    }
    if (!inputs && !outputs)
        return;
    if (inputs)
        s->fits.gram = 0;
    s->form = NULL;
    dkm_log(s->ctx, DKM_INFO,
            "a kernel looks at all training objects: it is computed anew for each fold");
}

static dkm_local check_outputs(const dkm_cv_search *s)
{
    dkm_type type = dkm_data_type(s->Y);

    if (!is_matrix(type))
        return DKM_LOCAL_OK;
    return dkm_fail(s->ctx, DKM_ERR_UNSUPPORTED,
                    "outputs that are a %s cannot be dealt to folds: make coordinates of them "
                    "first (dkmap gram, fit kpca --kx gram, encode) and take --ky linear",
                    dkm_type_name(type));
}

dkm_status dkm_cv_search_problem(dkm_cv_search *search, const dkm_data *X, const dkm_data *Y,
                                 dkm_cv_problem *problem)
{
    dkm_status status = DKM_OK;

    search->X = X;
    search->Y = Y;
    DKM_AGREE(search->ctx, check_outputs(search));
    keep_apart(search);
    if (search->method->groups)
        DKM_TRY(search->method->groups(search->points.setting[0], X, &search->groups));
    problem->group = search->groups;
    problem->X = X;
    problem->Y = Y;
    problem->kernels = search->points.kernels;
    problem->kx = (const dkm_kernel *const *)search->kx;
    problem->ky = search->ky[0] ? (const dkm_kernel *const *)search->ky : NULL;
    problem->settings = search->points.settings;
    problem->method = search->form ? search->form->folds : &dkm_cv_refit;
    problem->options = search->form ? (const void *)&search->ridge : &search->fits;
    problem->layout = dkm_settings_layout(search->points.setting[0]);
out:
    return status;
}

const char *dkm_cv_search_kernel_text(const dkm_cv_search *search, dkm_idx kernel, int outputs)
{
    const dkm_kernel *k = outputs ? search->ky[kernel] : search->kx[kernel];

    return k ? dkm_kernel_text(k) : NULL;
}

int dkm_cv_search_refits(const dkm_cv_search *search)
{
    return search->form == NULL;
}
