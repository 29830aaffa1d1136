#include "kernels/evaluation/row_transform.h"

#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"

/* Nodes follow their parent in the list, each with the nodes of its tree after it. */
static int is_inside(const dkm_node *node, const dkm_node *outer)
{
    return node->index > outer->index && node->index < outer->index + outer->size;
}

const dkm_node *dkm_node_columns(const dkm_kernel *kernel, const dkm_node *node)
{
    for (dkm_idx i = node->index - 1; i >= 0; i--)
        if (kernel->node[i].kind->argument == DKM_ARGUMENT_COLUMNS &&
            is_inside(node, &kernel->node[i]))
            return &kernel->node[i];
    return NULL;
}

/* One end of a range, counted from the end where it is negative; @p none where it is left out. */
static dkm_idx read_end(const char **text, dkm_idx d, dkm_idx none)
{
    char *end = NULL;
    long long k = strtoll(*text, &end, 10);

    if (end == *text)
        return none;
    *text = end;
    return k < 0 ? (dkm_idx)k + d : (dkm_idx)k;
}

static dkm_local fail_columns(dkm_ctx *ctx, const char *list, dkm_idx d)
{
    return dkm_fail(ctx, DKM_ERR_ARG,
                    "on(%s, ...): columns must be indices or ranges from 0 to %lld, each column "
                    "once and in order: on(0:3;7, ...)",
                    list, (long long)d - 1);
}

/* Replace the current columns by those of a list, which counts among them. */
static dkm_local choose_columns(dkm_ctx *ctx, const char *list, dkm_row_transform *t)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx *columns = NULL, count = 0, next = 0;
    const char *at = list;

    DKM_STEP(dkm_alloc(ctx, t->d, &columns));
    do {
        dkm_idx first = read_end(&at, t->d, 0), last = first + 1;
        if (*at == ':') {
            at++;
            last = read_end(&at, t->d, t->d);
        }
        if ((*at != ';' && *at != '\0') || first < next || last <= first || last > t->d) {
            local = fail_columns(ctx, list, t->d);
            goto out;
        }
        for (next = first; next < last; next++)
            columns[count++] = t->columns ? t->columns[next] : next;
    } while (*at++ == ';');
    DKM_FREE(t->columns);
    t->columns = columns;
    t->d = count;
    columns = NULL;
out:
    DKM_FREE(columns);
    return local;
}

const dkm_param_value *dkm_node_widths(const dkm_node *node)
{
    return node->kind->divides_columns && node->param[0].count > 1 ? &node->param[0] : NULL;
}

dkm_local dkm_row_transform_of(const dkm_kernel *kernel, const dkm_node *node, dkm_idx d,
                               const double *origin, dkm_row_transform *t)
{
    dkm_local local = DKM_LOCAL_OK;
    const dkm_param_value *widths = dkm_node_widths(node);

    *t = (dkm_row_transform){.d = d, .origin = node->free_origin ? origin : NULL};
    for (dkm_idx i = 0; i < node->index; i++)
        if (kernel->node[i].kind->argument == DKM_ARGUMENT_COLUMNS &&
            is_inside(node, &kernel->node[i]))
            DKM_STEP(choose_columns(kernel->ctx, kernel->node[i].argument, t));
    if (widths && widths->count != t->d)
        return dkm_fail(kernel->ctx, DKM_ERR_ARG,
                        "%s of %s is a list of %lld numbers for rows of %lld columns: give one "
                        "number, or one per column",
                        node->kind->params[0].name, node->kind->name, (long long)widths->count,
                        (long long)t->d);
    t->widths = widths ? widths->numbers : NULL;
out:
    return local;
}

int dkm_row_transform_is_identity(const dkm_row_transform *t)
{
    return !t->columns && !t->origin && !t->widths;
}

static dkm_local transform_dense(const dkm_row_transform *t, const dkm_objs *X, dkm_objs *out)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_objs_init(out, X->ctx, X->type, X->n, t->d, 0));
    for (dkm_idx i = 0; i < X->n; i++) {
        const double *restrict x = X->values + i * dkm_objs_step(X);
        double *restrict y = out->values + i * t->d;
        for (dkm_idx k = 0; k < t->d; k++) {
            dkm_idx j = t->columns ? t->columns[k] : k;
            y[k] = (x[j] - (t->origin ? t->origin[j] : 0.0)) / (t->widths ? t->widths[k] : 1.0);
        }
    }
out:
    return local;
}

/* Where each column goes, -1 for those that are left out. */
static dkm_local invert_columns(const dkm_row_transform *t, const dkm_objs *X, dkm_idx **indices)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_alloc(X->ctx, X->d, indices));
    for (dkm_idx j = 0; j < X->d; j++)
        (*indices)[j] = t->columns || j >= t->d ? -1 : j;
    for (dkm_idx k = 0; t->columns && k < t->d; k++)
        (*indices)[t->columns[k]] = k;
out:
    return local;
}

static dkm_local transform_sparse(const dkm_row_transform *t, const dkm_objs *X, dkm_objs *out)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx *indices = NULL, used = 0;

    DKM_STEP(invert_columns(t, X, &indices));
    DKM_STEP(dkm_objs_init(out, X->ctx, X->type, X->n, t->d,
                           X->n > 0 ? X->start[X->n] - X->start[0] : 0));
    for (dkm_idx i = 0; i < X->n; i++) {
        out->start[i] = used;
        for (dkm_idx e = X->start[i]; e < X->start[i + 1]; e++) {
            dkm_idx k = indices[X->col[e]];
            if (k < 0 && t->columns)
                continue;
            if (k < 0) {
                local = dkm_fail(X->ctx, DKM_ERR_ARG,
                                 "a row has a value in column %lld, which has no width: there are "
                                 "%lld",
                                 (long long)X->col[e], (long long)t->d);
                goto out;
            }
            out->col[used] = k;
            out->val[used++] = X->val[e] / (t->widths ? t->widths[k] : 1.0);
        }
    }
    out->start[X->n] = used;
out:
    DKM_FREE(indices);
    return local;
}

dkm_local dkm_row_transform_apply(const dkm_row_transform *t, const dkm_objs *X, dkm_objs *out)
{
    return X->type == DKM_DENSE ? transform_dense(t, X, out) : transform_sparse(t, X, out);
}

void dkm_row_transform_clear(dkm_row_transform *t)
{
    DKM_FREE(t->columns);
}
