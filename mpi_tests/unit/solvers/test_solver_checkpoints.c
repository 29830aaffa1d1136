/* Solvers go on where they stopped: factorizations, eigensolves and conjugate gradients, each with
 * states of its own. */
#include <math.h>
#include <string.h>

#include <dkmap/grid.h>
#include <dkmap/psd.h>

#include "core/alloc.h"
#include "linalg/linalg.h"
#include "solvers/krylov/block_lanczos.h"
#include "solvers/krylov/pcg.h"
#include "solvers/ridge/potrf_checkpoint.h"
#include "support/check.h"
#include "support/fixture_checkpoint.h"
#include "support/fixture_matrices.h"

/* Positive definite, with a spectrum that takes a block method several iterations. */
static double smooth(void *user, dkm_idx ig, dkm_idx jg)
{
    double apart = (double)(ig - jg);

    (void)user;
    return exp(-0.01 * apart * apart) + (ig == jg ? 0.5 : 0.0);
}

enum { FACTORED = 1300 };

/* Factor a matrix, starting from a state where there is one. */
static dkm_status factor(dkm_ctx *ctx, dkm_grid *grid, dkm_dmat **A)
{
    dkm_status status = DKM_OK;
    dkm_potrf_checkpoint run = {.stage = "factor of a test"};
    dkm_idx minor = 0;

    DKM_TRY(dkm_dmat_create(grid, FACTORED, FACTORED, 64, 64, DKM_F32, A));
    dkm_dmat_fill(*A, smooth, NULL);
    run.A = *A;
    DKM_TRY(dkm_potrf_checkpoint_restore(&run));
    DKM_TRY(dkm_potrf_checkpoint_factorize(&run, &minor));
    CHECK(minor == 0);
out:
    (void)ctx;
    return status;
}

static void a_factorization_goes_on_where_it_stopped(dkm_ctx *ctx)
{
    char dir[FILES_PATH];
    dkm_grid *grid = NULL;
    dkm_dmat *complete = NULL, *parts = NULL;
    dkm_checkpoint *c = NULL;

    files_open(ctx, dir);
    CHECK_OK(ctx, dkm_grid_create(ctx, 0, 0, &grid));
    CHECK_OK(ctx, factor(ctx, grid, &complete));
    for (int turn = 0; turn < 2; turn++) {
        CHECK_OK(ctx, checkpoint_open_at(ctx, dir, turn, 0, &c));
        CHECK(factor(ctx, grid, &parts) == DKM_ERR_STOPPED);
        CHECK(strstr(dkm_ctx_message(ctx), "--resume") != NULL);
        dkm_checkpoint_close(&c);
        dkm_dmat_destroy(&parts);
    }
    CHECK_OK(ctx, checkpoint_open_at(ctx, dir, 1, -1, &c));
    CHECK_OK(ctx, factor(ctx, grid, &parts));
    CHECK(matrix_gap(complete, parts, 1) == 0);
    CHECK(checkpoint_states(ctx, dir) == 2);
    dkm_checkpoint_close(&c);
    dkm_dmat_destroy(&parts);
    dkm_dmat_destroy(&complete);
    dkm_grid_destroy(&grid);
    checkpoint_clear(ctx, dir);
}

static dkm_status times(void *user, const dkm_multivec *Q, dkm_multivec *Y)
{
    dkm_dmat *A = user, *V = NULL, *W = NULL;
    dkm_status status = DKM_OK;
    dkm_multivec packed = {0};

    DKM_AGREE(Q->ctx, dkm_multivec_init(&packed, Q->ctx, A->m, Q->cols));
    dkm_multivec_append(&packed, Q);
    DKM_TRY(dkm_dmat_create_like(A, Q->cols, 8, DKM_F64, &V));
    DKM_TRY(dkm_dmat_create_like(A, Q->cols, 8, DKM_F64, &W));
    DKM_TRY(dkm_dmat_from_rows(V, packed.a));
    dkm_la_gemm('N', 'N', 1.0, A, V, 0.0, W);
    DKM_TRY(dkm_dmat_to_rows(W, packed.a));
    Y->cols = 0;
    dkm_multivec_append(Y, &packed);
out:
    dkm_multivec_free(&packed);
    dkm_dmat_destroy(&V);
    dkm_dmat_destroy(&W);
    return status;
}

