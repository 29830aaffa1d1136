/* Support vector machines in the dual, one per column of targets, solved by LIBSVM (Chang and Lin
 * 2011, ACM TIST 2(3):27, doi:10.1145/1961189.1961199) on a precomputed kernel matrix.
 *
 * The hinge loss is C-SVC, the epsilon-insensitive loss is epsilon-SVR. The squared hinge loss is a
 * hard margin on the matrix K + I / C (svm_dual_impl.h). LIBSVM is sequential: problems are dealt to
 * the ranks, and each rank that solves one holds all of K in the format of LIBSVM, 16 m^2 bytes.
 * Larger problems are solved by all ranks together (svm_decomposition.c).
 *
 * Cost per problem: between m^2 and m^3 flops; m^2 words are sent to every rank that solves. */
#include "solvers/svm/svm_dual_impl.h"

#include <limits.h>
#include <math.h>
#include <string.h>
#include <svm.h>

#include "core/alloc.h"
#include "core/minmax.h"
#include "core/mpi_calls.h"

#define CHUNK_NUMBERS 2097152
#define CACHE_MAX_MB  100.0 /* MB, of LIBSVM */
#define TOGETHER      12288 /* nodes in one piece of memory: pieces are reused by the next problem */

typedef struct svm_ws {
    dkm_ctx *ctx;
    const dkm_svm_dual_problem *p;
    const dkm_svm_dual_settings *s;
    dkm_idx m, together;            /* rows, and those that are one piece of memory */
    int solves;                     /* whether this rank has problems at all */
    struct svm_node **rows;         /* m of m + 1 nodes: the row's number, then kernel values */
    double *targets, *coefficients; /* of one problem */
    int *counts, *starts;           /* of all slabs */
} svm_ws;

static dkm_local libsvm_check_size(dkm_ctx *ctx, dkm_idx m)
{
    if (m > INT_MAX - 1)
        return dkm_fail(ctx, DKM_ERR_SIZE, "LIBSVM takes at most %d examples, and here are %lld",
                        INT_MAX - 1, (long long)m);
    return DKM_LOCAL_OK;
}

static double cache_megabytes(dkm_idx m)
{
    return fmin(CACHE_MAX_MB, 1.0 + 4e-6 * (double)m * (double)m);
}

/* The matrix on ranks that solve, and rows on their way there. */
static double bytes_needed(const svm_ws *v)
{
    double square = (double)v->m * (double)v->m;
    double mine = v->solves ? sizeof(struct svm_node) * square + 1e6 * cache_megabytes(v->m) : 0.0;

    return mine + 2.0 * sizeof(double) * square / dkm_ctx_size(v->ctx) +
           sizeof(double) * CHUNK_NUMBERS;
}

static dkm_local svm_alloc(svm_ws *v)
{
    dkm_local local = DKM_LOCAL_OK;
    int size = dkm_ctx_size(v->ctx);

    DKM_STEP(dkm_alloc(v->ctx, v->m, &v->targets));
    DKM_STEP(dkm_alloc(v->ctx, v->m, &v->coefficients));
    DKM_STEP(dkm_alloc(v->ctx, size, &v->counts));
    DKM_STEP(dkm_alloc(v->ctx, size, &v->starts));
    for (int r = 0; r < size; r++) {
        v->counts[r] = (int)dkm_slab_count(v->m, r, size);
        v->starts[r] = (int)dkm_slab_first(v->m, r, size);
    }
    if (v->solves) {
        DKM_STEP(dkm_calloc(v->ctx, v->m, &v->rows));
        for (dkm_idx i = 0; i < v->m; i += v->together)
            DKM_STEP(
                dkm_alloc(v->ctx, dkm_idx_min(v->together, v->m - i) * (v->m + 1), &v->rows[i]));
    }
out:
    return local;
}

/* Row i as LIBSVM wants it. */
static void svm_put_row(svm_ws *v, dkm_idx i, const double *row)
{
    struct svm_node *to = v->rows[i - i % v->together] + i % v->together * (v->m + 1);
    double shift = dkm_svm_shift(v->s);

    to[0] = (struct svm_node){0, (double)(i + 1)};
    for (dkm_idx j = 0; j < v->m; j++)
        to[j + 1] = (struct svm_node){(int)(j + 1), row[j] + (i == j ? shift : 0.0)};
    v->rows[i] = to;
}

/* Rows of the kernel matrix go from each rank to all that solve, a bounded number at a time. */
static void svm_bcast_rows(svm_ws *v, const dkm_data *K, double *chunk)
{
    dkm_idx step = CHUNK_NUMBERS / v->m > 0 ? CHUNK_NUMBERS / v->m : 1;

    for (int r = 0; r < dkm_ctx_size(v->ctx); r++)
        for (dkm_idx first = 0; first < v->counts[r]; first += step) {
            dkm_idx n = v->counts[r] - first < step ? v->counts[r] - first : step;
            if (r == dkm_ctx_rank(v->ctx))
                memcpy(chunk, dkm_data_values_const(K) + first * v->m,
                       (size_t)(n * v->m) * sizeof *chunk);
            dkm_mpi_bcast(chunk, n * v->m, MPI_DOUBLE, r, dkm_ctx_comm(v->ctx));
            for (dkm_idx i = 0; v->solves && i < n; i++)
                svm_put_row(v, v->starts[r] + first + i, chunk + i * v->m);
        }
}

static dkm_status svm_gather_matrix(svm_ws *v)
{
    dkm_status status = DKM_OK;
    dkm_data *K = NULL;
    double *chunk = NULL;

    DKM_AGREE(v->ctx, dkm_alloc(v->ctx, v->m > CHUNK_NUMBERS ? v->m : CHUNK_NUMBERS, &chunk));
    DKM_TRY(dkm_gram_rows(v->p->grid, v->p->kernel, v->p->X, v->p->nb, 0, &K));
    svm_bcast_rows(v, K, chunk);
out:
    DKM_FREE(chunk);
    dkm_data_destroy(&K);
    return status;
}

