#include <math.h>
#include <stdlib.h>

#include <dkmap/random.h>

#include "linalg/backend/blas.h"
#include "linalg/factor/tsqr.h"
#include "linalg/linalg.h"
#include "matrix/dmat_impl.h"
#include "reference/reference_linalg.h"
#include "support/check.h"

#define N 37

static double noise(void *user, dkm_idx ig, dkm_idx jg)
{
    return dkm_random_normal(*(uint64_t *)user, 0, (uint64_t)ig, (uint64_t)jg);
}

/* Symmetric, positive definite: 1 / (1 + |i - j|) plus N on the diagonal, of which only the lower
 * triangle is filled. */
static double definite_lower(void *user, dkm_idx ig, dkm_idx jg)
{
    double shift = *(double *)user;

    return ig < jg ? 0.0 : 1.0 / (1.0 + (double)(ig - jg)) + (ig == jg ? shift : 0.0);
}

static double definite(int i, int j, double shift)
{
    return 1.0 / (1.0 + abs(i - j)) + (i == j ? shift : 0.0);
}

static void make(dkm_ctx *ctx, dkm_grid *grid, dkm_idx nb, dkm_precision precision, uint64_t seed,
                 dkm_dmat **A)
{
    CHECK_OK(ctx, dkm_dmat_create(grid, N, N, nb, nb, precision, A));
    dkm_dmat_fill(*A, noise, &seed);
}

static double largest_gap(const double *a, const double *b, int count)
{
    double gap = 0;

    for (int i = 0; i < count; i++)
        gap = fmax(gap, fabs(a[i] - b[i]));
    return gap;
}

/* One rounding a term of a sum of N products of numbers of size 1, and room for their growth. */
static double product_tolerance(dkm_precision precision)
{
    return 50.0 * N * (precision == DKM_F64 ? 1.2e-16 : 6.0e-8);
}

static void products_on(dkm_ctx *ctx, dkm_grid *grid, dkm_idx nb, dkm_precision precision)
{
    dkm_dmat *A = NULL, *B = NULL, *C = NULL;
    static double a[N * N], b[N * N], c[N * N], want[N * N];
    const char ops[] = {'N', 'T'};

    make(ctx, grid, nb, precision, 1, &A);
    make(ctx, grid, nb, precision, 2, &B);
    make(ctx, grid, nb, precision, 3, &C);
    reference_gather(A, a);
    reference_gather(B, b);
    for (int ta = 0; ta < 2; ta++)
        for (int tb = 0; tb < 2; tb++) {
            dkm_la_gemm(ops[ta], ops[tb], 1.0, A, B, 0.0, C);
            reference_gather(C, c);
            reference_multiply(N, ta, tb, a, b, want);
            CHECK_CLOSE(largest_gap(c, want, N * N), 0.0, product_tolerance(precision));
        }
    dkm_la_transpose(A, C);
    reference_gather(C, c);
    for (int i = 0; i < N * N; i++)
        CHECK(c[i] == a[i / N + i % N * N]);
    dkm_dmat_destroy(&A);
    dkm_dmat_destroy(&B);
    dkm_dmat_destroy(&C);
}

static void columns_on(dkm_ctx *ctx, dkm_grid *grid, dkm_idx nb, dkm_precision precision)
{
    dkm_dmat *A = NULL, *B = NULL;
    static double a[N * N], b[N * N];
    const dkm_idx counts[] = {N, 1, N / 2, N - 1};

    make(ctx, grid, nb, precision, 1, &A);
    reference_gather(A, a);
    for (int k = 0; k < 4; k++) {
        dkm_idx first = k == 2 ? 3 : N - counts[k];
        CHECK_OK(ctx, dkm_dmat_create_like(A, counts[k], nb, precision, &B));
        dkm_la_lacpy_cols(A, first, B);
        reference_gather(B, b);
        for (dkm_idx i = 0; i < N * counts[k]; i++)
            CHECK(b[i] == a[first * N + i]);
        dkm_dmat_destroy(&B);
    }
    dkm_dmat_destroy(&A);
}

