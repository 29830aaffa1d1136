#include "model/form.h"

#include <string.h>

#include "core/alloc.h"
#include "model/form_pairs.h"
#include "model/form_patch.h"
#include "model/form_primal.h"
#include "model/form_strings.h"
#include "model/panels.h"

#define GRAM_ROWS 256 /* constraints whose products are made at once */

static dkm_local check_width(const dkm_form *f, const dkm_joint *joint, dkm_idx want,
                             const char *what)
{
    dkm_idx d = dkm_data_cols(f->base.X);

    if (dkm_data_type(f->base.X) != DKM_DENSE)
        return dkm_fail(f->base.ctx, DKM_ERR_UNSUPPORTED,
                        "joint kernel %s: %s needs dense inputs, these are %s", joint->text, what,
                        dkm_type_name(dkm_data_type(f->base.X)));
    if (d != want || f->r != want)
        return dkm_fail(f->base.ctx, DKM_ERR_ARG,
                        "joint kernel %s: %s pairs each of %lld inputs with an output, but x has "
                        "%lld columns and y has %lld",
                        joint->text, what, (long long)want, (long long)d, (long long)f->r);
    return DKM_LOCAL_OK;
}

/* Does it pair each input with the output of the same number? */
static int pairs_up(const dkm_form *f)
{
    return f->diagonal > 0 || f->identity > 0 || f->patches > 0;
}

static dkm_local open_terms(dkm_form *f, const dkm_joint *joint)
{
    dkm_local local = DKM_LOCAL_OK;

    f->diagonal = dkm_joint_diagonal(joint);
    if (f->diagonal > 0)
        DKM_STEP(check_width(f, joint, f->r, "diag"));
    f->identity = dkm_joint_identity(joint);
    if (f->identity > 0)
        DKM_STEP(check_width(f, joint, f->r, "identity"));
    DKM_STEP(dkm_calloc(f->base.ctx, joint->terms, &f->patch));
    for (dkm_idx k = 0; k < joint->terms; k++) {
        const dkm_joint_term *t = &joint->term[k];
        if (!dkm_joint_is_patch(t))
            continue;
        DKM_STEP(check_width(f, joint, t->height * t->width, "the shape of patch"));
        f->patch[f->patches].weight = t->weight * t->lambda;
        DKM_STEP(dkm_partition_make(&f->patch[f->patches++].cells, f->base.ctx, t->height, t->width,
                                    t->size, t->step));
    }
out:
    return local;
}

dkm_status dkm_form_open(dkm_form *form, dkm_data **X, const dkm_joint *joint,
                         const dkm_joint_kernels *kernels, dkm_idx places, dkm_idx r,
                         const dkm_layout *layout)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_data_ctx(*X);
    int dense = dkm_data_type(*X) == DKM_DENSE;

    const char *none = dkm_data_type(*X) == DKM_STRINGS ? "spectrum(p=1)" : "linear";

    *form = (dkm_form){.m = dkm_data_rows(*X), .r = r, .places = places};
    if (kernels->kx)
        form->kernel = strcmp(kernels->kx, "linear") == 0 && dense && dkm_data_cols(*X) < form->m
                           ? DKM_FORM_PRIMAL
                           : DKM_FORM_GRAM;
    DKM_TRY(dkm_base_open(&form->base, ctx, X, kernels->kx ? kernels->kx : none, layout));
    DKM_AGREE(ctx, open_terms(form, joint));
    DKM_TRY(dkm_form_strings_open(form, joint));
out:
    return status;
}

void dkm_form_close(dkm_form *form)
{
    for (dkm_idx k = 0; k < form->patches; k++)
        dkm_partition_clear(&form->patch[k].cells);
    DKM_FREE(form->patch);
    dkm_form_strings_close(form);
    dkm_data_destroy(&form->K);
    DKM_FREE(form->columns);
    DKM_FREE(form->W);
    dkm_base_close(&form->base);
}

