/* Ridge regression for a list of gammas with leave-one-out or generalized cross-validation
 * errors (loo.c): opens the system, dual or primal, chooses a solver (path_autotune.c) and the
 * best gamma.
 *
 *     cholesky   one factorization per gamma            path_cholesky.c
 *     eigen      one eigendecomposition for all         path_eigen.c
 *     band       one reduction to a band for all        path_band.c
 *     pcg        landmarks                              solvers/nystroem */
#include <dkmap/ridge_path.h>

#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/minmax.h"
#include "core/uniform.h"
#include "solvers/operators/normal_equations.h"
#include "solvers/ridge_path/path_impl.h"

#define REFINE_STEPS  3
#define REFINED       1e-13 /* a relative residual */
#define MEMORY_MARGIN 1.1   /* of the matrices' bytes: panels, buffers, vectors */

dkm_path_settings dkm_path_settings_default(void)
{
    return (dkm_path_settings){.work_bytes = 67108864.0};
}

void dkm_path_info_free(dkm_path_info *info)
{
    DKM_FREE(info->points);
}

static dkm_local check_gammas(dkm_ctx *ctx, const dkm_path_settings *s)
{
    if (s->count < 1 || s->count > DKM_PATH_MOST)
        return dkm_fail(ctx, DKM_ERR_ARG, "a list of %lld gammas: there can be 1 to %d",
                        (long long)s->count, DKM_PATH_MOST);
    for (dkm_idx g = 0; g < s->count; g++)
        if (!(s->gammas[g] > 0) || !isfinite(s->gammas[g]))
            return dkm_fail(ctx, DKM_ERR_ARG, "gamma = %g: the ridge must be a number above 0",
                            s->gammas[g]);
    return DKM_LOCAL_OK;
}

static dkm_local check_run(const dkm_path_run *run, const dkm_dmat *Y)
{
    dkm_local local = check_gammas(run->ctx, run->settings);

    if (local.code != DKM_OK)
        return local;
    if (dkm_dmat_rows(Y) != run->m || dkm_dmat_row_block(Y) != run->nb)
        return dkm_fail(run->ctx, DKM_ERR_ARG, "a ridge path of %lld inputs with %lld outputs",
                        (long long)run->m, (long long)dkm_dmat_rows(Y));
    if (run->m < 1 || run->k < 1 || dkm_dmat_cols(Y) < 1)
        return dkm_fail(run->ctx, DKM_ERR_ARG, "a ridge path of nothing: no rows or no columns");
    if (run->errors && run->settings->means && run->m < 2)
        return dkm_fail(run->ctx, DKM_ERR_ARG,
                        "leaving out the only example leaves no mean: give at least two, or no "
                        "intercept");
    return DKM_LOCAL_OK;
}

static dkm_local path_check_memory(dkm_path_run *run, dkm_idx cols)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx count = run->settings->count;

    DKM_STEP(dkm_multivec_init(&run->T, run->ctx, run->m, cols));
    DKM_STEP(dkm_multivec_init(&run->B, run->ctx, run->k, cols));
    if (run->errors && run->settings->means)
        DKM_STEP(dkm_multivec_init(&run->one, run->ctx, run->k, 1));
    if (run->X)
        DKM_STEP(dkm_multivec_init(&run->R, run->ctx, run->k, cols));
    DKM_STEP(dkm_alloc(run->ctx, count, &run->points));
    for (dkm_idx g = 0; g < count; g++)
        run->points[g] = (dkm_path_point){run->settings->gammas[g], NAN, NAN, NAN, NAN, NAN};
    run->T.cols = run->B.cols = cols;
    DKM_STEP(dkm_loo_open(&run->loo, &run->T, run->m, run->settings));
out:
    return local;
}

/* The right-hand side of ones: X'1 in the primal. */
static dkm_status path_make_ones(dkm_path_run *run)
{
    dkm_status status = DKM_OK;
    dkm_multivec ones = {0}, *to = run->X ? &ones : &run->one;

    if (!run->one.a)
        return DKM_OK;
    if (run->X)
        DKM_AGREE(run->ctx, dkm_multivec_init(&ones, run->ctx, run->m, 1));
    to->cols = 1;
    for (dkm_idx i = 0; i < to->n; i++)
        to->a[i] = dkm_path_one(run, i);
    if (run->X)
        DKM_TRY(dkm_normal_equations_rhs(run->X, &ones, &run->one));
out:
    dkm_multivec_free(&ones);
    return status;
}

static dkm_status path_open_run(dkm_path_run *run, const dkm_dmat *Y)
{
    dkm_status status = DKM_OK;

    run->grid = dkm_dmat_grid(Y);
    run->ctx = dkm_grid_ctx(run->grid);
    run->m = run->X ? dkm_data_rows(run->X) : dkm_prepared_rows(run->product.X);
    run->k = run->X ? dkm_data_cols(run->X) : run->m;
    run->errors = run->settings->errors || run->settings->count > 1;
    DKM_AGREE(run->ctx, check_run(run, Y));
    DKM_AGREE(run->ctx, path_check_memory(run, dkm_dmat_cols(Y)));
    DKM_TRY(dkm_dmat_to_rows(Y, run->T.a));
    if (run->X)
        DKM_TRY(dkm_normal_equations_rhs(run->X, &run->T, &run->R));
    else
        run->R = run->T;
    DKM_TRY(path_make_ones(run));
out:
    return status;
}