/* Parts that begin within blocks, and go elsewhere within blocks; the others stay. */
static void parts_on(dkm_ctx *ctx, dkm_grid *grid, dkm_idx nb, dkm_precision precision)
{
    dkm_dmat *A = NULL, *B = NULL;
    static double a[N * N], was[N * N], b[N * N];
    const dkm_idx m = N / 2, n = N / 3;
    const dkm_place from = {3, 1}, to = {1, N - N / 3};

    make(ctx, grid, nb, precision, 1, &A);
    make(ctx, grid, nb, precision, 2, &B);
    reference_gather(A, a);
    reference_gather(B, was);
    dkm_la_lacpy(A, from, B, to, m, n);
    reference_gather(B, b);
    for (dkm_idx j = 0; j < N; j++)
        for (dkm_idx i = 0; i < N; i++) {
            int inside = i >= to.i && i < to.i + m && j >= to.j && j < to.j + n;
            dkm_idx k = i - to.i + from.i + (j - to.j + from.j) * N;
            CHECK(b[i + j * N] == (inside ? a[k] : was[i + j * N]));
        }
    dkm_dmat_destroy(&B);
    dkm_dmat_destroy(&A);
}

static void mirror_on(dkm_ctx *ctx, dkm_grid *grid, dkm_idx nb, dkm_precision precision)
{
    dkm_dmat *A = NULL;
    static double a[N * N], c[N * N];

    for (int upper = 0; upper < 2; upper++) {
        make(ctx, grid, nb, precision, 4, &A);
        reference_gather(A, a);
        CHECK_OK(ctx, dkm_dmat_symmetrize(upper ? 'U' : 'L', A));
        reference_gather(A, c);
        for (int i = 0; i < N; i++)
            for (int j = 0; j <= i; j++) {
                double kept = upper ? a[j + i * N] : a[i + j * N];
                CHECK(c[i + j * N] == kept && c[j + i * N] == kept);
            }
        dkm_dmat_destroy(&A);
    }
}

static void cholesky_on(dkm_ctx *ctx, dkm_grid *grid, dkm_idx nb, dkm_precision precision)
{
    dkm_dmat *A = NULL, *B = NULL;
    double shift = 0.5;
    dkm_idx minor = -1;
    uint64_t seed = 9;
    static double a[N * N], b[N * 3], x[N * 3];

    CHECK_OK(ctx, dkm_dmat_create(grid, N, N, nb, nb, precision, &A));
    CHECK_OK(ctx, dkm_dmat_create(grid, N, 3, nb, 2, precision, &B));
    dkm_dmat_fill(A, definite_lower, &shift);
    dkm_dmat_fill(B, noise, &seed);
    reference_gather(B, b);
    for (int i = 0; i < N * N; i++)
        a[i] = definite(i % N, i / N, shift);
    reference_solve(N, 3, a, b);
    CHECK_OK(ctx, dkm_la_potrf(A, &minor));
    CHECK(minor == 0);
    reference_gather(A, a);
    for (int i = 0; i < N * N; i++)
        CHECK(i % N >= i / N || a[i] == 0.0);
    dkm_la_trsm('N', A, B);
    dkm_la_trsm('T', A, B);
    reference_gather(B, x);
    CHECK_CLOSE(largest_gap(x, b, N * 3), 0.0, 10.0 * product_tolerance(precision));
    dkm_dmat_destroy(&A);
    dkm_dmat_destroy(&B);
}

