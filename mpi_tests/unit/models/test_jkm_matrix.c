/* Products with a kernel matrix in two dimensions: those of its definition, and the same bits on every grid. */
#include <math.h>
#include <string.h>

#include <dkmap/jkm.h>
#include <dkmap/random.h>

#include "core/alloc.h"
#include "models/jkm/joint_map/joint_map_matrix.h"
#include "support/check.h"

enum { D = 3, CLASSES = 4, MOST = 1100 };

static double entry(uint64_t stream, dkm_idx i, dkm_idx k)
{
    return dkm_random_normal(5, stream, (uint64_t)i, (uint64_t)k);
}

static dkm_idx truth_of(dkm_idx i)
{
    return i * 7 % CLASSES;
}

/* A fifth of the examples have no choice. */
static int32_t choice_of(dkm_idx i)
{
    return i % 5 == 0 ? -1 : (int32_t)((truth_of(i) + 1 + i % 3) % CLASSES);
}

static double kernel_value(dkm_idx i, dkm_idx j)
{
    double square = 0;

    for (dkm_idx k = 0; k < D; k++)
        square += pow(entry(0, i, k) - entry(0, j, k), 2);
    return exp(-square / 2);
}

/* Row i of K U by definition, U as choices tell it. */
static void reference_row(dkm_idx m, dkm_idx i, double unit, double *g)
{
    memset(g, 0, CLASSES * sizeof *g);
    for (dkm_idx j = 0; j < m; j++)
        if (choice_of(j) >= 0) {
            double k = unit * kernel_value(i, j);
            g[truth_of(j)] += k;
            g[choice_of(j)] -= k;
        }
}

typedef struct problem {
    dkm_kernel *kernel;
    dkm_data *X;
    dkm_prepared *prepared;
    dkm_idx first, n, m;
    double *U, *G, *H;
    dkm_idx truth[MOST];
    int32_t choice[MOST];
} problem;

static void close_problem(problem *p)
{
    DKM_FREE(p->U);
    DKM_FREE(p->G);
    DKM_FREE(p->H);
    dkm_prepared_destroy(&p->prepared);
    dkm_data_destroy(&p->X);
    dkm_kernel_destroy(&p->kernel);
}

/* Inputs times @p size. */
static dkm_status open_problem(dkm_ctx *ctx, dkm_idx m, const char *kernel, double size, problem *p)
{
    dkm_status status = DKM_OK;

    *p = (problem){.m = m};
    DKM_TRY(dkm_data_create_dense(ctx, m, D, &p->X));
    p->first = dkm_data_local_first(p->X);
    p->n = dkm_data_local_rows(p->X);
    DKM_AGREE(ctx, dkm_calloc(ctx, p->n * CLASSES, &p->U));
    DKM_AGREE(ctx, dkm_alloc(ctx, p->n * CLASSES, &p->G));
    DKM_AGREE(ctx, dkm_alloc(ctx, p->n * CLASSES, &p->H));
    for (dkm_idx i = 0; i < p->n; i++) {
        for (dkm_idx k = 0; k < D; k++)
            dkm_data_values(p->X)[i * D + k] = size * entry(0, p->first + i, k);
        p->truth[i] = truth_of(p->first + i);
        p->choice[i] = choice_of(p->first + i);
        if (p->choice[i] >= 0) {
            p->U[i * CLASSES + p->truth[i]] += 0.7;
            p->U[i * CLASSES + p->choice[i]] -= 0.7;
        }
    }
    DKM_TRY(dkm_kernel_parse(ctx, kernel, &p->kernel));
    DKM_TRY(dkm_kernel_prepare(p->kernel, p->X, &p->prepared));
out:
    return status;
}

/* G <- by choices, H <- by rows, on an R x C grid. */
static dkm_status multiply(problem *p, int R, int C)
{
    dkm_status status = DKM_OK;
    dkm_joint_map_matrix *K = NULL;
    dkm_joint_map_choices choices = {p->truth, p->choice, CLASSES, 0.7};

    DKM_TRY(dkm_joint_map_matrix_create(p->prepared, R, C, &K));
    DKM_TRY(dkm_joint_map_matrix_multiply_choices(K, &choices, p->G));
    DKM_TRY(dkm_joint_map_matrix_multiply(K, CLASSES, p->U, p->H));
out:
    dkm_joint_map_matrix_destroy(&K);
    return status;
}

