/* An ELPA that cannot be set up: this program has an elpa_init() of its own, which the library
 * calls in place of the real one, and which fails where it is told to. */
#define _GNU_SOURCE /* for RTLD_NEXT */
#include <dlfcn.h>

#include "check.h"
#include "oracle_linalg.h"
#include "scalapack/eigen.h"

#include <dkmap/eigen.h>

enum { N = 33, REFUSED = -7 };

static int refusing; /* on this rank */
static int asked;

int elpa_init(int api);

int elpa_init(int api)
{
    int (*real)(int) = NULL;

    asked++;
    *(void **)&real = dlsym(RTLD_NEXT, "elpa_init");
    return refusing || !real ? REFUSED : real(api);
}

static double element(void *user, dkm_idx ig, dkm_idx jg)
{
    (void)user;
    return ig < jg ? -5.0 : 1.0 / (1.0 + (double)(ig + jg)) + (ig == jg ? (double)(ig % 5) : 0.0);
}

static void compare(double *got)
{
    static double a[N * N], want[N];

    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++)
            a[i + j * N] = i < j ? element(NULL, j, i) : element(NULL, i, j);
    oracle_eigen(N, a, want, NULL);
    for (int k = 0; k < N; k++)
        CHECK_CLOSE(got[N - 1 - k], want[k], 20.0 * N * 1.2e-16 * want[0]);
}

/* Any one rank, or all: everyone goes on with ScaLAPACK, and the answer is right. */
static void decompose(dkm_ctx *ctx, int everywhere)
{
    dkm_eigen_library library = DKM_EIGEN_ELPA;
    dkm_grid *grid = NULL;
    dkm_dmat *A = NULL, *Z = NULL;
    double values[N];

    refusing = everywhere || dkm_ctx_rank(ctx) == 0;
    asked = 0;
    CHECK_OK(ctx, dkm_grid_create(ctx, 0, 0, &grid));
    CHECK_OK(ctx, dkm_dmat_create(grid, N, N, 4, 4, DKM_F64, &A));
    dkm_dmat_fill(A, element, NULL);
    CHECK_OK(ctx, dkm_la_eigen(A, &library, values, &Z));
    CHECK(library == DKM_EIGEN_SCALAPACK);
    CHECK(asked == (dkm_grid_row(grid) >= 0));
    compare(values);
    refusing = 0;
    dkm_dmat_destroy(&Z);
    dkm_dmat_destroy(&A);
    dkm_grid_destroy(&grid);
}

static void scalapack_steps_in_when_elpa_refuses(dkm_ctx *ctx)
{
    if (!dkm_la_eigen_has(DKM_EIGEN_ELPA))
        return;
    decompose(ctx, 1);
    decompose(ctx, 0);
}

static const check_case cases[] = {
    CASE(scalapack_steps_in_when_elpa_refuses),
};

CHECK_MAIN(cases)
