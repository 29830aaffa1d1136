/* From the terms of an expression to a tree of nodes, and back to canonical text. */
#include <dkmap/kernel.h>

#include <string.h>

#include "core/alloc.h"
#include "kernels/evaluation/row_transform.h"
#include "kernels/expression/expression.h"
#include "kernels/expression/node.h"
#include "kernels/expression/params.h"

static int same_widths(const dkm_node *a, const dkm_node *b)
{
    const dkm_param_value *x = dkm_node_widths(a), *y = dkm_node_widths(b);

    return x && y ? dkm_params_equal(a, b, 1) : x == y;
}

/* Do two nodes need the same of the objects? */
static int same_precomputation(const dkm_kernel *k, const dkm_node *a, const dkm_node *b)
{
    return a->kind->precompute && a->kind->precompute == b->kind->precompute &&
           a->kind->callback == b->kind->callback && a->free_origin == b->free_origin &&
           dkm_node_columns(k, a) == dkm_node_columns(k, b) && same_widths(a, b) &&
           dkm_params_equal(a, b, a->kind->precompute_params);
}

static int kernel_is_free(const dkm_node *node, int outside)
{
    return node->kind->origin == DKM_ORIGIN_FREE ||
           (node->kind->origin == DKM_ORIGIN_AS_OUTSIDE && outside);
}

/* To which nodes the origin of rows does not matter. */
static void free_origins(dkm_kernel *k)
{
    k->node[0].free_origin = kernel_is_free(&k->node[0], k->distances);
    for (dkm_idx i = 0; i < k->nodes; i++) /* inner nodes come after the one they are inside of */
        for (dkm_idx j = 0; j < k->node[i].inner_count; j++)
            k->node[i].inner[j]->free_origin =
                kernel_is_free(k->node[i].inner[j], k->node[i].free_origin);
}

static void assign_slots(dkm_kernel *k)
{
    k->slots = 0;
    free_origins(k);
    for (dkm_idx i = k->nodes - 1; i >= 0; i--) {
        dkm_node *node = &k->node[i];
        node->slot = -1;
        for (dkm_idx j = k->nodes - 1; j > i && node->slot < 0; j--)
            if (same_precomputation(k, node, &k->node[j]))
                node->slot = k->node[j].slot;
        if (node->slot < 0 && (node->kind->precompute || node->kind->train))
            node->slot = k->slots++;
    }
}

static dkm_local make_nodes(dkm_kernel *k, const dkm_expression *e)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx used = 0;

    for (dkm_idx i = 0; i < e->terms; i++) {
        dkm_node *node = &k->node[i];
        node->index = i;
        DKM_STEP(dkm_node_read(e, i, node));
        node->inner = k->inners + used;
        used += e->term[i].inner;
        if (i > 0) {
            dkm_node *parent = &k->node[e->term[i].parent];
            parent->inner[parent->inner_count++] = node;
        }
    }
    for (dkm_idx i = e->terms - 1; i >= 0; i--) {
        k->node[i].size++;
        if (i > 0)
            k->node[e->term[i].parent].size += k->node[i].size;
    }
    assign_slots(k);
out:
    return local;
}

/* Text that is being written, or only measured while there is no block for it. */
typedef struct writer {
    char *text;
    dkm_idx length;
} writer;

static void write_text(writer *w, const char *text)
{
    dkm_idx length = (dkm_idx)strlen(text);

    if (w->text)
        memcpy(w->text + w->length, text, (size_t)length);
    w->length += length;
}

static void write_value(writer *w, const dkm_param *p, const dkm_param_value *value)
{
    char number[DKM_NUMBER_SIZE];
    const char between[] = {dkm_param_separator(p), '\0'};

    if (value->word)
        write_text(w, value->word);
    for (dkm_idx k = 0; k < value->count; k++) {
        dkm_expression_print(value->numbers[k], number);
        write_text(w, k > 0 ? between : "");
        write_text(w, number);
    }
}