enum { ORDER = 240, PAIRS = 6 };

static dkm_status leading(dkm_ctx *ctx, dkm_dmat *A, double *values)
{
    dkm_block_lanczos_settings s = {.m = ORDER,
                                    .components = PAIRS,
                                    .block = 4,
                                    .tolerance = 1e-10,
                                    .max_rounds = 100,
                                    .grid = dkm_dmat_grid(A),
                                    .name = "A of a test"};
    const dkm_linop op = {times, A};
    dkm_block_lanczos_outcome o;
    dkm_multivec vectors = {0};
    dkm_status status = DKM_OK;

    DKM_AGREE(ctx, dkm_multivec_init(&vectors, ctx, ORDER, PAIRS));
    DKM_TRY(dkm_block_lanczos(ctx, &s, &op, NULL, values, &vectors, &o));
    CHECK(o.converged);
    values[PAIRS] = o.rounds;
    values[PAIRS + 1] = vectors.n > 0 ? vectors.a[0] : 0.0;
out:
    dkm_multivec_free(&vectors);
    return status;
}

static void an_eigensolve_goes_on_where_it_stopped(dkm_ctx *ctx)
{
    char dir[FILES_PATH];
    double want[PAIRS + 2], got[PAIRS + 2];
    dkm_grid *grid = NULL;
    dkm_dmat *A = NULL;
    dkm_checkpoint *c = NULL;
    int stops = 0;
    dkm_status status;

    files_open(ctx, dir);
    CHECK_OK(ctx, dkm_grid_create(ctx, 0, 0, &grid));
    CHECK_OK(ctx, matrix_make(grid, ORDER, ORDER, DKM_F64, smooth, &A));
    CHECK_OK(ctx, leading(ctx, A, want));
    do { /* stopped after every other round */
        CHECK_OK(ctx, checkpoint_open_at(ctx, dir, stops > 0, 1, &c));
        status = leading(ctx, A, got);
        dkm_checkpoint_close(&c);
        CHECK(status == DKM_OK || status == DKM_ERR_STOPPED);
    } while (status == DKM_ERR_STOPPED && stops++ < 100);
    CHECK(stops > 1);
    CHECK(memcmp(want, got, sizeof want) == 0);
    dkm_dmat_destroy(&A);
    dkm_grid_destroy(&grid);
    checkpoint_clear(ctx, dir);
}

/* Indefinite: the smallest eigenvalue is about -0.2. */
static double indefinite(void *user, dkm_idx ig, dkm_idx jg)
{
    return smooth(user, ig, jg) - (ig == jg ? 0.7 : 0.0);
}

/* Bounds take two Lanczos runs on one matrix, of K and of c I - K: with all their states at hand
 * each takes up its own. */
static void bounds_take_up_the_states_of_their_own_operator(dkm_ctx *ctx)
{
    char dir[FILES_PATH];
    double want[4], got[4];
    dkm_grid *grid = NULL;
    dkm_dmat *A = NULL, *B = NULL;
    dkm_checkpoint *c = NULL;

    files_open(ctx, dir);
    CHECK_OK(ctx, dkm_grid_create(ctx, 0, 0, &grid));
    CHECK_OK(ctx, matrix_make(grid, ORDER, ORDER, DKM_F64, smooth, &A));
    CHECK_OK(ctx, matrix_make(grid, ORDER, ORDER, DKM_F64, indefinite, &B));
    CHECK_OK(ctx, dkm_extremal_eigenvalues(A, &want[0], &want[1]));
    CHECK_OK(ctx, dkm_extremal_eigenvalues(B, &want[2], &want[3]));
    CHECK(want[0] > 0.4 && want[2] < -0.1);
    for (int turn = 0; turn < 3; turn++) {
        CHECK_OK(ctx, checkpoint_open_at(ctx, dir, 1, -1, &c));
        CHECK_OK(ctx, dkm_extremal_eigenvalues(A, &got[0], &got[1]));
        CHECK_OK(ctx, dkm_extremal_eigenvalues(B, &got[2], &got[3]));
        for (int k = 0; k < 4; k++)
            CHECK_CLOSE(got[k], want[k], 1e-9 * want[1]);
        dkm_checkpoint_close(&c);
    }
    dkm_dmat_destroy(&A);
    dkm_dmat_destroy(&B);
    dkm_grid_destroy(&grid);
    checkpoint_clear(ctx, dir);
}

