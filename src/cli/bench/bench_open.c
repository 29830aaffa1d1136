#include <math.h>
#include <stdio.h>
#include <string.h>

#include <dkmap/data.h>
#include <dkmap/random.h>

#include "cli/bench/bench.h"

enum { STREAM_ROWS = 101, STREAM_RANDOM = 102 };

dkm_precision bench_matrix_precision(const run *r)
{
    return strcmp(args_text(r->args, "precision"), "single") == 0 ? DKM_F32 : DKM_F64;
}

static dkm_local bench_open_check_count(bench *b, dkm_idx rows)
{
    if (b->n < 1)
        return dkm_fail(b->ctx, DKM_ERR_ARG, "how many objects? Give --n N, or --x FILE with some");
    if (rows >= 0 && b->n > rows)
        return dkm_fail(b->ctx, DKM_ERR_ARG, "--n %lld: %s has %lld objects", (long long)b->n,
                        args_text(b->r->args, "x"), (long long)rows);
    return DKM_LOCAL_OK;
}

dkm_status bench_count(bench *b, dkm_idx rows)
{
    const value *n = args_value(b->r->args, "n", 0);

    b->n = n ? n->integer : rows;
    return dkm_agree(b->ctx, bench_open_check_count(b, rows));
}

static double harmonic(dkm_idx d)
{
    double sum = 0;

    for (dkm_idx k = 1; k <= d; k++)
        sum += 1.0 / (double)k;
    return sum;
}

/* Normal numbers whose variance falls as 1 / k from column to column, as that of the components of
 * natural images does about; it is 1 on the mean. */
static dkm_status generate_rows(bench *b)
{
    dkm_status status = DKM_OK;
    uint64_t seed = dkm_ctx_seed(b->ctx);
    double scale, *x;

    DKM_TRY(bench_count(b, -1));
    b->d = args_int(b->r->args, "d");
    scale = sqrt((double)b->d / harmonic(b->d));
    DKM_TRY(dkm_data_create_dense(b->ctx, b->n, b->d, &b->X));
    x = dkm_data_values(b->X);
    for (dkm_idx il = 0; il < dkm_data_local_rows(b->X); il++) {
        uint64_t ig = (uint64_t)(dkm_data_local_first(b->X) + il);
        for (dkm_idx k = 0; k < b->d; k++)
            *x++ = scale / sqrt((double)(k + 1)) *
                   dkm_random_normal(seed, STREAM_ROWS, ig, (uint64_t)k);
    }
out:
    return status;
}

static dkm_local bench_open_check_dense(bench *b, const dkm_source *source)
{
    if (dkm_source_type(source) == DKM_DENSE && dkm_source_cols(source) > 0)
        return DKM_LOCAL_OK;
    return dkm_fail(b->ctx, DKM_ERR_ARG, "%s: a bench needs dense rows, not %s",
                    args_text(b->r->args, "x"), dkm_type_name(dkm_source_type(source)));
}

static dkm_status bench_open_read_rows(bench *b)
{
    dkm_status status = DKM_OK;
    dkm_source *source = NULL;

    DKM_TRY(dkm_source_open(b->ctx, args_text(b->r->args, "x"), DKM_INPUTS, NULL, &source));
    DKM_AGREE(b->ctx, bench_open_check_dense(b, source));
    DKM_TRY(bench_count(b, dkm_source_rows(source)));
    b->d = dkm_source_cols(source);
    DKM_TRY(dkm_source_read(source, 0, b->n, &b->X));
out:
    dkm_source_close(&source);
    return status;
}

dkm_status bench_open_grid(bench *b, dkm_idx n)
{
    dkm_status status = DKM_OK;
    dkm_layout layout = run_layout(b->r);

    DKM_TRY(dkm_grid_create(b->ctx, layout.P, layout.Q, &b->grid));
    b->nb = layout.block ? layout.block : dkm_grid_block(b->grid, n);
out:
    return status;
}

static dkm_status open_kernel(bench *b)
{
    dkm_status status = DKM_OK;
    char text[80];

    b->sigma = args_real(b->r->args, "sigma");
    DKM_REQUIRE(b->ctx, !(b->sigma < 0), DKM_ERR_ARG, "--sigma must be > 0, or 0 to choose");
    if (b->sigma == 0)
        b->sigma = sqrt((double)b->d);
    snprintf(text, sizeof text, "rbf(sigma=%.17g)", b->sigma);
    DKM_TRY(dkm_kernel_parse(b->ctx, text, &b->kernel));
    DKM_TRY(dkm_kernel_prepare(b->kernel, b->X, &b->prepared));
out:
    return status;
}

/* Refuse a matrix that does not fit, rather than be killed half way. */
static dkm_status bench_open_check_memory(bench *b)
{
    int P = dkm_grid_rows(b->grid), Q = dkm_grid_cols(b->grid);
    double elements = (double)dkm_cyclic_count(b->n, b->nb, dkm_grid_row(b->grid), P) *
                      (double)dkm_cyclic_count(b->n, b->nb, dkm_grid_col(b->grid), Q);

    return dkm_memory_check(b->ctx, elements * (b->precision == DKM_F64 ? 8.0 : 4.0),
                            "the kernel matrix");
}

dkm_status bench_open_rows(bench *b, run *r, dkm_precision precision)
{
    dkm_status status = DKM_OK;

    *b = (bench){.r = r, .ctx = r->ctx, .precision = precision, .against_gemm = 1};
    DKM_TRY(args_text(r->args, "x") ? bench_open_read_rows(b) : generate_rows(b));
    DKM_TRY(bench_open_grid(b, b->n));
out:
    return status;
}

dkm_status bench_open(bench *b, run *r, dkm_precision precision)
{
    dkm_status status = DKM_OK;

    DKM_TRY(bench_open_rows(b, r, precision));
    DKM_TRY(bench_open_check_memory(b));
    DKM_TRY(open_kernel(b));
out:
    return status;
}

void bench_close(bench *b)
{
    dkm_prepared_destroy(&b->prepared);
    dkm_kernel_destroy(&b->kernel);
    dkm_data_destroy(&b->X);
    dkm_grid_destroy(&b->grid);
}

static double normal_at(void *user, dkm_idx ig, dkm_idx jg)
{
    const bench *b = user;

    return dkm_random_normal(dkm_ctx_seed(b->ctx), STREAM_RANDOM, (uint64_t)ig, (uint64_t)jg);
}

dkm_status bench_random(bench *b, dkm_idx cols, dkm_precision precision, dkm_dmat **Y)
{
    dkm_status status = dkm_dmat_create(b->grid, b->n, cols, b->nb, b->nb, precision, Y);

    if (status == DKM_OK)
        dkm_dmat_fill(*Y, normal_at, b);
    return status;
}
