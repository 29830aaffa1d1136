#include "cli/param_search/param_grid.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char LETTERS[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
static const char NAMES[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
static const int64_t COUNT_MOST = 100000;

/* The length of the name that @p text begins with; 0 when it begins with none. */
static size_t name_length(const char *text)
{
    return strspn(text, LETTERS) > 0 ? strspn(text, NAMES) : 0;
}

static const param_values *param_grid_find(const param_grid *t, const char *name, size_t length)
{
    for (int n = 0; n < t->names; n++)
        if (strlen(t->name[n].name) == length && memcmp(t->name[n].name, name, length) == 0)
            return &t->name[n];
    return NULL;
}

static int add_value(param_values *n, const char *text, int of_range)
{
    axis_value *grown = realloc(n->axis.value, ((size_t)n->axis.count + 1) * sizeof *grown);

    if (!grown)
        return 0;
    n->axis.value = grown;
    grown[n->axis.count++] = (axis_value){text, of_range};
    return 1;
}

static int add_range(param_values *n, const range *given)
{
    char **grown = realloc(n->range_texts, ((size_t)n->ranges + 1) * sizeof *grown);
    int count, stored = grown != NULL;

    if (!grown)
        return 0;
    n->range_texts = grown;
    count = range_expand(given, 0, &grown[n->ranges]);
    n->ranges += count > 0;
    for (int k = 0; k < count && stored; k++)
        stored = add_value(n, grown[n->ranges - 1] + (size_t)k * RANGE_TEXT, n->ranges);
    return stored && count > 0;
}

/* Cut "V1,V2,..." into values and ranges of values. */
static dkm_local cut_values(run *r, param_values *n, char *text, const char *given)
{
    range span;

    for (char *next = text; next; text = next) {
        next = strchr(text, ',');
        if (next)
            *next++ = '\0';
        if (*text == '\0')
            return dkm_fail(r->ctx, DKM_ERR_ARG, "--try %s: a value is missing", given);
        if (!(range_parse(text, &span) ? add_range(n, &span) : add_value(n, text, 0)))
            return dkm_fail(r->ctx, DKM_ERR_MEMORY, "no memory for the values of --try");
    }
    return DKM_LOCAL_OK;
}

static dkm_local read_one(run *r, const char *given, param_grid *t)
{
    dkm_local local = DKM_LOCAL_OK;
    size_t length = name_length(given), bytes = strlen(given) + 1;
    param_values *n = &t->name[t->names];

    if (length == 0 || given[length] != '=')
        return dkm_fail(r->ctx, DKM_ERR_ARG,
                        "--try %s: write NAME=V1,V2,... with a name of letters, digits and _",
                        given);
    if (param_grid_find(t, given, length))
        return dkm_fail(r->ctx, DKM_ERR_ARG, "--try %.*s is given twice", (int)length, given);
    n->name = malloc(bytes);
    t->names++;
    if (!n->name)
        return dkm_fail(r->ctx, DKM_ERR_MEMORY, "no memory for the values of --try");
    memcpy(n->name, given, bytes);
    n->name[length] = '\0';
    n->axis.name = n->name;
    DKM_STEP(cut_values(r, n, n->name + length + 1, given));
    t->count *= n->axis.count;
    if (t->count > COUNT_MOST)
        return dkm_fail(r->ctx, DKM_ERR_ARG, "--try asks for more than %lld settings",
                        (long long)COUNT_MOST);
out:
    return local;
}

/* Every combination, the last name changing fastest. */
static dkm_local combine(run *r, param_grid *t)
{
    t->value = calloc((size_t)t->count * (size_t)t->names + 1, sizeof *t->value);
    if (!t->value)
        return dkm_fail(r->ctx, DKM_ERR_MEMORY, "no memory for the values of --try");
    for (int64_t k = 0; k < t->count; k++) {
        int64_t rest = k;
        for (int n = t->names - 1; n >= 0; n--) {
            const search_axis *axis = &t->name[n].axis;
            t->value[k * t->names + n] = axis->value[rest % axis->count].text;
            rest /= axis->count;
        }
    }
    return DKM_LOCAL_OK;
}

static dkm_local param_grid_read_all(run *r, param_grid *t)
{
    dkm_local local = DKM_LOCAL_OK;
    int given = args_count(r->args, "try");

    *t = (param_grid){.count = 1};
    t->name = calloc((size_t)given + 1, sizeof *t->name);
    if (!t->name)
        return dkm_fail(r->ctx, DKM_ERR_MEMORY, "no memory for the values of --try");
    for (int k = 0; k < given; k++)
        DKM_STEP(read_one(r, args_value(r->args, "try", k)->text, t));
    DKM_STEP(combine(r, t));
out:
    return local;
}

/* Every `$NAME` of an option must be known. */
static dkm_local check_option(run *r, const param_grid *t, const char *name)
{
    const char *text = args_text(r->args, name);

    for (const char *at = text; at && (at = strchr(at, '$')); at++) {
        size_t length = name_length(at + 1);
        if (length == 0)
            return dkm_fail(r->ctx, DKM_ERR_ARG, "--%s %s: a name must follow $", name, text);
        if (!param_grid_find(t, at + 1, length))
            return dkm_fail(r->ctx, DKM_ERR_ARG, "--%s %s: no --try says what $%.*s is", name, text,
                            (int)length, at + 1);
    }
    return DKM_LOCAL_OK;
}

static int uses(const char *text, const char *name)
{
    for (const char *at = text; at && (at = strchr(at, '$')); at++)
        if (name_length(at + 1) == strlen(name) && strncmp(at + 1, name, strlen(name)) == 0)
            return 1;
    return 0;
}

/* Every name must be used by an option. */
static dkm_local param_grid_check_name(run *r, const char *name, const char *const *options)
{
    char tried[100] = "";
    size_t used = 0;

    for (int k = 0; options[k]; k++) {
        if (uses(args_text(r->args, options[k]), name))
            return DKM_LOCAL_OK;
        if (used < sizeof tried)
            used += (size_t)snprintf(tried + used, sizeof tried - used, "%s--%s", k ? ", " : "",
                                     options[k]);
    }
    return dkm_fail(r->ctx, DKM_ERR_ARG, "--try %s: there is no $%s in %s", name, name, tried);
}

static dkm_local read_and_check(run *r, const char *const *options, param_grid *t)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(param_grid_read_all(r, t));
    for (int k = 0; options[k]; k++)
        DKM_STEP(check_option(r, t, options[k]));
    for (int n = 0; n < t->names; n++)
        DKM_STEP(param_grid_check_name(r, t->name[n].name, options));
out:
    return local;
}

