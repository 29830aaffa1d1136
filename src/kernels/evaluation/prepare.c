#include "kernels/evaluation/prepare.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "kernels/evaluation/column_shift.h"
#include "kernels/evaluation/panel.h"
#include "kernels/evaluation/row_transform.h"

#define ERROR_WARNED_OF 1e-6 /* error of kernel values in double precision */

static void list_types(unsigned types, char *text, size_t size)
{
    const char *before = "";
    size_t used = 0;

    text[0] = '\0';
    for (int t = 0; t < DKM_TYPE_COUNT; t++)
        if (types & DKM_TYPE_BIT(t)) {
            used += (size_t)snprintf(text + used, size - used, "%s%s", before,
                                     dkm_type_name((dkm_type)t));
            before = " or ";
        }
}

/* The first kind in a kernel that is not for objects of that type, or NULL. */
static const dkm_kernel_class *find_misfit(const dkm_kernel *kernel, dkm_type type)
{
    for (dkm_idx i = 0; i < kernel->nodes; i++) {
        const dkm_kernel_class *kind = kernel->node[i].kind;
        if (kind->types != 0 && !(kind->types & DKM_TYPE_BIT(type)))
            return kind;
    }
    return NULL;
}

int dkm_kernel_suits(const dkm_kernel *kernel, dkm_type type)
{
    return find_misfit(kernel, type) == NULL;
}

static dkm_local check_types(const dkm_kernel *kernel, dkm_type type)
{
    const dkm_kernel_class *kind = find_misfit(kernel, type);
    char types[128];

    if (!kind)
        return DKM_LOCAL_OK;
    list_types(kind->types, types, sizeof types);
    return dkm_fail(kernel->ctx, DKM_ERR_UNSUPPORTED,
                    "%s is a kernel for %s objects, and these are %s: choose another kernel or say "
                    "what type they are",
                    kind->name, types, dkm_type_name(type));
}

static dkm_local check_resolved(const dkm_kernel *kernel)
{
    if (dkm_kernel_is_resolved(kernel))
        return DKM_LOCAL_OK;
    return dkm_fail(kernel->ctx, DKM_ERR_ARG,
                    "%s has a word that the training objects must replace by a number: call "
                    "dkm_kernel_resolve() first, or give the number",
                    kernel->text);
}

int dkm_kernel_needs_training_set(const dkm_kernel *kernel)
{
    for (dkm_idx i = 0; i < kernel->nodes; i++)
        if (kernel->node[i].kind->train)
            return 1;
    return 0;
}

static int same_shift(const dkm_prepared *A, const dkm_prepared *B)
{
    if (!A->shift || !B->shift)
        return A->shift == B->shift;
    return memcmp(A->shift, B->shift, (size_t)A->X->mine.d * sizeof *A->shift) == 0;
}

dkm_local dkm_prepared_match(const dkm_prepared *A, const dkm_prepared *B)
{
    const dkm_objs *a = &A->X->mine, *b = &B->X->mine;

    if (A->kernel != B->kernel)
        return dkm_fail(A->ctx, DKM_ERR_ARG, "the two sides were prepared for different kernels");
    if (a->type != b->type)
        return dkm_fail(A->ctx, DKM_ERR_ARG, "%s objects on one side and %s ones on the other",
                        dkm_type_name(a->type), dkm_type_name(b->type));
    if (dkm_type_storage_form(a->type) == DKM_STORED_VALUES && a->d != b->d)
        return dkm_fail(A->ctx, DKM_ERR_ARG,
                        "rows of %lld numbers on one side and of %lld on the other: both must have "
                        "the same columns",
                        (long long)a->d, (long long)b->d);
    if (!same_shift(A, B))
        return dkm_fail(A->ctx, DKM_ERR_ARG,
                        "the two sides are of different origin: prepare one of them as new objects "
                        "of the other, with dkm_kernel_prepare_new()");
    if (A != B && A->training != B && dkm_kernel_needs_training_set(A->kernel))
        return dkm_fail(A->ctx, DKM_ERR_ARG,
                        "%s looks at all training objects: new ones must be prepared with "
                        "dkm_kernel_prepare_new() and stand for the rows",
                        A->kernel->text);
    return DKM_LOCAL_OK;
}

static int is_borrowed(const dkm_objs *objs, const dkm_objs *X)
{
    return objs->values == X->values && objs->start == X->start;
}