static void write_node(writer *w, const dkm_node *node)
{
    int params = dkm_kernel_class_params(node->kind);
    const char *before = "(";

    write_text(w, node->kind->name);
    if (node->argument) {
        write_text(w, before);
        write_text(w, node->argument);
        before = ", ";
    }
    for (dkm_idx i = 0; i < node->inner_count; i++, before = ", ") {
        write_text(w, before);
        write_node(w, node->inner[i]);
    }
    for (int k = 0; k < params; k++, before = ", ") {
        write_text(w, before);
        write_text(w, node->kind->params[k].name);
        write_text(w, "=");
        write_value(w, &node->kind->params[k], &node->param[k]);
    }
    if (before[0] == ',')
        write_text(w, ")");
}

static dkm_local print_kernel(dkm_kernel *k)
{
    dkm_local local = DKM_LOCAL_OK;
    writer w = {0};
    char *text = NULL;

    write_node(&w, k->node);
    DKM_STEP(dkm_calloc(k->ctx, w.length + 1, &text));
    w = (writer){.text = text};
    write_node(&w, k->node);
    DKM_FREE(k->text);
    k->text = text;
out:
    return local;
}

static dkm_local make_kernel(dkm_ctx *ctx, const char *text, dkm_kernel **kernel)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_expression e = {0};
    dkm_kernel *k = NULL;

    DKM_STEP(dkm_expression_read(ctx, "kernel", text, &e));
    DKM_STEP(dkm_calloc(ctx, 1, kernel));
    k = *kernel;
    k->ctx = ctx;
    k->nodes = e.terms;
    DKM_STEP(dkm_calloc(ctx, k->nodes, &k->node));
    DKM_STEP(dkm_calloc(ctx, k->nodes, &k->inners));
    DKM_STEP(make_nodes(k, &e));
    DKM_STEP(print_kernel(k));
out:
    dkm_expression_clear(&e);
    return local;
}

/* Load what the nodes take from files. Collective. */
static dkm_status load_files(dkm_kernel *k)
{
    dkm_status status = DKM_OK;

    for (dkm_idx i = 0; i < k->nodes; i++)
        if (k->node[i].kind->argument == DKM_ARGUMENT_FILE)
            DKM_TRY(dkm_kernel_load(k->ctx, k->node[i].argument, &k->node[i].loaded));
out:
    return status;
}

dkm_status dkm_kernel_parse(dkm_ctx *ctx, const char *text, dkm_kernel **kernel)
{
    dkm_status status = DKM_OK;
    dkm_kernel *k = NULL;

    *kernel = NULL;
    DKM_AGREE(ctx, make_kernel(ctx, text, &k));
    DKM_TRY(load_files(k));
    *kernel = k;
    k = NULL;
out:
    dkm_kernel_destroy(&k);
    return status;
}

/* Copy the tree of @p root. Its nodes follow one another, and so do their lists of inner nodes. */
static dkm_local copy_nodes(const dkm_node *root, dkm_kernel *to)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_node **inners = root->inner;

    DKM_STEP(dkm_calloc(to->ctx, to->nodes, &to->node));
    DKM_STEP(dkm_calloc(to->ctx, to->nodes, &to->inners));
    for (dkm_idx i = 0; i < to->nodes; i++) {
        const dkm_node *node = &root[i];
        dkm_node *copy = &to->node[i];
        *copy = *node;
        copy->index = i;
        copy->loaded = (dkm_kernel_plugin){0};
        copy->inner = to->inners + (node->inner - inners);
        for (dkm_idx j = 0; j < node->inner_count; j++)
            copy->inner[j] = to->node + (node->inner[j] - root);
        DKM_STEP(dkm_params_copy(to->ctx, node, copy));
    }
out:
    return local;
}

static dkm_local copy_tree(dkm_ctx *ctx, const dkm_kernel *from, const dkm_node *root,
                           dkm_kernel **copy)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_kernel *k;

    DKM_STEP(dkm_calloc(ctx, 1, copy));
    k = *copy;
    *k = (dkm_kernel){.ctx = ctx, .nodes = root->size, .distances = from->distances};
    DKM_STEP(copy_nodes(root, k));
    assign_slots(k);
    DKM_STEP(print_kernel(k));
out:
    return local;
}

