#include <math.h>

#include <dkmap/kernel.h>
#include <dkmap/random.h>

#include "core/alloc.h"
#include "kernels/gram/tiles.h"
#include "linalg/linalg.h"
#include "support/check.h"
#include "support/fixture_problem.h"

static double normal_at(dkm_idx i, dkm_idx k)
{
    return dkm_random_normal(1, 0, (uint64_t)(3 * i + k), 0);
}

static double wave(void *user, dkm_idx ig, dkm_idx jg)
{
    (void)user;
    return cos(0.1 * (double)ig * (double)(jg + 1));
}

/* ||apply(V) - K V|| with K assembled. */
static void compare(dkm_ctx *ctx, int P, dkm_idx m, dkm_idx nb, const char *kernel)
{
    enum { D = 4 };
    gram_problem p;
    dkm_dmat *K = NULL, *V = NULL, *W = NULL;
    double *rows = NULL, *want = NULL, gap = 0;
    dkm_idx n = D * dkm_slab_count(m, dkm_ctx_rank(ctx), dkm_ctx_size(ctx));

    CHECK_OK(ctx, gram_problem_open(&p, ctx, P, m, 3, normal_at, kernel));
    CHECK_OK(ctx, dkm_gram(p.grid, p.kernel, p.prepared, nb, DKM_F64, &K));
    CHECK_OK(ctx, dkm_dmat_create(p.grid, m, D, nb, nb, DKM_F64, &V));
    CHECK_OK(ctx, dkm_dmat_create(p.grid, m, D, nb, nb, DKM_F64, &W));
    CHECK_OK(ctx, dkm_agree(ctx, dkm_alloc(ctx, n, &rows)));
    CHECK_OK(ctx, dkm_agree(ctx, dkm_alloc(ctx, n, &want)));
    dkm_dmat_fill(V, wave, NULL);
    dkm_la_symm('L', 1.0, K, V, 0.0, W);
    CHECK_OK(ctx, dkm_dmat_to_rows(V, rows));
    CHECK_OK(ctx, dkm_dmat_to_rows(W, want));
    CHECK_OK(ctx, dkm_gram_apply(p.grid, p.prepared, nb, D, rows));
    for (dkm_idx k = 0; k < n; k++)
        gap = fmax(gap, fabs(rows[k] - want[k]));
    CHECK_CLOSE(gap, 0.0, 1e-14 * (double)(m + 1) * 10.0); /* m roundings of numbers up to 10 */
    DKM_FREE(rows);
    DKM_FREE(want);
    dkm_dmat_destroy(&K);
    dkm_dmat_destroy(&V);
    dkm_dmat_destroy(&W);
    gram_problem_close(&p);
}

static void a_product_needs_no_matrix(dkm_ctx *ctx)
{
    for (int P = 1; P <= dkm_ctx_size(ctx); P++)
        for (dkm_idx nb = 5; nb <= 69; nb += 32) {
            compare(ctx, P, 83, nb, "rbf(sigma=1)");
            compare(ctx, P, 40, nb, "sum(linear, rbf(sigma=2))");
        }
    compare(ctx, 0, 1, 4, "rbf(sigma=1)");
    compare(ctx, 0, 0, 4, "rbf(sigma=1)");
    compare(ctx, 0, 1700, 64, "laplace(sigma=1)"); /* several panels of rows */
}