static void path_close_run(dkm_path_run *run)
{
    dkm_loo_close(&run->loo);
    dkm_dmat_destroy(&run->A);
    DKM_FREE(run->points);
    if (run->X)
        dkm_multivec_free(&run->R);
    dkm_multivec_free(&run->one);
    dkm_multivec_free(&run->B);
    dkm_multivec_free(&run->T);
}

double dkm_path_error(const dkm_path_run *run, dkm_idx gamma)
{
    const dkm_path_point *point = &run->points[gamma];

    return run->settings->select == DKM_SELECT_GCV ? point->gcv : point->loo;
}

/* A best gamma at an end of the list hints at better ones beyond it. */
static void path_report_ends(const dkm_path_run *run)
{
    const dkm_path_settings *s = run->settings;
    double best = s->gammas[run->best];
    int least = 1, most = 1;

    for (dkm_idx g = 0; g < s->count; g++) {
        least = least && best <= s->gammas[g];
        most = most && best >= s->gammas[g];
    }
    if (s->count > 2 && !s->grows && (least || most))
        dkm_log(run->ctx, DKM_INFO,
                "the best gamma, %g, is the %s of the list: %s ones may be better still", best,
                least ? "smallest" : "largest", least ? "smaller" : "larger");
}

dkm_status dkm_path_select_best(dkm_path_run *run)
{
    dkm_status status = DKM_OK;

    run->best = 0;
    if (!run->errors)
        return DKM_OK;
    for (dkm_idx g = 1; g < run->settings->count; g++)
        if (!isfinite(dkm_path_error(run, run->best)) ||
            dkm_path_error(run, g) < dkm_path_error(run, run->best))
            run->best = g;
    DKM_REQUIRE(run->ctx, isfinite(dkm_path_error(run, run->best)), DKM_ERR_NUMERIC,
                "no gamma of the list gives a finite error: use larger ones");
    path_report_ends(run);
out:
    return status;
}

static dkm_status path_apply_matrix(const dkm_path_run *run, dkm_multivec *V)
{
    return dkm_kernel_op_multiply(&run->product, V);
}

/* R - A B - gamma B; where coefficients are penalized, K (T - K B) - gamma B of K T. */
dkm_status dkm_path_residual(dkm_path_run *run, double gamma, double largest, dkm_multivec *R)
{
    dkm_status status = DKM_OK;
    double norm = dkm_multivec_norm(&run->R), left;

    if (dkm_path_penalizes_coefficients(run)) {
        dkm_multivec_copy(&run->R, R);
        DKM_TRY(path_apply_matrix(run, R));
        norm = dkm_multivec_norm(R);
    }
    dkm_multivec_copy(&run->B, R);
    DKM_TRY(path_apply_matrix(run, R));
    dkm_multivec_scale(-1.0, R); /* R - A B */
    dkm_multivec_axpy(1.0, &run->R, R);
    if (dkm_path_penalizes_coefficients(run))
        DKM_TRY(path_apply_matrix(run, R));
    dkm_multivec_axpy(-gamma, &run->B, R);
    left = dkm_multivec_norm(R);
    run->ridge.residual = norm > 0 ? left / norm : left;
    run->ridge.backward =
        norm > 0 ? left / ((largest + gamma) * dkm_multivec_norm(&run->B) + norm) : 0.0;
out:
    return status;
}

dkm_status dkm_path_refine(dkm_path_run *run, double gamma, double largest,
                           dkm_path_correct correct, void *state)
{
    dkm_status status = DKM_OK;
    dkm_multivec R = {0};

    DKM_AGREE(run->ctx, dkm_multivec_init(&R, run->ctx, run->k, run->B.cols));
    DKM_TRY(dkm_path_residual(run, gamma, largest, &R));
    for (int step = 0; step < REFINE_STEPS && run->ridge.residual > REFINED; step++) {
        dkm_ridge_info before = run->ridge;
        DKM_TRY(correct(state, &R));
        DKM_TRY(dkm_path_residual(run, gamma, largest, &R));
        run->ridge.steps = step + 1;
        if (run->ridge.residual < before.residual)
            continue;
        DKM_TRY(correct(state, NULL));
        run->ridge = before;
        break;
    }
out:
    dkm_multivec_free(&R);
    return status;
}

dkm_idx dkm_path_chunk(const dkm_path_run *run)
{
    double rows = run->settings->work_bytes / (16.0 * (double)(run->k + run->T.cols));

    return dkm_idx_clamp(rows, dkm_slab_count(run->m, 0, dkm_ctx_size(run->ctx)));
}

