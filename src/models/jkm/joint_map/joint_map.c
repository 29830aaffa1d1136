/* The joint feature map as an implicit linear operator: W x for w = sum_i Phi(x_i, u_i), and inner
 * products of constraints, without forming W (see joint_map.h for the kernel).
 *
 * Cost of applying w to n inputs: 2 n m r flops over all ranks with the Gram matrix, 2 (n + m) d r
 * through the features; u is brought to all ranks a panel at a time, m r words, but for products with K in
 * two dimensions (joint_map_matrix.c). Per rank n m / ranks kernel values. */
#include "models/jkm/joint_map/joint_map.h"

#include <string.h>

#include "core/alloc.h"
#include "core/minmax.h"
#include "data/objects.h"
#include "models/common/reproducible.h"
#include "models/jkm/joint_map/joint_map_paired.h"
#include "models/jkm/joint_map/joint_map_patch.h"
#include "models/jkm/joint_map/joint_map_primal.h"
#include "models/jkm/joint_map/joint_map_strings.h"

#define GRAM_ROWS 256 /* constraints whose products are made at once */

static dkm_local check_width(const dkm_joint_map *f, const dkm_joint *joint, dkm_idx want,
                             const char *what)
{
    dkm_idx d = dkm_data_cols(f->fitted.X);

    if (dkm_data_type(f->fitted.X) != DKM_DENSE)
        return dkm_fail(f->fitted.ctx, DKM_ERR_UNSUPPORTED,
                        "joint kernel %s: %s needs dense inputs, these are %s", joint->text, what,
                        dkm_type_name(dkm_data_type(f->fitted.X)));
    if (d != want || f->r != want)
        return dkm_fail(f->fitted.ctx, DKM_ERR_ARG,
                        "joint kernel %s: %s pairs each of %lld inputs with an output, but x has "
                        "%lld columns and y has %lld",
                        joint->text, what, (long long)want, (long long)d, (long long)f->r);
    return DKM_LOCAL_OK;
}

/* Does it pair each input with the output of the same number? */
static int pairs_up(const dkm_joint_map *f)
{
    return f->diagonal > 0 || f->identity > 0 || f->patches > 0;
}

static dkm_local open_terms(dkm_joint_map *f, const dkm_joint *joint)
{
    dkm_local local = DKM_LOCAL_OK;

    f->diagonal = dkm_joint_diagonal(joint);
    if (f->diagonal > 0)
        DKM_STEP(check_width(f, joint, f->r, "diag"));
    f->identity = dkm_joint_identity(joint);
    if (f->identity > 0)
        DKM_STEP(check_width(f, joint, f->r, "identity"));
    DKM_STEP(dkm_calloc(f->fitted.ctx, joint->terms, &f->patch));
    for (dkm_idx k = 0; k < joint->terms; k++) {
        const dkm_joint_term *t = &joint->term[k];
        if (!dkm_joint_is_patch(t))
            continue;
        DKM_STEP(check_width(f, joint, t->height * t->width, "the shape of patch"));
        f->patch[f->patches].weight = t->weight * t->lambda;
        DKM_STEP(dkm_patches_make(&f->patch[f->patches++].cells, f->fitted.ctx, t->height, t->width,
                                  t->size, t->step));
    }
out:
    return local;
}

dkm_status dkm_joint_map_open(dkm_joint_map *map, const dkm_data *X, const dkm_joint *joint,
                              const dkm_joint_kernels *kernels, dkm_idx positions, dkm_idx r,
                              const dkm_layout *layout)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_data_ctx(X);
    int dense = dkm_data_type(X) == DKM_DENSE;
    const char *none = dkm_data_type(X) == DKM_STRINGS ? "spectrum(p=1)" : "linear";

    *map = (dkm_joint_map){.m = dkm_data_rows(X), .r = r, .positions = positions};
    if (kernels->kx)
        map->kernel = strcmp(kernels->kx, "linear") == 0 && dense && dkm_data_cols(X) < map->m
                          ? DKM_JOINT_MAP_PRIMAL
                          : DKM_JOINT_MAP_GRAM;
    DKM_TRY(
        dkm_fitted_kernel_parse(&map->fitted, NULL, X, kernels->kx ? kernels->kx : none, layout));
    DKM_AGREE(ctx, open_terms(map, joint));
    DKM_TRY(dkm_joint_map_strings_open(map, joint));
out:
    return status;
}

void dkm_joint_map_close(dkm_joint_map *map)
{
    for (dkm_idx k = 0; k < map->patches; k++)
        dkm_patches_clear(&map->patch[k].cells);
    DKM_FREE(map->patch);
    dkm_joint_map_strings_close(map);
    dkm_data_destroy(&map->K);
    dkm_joint_map_matrix_destroy(&map->matrix);
    DKM_FREE(map->columns);
    DKM_FREE(map->W);
    dkm_fitted_kernel_close(&map->fitted);
}

