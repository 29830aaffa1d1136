#include "kernels/expression/params.h"

#include <stdio.h>
#include <string.h>

#include "core/alloc.h"

int dkm_kernel_class_params(const dkm_kernel_class *kind)
{
    int count = 0;

    while (kind->params && kind->params[count].name)
        count++;
    return count;
}

static const char *range_text(dkm_param_range range)
{
    switch (range) {
    case DKM_POSITIVE:
        return "greater than 0";
    case DKM_NOT_NEGATIVE:
        return "0 or more";
    case DKM_SHARE:
        return "greater than 0 and at most 1";
    case DKM_COUNT:
        return "an integer from 1 to 1000";
    case DKM_COUNT_OR_ZERO:
        break;
    }
    return "an integer from 0 to 1000";
}

static int in_range(dkm_param_range range, double x)
{
    switch (range) {
    case DKM_POSITIVE:
        return x > 0;
    case DKM_NOT_NEGATIVE:
        return x >= 0;
    case DKM_SHARE:
        return x > 0 && x <= 1;
    case DKM_COUNT:
        return x >= 1 && x <= 1000 && floor(x) == x;
    case DKM_COUNT_OR_ZERO:
        break;
    }
    return x >= 0 && x <= 1000 && floor(x) == x;
}

/* "only a, b and c" */
static void list_params(const dkm_kernel_class *kind, char *text, size_t size)
{
    int count = dkm_kernel_class_params(kind);
    size_t used = 0;

    for (int k = 0; k < count && used < size; k++)
        used += (size_t)snprintf(text + used, size - used, "%s%s",
                                 k == 0           ? "only "
                                 : k == count - 1 ? " and "
                                                  : ", ",
                                 kind->params[k].name);
}

/* Widths by the names that other programs have. */
static const char *other_param(const dkm_expression *e, dkm_span name, const dkm_kernel_class *kind)
{
    static const struct {
        const char *other, *kernel, *advice;
    } known[] = {
        {"gamma", "rbf", ": exp(-gamma ||x - x'||^2) has sigma = 1 / sqrt(2 gamma)"},
        {"gamma", "laplace", ": exp(-gamma ||x - x'||_1) has sigma = 1 / gamma"},
        {"length_scale", "rbf", ": a length scale is sigma"},
        {"length_scale", "matern", ": a length scale is sigma"},
        {"length_scale", "rq", ": a length scale is sigma"},
        {"coef0", "poly", ": coef0 is c"},
    };

    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (strcmp(kind->name, known[k].kernel) == 0 &&
            strlen(known[k].other) == (size_t)name.length &&
            strncmp(e->text + name.at, known[k].other, (size_t)name.length) == 0)
            return known[k].advice;
    return "";
}

static dkm_local fail_unknown_param(const dkm_expression *e, dkm_span name,
                                    const dkm_kernel_class *kind)
{
    char known[256] = "nor any other";

    list_params(kind, known, sizeof known);
    return dkm_expression_fail(e, name.at, "%s has no parameter '%.*s', %s%s", kind->name,
                               (int)name.length, e->text + name.at, known,
                               other_param(e, name, kind));
}

static const char *find_word(const dkm_expression *e, dkm_span value, const dkm_param *p)
{
    for (int k = 0; p->words && p->words[k]; k++)
        if (dkm_expression_is(e, value, p->words[k]))
            return p->words[k];
    return NULL;
}

static dkm_local read_number(const dkm_expression *e, dkm_span value, const dkm_param *p,
                             double *number)
{
    dkm_local local = dkm_expression_number(e, value, number);

    if (local.code == DKM_OK && !in_range(p->range, *number))
        local = dkm_expression_fail(e, value.at, "%s must be %s", p->name, range_text(p->range));
    return local;
}

/* What is between two numbers of a parameter that takes several; 0 for one that does not. */
char dkm_param_separator(const dkm_param *p)
{
    return p->is_shape ? 'x' : p->is_list ? ';' : '\0';
}

/* Numbers with separators between them. */
static dkm_local read_numbers(const dkm_expression *e, dkm_span value, const dkm_param *p,
                              dkm_param_value *out)
{
    dkm_local local = DKM_LOCAL_OK;
    const char *text = e->text;
    dkm_idx end = value.at + value.length, count = 1;
    char separator = dkm_param_separator(p);

    for (dkm_idx k = value.at; k < end; k++)
        count += separator && text[k] == separator;
    DKM_STEP(dkm_calloc(e->ctx, count, &out->numbers));
    for (out->count = 0; out->count < count; out->count++) {
        const char *next =
            separator ? memchr(text + value.at, separator, (size_t)(end - value.at)) : NULL;
        dkm_idx stop = next ? next - text : end;
        DKM_STEP(
            read_number(e, (dkm_span){value.at, stop - value.at}, p, &out->numbers[out->count]));
        value.at = stop + 1;
    }
out:
    return local;
}

static dkm_local set_param(const dkm_expression *e, const dkm_expression_value *s, dkm_node *node)
{
    const dkm_param *p = node->kind->params;
    int k = 0, count = dkm_kernel_class_params(node->kind);
    dkm_param_value *value;

    while (k < count && !dkm_expression_is(e, s->name, p[k].name))
        k++;
    if (k == count)
        return fail_unknown_param(e, s->name, node->kind);
    value = &node->param[k];
    if (value->numbers || value->word)
        return dkm_expression_fail(e, s->name.at, "%s is given twice", p[k].name);
    value->word = find_word(e, s->value, &p[k]);
    return value->word ? DKM_LOCAL_OK : read_numbers(e, s->value, &p[k], value);
}