/* With L the factor of A: L^-1, then L^-T L^-1 = A^-1, and C A^-1 by solves from the right. */
static void inverse_on(dkm_ctx *ctx, dkm_grid *grid, dkm_idx nb, dkm_precision precision)
{
    dkm_dmat *A = NULL, *C = NULL, *L = NULL;
    double shift = 0.5;
    dkm_idx minor = -1;
    static double a[N * N], inverse[N * N], l[N * N], c[N * N], x[N * N], want[N * N];

    CHECK_OK(ctx, dkm_dmat_create(grid, N, N, nb, nb, precision, &A));
    dkm_dmat_fill(A, definite_lower, &shift);
    CHECK_OK(ctx, dkm_la_potrf(A, &minor));
    make(ctx, grid, nb, precision, 6, &C);
    reference_gather(A, l);
    reference_gather(C, c);
    for (int i = 0; i < N * N; i++) {
        a[i] = definite(i % N, i / N, shift);
        inverse[i] = i % (N + 1) == 0;
    }
    reference_solve(N, N, a, inverse);
    dkm_la_trsm_right(A, C);
    reference_gather(C, x);
    reference_multiply(N, 0, 1, x, l, want); /* C L^-T L' */
    CHECK_CLOSE(largest_gap(c, want, N * N), 0.0, 10.0 * product_tolerance(precision));
    CHECK_OK(ctx, dkm_dmat_convert(A, precision, &L));
    dkm_la_trtri(L);
    reference_gather(L, x);
    reference_multiply(N, 0, 0, x, l, want);
    for (int i = 0; i < N * N; i++)
        CHECK_CLOSE(want[i], i % (N + 1) == 0, product_tolerance(precision));
    dkm_la_lauum(L);
    reference_gather(L, x);
    for (int i = 0; i < N * N; i++)
        CHECK_CLOSE(x[i], i % N >= i / N ? inverse[i] : 0.0, product_tolerance(precision));
    dkm_dmat_destroy(&A);
    dkm_dmat_destroy(&C);
    dkm_dmat_destroy(&L);
}

/* (L L')^-1 B by slabs against elimination. */
static void narrow_solve_on(dkm_ctx *ctx, dkm_grid *grid, dkm_idx nb, dkm_precision precision)
{
    enum { M = 300, D = DKM_NRHS_BLOCK + 3 }; /* more than a strip, and than a block */
    int rank = dkm_ctx_rank(ctx), size = dkm_ctx_size(ctx);
    dkm_idx first = dkm_slab_first(M, rank, size), n = dkm_slab_count(M, rank, size), minor = -1;
    dkm_dmat *A = NULL;
    double shift = 2.0;
    static double a[M * M], b[M * D], rows[M * D];

    CHECK_OK(ctx, dkm_dmat_create(grid, M, M, nb, nb, precision, &A));
    dkm_dmat_fill(A, definite_lower, &shift);
    CHECK_OK(ctx, dkm_la_potrf(A, &minor));
    for (int i = 0; i < M * M; i++)
        a[i] = definite(i % M, i / M, shift);
    for (int k = 0; k < M * D; k++)
        b[k] = cos(0.3 * (k % M) * (k / M + 1));
    for (dkm_idx k = 0; k < n * D; k++)
        rows[k] = b[first + k / D + k % D * M];
    reference_solve(M, D, a, b);
    CHECK_OK(ctx, dkm_la_potrs_multivec(A, D, rows));
    for (dkm_idx k = 0; k < n * D; k++)
        CHECK_CLOSE(rows[k], b[first + k / D + k % D * M], product_tolerance(precision));
    dkm_dmat_destroy(&A);
}

/* Where rows from @p from on are those of definite_lower(), in a matrix of zeros. */
static void fill_last_rows(dkm_dmat *A, dkm_idx from)
{
    int p = dkm_grid_row(A->grid), q = dkm_grid_col(A->grid);
    dkm_idx i0 = dkm_cyclic_count(from, A->mb, p, dkm_grid_rows(A->grid));
    dkm_idx j0 = dkm_cyclic_count(from, A->nb, q, dkm_grid_cols(A->grid));
    double shift = 1.0;

    for (dkm_idx jl = j0; jl < A->n_loc; jl++)
        for (dkm_idx il = i0; il < A->m_loc; il++) {
            dkm_idx ig = dkm_dmat_global_row(A, il), jg = dkm_dmat_global_col(A, jl);
            if (ig >= jg)
                dkm_dmat_put(A, il, jl, definite_lower(&shift, ig - from, jg - from));
        }
}

