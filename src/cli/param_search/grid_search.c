#include "cli/param_search/grid_search.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/options/method_options.h"

#define POINTS_MAX 1000000

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

/* The values of each list; one value stays in the base. */
static dkm_local read_axes(grid_search *s)
{
    const args *a = s->r->args;

    for (int k = 0; s->lists[k]; k++) {
        search_axis *axis = &s->axis[k];
        int count = args_count(a, s->lists[k]);
        axis->name = s->lists[k];
        s->settings *= count > 1 ? count : 1;
        if (count < 2)
            continue;
        axis->integers = args_value(a, axis->name, 0)->option->kind != OPT_REAL;
        axis->value = calloc((size_t)count, sizeof *axis->value);
        if (!axis->value)
            return dkm_fail(s->r->ctx, DKM_ERR_MEMORY, "no memory for the values of --%s",
                            axis->name);
        for (axis->count = 0; axis->count < count; axis->count++) {
            const value *v = args_value(a, axis->name, axis->count);
            axis->value[axis->count] = (axis_value){v->text, v->range};
        }
    }
    return DKM_LOCAL_OK;
}

/* Every combination, the last list changing fastest. */
static dkm_local list_points(grid_search *s)
{
    int lists = grid_search_lists(s);

    s->trials = s->kernels * s->settings;
    s->value = calloc((size_t)s->settings * (size_t)lists + 1, sizeof *s->value);
    s->point = calloc((size_t)s->trials, sizeof *s->point);
    if (!s->value || !s->point)
        return dkm_fail(s->r->ctx, DKM_ERR_MEMORY, "no memory for %lld settings",
                        (long long)s->trials);
    for (int64_t p = 0; p < s->trials; p++)
        s->point[p] = p;
    for (int64_t p = 0; p < s->settings; p++) {
        int64_t rest = p;
        for (int k = lists - 1; k >= 0; k--) {
            const search_axis *axis = &s->axis[k];
            if (axis->count == 0)
                continue;
            s->value[p * lists + k] = axis->value[rest % axis->count].text;
            rest /= axis->count;
        }
    }
    return DKM_LOCAL_OK;
}

dkm_status grid_search_open(grid_search *s, run *r, int64_t trials)
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
                "such as --gamma 1e-6:1:7");
    DKM_TRY(param_grid_read(r, s->expressions, &s->param_grid));
    DKM_TRY(method_settings_read(r, &s->base));
    s->kernels = s->param_grid.count;
    DKM_AGREE(r->ctx, read_axes(s));
    if (trials > 0 && !grid_search_is_covered(s, trials))
        return grid_search_draw(s, trials);
    DKM_REQUIRE(r->ctx, s->kernels * s->settings <= POINTS_MAX, DKM_ERR_ARG,
                "%lld settings to try, and at most %d can be: give shorter lists, or --search "
                "random --trials N",
                (long long)(s->kernels * s->settings), POINTS_MAX);
    DKM_AGREE(r->ctx, list_points(s));
out:
    return status;
}

void grid_search_close(grid_search *s)
{
    for (int k = 0; k < GRID_SEARCH_ROWS; k++)
        free(s->axis[k].value);
    free(s->drawn);
    free(s->wanted);
    free(s->point);
    free(s->value);
    dkm_settings_destroy(&s->base);
    param_grid_free(&s->param_grid);
}

int grid_search_lists(const grid_search *s)
{
    int lists = 0;

    while (s->lists[lists])
        lists++;
    return lists;
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
    int lists = grid_search_lists(s);

    *settings = NULL;
    DKM_TRY(dkm_settings_copy(s->r->ctx, s->base, &point));
    for (int k = 0; s->expressions[k]; k++)
        DKM_TRY(set_kernel(s, kernel, s->expressions[k], point));
    for (int k = 0; k < lists; k++)
        if (s->value[setting * lists + k])
            DKM_TRY(dkm_settings_set(point, s->lists[k], s->value[setting * lists + k]));
    *settings = point;
    point = NULL;
out:
    dkm_settings_destroy(&point);
    return status;
}

int grid_search_at_end(const grid_search *s, int64_t kernel, int64_t setting, char *names)
{
    int lists = grid_search_lists(s);

    names[0] = '\0';
    if (s->wanted) /* draws have no ends */
        return 0;
    for (int k = 0; k < lists; k++)
        search_axis_add_end(&s->axis[k], s->value[setting * lists + k], "--", names,
                            GRID_SEARCH_LABEL);
    param_grid_at_end(&s->param_grid, kernel, names, GRID_SEARCH_LABEL);
    return names[0] != '\0';
}

int grid_search_value(const grid_search *s, int64_t point, int k, const char **name,
                      const char **text)
{
    const param_grid *t = &s->param_grid;
    int lists = grid_search_lists(s);

    if (k < t->names) {
        *name = t->name[k].name;
        *text = t->value[point / s->settings * t->names + k];
        return 1;
    }
    k -= t->names;
    for (int n = 0; n < lists; n++)
        if (s->axis[n].count > 0 && k-- == 0) {
            *name = s->axis[n].name;
            *text = s->value[point % s->settings * lists + n];
            return 1;
        }
    return 0;
}

void grid_search_label(const grid_search *s, int64_t kernel, int64_t setting, char *label)
{
    const char *name, *text;
    size_t used = 0;

    for (int k = 0; used < GRID_SEARCH_LABEL &&
                    grid_search_value(s, kernel * s->settings + setting, k, &name, &text);
         k++)
        used += (size_t)snprintf(label + used, GRID_SEARCH_LABEL - used, "%s%s=%s", used ? "," : "",
                                 name, text);
    if (used == 0)
        snprintf(label, GRID_SEARCH_LABEL, "-");
}
