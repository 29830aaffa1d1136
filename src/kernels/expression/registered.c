/* Kernels that are functions of the program: leaves for objects of every type, whose classes are
 * made when they are registered and live as long as the context. */
#include <dkmap/kernel_callback.h>

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/ctx_private.h"
#include "data/rows.h"
#include "kernels/evaluation/panel.h"
#include "kernels/expression/expression.h"
#include "kernels/expression/registered.h"

#define NAME_SIZE      64
#define DIAGONAL_BLOCK 8 /* objects of a block that is evaluated for its diagonal */
#define TILE_VALUES    (1 << 16)

typedef struct entry {
    struct entry *next;
    char name[NAME_SIZE];
    dkm_kernel_callback callback;
    dkm_kernel_class kind;
} entry;

/* The registered kernels of a context, newest first. */
typedef struct registry {
    entry *first;
} registry;

static void free_registry(void *kernels)
{
    registry *all = kernels;

    while (all->first) {
        entry *e = all->first;
        all->first = e->next;
        free(e);
    }
    free(all);
}

static entry *find_entry(const dkm_ctx *ctx, const char *name, dkm_idx length)
{
    registry *all = dkm_ctx_kernels(ctx);
    entry *e = all ? all->first : NULL;

    while (e && !((dkm_idx)strlen(e->name) == length && memcmp(e->name, name, (size_t)length) == 0))
        e = e->next;
    return e;
}

const dkm_kernel_class *dkm_kernel_registered_find(const dkm_ctx *ctx, const char *name,
                                                   dkm_idx length)
{
    const entry *e = find_entry(ctx, name, length);

    return e ? &e->kind : NULL;
}

/* What a call of the program's function gave. */
static dkm_local check_values(dkm_ctx *ctx, const char *name, int code, dkm_idx count,
                              const double *values)
{
    if (code != 0)
        return dkm_fail(ctx, DKM_ERR_ARG, "the registered kernel '%s' failed with code %d", name,
                        code);
    for (dkm_idx k = 0; k < count; k++)
        if (!isfinite(values[k]))
            return dkm_fail(ctx, DKM_ERR_NUMERIC, "the registered kernel '%s' gave %g", name,
                            values[k]);
    return DKM_LOCAL_OK;
}

/* The diagonals of blocks along the diagonal. */
static dkm_local diagonal_of_blocks(const dkm_node *node, dkm_objs *X)
{
    dkm_local local = DKM_LOCAL_OK;
    const dkm_kernel_callback *f = node->kind->callback;
    double values[DIAGONAL_BLOCK * DIAGONAL_BLOCK];

    for (dkm_idx i = 0; i < X->n; i += DIAGONAL_BLOCK) {
        dkm_idx n = X->n - i < DIAGONAL_BLOCK ? X->n - i : DIAGONAL_BLOCK;
        dkm_rows rows = dkm_rows_view(X, i, n);
        int code = f->block(f->user, &rows, &rows, values);
        DKM_STEP(check_values(X->ctx, node->kind->name, code, n * n, values));
        for (dkm_idx k = 0; k < n; k++)
            X->extra[i + k] = values[k * n + k];
    }
out:
    return local;
}

static dkm_local precompute(const dkm_node *node, const dkm_objs *X, dkm_objs *out)
{
    dkm_local local = DKM_LOCAL_OK;
    const dkm_kernel_callback *f = node->kind->callback;
    dkm_rows rows = dkm_rows_view(out, 0, X->n);

    *out = *X;
    out->extra = NULL;
    DKM_STEP(dkm_objs_add_extra(out, 1));
    if (f->diagonal) {
        int code = f->diagonal(f->user, &rows, out->extra);
        DKM_STEP(check_values(X->ctx, node->kind->name, code, X->n, out->extra));
    } else {
        DKM_STEP(diagonal_of_blocks(node, out));
    }
out:
    return local;
}

/* Rows of the tile at a time, so that the values in between stay few. */
static dkm_local tile(const dkm_node *node, const dkm_tile_task *task, const dkm_tile *C)
{
    dkm_local local = DKM_LOCAL_OK;
    const dkm_kernel_callback *f = node->kind->callback;
    const dkm_objs *a = dkm_panel_objs(task->A, node), *b = dkm_panel_objs(task->B, node);
    dkm_idx high = C->nb > 0 && TILE_VALUES / C->nb > 1 ? TILE_VALUES / C->nb : 1;
    dkm_rows B = dkm_rows_view(b, task->b, C->nb);
    double *values = NULL;

    high = high < C->na ? high : C->na;
    DKM_STEP(dkm_alloc(a->ctx, high * C->nb, &values));
    for (dkm_idx from = 0; C->nb > 0 && from < C->na; from += high) {
        dkm_idx n = C->na - from < high ? C->na - from : high;
        dkm_rows A = dkm_rows_view(a, task->a + from, n);
        int code = f->block(f->user, &A, &B, values);
        DKM_STEP(check_values(a->ctx, node->kind->name, code, n * C->nb, values));
        for (dkm_idx j = 0; j < C->nb; j++)
            for (dkm_idx i = 0; i < n; i++)
                dkm_tile_put(C, from + i, j, values[i * C->nb + j]);
    }
out:
    DKM_FREE(values);
    return local;
}

