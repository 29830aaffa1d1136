/* From the terms of an expression to a tree of nodes, and back to canonical text. */
#include <dkmap/kernel.h>

#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "kernels/expression/expression.h"
#include "kernels/expression/node.h"

/* Do two nodes need the same of the objects? */
static int same_digest(const dkm_node *a, const dkm_node *b)
{
    return a->kind->precompute && a->kind->precompute == b->kind->precompute &&
           a->kind->callback == b->kind->callback && a->free_origin == b->free_origin &&
           memcmp(a->param, b->param, (size_t)a->kind->precompute_params * sizeof *a->param) == 0;
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
            if (same_digest(node, &k->node[j]))
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

static void kernel_append(char *text, dkm_idx room, const char *a, const char *b)
{
    dkm_idx used = (dkm_idx)strlen(text);

    snprintf(text + used, (size_t)(room - used), "%s%s", a, b);
}

static void print_node(const dkm_node *node, char *text, dkm_idx room)
{
    const dkm_param *p = node->kind->params;
    const char *before = "(";
    char number[DKM_NUMBER_ROOM];

    kernel_append(text, room, node->kind->name, "");
    if (node->file) {
        kernel_append(text, room, before, node->file);
        before = ", ";
    }
    for (dkm_idx i = 0; i < node->inner_count; i++, before = ", ") {
        kernel_append(text, room, before, "");
        print_node(node->inner[i], text, room);
    }
    for (int k = 0; k < DKM_PARAMS && p[k].name; k++, before = ", ") {
        dkm_expression_print(node->param[k], number);
        kernel_append(text, room, before, p[k].name);
        kernel_append(text, room, "=", number);
    }
    if (before[0] == ',')
        kernel_append(text, room, ")", "");
}

static dkm_local print_kernel(dkm_kernel *k)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx room = 1;

    for (dkm_idx i = 0; i < k->nodes; i++) {
        const dkm_kernel_class *kind = k->node[i].kind;
        room += (dkm_idx)strlen(kind->name) + 4;
        room += k->node[i].file ? (dkm_idx)strlen(k->node[i].file) + 2 : 0;
        for (int p = 0; p < DKM_PARAMS && kind->params[p].name; p++)
            room += (dkm_idx)strlen(kind->params[p].name) + 3 + DKM_NUMBER_ROOM;
    }
    DKM_STEP(dkm_calloc(k->ctx, room, &k->text));
    print_node(k->node, k->text, room);
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

dkm_status dkm_kernel_parse(dkm_ctx *ctx, const char *text, dkm_kernel **kernel)
{
    dkm_status status = DKM_OK;
    dkm_kernel *k = NULL;

    *kernel = NULL;
    DKM_AGREE(ctx, make_kernel(ctx, text, &k));
    for (dkm_idx i = 0; i < k->nodes; i++)
        if (k->node[i].file)
            DKM_TRY(dkm_kernel_load(ctx, k->node[i].file, &k->node[i].loaded));
    *kernel = k;
    k = NULL;
out:
    dkm_kernel_destroy(&k);
    return status;
}

/* Nodes with their places in the copy; files are copied, and loaded later. */
static dkm_local copy_nodes(dkm_ctx *ctx, const dkm_kernel *from, dkm_kernel *to)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_calloc(ctx, from->nodes, &to->node));
    DKM_STEP(dkm_calloc(ctx, from->nodes, &to->inners));
    for (dkm_idx i = 0; i < from->nodes; i++) {
        const dkm_node *node = &from->node[i];
        dkm_node *copy = &to->node[i];
        *copy = *node;
        copy->loaded = (dkm_kernel_plugin){0};
        copy->file = NULL;
        copy->inner = node->inner ? to->inners + (node->inner - from->inners) : NULL;
        if (from->inners[i])
            to->inners[i] = to->node + (from->inners[i] - from->node);
        if (node->file)
            DKM_STEP(dkm_strdup(ctx, node->file, &copy->file));
    }
out:
    return local;
}

static dkm_local copy_kernel(dkm_ctx *ctx, const dkm_kernel *from, dkm_kernel **copy)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_kernel *k;

    DKM_STEP(dkm_calloc(ctx, 1, copy));
    k = *copy;
    *k = (dkm_kernel){
        .ctx = ctx, .nodes = from->nodes, .slots = from->slots, .distances = from->distances};
    DKM_STEP(dkm_strdup(ctx, from->text, &k->text));
    DKM_STEP(copy_nodes(ctx, from, k));
out:
    return local;
}

dkm_status dkm_kernel_clone(dkm_ctx *ctx, const dkm_kernel *kernel, dkm_kernel **copy)
{
    dkm_status status = DKM_OK;
    dkm_kernel *k = NULL;

    *copy = NULL;
    DKM_AGREE(ctx, copy_kernel(ctx, kernel, &k));
    for (dkm_idx i = 0; i < k->nodes; i++)
        if (k->node[i].file)
            DKM_TRY(dkm_kernel_load(ctx, k->node[i].file, &k->node[i].loaded));
    *copy = k;
    k = NULL;
out:
    dkm_kernel_destroy(&k);
    return status;
}

int dkm_kernel_is_linear(const dkm_kernel *kernel)
{
    return kernel->nodes == 1 && strcmp(kernel->node[0].kind->name, "linear") == 0;
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

const char *dkm_kernel_text(const dkm_kernel *kernel)
{
    return kernel->text;
}

int dkm_kernel_is_data_dependent(const dkm_kernel *kernel)
{
    for (dkm_idx k = 0; k < kernel->nodes; k++)
        if (kernel->node[k].kind->is_data_dependent)
            return 1;
    return 0;
}

void dkm_kernel_destroy(dkm_kernel **kernel)
{
    dkm_kernel *k = *kernel;

    if (!k)
        return;
    for (dkm_idx i = 0; k->node && i < k->nodes; i++) {
        dkm_kernel_plugin_clear(&k->node[i].loaded);
        DKM_FREE(k->node[i].file);
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
