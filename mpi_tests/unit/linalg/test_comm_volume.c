/* What products and solves send: by the formulas of their files, which fall with the ranks. */
#include <math.h>

#include "core/alloc.h"
#include "linalg/linalg.h"
#include "linalg/symm/symm_multivec.h"
#include "matrix/reduce_panel.h"
#include "support/check.h"
#include "support/comm_counter.h"

#define M  384
#define NB 8

/* Symmetric, positive definite; its factor is near its square root. */
static double element(void *user, dkm_idx ig, dkm_idx jg)
{
    (void)user;
    return ig == jg ? 4.0 : 1.0 / (1.0 + (double)((ig - jg) * (ig - jg)));
}

/* What a collective step sends, and the mean over the ranks of it, in numbers. */
typedef dkm_status (*step)(const dkm_dmat *A, dkm_idx p, double *rows);

static dkm_status multiply(const dkm_dmat *A, dkm_idx p, double *rows)
{
    return dkm_symm_multivec('L', A, p, rows);
}

static double mean_sent(dkm_ctx *ctx, const dkm_dmat *A, dkm_idx p, step run)
{
    dkm_idx n = dkm_slab_count(M, dkm_ctx_rank(ctx), dkm_ctx_size(ctx));
    double *rows = NULL, sum = 0;

    CHECK_OK(ctx, dkm_agree(ctx, dkm_calloc(ctx, n * p, &rows)));
    comm_counter_bytes = 0;
    CHECK_OK(ctx, run(A, p, rows));
    sum = comm_counter_bytes / sizeof(double);
    PMPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(ctx));
    DKM_FREE(rows);
    return sum / dkm_ctx_size(ctx);
}

/* Small allreduces, by which ranks agree, are counted too. */
#define AGREEMENT 64.0

/* Mean numbers sent by a product and by a solve of @p p columns, on the ranks of a context. */
static void count_both(dkm_ctx *ctx, dkm_idx p, double sent[2])
{
    dkm_grid *grid = NULL;
    dkm_dmat *A = NULL;
    double lines;

    CHECK_OK(ctx, dkm_grid_create(ctx, 0, 0, &grid));
    CHECK_OK(ctx, dkm_dmat_create(grid, M, M, NB, NB, DKM_F64, &A));
    dkm_dmat_fill(A, element, NULL);
    lines = 1.0 / dkm_grid_rows(grid) + 1.0 / dkm_grid_cols(grid);
    sent[0] = mean_sent(ctx, A, p, multiply);
    sent[1] = mean_sent(ctx, A, p, dkm_la_potrs_multivec);
    CHECK(sent[0] <= M * (double)p * (2 * lines + 4.0 / dkm_ctx_size(ctx)) + AGREEMENT);
    CHECK(sent[1] <= M * (double)p * (2 * lines + 2.0 / dkm_ctx_size(ctx)) + AGREEMENT);
    dkm_dmat_destroy(&A);
    dkm_grid_destroy(&grid);
}

static void products_and_solves_send_what_their_formulas_say(dkm_ctx *ctx)
{
    double sent[2];

    count_both(ctx, 1, sent);
    count_both(ctx, 5, sent);
    count_both(ctx, 16, sent);
}

/* On 16 ranks against the first 4 of them: a step that sends as much is not spread over a grid. By
 * the formulas, with the rank's own part left out, 0.98 / 1.75 and 0.87 / 1.38. */
static void what_is_sent_falls_with_the_ranks(dkm_ctx *ctx)
{
    int rank = dkm_ctx_rank(ctx), size = dkm_ctx_size(ctx);
    double many[2] = {0, 0}, few[2] = {0, 0};
    MPI_Comm part;
    dkm_ctx *four = NULL;

    if (size < 16)
        return;
    count_both(ctx, 8, many);
    MPI_Comm_split(dkm_ctx_comm(ctx), rank < 4 ? 0 : MPI_UNDEFINED, rank, &part);
    if (part != MPI_COMM_NULL) {
        CHECK(dkm_ctx_create(part, &four) == DKM_OK);
        count_both(four, 8, few);
        dkm_ctx_destroy(&four);
        MPI_Comm_free(&part);
        CHECK(many[0] <= 0.6 * few[0]);
        CHECK(many[1] <= 0.65 * few[1]);
    }
}

/* Columns of ones from every rank. */
static const double *ones(const void *user, dkm_idx jg, dkm_idx *stride)
{
    (void)jg;
    *stride = 1;
    return user;
}

static void panels_go_to_their_owners_once(dkm_ctx *ctx)
{
    int size = dkm_ctx_size(ctx), rank = dkm_ctx_rank(ctx);
    dkm_grid *grid = NULL;
    dkm_dmat *A = NULL;
    double column[M], sum = 0, off = 0;
    char nonzero[M];
    dkm_panel_sum panel = {.col = 10, .cols = 100, .column = ones, .user = column};

    for (int i = 0; i < M; i++) {
        nonzero[i] = (char)(i % 2 == 0 || rank % 2 == 0);
        column[i] = nonzero[i] ? 1.0 : 0.0;
    }
    CHECK_OK(ctx, dkm_grid_create(ctx, 0, 0, &grid));
    CHECK_OK(ctx, dkm_dmat_create(grid, M, M, NB, NB, DKM_F64, &A));
    for (int sparse = 0; sparse < 2; sparse++) {
        panel.nonzero = sparse ? nonzero : NULL;
        comm_counter_bytes = 0;
        CHECK_OK(ctx, dkm_dmat_reduce_panel(A, &panel));
        sum = comm_counter_bytes / sizeof(double);
        PMPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(ctx));
        CHECK(sum / size <= M * (100.0 + (double)size) + (double)(2 * size) + AGREEMENT);
        CHECK(!sparse || sum / size <= M * (76.0 + (double)size) + (double)(2 * size) + AGREEMENT ||
              size < 2);
        for (dkm_idx jl = 0; jl < dkm_dmat_local_cols(A); jl++)
            for (dkm_idx il = 0; il < dkm_dmat_local_rows(A); il++) {
                dkm_idx ig = dkm_dmat_global_row(A, il), jg = dkm_dmat_global_col(A, jl);
                double want = jg < 10 || jg >= 110 ? 0.0 : ig % 2 == 0 ? size : (size + 1) / 2;
                off = fmax(off, fabs(dkm_dmat_f64(A)[il + jl * dkm_dmat_ld(A)] - want));
            }
        CHECK_CLOSE(off, 0.0, 0.0);
    }
    dkm_dmat_destroy(&A);
    dkm_grid_destroy(&grid);
}

static const check_case cases[] = {
    CASE(products_and_solves_send_what_their_formulas_say),
    CASE(what_is_sent_falls_with_the_ranks),
    CASE(panels_go_to_their_owners_once),
};

CHECK_MAIN(cases)
