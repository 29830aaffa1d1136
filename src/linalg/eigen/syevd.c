/* All eigenpairs of a symmetric matrix, A = Z diag(values) Z': by ScaLAPACK's pdsyevd (divide and
 * conquer; Tisseur and Dongarra 1999, SIAM J. Sci. Comput. 20(6):2223-2236,
 * doi:10.1137/S1064827598336951), by ELPA's one-stage solver (Marek et al. 2014, J. Phys.: Condens.
 * Matter 26:213201, doi:10.1088/0953-8984/26/21/213201), or by the reduction to tridiagonal form of
 * sytrd.c, ScaLAPACK's divide and conquer for that, pdstedc, and the back-transformation of ormtr.c;
 * with ScaLAPACK as the fallback.
 *
 * Cost per rank: between 10/3 n^3 / ranks and 14/3 n^3 / ranks flops, depending on deflation: 4/3
 * n^3 for the reduction, 2 n^3 for the back-transformation, at most 4/3 n^3 for divide and conquer.
 * Held beside A: Z, and a workspace of about 2 n^2 / ranks numbers. Replicated: the n eigenvalues, and
 * what sytrd.c says.
 */
#include "linalg/eigen/syevd.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/ctx_private.h"
#include "core/mpi_calls.h"
#include "linalg/backend/blacs.h"
#include "linalg/backend/blas.h"
#include "linalg/backend/elpa.h"
#include "linalg/backend/fortran.h"
#include "linalg/eigen/sytrd.h"
#include "linalg/linalg.h"
#include "matrix/dmat_impl.h"

#define ELEMENT_MOST   1e120
#define THREADED_ORDER 1000 /* of a problem on one rank that is worth waking the threads of BLAS */

int dkm_la_syevd_has(dkm_eigen_library library)
{
    return library != DKM_EIGEN_ELPA || dkm_elpa_built_in();
}

const char *dkm_la_syevd_name(dkm_eigen_library library)
{
    static const char *const names[] = {"scalapack", "elpa", "sytrd"};

    return names[library];
}

static int64_t int64_max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* LWORK of pdsyevd in 64 bits: the query answers in a floating point number, cut to 32 bits by the
 * caller. Beside the documented terms come what pdlasrt and pdormtr ask for within it, which
 * pdsyevd forgets when a rank holds less than a block. */
static int64_t syevd_work(const dkm_dmat *A)
{
    int64_t n = A->n, nb = A->nb, np = int64_max(A->m_loc, nb), nq = int64_max(A->n_loc, nb);
    int64_t tridiagonal = 3 * n + int64_max(nb * (np + 1), 3 * nb);
    int64_t divide = 1 + 6 * n + 2 * np * nq;
    int64_t reflect = nb * (np + 2 * nq + nb);

    return int64_max(int64_max(divide, tridiagonal), reflect) + 2 * n;
}

static int64_t syevd_integers(const dkm_dmat *A)
{
    return 7 * A->n + 8 * (int64_t)dkm_grid_cols(A->grid) + 2;
}

double dkm_la_syevd_bytes(const dkm_dmat *A, dkm_eigen_library library)
{
    double local = (double)A->ld * (double)A->n_loc * sizeof(double);

    if (library == DKM_EIGEN_ELPA)
        return 3.0 * local; /* eigenvectors, and the two work arrays of its divide and conquer */
    return local + (double)syevd_work(A) * sizeof(double) +
           (double)syevd_integers(A) * sizeof(int) +
           (library == DKM_EIGEN_SYTRD ? dkm_la_sytrd_bytes(A) : 0.0);
}

static dkm_local check_work(dkm_ctx *ctx, const dkm_dmat *A)
{
    double n = (double)A->n;

    if (syevd_work(A) <= INT_MAX)
        return DKM_LOCAL_OK;
    return dkm_fail(ctx, DKM_ERR_SIZE,
                    "a full eigensolve of order %lld needs a workspace of %lld numbers on this "
                    "rank, more than the 2^31-1 that ScaLAPACK can index: use at least %.0f ranks",
                    (long long)A->n, (long long)syevd_work(A), ceil(2.0 * n * n / INT_MAX));
}

