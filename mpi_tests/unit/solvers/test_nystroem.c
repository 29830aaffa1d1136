/* Landmark ridge against the dense normal equations (K_nm K_mn + gamma K_nn) A = K_nm T. */
#include <math.h>
#include <string.h>

#include <dkmap/krr.h>
#include <dkmap/random.h>

#include "core/alloc.h"
#include "io/archive/archive.h"
#include "models/krr/krr_autotune.h"
#include "models/registry/model_impl.h"
#include "reference/reference_linalg.h"
#include "solvers/nystroem/nystroem_impl.h"
#include "support/check.h"
#include "support/scratch.h"

enum { M = 61, N = 9, D = 3, MOST = 3 };

static const double GAMMA = 0.05;

static double entry(dkm_idx i, dkm_idx j)
{
    return dkm_random_normal(7, 0, (uint64_t)i, (uint64_t)j);
}

static double target(dkm_idx i, dkm_idx j)
{
    return sin(entry(i, 0) + (double)j) + 0.1 * entry(i, 7 + j);
}

static double kernel_value(dkm_idx a, dkm_idx b)
{
    double gap = 0;

    for (dkm_idx j = 0; j < D; j++)
        gap += (entry(a, j) - entry(b, j)) * (entry(a, j) - entry(b, j));
    return exp(-gap / (2 * 1.5 * 1.5));
}

static dkm_status make_inputs(dkm_ctx *ctx, dkm_data **X)
{
    dkm_status status = dkm_data_create_dense(ctx, M, D, X);

    for (dkm_idx k = 0; status == DKM_OK && k < dkm_data_local_rows(*X) * D; k++)
        dkm_data_values(*X)[k] = entry(dkm_data_local_first(*X) + k / D, k % D);
    return status;
}

static dkm_status make_outputs(dkm_ctx *ctx, dkm_idx p, dkm_data **Y)
{
    dkm_status status = dkm_data_create_dense(ctx, M, p, Y);

    for (dkm_idx k = 0; status == DKM_OK && k < dkm_data_local_rows(*Y) * p; k++)
        dkm_data_values(*Y)[k] = target(dkm_data_local_first(*Y) + k / p, k % p);
    return status;
}

/* The n x p solution, column-major. */
static void reference_landmark_ridge(dkm_idx n, const dkm_idx *places, dkm_idx p, double *A)
{
    double G[M * M];

    for (dkm_idx a = 0; a < n; a++) {
        for (dkm_idx b = 0; b < n; b++) {
            double sum = GAMMA * kernel_value(places[a], places[b]);
            for (dkm_idx i = 0; i < M; i++)
                sum += kernel_value(i, places[a]) * kernel_value(i, places[b]);
            G[a + b * n] = sum;
        }
        for (dkm_idx j = 0; j < p; j++) {
            A[a + j * n] = 0;
            for (dkm_idx i = 0; i < M; i++)
                A[a + j * n] += kernel_value(i, places[a]) * target(i, j);
        }
    }
    reference_solve((int)n, (int)p, G, A);
}

typedef struct trial {
    dkm_idx n, p;
    dkm_ridge_precision precision;
    dkm_storage keep;
    const char *file; /* inputs are read anew from it; NULL: stored */
} trial;

/* Solve a trial; @p A is new. */
static dkm_status solve(dkm_ctx *ctx, const trial *t, dkm_idx *places, dkm_dmat **A,
                        dkm_nystroem_info *info)
{
    dkm_status status = DKM_OK;
    dkm_nystroem_settings settings = {
        .landmarks = t->n, .precision = t->precision, .keep = t->keep, .tolerance = 1e-11};
    dkm_nystroem_problem parts = {.nb = 4};
    dkm_data *X = NULL, *Y = NULL, *C = NULL;
    dkm_kernel *kernel = NULL;
    dkm_prepared *landmarks = NULL;
    dkm_source *source = NULL;
    dkm_input_stream feed = {0};
    dkm_nystroem s = {0};

    DKM_TRY(dkm_grid_create(ctx, 0, 0, &parts.grid));
    DKM_TRY(make_inputs(ctx, &X));
    DKM_TRY(make_outputs(ctx, t->p, &Y));
    DKM_TRY(dkm_kernel_parse(ctx, "rbf(sigma=1.5)", &kernel));
    if (t->file)
        DKM_TRY(dkm_source_open(ctx, t->file, DKM_INPUTS, NULL, &source));
    feed = dkm_input_stream_open(t->file ? NULL : X, source, ctx);
    feed.each = t->file ? 4 : feed.each;
    DKM_TRY(dkm_landmarks_uniform(ctx, M, t->n, places));
    DKM_TRY(dkm_input_stream_select(&feed, t->n, places, &C));
    DKM_TRY(dkm_kernel_prepare(kernel, C, &landmarks));
    DKM_TRY(dkm_input_stream_bind(&feed, landmarks));
    parts.kernel = kernel;
    parts.C = landmarks;
    parts.feed = &feed;
    DKM_TRY(dkm_nystroem_open(&s, &parts, &settings));
    DKM_TRY(dkm_nystroem_ridge(&s, &settings, GAMMA, t->p, dkm_data_values(Y), A, info));
out:
    dkm_nystroem_close(&s);
    dkm_input_stream_close(&feed);
    dkm_source_close(&source);
    dkm_prepared_destroy(&landmarks);
    dkm_kernel_destroy(&kernel);
    dkm_data_destroy(&C);
    dkm_data_destroy(&Y);
    dkm_data_destroy(&X);
    if (status != DKM_OK || !*A)
        dkm_grid_destroy(&parts.grid);
    return status;
}