static void check_last_rows(const dkm_dmat *A, dkm_idx from, const double *L, dkm_idx n)
{
    int p = dkm_grid_row(A->grid), q = dkm_grid_col(A->grid);
    dkm_idx i0 = dkm_cyclic_count(from, A->mb, p, dkm_grid_rows(A->grid));
    dkm_idx j0 = dkm_cyclic_count(from, A->nb, q, dkm_grid_cols(A->grid));

    for (dkm_idx jl = j0; jl < A->n_loc; jl++)
        for (dkm_idx il = i0; il < A->m_loc; il++) {
            dkm_idx i = dkm_dmat_global_row(A, il) - from, j = dkm_dmat_global_col(A, jl) - from;
            if (i >= j)
                CHECK_CLOSE(dkm_dmat_at(A, il, jl), L[i + j * n], product_tolerance(DKM_F32));
        }
}

/* A triangle takes memory where it is touched alone, and local arrays may pass 2^31 elements: the last
 * columns of one are factored, in blocks of 64 on a rank's share of 46,400 x 46,400 elements. */
static void a_triangle_too_large_for_scalapack_is_factored(dkm_ctx *ctx)
{
    enum { NB = 64, LAST = 300 };
    dkm_grid *grid = NULL;
    dkm_dmat *A = NULL, *square = NULL;
    dkm_idx sides = (dkm_idx)ceil(sqrt(dkm_ctx_size(ctx))), n = sides * 46400, info = -1,
            from = (n - LAST) / NB * NB, left = n - from;
    double *L = calloc((size_t)(left * left), sizeof *L), shift = 1.0;
    int64_t held = dkm_ctx_live_bytes(ctx);

    for (dkm_idx k = 0; k < left * left; k++)
        L[k] = definite_lower(&shift, k % left, k / left);
    CHECK(dkm_blas_potrf(DKM_F64, left, L, left) == 0);
    CHECK_OK(ctx, dkm_grid_create(ctx, 0, 0, &grid));
    CHECK(dkm_dmat_create(grid, n, n, NB, NB, DKM_F32, &square) == DKM_ERR_SIZE && !square);
    CHECK_OK(ctx, dkm_dmat_create_lower(grid, n, NB, DKM_F32, &A));
    CHECK(!dkm_dmat_suits_scalapack(A));
    CHECK((double)(dkm_ctx_live_bytes(ctx) - held) < 0.52 * 4.0 * (double)(A->ld * A->n_loc) + 1e5);
    fill_last_rows(A, from);
    CHECK_OK(ctx, dkm_la_potrf_from(A, from, NULL, &info));
    CHECK(info == 0);
    check_last_rows(A, from, L, left);
    dkm_ctx_set_factor(ctx, DKM_FACTOR_SCALAPACK);
    CHECK(dkm_la_potrf_from(A, from, NULL, &info) == DKM_ERR_SIZE);
    dkm_ctx_set_factor(ctx, DKM_FACTOR_AUTO);
    dkm_dmat_destroy(&A);
    dkm_grid_destroy(&grid);
    free(L);
}

static void on_every_grid(dkm_ctx *ctx, void (*body)(dkm_ctx *, dkm_grid *, dkm_idx, dkm_precision))
{
    for (int P = 1; P <= dkm_ctx_size(ctx); P++) {
        dkm_grid *grid = NULL;
        CHECK_OK(ctx, dkm_grid_create(ctx, P, dkm_ctx_size(ctx) / P, &grid));
        for (dkm_idx nb = 4; nb <= 64; nb += 30)
            for (int single = 0; single < 2; single++)
                body(ctx, grid, nb, single ? DKM_F32 : DKM_F64);
        dkm_grid_destroy(&grid);
    }
}