/* Scores of all examples, by one rank alone. */
static void compute_alone(dkm_idx m, double *all)
{
    dkm_ctx *ctx = NULL;
    problem p = {0};

    CHECK(dkm_ctx_create(MPI_COMM_SELF, &ctx) == DKM_OK);
    CHECK_OK(ctx, open_problem(ctx, m, "rbf(sigma=1)", 1, &p));
    CHECK_OK(ctx, multiply(&p, 1, 1));
    CHECK(memcmp(p.G, p.H, (size_t)(m * CLASSES) * sizeof *p.G) == 0);
    memcpy(all, p.G, (size_t)(m * CLASSES) * sizeof *all);
    close_problem(&p);
    dkm_ctx_destroy(&ctx);
}

static void check_grids(dkm_ctx *ctx, dkm_idx m)
{
    int size = dkm_ctx_size(ctx);
    problem p = {0};
    double g[CLASSES];
    static double all[MOST * CLASSES];

    compute_alone(m, all);
    CHECK_OK(ctx, open_problem(ctx, m, "rbf(sigma=1)", 1, &p));
    for (int C = 1; C <= size; C++) {
        size_t bytes = (size_t)(p.n * CLASSES) * sizeof *all;
        if (size % C != 0)
            continue;
        CHECK_OK(ctx, multiply(&p, size / C, C));
        CHECK(memcmp(p.G, all + p.first * CLASSES, bytes) == 0);
        CHECK(memcmp(p.H, all + p.first * CLASSES, bytes) == 0);
    }
    for (dkm_idx i = 0; i < p.n; i += 29) {
        reference_row(m, p.first + i, 0.7, g);
        for (dkm_idx c = 0; c < CLASSES; c++)
            CHECK_CLOSE(p.G[i * CLASSES + c], g[c], 1e-13 * (double)m);
    }
    close_problem(&p);
}

/* Fewer examples than ranks, fewer blocks of columns than ranks, more. */
static void products_are_the_same_on_any_grid(dkm_ctx *ctx)
{
    check_grids(ctx, 1);
    check_grids(ctx, 5);
    check_grids(ctx, 257);
    check_grids(ctx, MOST);
}

static void the_zero_matrix_has_products(dkm_ctx *ctx)
{
    problem p = {0};
    dkm_idx wrong = 0;

    CHECK_OK(ctx, open_problem(ctx, 40, "linear", 0, &p));
    CHECK_OK(ctx, multiply(&p, 1, dkm_ctx_size(ctx)));
    for (dkm_idx k = 0; k < p.n * CLASSES; k++)
        wrong += p.G[k] != 0 || p.H[k] != 0;
    CHECK(wrong == 0);
    close_problem(&p);
}

/* Columns are cut where that sends less: with many ranks, and rounds that do not outweigh the rest. */
static void shapes_send_least(dkm_ctx *ctx)
{
    dkm_joint_map_load load = {
        .m = 1e6, .r = 10, .object_bytes = 800, .row_bytes = 1, .products = 40};
    double before = INFINITY;

    (void)ctx;
    for (int size = 1; size <= 16384; size *= 4) {
        int R = 0, C = 0;
        double bytes;
        dkm_joint_map_matrix_shape(size, &load, &R, &C);
        CHECK(R * C == size);
        bytes = dkm_joint_map_matrix_bytes(&load, R, C) +
                load.products * dkm_joint_map_product_bytes(&load, R, C);
        for (int c = 1; c <= size; c *= 2)
            CHECK(bytes <= dkm_joint_map_matrix_bytes(&load, size / c, c) +
                               load.products * dkm_joint_map_product_bytes(&load, size / c, c));
        CHECK(size < 16 ? C <= 2 : C > 1 || size == 16);
        CHECK(size < 64 || bytes < 0.7 * before); /* four times the ranks: half, in the end */
        before = size < 4 ? INFINITY : bytes;
    }
    load.m = 250;
    for (int size = 1; size <= 64; size++) {
        int R = 0, C = 0;
        dkm_joint_map_matrix_shape(size, &load, &R, &C);
        CHECK(R == size && C == 1);
    }
}

static problem small;

static dkm_status multiply_small(dkm_ctx *ctx)
{
    return multiply(&small, 1, dkm_ctx_size(ctx));
}

static void failing_allocations_are_agreed_on(dkm_ctx *ctx)
{
    CHECK_OK(ctx, open_problem(ctx, 20, "rbf(sigma=1)", 1, &small));
    check_every_allocation(ctx, dkm_ctx_size(ctx) - 1, multiply_small);
    close_problem(&small);
}

static const check_case cases[] = {
    CASE(products_are_the_same_on_any_grid),
    CASE(the_zero_matrix_has_products),
    CASE(shapes_send_least),
    CASE(failing_allocations_are_agreed_on),
};

CHECK_MAIN(cases)
