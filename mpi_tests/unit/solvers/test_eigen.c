#include <math.h>
#include <string.h>

#include <dkmap/eigen.h>
#include <dkmap/random.h>

#include "core/alloc.h"
#include "linalg/eigen/syevd.h"
#include "reference/reference_linalg.h"
#include "solvers/eigen/eigen_autotune.h"
#include "support/check.h"

/* Kinds of matrix of order N: a smooth Gram matrix, multiplicities, rank three, zero, tiny numbers.
 */
enum { SMOOTH, MULTIPLE, LOW_RANK, ZERO, TINY, KINDS };
enum { N = 90 };

static double smooth(dkm_idx i, dkm_idx j)
{
    double d = 0;

    for (uint64_t k = 0; k < 3; k++) {
        double t =
            dkm_random_normal(5, 0, (uint64_t)i, k) - dkm_random_normal(5, 0, (uint64_t)j, k);
        d += t * t;
    }
    return exp(-d / 4.0);
}

static double kind_of_matrix(void *user, dkm_idx ig, dkm_idx jg)
{
    switch (*(int *)user) {
    case SMOOTH:
        return smooth(ig, jg);
    case MULTIPLE: /* blocks of ones: eigenvalue 9 ten times */
        return ig % 10 == jg % 10;
    case LOW_RANK:
        return 1.0 + cos((double)ig) * cos((double)jg) + sin((double)ig) * sin((double)jg);
    case ZERO:
        return 0.0;
    default:
        return 1e-18 * smooth(ig, jg);
    }
}

/* The matrix on every rank, centered where asked. */
static void whole_matrix(int kind, int center, double *a)
{
    static double means[N];
    double grand = 0;

    for (int i = 0; i < N * N; i++)
        a[i] = kind_of_matrix(&kind, i % N, i / N);
    for (int i = 0; i < N; i++) {
        means[i] = 0;
        for (int j = 0; j < N; j++)
            means[i] += a[i + j * N] / N;
        grand += means[i] / N;
    }
    for (int i = 0; center && i < N * N; i++)
        a[i] += grand - means[i % N] - means[i / N];
}

/* Largest ||A v - lambda v|| and |v'v - 1| over the pairs. */
static void measure(dkm_ctx *ctx, const double *a, dkm_idx p, const double *values,
                    const dkm_data *vectors, double *residual, double *norm_error)
{
    static double v[N * N];

    memset(v, 0, sizeof v);
    for (dkm_idx i = 0; i < dkm_data_local_rows(vectors); i++)
        for (dkm_idx j = 0; j < p; j++)
            v[dkm_data_local_first(vectors) + i + j * N] =
                dkm_data_values_const(vectors)[i * p + j];
    MPI_Allreduce(MPI_IN_PLACE, v, (int)(N * p), MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(ctx));
    *residual = *norm_error = 0;
    for (dkm_idx k = 0; k < p; k++) {
        double norm = 0, gap = 0;
        for (int i = 0; i < N; i++) {
            double sum = -values[k] * v[i + k * N];
            for (int j = 0; j < N; j++)
                sum += a[i + j * N] * v[j + k * N];
            gap += sum * sum;
            norm += v[i + k * N] * v[i + k * N];
        }
        *residual = fmax(*residual, sqrt(gap));
        *norm_error = fmax(*norm_error, fabs(norm - 1.0));
    }
}

static dkm_idx rank_of(const double *values)
{
    dkm_idx rank = 0;

    while (rank < N && values[0] > 0 && values[rank] > 1e-9 * values[0])
        rank++;
    return rank;
}