dkm_status dkm_form_train(dkm_form *form)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = form->base.ctx;
    double share = (double)form->m / dkm_ctx_size(ctx) + 1;

    if (form->kernel == DKM_FORM_PRIMAL) {
        DKM_AGREE(ctx, dkm_alloc(ctx, dkm_data_cols(form->base.X) * form->r, &form->W));
        DKM_TRY(dkm_form_primal_columns(form));
    }
    if (form->kernel == DKM_FORM_GRAM) {
        DKM_TRY(dkm_memory_check(ctx, share * (double)form->m * sizeof(double),
                                 "the kernel matrix of the inputs"));
        DKM_TRY(dkm_data_create_dense(ctx, form->m, form->m, &form->K));
        DKM_TRY(dkm_gram_slab(form->base.prepared, dkm_data_values(form->K)));
    }
out:
    return status;
}

/* G += K U, K n x m. */
static dkm_status add_gram(const dkm_form *f, dkm_idx n, const double *K, const double *U,
                           double *G)
{
    dkm_status status = DKM_OK;
    dkm_idx step = dkm_rows_panel(f->r);
    double *panel = NULL;

    DKM_AGREE(f->base.ctx, dkm_alloc(f->base.ctx, step * f->r, &panel));
    for (dkm_idx first = 0; first < f->m; first += step) {
        dkm_idx count = f->m - first < step ? f->m - first : step;
        DKM_TRY(dkm_rows_gather(f->base.ctx, f->m, f->r, U, first, count, panel));
        dkm_rows_times(n, f->r, count, 1.0, (dkm_block){K + first, f->m}, (dkm_block){panel, f->r},
                       1.0, G);
    }
    dkm_phase_flops(f->base.ctx, 2.0 * (double)n * (double)f->m * (double)f->r);
out:
    DKM_FREE(panel);
    return status;
}

/* G += K(A, training) U for new inputs. */
static dkm_status add_new(dkm_form *f, const dkm_data *A, const double *U, double *G)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = f->base.ctx;
    dkm_idx n = dkm_data_local_rows(A);
    double *rows = NULL;
    dkm_dmat *K = NULL;

    DKM_TRY(dkm_base_cross(&f->base, A, &K));
    DKM_AGREE(ctx, dkm_alloc(ctx, n * f->m, &rows));
    DKM_TRY(dkm_dmat_to_rows(K, rows));
    DKM_TRY(add_gram(f, n, rows, U, G));
out:
    dkm_dmat_destroy(&K);
    DKM_FREE(rows);
    return status;
}

static dkm_local check_new(const dkm_form *f, const dkm_data *A)
{
    if (dkm_data_type(A) == dkm_data_type(f->base.X) &&
        dkm_data_cols(A) == dkm_data_cols(f->base.X))
        return DKM_LOCAL_OK;
    return dkm_fail(f->base.ctx, DKM_ERR_ARG,
                    "the model was trained on %s inputs of %lld columns, these are %s of %lld",
                    dkm_type_name(dkm_data_type(f->base.X)), (long long)dkm_data_cols(f->base.X),
                    dkm_type_name(dkm_data_type(A)), (long long)dkm_data_cols(A));
}

dkm_status dkm_form_apply(dkm_form *form, const dkm_data *A, const double *U, double *G)
{
    dkm_status status = DKM_OK;
    int training = !A;
    dkm_idx n;

    A = A ? A : form->base.X;
    n = dkm_data_local_rows(A);
    memset(G, 0, (size_t)(n * form->r) * sizeof *G);
    if (!training && pairs_up(form))
        DKM_AGREE(form->base.ctx, check_new(form, A));
    if (form->kernel != DKM_FORM_NONE && !training)
        DKM_TRY(add_new(form, A, U, G));
    else if (form->kernel == DKM_FORM_PRIMAL)
        DKM_TRY(dkm_form_primal_add(form, U, G));
    else if (form->kernel == DKM_FORM_GRAM)
        DKM_TRY(add_gram(form, n, dkm_data_values_const(form->K), U, G));
    if (form->diagonal > 0)
        DKM_TRY(dkm_form_add_diagonal(form, A, U, G));
    if (form->identity > 0)
        DKM_TRY(dkm_form_add_identity(form, A, U, G));
    for (dkm_idx k = 0; k < form->patches; k++)
        DKM_TRY(dkm_form_patch_apply(form, &form->patch[k], A, U, G));
    for (dkm_idx k = 0; k < form->stretches; k++)
        DKM_TRY(dkm_form_strings_apply(form, &form->strings[k], A, U, G));
out:
    return status;
}