/* Products with tiles that are kept, the second as good as the first, against one without. */
static void compare_kept(dkm_ctx *ctx, int P, dkm_idx m, dkm_idx d, dkm_precision precision)
{
    gram_problem p;
    dkm_tiles tiles = {0};
    dkm_idx first = dkm_slab_first(m, dkm_ctx_rank(ctx), dkm_ctx_size(ctx));
    dkm_idx n = d * dkm_slab_count(m, dkm_ctx_rank(ctx), dkm_ctx_size(ctx));
    double *rows = NULL, *want = NULL, gap = 0;
    dkm_multivec V;
    /* of each of m values, which are rounded to single precision, and so may be their products */
    double eps = precision == DKM_F64 ? 1e-14 : 2e-7;

    CHECK_OK(ctx, gram_problem_open(&p, ctx, P, m, 3, normal_at, "rbf(sigma=1)"));
    CHECK_OK(ctx, dkm_agree(ctx, dkm_alloc(ctx, n, &rows)));
    CHECK_OK(ctx, dkm_agree(ctx, dkm_alloc(ctx, n, &want)));
    CHECK_OK(ctx, dkm_tiles_open(&tiles, p.grid, p.prepared, 8, precision));
    for (dkm_idx k = 0; k < n; k++)
        want[k] = wave(NULL, first + k / d, k % d);
    CHECK_OK(ctx, dkm_gram_apply(p.grid, p.prepared, 8, d, want));
    for (int turn = 0; turn < 4; turn++) {
        for (dkm_idx k = 0; k < n; k++)
            rows[k] = wave(NULL, first + k / d, k % d);
        V = dkm_multivec_view(ctx, m, d, rows);
        CHECK_OK(ctx, turn < 2    ? dkm_tiles_symm(&tiles, &V, &V)
                      : turn == 2 ? dkm_tiles_symm_f32(&tiles, &V, &V)
                                  : dkm_gram_symm(p.grid, p.prepared, 8, precision, &V, &V));
        for (dkm_idx k = 0; k < n; k++)
            gap = fmax(gap, fabs(rows[k] - want[k]));
    }
    CHECK_CLOSE(gap, 0.0, eps * (double)(m + 1));
    dkm_tiles_close(&tiles);
    DKM_FREE(rows);
    DKM_FREE(want);
    gram_problem_close(&p);
}

static void tiles_may_be_kept_for_many_products(dkm_ctx *ctx)
{
    static const dkm_idx columns[] = {1, 2, 3, 4, 5, 6, 11, 16, 17};

    for (int k = 0; k < 9; k++)
        for (int P = 1; P <= dkm_ctx_size(ctx); P++) {
            compare_kept(ctx, P, 150, columns[k], DKM_F32);
            compare_kept(ctx, P, 61, columns[k], DKM_F64);
        }
    compare_kept(ctx, 0, 1, 4, DKM_F32);
    compare_kept(ctx, 0, 0, 4, DKM_F64);
    compare_kept(ctx, 0, 1100, 10, DKM_F32);
}

static dkm_status keep_once(dkm_ctx *ctx)
{
    dkm_status status = DKM_OK;
    gram_problem p;
    dkm_tiles tiles = {0};
    double rows[60] = {0};
    dkm_multivec V = dkm_multivec_view(ctx, 20, 3, rows);

    DKM_TRY(gram_problem_open(&p, ctx, 0, 20, 3, normal_at, "rbf(sigma=1)"));
    DKM_TRY(dkm_tiles_open(&tiles, p.grid, p.prepared, 4, DKM_F32));
    DKM_TRY(dkm_tiles_symm(&tiles, &V, &V));
    DKM_TRY(dkm_tiles_symm_f32(&tiles, &V, &V));
out:
    dkm_tiles_close(&tiles);
    gram_problem_close(&p);
    return status;
}

static dkm_status apply_once(dkm_ctx *ctx)
{
    dkm_status status = DKM_OK;
    gram_problem p;
    double rows[40] = {0};

    DKM_TRY(gram_problem_open(&p, ctx, 0, 20, 3, normal_at, "rbf(sigma=1)"));
    DKM_TRY(dkm_gram_apply(p.grid, p.prepared, 4, 2, rows));
out:
    gram_problem_close(&p);
    return status;
}

static void failing_allocations_are_agreed_on(dkm_ctx *ctx)
{
    check_every_allocation(ctx, dkm_ctx_size(ctx) - 1, apply_once);
    check_every_allocation(ctx, dkm_ctx_size(ctx) - 1, keep_once);
}

static const check_case cases[] = {
    CASE(a_product_needs_no_matrix),
    CASE(tiles_may_be_kept_for_many_products),
    CASE(failing_allocations_are_agreed_on),
};

CHECK_MAIN(cases)