dkm_status dkm_kernel_clone_tree(dkm_ctx *ctx, const dkm_kernel *kernel, const dkm_node *root,
                                 dkm_kernel **copy)
{
    dkm_status status = DKM_OK;
    dkm_kernel *k = NULL;

    *copy = NULL;
    DKM_AGREE(ctx, copy_tree(ctx, kernel, root, &k));
    DKM_TRY(load_files(k));
    *copy = k;
    k = NULL;
out:
    dkm_kernel_destroy(&k);
    return status;
}

dkm_status dkm_kernel_clone(dkm_ctx *ctx, const dkm_kernel *kernel, dkm_kernel **copy)
{
    return dkm_kernel_clone_tree(ctx, kernel, kernel->node, copy);
}

/* The first parameter of a node whose word is yet to be resolved; -1 for none. */
static int find_unresolved(const dkm_node *node)
{
    int count = node->kind->resolve ? dkm_kernel_class_params(node->kind) : 0;

    for (int k = 0; k < count; k++)
        if (node->param[k].word)
            return k;
    return -1;
}

int dkm_kernel_is_resolved(const dkm_kernel *kernel)
{
    for (dkm_idx i = 0; i < kernel->nodes; i++)
        if (find_unresolved(&kernel->node[i]) >= 0)
            return 0;
    return 1;
}

static dkm_local finish_resolving(dkm_kernel *kernel)
{
    assign_slots(kernel);
    return print_kernel(kernel);
}

dkm_status dkm_kernel_resolve(dkm_kernel *kernel, const dkm_data *X)
{
    dkm_status status = DKM_OK;
    double number;
    int k;

    if (dkm_kernel_is_resolved(kernel))
        return DKM_OK;
    for (dkm_idx i = kernel->nodes - 1; i >= 0; i--) {
        dkm_node *node = &kernel->node[i];
        while ((k = find_unresolved(node)) >= 0) {
            DKM_TRY(node->kind->resolve(kernel, node, k, X, &number));
            DKM_AGREE(kernel->ctx, dkm_params_resolve(kernel->ctx, node, k, number));
        }
    }
    DKM_AGREE(kernel->ctx, finish_resolving(kernel));
out:
    return status;
}

int dkm_kernel_is_linear(const dkm_kernel *kernel)
{
    return kernel->nodes == 1 && strcmp(kernel->node[0].kind->name, "linear") == 0;
}

int dkm_kernel_is_rbf(const dkm_kernel *kernel)
{
    return kernel->nodes == 1 && strcmp(kernel->node[0].kind->name, "rbf") == 0 &&
           !dkm_node_widths(kernel->node);
}

int dkm_kernel_has_better_distances(const dkm_kernel *kernel)
{
    return !kernel->distances && kernel->node[0].kind->origin == DKM_ORIGIN_AS_OUTSIDE;
}

void dkm_kernel_use_distances(dkm_kernel *kernel)
{
    kernel->distances = 1;
    assign_slots(kernel);
}

dkm_local dkm_kernel_update(dkm_kernel *kernel)
{
    assign_slots(kernel);
    return print_kernel(kernel);
}

const char *dkm_kernel_text(const dkm_kernel *kernel)
{
    return kernel->text;
}

int dkm_kernel_is_data_dependent(const dkm_kernel *kernel)
{
    for (dkm_idx k = 0; k < kernel->nodes; k++)
        if (kernel->node[k].kind->is_data_dependent)
            return 1;
    return !dkm_kernel_is_resolved(kernel);
}

void dkm_kernel_destroy(dkm_kernel **kernel)
{
    dkm_kernel *k = *kernel;

    if (!k)
        return;
    for (dkm_idx i = 0; k->node && i < k->nodes; i++) {
        dkm_kernel_plugin_clear(&k->node[i].loaded);
        dkm_params_clear(&k->node[i]);
    }
    DKM_FREE(k->text);
    DKM_FREE(k->node);
    DKM_FREE(k->inners);
    DKM_FREE(*kernel);
}

dkm_idx dkm_node_scratch(const dkm_node *node)
{
    dkm_idx most = 0;

    for (dkm_idx i = 0; i < node->inner_count; i++) {
        dkm_idx wants = dkm_node_scratch(node->inner[i]) + (i > 0);
        most = wants > most ? wants : most;
    }
    return most;
}