static int run_syevd(dkm_dmat *A, double *values, dkm_dmat *Z, double *work, int *integers)
{
    const dkm_blacs_desc a = dkm_blacs_descriptor(A), z = dkm_blacs_descriptor(Z);
    const int n = (int)A->n, one = 1;
    const int lwork = (int)syevd_work(A), liwork = (int)syevd_integers(A);
    int info = 0;

    pdsyevd_("V", "L", &n, A->a.f64, &one, &one, a.d, values, Z->a.f64, &one, &one, z.d, work,
             &lwork, integers, &liwork, &info);
    return info;
}

static dkm_status scalapack_eigen(dkm_dmat *A, double *values, dkm_dmat *Z, int *info)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_grid_ctx(A->grid);
    double *work = NULL;
    int *integers = NULL;

    DKM_AGREE(ctx, check_work(ctx, A));
    DKM_AGREE(ctx, dkm_alloc(ctx, syevd_work(A), &work));
    DKM_AGREE(ctx, dkm_alloc(ctx, syevd_integers(A), &integers));
    (void)dkm_blacs_context(A->grid);
    if (dkm_in_grid(A->grid))
        *info = run_syevd(A, values, Z, work, integers);
out:
    DKM_FREE(integers);
    DKM_FREE(work);
    return status;
}

/* The largest element of the lower triangle in size, or one that is no number. Collective. */
static double largest_element(const dkm_dmat *A)
{
    double largest = 0;

    for (dkm_idx jl = 0; jl < A->n_loc; jl++)
        for (dkm_idx il = dkm_cyclic_count(dkm_dmat_global_col(A, jl), A->mb, dkm_grid_row(A->grid),
                                           dkm_grid_rows(A->grid));
             il < A->m_loc; il++) {
            double size = fabs(A->a.f64[il + jl * A->ld]);
            largest = size <= largest ? largest : isnan(size) ? INFINITY : size;
        }
    MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_DOUBLE, MPI_MAX,
                  dkm_ctx_comm(dkm_grid_ctx(A->grid)));
    return largest;
}

/* Whether squares of the elements and of what is made of them neither overflow nor vanish. Collective.
 */
static int sytrd_applicable(const dkm_dmat *A)
{
    double largest = largest_element(A);

    return largest == 0 || (largest > 1.0 / ELEMENT_MOST && largest < ELEMENT_MOST);
}

static int run_stedc(dkm_tridiagonal *t, dkm_dmat *Z, double *work, int *integers)
{
    const dkm_blacs_desc z = dkm_blacs_descriptor(Z);
    const int n = (int)t->n, one = 1;
    const int lwork = (int)syevd_work(Z), liwork = (int)syevd_integers(Z);
    int info = 0;

    pdstedc_("I", &n, t->d, t->e, Z->a.f64, &one, &one, z.d, work, &lwork, integers, &liwork,
             &info);
    return info;
}

/* By the reduction of this library and ScaLAPACK's solver of the tridiagonal problem. */
static dkm_status sytrd_eigen(dkm_dmat *A, double *values, dkm_dmat *Z, int *info)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_grid_ctx(A->grid);
    dkm_tridiagonal t = {0};
    double *work = NULL;
    int *integers = NULL;

    DKM_AGREE(ctx, check_work(ctx, A));
    DKM_TRY(dkm_la_sytrd(A, &t));
    DKM_AGREE(ctx, dkm_alloc(ctx, syevd_work(A), &work));
    DKM_AGREE(ctx, dkm_alloc(ctx, syevd_integers(A), &integers));
    (void)dkm_blacs_context(A->grid);
    if (dkm_in_grid(A->grid))
        *info = run_stedc(&t, Z, work, integers);
    DKM_FREE(work);
    DKM_TRY(dkm_la_ormtr(A, &t, Z));
    memcpy(values, t.d, (size_t)A->n * sizeof *values);
out:
    DKM_FREE(integers);
    DKM_FREE(work);
    dkm_tridiagonal_free(&t);
    return status;
}

static dkm_local check_outcome(dkm_ctx *ctx, int info)
{
    if (info == 0)
        return DKM_LOCAL_OK;
    return dkm_fail(ctx, DKM_ERR_NUMERIC,
                    "the eigensolver gave up (info = %d): does the matrix hold infinite or "
                    "undefined values?",
                    info);
}