static dkm_local set_number(dkm_ctx *ctx, dkm_param_value *value, double number)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_calloc(ctx, 1, &value->numbers));
    *value = (dkm_param_value){.count = 1, .numbers = value->numbers};
    value->numbers[0] = number;
out:
    return local;
}

static dkm_local set_defaults(dkm_ctx *ctx, dkm_node *node)
{
    dkm_local local = DKM_LOCAL_OK;
    int count = dkm_kernel_class_params(node->kind);

    for (int k = 0; k < count; k++)
        if (!node->param[k].numbers && !node->param[k].word)
            DKM_STEP(set_number(ctx, &node->param[k], node->kind->params[k].default_value));
out:
    return local;
}

/* Where an argument is not a file, it is made of what indices and ranges are written with. */
static int is_file(const dkm_expression *e, dkm_span argument)
{
    return strspn(e->text + argument.at, DKM_COLUMN_CHARACTERS) < (size_t)argument.length;
}

/* A setting without a name is the argument. */
static dkm_local set_argument(const dkm_expression *e, const dkm_expression_value *s,
                              dkm_node *node)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_kernel_argument takes = node->kind->argument;
    int file = is_file(e, s->value);

    if (takes != DKM_ARGUMENT_FILE && file)
        return dkm_expression_fail(e, s->value.at, "%s takes no file", node->kind->name);
    if (takes != DKM_ARGUMENT_COLUMNS && !file)
        return dkm_expression_fail(e, s->value.at, "a name is wanted here");
    if (node->argument)
        return dkm_expression_fail(e, s->value.at, "%s takes one %s", node->kind->name,
                                   file ? "file" : "list of columns, separated by ';'");
    DKM_STEP(dkm_calloc(e->ctx, s->value.length + 1, &node->argument));
    memcpy(node->argument, e->text + s->value.at, (size_t)s->value.length);
out:
    return local;
}

static dkm_local check_argument(const dkm_expression *e, dkm_idx term, const dkm_node *node)
{
    const char *name = node->kind->name;

    if (node->argument || node->kind->argument == DKM_ARGUMENT_NONE)
        return DKM_LOCAL_OK;
    if (node->kind->argument == DKM_ARGUMENT_FILE)
        return dkm_expression_fail(e, e->term[term].name.at, "%s takes a file: %s(q.h5)", name,
                                   name);
    return dkm_expression_fail(e, e->term[term].name.at, "%s takes columns: %s(0:3;7, ...)", name,
                               name);
}

dkm_local dkm_params_read(const dkm_expression *e, dkm_idx term, dkm_node *node)
{
    dkm_local local = DKM_LOCAL_OK;
    const char *wrong;

    DKM_STEP(dkm_calloc(e->ctx, dkm_kernel_class_params(node->kind), &node->param));
    for (dkm_idx s = 0; s < e->settings; s++)
        if (e->setting[s].term == term)
            DKM_STEP(e->setting[s].name.length > 0 ? set_param(e, &e->setting[s], node)
                                                   : set_argument(e, &e->setting[s], node));
    DKM_STEP(check_argument(e, term, node));
    DKM_STEP(set_defaults(e->ctx, node));
    wrong = node->kind->refuse ? node->kind->refuse(node) : NULL;
    if (wrong)
        return dkm_expression_fail(e, e->term[term].name.at, "%s", wrong);
out:
    return local;
}

dkm_local dkm_params_resolve(dkm_ctx *ctx, dkm_node *node, int k, double number)
{
    const dkm_param *p = &node->kind->params[k];

    if (!in_range(p->range, number))
        return dkm_fail(ctx, DKM_ERR_NUMERIC,
                        "%s=%s of %s is %g for these objects, and must be %s: give a number",
                        p->name, node->param[k].word, node->kind->name, number,
                        range_text(p->range));
    return set_number(ctx, &node->param[k], number);
}

int dkm_params_equal(const dkm_node *a, const dkm_node *b, int count)
{
    for (int k = 0; k < count; k++) {
        const dkm_param_value *x = &a->param[k], *y = &b->param[k];
        if (x->word != y->word || x->count != y->count)
            return 0;
        if (x->count > 0 &&
            memcmp(x->numbers, y->numbers, (size_t)x->count * sizeof *x->numbers) != 0)
            return 0;
    }
    return 1;
}

dkm_local dkm_params_copy(dkm_ctx *ctx, const dkm_node *from, dkm_node *to)
{
    dkm_local local = DKM_LOCAL_OK;
    int count = dkm_kernel_class_params(from->kind);

    to->argument = NULL;
    DKM_STEP(dkm_calloc(ctx, count, &to->param));
    for (int k = 0; k < count; k++) {
        const dkm_param_value *value = &from->param[k];
        if (value->count > 0)
            DKM_STEP(dkm_calloc(ctx, value->count, &to->param[k].numbers));
        to->param[k].count = value->count;
        to->param[k].word = value->word;
        if (value->count > 0)
            memcpy(to->param[k].numbers, value->numbers,
                   (size_t)value->count * sizeof *value->numbers);
    }
    if (from->argument)
        DKM_STEP(dkm_strdup(ctx, from->argument, &to->argument));
out:
    return local;
}

void dkm_params_clear(dkm_node *node)
{
    int count = node->kind ? dkm_kernel_class_params(node->kind) : 0;

    for (int k = 0; node->param && k < count; k++)
        DKM_FREE(node->param[k].numbers);
    DKM_FREE(node->param);
    DKM_FREE(node->argument);
}
