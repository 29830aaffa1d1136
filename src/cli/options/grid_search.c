#include "cli/options/grid_search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const kernel_options[] = {"kx", "ky", "joint", NULL};

/* Those of the kernel options that the command has, ended by NULL. */
static void list_expressions(const run *r, const char *names[GRID_SEARCH_KERNELS + 1])
{
    int count = 0;

    for (int k = 0; k < GRID_SEARCH_KERNELS; k++)
        if (args_accepts(r->args, kernel_options[k]))
            names[count++] = kernel_options[k];
    names[count] = NULL;
}

/* Values that an option can take; one, whatever it is, for an option that is not given. */
static int64_t choices(const run *r, const char *name)
{
    int count = args_count(r->args, name);

    return count > 0 ? count : 1;
}

dkm_status grid_search_open(grid_search *s, run *r, const char *const *lists)
{
    const char *names[GRID_SEARCH_KERNELS + 1];
    dkm_status status = DKM_OK;

    *s = (grid_search){.r = r, .lists = lists, .settings = 1};
    list_expressions(r, names);
    DKM_TRY(param_grid_read(r, names, &s->param_grid));
    s->kernels = s->param_grid.count;
    for (int k = 0; lists[k]; k++)
        s->settings *= choices(r, lists[k]);
out:
    return status;
}

void grid_search_close(grid_search *s)
{
    param_grid_free(&s->param_grid);
}

/* Which value of a list a setting takes; -1 for an option that is no list. */
static int64_t picked(const grid_search *s, int64_t setting, const char *name)
{
    int last = 0;

    while (s->lists[last])
        last++;
    while (last-- > 0) {
        int64_t count = choices(s->r, s->lists[last]);
        if (strcmp(s->lists[last], name) == 0)
            return setting % count;
        setting /= count;
    }
    return -1;
}

/* What stands for the text of an option at the point; NULL: the text itself. */
static const char *replaced(const grid_search_point *p, const char *name)
{
    for (int k = 0; k < GRID_SEARCH_KERNELS; k++)
        if (strcmp(name, kernel_options[k]) == 0)
            return p->kernel[k];
    return NULL;
}

static dkm_local pick_values(const grid_search *s, dkm_ctx *ctx, int64_t setting,
                             grid_search_point *p)
{
    const args *all = s->r->args;
    args *a = &p->args;

    *a = *all;
    a->count = 0;
    a->values = calloc((size_t)all->count + 1, sizeof *a->values);
    if (!a->values)
        return dkm_fail(ctx, DKM_ERR_MEMORY, "no memory for the options of a setting");
    for (int k = 0; k < all->count; k++) {
        const value *v = &all->values[k];
        const char *name = v->option->name, *text = replaced(p, name);
        int64_t pick = picked(s, setting, name);
        if (pick >= 0 && v != args_value(all, name, (int)pick))
            continue;
        a->values[a->count] = *v;
        if (text)
            a->values[a->count].text = text;
        a->count++;
    }
    return DKM_LOCAL_OK;
}

static dkm_local copy_text(dkm_ctx *ctx, const char *text, char **copy)
{
    size_t bytes = strlen(text) + 1;

    *copy = malloc(bytes);
    if (!*copy)
        return dkm_fail(ctx, DKM_ERR_MEMORY, "no memory for a kernel");
    memcpy(*copy, text, bytes);
    return DKM_LOCAL_OK;
}

dkm_status grid_search_at(const grid_search *s, dkm_ctx *ctx, int64_t kernel, int64_t setting,
                          const char *kx, grid_search_point *p)
{
    dkm_status status = DKM_OK;

    *p = (grid_search_point){.run = *s->r};
    p->run.ctx = ctx;
    p->run.record = NULL;
    for (int k = 0; k < GRID_SEARCH_KERNELS; k++) {
        if (!args_accepts(s->r->args, kernel_options[k]))
            continue;
        if (k == 0 && kx)
            DKM_AGREE(ctx, copy_text(ctx, kx, &p->kernel[k]));
        else
            DKM_TRY(
                param_grid_text(&p->run, &s->param_grid, kernel, kernel_options[k], &p->kernel[k]));
    }
    DKM_AGREE(ctx, pick_values(s, ctx, setting, p));
    p->run.args = &p->args;
out:
    return status;
}

void grid_search_point_free(grid_search_point *p)
{
    free(p->args.values);
    for (int k = 0; k < GRID_SEARCH_KERNELS; k++)
        free(p->kernel[k]);
    *p = (grid_search_point){0};
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
                args_value(s->r->args, name, (int)picked(s, setting, name))->text);
    }
    if (used == 0)
        snprintf(label, GRID_SEARCH_LABEL, "-");
}