static void check_leading(dkm_ctx *ctx, dkm_grid *grid, int kind, int center,
                          dkm_eigen_solver solver, dkm_idx p)
{
    dkm_eigen_settings s = dkm_eigen_settings_default();
    dkm_eigen_info info;
    static double a[N * N], b[N * N], want[N];
    double *values = NULL, residual, norm_error;
    dkm_data *vectors = NULL;
    dkm_dmat *K = NULL;
    dkm_idx rank;

    s.components = p;
    s.center = center;
    s.solver = solver;
    CHECK_OK(ctx, dkm_dmat_create(grid, N, N, 7, 7, DKM_F64, &K));
    dkm_dmat_fill(K, kind_of_matrix, &kind);
    whole_matrix(kind, center, a);
    memcpy(b, a, sizeof a);
    reference_eigen(N, b, want, NULL);
    rank = rank_of(want);
    CHECK_OK(ctx, dkm_eigen_leading(K, &s, &values, &vectors, NULL, &info));
    CHECK(solver != DKM_EIGEN_BLOCK || strcmp(info.solver, "block") == 0);
    CHECK(info.components == (p < rank ? p : rank));
    CHECK(dkm_data_cols(vectors) == info.components && dkm_data_rows(vectors) == N);
    for (dkm_idx k = 0; k < info.components; k++)
        CHECK_CLOSE(values[k], want[k], 1e-10 * want[0]);
    measure(ctx, a, info.components, values, vectors, &residual, &norm_error);
    CHECK(residual <= 1e-9 * want[0] && norm_error < 1e-9);
    dkm_eigen_values_free(&values);
    dkm_data_destroy(&vectors);
    dkm_dmat_destroy(&K);
}

static void leading_pairs_match_jacobi(dkm_ctx *ctx)
{
    for (int P = 1; P <= dkm_ctx_size(ctx); P += 2) {
        dkm_grid *grid = NULL;
        CHECK_OK(ctx, dkm_grid_create(ctx, P, dkm_ctx_size(ctx) / P, &grid));
        for (int kind = 0; kind < KINDS; kind++)
            for (int center = 0; center < 2; center++) {
                check_leading(ctx, grid, kind, center, DKM_EIGEN_BLOCK, 8);
                check_leading(ctx, grid, kind, center, DKM_EIGEN_FULL, 8);
            }
        dkm_grid_destroy(&grid);
    }
}

static void all_pairs_and_more_than_there_are(dkm_ctx *ctx)
{
    dkm_grid *grid = NULL;

    CHECK_OK(ctx, dkm_grid_create(ctx, 0, 0, &grid));
    check_leading(ctx, grid, SMOOTH, 1, DKM_EIGEN_AUTO, N);
    check_leading(ctx, grid, LOW_RANK, 1, DKM_EIGEN_AUTO, N + 50);
    check_leading(ctx, grid, MULTIPLE, 0, DKM_EIGEN_BLOCK, 12);
    check_leading(ctx, grid, SMOOTH, 1, DKM_EIGEN_AUTO, 1);
    dkm_grid_destroy(&grid);
}

static void a_share_of_the_trace_is_met_and_no_more(dkm_ctx *ctx)
{
    dkm_grid *grid = NULL;

    CHECK_OK(ctx, dkm_grid_create(ctx, 0, 0, &grid));
    for (int solver = DKM_EIGEN_BLOCK; solver <= DKM_EIGEN_FULL; solver++) {
        dkm_eigen_settings s = dkm_eigen_settings_default();
        dkm_eigen_info info;
        double *values = NULL;
        dkm_data *vectors = NULL;
        dkm_dmat *K = NULL;
        int kind = SMOOTH;

        s.share = 0.95;
        s.solver = (dkm_eigen_solver)solver;
        CHECK_OK(ctx, dkm_dmat_create(grid, N, N, 16, 16, DKM_F64, &K));
        dkm_dmat_fill(K, kind_of_matrix, &kind);
        CHECK_OK(ctx, dkm_eigen_leading(K, &s, &values, &vectors, NULL, &info));
        CHECK(info.explained >= 0.95);
        CHECK(info.explained - values[info.components - 1] / info.trace < 0.95);
        dkm_eigen_values_free(&values);
        dkm_data_destroy(&vectors);
        dkm_dmat_destroy(&K);
    }
    dkm_grid_destroy(&grid);
}

/* Eigenvalue 5 forty times and 0 otherwise. */
static double forty_fold(void *user, dkm_idx ig, dkm_idx jg)
{
    (void)user;
    return ig % 40 == jg % 40;
}

