/* Leading eigenpairs of K or of the centered H K H, H = I - 11'/m: by block Lanczos
 * (krylov/block_lanczos.h) if few are wanted, else by a full solve (linalg/eigen/syevd.h).
 *
 * Block Lanczos centers the vectors, H (K (H v)); a full solve centers the matrix itself. This is
 * the centering of kernel PCA (Schoelkopf, Smola and Mueller 1998, Neural Comput. 10(5):1299-1319,
 * doi:10.1162/089976698300017467). If a fraction of the trace is requested, the number of
 * components grows until they explain it. The signs of the vectors are fixed by their inner
 * products with a random vector, so they do not depend on the number of ranks.
 *
 * Cost per rank for p of m pairs: 2 m^2 (p + b) / ranks flops per basis of block Lanczos with
 * blocks of b, 4/3 m^3 / ranks to tridiagonal form and 2 m^2 p / ranks back for a full solve;
 * m^2 / ranks numbers. Replicated: eigenvalues and the m row means. */
#include <dkmap/eigen.h>

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <dkmap/kernel.h>
#include <dkmap/random.h>

#include "core/alloc.h"
#include "core/mpi_calls.h"
#include "core/uniform.h"
#include "linalg/eigen/syevd.h"
#include "linalg/linalg.h"
#include "linalg/symm/symm_multivec.h"
#include "solvers/eigen/eigen_autotune.h"
#include "solvers/eigen/eigen_checkpoint.h"
#include "solvers/krylov/block_lanczos.h"
#include "solvers/operators/fingerprint.h"

#define MAX_RESTARTS 60
#define SIGN_STREAM  0x7369676eu
#define FIRST_GUESS  16 /* components tried first when a share of the trace is asked for */

dkm_eigen_settings dkm_eigen_settings_default(void)
{
    return (dkm_eigen_settings){.center = 1, .tolerance = 1e-9, .cutoff = 1e-9};
}

void dkm_eigen_values_free(double **values)
{
    DKM_FREE(*values);
}

/* A run of the solver: the matrix, its lower triangle, and the pairs found. */
typedef struct run {
    dkm_ctx *ctx;
    dkm_dmat *K;
    dkm_idx m;
    const dkm_eigen_settings *settings;
    double *values, *means; /* means of a block's columns */
    double *row_means;      /* of K, where it is centered */
    double rounding;        /* what centering may leave of an eigenvalue that is zero */
    dkm_multivec vectors;
    dkm_symm product; /* memory of K V, between two products */
    dkm_eigen_info info;
} run;

static dkm_local eigen_check(dkm_ctx *ctx, const dkm_dmat *K, const dkm_eigen_settings *s)
{
    if (dkm_dmat_rows(K) != dkm_dmat_cols(K) || dkm_dmat_row_block(K) != dkm_dmat_col_block(K) ||
        dkm_dmat_precision(K) != DKM_F64)
        return dkm_fail(ctx, DKM_ERR_ARG,
                        "eigenpairs need a square double matrix in square blocks");
    if (s->components < 0 || (s->components == 0 && !(s->share > 0 && s->share <= 1)))
        return dkm_fail(ctx, DKM_ERR_ARG,
                        "components: give a number of at least 1 or a share up to 100%%");
    if (dkm_dmat_rows(K) == 0)
        return dkm_fail(ctx, DKM_ERR_ARG, "a matrix of no rows has no eigenvectors");
    return DKM_LOCAL_OK;
}

/* Y = K Q, or H K H Q where centered. */
static dkm_status eigen_apply_matrix(void *user, const dkm_multivec *Q, dkm_multivec *Y)
{
    run *r = user;
    dkm_status status = DKM_OK;

    dkm_multivec_copy(Q, Y);
    if (r->settings->center)
        dkm_multivec_center(Y, r->m, r->means);
    DKM_TRY(dkm_symm_apply_again(&r->product, 'L', r->K, Y, Y));
    dkm_phase_flops(r->ctx,
                    2.0 * (double)r->m * (double)r->m * (double)Q->cols / dkm_ctx_size(r->ctx));
    if (r->settings->center)
        dkm_multivec_center(Y, r->m, r->means);
out:
    return status;
}