dkm_status dkm_feature_cache_fill(dkm_prepared *prepared, dkm_idx slot, dkm_objs *objs)
{
    dkm_status status = DKM_OK;
    const dkm_objs *X = &prepared->X->mine;
    dkm_feature_cache *s = &prepared->slot[slot];
    dkm_objs borrowed = *objs;

    s->borrowed = is_borrowed(objs, X);
    if (s->borrowed)
        *objs = (dkm_objs){.n = borrowed.n, .extra = borrowed.extra};
    DKM_TRY(dkm_data_wrap(prepared->ctx, prepared->X->m, objs, &s->full));
    if (s->borrowed) {
        borrowed.extra = s->full->mine.extra;
        s->full->mine = borrowed;
    }
out:
    return status;
}

void dkm_feature_cache_drop(const dkm_prepared *prepared, dkm_objs *objs)
{
    if (is_borrowed(objs, &prepared->X->mine))
        *objs = (dkm_objs){.extra = objs->extra};
    dkm_objs_clear(objs);
}

static dkm_local copy_extras(const dkm_objs *from, dkm_objs *to)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_objs_init(to, from->ctx, DKM_DENSE, from->n, 0, 0));
    DKM_STEP(dkm_objs_add_extra(to, from->extras));
    memcpy(to->extra, from->extra, (size_t)(from->n * from->extras) * sizeof *to->extra);
out:
    return local;
}

dkm_status dkm_feature_cache_keep_extras(dkm_prepared *prepared, dkm_idx slot)
{
    dkm_status status = DKM_OK;
    dkm_feature_cache *s = &prepared->slot[slot];
    dkm_objs objs = {0};

    DKM_AGREE(prepared->ctx, copy_extras(&s->full->mine, &objs));
    DKM_TRY(dkm_data_wrap(prepared->ctx, prepared->X->m, &objs, &s->thin));
out:
    dkm_objs_clear(&objs);
    return status;
}

/* A leaf that sees rows through their differences alone. */
static int is_free_leaf(const dkm_node *node)
{
    return node->free_origin && node->kind->types != 0;
}

dkm_idx dkm_kernel_shifted_copies(const dkm_kernel *kernel)
{
    dkm_idx copies = 0;

    for (dkm_idx i = 0; i < kernel->nodes; i++) {
        dkm_idx before = 0;
        while (before < i && (!is_free_leaf(&kernel->node[before]) ||
                              kernel->node[before].slot != kernel->node[i].slot))
            before++;
        copies += is_free_leaf(&kernel->node[i]) && before == i;
    }
    return copies;
}

static dkm_status find_shift(dkm_prepared *P)
{
    dkm_status status = DKM_OK;
    dkm_idx copies = dkm_kernel_shifted_copies(P->kernel);
    double numbers = (double)P->X->mine.n * (double)P->X->mine.d;

    if (P->training || P->X->mine.type != DKM_DENSE || copies == 0)
        return DKM_OK;
    DKM_TRY(dkm_shift_find(P->X, &P->own_shift));
    P->shift = P->own_shift;
    if (P->shift)
        DKM_TRY(dkm_memory_check(P->ctx, 8.0 * (double)copies * numbers,
                                 "the copy of rows without the means of their columns"));
out:
    return status;
}

static dkm_local precompute(const dkm_node *node, const dkm_prepared *P, dkm_objs *objs)
{
    dkm_local local = DKM_LOCAL_OK;
    const dkm_objs *X = &P->X->mine, *training = P->training ? &P->training->X->mine : X;
    dkm_row_transform transform = {0};
    dkm_objs rows = {0};

    if (X->type == DKM_DENSE || X->type == DKM_SPARSE)
        DKM_STEP(dkm_row_transform_of(P->kernel, node, training->d, P->shift, &transform));
    if (dkm_row_transform_is_identity(&transform)) {
        local = node->kind->precompute(node, X, objs);
        goto out;
    }
    DKM_STEP(dkm_row_transform_apply(&transform, X, &rows));
    local = node->kind->precompute(node, &rows, objs); /* it takes the rows over */
    if (local.code == DKM_OK) {
        rows = (dkm_objs){0};
    } else {
        DKM_FREE(objs->extra);
        *objs = (dkm_objs){0};
    }
out:
    dkm_row_transform_clear(&transform);
    dkm_objs_clear(&rows);
    return local;
}