/* out(a, b) += K(x_a, x_b) <v_a, v_b> with K a number an example of this rank. */
static dkm_local meet_kernel(const dkm_form *f, dkm_form_rows A, const double *X, dkm_form_rows B,
                             double *out)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx n = dkm_data_local_rows(f->base.X), p = dkm_data_cols(f->base.X);
    const double *own = f->K ? dkm_data_values_const(f->K) : dkm_data_values_const(f->base.X);
    double *K = NULL;

    dkm_rows_meet(A.count, B.count, f->r, 1.0, (dkm_block){A.V, f->r}, (dkm_block){B.V, f->r}, 0.0,
                  out);
    if (!f->K) {
        DKM_STEP(dkm_alloc(f->base.ctx, A.count * n, &K));
        dkm_rows_meet(A.count, n, p, 1.0, (dkm_block){X, p}, (dkm_block){own, p}, 0.0, K);
    }
    for (dkm_idx a = 0; a < A.count; a++)
        for (dkm_idx b = 0; b < B.count; b++)
            out[a * B.count + b] *=
                K ? K[a * n + B.example[b]] : own[B.example[b] * f->m + A.example[a]];
out:
    DKM_FREE(K);
    return local;
}

/* @p inputs are those of A, where they are looked at. */
static dkm_local meet(const dkm_form *f, dkm_form_rows A, const dkm_objs *inputs, dkm_form_rows B,
                      double *out)
{
    dkm_local local = DKM_LOCAL_OK;
    const double *X = inputs->values;

    memset(out, 0, (size_t)(A.count * B.count) * sizeof *out);
    if (f->kernel != DKM_FORM_NONE)
        DKM_STEP(meet_kernel(f, A, X, B, out));
    if (f->diagonal > 0)
        DKM_STEP(dkm_form_meet_diagonal(f, A, X, B, out));
    if (f->identity > 0)
        DKM_STEP(dkm_form_meet_identity(f, A, X, B, out));
    for (dkm_idx k = 0; k < f->patches; k++)
        DKM_STEP(dkm_form_patch_meet(f, &f->patch[k], A, X, B, out));
    for (dkm_idx k = 0; k < f->stretches; k++)
        DKM_STEP(dkm_form_strings_meet(f, &f->strings[k], A, inputs, B, out));
    dkm_phase_flops(f->base.ctx, 2.0 * (double)A.count * (double)B.count * (double)f->r);
out:
    return local;
}

dkm_status dkm_form_gram(dkm_form *form, dkm_form_rows A, dkm_form_rows B, double *out)
{
    dkm_status status = DKM_OK;
    dkm_objs X = {0};

    for (dkm_idx first = 0; first < A.count; first += GRAM_ROWS) {
        dkm_idx count = A.count - first < GRAM_ROWS ? A.count - first : GRAM_ROWS;
        dkm_form_rows part = {count, A.example + first, A.V + first * form->r};
        if (form->kernel == DKM_FORM_PRIMAL || form->stretches > 0 || pairs_up(form))
            DKM_TRY(dkm_data_fetch(form->base.X, count, part.example, &X));
        DKM_AGREE(form->base.ctx, meet(form, part, &X, B, out + first * B.count));
        dkm_objs_clear(&X);
    }
out:
    dkm_objs_clear(&X);
    return status;
}