/* A narrow block alone would find 24 of the copies. */
static void more_copies_than_a_block_has_columns_are_found(dkm_ctx *ctx)
{
    dkm_grid *grid = NULL;

    CHECK_OK(ctx, dkm_grid_create(ctx, 0, 0, &grid));
    for (dkm_idx p = 30; p <= 50; p += 20) {
        dkm_eigen_settings s = dkm_eigen_settings_default();
        dkm_eigen_info info = {0};
        double *values = NULL;
        dkm_data *vectors = NULL;
        dkm_dmat *K = NULL;

        s.components = p;
        s.center = 0;
        s.solver = DKM_EIGEN_BLOCK;
        CHECK_OK(ctx, dkm_dmat_create(grid, 200, 200, 16, 16, DKM_F64, &K));
        dkm_dmat_fill(K, forty_fold, NULL);
        CHECK_OK(ctx, dkm_eigen_leading(K, &s, &values, &vectors, NULL, &info));
        CHECK(info.components == (p < 40 ? p : 40) && strcmp(info.solver, "block") == 0);
        CHECK(info.residual <= s.tolerance);
        for (dkm_idx k = 0; k < info.components; k++)
            CHECK_CLOSE(values[k], 5.0, 1e-9);
        dkm_eigen_values_free(&values);
        dkm_data_destroy(&vectors);
        dkm_dmat_destroy(&K);
    }
    dkm_grid_destroy(&grid);
}

static int going_on;

static void listen(void *user, dkm_level level, const char *text)
{
    (void)user;
    going_on += level == DKM_WARN && strstr(text, "full decomposition") != NULL;
}

static void a_block_solver_that_does_not_converge_gives_way(dkm_ctx *ctx)
{
    dkm_eigen_settings s = dkm_eigen_settings_default();
    dkm_eigen_info info = {0};
    double *values = NULL, want[N];
    static double a[N * N];
    dkm_data *vectors = NULL;
    dkm_grid *grid = NULL;
    dkm_dmat *K = NULL;
    int kind = SMOOTH;

    s.components = 8;
    s.center = 0;
    s.solver = DKM_EIGEN_BLOCK;
    s.tolerance = 1e-30;
    going_on = 0;
    dkm_ctx_set_listener(ctx, (dkm_listener){.message = listen});
    CHECK_OK(ctx, dkm_grid_create(ctx, 0, 0, &grid));
    CHECK_OK(ctx, dkm_dmat_create(grid, N, N, 7, 7, DKM_F64, &K));
    dkm_dmat_fill(K, kind_of_matrix, &kind);
    CHECK_OK(ctx, dkm_eigen_leading(K, &s, &values, &vectors, NULL, &info));
    CHECK(strcmp(info.solver, "block") != 0 && info.rounds > 0 && info.components == 8);
    CHECK(dkm_ctx_rank(ctx) != 0 || going_on == 1);
    whole_matrix(kind, 0, a);
    reference_eigen(N, a, want, NULL);
    for (dkm_idx k = 0; k < 8; k++)
        CHECK_CLOSE(values[k], want[k], 1e-10 * want[0]);
    dkm_ctx_set_listener(ctx, (dkm_listener){0});
    dkm_eigen_values_free(&values);
    dkm_data_destroy(&vectors);
    dkm_dmat_destroy(&K);
    dkm_grid_destroy(&grid);
}

static void wrong_settings_are_refused(dkm_ctx *ctx)
{
    dkm_eigen_settings s = dkm_eigen_settings_default();
    double *values = NULL;
    dkm_data *vectors = NULL;
    dkm_grid *grid = NULL;
    dkm_dmat *K = NULL;

    CHECK_OK(ctx, dkm_grid_create(ctx, 0, 0, &grid));
    CHECK_OK(ctx, dkm_dmat_create(grid, 9, 9, 2, 2, DKM_F64, &K));
    CHECK(dkm_eigen_leading(K, &s, &values, &vectors, NULL, NULL) == DKM_ERR_ARG);
    s.share = 1.5;
    CHECK(dkm_eigen_leading(K, &s, &values, &vectors, NULL, NULL) == DKM_ERR_ARG);
    s.components = -1;
    CHECK(dkm_eigen_leading(K, &s, &values, &vectors, NULL, NULL) == DKM_ERR_ARG);
    CHECK(values == NULL && vectors == NULL);
    dkm_dmat_destroy(&K);
    dkm_grid_destroy(&grid);
}