static void products_match_the_oracle(dkm_ctx *ctx)
{
    on_every_grid(ctx, products_on);
}

static void columns_are_copied_exactly(dkm_ctx *ctx)
{
    on_every_grid(ctx, columns_on);
    on_every_grid(ctx, parts_on);
}

static void a_triangle_is_mirrored_exactly(dkm_ctx *ctx)
{
    on_every_grid(ctx, mirror_on);
}

static void cholesky_solves_what_elimination_solves(dkm_ctx *ctx)
{
    on_every_grid(ctx, cholesky_on);
}

static void a_few_columns_are_solved_for_in_slabs(dkm_ctx *ctx)
{
    dkm_grid *grid = NULL;

    for (int P = 1; P <= dkm_ctx_size(ctx); P++) {
        CHECK_OK(ctx, dkm_grid_create(ctx, P, dkm_ctx_size(ctx) / P, &grid));
        narrow_solve_on(ctx, grid, 40, DKM_F64);
        narrow_solve_on(ctx, grid, 13, DKM_F32);
        dkm_grid_destroy(&grid);
    }
}

static void factors_are_inverted_in_place(dkm_ctx *ctx)
{
    on_every_grid(ctx, inverse_on);
}

/* Wider than a strip, so that elimination between strips is run through. */
static void a_matrix_of_several_strips_is_factored(dkm_ctx *ctx)
{
    enum { M = 2500 };
    dkm_grid *grid = NULL;
    dkm_dmat *A = NULL, *B = NULL, *C = NULL, *K = NULL;
    double shift = 2.0, norm;
    dkm_idx minor = -1;
    uint64_t seed = 5;

    CHECK_OK(ctx, dkm_grid_create(ctx, 0, 0, &grid));
    CHECK_OK(ctx, dkm_dmat_create(grid, M, M, 64, 64, DKM_F64, &A));
    CHECK_OK(ctx, dkm_dmat_create(grid, M, M, 64, 64, DKM_F64, &K));
    CHECK_OK(ctx, dkm_dmat_create(grid, M, 4, 64, 64, DKM_F64, &B));
    CHECK_OK(ctx, dkm_dmat_create(grid, M, 4, 64, 64, DKM_F64, &C));
    dkm_dmat_fill(A, definite_lower, &shift);
    dkm_dmat_fill(K, definite_lower, &shift);
    dkm_dmat_fill(B, noise, &seed);
    dkm_dmat_fill(C, noise, &seed);
    norm = dkm_dmat_norm(B);
    CHECK_OK(ctx, dkm_la_potrf(A, &minor));
    CHECK(minor == 0);
    dkm_la_trsm('N', A, B);
    dkm_la_trsm('T', A, B);
    dkm_la_symm('L', 1.0, K, B, -1.0, C);
    CHECK_CLOSE(dkm_dmat_norm(C) / norm, 0.0, 1e-13); /* condition about 10, M rounding steps */
    dkm_dmat_destroy(&A);
    dkm_dmat_destroy(&K);
    dkm_dmat_destroy(&B);
    dkm_dmat_destroy(&C);
    dkm_grid_destroy(&grid);
}

typedef struct interruption {
    dkm_idx done;
    int strips;
} interruption;

static int every_strip(void *user, dkm_idx done)
{
    (void)user;
    return done > 0;
}

static dkm_status stop_after_one_strip(void *user, dkm_idx done)
{
    interruption *i = user;

    i->done = done;
    return i->strips++ == 0 ? DKM_ERR_NUMERIC : DKM_OK;
}