static void destroy(dkm_dmat **A)
{
    dkm_grid *grid = *A ? dkm_dmat_grid(*A) : NULL;

    dkm_dmat_destroy(A);
    dkm_grid_destroy(&grid);
}

/* The exact coefficients of all inputs by landmarks as preconditioner, against elimination. Kernel
 * values that are single precision are off by 1e-7, times a condition of 1e3. */
static void check_full(dkm_ctx *ctx, dkm_idx n, double gamma, dkm_storage keep,
                       dkm_ridge_precision precision)
{
    static double K[M * M], want[M * 2];
    dkm_nystroem_settings settings = {
        .landmarks = n, .all_centers = 1, .keep = keep, .precision = precision};
    double tolerance = precision == DKM_RIDGE_MIXED ? 1e-4 : 1e-8;
    dkm_krr_settings krr = dkm_krr_settings_default();
    dkm_data *X = NULL, *Y = NULL;
    dkm_kernel *kernel = NULL;
    dkm_model *model = NULL;
    dkm_krr_info info = {0};
    double scale = 0;

    krr.solver = DKM_PATH_PCG;
    krr.nystroem = settings;
    krr.ridge.gamma = gamma;
    CHECK_OK(ctx, make_inputs(ctx, &X));
    CHECK_OK(ctx, make_outputs(ctx, 2, &Y));
    CHECK_OK(ctx, dkm_kernel_parse(ctx, "rbf(sigma=1.5)", &kernel));
    CHECK_OK(ctx, dkm_krr_fit(ctx, X, Y, kernel, &krr, &model, &info));
    CHECK(info.nystroem.converged && info.nystroem.all_centers);
    CHECK(info.nystroem.matrix_stored == (keep != DKM_RECOMPUTE));
    /* all M rows are looked at: what rounding the values to single precision leaves, and no less */
    if (precision == DKM_RIDGE_MIXED)
        CHECK(info.nystroem.checked > 1e-9 && info.nystroem.checked < 1e-4);
    else
        CHECK(isnan(info.nystroem.checked));
    for (dkm_idx i = 0; i < M; i++) {
        for (dkm_idx j = 0; j < M; j++)
            K[i + j * M] = kernel_value(i, j) + (i == j ? gamma : 0.0);
        for (dkm_idx j = 0; j < 2; j++)
            want[i + j * M] = target(i, j);
    }
    reference_solve(M, 2, K, want);
    for (dkm_idx k = 0; k < 2 * M; k++)
        scale = fmax(scale, fabs(want[k]));
    if (model) {
        dkm_archive archive = dkm_archive_empty(ctx);
        dkm_data *B = NULL;
        CHECK_OK(ctx, dkm_model_to_archive(model, &archive));
        CHECK_OK(ctx, dkm_agree(ctx, dkm_archive_take_data(&archive, "coefficients", &B)));
        for (dkm_idx k = 0; B && k < dkm_data_local_rows(B) * 2; k++)
            CHECK_CLOSE(dkm_data_values(B)[k], want[dkm_data_local_first(B) + k / 2 + (k % 2) * M],
                        tolerance * scale);
        dkm_data_destroy(&B);
        dkm_archive_clear(&archive);
    }
    dkm_model_destroy(&model);
    dkm_krr_info_free(&info);
    dkm_kernel_destroy(&kernel);
    dkm_data_destroy(&Y);
    dkm_data_destroy(&X);
}

