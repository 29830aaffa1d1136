#include "selection/cv/closed_form/closed_forms.h"

#include <string.h>

#include "models/registry/settings_impl.h"

/* Solvers and precisions that end with the same predictions, up to rounding, and settings that only
 * say how fast a fit is expected to be. */
static const dkm_cv_honored krr_honors[] = {
    {"kx", NULL},     {"gamma", NULL},
    {"center", NULL}, {"solver", "auto|cholesky|eigen|band|"},
    {"primal", NULL}, {"precision", "auto|double|mixed|"},
    {"rates", NULL},  {0}};

static const dkm_cv_honored kde_honors[] = {{"kx", NULL},
                                            {"ky", NULL},
                                            {"components", NULL},
                                            {"eigensolver", NULL},
                                            {"gamma", NULL},
                                            {"precision", "auto|double|mixed|"},
                                            {0}};

/* Where a fit needs no kernel matrix, cross-validation does without one too. */
static int primal_is_faster(const dkm_settings *settings, const dkm_kernel *kx)
{
    return dkm_settings_choice(settings, "primal") == 0 && dkm_kernel_is_linear(kx);
}

static const dkm_cv_closed_form forms[] = {
    {"krr", &dkm_cv_krr, krr_honors, primal_is_faster},
    {"kde", &dkm_cv_kde, kde_honors, NULL},
};

const dkm_cv_closed_form *dkm_cv_closed_form_of(const char *method)
{
    for (size_t k = 0; k < sizeof forms / sizeof *forms; k++)
        if (strcmp(forms[k].method, method) == 0)
            return &forms[k];
    return NULL;
}

static int is_listed(const char *list, const char *word)
{
    for (const char *w = list; *w; w += strcspn(w, "|") + 1)
        if (strcspn(w, "|") == strlen(word) && strncmp(w, word, strlen(word)) == 0)
            return 1;
    return 0;
}

static int honors_setting(const dkm_cv_closed_form *form, const dkm_settings *settings,
                          const char *name)
{
    for (const dkm_cv_honored *h = form->honors; h->name; h++)
        if (strcmp(h->name, name) == 0)
            return !h->choices || is_listed(h->choices, dkm_settings_text(settings, name));
    return 0;
}

/* The process grid and the block size change no result, and the problem has them too. */
static int is_layout(const char *name)
{
    for (const dkm_setting *row = dkm_layout_settings; row->name; row++)
        if (strcmp(row->name, name) == 0)
            return 1;
    return 0;
}

int dkm_cv_honors(const dkm_cv_closed_form *form, const dkm_settings *settings)
{
    const dkm_setting *row;

    for (dkm_idx k = 0; (row = dkm_settings_row(settings, k)); k++)
        if (dkm_settings_changed(settings, row->name) && !is_layout(row->name) &&
            !honors_setting(form, settings, row->name))
            return 0;
    return 1;
}
