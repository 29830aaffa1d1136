#include <math.h>
#include <string.h>

#include "solvers/krylov/block_lanczos.h"
#include "support/check.h"

enum { ORDER = 700, PAIRS = 12, BLOCK = 4 };

/* A = diag(1, 2^-0.1, 3^-0.1, ...) in an order of its own: 11 and ORDER have no common factor. */
static double eigenvalue(dkm_idx k)
{
    return pow((double)(k + 1), -0.1);
}

static dkm_status apply_diagonal(void *user, const dkm_multivec *in, dkm_multivec *out)
{
    dkm_idx first = dkm_slab_first(ORDER, dkm_ctx_rank(in->ctx), dkm_ctx_size(in->ctx));

    (void)user;
    out->cols = in->cols;
    for (dkm_idx i = 0; i < in->n; i++)
        for (dkm_idx j = 0; j < in->cols; j++)
            out->a[i * out->ld + j] = eigenvalue((first + i) * 11 % ORDER) * in->a[i * in->ld + j];
    return DKM_OK;
}

/* Leading pairs with a projected problem that rank 0 solves up to an order of local_max. */
static dkm_status find_leading(dkm_ctx *ctx, dkm_idx local_max, double *values, double *first,
                               dkm_block_lanczos_outcome *outcome)
{
    dkm_status status = DKM_OK;
    dkm_block_lanczos_settings settings = {.m = ORDER,
                                           .components = PAIRS,
                                           .block = BLOCK,
                                           .tolerance = 1e-8,
                                           .max_rounds = 2000,
                                           .ritz_local_max = local_max};
    const dkm_linop A = {apply_diagonal, NULL};
    dkm_multivec vectors = {0};

    DKM_TRY(dkm_grid_create(ctx, 0, 0, &settings.grid));
    DKM_AGREE(ctx, dkm_multivec_init(&vectors, ctx, ORDER, PAIRS));
    DKM_TRY(dkm_block_lanczos(ctx, &settings, &A, NULL, values, &vectors, outcome));
    *first = vectors.n > 0 && dkm_ctx_rank(ctx) == 0 ? fabs(vectors.a[0]) : 0.0;
out:
    dkm_multivec_free(&vectors);
    dkm_grid_destroy(&settings.grid);
    return status;
}

static void check_pairs(const dkm_block_lanczos_outcome *o, const double *values, double first)
{
    CHECK(o->converged && o->found == PAIRS);
    for (dkm_idx k = 0; k < PAIRS; k++)
        CHECK_CLOSE(values[k], eigenvalue(k), 1e-12);
    CHECK_CLOSE(first, first > 0 ? 1.0 : 0.0, 1e-6); /* row 0 is of the largest eigenvalue */
}

static void restarts_find_the_leading_pairs(dkm_ctx *ctx)
{
    dkm_block_lanczos_outcome o;
    double values[PAIRS], first = 0;

    CHECK_OK(ctx, find_leading(ctx, 0, values, &first, &o));
    CHECK(o.products > dkm_block_lanczos_max_basis(PAIRS, BLOCK));
    check_pairs(&o, values, first);
}

static void a_projected_problem_on_the_grid_finds_the_same(dkm_ctx *ctx)
{
    dkm_block_lanczos_outcome o;
    double values[PAIRS], first = 0;

    CHECK_OK(ctx, find_leading(ctx, 1, values, &first, &o));
    CHECK(o.products > dkm_block_lanczos_max_basis(PAIRS, BLOCK));
    check_pairs(&o, values, first);
}

static dkm_status find_on_rank_0(dkm_ctx *ctx)
{
    dkm_block_lanczos_outcome o;
    double values[PAIRS], first;

    return find_leading(ctx, 0, values, &first, &o);
}

static dkm_status find_on_grid(dkm_ctx *ctx)
{
    dkm_block_lanczos_outcome o;
    double values[PAIRS], first;

    return find_leading(ctx, 1, values, &first, &o);
}

static void failing_allocations_are_agreed_on(dkm_ctx *ctx)
{
    check_every_allocation(ctx, dkm_ctx_size(ctx) - 1, find_on_rank_0);
    check_every_allocation(ctx, dkm_ctx_size(ctx) - 1, find_on_grid);
}

static const check_case cases[] = {
    CASE(restarts_find_the_leading_pairs),
    CASE(a_projected_problem_on_the_grid_finds_the_same),
    CASE(failing_allocations_are_agreed_on),
};

CHECK_MAIN(cases)
