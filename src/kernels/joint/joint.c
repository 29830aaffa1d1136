/* From an expression to a flat sum of terms, and back to canonical text. */
#include <dkmap/joint.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "kernels/expression/expression.h"
#include "kernels/joint/joint_impl.h"

#define TERM_SIZE 200 /* bytes of a term's text */

static const char *const names[] = {"tensor", "linear",   "diag",   "patch",
                                    "rbf",    "identity", "strings"};
enum { KINDS = sizeof names / sizeof *names };

typedef struct builder {
    dkm_joint *joint;
    const dkm_expression *e;
} builder;

static dkm_local read_share(const dkm_expression *e, dkm_span value, double *out)
{
    dkm_local local = dkm_expression_number(e, value, out);

    if (local.code == DKM_OK && !(*out >= 0 && *out <= 1))
        return dkm_expression_fail(e, value.at, "lambda must be from 0 to 1");
    return local;
}

static dkm_local read_positive(const dkm_expression *e, dkm_span value, double *out)
{
    dkm_local local = dkm_expression_number(e, value, out);

    if (local.code == DKM_OK && !(*out > 0))
        return dkm_expression_fail(e, value.at, "this must be greater than 0");
    return local;
}

static dkm_local read_count(const dkm_expression *e, dkm_span value, dkm_idx *out)
{
    double number = 0;
    dkm_local local = dkm_expression_number(e, value, &number);

    *out = 1;
    if (local.code != DKM_OK)
        return local;
    if (!(number >= 1 && number <= 1e6 && floor(number) == number))
        return dkm_expression_fail(e, value.at, "this must be an integer from 1 to 1000000");
    *out = (dkm_idx)number;
    return local;
}

/* HxW or a length. */
static dkm_local joint_read_shape(const dkm_expression *e, dkm_span value, dkm_joint_term *t)
{
    dkm_local local = DKM_LOCAL_OK;
    const char *text = e->text + value.at, *x = memchr(text, 'x', (size_t)value.length);
    dkm_span first = value;

    t->height = 1;
    if (x) {
        first.length = x - text;
        value.at += first.length + 1;
        value.length -= first.length + 1;
        DKM_STEP(read_count(e, first, &t->height));
    }
    DKM_STEP(read_count(e, value, &t->width));
out:
    return local;
}

static dkm_local joint_set_param(const dkm_expression *e, const dkm_expression_value *s,
                                 dkm_joint_term *t)
{
    int diag = t->kind == DKM_JOINT_DIAG, patch = t->kind == DKM_JOINT_PATCH;

    if ((diag || patch) && dkm_expression_is(e, s->name, "lambda"))
        return read_share(e, s->value, &t->lambda);
    if (patch && dkm_expression_is(e, s->name, "shape"))
        return joint_read_shape(e, s->value, t);
    if (patch && dkm_expression_is(e, s->name, "size"))
        return read_count(e, s->value, &t->size);
    if (patch && dkm_expression_is(e, s->name, "step"))
        return read_count(e, s->value, &t->step);
    if (t->kind == DKM_JOINT_STRINGS && dkm_expression_is(e, s->name, "p"))
        return read_count(e, s->value, &t->size);
    if (t->kind == DKM_JOINT_RBF && dkm_expression_is(e, s->name, "sigma"))
        return read_positive(e, s->value, &t->sigma);
    return dkm_expression_fail(e, s->name.at, "%s has no parameter '%.*s'", names[t->kind],
                               (int)s->name.length, e->text + s->name.at);
}

/* What is wrong with the parameters taken together, or NULL. */
static const char *joint_refuse(const dkm_joint_term *t)
{
    if (t->kind != DKM_JOINT_PATCH)
        return NULL;
    if (t->width == 0)
        return "patch needs the shape of the images, as in shape=64x64";
    if (t->size > t->width || (t->height > 1 && t->size > t->height))
        return "a patch is larger than the image: take a smaller size";
    return t->step > t->size ? "patches leave gaps: take a step no longer than the size" : NULL;
}

static dkm_local read_leaf(builder *b, dkm_idx term, double weight)
{
    dkm_local local = DKM_LOCAL_OK;
    const dkm_expression *e = b->e;
    dkm_span name = e->term[term].name;
    dkm_joint_term t = {.weight = weight, .lambda = 0.5, .size = 10, .step = 5, .sigma = 1};
    const char *wrong;
    int kind = 0;

    while (kind < KINDS && !dkm_expression_is(e, name, names[kind]))
        kind++;
    if (kind == KINDS)
        return dkm_expression_fail(e, name.at,
                                   "unknown name '%.*s': a joint kernel is made of tensor, linear, "
                                   "diag, patch, rbf, identity, strings, sum and scale",
                                   (int)name.length, e->text + name.at);
    if (e->term[term].inner > 0)
        return dkm_expression_fail(e, name.at, "%s takes no kernel inside it", names[kind]);
    t.kind = (dkm_joint_kind)kind;
    t.lambda = t.kind == DKM_JOINT_PATCH ? 0.95 : 0.5;
    t.size = t.kind == DKM_JOINT_STRINGS ? 3 : t.size;
    for (dkm_idx s = 0; s < e->settings; s++)
        if (e->setting[s].term == term)
            DKM_STEP(joint_set_param(e, &e->setting[s], &t));
    wrong = joint_refuse(&t);
    if (wrong)
        return dkm_expression_fail(e, name.at, "%s", wrong);
    b->joint->term[b->joint->terms++] = t;
out:
    return local;
}