/* A residual that is easily met, in single precision throughout, is what it is said to be. */
static void coarse_residuals_are_honest(dkm_ctx *ctx)
{
    for (int keep = 0; keep < 2; keep++) {
        dkm_krr_settings krr = dkm_krr_settings_default();
        dkm_data *X = NULL, *Y = NULL;
        dkm_kernel *kernel = NULL;
        dkm_model *model = NULL;
        dkm_krr_info info = {0};

        krr.solver = DKM_PATH_PCG;
        krr.nystroem = (dkm_nystroem_settings){.landmarks = N,
                                               .all_centers = 1,
                                               .tolerance = 0.01,
                                               .precision = DKM_RIDGE_MIXED,
                                               .keep = keep ? DKM_STORE : DKM_RECOMPUTE};
        krr.ridge.gamma = GAMMA;
        CHECK_OK(ctx, make_inputs(ctx, &X));
        CHECK_OK(ctx, make_outputs(ctx, MOST, &Y));
        CHECK_OK(ctx, dkm_kernel_parse(ctx, "rbf(sigma=1.5)", &kernel));
        CHECK_OK(ctx, dkm_krr_fit(ctx, X, Y, kernel, &krr, &model, &info));
        CHECK(info.nystroem.converged && info.nystroem.residual <= 0.01);
        CHECK(info.nystroem.residual > 1e-6);
        CHECK_CLOSE(info.nystroem.checked, info.nystroem.residual, 1e-4);
        dkm_model_destroy(&model);
        dkm_krr_info_free(&info);
        dkm_kernel_destroy(&kernel);
        dkm_data_destroy(&Y);
        dkm_data_destroy(&X);
    }
}

static void all_inputs_as_centres_give_the_exact_fit(dkm_ctx *ctx)
{
    check_full(ctx, 1, 0.05, DKM_RECOMPUTE, DKM_RIDGE_AUTO);
    check_full(ctx, 20, 0.05, DKM_RECOMPUTE, DKM_RIDGE_AUTO);
    check_full(ctx, 20, 0.05, DKM_STORAGE_AUTO, DKM_RIDGE_AUTO);
    check_full(ctx, M, 1e-4, DKM_STORE, DKM_RIDGE_AUTO);
    for (int keep = 0; keep < 2; keep++)
        check_full(ctx, 20, 0.05, keep ? DKM_STORE : DKM_RECOMPUTE, DKM_RIDGE_MIXED);
}

/* ||f(X) - T|| / ||T|| of the coefficients of the oracle. */
static double reference_fit(dkm_idx n, const dkm_idx *places, dkm_idx p, const double *A)
{
    double off = 0, size = 0;

    for (dkm_idx i = 0; i < M; i++)
        for (dkm_idx j = 0; j < p; j++) {
            double f = 0;
            for (dkm_idx a = 0; a < n; a++)
                f += kernel_value(i, places[a]) * A[a + j * n];
            off += (f - target(i, j)) * (f - target(i, j));
            size += target(i, j) * target(i, j);
        }
    return sqrt(off / size);
}

static void check_trial(dkm_ctx *ctx, trial t)
{
    double want[M * MOST], got[M * MOST], scale = 0;
    /* the systems have condition numbers up to 1e5, and single kernel values are off by 1e-7 */
    double tolerance = t.precision == DKM_RIDGE_DOUBLE ? 1e-8 : 2e-3;
    dkm_idx places[M];
    dkm_nystroem_info info;
    dkm_dmat *A = NULL;

    CHECK_OK(ctx, solve(ctx, &t, places, &A, &info));
    if (!A)
        return;
    reference_landmark_ridge(t.n, places, t.p, want);
    reference_gather(A, got);
    for (dkm_idx k = 0; k < t.n * t.p; k++)
        scale = fmax(scale, fabs(want[k]));
    for (dkm_idx k = 0; k < t.n * t.p; k++)
        CHECK_CLOSE(got[k], want[k], tolerance * scale);
    CHECK_CLOSE(info.fit, reference_fit(t.n, places, t.p, want), 1e-5);
    CHECK(info.converged && info.steps > 0 && info.residual <= 1e-11);
    CHECK(info.history[info.steps - 1] <= 1e-10 && info.landmarks == t.n);
    CHECK(info.streamed == (t.file != NULL));
    CHECK(info.stored == (t.keep == DKM_STORE && !t.file));
    destroy(&A);
}