/* trace(H K H) = trace(K) - 1'K1 / m */
static dkm_status eigen_trace(run *r)
{
    dkm_status status = DKM_OK;

    r->info.trace = dkm_dmat_mean_diagonal(r->K) * (double)r->m;
    if (!r->settings->center)
        return DKM_OK;
    DKM_AGREE(r->ctx, dkm_alloc(r->ctx, r->m, &r->row_means));
    DKM_TRY(dkm_gram_means(r->K, r->row_means));
    r->rounding = 8.0 * DBL_EPSILON * fabs(r->info.trace);
    for (dkm_idx j = 0; j < r->m; j++)
        r->info.trace -= r->row_means[j];
out:
    return status;
}

static dkm_local eigen_check_memory(run *r, dkm_idx p)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_FREE(r->values);
    DKM_FREE(r->means);
    dkm_multivec_free(&r->vectors);
    DKM_STEP(dkm_alloc(r->ctx, p, &r->values));
    DKM_STEP(dkm_alloc(r->ctx, dkm_block_lanczos_large_block(p), &r->means));
    DKM_STEP(dkm_multivec_init(&r->vectors, r->ctx, r->m, p));
out:
    return local;
}

static double eigen_explained(const run *r, dkm_idx p)
{
    double sum = 0;

    for (dkm_idx j = 0; j < p; j++)
        sum += r->values[j];
    return r->info.trace > 0 ? sum / r->info.trace : 1.0;
}

/* The block method for p components by blocks of so many columns, from earlier vectors where there
 * are any. */
static dkm_status lanczos_solve(run *r, dkm_idx p, dkm_idx block, const dkm_multivec *start,
                                dkm_block_lanczos_outcome *o)
{
    dkm_status status = DKM_OK;
    char print[DKM_FINGERPRINT_LENGTH], name[DKM_FINGERPRINT_LENGTH + 32];
    dkm_block_lanczos_settings s = {
        .m = r->m,
        .components = p,
        .block = block,
        .tolerance = r->settings->tolerance,
        .max_rounds = (int)(MAX_RESTARTS * dkm_block_lanczos_large_block(p) / block),
        .grid = dkm_dmat_grid(r->K),
        .name = name};
    const dkm_linop A = {eigen_apply_matrix, r};

    dkm_fingerprint_lower(r->K, print);
    snprintf(name, sizeof name, "%s, K=%s", r->settings->center ? "H K H" : "K", print);
    DKM_AGREE(r->ctx, eigen_check_memory(r, p));
    status = dkm_block_lanczos(r->ctx, &s, &A, start, r->values, &r->vectors, o);
    dkm_symm_free(&r->product);
    if (status != DKM_OK)
        goto out;
    r->info.rounds += o->rounds;
    r->info.products += o->products;
    r->info.residual = o->residual;
    r->info.components = o->found;
    r->info.solver = "block";
out:
    return status;
}

/* Whether blocks of so many columns can be used: the basis and the projected problem must fit
 * the memory. One who asks for the block method gets a refusal instead of the full one.
 * Collective. */
static int block_fits(run *r, dkm_idx p, dkm_idx block)
{
    int fits = dkm_memory_fits(r->ctx, dkm_krylov_bytes(r->m, dkm_ctx_size(r->ctx), p, block));

    return dkm_eigen_block_can(p, block) && (fits || r->settings->solver == DKM_EIGEN_BLOCK);
}

/* Narrow blocks take fewer products. Where they may have missed copies of a multiple eigenvalue,
 * blocks that cannot miss any go over it again. */
static dkm_status lanczos_solve_large_block(run *r, dkm_idx p, int *converged)
{
    dkm_status status = DKM_OK;
    dkm_multivec start = r->vectors;
    dkm_block_lanczos_outcome o;

    r->vectors = (dkm_multivec){0};
    DKM_TRY(lanczos_solve(r, p, dkm_block_lanczos_small_block(p), &start, &o));
    if (o.clustered && !block_fits(r, p, dkm_block_lanczos_large_block(p))) {
        dkm_log(r->ctx, DKM_DEBUG, "a multiple eigenvalue: no memory for wider blocks");
        o.converged = 0;
    } else if (o.clustered) {
        dkm_log(r->ctx, DKM_DEBUG, "a multiple eigenvalue: going over it with wider blocks");
        DKM_TRY(lanczos_solve(r, p, dkm_block_lanczos_large_block(p), NULL, &o));
    }
    *converged = o.converged;
out:
    dkm_multivec_free(&start);
    return status;
}