static dkm_status twice(void *user, const dkm_multivec *in, dkm_multivec *out)
{
    const double *diagonal = user;
    dkm_idx first = dkm_slab_first(ORDER, dkm_ctx_rank(in->ctx), dkm_ctx_size(in->ctx));

    out->cols = in->cols;
    for (dkm_idx i = 0; i < in->n; i++)
        for (dkm_idx j = 0; j < in->cols; j++)
            out->a[i * out->ld + j] = diagonal[(first + i) % 7] * in->a[i * in->ld + j];
    return DKM_OK;
}

static dkm_status same(void *user, const dkm_multivec *in, dkm_multivec *out)
{
    (void)user;
    out->cols = 0;
    dkm_multivec_append(out, in);
    return DKM_OK;
}

/* A X = Y with Y a unit vector, so that all right-hand sides have the same norm: the largest
 * element that X is off by. */
static double off_by(dkm_ctx *ctx, dkm_idx unit)
{
    double diagonal[] = {1, 2, 3, 4, 5, 6, 7}, off = 0, all = 0;
    dkm_pcg_settings s = {.tolerance = 1e-12,
                          .max_steps = 50,
                          .A = {twice, diagonal},
                          .M = {same, NULL},
                          .stage = "of a test"};
    dkm_idx first = dkm_slab_first(ORDER, dkm_ctx_rank(ctx), dkm_ctx_size(ctx));
    dkm_pcg_outcome o;
    dkm_multivec X = {0}, Y = {0};

    CHECK_OK(ctx, dkm_agree(ctx, dkm_multivec_init(&X, ctx, ORDER, 1)));
    CHECK_OK(ctx, dkm_agree(ctx, dkm_multivec_init(&Y, ctx, ORDER, 1)));
    Y.cols = 1;
    for (dkm_idx i = 0; i < Y.n; i++)
        Y.a[i] = first + i == unit || first + i == unit + 1 ? 1.0 : 0.0;
    CHECK_OK(ctx, dkm_pcg(&Y, &s, ORDER, &X, &o));
    for (dkm_idx i = 0; i < Y.n; i++)
        off = fmax(off, fabs(X.a[i] - Y.a[i] / diagonal[(first + i) % 7]));
    MPI_Allreduce(&off, &all, 1, MPI_DOUBLE, MPI_MAX, dkm_ctx_comm(ctx));
    dkm_multivec_free(&X);
    dkm_multivec_free(&Y);
    return all;
}

static void right_hand_sides_of_one_norm_are_distinguished(dkm_ctx *ctx)
{
    char dir[FILES_PATH];
    dkm_checkpoint *c = NULL;

    files_open(ctx, dir);
    for (int turn = 0; turn < 2; turn++) {
        CHECK_OK(ctx, checkpoint_open_at(ctx, dir, 1, -1, &c));
        CHECK(off_by(ctx, 3) < 1e-9);
        CHECK(off_by(ctx, 5) < 1e-9);
        dkm_checkpoint_close(&c);
    }
    checkpoint_clear(ctx, dir);
}

static const check_case cases[] = {
    CASE(a_factorization_goes_on_where_it_stopped),
    CASE(an_eigensolve_goes_on_where_it_stopped),
    CASE(bounds_take_up_the_states_of_their_own_operator),
    CASE(right_hand_sides_of_one_norm_are_distinguished),
};

CHECK_MAIN(cases)