/* Joint kernels take parameters, each with its name, and no other values. */
static dkm_local check_named(const dkm_expression *e)
{
    for (dkm_idx s = 0; s < e->settings; s++)
        if (e->setting[s].name.length == 0)
            return dkm_expression_fail(e, e->setting[s].value.at, "a name is wanted here");
    return DKM_LOCAL_OK;
}

static dkm_local read_factor(const dkm_expression *e, dkm_idx term, double *by)
{
    dkm_local local = DKM_LOCAL_OK;

    *by = 2;
    for (dkm_idx s = 0; s < e->settings; s++) {
        if (e->setting[s].term != term)
            continue;
        if (!dkm_expression_is(e, e->setting[s].name, "by"))
            return dkm_expression_fail(e, e->setting[s].name.at, "scale has the parameter by only");
        DKM_STEP(read_positive(e, e->setting[s].value, by));
    }
out:
    return local;
}

/* The term and those inside it, depth first. */
static dkm_local read_tree(builder *b, dkm_idx term, double weight)
{
    dkm_local local = DKM_LOCAL_OK;
    const dkm_expression *e = b->e;
    int scale = dkm_expression_is(e, e->term[term].name, "scale");
    double by = 1;

    if (!scale && !dkm_expression_is(e, e->term[term].name, "sum"))
        return read_leaf(b, term, weight);
    if (scale)
        DKM_STEP(read_factor(e, term, &by));
    if (scale ? e->term[term].inner != 1 : e->term[term].inner < 1)
        return dkm_expression_fail(e, e->term[term].name.at, "%s takes %s joint kernel inside it",
                                   scale ? "scale" : "sum", scale ? "one" : "at least one");
    if (!(weight * by > 0 && isfinite(weight * by)))
        return dkm_expression_fail(e, e->term[term].name.at,
                                   "the factors of the scales around this multiply to %g",
                                   weight * by);
    for (dkm_idx k = term + 1; k < e->terms; k++)
        if (e->term[k].parent == term)
            DKM_STEP(read_tree(b, k, weight * by));
out:
    return local;
}

static void print_term(const dkm_joint_term *t, char text[TERM_SIZE])
{
    char a[DKM_NUMBER_SIZE], w[DKM_NUMBER_SIZE], body[TERM_SIZE / 2] = "";

    dkm_expression_print(t->kind == DKM_JOINT_RBF ? t->sigma : t->lambda, a);
    dkm_expression_print(t->weight, w);
    if (t->kind == DKM_JOINT_DIAG)
        snprintf(body, sizeof body, "(lambda=%s)", a);
    else if (t->kind == DKM_JOINT_RBF)
        snprintf(body, sizeof body, "(sigma=%s)", a);
    else if (t->kind == DKM_JOINT_STRINGS)
        snprintf(body, sizeof body, "(p=%lld)", (long long)t->size);
    else if (t->kind == DKM_JOINT_PATCH)
        snprintf(body, sizeof body, "(lambda=%s, shape=%lldx%lld, size=%lld, step=%lld)", a,
                 (long long)t->height, (long long)t->width, (long long)t->size, (long long)t->step);
    if (t->weight == 1)
        snprintf(text, TERM_SIZE, "%s%s", names[t->kind], body);
    else
        snprintf(text, TERM_SIZE, "scale(%s%s, by=%s)", names[t->kind], body, w);
}

static dkm_local print_joint(dkm_joint *j)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx size = (j->terms + 1) * TERM_SIZE, used = 0;
    char text[TERM_SIZE];

    DKM_STEP(dkm_calloc(j->ctx, size, &j->text));
    for (dkm_idx k = 0; k < j->terms; k++) {
        const char *before = j->terms == 1 ? "" : k == 0 ? "sum(" : ", ";
        print_term(&j->term[k], text);
        used += snprintf(j->text + used, (size_t)(size - used), "%s%s%s", before, text,
                         j->terms > 1 && k == j->terms - 1 ? ")" : "");
    }
out:
    return local;
}

static dkm_local make_joint(dkm_ctx *ctx, const char *text, dkm_joint **joint)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_expression e = {0};

    DKM_STEP(dkm_expression_read(ctx, "joint kernel", text, &e));
    DKM_STEP(check_named(&e));
    DKM_STEP(dkm_calloc(ctx, 1, joint));
    (*joint)->ctx = ctx;
    DKM_STEP(dkm_calloc(ctx, e.terms, &(*joint)->term));
    DKM_STEP(read_tree(&(builder){*joint, &e}, 0, 1.0));
    DKM_STEP(print_joint(*joint));
out:
    dkm_expression_clear(&e);
    return local;
}

dkm_status dkm_joint_parse(dkm_ctx *ctx, const char *text, dkm_joint **joint)
{
    dkm_status status = DKM_OK;
    dkm_joint *j = NULL;

    *joint = NULL;
    DKM_AGREE(ctx, make_joint(ctx, text, &j));
    *joint = j;
    j = NULL;
out:
    dkm_joint_destroy(&j);
    return status;
}

const char *dkm_joint_text(const dkm_joint *joint)
{
    return joint->text;
}

void dkm_joint_destroy(dkm_joint **joint)
{
    dkm_joint *j = *joint;

    if (!j)
        return;
    DKM_FREE(j->text);
    DKM_FREE(j->term);
    DKM_FREE(*joint);
}