static void swap_doubles(double *a, double *b)
{
    double swapped = *a;

    *a = *b;
    *b = swapped;
}

/* The last p columns of Z and their eigenvalues, the last of them first. */
static dkm_status eigen_take_leading(run *r, const dkm_dmat *Z, const double *ascending, dkm_idx p)
{
    dkm_status status = DKM_OK;
    dkm_dmat *V = NULL;

    DKM_AGREE(r->ctx, eigen_check_memory(r, p));
    if (p < r->m) {
        DKM_TRY(dkm_dmat_create_like(Z, p, dkm_dmat_row_block(Z), DKM_F64, &V));
        dkm_la_lacpy_cols(Z, r->m - p, V);
    }
    DKM_TRY(dkm_dmat_to_rows(V ? V : Z, r->vectors.a));
    r->vectors.cols = p;
    for (dkm_idx i = 0; i < r->vectors.n; i++)
        for (dkm_idx j = 0; j < p / 2; j++)
            swap_doubles(&r->vectors.a[i * p + j], &r->vectors.a[i * p + p - 1 - j]);
    for (dkm_idx j = 0; j < p; j++)
        r->values[j] = ascending[r->m - 1 - j];
out:
    dkm_dmat_destroy(&V);
    return status;
}

/* As many leading pairs as the components or the share ask for. */
static dkm_idx eigen_count_wanted(const run *r, const double *ascending)
{
    double sum = 0;
    dkm_idx p = 0;

    if (r->settings->components > 0)
        return r->settings->components < r->m ? r->settings->components : r->m;
    while (p < r->m && sum < r->settings->share * r->info.trace * (1.0 - 1e-12))
        sum += ascending[r->m - 1 - p++];
    return p > 0 ? p : 1;
}

static dkm_status eigen_full_solve(run *r)
{
    dkm_status status = DKM_OK;
    dkm_eigen_library library = DKM_EIGEN_SCALAPACK;
    double *ascending = NULL;
    dkm_dmat *Z = NULL;

    DKM_AGREE(r->ctx, dkm_alloc(r->ctx, r->m, &ascending));
    if (r->settings->center)
        DKM_TRY(dkm_gram_center(r->K, r->row_means));
    DKM_TRY(dkm_eigen_choose_library(r->K, &library));
    DKM_TRY(dkm_memory_check(r->ctx, dkm_la_syevd_bytes(r->K, library), "the full eigensolve"));
    DKM_TRY(dkm_la_syevd(r->K, &library, ascending, &Z));
    DKM_TRY(eigen_take_leading(r, Z, ascending, eigen_count_wanted(r, ascending)));
    r->info.components = r->vectors.cols;
    r->info.solver = dkm_la_syevd_name(library);
    r->info.negative = ascending[0] < 0 ? ascending[0] : 0.0;
    r->info.residual = NAN;
out:
    dkm_dmat_destroy(&Z);
    DKM_FREE(ascending);
    return status;
}

/* Grow the number of components until they explain the share, or the block method stops paying. */
static dkm_status eigen_solve(run *r)
{
    dkm_status status = DKM_OK;
    dkm_idx p = r->settings->components > 0 ? r->settings->components : FIRST_GUESS;
    int converged = 0;

    p = p < r->m ? p : r->m;
    while (dkm_eigen_prefers_lanczos(r->settings->solver, r->m, p) &&
           block_fits(r, p, dkm_block_lanczos_small_block(p))) {
        DKM_TRY(lanczos_solve_large_block(r, p, &converged));
        if (!converged) {
            dkm_log(r->ctx, DKM_WARN,
                    "the block eigensolver stopped at a residual of %.1e after %d iterations: "
                    "going on with a full decomposition",
                    r->info.residual, r->info.rounds);
            break;
        }
        if (r->settings->components > 0 || r->info.components < p ||
            eigen_explained(r, r->info.components) >= r->settings->share)
            return DKM_OK;
        p = 2 * p < r->m ? 2 * p : r->m;
    }
    DKM_TRY(eigen_full_solve(r));
out:
    return status;
}