static void a_factorisation_goes_on_where_it_stopped(dkm_ctx *ctx)
{
    enum { M = 1300 };
    dkm_grid *grid = NULL;
    dkm_dmat *A = NULL, *whole = NULL;
    interruption seen = {0, 0};
    dkm_la_monitor watch = {&seen, every_strip, stop_after_one_strip};
    double shift = 2.0;
    dkm_idx minor = -1;

    CHECK_OK(ctx, dkm_grid_create(ctx, 0, 0, &grid));
    CHECK_OK(ctx, dkm_dmat_create(grid, M, M, 32, 32, DKM_F64, &A));
    CHECK_OK(ctx, dkm_dmat_create(grid, M, M, 32, 32, DKM_F64, &whole));
    dkm_dmat_fill(A, definite_lower, &shift);
    dkm_dmat_fill(whole, definite_lower, &shift);
    CHECK_OK(ctx, dkm_la_potrf(whole, &minor));
    CHECK(dkm_la_potrf_from(A, 0, &watch, &minor) == DKM_ERR_NUMERIC);
    CHECK(seen.done > 0 && seen.done < M);
    CHECK_OK(ctx, dkm_la_potrf_from(A, seen.done, &watch, &minor));
    CHECK(minor == 0 && seen.done == M && seen.strips > 2);
    for (dkm_idx jl = 0; jl < A->n_loc; jl++)
        for (dkm_idx il = 0; il < A->m_loc; il++)
            CHECK(dkm_dmat_at(A, il, jl) == dkm_dmat_at(whole, il, jl));
    dkm_dmat_destroy(&whole);
    dkm_dmat_destroy(&A);
    dkm_grid_destroy(&grid);
}

static dkm_status factor_once(dkm_ctx *ctx)
{
    dkm_status status = DKM_OK;
    dkm_grid *grid = NULL;
    dkm_dmat *A = NULL;
    double shift = 2.0;
    double rows[2 * 20] = {0};
    dkm_idx minor;

    DKM_TRY(dkm_grid_create(ctx, 0, 0, &grid));
    DKM_TRY(dkm_dmat_create(grid, 20, 20, 4, 4, DKM_F64, &A));
    dkm_dmat_fill(A, definite_lower, &shift);
    DKM_TRY(dkm_dmat_symmetrize('L', A));
    DKM_TRY(dkm_la_potrf(A, &minor));
    DKM_TRY(dkm_la_potrs_multivec(A, 2, rows));
out:
    dkm_dmat_destroy(&A);
    dkm_grid_destroy(&grid);
    return status;
}

static void failing_allocations_are_agreed_on(dkm_ctx *ctx)
{
    check_every_allocation(ctx, dkm_ctx_size(ctx) - 1, factor_once);
}

static double first_minors_good(void *user, dkm_idx ig, dkm_idx jg)
{
    return ig != jg ? 0.0 : ig == *(dkm_idx *)user ? -1.0 : 1.0;
}

static void the_bad_minor_is_named_on_all_ranks(dkm_ctx *ctx)
{
    dkm_grid *grid = NULL;

    CHECK_OK(ctx, dkm_grid_create(ctx, 0, 0, &grid));
    for (dkm_idx bad = 0; bad < 1500; bad += 499) {
        dkm_dmat *A = NULL;
        dkm_idx minor = 0;
        CHECK_OK(ctx, dkm_dmat_create(grid, 1500, 1500, 32, 32, DKM_F64, &A));
        dkm_dmat_fill(A, first_minors_good, &bad);
        CHECK_OK(ctx, dkm_la_potrf(A, &minor));
        CHECK(minor == bad + 1);
        dkm_dmat_destroy(&A);
    }
    dkm_grid_destroy(&grid);
}

