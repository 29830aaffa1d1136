#include "reference/reference_gram.h"

#include <math.h>
#include <string.h>

#include <dkmap/kernel.h>

#include "reference/reference_kernel.h"
#include "support/check.h"

#define SIZE_MOST 64

typedef struct trial {
    dkm_ctx *ctx;
    const gram_case *c;
    int indefinite;
    dkm_grid *grid;
    dkm_kernel *kernel;
    dkm_prepared *X, *Z;
} trial;

static void check_element(const trial *t, dkm_dmat *K, dkm_idx il, dkm_idx jl, double want)
{
    dkm_idx k = il + jl * dkm_dmat_ld(K);
    int single = dkm_dmat_precision(K) == DKM_F32;
    double got = single ? (double)dkm_dmat_f32(K)[k] : dkm_dmat_f64(K)[k];
    double tolerance = t->c->tolerance * (single ? 536870912.0 : 1.0) * (1 + fabs(want));

    if (!(fabs(got - want) <= tolerance))
        check_failed(__FILE__, __LINE__, "%s (%lld, %lld): %.17g, not %.17g", t->c->text,
                     (long long)dkm_dmat_global_row(K, il), (long long)dkm_dmat_global_col(K, jl),
                     got, want);
}

static void check_among(const trial *t, dkm_idx nb, dkm_precision precision)
{
    dkm_dmat *K = NULL;

    CHECK_OK(t->ctx, dkm_gram(t->grid, t->kernel, t->X, nb, precision, &K));
    for (dkm_idx jl = 0; K && jl < dkm_dmat_local_cols(K); jl++)
        for (dkm_idx il = 0; il < dkm_dmat_local_rows(K); il++) {
            dkm_idx ig = dkm_dmat_global_row(K, il), jg = dkm_dmat_global_col(K, jl);
            check_element(t, K, il, jl, ig >= jg ? t->c->among(ig, jg) : 0.0);
        }
    dkm_dmat_destroy(&K);
}

static void check_others(const trial *t, dkm_idx nb, dkm_precision precision)
{
    dkm_dmat *K = NULL;

    if (!t->Z)
        return;
    CHECK_OK(t->ctx, dkm_gram_cross(t->grid, t->kernel, t->Z, t->X, nb + 2, nb, precision, &K));
    for (dkm_idx jl = 0; K && jl < dkm_dmat_local_cols(K); jl++)
        for (dkm_idx il = 0; il < dkm_dmat_local_rows(K); il++)
            check_element(t, K, il, jl,
                          t->c->to_others(dkm_dmat_global_row(K, il), dkm_dmat_global_col(K, jl)));
    dkm_dmat_destroy(&K);
}

static void check_selves(const trial *t)
{
    double selves[SIZE_MOST];

    CHECK_OK(t->ctx, dkm_kernel_diagonal(t->X, selves));
    for (dkm_idx i = 0; i < dkm_data_local_rows(t->c->X); i++) {
        dkm_idx ig = dkm_data_local_first(t->c->X) + i;
        double want = t->c->among(ig, ig);
        CHECK_CLOSE(selves[i], want, t->c->tolerance * (1 + fabs(want)));
    }
}

/* Symmetric to the last bit, and no eigenvalue below zero by more than rounding. */
static void check_positive(const trial *t)
{
    dkm_data *rows = NULL;
    dkm_idx m = dkm_data_rows(t->c->X);
    double all[SIZE_MOST * SIZE_MOST] = {0}, trace = 0;

    CHECK_OK(t->ctx, dkm_gram_rows(t->grid, t->kernel, t->X, 3, 0, &rows));
    if (rows)
        memcpy(all + dkm_data_local_first(rows) * m, dkm_data_values_const(rows),
               (size_t)(dkm_data_local_rows(rows) * m) * sizeof *all);
    MPI_Allreduce(MPI_IN_PLACE, all, (int)(m * m), MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(t->ctx));
    for (dkm_idx i = 0; i < m; i++) {
        trace += all[i * m + i];
        for (dkm_idx j = 0; j < i; j++)
            CHECK(all[i * m + j] == all[j * m + i]);
    }
    CHECK(m == 0 || t->indefinite || reference_least_eigenvalue(m, all) >= -1e-13 * trace);
    dkm_data_destroy(&rows);
}

static void on_grid(trial *t, int P, int Q, dkm_idx nb)
{
    CHECK_OK(t->ctx, dkm_grid_create(t->ctx, P, Q, &t->grid));
    for (int precision = DKM_F64; precision <= DKM_F32; precision++) {
        check_among(t, nb, (dkm_precision)precision);
        check_others(t, nb, (dkm_precision)precision);
    }
    if (P == 0)
        check_positive(t);
    dkm_grid_destroy(&t->grid);
}

static void check_any(dkm_ctx *ctx, const gram_case *c, int indefinite)
{
    trial t = {.ctx = ctx, .c = c, .indefinite = indefinite};

    CHECK(dkm_data_rows(c->X) <= SIZE_MOST);
    CHECK_OK(ctx, dkm_kernel_parse(ctx, c->text, &t.kernel));
    if (t.kernel)
        CHECK_OK(ctx, dkm_kernel_prepare(t.kernel, c->X, &t.X));
    if (t.X && c->Z)
        CHECK_OK(ctx, dkm_kernel_prepare_new(t.X, c->Z, &t.Z));
    if (t.X && (t.Z || !c->Z)) {
        check_selves(&t);
        on_grid(&t, 0, 0, 4);
        on_grid(&t, 1, dkm_ctx_size(ctx), 3);
        on_grid(&t, dkm_ctx_size(ctx), 1, 64);
    }
    dkm_prepared_destroy(&t.Z);
    dkm_prepared_destroy(&t.X);
    dkm_kernel_destroy(&t.kernel);
}

void check_gram(dkm_ctx *ctx, const gram_case *c)
{
    check_any(ctx, c, 0);
}

void check_indefinite_gram(dkm_ctx *ctx, const gram_case *c)
{
    check_any(ctx, c, 1);
}

static const char *brutal_text;
static const dkm_data *brutal_X;

static dkm_status gram_once(dkm_ctx *ctx)
{
    dkm_status status = DKM_OK;
    dkm_grid *grid = NULL;
    dkm_kernel *k = NULL;
    dkm_prepared *P = NULL, *Q = NULL;
    dkm_dmat *K = NULL;

    DKM_TRY(dkm_grid_create(ctx, 0, 0, &grid));
    DKM_TRY(dkm_kernel_parse(ctx, brutal_text, &k));
    DKM_TRY(dkm_kernel_prepare(k, brutal_X, &P));
    if (dkm_data_type(brutal_X) == DKM_GRAPH) {
        DKM_TRY(dkm_gram(grid, k, P, 3, DKM_F64, &K));
    } else {
        DKM_TRY(dkm_kernel_prepare_new(P, brutal_X, &Q));
        DKM_TRY(dkm_gram_cross(grid, k, Q, P, 3, 3, DKM_F64, &K));
    }
out:
    dkm_dmat_destroy(&K);
    dkm_prepared_destroy(&Q);
    dkm_prepared_destroy(&P);
    dkm_kernel_destroy(&k);
    dkm_grid_destroy(&grid);
    return status;
}

void check_gram_allocations(dkm_ctx *ctx, int victim, const char *text, dkm_data *X)
{
    brutal_text = text;
    brutal_X = X;
    check_every_allocation(ctx, victim, gram_once);
    dkm_data_destroy(&X);
}
