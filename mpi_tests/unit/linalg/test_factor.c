/* Both Cholesky factorizations: the same factor and info on all grids and blocks, monitors, and
 * what they send. Messages are counted here, in the place of the calls of MPI that both make. */
#include <float.h>
#include <math.h>

#include "linalg/factor/factor.h"
#include "matrix/dmat_impl.h"
#include "support/check.h"

static struct {
    double bytes;
    dkm_idx messages;
} sent;

static void count_message(int count, MPI_Datatype type)
{
    int width = 0;

    MPI_Type_size(type, &width);
    sent.bytes += (double)count * width;
    sent.messages++;
}

int MPI_Send(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    count_message(count, type);
    return PMPI_Send(buffer, count, type, to, tag, comm);
}

int MPI_Rsend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    count_message(count, type);
    return PMPI_Rsend(buffer, count, type, to, tag, comm);
}

int MPI_Isend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    count_message(count, type);
    return PMPI_Isend(buffer, count, type, to, tag, comm, request);
}

/* exp(-|i - j| / 10) + shift on the diagonal; the strict upper triangle is marked. */
static double lower_element(void *user, dkm_idx ig, dkm_idx jg)
{
    double shift = *(const double *)user;

    return ig < jg ? -7.0 : exp(-0.1 * (double)(ig - jg)) + (ig == jg ? shift : 0.0);
}

static dkm_dmat *make(dkm_ctx *ctx, dkm_grid *grid, dkm_idx n, dkm_idx nb, dkm_precision precision)
{
    dkm_dmat *A = NULL;
    double shift = 1.0;

    CHECK_OK(ctx, dkm_dmat_create(grid, n, n, nb, nb, precision, &A));
    dkm_dmat_fill(A, lower_element, &shift);
    return A;
}

/* The largest difference of two lower triangles, on all ranks; upper ones must hold their mark. */
static double largest_difference(const dkm_dmat *A, const dkm_dmat *B)
{
    double worst = 0;

    for (dkm_idx jl = 0; jl < A->n_loc; jl++)
        for (dkm_idx il = 0; il < A->m_loc; il++) {
            double a = dkm_dmat_at(A, il, jl), b = dkm_dmat_at(B, il, jl);
            if (dkm_dmat_global_row(A, il) < dkm_dmat_global_col(A, jl))
                CHECK(a == -7.0 && b == -7.0);
            else
                worst = fmax(worst, fabs(a - b));
        }
    MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_DOUBLE, MPI_MAX,
                  dkm_ctx_comm(dkm_grid_ctx(A->grid)));
    return worst;
}

static void factor_with(dkm_ctx *ctx, dkm_factor which, dkm_dmat *A, dkm_idx expected_info)
{
    dkm_idx info = -1;

    dkm_ctx_set_factor(ctx, which);
    CHECK_OK(ctx, dkm_la_potrf(A, &info));
    CHECK(info == expected_info);
    dkm_ctx_set_factor(ctx, DKM_FACTOR_AUTO);
}

/* Rounding of n products, each at most eps times a diagonal element of 2. */
static double tolerance(dkm_idx n, dkm_precision precision)
{
    return 4.0 * (double)n * (precision == DKM_F64 ? DBL_EPSILON : (double)FLT_EPSILON);
}

static void both_agree_on(dkm_ctx *ctx, dkm_grid *grid, dkm_idx n, dkm_idx nb,
                          dkm_precision precision)
{
    dkm_dmat *A = make(ctx, grid, n, nb, precision), *B = make(ctx, grid, n, nb, precision);

    factor_with(ctx, DKM_FACTOR_OWN, A, 0);
    factor_with(ctx, DKM_FACTOR_SCALAPACK, B, 0);
    CHECK_CLOSE(largest_difference(A, B), 0.0, tolerance(n, precision));
    dkm_dmat_destroy(&B);
    dkm_dmat_destroy(&A);
}

static void both_make_the_same_factor_on_every_grid(dkm_ctx *ctx)
{
    static const dkm_idx sizes[] = {1, 7, 64, 301, 700};

    for (int P = 1; P <= dkm_ctx_size(ctx); P++)
        for (int Q = 1; P * Q <= dkm_ctx_size(ctx); Q++) {
            dkm_grid *grid = NULL;
            CHECK_OK(ctx, dkm_grid_create(ctx, P, Q, &grid));
            for (int k = 0; k < 5; k++) {
                both_agree_on(ctx, grid, sizes[k], 16, DKM_F64);
                both_agree_on(ctx, grid, sizes[k], 29, k % 2 ? DKM_F64 : DKM_F32);
                both_agree_on(ctx, grid, sizes[k], 64, DKM_F32);
            }
            dkm_grid_destroy(&grid);
        }
}

static void the_factor_is_the_same_again(dkm_ctx *ctx)
{
    dkm_grid *grid = NULL;
    dkm_dmat *A, *B;

    CHECK_OK(ctx, dkm_grid_create(ctx, 0, 0, &grid));
    A = make(ctx, grid, 1500, 32, DKM_F64);
    B = make(ctx, grid, 1500, 32, DKM_F64);
    factor_with(ctx, DKM_FACTOR_OWN, A, 0);
    factor_with(ctx, DKM_FACTOR_OWN, B, 0);
    CHECK(largest_difference(A, B) == 0.0);
    dkm_dmat_destroy(&B);
    dkm_dmat_destroy(&A);
    dkm_grid_destroy(&grid);
}

static double bad_minor(void *user, dkm_idx ig, dkm_idx jg)
{
    return ig != jg ? 0.0 : ig == *(const dkm_idx *)user ? -1.0 : 1.0;
}