static void coefficients_are_those_of_the_normal_equations(dkm_ctx *ctx)
{
    static const dkm_idx counts[] = {1, N, 25};

    for (int k = 0; k < 3; k++)
        for (dkm_idx p = 1; p <= MOST; p += 2)
            for (int single = 0; single < 2; single++) {
                int keep = (k + (int)p + single) % 2;
                check_trial(ctx, (trial){.n = counts[k],
                                         .p = p,
                                         .keep = keep ? DKM_STORE : DKM_RECOMPUTE,
                                         .precision = single ? DKM_RIDGE_MIXED : DKM_RIDGE_DOUBLE});
            }
}

static void inputs_may_be_read_anew_in_every_step(dkm_ctx *ctx)
{
    char path[SCRATCH_LENGTH];
    dkm_data *X = NULL;

    scratch_path(ctx, "inputs.npy", path);
    CHECK_OK(ctx, make_inputs(ctx, &X));
    CHECK_OK(ctx, dkm_data_write(X, path));
    dkm_data_destroy(&X);
    check_trial(ctx, (trial){.n = N, .p = 2, .precision = DKM_RIDGE_DOUBLE, .file = path});
    scratch_remove(ctx, path);
}

/* What solver auto takes when so many bytes a rank are free, and so many seconds asked. */
static dkm_krr_settings choose(dkm_ctx *ctx, double bytes, double seconds, dkm_idx landmarks)
{
    dkm_krr_settings krr = dkm_krr_settings_default();
    double held, all = 0;
    char reason[DKM_KRR_REASON];
    dkm_kernel *kernel = NULL;
    dkm_data *X = NULL;

    krr.seconds = seconds;
    krr.nystroem.landmarks = landmarks;
    krr.rates = (dkm_krr_rates){1e-9, 1e-9, 1e-9}; /* 4e-9 s a value, 1 s in 1e9 operations */
    CHECK_OK(ctx, make_inputs(ctx, &X));
    CHECK_OK(ctx, dkm_kernel_parse(ctx, "rbf(sigma=1.5)", &kernel));
    held = (double)dkm_ctx_live_bytes(ctx);
    MPI_Allreduce(&held, &all, 1, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(ctx));
    dkm_ctx_set_memory(ctx, all + bytes * dkm_ctx_size(ctx));
    CHECK_OK(ctx, dkm_krr_autotune(X, 1, kernel, &krr, reason));
    dkm_ctx_set_memory(ctx, 0);
    dkm_kernel_destroy(&kernel);
    dkm_data_destroy(&X);
    return krr;
}

static void auto_takes_the_best_that_fits(dkm_ctx *ctx)
{
    /* the exact fit of so few rows, in double, takes 8.8 m^2 bytes, half a single matrix and 9 landmarks
     * 3.67 m^2, those alone 1.47; and every rank has the landmarks, which on 6 ranks is a third of m^2 */
    double matrix = (double)M * M / dkm_ctx_size(ctx), apart = 24.0 * N;
    dkm_krr_settings exact = choose(ctx, 9.2 * matrix, 0, N);
    dkm_krr_settings stored = choose(ctx, 3.7 * matrix + apart, 0, N);
    dkm_krr_settings few = choose(ctx, 2.0 * matrix + apart, 0, N);
    dkm_krr_settings slow = choose(ctx, 1e9, 1e-9, 0);

    CHECK(exact.solver == DKM_PATH_AUTO);
    CHECK(stored.solver == DKM_PATH_PCG && stored.nystroem.all_centers);
    CHECK(stored.nystroem.landmarks == N && stored.nystroem.tolerance > 1e-3);
    CHECK(few.solver == DKM_PATH_PCG && !few.nystroem.all_centers && few.nystroem.landmarks == N);
    CHECK(slow.solver == DKM_PATH_PCG && !slow.nystroem.all_centers);
}

static dkm_status attempt(dkm_ctx *ctx)
{
    trial t = {.n = 4, .p = 2};
    dkm_idx places[M];
    dkm_nystroem_info info;
    dkm_dmat *A = NULL;
    dkm_status status = solve(ctx, &t, places, &A, &info);

    destroy(&A);
    return status;
}

static void failing_allocations_are_agreed_on(dkm_ctx *ctx)
{
    check_every_allocation(ctx, dkm_ctx_size(ctx) - 1, attempt);
}

static const check_case cases[] = {
    CASE(coefficients_are_those_of_the_normal_equations),
    CASE(inputs_may_be_read_anew_in_every_step),
    CASE(all_inputs_as_centres_give_the_exact_fit),
    CASE(coarse_residuals_are_honest),
    CASE(auto_takes_the_best_that_fits),
    CASE(failing_allocations_are_agreed_on),
};

CHECK_MAIN(cases)
