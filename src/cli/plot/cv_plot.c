#include "cli/plot/cv_plot.h"

#include <stdlib.h>

#include "cli/plot/plot_trials.h"

typedef char label_text[GRID_SEARCH_LABEL];

static dkm_local list_trials(const validation *v, trial *list, label_text *labels)
{
    const grid_search *search = &v->grid_search;

    if (!list || !labels)
        return dkm_fail(v->r->ctx, DKM_ERR_MEMORY, "no memory for a picture of %lld settings",
                        (long long)search->trials);
    for (int64_t t = 0; t < search->trials; t++) {
        const dkm_cv_score *s = &v->result.table[search->point[t]];
        grid_search_label(search, search->point[t] / search->settings,
                          search->point[t] % search->settings, labels[t]);
        list[t] = (trial){.label = labels[t], .mean = s->mean, .stderror = s->stderror};
    }
    return DKM_LOCAL_OK;
}

dkm_status cv_plot(const validation *v)
{
    dkm_status status = DKM_OK;
    size_t count = (size_t)v->grid_search.trials;
    label_text *labels = NULL;
    trial *list = NULL;
    trials all = {.count = v->grid_search.trials,
                  .loss = dkm_loss_name(v->problem.loss),
                  .greater_is_better = dkm_loss_greater_is_better(v->problem.loss)};
    drawing picture;

    if (!args_text(v->r->args, "plot"))
        return DKM_OK;
    labels = malloc(count * sizeof *labels);
    all.trial = list = malloc(count * sizeof *list);
    DKM_AGREE(v->r->ctx, list_trials(v, list, labels));
    for (int64_t t = 0; t < all.count; t++)
        if (v->grid_search.point[t] == v->result.best)
            all.best = t;
    picture = trials_drawing(&all);
    DKM_TRY(gnuplot_write(v->r, &picture));
out:
    free(list);
    free(labels);
    return status;
}
