#include <dkmap/eigen.h>

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <dkmap/kernel.h>
#include <dkmap/random.h>

#include "core/alloc.h"
#include "core/mpi_calls.h"
#include "core/same.h"
#include "scalapack/eigen.h"
#include "scalapack/linalg.h"
#include "scalapack/sweep.h"
#include "solve/eigen_choice.h"
#include "solve/eigen_kept.h"
#include "solve/fingerprint.h"
#include "solve/krylov.h"

#define MAX_ROUNDS  60
#define SIGN_STREAM 0x7369676eu
#define FIRST_GUESS 16 /* components tried first when a share of the trace is asked for */

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
    double *row_means;      /* of K, where it is centred */
    double rounding;        /* what centring may leave of an eigenvalue that is zero */
    dkm_slab vectors;
    dkm_eigen_info info;
} run;

static dkm_local check(dkm_ctx *ctx, const dkm_dmat *K, const dkm_eigen_settings *s)
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

/* Y = K Q, or H K H Q where centred. */
static dkm_status multiply(void *user, const dkm_slab *Q, dkm_slab *Y)
{
    run *r = user;
    dkm_status status = DKM_OK;
    dkm_idx b = Q->cols;
    dkm_slab packed = {0};

    DKM_AGREE(r->ctx, dkm_slab_init(&packed, r->ctx, r->m, b));
    dkm_slab_append(&packed, Q);
    if (r->settings->center)
        dkm_slab_center(&packed, r->m, r->means);
    DKM_TRY(dkm_sweep_rows('L', r->K, b, packed.a));
    dkm_phase_flops(r->ctx, 2.0 * (double)r->m * (double)r->m * (double)b / dkm_ctx_size(r->ctx));
    Y->cols = 0;
    dkm_slab_append(Y, &packed);
    if (r->settings->center)
        dkm_slab_center(Y, r->m, r->means);
out:
    dkm_slab_free(&packed);
    return status;
}

/* trace(H K H) = trace(K) - 1'K1 / m */
static dkm_status find_trace(run *r)
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

static dkm_local room_for(run *r, dkm_idx p)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_FREE(r->values);
    DKM_FREE(r->means);
    dkm_slab_free(&r->vectors);
    DKM_STEP(dkm_alloc(r->ctx, p, &r->values));
    DKM_STEP(dkm_alloc(r->ctx, dkm_krylov_wide(p), &r->means));
    DKM_STEP(dkm_slab_init(&r->vectors, r->ctx, r->m, p));
out:
    return local;
}

static double explained(const run *r, dkm_idx p)
{
    double sum = 0;

    for (dkm_idx j = 0; j < p; j++)
        sum += r->values[j];
    return r->info.trace > 0 ? sum / r->info.trace : 1.0;
}

/* The block method for p components by blocks of so many columns, from earlier vectors where there
 * are any. */
static dkm_status block_solve(run *r, dkm_idx p, dkm_idx block, const dkm_slab *start,
                              dkm_krylov_outcome *o)
{
    dkm_status status = DKM_OK;
    char print[DKM_FINGERPRINT_LENGTH], name[DKM_FINGERPRINT_LENGTH + 32];
    dkm_krylov_settings s = {.m = r->m,
                             .components = p,
                             .block = block,
                             .tolerance = r->settings->tolerance,
                             .max_rounds = (int)(MAX_ROUNDS * dkm_krylov_wide(p) / block),
                             .name = name};

    dkm_fingerprint_lower(r->K, print);
    snprintf(name, sizeof name, "%s, K=%s", r->settings->center ? "H K H" : "K", print);
    DKM_AGREE(r->ctx, room_for(r, p));
    DKM_TRY(dkm_krylov(r->ctx, &s, multiply, r, start, r->values, &r->vectors, o));
    r->info.rounds += o->rounds;
    r->info.products += o->products;
    r->info.residual = o->residual;
    r->info.components = o->found;
    r->info.solver = "block";
out:
    return status;
}

/* Whether blocks of so many columns can be used: the projected problem, which every rank holds
 * whole, must fit. One who asks for the block method gets a refusal instead of the full one.
 * Collective. */
static int block_fits(run *r, dkm_idx p, dkm_idx block)
{
    int fits = dkm_memory_fits(r->ctx, dkm_krylov_bytes(r->m, dkm_ctx_size(r->ctx), p, block));

    return dkm_eigen_block_can(p, block) && (fits || r->settings->solver == DKM_EIGEN_BLOCK);
}

/* Narrow blocks take fewer products. Where they may have missed copies of a multiple eigenvalue,
 * blocks that cannot miss any go over it again. */
static dkm_status block_solve_whole(run *r, dkm_idx p, int *converged)
{
    dkm_status status = DKM_OK;
    dkm_slab start = r->vectors;
    dkm_krylov_outcome o;

    r->vectors = (dkm_slab){0};
    DKM_TRY(block_solve(r, p, dkm_krylov_narrow(p), &start, &o));
    if (o.clustered && !block_fits(r, p, dkm_krylov_wide(p))) {
        dkm_say(r->ctx, DKM_DEBUG, "a multiple eigenvalue: no room for wider blocks");
        o.converged = 0;
    } else if (o.clustered) {
        dkm_say(r->ctx, DKM_DEBUG, "a multiple eigenvalue: going over it with wider blocks");
        DKM_TRY(block_solve(r, p, dkm_krylov_wide(p), NULL, &o));
    }
    *converged = o.converged;
out:
    dkm_slab_free(&start);
    return status;
}

static void swap_numbers(double *a, double *b)
{
    double kept = *a;

    *a = *b;
    *b = kept;
}

