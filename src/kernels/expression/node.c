/* From a term of an expression to a node: which kind its name stands for, and what its settings
 * say. */
#include "kernels/expression/node.h"

#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "kernels/expression/registered.h"

#define NAME_LIMIT 32 /* longer names are not looked at for a likely meaning */

static dkm_idx least(dkm_idx a, dkm_idx b)
{
    return a < b ? a : b;
}

/* Edit distance between a name of the text and one of ours, both short. */
static dkm_idx node_distance(const char *a, dkm_idx na, const char *b, dkm_idx nb)
{
    dkm_idx row[NAME_LIMIT + 1];

    for (dkm_idx j = 0; j <= nb; j++)
        row[j] = j;
    for (dkm_idx i = 1; i <= na; i++) {
        dkm_idx corner = row[0];
        row[0] = i;
        for (dkm_idx j = 1; j <= nb; j++) {
            dkm_idx swap = corner + (a[i - 1] != b[j - 1]);
            corner = row[j];
            row[j] = least(swap, 1 + least(row[j], row[j - 1]));
        }
    }
    return row[nb];
}

static dkm_local fail_unknown(const dkm_expression *e, dkm_span name)
{
    const char *text = e->text + name.at, *nearest = NULL;
    dkm_idx best = 3;

    for (dkm_idx k = 0; dkm_kernel_registry[k] && name.length < NAME_LIMIT; k++) {
        const char *known = dkm_kernel_registry[k]->name;
        dkm_idx off = node_distance(text, name.length, known, (dkm_idx)strlen(known));
        if (off < best && off < name.length) {
            best = off;
            nearest = known;
        }
    }
    if (nearest)
        return dkm_expression_fail(e, name.at, "unknown name '%.*s', did you mean '%s'?",
                                   (int)name.length, text, nearest);
    return dkm_expression_fail(e, name.at, "unknown name '%.*s'", (int)name.length, text);
}

static int takes(const dkm_kernel_class *kind, dkm_idx inner)
{
    return inner >= kind->min_inner && (kind->max_inner < 0 || inner <= kind->max_inner);
}

/* One name may stand for several kinds, distinguished by the number of kernels inside. */
static dkm_local node_find_kind(const dkm_expression *e, const dkm_term *t,
                                const dkm_kernel_class **kind)
{
    const dkm_kernel_class *named = NULL;

    *kind = NULL;
    for (dkm_idx k = 0; dkm_kernel_registry[k]; k++) {
        if (!dkm_expression_is(e, t->name, dkm_kernel_registry[k]->name))
            continue;
        named = dkm_kernel_registry[k];
        if (takes(named, t->inner))
            *kind = named;
    }
    if (!named) {
        named = dkm_kernel_registered_find(e->ctx, e->text + t->name.at, t->name.length);
        *kind = named && takes(named, t->inner) ? named : NULL;
    }
    if (!named)
        return fail_unknown(e, t->name);
    if (!*kind && named->max_inner == 0)
        return dkm_expression_fail(e, t->name.at, "%s takes no kernel inside it", named->name);
    if (!*kind)
        return dkm_expression_fail(e, t->name.at, "%s takes %s%d kernel%s inside it, not %lld",
                                   named->name, named->max_inner < 0 ? "at least " : "",
                                   named->min_inner, named->min_inner == 1 ? "" : "s",
                                   (long long)t->inner);
    return DKM_LOCAL_OK;
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
        return "a whole number from 1 to 1000";
    case DKM_COUNT_OR_ZERO:
        break;
    }
    return "a whole number from 0 to 1000";
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

static dkm_local fail_unknown_param(const dkm_expression *e, dkm_span name,
                                    const dkm_kernel_class *kind)
{
    const dkm_param *p = kind->params;
    int length = (int)name.length;
    const char *text = e->text + name.at;

    if (!p[0].name)
        return dkm_expression_fail(e, name.at, "%s has no parameter '%.*s', nor any other",
                                   kind->name, length, text);
    return dkm_expression_fail(e, name.at, "%s has no parameter '%.*s', only %s%s%s", kind->name,
                               length, text, p[0].name, p[1].name ? " and " : "",
                               p[1].name ? p[1].name : "");
}

static dkm_local node_set_param(const dkm_expression *e, const dkm_expression_value *s,
                                dkm_node *node, unsigned *given)
{
    dkm_local local = DKM_LOCAL_OK;
    const dkm_param *p = node->kind->params;
    int k = 0;

    while (k < DKM_PARAMS && !(p[k].name && dkm_expression_is(e, s->name, p[k].name)))
        k++;
    if (k == DKM_PARAMS)
        return fail_unknown_param(e, s->name, node->kind);
    if (*given & 1u << k)
        return dkm_expression_fail(e, s->name.at, "%s is given twice", p[k].name);
    *given |= 1u << k;
    DKM_STEP(dkm_expression_number(e, s->value, &node->param[k]));
    if (!in_range(p[k].range, node->param[k]))
        return dkm_expression_fail(e, s->value.at, "%s must be %s", p[k].name,
                                   range_text(p[k].range));
out:
    return local;
}

/* A setting without a name is a file. */
static dkm_local set_file(const dkm_expression *e, const dkm_expression_value *s, dkm_node *node)
{
    dkm_local local = DKM_LOCAL_OK;

    if (!node->kind->takes_file)
        return dkm_expression_fail(e, s->value.at, "%s takes no file", node->kind->name);
    if (node->file)
        return dkm_expression_fail(e, s->value.at, "%s takes one file", node->kind->name);
    DKM_STEP(dkm_calloc(e->ctx, s->value.length + 1, &node->file));
    memcpy(node->file, e->text + s->value.at, (size_t)s->value.length);
out:
    return local;
}

static dkm_local set_params(const dkm_expression *e, dkm_idx term, dkm_node *node)
{
    dkm_local local = DKM_LOCAL_OK;
    const char *wrong;
    unsigned given = 0;

    for (int k = 0; k < DKM_PARAMS; k++)
        node->param[k] = node->kind->params[k].default_value;
    for (dkm_idx s = 0; s < e->settings; s++)
        if (e->setting[s].term == term)
            DKM_STEP(e->setting[s].name.length > 0 ? node_set_param(e, &e->setting[s], node, &given)
                                                   : set_file(e, &e->setting[s], node));
    if (node->kind->takes_file && !node->file)
        return dkm_expression_fail(e, e->term[term].name.at, "%s takes a file: %s(q.h5)",
                                   node->kind->name, node->kind->name);
    wrong = node->kind->refuse ? node->kind->refuse(node) : NULL;
    if (wrong)
        return dkm_expression_fail(e, e->term[term].name.at, "%s", wrong);
out:
    return local;
}

dkm_local dkm_node_read(const dkm_expression *e, dkm_idx term, dkm_node *node)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(node_find_kind(e, &e->term[term], &node->kind));
    DKM_STEP(set_params(e, term, node));
out:
    return local;
}