/* Drop what is rounding, and what the share does not need. */
static void eigen_drop_small(run *r)
{
    double cutoff = r->settings->cutoff * r->values[0];
    double least = r->settings->cutoff < 0 ? -INFINITY : fmax(cutoff, r->rounding);
    dkm_idx p = r->info.components;

    while (p > 0 && !(r->values[p - 1] > least))
        p--;
    while (r->settings->components == 0 && p > 1 && eigen_explained(r, p - 1) >= r->settings->share)
        p--;
    r->info.components = p;
    r->info.explained = eigen_explained(r, p);
}

/* A vector and its negative are equally good: take the one on the positive side of a random plane.
 */
static void eigen_fix_signs(run *r, double *signs)
{
    dkm_idx p = r->info.components;
    dkm_idx first = dkm_slab_first(r->m, dkm_ctx_rank(r->ctx), dkm_ctx_size(r->ctx));
    dkm_multivec *V = &r->vectors;

    memset(signs, 0, (size_t)p * sizeof *signs);
    for (dkm_idx i = 0; i < V->n; i++) {
        double plane = dkm_random_normal(0, SIGN_STREAM, (uint64_t)(first + i), 0);
        for (dkm_idx j = 0; j < p; j++)
            signs[j] += plane * V->a[i * V->ld + j];
    }
    dkm_mpi_allreduce(signs, p, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(r->ctx));
    for (dkm_idx i = 0; i < V->n; i++)
        for (dkm_idx j = 0; j < p; j++)
            V->a[i * V->ld + j] *= signs[j] < 0 ? -1.0 : 1.0;
}

static dkm_status eigen_return_pairs(run *r, double **values, dkm_data **vectors)
{
    dkm_status status = DKM_OK;
    dkm_idx p = r->info.components;
    double *rows, *signs = NULL;

    DKM_AGREE(r->ctx, dkm_alloc(r->ctx, p, &signs));
    eigen_fix_signs(r, signs);
    DKM_TRY(dkm_data_create_dense(r->ctx, r->m, p, vectors));
    rows = dkm_data_values(*vectors);
    for (dkm_idx i = 0; i < r->vectors.n; i++)
        memcpy(rows + i * p, r->vectors.a + i * r->vectors.ld, (size_t)p * sizeof *rows);
    *values = r->values;
    r->values = NULL;
out:
    DKM_FREE(signs);
    return status;
}

dkm_status dkm_eigen_compute(dkm_dmat *K, const dkm_eigen_settings *settings, double **values,
                             dkm_data **vectors, double *means, dkm_eigen_info *info)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_grid_ctx(dkm_dmat_grid(K));
    run r = {.ctx = ctx, .K = K, .m = dkm_dmat_rows(K), .settings = settings};

    *values = NULL;
    *vectors = NULL;
    dkm_phase_begin(ctx, "eigen");
    DKM_AGREE(ctx, eigen_check(ctx, K, settings));
    DKM_CHECK_UNIFORM(ctx, settings->components);
    DKM_CHECK_UNIFORM(ctx, settings->share);
    DKM_CHECK_UNIFORM(ctx, settings->center);
    r.info.wanted = settings->components;
    DKM_TRY(eigen_trace(&r));
    if (means && r.row_means)
        memcpy(means, r.row_means, (size_t)r.m * sizeof *means);
    DKM_TRY(eigen_solve(&r));
    eigen_drop_small(&r);
    DKM_TRY(eigen_return_pairs(&r, values, vectors));
    if (info)
        *info = r.info;
out:
    dkm_phase_end(ctx);
    dkm_multivec_free(&r.vectors);
    DKM_FREE(r.values);
    DKM_FREE(r.means);
    DKM_FREE(r.row_means);
    return status;
}