int dkm_joint_map_is_kernel(const dkm_joint_map *map)
{
    return map->kernel != DKM_JOINT_MAP_NONE && !pairs_up(map) && map->string_terms == 0;
}

/* Bytes of an input on its way, on average: its entries, and what goes with them. */
static double object_bytes(const dkm_data *X)
{
    const dkm_objs *own = &X->mine;
    double items = own->start ? (double)own->start[own->n] : 0,
           bytes = 8.0 * (double)(own->n * (own->start ? 0 : own->d)) + items * (own->bytes ? 1.0
                                                                                 : own->val ? 16.0
                                                                                            : 8.0);

    MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(X->ctx));
    return bytes / (double)dkm_idx_max(X->m, 1) + DKM_JOINT_MAP_OBJECT_EXTRA;
}

static dkm_status train_in_two_dimensions(dkm_joint_map *map, dkm_joint_map_load *load,
                                          const dkm_layout *layout)
{
    int R = layout->P, C = layout->Q;

    load->m = (double)map->m;
    load->r = (double)map->r;
    load->object_bytes = object_bytes(map->fitted.X);
    if (R == 0 || C == 0)
        dkm_joint_map_matrix_shape(dkm_ctx_size(map->fitted.ctx), load, &R, &C);
    return dkm_joint_map_matrix_create(map->fitted.prepared, R, C, &map->matrix);
}

static dkm_status train_in_rows(dkm_joint_map *map)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = map->fitted.ctx;
    double share = (double)map->m / dkm_ctx_size(ctx) + 1;

    DKM_TRY(dkm_memory_check(ctx, share * (double)map->m * sizeof(double),
                             "the kernel matrix of the inputs"));
    DKM_TRY(dkm_data_create_dense(ctx, map->m, map->m, &map->K));
    DKM_TRY(dkm_gram_slab(map->fitted.prepared, dkm_data_values(map->K)));
out:
    return status;
}

dkm_status dkm_joint_map_train(dkm_joint_map *map, dkm_joint_map_load *products,
                               const dkm_layout *layout)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = map->fitted.ctx;

    if (map->kernel == DKM_JOINT_MAP_PRIMAL)
        DKM_AGREE(ctx, dkm_alloc(ctx, dkm_data_cols(map->fitted.X) * map->r, &map->W));
    if (map->kernel == DKM_JOINT_MAP_GRAM)
        DKM_TRY(products ? train_in_two_dimensions(map, products, layout) : train_in_rows(map));
out:
    return status;
}

/* G += K U, K n x m. */
static dkm_status joint_map_add_gram(const dkm_joint_map *f, dkm_idx n, const double *K,
                                     const double *U, double *G)
{
    dkm_status status = DKM_OK;
    dkm_idx step = dkm_repro_panel_rows(f->r);
    double *panel = NULL;

    DKM_AGREE(f->fitted.ctx, dkm_alloc(f->fitted.ctx, step * f->r, &panel));
    for (dkm_idx first = 0; first < f->m; first += step) {
        dkm_idx count = f->m - first < step ? f->m - first : step;
        DKM_TRY(dkm_repro_gather(f->fitted.ctx, f->m, f->r, U, first, count, panel));
        dkm_repro_gemm(n, f->r, count, 1.0, (dkm_row_block){K + first, f->m},
                       (dkm_row_block){panel, f->r}, 1.0, G);
    }
    dkm_phase_flops(f->fitted.ctx, 2.0 * (double)n * (double)f->m * (double)f->r);
out:
    DKM_FREE(panel);
    return status;
}

/* G += K(A, training) U for new inputs. */
static dkm_status add_new(dkm_joint_map *f, const dkm_data *A, const double *U, double *G)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = f->fitted.ctx;
    dkm_idx n = dkm_data_local_rows(A);
    double *rows = NULL;
    dkm_dmat *K = NULL;

    DKM_TRY(dkm_fitted_kernel_cross(&f->fitted, A, &K));
    DKM_AGREE(ctx, dkm_alloc(ctx, n * f->m, &rows));
    DKM_TRY(dkm_dmat_to_rows(K, rows));
    DKM_TRY(joint_map_add_gram(f, n, rows, U, G));
out:
    dkm_dmat_destroy(&K);
    DKM_FREE(rows);
    return status;
}

static dkm_local check_new(const dkm_joint_map *f, const dkm_data *A)
{
    if (dkm_data_type(A) == dkm_data_type(f->fitted.X) &&
        dkm_data_cols(A) == dkm_data_cols(f->fitted.X))
        return DKM_LOCAL_OK;
    return dkm_fail(f->fitted.ctx, DKM_ERR_ARG,
                    "the model was trained on %s inputs of %lld columns, these are %s of %lld",
                    dkm_type_name(dkm_data_type(f->fitted.X)),
                    (long long)dkm_data_cols(f->fitted.X), dkm_type_name(dkm_data_type(A)),
                    (long long)dkm_data_cols(A));
}