/* Every rank holds the projected problem whole: that is counted before it is allocated. */
static void memory_of_the_block_solver_is_checked(dkm_ctx *ctx)
{
    dkm_eigen_settings s = dkm_eigen_settings_default();
    double *values = NULL, one = 1;
    dkm_data *vectors = NULL;
    dkm_grid *grid = NULL;
    dkm_dmat *K = NULL;
    int kind = SMOOTH;

    CHECK_OK(ctx, dkm_grid_create(ctx, 0, 0, &grid));
    CHECK_OK(ctx, dkm_dmat_create(grid, N, N, 4, 4, DKM_F64, &K));
    dkm_dmat_fill(K, kind_of_matrix, &kind);
    s.components = 3;
    s.solver = DKM_EIGEN_BLOCK;
    dkm_ctx_set_memory(ctx, (double)dkm_ctx_live_bytes(ctx) * dkm_ctx_size(ctx) + 2e4);
    CHECK(dkm_eigen_leading(K, &s, &values, &vectors, NULL, NULL) == DKM_ERR_MEMORY);
    CHECK(strstr(dkm_ctx_message(ctx), "the block eigensolver needs") != NULL);
    CHECK(values == NULL && vectors == NULL);
    dkm_ctx_set_memory(ctx, 0);
    CHECK(dkm_syevd_local(ctx, 40000, &one, &one).code == DKM_ERR_SIZE);
    CHECK(dkm_syevd_local(ctx, 50000, &one, &one).code == DKM_ERR_SIZE);
    CHECK(dkm_eigen_prefers_lanczos(DKM_EIGEN_BLOCK, 1000000, 5000));
    CHECK(!dkm_eigen_prefers_lanczos(DKM_EIGEN_BLOCK, 1000000, 5500));
    dkm_dmat_destroy(&K);
    dkm_grid_destroy(&grid);
}

static int solver_to_try = DKM_EIGEN_BLOCK;

static dkm_status lead(dkm_ctx *ctx)
{
    dkm_status status = DKM_OK;
    dkm_eigen_settings s = dkm_eigen_settings_default();
    double *values = NULL;
    dkm_data *vectors = NULL;
    dkm_grid *grid = NULL;
    dkm_dmat *K = NULL;
    int kind = SMOOTH;

    s.components = 2;
    s.solver = (dkm_eigen_solver)solver_to_try;
    DKM_TRY(dkm_grid_create(ctx, 0, 0, &grid));
    DKM_TRY(dkm_dmat_create(grid, 40, 40, 7, 7, DKM_F64, &K));
    dkm_dmat_fill(K, kind_of_matrix, &kind);
    DKM_TRY(dkm_eigen_leading(K, &s, &values, &vectors, NULL, NULL));
out:
    dkm_eigen_values_free(&values);
    dkm_data_destroy(&vectors);
    dkm_dmat_destroy(&K);
    dkm_grid_destroy(&grid);
    return status;
}

static void failing_allocations_are_agreed_on(dkm_ctx *ctx)
{
    for (solver_to_try = DKM_EIGEN_BLOCK; solver_to_try <= DKM_EIGEN_FULL; solver_to_try++)
        check_every_allocation(ctx, dkm_ctx_size(ctx) - 1, lead);
}

static const check_case cases[] = {
    CASE(leading_pairs_match_jacobi),
    CASE(all_pairs_and_more_than_there_are),
    CASE(a_share_of_the_trace_is_met_and_no_more),
    CASE(more_copies_than_a_block_has_columns_are_found),
    CASE(a_block_solver_that_does_not_converge_gives_way),
    CASE(wrong_settings_are_refused),
    CASE(memory_of_the_block_solver_is_checked),
    CASE(failing_allocations_are_agreed_on),
};

CHECK_MAIN(cases)