dkm_status dkm_path_inputs(const dkm_path_run *run, dkm_idx first, dkm_dmat **E)
{
    dkm_status status = DKM_OK;
    dkm_idx chunk = dkm_path_chunk(run);
    double *rows = NULL;

    *E = NULL;
    DKM_AGREE(run->ctx, dkm_alloc(run->ctx, chunk * run->k, &rows));
    DKM_TRY(dkm_dmat_create(run->grid, chunk * dkm_ctx_size(run->ctx), run->k, run->nb, run->nb,
                            DKM_F64, E));
    dkm_normal_equations_rows(run->X, first, chunk, run->k, rows);
    DKM_TRY(dkm_dmat_from_rows(*E, rows));
out:
    if (status != DKM_OK)
        dkm_dmat_destroy(E);
    DKM_FREE(rows);
    return status;
}

void dkm_path_complement(const dkm_path_run *run, const dkm_loo_piece *piece, double *fit)
{
    const dkm_multivec *T = &run->T;

    for (dkm_idx i = 0; i < piece->rows; i++)
        for (dkm_idx j = 0; j < piece->cols; j++)
            fit[i * piece->part[0].ldb + j] =
                T->a[(piece->row + i) * T->ld + piece->col + j] - fit[i * piece->part[0].ldb + j];
}

/* Elements of the system's matrix on this rank. */
static double path_local_elements(const dkm_path_run *run)
{
    const dkm_grid *g = run->grid;

    return (double)dkm_cyclic_count(run->k, run->nb, dkm_grid_row(g), dkm_grid_rows(g)) *
           (double)dkm_cyclic_count(run->k, run->nb, dkm_grid_col(g), dkm_grid_cols(g));
}

static dkm_status path_make_matrix(dkm_path_run *run, const dkm_kernel *kernel)
{
    dkm_status status = DKM_OK;

    DKM_TRY(dkm_memory_check(run->ctx, MEMORY_MARGIN * 8.0 * path_local_elements(run),
                             run->X ? "the matrix of the inputs' moments"
                                    : "the kernel matrix in double precision"));
    if (run->X)
        DKM_TRY(dkm_normal_equations_matrix(run->grid, run->X, run->nb, &run->A));
    else
        DKM_TRY(dkm_gram(run->grid, kernel, run->product.X, run->nb, DKM_F64, &run->A));
    DKM_REQUIRE(run->ctx, isfinite(dkm_dmat_norm(run->A)), DKM_ERR_NUMERIC,
                "the kernel matrix holds infinite or undefined values; check the data and the "
                "kernel");
out:
    return status;
}

static dkm_status path_return_solution(dkm_path_run *run, const char *solver, dkm_dmat **B,
                                       dkm_path_info *info)
{
    dkm_status status = DKM_OK;
    dkm_dmat *S = NULL;

    DKM_TRY(dkm_dmat_create(run->grid, run->k, run->B.cols, run->nb, run->nb, DKM_F64, &S));
    DKM_TRY(dkm_dmat_from_rows(S, run->B.a));
    *info = (dkm_path_info){run->settings->count, run->best, run->points, solver, run->ridge};
    run->points = NULL;
    *B = S;
    S = NULL;
out:
    dkm_dmat_destroy(&S);
    return status;
}

static const char *solver_name(dkm_path_solver solver)
{
    return solver == DKM_PATH_EIGEN ? "eigen" : solver == DKM_PATH_BAND ? "band" : "cholesky";
}

static dkm_status path_solve(dkm_path_run *run, const dkm_kernel *kernel, const dkm_dmat *Y,
                             dkm_dmat **B, dkm_path_info *info)
{
    dkm_status status = DKM_OK;
    dkm_path_solver solver = run->settings->solver;

    *B = NULL;
    *info = (dkm_path_info){0};
    DKM_TRY(path_open_run(run, Y));
    DKM_CHECK_UNIFORM(run->ctx, run->settings->count);
    DKM_CHECK_UNIFORM(run->ctx, run->settings->gammas[0]);
    run->product.grid = run->grid;
    run->product.nb = run->nb;
    DKM_TRY(path_make_matrix(run, kernel));
    DKM_TRY(dkm_path_choose_solver(run, &solver));
    DKM_TRY(solver == DKM_PATH_EIGEN  ? dkm_path_by_eigen(run)
            : solver == DKM_PATH_BAND ? dkm_path_by_band(run)
                                      : dkm_path_by_cholesky(run));
    DKM_TRY(path_return_solution(run, solver_name(solver), B, info));
out:
    path_close_run(run);
    return status;
}

dkm_status dkm_ridge_path(const dkm_kernel *kernel, const dkm_prepared *X, dkm_idx nb,
                          const dkm_path_settings *settings, const dkm_dmat *Y, dkm_dmat **B,
                          dkm_path_info *info)
{
    dkm_path_run run = {.nb = nb, .settings = settings, .product = {.X = X}};

    return path_solve(&run, kernel, Y, B, info);
}

dkm_status dkm_ridge_primal(const dkm_data *X, dkm_idx nb, const dkm_path_settings *settings,
                            const dkm_dmat *Y, dkm_dmat **W, dkm_path_info *info)
{
    dkm_path_run run = {.nb = nb, .settings = settings, .X = X};

    return path_solve(&run, NULL, Y, W, info);
}