/* Singular values of a tall matrix with fewer rows than columns on most ranks. */
static void a_tall_matrix_is_decomposed(dkm_ctx *ctx)
{
    enum { COLS = 9, ROWS = 25 };
    double s[COLS], Y[COLS * COLS], gram[COLS * COLS], values[COLS];
    dkm_idx first = dkm_slab_first(ROWS, dkm_ctx_rank(ctx), dkm_ctx_size(ctx));
    dkm_idx count = dkm_slab_count(ROWS, dkm_ctx_rank(ctx), dkm_ctx_size(ctx));
    double rows[ROWS * COLS];

    for (int k = 0; k < count * COLS; k++)
        rows[k] = dkm_random_normal(12, 3, (uint64_t)(first + k / COLS), (uint64_t)(k % COLS));
    CHECK_OK(ctx, dkm_tsqr_svd(ctx, count, COLS, rows, s, Y));
    for (int ij = 0; ij < COLS * COLS; ij++) {
        gram[ij] = 0;
        for (int i = 0; i < ROWS; i++)
            gram[ij] += dkm_random_normal(12, 3, (uint64_t)i, (uint64_t)(ij % COLS)) *
                        dkm_random_normal(12, 3, (uint64_t)i, (uint64_t)(ij / COLS));
    }
    for (int i = 0; i < COLS; i++)
        for (int j = 0; j < COLS; j++) {
            double sum = 0;
            for (int k = 0; k < COLS; k++)
                sum += gram[i + k * COLS] * Y[k + j * COLS];
            CHECK_CLOSE(sum, s[j] * s[j] * Y[i + j * COLS], 1e-12 * s[0] * s[0]);
        }
    reference_eigen(COLS, gram, values, NULL);
    for (int j = 0; j < COLS; j++)
        CHECK_CLOSE(s[j], sqrt(values[j]), 1e-12 * s[0]);
}

/* More columns than are folded in at a time: L L' = A'A. */
static void a_triangle_of_many_columns_is_that_of_all_rows(dkm_ctx *ctx)
{
    enum { COLS = 530, ROWS = 560, EVERY = 7 };
    dkm_idx first = dkm_slab_first(ROWS, dkm_ctx_rank(ctx), dkm_ctx_size(ctx));
    dkm_idx count = dkm_slab_count(ROWS, dkm_ctx_rank(ctx), dkm_ctx_size(ctx));
    double *rows = calloc(ROWS * COLS, sizeof *rows), *L = calloc(COLS * COLS, sizeof *L);

    for (dkm_idx k = 0; k < ROWS * COLS; k++)
        rows[k] = dkm_random_uniform(13, 4, (uint64_t)(k / COLS), (uint64_t)(k % COLS));
    CHECK_OK(ctx, dkm_tsqr(ctx, count, COLS, rows + first * COLS, L));
    for (int i = 0; i < COLS; i += EVERY)
        for (int j = 0; j < COLS; j++) {
            double product = 0, gram = 0;
            for (int k = 0; k < COLS; k++)
                product += L[i + k * COLS] * L[j + k * COLS];
            for (int k = 0; k < ROWS; k++)
                gram += rows[k * COLS + i] * rows[k * COLS + j];
            CHECK_CLOSE(product, gram, 1e-12 * ROWS * COLS);
            CHECK(j <= i || L[i + j * COLS] == 0);
        }
    free(rows);
    free(L);
}

static const check_case cases[] = {
    CASE(products_match_the_oracle),
    CASE(columns_are_copied_exactly),
    CASE(a_triangle_is_mirrored_exactly),
    CASE(cholesky_solves_what_elimination_solves),
    CASE(a_few_columns_are_solved_for_in_slabs),
    CASE(factors_are_inverted_in_place),
    CASE(a_matrix_of_several_strips_is_factored),
    CASE(the_bad_minor_is_named_on_all_ranks),
    CASE(a_triangle_too_large_for_scalapack_is_factored),
    CASE(a_tall_matrix_is_decomposed),
    CASE(a_triangle_of_many_columns_is_that_of_all_rows),
    CASE(a_factorisation_goes_on_where_it_stopped),
    CASE(failing_allocations_are_agreed_on),
};

CHECK_MAIN(cases)