static struct svm_parameter svm_parameters_of(const svm_ws *v)
{
    const dkm_svm_dual_settings *s = v->s;

    return (struct svm_parameter){.svm_type =
                                      s->loss == DKM_LOSS_EPS_INSENSITIVE ? EPSILON_SVR : C_SVC,
                                  .kernel_type = PRECOMPUTED,
                                  .cache_size = cache_megabytes(v->m),
                                  .eps = s->tolerance,
                                  .C = dkm_svm_bound(s),
                                  .p = s->tube,
                                  .shrinking = 1};
}

static void svm_silent_print(const char *text)
{
    (void)text;
}

/* One problem. LIBSVM counts the class of its first example as positive. */
static dkm_local svm_solve_column(svm_ws *v, double *b)
{
    struct svm_problem problem = {.l = (int)v->m, .y = v->targets, .x = v->rows};
    struct svm_parameter how = svm_parameters_of(v);
    const char *wrong = svm_check_parameter(&problem, &how);
    struct svm_model *found;
    double sign;

    if (wrong)
        return dkm_fail(v->ctx, DKM_ERR_ARG, "LIBSVM: %s", wrong);
    svm_set_print_string_function(svm_silent_print);
    found = svm_train(&problem, &how);
    sign = how.svm_type == C_SVC && found->label[0] < 0 ? -1.0 : 1.0;
    memset(v->coefficients, 0, (size_t)v->m * sizeof *v->coefficients);
    for (int k = 0; k < found->l; k++)
        v->coefficients[found->sv_indices[k] - 1] = sign * found->sv_coef[0][k];
    *b = -sign * found->rho[0];
    svm_free_and_destroy_model(&found);
    return DKM_LOCAL_OK;
}

/* A column of this rank's slab, and back. */
static void svm_copy_targets(const svm_ws *v, const double *from, dkm_idx from_step, double *to,
                             dkm_idx to_step)
{
    for (dkm_idx i = 0; i < v->counts[dkm_ctx_rank(v->ctx)]; i++)
        to[i * to_step] = from[i * from_step];
}

/* Problems [first, first + one per rank). */
static dkm_status svm_solve_round(svm_ws *v, dkm_idx first, double *slab, double *B, double *b)
{
    dkm_status status = DKM_OK;
    MPI_Comm comm = dkm_ctx_comm(v->ctx);
    int rank = dkm_ctx_rank(v->ctx), mine = v->counts[rank];
    dkm_idx cols = v->p->cols, left = cols - first, own = first + rank;
    int busy = (int)(left < dkm_ctx_size(v->ctx) ? left : dkm_ctx_size(v->ctx));

    for (int r = 0; r < busy; r++) {
        svm_copy_targets(v, v->p->T + first + r, cols, slab, 1);
        MPI_Gatherv(slab, mine, MPI_DOUBLE, v->targets, v->counts, v->starts, MPI_DOUBLE, r, comm);
    }
    DKM_AGREE(v->ctx, rank < busy ? svm_solve_column(v, &b[own]) : DKM_LOCAL_OK);
    for (int r = 0; r < busy; r++) {
        MPI_Scatterv(v->coefficients, v->counts, v->starts, MPI_DOUBLE, slab, mine, MPI_DOUBLE, r,
                     comm);
        svm_copy_targets(v, slab, 1, B + first + r, cols);
        MPI_Bcast(&b[first + r], 1, MPI_DOUBLE, r, comm);
    }
out:
    return status;
}

static dkm_status svm_solve_all(svm_ws *v, double *B, double *b)
{
    dkm_status status = DKM_OK;
    dkm_idx stride = dkm_ctx_size(v->ctx);
    double *slab = NULL;

    DKM_AGREE(v->ctx, dkm_alloc(v->ctx, v->counts[dkm_ctx_rank(v->ctx)], &slab));
    for (dkm_idx first = 0; first < v->p->cols; first += stride) {
        DKM_TRY(svm_solve_round(v, first, slab, B, b));
        dkm_progress(v->ctx, (double)first, (double)v->p->cols);
    }
out:
    DKM_FREE(slab);
    return status;
}

static void svm_ws_close(svm_ws *v)
{
    for (dkm_idx i = 0; v->rows && i < v->m; i += v->together)
        DKM_FREE(v->rows[i]);
    DKM_FREE(v->rows);
    DKM_FREE(v->targets);
    DKM_FREE(v->coefficients);
    DKM_FREE(v->counts);
    DKM_FREE(v->starts);
}

dkm_status dkm_svm_libsvm_solve(const dkm_svm_dual_problem *problem,
                                const dkm_svm_dual_settings *settings, double *B, double *b)
{
    dkm_status status = DKM_OK;
    svm_ws v = {.ctx = dkm_grid_ctx(problem->grid), .p = problem, .s = settings};

    v.m = dkm_prepared_rows(problem->X);
    v.together = dkm_idx_max(1, TOGETHER / (v.m + 1));
    v.solves = dkm_ctx_rank(v.ctx) < problem->cols;
    DKM_AGREE(v.ctx, libsvm_check_size(v.ctx, v.m));
    DKM_TRY(dkm_memory_check(v.ctx, bytes_needed(&v),
                             "the kernel matrix as each rank needs it for its machines"));
    DKM_AGREE(v.ctx, svm_alloc(&v));
    DKM_TRY(svm_gather_matrix(&v));
    DKM_TRY(svm_solve_all(&v, B, b));
out:
    svm_ws_close(&v);
    return status;
}
