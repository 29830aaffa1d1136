#include "cli/options/param_grid.h"

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

/* Cut "V1,V2,..." into values; 0 when one is empty. */
static int cut_values(param_values *n, char *text)
{
    for (char *next = text; next; text = next) {
        next = strchr(text, ',');
        if (next)
            *next++ = '\0';
        if (*text == '\0')
            return 0;
        n->values[n->count++] = text;
    }
    return 1;
}

static dkm_local read_one(run *r, const char *given, param_grid *t)
{
    size_t length = name_length(given), bytes = strlen(given) + 1;
    param_values *n = &t->name[t->names];

    if (length == 0 || given[length] != '=')
        return dkm_fail(r->ctx, DKM_ERR_ARG,
                        "--try %s: write NAME=V1,V2,... with a name of letters, digits and _",
                        given);
    if (param_grid_find(t, given, length))
        return dkm_fail(r->ctx, DKM_ERR_ARG, "--try %.*s is given twice", (int)length, given);
    n->name = malloc(bytes);
    n->values = calloc(bytes, sizeof *n->values);
    t->names++;
    if (!n->name || !n->values)
        return dkm_fail(r->ctx, DKM_ERR_MEMORY, "no memory for the values of --try");
    memcpy(n->name, given, bytes);
    n->name[length] = '\0';
    if (!cut_values(n, n->name + length + 1))
        return dkm_fail(r->ctx, DKM_ERR_ARG, "--try %s: a value is missing", given);
    t->count *= n->count;
    if (t->count > COUNT_MOST)
        return dkm_fail(r->ctx, DKM_ERR_ARG, "--try asks for more than %lld settings",
                        (long long)COUNT_MOST);
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
        free(t->name[n].name);
        free(t->name[n].values);
    }
    free(t->name);
    *t = (param_grid){0};
}

/* What a name stands for in combination k. */
static const char *param_grid_value_of(const param_grid *t, int64_t k, const param_values *name)
{
    for (int n = t->names - 1; &t->name[n] != name; n--)
        k /= t->name[n].count;
    return name->values[k % name->count];
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

int param_grid_at_end(const param_grid *t, int64_t k, char *name, size_t size)
{
    for (int n = 0; n < t->names; n++) {
        const param_values *v = &t->name[n];
        const char *taken = param_grid_value_of(t, k, v);
        if (v->count >= 3 && (taken == v->values[0] || taken == v->values[v->count - 1])) {
            snprintf(name, size, "$%s", v->name);
            return 1;
        }
    }
    return 0;
}