static void both_name_the_bad_minor(dkm_ctx *ctx)
{
    dkm_grid *grid = NULL;

    CHECK_OK(ctx, dkm_grid_create(ctx, 0, 0, &grid));
    for (dkm_idx bad = 0; bad < 900; bad += 149)
        for (dkm_factor which = DKM_FACTOR_OWN; which <= DKM_FACTOR_SCALAPACK; which++)
            for (int single = 0; single < 2; single++) {
                dkm_dmat *A = NULL;
                CHECK_OK(ctx,
                         dkm_dmat_create(grid, 900, 900, 24, 24, single ? DKM_F32 : DKM_F64, &A));
                dkm_dmat_fill(A, bad_minor, &bad);
                factor_with(ctx, which, A, bad + 1);
                dkm_dmat_destroy(&A);
            }
    dkm_grid_destroy(&grid);
}

typedef struct watched {
    dkm_idx done;
    int calls, stop_at;
} watched;

static int always(void *user, dkm_idx done)
{
    (void)user;
    return done > 0;
}

static dkm_status stop_once(void *user, dkm_idx done)
{
    watched *w = user;

    w->done = done;
    return ++w->calls == w->stop_at ? DKM_ERR_STOPPED : DKM_OK;
}

/* What one implementation leaves, the other can take up: the state means the same to both. */
static void a_state_is_continued_by_either(dkm_ctx *ctx)
{
    enum { M = 2300 };
    dkm_grid *grid = NULL;
    dkm_dmat *reference;

    CHECK_OK(ctx, dkm_grid_create(ctx, 0, 0, &grid));
    reference = make(ctx, grid, M, 32, DKM_F64);
    factor_with(ctx, DKM_FACTOR_OWN, reference, 0);
    for (int first = 0; first < 2; first++) {
        dkm_dmat *A = make(ctx, grid, M, 32, DKM_F64);
        watched seen = {.stop_at = 2};
        dkm_la_monitor monitor = {&seen, always, stop_once};
        dkm_idx info = -1;

        dkm_ctx_set_factor(ctx, first ? DKM_FACTOR_OWN : DKM_FACTOR_SCALAPACK);
        CHECK(dkm_la_potrf_from(A, 0, &monitor, &info) == DKM_ERR_STOPPED);
        CHECK(seen.done > 0 && seen.done < M);
        dkm_ctx_set_factor(ctx, first ? DKM_FACTOR_SCALAPACK : DKM_FACTOR_OWN);
        CHECK_OK(ctx, dkm_la_potrf_from(A, seen.done, &monitor, &info));
        CHECK(info == 0 && seen.done == M);
        CHECK_CLOSE(largest_difference(A, reference), 0.0, tolerance(M, DKM_F64));
        dkm_dmat_destroy(&A);
    }
    dkm_ctx_set_factor(ctx, DKM_FACTOR_AUTO);
    dkm_dmat_destroy(&reference);
    dkm_grid_destroy(&grid);
}

/* Bytes and messages that the busiest rank sends. */
static void count_factor(dkm_ctx *ctx, dkm_grid *grid, dkm_factor which, double most[2])
{
    dkm_dmat *A = make(ctx, grid, 1536, 32, DKM_F64);

    factor_with(ctx, which, A, 0); /* ScaLAPACK sets itself up */
    dkm_dmat_destroy(&A);
    A = make(ctx, grid, 1536, 32, DKM_F64);
    sent.bytes = 0;
    sent.messages = 0;
    factor_with(ctx, which, A, 0);
    most[0] = sent.bytes;
    most[1] = (double)sent.messages;
    MPI_Allreduce(MPI_IN_PLACE, most, 2, MPI_DOUBLE, MPI_MAX, dkm_ctx_comm(ctx));
    dkm_dmat_destroy(&A);
}

static void the_busiest_rank_sends_little_more_than_that_of_scalapack(dkm_ctx *ctx)
{
    dkm_grid *grid = NULL;
    double own[2], scalapack[2];

    CHECK_OK(ctx, dkm_grid_create(ctx, 0, 0, &grid));
    count_factor(ctx, grid, DKM_FACTOR_OWN, own);
    count_factor(ctx, grid, DKM_FACTOR_SCALAPACK, scalapack);
    CHECK((dkm_ctx_size(ctx) > 1) == (scalapack[0] > 0)); /* else nothing is counted */
    CHECK_CLOSE(own[0], 0.0, 1.3 * scalapack[0]);
    CHECK_CLOSE(own[1], 0.0, 3.5 * 1536 / 32); /* a row and a column message per block, and few */
    dkm_grid_destroy(&grid);
}

static dkm_status factor_once(dkm_ctx *ctx)
{
    dkm_status status = DKM_OK;
    dkm_grid *grid = NULL;
    dkm_dmat *A = NULL;
    double shift = 1.0;
    dkm_idx info;

    DKM_TRY(dkm_grid_create(ctx, 0, 0, &grid));
    DKM_TRY(dkm_dmat_create(grid, 40, 40, 4, 4, DKM_F64, &A));
    dkm_dmat_fill(A, lower_element, &shift);
    DKM_TRY(dkm_la_potrf(A, &info));
out:
    dkm_dmat_destroy(&A);
    dkm_grid_destroy(&grid);
    return status;
}

static void failing_allocations_are_agreed_on(dkm_ctx *ctx)
{
    check_every_allocation(ctx, dkm_ctx_size(ctx) - 1, factor_once);
}

static const check_case cases[] = {
    CASE(both_make_the_same_factor_on_every_grid),
    CASE(the_factor_is_the_same_again),
    CASE(both_name_the_bad_minor),
    CASE(a_state_is_continued_by_either),
    CASE(the_busiest_rank_sends_little_more_than_that_of_scalapack),
    CASE(failing_allocations_are_agreed_on),
};

CHECK_MAIN(cases)