dkm_status dkm_joint_map_apply(dkm_joint_map *map, const dkm_data *A, const double *U, double *G)
{
    dkm_status status = DKM_OK;
    int training = !A;
    dkm_idx n;

    A = A ? A : map->fitted.X;
    n = dkm_data_local_rows(A);
    memset(G, 0, (size_t)(n * map->r) * sizeof *G);
    if (!training && pairs_up(map))
        DKM_AGREE(map->fitted.ctx, check_new(map, A));
    if (map->kernel != DKM_JOINT_MAP_NONE && !training)
        DKM_TRY(add_new(map, A, U, G));
    else if (map->kernel == DKM_JOINT_MAP_PRIMAL)
        DKM_TRY(dkm_joint_map_primal_add(map, U, G));
    else if (map->matrix)
        DKM_TRY(dkm_joint_map_matrix_multiply(map->matrix, map->r, U, G));
    else if (map->kernel == DKM_JOINT_MAP_GRAM)
        DKM_TRY(joint_map_add_gram(map, n, dkm_data_values_const(map->K), U, G));
    if (map->diagonal > 0)
        DKM_TRY(dkm_joint_map_add_diagonal(map, A, U, G));
    if (map->identity > 0)
        DKM_TRY(dkm_joint_map_add_identity(map, A, U, G));
    for (dkm_idx k = 0; k < map->patches; k++)
        DKM_TRY(dkm_joint_map_patch_apply(map, &map->patch[k], A, U, G));
    for (dkm_idx k = 0; k < map->string_terms; k++)
        DKM_TRY(dkm_joint_map_strings_apply(map, &map->strings[k], A, U, G));
out:
    return status;
}

/* out(a, b) += K(x_a, x_b) <v_a, v_b> with K a number per example of this rank. */
static dkm_local meet_kernel(const dkm_joint_map *f, dkm_joint_map_rows A, const double *X,
                             dkm_joint_map_rows B, double *out)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx n = dkm_data_local_rows(f->fitted.X), p = dkm_data_cols(f->fitted.X);
    const double *own = f->K ? dkm_data_values_const(f->K) : dkm_data_values_const(f->fitted.X);
    double *K = NULL;

    dkm_repro_gemm_nt(A.count, B.count, f->r, 1.0, (dkm_row_block){A.V, f->r},
                      (dkm_row_block){B.V, f->r}, 0.0, out);
    if (!f->K) {
        DKM_STEP(dkm_alloc(f->fitted.ctx, A.count * n, &K));
        dkm_repro_gemm_nt(A.count, n, p, 1.0, (dkm_row_block){X, p}, (dkm_row_block){own, p}, 0.0,
                          K);
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
static dkm_local joint_map_inner(const dkm_joint_map *f, dkm_joint_map_rows A,
                                 const dkm_objs *inputs, dkm_joint_map_rows B, double *out)
{
    dkm_local local = DKM_LOCAL_OK;
    const double *X = inputs->values;

    memset(out, 0, (size_t)(A.count * B.count) * sizeof *out);
    if (f->kernel != DKM_JOINT_MAP_NONE)
        DKM_STEP(meet_kernel(f, A, X, B, out));
    if (f->diagonal > 0)
        DKM_STEP(dkm_joint_map_inner_diagonal(f, A, X, B, out));
    if (f->identity > 0)
        DKM_STEP(dkm_joint_map_inner_identity(f, A, X, B, out));
    for (dkm_idx k = 0; k < f->patches; k++)
        DKM_STEP(dkm_joint_map_patch_inner(f, &f->patch[k], A, X, B, out));
    for (dkm_idx k = 0; k < f->string_terms; k++)
        DKM_STEP(dkm_joint_map_strings_inner(f, &f->strings[k], A, inputs, B, out));
    dkm_phase_flops(f->fitted.ctx, 2.0 * (double)A.count * (double)B.count * (double)f->r);
out:
    return local;
}

dkm_status dkm_joint_map_gram(dkm_joint_map *map, dkm_joint_map_rows A, dkm_joint_map_rows B,
                              double *out)
{
    dkm_status status = DKM_OK;
    dkm_objs X = {0};

    for (dkm_idx first = 0; first < A.count; first += GRAM_ROWS) {
        dkm_idx count = A.count - first < GRAM_ROWS ? A.count - first : GRAM_ROWS;
        dkm_joint_map_rows part = {count, A.example + first, A.V + first * map->r};
        if (map->kernel == DKM_JOINT_MAP_PRIMAL || map->string_terms > 0 || pairs_up(map))
            DKM_TRY(dkm_data_fetch(map->fitted.X, count, part.example, &X));
        DKM_AGREE(map->fitted.ctx, joint_map_inner(map, part, &X, B, out + first * B.count));
        dkm_objs_clear(&X);
    }
out:
    dkm_objs_clear(&X);
    return status;
}