/* ELPA stops when a process of the grid holds nothing. */
static int elpa_applicable(const dkm_dmat *A)
{
    int P = dkm_grid_rows(A->grid), Q = dkm_grid_cols(A->grid);

    return A->n > 0 && A->n > A->nb * ((P > Q ? P : Q) - 1);
}

/* The lower triangle, for a second try; NULL where memory does not hold it. */
static dkm_status copy_lower(const dkm_dmat *A, dkm_dmat **copy)
{
    double lower = 0.5 * (double)A->ld * (double)A->n_loc * sizeof(double);

    *copy = NULL;
    if (!dkm_memory_fits(dkm_grid_ctx(A->grid), lower + dkm_la_syevd_bytes(A, DKM_EIGEN_ELPA)))
        return DKM_OK;
    return dkm_dmat_convert_lower(A, DKM_F64, copy);
}

static dkm_local report_fallback(dkm_ctx *ctx, dkm_elpa_outcome outcome, const dkm_dmat *copy)
{
    if (outcome == DKM_ELPA_FAILED && !copy)
        return dkm_fail(ctx, DKM_ERR_NUMERIC,
                        "ELPA gave up, and memory did not hold a copy of the matrix for another "
                        "try: use more ranks, or look for infinite or undefined values in it");
    dkm_log(ctx, DKM_WARN, "ELPA %s here: going on with ScaLAPACK's eigensolver",
            outcome == DKM_ELPA_FAILED ? "gave up" : "cannot be set up");
    return DKM_LOCAL_OK;
}

/* By ELPA; where that does not work out, @p library becomes ScaLAPACK, and the lower triangle of A
 * is as it was. */
static dkm_status elpa_eigen(dkm_dmat *A, dkm_eigen_library *library, double *values, dkm_dmat *Z)
{
    dkm_status status = DKM_OK;
    dkm_elpa_outcome outcome;
    dkm_dmat *copy = NULL;

    DKM_TRY(copy_lower(A, &copy));
    DKM_TRY(dkm_dmat_symmetrize('L', A));
    outcome = dkm_elpa_syevd(A, values, Z);
    if (outcome == DKM_ELPA_DONE)
        goto out;
    *library = DKM_EIGEN_SCALAPACK;
    DKM_AGREE(dkm_grid_ctx(A->grid), report_fallback(dkm_grid_ctx(A->grid), outcome, copy));
    if (outcome == DKM_ELPA_FAILED)
        memcpy(A->a.f64, copy->a.f64, (size_t)(A->ld * A->n_loc) * sizeof *A->a.f64);
out:
    dkm_dmat_destroy(&copy);
    return status;
}

dkm_status dkm_la_syevd(dkm_dmat *A, dkm_eigen_library *library, double *values, dkm_dmat **Z)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_grid_ctx(A->grid);
    dkm_dmat *V = NULL;
    int info = 0, serial;

    assert(A->m == A->n && A->mb == A->nb && A->precision == DKM_F64);
    *Z = NULL;
    serial = dkm_blas_set_serial(ctx, 0);
    DKM_TRY(dkm_dmat_create(A->grid, A->n, A->n, A->nb, A->nb, DKM_F64, &V));
    if (*library == DKM_EIGEN_ELPA && !elpa_applicable(A))
        *library = DKM_EIGEN_SCALAPACK;
    if (*library == DKM_EIGEN_ELPA)
        DKM_TRY(elpa_eigen(A, library, values, V));
    if (*library == DKM_EIGEN_SYTRD && !sytrd_applicable(A))
        *library = DKM_EIGEN_SCALAPACK;
    if (A->n > 0 && *library == DKM_EIGEN_SYTRD)
        DKM_TRY(sytrd_eigen(A, values, V, &info));
    if (A->n > 0 && *library == DKM_EIGEN_SCALAPACK)
        DKM_TRY(scalapack_eigen(A, values, V, &info));
    DKM_AGREE(ctx, check_outcome(ctx, info));
    /* ranks outside the grid have no values yet; rank 0 is always inside */
    dkm_mpi_bcast(values, A->n, MPI_DOUBLE, 0, dkm_ctx_comm(ctx));
    *Z = V;
    V = NULL;
out:
    dkm_blas_set_serial(ctx, serial);
    dkm_dmat_destroy(&V);
    return status;
}

