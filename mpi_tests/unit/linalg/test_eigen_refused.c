/* An ELPA that cannot be set up, or that gives up: this program has functions of its own in place
 * of ELPA's, which the library calls, and which fail where they are told to. */
#define _GNU_SOURCE /* for RTLD_NEXT */
#include <dlfcn.h>
#include <math.h>

#include "linalg/eigen/syevd.h"
#include "reference/reference_linalg.h"
#include "support/check.h"

#include <dkmap/eigen.h>

enum { N = 33, REFUSED = -7 };

typedef enum fault { NONE, REFUSES, GIVES_UP, UNSETTABLE } fault;

static fault met; /* on this rank */
static int asked;

int elpa_init(int api);
void elpa_set_integer(void *handle, const char *name, int value, int *error);
void elpa_eigenvectors_double(void *handle, double *a, double *ev, double *q, int *error);

int elpa_init(int api)
{
    int (*real)(int) = NULL;

    asked++;
    *(void **)&real = dlsym(RTLD_NEXT, "elpa_init");
    return met == REFUSES || !real ? REFUSED : real(api);
}

void elpa_set_integer(void *handle, const char *name, int value, int *error)
{
    void (*real)(void *, const char *, int, int *) = NULL;

    *(void **)&real = dlsym(RTLD_NEXT, "elpa_set_integer");
    if (met == UNSETTABLE)
        *error = REFUSED;
    else
        real(handle, name, value, error);
}

/* The real one does its work, so that ranks stay together; what it leaves is spoilt. */
void elpa_eigenvectors_double(void *handle, double *a, double *ev, double *q, int *error)
{
    void (*real)(void *, double *, double *, double *, int *) = NULL;

    *(void **)&real = dlsym(RTLD_NEXT, "elpa_eigenvectors_double");
    real(handle, a, ev, q, error);
    if (met != GIVES_UP)
        return;
    a[0] = ev[0] = q[0] = NAN;
    *error = REFUSED;
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
    reference_eigen(N, a, want, NULL);
    for (int k = 0; k < N; k++)
        CHECK_CLOSE(got[N - 1 - k], want[k], 20.0 * N * 1.2e-16 * want[0]);
}

/* Any one rank, or all: everyone goes on with ScaLAPACK, and the answer is right. */
static void decompose(dkm_ctx *ctx, fault wanted, int everywhere)
{
    dkm_eigen_library library = DKM_EIGEN_ELPA;
    dkm_grid *grid = NULL;
    dkm_dmat *A = NULL, *Z = NULL;
    double values[N];

    met = everywhere || dkm_ctx_rank(ctx) == 0 ? wanted : NONE;
    asked = 0;
    CHECK_OK(ctx, dkm_grid_create(ctx, 0, 0, &grid));
    CHECK_OK(ctx, dkm_dmat_create(grid, N, N, 4, 4, DKM_F64, &A));
    dkm_dmat_fill(A, element, NULL);
    CHECK_OK(ctx, dkm_la_syevd(A, &library, values, &Z));
    CHECK(library == DKM_EIGEN_SCALAPACK);
    CHECK(asked == (dkm_grid_row(grid) >= 0));
    compare(values);
    met = NONE;
    dkm_dmat_destroy(&Z);
    dkm_dmat_destroy(&A);
    dkm_grid_destroy(&grid);
}

static void check_fault(dkm_ctx *ctx, fault wanted)
{
    if (!dkm_la_syevd_has(DKM_EIGEN_ELPA))
        return;
    decompose(ctx, wanted, 1);
    decompose(ctx, wanted, 0);
}

static void scalapack_steps_in_when_elpa_refuses(dkm_ctx *ctx)
{
    check_fault(ctx, REFUSES);
}

/* The steps before elpa_setup(), which is collective, fail on rank 0 alone. */
static void scalapack_steps_in_when_elpa_takes_no_settings(dkm_ctx *ctx)
{
    check_fault(ctx, UNSETTABLE);
}

static void scalapack_steps_in_when_elpa_gives_up(dkm_ctx *ctx)
{
    check_fault(ctx, GIVES_UP);
}

static const check_case cases[] = {
    CASE(scalapack_steps_in_when_elpa_refuses),
    CASE(scalapack_steps_in_when_elpa_takes_no_settings),
    CASE(scalapack_steps_in_when_elpa_gives_up),
};

CHECK_MAIN(cases)
