#include "cli/options/grid_search.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/options/method_options.h"

/* Values that an option can take; one, whatever it is, for an option that is not given. */
static int64_t choices(const run *r, const char *name)
{
    int count = args_count(r->args, name);

    return count > 0 ? count : 1;
}

/* Which settings of the method are kernels, and which take lists here. */
static void list_rows(grid_search *s)
{
    const dkm_method *method = s->r->args->command->method;
    int expressions = 0, lists = 0;
    const dkm_setting *row;

    for (int k = 0; (row = dkm_method_setting(method, k)); k++) {
        assert(expressions < GRID_SEARCH_ROWS && lists < GRID_SEARCH_ROWS);
        if (row->flags & OPT_HIDDEN)
            continue;
        if (row->kind == DKM_SETTING_KERNEL || row->kind == DKM_SETTING_JOINT)
            s->expressions[expressions++] = row->name;
        else if (row->flags & (OPT_LIST | OPT_SEARCH))
            s->lists[lists++] = row->name;
    }
}

/* Whether fits of this method choose the kernel and the ridge that are not given. */
static int fit_chooses_kernel(const run *r)
{
    const dkm_setting *row;

    for (int k = 0; (row = dkm_method_setting(r->args->command->method, k)); k++)
        if (strcmp(row->name, "kx") == 0)
            return !(row->flags & OPT_REQUIRED);
    return 0;
}

dkm_status grid_search_open(grid_search *s, run *r)
{
    dkm_status status = DKM_OK;
    int fit_chooses;

    *s = (grid_search){.r = r, .settings = 1};
    list_rows(s);
    fit_chooses = fit_chooses_kernel(r);
    DKM_REQUIRE(
        r->ctx, !fit_chooses || args_given(r->args, "kx"), DKM_ERR_ARG,
        "--kx is missing: fit chooses a kernel by itself, a search tries those it is given");
    DKM_REQUIRE(r->ctx, !fit_chooses || args_given(r->args, "gamma"), DKM_ERR_ARG,
                "--gamma is missing: fit chooses one by itself, a search tries those it is given, "
                "such as --gamma 1e-6,1e-4,1e-2");
    DKM_TRY(param_grid_read(r, s->expressions, &s->param_grid));
    DKM_TRY(method_settings_read(r, &s->base));
    s->kernels = s->param_grid.count;
    for (int k = 0; s->lists[k]; k++)
        s->settings *= choices(r, s->lists[k]);
out:
    return status;
}

void grid_search_close(grid_search *s)
{
    dkm_settings_destroy(&s->base);
    param_grid_free(&s->param_grid);
}

/* Which value of list k a setting takes. */
static int64_t picked(const grid_search *s, int64_t setting, int k)
{
    int last = 0;

    while (s->lists[last])
        last++;
    while (--last > k)
        setting /= choices(s->r, s->lists[last]);
    return setting % choices(s->r, s->lists[k]);
}

static dkm_status set_kernel(const grid_search *s, int64_t kernel, const char *name,
                             dkm_settings *settings)
{
    dkm_status status = DKM_OK;
    char *text = NULL;

    DKM_TRY(param_grid_text(s->r, &s->param_grid, kernel, name, &text));
    DKM_TRY(dkm_settings_set(settings, name, text));
out:
    free(text);
    return status;
}

dkm_status grid_search_at(const grid_search *s, int64_t kernel, int64_t setting,
                          dkm_settings **settings)
{
    dkm_status status = DKM_OK;
    dkm_settings *point = NULL;

    *settings = NULL;
    DKM_TRY(dkm_settings_copy(s->r->ctx, s->base, &point));
    for (int k = 0; s->expressions[k]; k++)
        DKM_TRY(set_kernel(s, kernel, s->expressions[k], point));
    for (int k = 0; s->lists[k]; k++)
        if (args_count(s->r->args, s->lists[k]) > 1)
            DKM_TRY(dkm_settings_set(
                point, s->lists[k],
                args_value(s->r->args, s->lists[k], (int)picked(s, setting, k))->text));
    *settings = point;
    point = NULL;
out:
    dkm_settings_destroy(&point);
    return status;
}

int grid_search_at_end(const grid_search *s, int64_t kernel, int64_t setting, char *name)
{
    for (int k = 0; s->lists[k]; k++) {
        int64_t at = picked(s, setting, k), count = choices(s->r, s->lists[k]);
        if (count >= 3 && (at == 0 || at == count - 1)) {
            snprintf(name, GRID_SEARCH_LABEL, "--%s", s->lists[k]);
            return 1;
        }
    }
    return param_grid_at_end(&s->param_grid, kernel, name, GRID_SEARCH_LABEL);
}

void grid_search_label(const grid_search *s, int64_t kernel, int64_t setting, char *label)
{
    size_t used;

    param_grid_label(&s->param_grid, kernel, label);
    used = strlen(label);
    for (int k = 0; s->lists[k] && used < GRID_SEARCH_LABEL; k++) {
        const char *name = s->lists[k];
        if (args_count(s->r->args, name) > 1)
            used += (size_t)snprintf(
                label + used, GRID_SEARCH_LABEL - used, "%s%s=%s", used ? "," : "", name,
                args_value(s->r->args, name, (int)picked(s, setting, k))->text);
    }
    if (used == 0)
        snprintf(label, GRID_SEARCH_LABEL, "-");
}