static int is_name(const char *name)
{
    size_t length = strlen(name);

    if (length >= NAME_SIZE || !isalpha((unsigned char)name[0]))
        return 0;
    for (size_t k = 0; k < length; k++)
        if (!isalnum((unsigned char)name[k]) && name[k] != '_' && name[k] != '-')
            return 0;
    return 1;
}

static dkm_local check_registration(dkm_ctx *ctx, const char *name,
                                    const dkm_kernel_callback *callback)
{
    if (!name || !is_name(name))
        return dkm_fail(ctx, DKM_ERR_ARG,
                        "'%s' cannot name a kernel: a letter, then letters, digits, '_' or '-', "
                        "fewer than %d",
                        name ? name : "", NAME_SIZE);
    for (dkm_idx k = 0; dkm_kernel_registry[k]; k++)
        if (strcmp(dkm_kernel_registry[k]->name, name) == 0)
            return dkm_fail(ctx, DKM_ERR_ARG, "'%s' is a built-in kernel", name);
    if (!callback || !callback->block)
        return dkm_fail(ctx, DKM_ERR_ARG, "kernel '%s' has no function for blocks", name);
    return DKM_LOCAL_OK;
}

static dkm_local add_entry(dkm_ctx *ctx, const char *name, entry **added)
{
    registry *all = dkm_ctx_kernels(ctx);
    entry *e;

    *added = NULL;
    if (!all) {
        all = calloc(1, sizeof *all);
        if (all)
            dkm_ctx_set_kernels(ctx, all, free_registry);
    }
    e = all ? calloc(1, sizeof *e) : NULL;
    if (!e)
        return dkm_fail(ctx, DKM_ERR_MEMORY, "no memory to register the kernel '%s'", name);
    memcpy(e->name, name, strlen(name));
    e->kind = (dkm_kernel_class){.name = e->name,
                                 .types = DKM_TYPE_BIT(DKM_TYPE_COUNT) - 1u,
                                 .callback = &e->callback,
                                 .precompute = precompute,
                                 .diag = dkm_panel_diag_from_extra,
                                 .tile = tile};
    e->next = all->first;
    all->first = e;
    *added = e;
    return DKM_LOCAL_OK;
}

static dkm_local enter(dkm_ctx *ctx, const char *name, const dkm_kernel_callback *callback)
{
    dkm_local local = DKM_LOCAL_OK;
    entry *e;

    DKM_STEP(check_registration(ctx, name, callback));
    e = find_entry(ctx, name, (dkm_idx)strlen(name));
    if (!e)
        DKM_STEP(add_entry(ctx, name, &e));
    e->callback = *callback;
out:
    return local;
}

dkm_status dkm_kernel_register(dkm_ctx *ctx, const char *name, const dkm_kernel_callback *callback)
{
    return dkm_agree(ctx, enter(ctx, name, callback));
}

static dkm_local append_name(dkm_ctx *ctx, const char *name, char **names)
{
    dkm_local local = DKM_LOCAL_OK;
    size_t used = *names ? strlen(*names) : 0, length = strlen(name);

    DKM_STEP(dkm_realloc(ctx, (dkm_idx)(used + length + 2), names));
    memcpy(*names + used, name, length);
    memcpy(*names + used + length, " ", 2);
out:
    return local;
}

dkm_local dkm_kernel_registered_names(dkm_ctx *ctx, const char *text, char **names)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_expression e = {0};

    if (!dkm_ctx_kernels(ctx))
        return local;
    DKM_STEP(dkm_expression_read(ctx, "kernel", text, &e));
    for (dkm_idx k = 0; k < e.terms; k++) {
        const entry *found = find_entry(ctx, text + e.term[k].name.at, e.term[k].name.length);
        if (found)
            DKM_STEP(append_name(ctx, found->name, names));
    }
out:
    dkm_expression_clear(&e);
    return local;
}

dkm_local dkm_kernel_registered_check(dkm_ctx *ctx, const char *names, const char *file)
{
    while (*names) {
        size_t length = strcspn(names, " ");
        if (!find_entry(ctx, names, (dkm_idx)length))
            return dkm_fail(ctx, DKM_ERR_UNSUPPORTED,
                            "%s: its kernel '%.*s' is a function of the program that fitted the "
                            "model: register it with dkm_kernel_register() before loading",
                            file, (int)length, names);
        names += length + (names[length] == ' ');
    }
    return DKM_LOCAL_OK;
}