static dkm_status fill_slots(dkm_prepared *P)
{
    dkm_status status = DKM_OK;
    dkm_objs objs = {0};

    for (dkm_idx i = P->kernel->nodes - 1; i >= 0; i--) {
        const dkm_node *node = &P->kernel->node[i];
        if (node->slot < 0 || P->slot[node->slot].full)
            continue;
        if (node->kind->train) {
            DKM_TRY(node->kind->train(node, P));
        } else {
            DKM_AGREE(P->ctx, precompute(node, P, &objs));
            DKM_TRY(dkm_feature_cache_fill(P, node->slot, &objs));
        }
    }
out:
    dkm_feature_cache_drop(P, &objs);
    return status;
}

/* Is k(x, x) of the inner kernel something the outer one can work with? */
static dkm_local check_diag(const dkm_node *outer, const dkm_node *inner, double diag,
                            const dkm_prepared *P, dkm_idx object)
{
    int root = outer->kind->needs_diag == DKM_DIAG_ROOT;

    if (isnan(diag))
        return dkm_fail(P->ctx, DKM_ERR_UNSUPPORTED,
                        "%s needs k(x, x) of new objects, which %s does not know",
                        outer->kind->name, inner->kind->name);
    if (diag < 0 && root)
        return dkm_fail(P->ctx, DKM_ERR_NUMERIC,
                        "object %lld has k(x, x) = %g under %s, which is not positive semidefinite",
                        (long long)object, diag, inner->kind->name);
    if (isinf(diag) && !(root && inner->kind->normalized_tile))
        return dkm_fail(P->ctx, DKM_ERR_NUMERIC,
                        "%s leaves the range of numbers at object %lld: scale the data",
                        inner->kind->name, (long long)object);
    return DKM_LOCAL_OK;
}

static dkm_local check_inner_diagonals(const dkm_panel *panel, const dkm_node *node)
{
    dkm_local local = DKM_LOCAL_OK;

    for (dkm_idx k = 0; k < node->inner_count; k++)
        for (dkm_idx i = 0; i < panel->n; i++)
            DKM_STEP(check_diag(node, node->inner[k], dkm_panel_diag(panel, node->inner[k])[i],
                                panel->of, panel->of->X->first + i));
out:
    return local;
}

static double largest_loss(const dkm_panel *panel)
{
    const dkm_kernel *kernel = panel->of->kernel;
    double most = 0;

    for (dkm_idx i = 0; i < kernel->nodes; i++)
        if (kernel->node[i].kind->loss)
            most = fmax(most, kernel->node[i].kind->loss(&kernel->node[i], panel));
    return most;
}

/* What k(x, x) and norms say of the kernel: whether it has values, and how many digits they have.
 */
static dkm_local check_diagonals(dkm_prepared *P)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_panel panel = {0};

    DKM_STEP(dkm_panel_open_diag(&panel, P));
    for (dkm_idx i = 0; i < P->kernel->nodes; i++)
        if (P->kernel->node[i].kind->needs_diag != DKM_NO_DIAG)
            DKM_STEP(check_inner_diagonals(&panel, &P->kernel->node[i]));
    for (dkm_idx i = 0; i < panel.n; i++)
        if (isinf(dkm_panel_diag(&panel, P->kernel->node)[i])) {
            local = dkm_fail(P->ctx, DKM_ERR_NUMERIC,
                             "%s leaves the range of numbers at object %lld: scale the data or "
                             "normalize the kernel",
                             P->kernel->text, (long long)(P->X->first + i));
            break;
        }
    P->loss = largest_loss(&panel);
out:
    dkm_panel_close(&panel);
    return local;
}

static double slot_bytes(const dkm_objs *o)
{
    dkm_idx items = o->start && o->n > 0 ? o->start[o->n] - o->start[0] : 0;
    dkm_idx bytes = o->n * o->extras * 8;

    bytes += o->values ? o->n * o->d * 8 : 0;
    bytes += items * ((o->col ? 8 : 0) + (o->val ? 8 : 0) + (o->bytes ? 1 : 0));
    return (double)bytes;
}