static dkm_local syevd_triangle(dkm_ctx *ctx, char uplo, dkm_idx n, double *a, double *values)
{
    dkm_local local = DKM_LOCAL_OK;
    double *work = NULL;
    int *integers = NULL, info = 0, n_, lwork, liwork, serial;

    if (n == 0)
        return local;
    if (n > DKM_SMALL_EIGEN_MOST)
        return dkm_fail(ctx, DKM_ERR_SIZE,
                        "an eigenproblem of order %lld on one rank: LAPACK's workspace is counted "
                        "in 32 bits, which ends at %lld",
                        (long long)n, (long long)DKM_SMALL_EIGEN_MOST);
    n_ = (int)n;
    lwork = 1 + 6 * n_ + 2 * n_ * n_;
    liwork = 3 + 5 * n_;
    DKM_STEP(dkm_alloc(ctx, lwork, &work));
    DKM_STEP(dkm_alloc(ctx, liwork, &integers));
    serial = dkm_blas_set_serial(ctx, n < THREADED_ORDER && dkm_ctx_blas_serial(ctx));
    dsyevd_("V", &uplo, &n_, a, &n_, values, work, &lwork, integers, &liwork, &info);
    dkm_blas_set_serial(ctx, serial);
    local = check_outcome(ctx, info);
out:
    DKM_FREE(integers);
    DKM_FREE(work);
    return local;
}

dkm_local dkm_syevd_local(dkm_ctx *ctx, dkm_idx n, double *a, double *values)
{
    return syevd_triangle(ctx, 'L', n, a, values);
}

static void swap_columns(dkm_idx n, double *a, double *b)
{
    for (dkm_idx i = 0; i < n; i++) {
        double t = a[i];
        a[i] = b[i];
        b[i] = t;
    }
}

/* Largest first, of ascending values and the columns of @p z. */
static void reverse_pairs(dkm_idx n, dkm_idx count, double *values, double *z)
{
    for (dkm_idx j = 0; j < count / 2; j++) {
        swap_columns(1, values + j, values + count - 1 - j);
        swap_columns(n, z + j * n, z + (count - 1 - j) * n);
    }
}

static dkm_local syevr_largest(dkm_ctx *ctx, char uplo, dkm_idx n, double *a, dkm_idx count,
                               double *values, double *z)
{
    dkm_local local = DKM_LOCAL_OK;
    double *work = NULL, unused = 0;
    int *integers = NULL, info = 0, found = 0, serial;
    const int n_ = (int)n, il = (int)(n - count + 1), lwork = 26 * n_, liwork = 10 * n_;

    if (n > DKM_SMALL_EIGEN_MOST)
        return dkm_fail(ctx, DKM_ERR_SIZE, "an eigenproblem of order %lld on one rank",
                        (long long)n);
    DKM_STEP(dkm_alloc(ctx, lwork, &work));
    DKM_STEP(dkm_alloc(ctx, liwork + 2 * n, &integers));
    serial = dkm_blas_set_serial(ctx, n < THREADED_ORDER && dkm_ctx_blas_serial(ctx));
    dsyevr_("V", "I", &uplo, &n_, a, &n_, &unused, &unused, &il, &n_, &unused, &found, values, z,
            &n_, integers + liwork, work, &lwork, integers, &liwork, &info);
    dkm_blas_set_serial(ctx, serial);
    local = check_outcome(ctx, info != 0 ? info : (int)count - found);
out:
    DKM_FREE(integers);
    DKM_FREE(work);
    return local;
}

dkm_local dkm_syev_leading_local(dkm_ctx *ctx, char uplo, dkm_idx n, double *a, dkm_idx count,
                                 double *values, double *z)
{
    dkm_local local = DKM_LOCAL_OK;

    if (count == 0)
        return local;
    if (n <= DKM_ALL_PAIRS_MOST) {
        DKM_STEP(syevd_triangle(ctx, uplo, n, a, values));
        memmove(values, values + n - count, (size_t)count * sizeof *values);
        memcpy(z, a + n * (n - count), (size_t)(n * count) * sizeof *z);
    } else {
        DKM_STEP(syevr_largest(ctx, uplo, n, a, count, values, z));
    }
    reverse_pairs(n, count, values, z);
out:
    return local;
}