dkm_status param_grid_read(run *r, const char *const *options, param_grid *t)
{
    return dkm_agree(r->ctx, read_and_check(r, options, t));
}

void param_grid_free(param_grid *t)
{
    for (int n = 0; n < t->names; n++) {
        for (int k = 0; k < t->name[n].ranges; k++)
            free(t->name[n].range_texts[k]);
        free(t->name[n].range_texts);
        free(t->name[n].axis.value);
        free(t->name[n].name);
    }
    free(t->name);
    free(t->value);
    *t = (param_grid){0};
}

/* What a name stands for in combination k. */
static const char *param_grid_value_of(const param_grid *t, int64_t k, const param_values *name)
{
    return t->value[k * t->names + (name - t->name)];
}

static size_t param_grid_append(char *out, size_t at, const char *text, size_t length)
{
    if (out)
        memcpy(out + at, text, length);
    return at + length;
}

/* Write @p text with values for names to @p out, where that is not NULL; returns its length. */
static size_t expand(const param_grid *t, int64_t k, const char *text, char *out)
{
    size_t at = 0;

    while (*text) {
        size_t plain = strcspn(text, "$"), length;
        const char *chosen;
        at = param_grid_append(out, at, text, plain);
        text += plain;
        if (*text == '\0')
            break;
        length = name_length(text + 1);
        chosen = param_grid_value_of(t, k, param_grid_find(t, text + 1, length));
        at = param_grid_append(out, at, chosen, strlen(chosen));
        text += 1 + length;
    }
    return at;
}

dkm_status param_grid_text(run *r, const param_grid *t, int64_t k, const char *name, char **text)
{
    const char *given = args_text(r->args, name);
    dkm_local local = DKM_LOCAL_OK;
    size_t length;

    *text = NULL;
    if (!given)
        return DKM_OK;
    length = expand(t, k, given, NULL);
    *text = malloc(length + 1);
    if (*text) {
        expand(t, k, given, *text);
        (*text)[length] = '\0';
    } else {
        local = dkm_fail(r->ctx, DKM_ERR_MEMORY, "no memory for --%s", name);
    }
    return dkm_agree(r->ctx, local);
}

void param_grid_label(const param_grid *t, int64_t k, char *label)
{
    size_t used = 0;

    label[0] = '\0';
    for (int n = 0; n < t->names && used < PARAM_LABEL; n++)
        used += (size_t)snprintf(label + used, PARAM_LABEL - used, "%s%s=%s", n ? "," : "",
                                 t->name[n].name, param_grid_value_of(t, k, &t->name[n]));
}

void param_grid_at_end(const param_grid *t, int64_t k, char *names, size_t size)
{
    for (int n = 0; n < t->names; n++)
        search_axis_add_end(&t->name[n].axis, param_grid_value_of(t, k, &t->name[n]), "$", names,
                            size);
}