static void prepare_measure(dkm_prepared *P)
{
    double bytes[2] = {0, 0};

    for (dkm_idx s = 0; s < P->kernel->slots; s++)
        for (int side = DKM_ROWS; side <= DKM_COLS; side++)
            bytes[side] += slot_bytes(&dkm_feature_cache_data(&P->slot[s], (dkm_side)side)->mine);
    MPI_Allreduce(bytes, P->bytes, 2, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(P->ctx));
    MPI_Allreduce(MPI_IN_PLACE, &P->loss, 1, MPI_DOUBLE, MPI_MAX, dkm_ctx_comm(P->ctx));
    for (int side = DKM_ROWS; side <= DKM_COLS; side++)
        P->bytes[side] /= P->X->m > 0 ? (double)P->X->m : 1.0;
}

static dkm_local make_prepared(const dkm_kernel *kernel, const dkm_data *X,
                               const dkm_prepared *training, dkm_prepared **prepared)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(check_types(kernel, X->mine.type));
    DKM_STEP(check_resolved(kernel));
    DKM_STEP(dkm_calloc(kernel->ctx, 1, prepared));
    **prepared = (dkm_prepared){.ctx = kernel->ctx, .kernel = kernel, .X = X, .training = training};
    (*prepared)->shift = training ? training->shift : NULL;
    if (training)
        DKM_STEP(dkm_prepared_match(*prepared, training));
    DKM_STEP(dkm_calloc(kernel->ctx, kernel->slots, &(*prepared)->slot));
out:
    return local;
}

static dkm_status prepare_prepare(const dkm_kernel *kernel, const dkm_data *X,
                                  const dkm_prepared *training, dkm_prepared **prepared)
{
    dkm_status status = DKM_OK;
    dkm_prepared *P = NULL;

    *prepared = NULL;
    dkm_phase_begin(kernel->ctx, "prepare");
    DKM_AGREE(kernel->ctx, make_prepared(kernel, X, training, &P));
    DKM_TRY(find_shift(P));
    DKM_TRY(fill_slots(P));
    DKM_AGREE(kernel->ctx, check_diagonals(P));
    prepare_measure(P);
    if (!training)
        dkm_prepared_warn(P, DKM_F64, ERROR_WARNED_OF);
    *prepared = P;
    P = NULL;
out:
    dkm_prepared_destroy(&P);
    dkm_phase_end(kernel->ctx);
    return status;
}

dkm_status dkm_kernel_prepare(const dkm_kernel *kernel, const dkm_data *X, dkm_prepared **prepared)
{
    return prepare_prepare(kernel, X, NULL, prepared);
}

dkm_status dkm_kernel_prepare_new(const dkm_prepared *training, const dkm_data *X,
                                  dkm_prepared **prepared)
{
    return prepare_prepare(training->kernel, X, training, prepared);
}

const double *dkm_prepared_origin(const dkm_prepared *prepared)
{
    const dkm_kernel *kernel = prepared->kernel;

    for (dkm_idx i = 0; i < kernel->nodes; i++)
        if (kernel->node[i].kind->types != 0 && !kernel->node[i].free_origin)
            return NULL;
    return prepared->shift;
}

double dkm_prepared_error(const dkm_prepared *prepared, dkm_precision precision)
{
    return prepared->loss * (precision == DKM_F64 ? DBL_EPSILON : (double)FLT_EPSILON);
}

void dkm_prepared_warn(const dkm_prepared *prepared, dkm_precision precision, double limit)
{
    double error = dkm_prepared_error(prepared, precision);

    if (error > limit)
        dkm_log(prepared->ctx, DKM_WARN,
                "values of %s between near objects may be off by %.1g in %s precision: the objects "
                "are too far apart, or too far from the origin, for so small a sigma%s",
                prepared->kernel->text, fmin(error, 1.0),
                precision == DKM_F64 ? "double" : "single",
                precision == DKM_F64 ? "" : "; compute in double precision");
}

dkm_idx dkm_prepared_rows(const dkm_prepared *prepared)
{
    return prepared->X->m;
}

void dkm_prepared_destroy(dkm_prepared **prepared)
{
    dkm_prepared *P = *prepared;

    if (!P)
        return;
    for (dkm_idx s = 0; P->slot && s < P->kernel->slots; s++) {
        dkm_feature_cache *slot = &P->slot[s];
        if (slot->full && slot->borrowed)
            slot->full->mine = (dkm_objs){.extra = slot->full->mine.extra};
        dkm_data_destroy(&slot->full);
        dkm_data_destroy(&slot->thin);
    }
    DKM_FREE(P->own_shift);
    DKM_FREE(P->slot);
    DKM_FREE(*prepared);
}