/* The last p columns of Z and their eigenvalues, the last of them first. */
static dkm_status take_leading(run *r, const dkm_dmat *Z, const double *ascending, dkm_idx p)
{
    dkm_status status = DKM_OK;
    dkm_dmat *V = NULL;

    DKM_AGREE(r->ctx, room_for(r, p));
    DKM_TRY(dkm_dmat_create_beside(Z, p, dkm_dmat_row_block(Z), DKM_F64, &V));
    dkm_la_columns(Z, r->m - p, V);
    DKM_TRY(dkm_dmat_to_rows(V, r->vectors.a));
    r->vectors.cols = p;
    for (dkm_idx i = 0; i < r->vectors.n; i++)
        for (dkm_idx j = 0; j < p / 2; j++)
            swap_numbers(&r->vectors.a[i * p + j], &r->vectors.a[i * p + p - 1 - j]);
    for (dkm_idx j = 0; j < p; j++)
        r->values[j] = ascending[r->m - 1 - j];
out:
    dkm_dmat_destroy(&V);
    return status;
}

/* As many leading pairs as the components or the share ask for. */
static dkm_idx count_wanted(const run *r, const double *ascending)
{
    double sum = 0;
    dkm_idx p = 0;

    if (r->settings->components > 0)
        return r->settings->components < r->m ? r->settings->components : r->m;
    while (p < r->m && sum < r->settings->share * r->info.trace * (1.0 - 1e-12))
        sum += ascending[r->m - 1 - p++];
    return p > 0 ? p : 1;
}

static dkm_status full_solve(run *r)
{
    dkm_status status = DKM_OK;
    dkm_eigen_library library = DKM_EIGEN_SCALAPACK;
    double *ascending = NULL;
    dkm_dmat *Z = NULL;

    DKM_AGREE(r->ctx, dkm_alloc(r->ctx, r->m, &ascending));
    if (r->settings->center)
        DKM_TRY(dkm_gram_center(r->K, r->row_means));
    DKM_TRY(dkm_eigen_choose_library(r->K, &library));
    DKM_TRY(dkm_memory_check(r->ctx, dkm_la_eigen_bytes(r->K, library), "the full eigensolve"));
    DKM_TRY(dkm_la_eigen(r->K, &library, ascending, &Z));
    DKM_TRY(take_leading(r, Z, ascending, count_wanted(r, ascending)));
    r->info.components = r->vectors.cols;
    r->info.solver = library == DKM_EIGEN_ELPA ? "elpa" : "scalapack";
    r->info.negative = ascending[0] < 0 ? ascending[0] : 0.0;
    r->info.residual = NAN;
out:
    dkm_dmat_destroy(&Z);
    DKM_FREE(ascending);
    return status;
}

/* Grow the number of components until they explain the share, or the block method stops paying. */
static dkm_status solve(run *r)
{
    dkm_status status = DKM_OK;
    dkm_idx p = r->settings->components > 0 ? r->settings->components : FIRST_GUESS;
    int converged = 0;

    p = p < r->m ? p : r->m;
    while (dkm_eigen_block_pays(r->settings->solver, r->m, p) &&
           block_fits(r, p, dkm_krylov_narrow(p))) {
        DKM_TRY(block_solve_whole(r, p, &converged));
        if (!converged) {
            dkm_say(r->ctx, DKM_WARN,
                    "the block eigensolver stopped at a residual of %.1e after %d rounds: "
                    "going on with a full decomposition",
                    r->info.residual, r->info.rounds);
            break;
        }
        if (r->settings->components > 0 || r->info.components < p ||
            explained(r, r->info.components) >= r->settings->share)
            return DKM_OK;
        p = 2 * p < r->m ? 2 * p : r->m;
    }
    DKM_TRY(full_solve(r));
out:
    return status;
}

/* Drop what is rounding, and what the share does not need. */
static void trim(run *r)
{
    double cutoff = r->settings->cutoff * r->values[0];
    double least = r->settings->cutoff < 0 ? -INFINITY : fmax(cutoff, r->rounding);
    dkm_idx p = r->info.components;

    while (p > 0 && !(r->values[p - 1] > least))
        p--;
    while (r->settings->components == 0 && p > 1 && explained(r, p - 1) >= r->settings->share)
        p--;
    r->info.components = p;
    r->info.explained = explained(r, p);
}

/* A vector and its negative are equally good: take the one on the positive side of a random plane.
 */
static void fix_signs(run *r, double *signs)
{
    dkm_idx p = r->info.components;
    dkm_idx first = dkm_slab_first(r->m, dkm_ctx_rank(r->ctx), dkm_ctx_size(r->ctx));
    dkm_slab *V = &r->vectors;

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

static dkm_status hand_over(run *r, double **values, dkm_data **vectors)
{
    dkm_status status = DKM_OK;
    dkm_idx p = r->info.components;
    double *rows, *signs = NULL;

    DKM_AGREE(r->ctx, dkm_alloc(r->ctx, p, &signs));
    fix_signs(r, signs);
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
    DKM_AGREE(ctx, check(ctx, K, settings));
    DKM_SAME(ctx, settings->components);
    DKM_SAME(ctx, settings->share);
    DKM_SAME(ctx, settings->center);
    r.info.wanted = settings->components;
    DKM_TRY(find_trace(&r));
    if (means && r.row_means)
        memcpy(means, r.row_means, (size_t)r.m * sizeof *means);
    DKM_TRY(solve(&r));
    trim(&r);
    DKM_TRY(hand_over(&r, values, vectors));
    if (info)
        *info = r.info;
out:
    dkm_phase_end(ctx);
    dkm_slab_free(&r.vectors);
    DKM_FREE(r.values);
    DKM_FREE(r.means);
    DKM_FREE(r.row_means);
    return status;
}
