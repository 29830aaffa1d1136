/* Leading eigenpairs by thick-restarted block Lanczos with full orthogonalization: Rayleigh-Ritz
 * on the span of Q, A Q, A^2 Q, ...
 *
 * Wu and Simon 2000, SIAM J. Matrix Anal. Appl. 22(2):602-616, doi:10.1137/S0895479898334605 (thick
 * restart); Zhou and Saad 2008, Numer. Algorithms 47(4):341-359, doi:10.1007/s11075-008-9192-9
 * (blocks). Blocks are orthonormalized by the eigendecomposition of their scaled Gram matrix (SVQB;
 * Stathopoulos and Wu 2002, SIAM J. Sci. Comput. 23(6):2165-2182, doi:10.1137/S1064827500370883),
 * twice. Beside the orthonormal basis V the products W = A V are stored, so that the residual of a
 * Ritz pair, W s - theta V s, is computed and not estimated. The projected matrix is T = V'W.
 *
 * Cost per iteration with a block of b and a basis of s columns: one A applied to b vectors, about
 * 8 m s b / ranks flops; two sums over all ranks of s b numbers and four of b^2, 2 s b + 4 b^2
 * words sent twice (comm/allreduce.h). A test of convergence solves the projected problem
 * (rayleigh_ritz.h), sends s (components + b / 2) numbers to every rank and takes 4 m s components /
 * ranks flops. Held: V and W, 2 m s / ranks numbers, s up to dkm_block_lanczos_max_basis(), and T,
 * s^2 / ranks; up to s = 2000, rank 0 holds another s^2, up to 512 3 s^2. Replicated: the s (components + b / 2)
 * numbers of the Ritz vectors that are used, and inner products of s x b. */
#include "solvers/krylov/block_lanczos.h"

#include <math.h>
#include <string.h>

#include <dkmap/random.h>

#include "core/alloc.h"
#include "core/minmax.h"
#include "core/mpi_calls.h"
#include "linalg/backend/blas.h"
#include "linalg/eigen/syevd.h"
#include "linalg/multivec_gram.h"
#include "matrix/dmat_impl.h"
#include "solvers/krylov/block_lanczos_impl.h"
#include "solvers/krylov/rayleigh_ritz.h"

#define START_STREAM 0x6b72796c6f76u
#define SMALL_BLOCK  16
#define LARGE_BLOCKS 8     /* of a basis of wide blocks */
#define CLUSTER      1e-8  /* eigenvalues as near as this, relative to the largest, may be one */
#define DEPENDENT    1e-13 /* a column this short beside the largest eigenvalue is rounding */
#define ESTIMATE     2.0 /* an estimated residual this many times the tolerance is no convergence */
#define SOONER       0.45  /* of the products that the rate of convergence so far would take */
#define PARALLEL     1e-12 /* squared sine of the angle below which a direction is not new */

dkm_idx dkm_block_lanczos_large_block(dkm_idx components)
{
    return (components + (components / 8 > 4 ? components / 8 : 4) + 7) / 8 * 8;
}

dkm_idx dkm_block_lanczos_small_block(dkm_idx components)
{
    dkm_idx wide = dkm_block_lanczos_large_block(components);

    return wide < SMALL_BLOCK ? wide : SMALL_BLOCK;
}

dkm_idx dkm_block_lanczos_max_basis(dkm_idx components, dkm_idx block)
{
    if (block > components)
        return LARGE_BLOCKS * block;
    return 6 * components + 4 * block;
}

double dkm_krylov_bytes(dkm_idx m, int size, dkm_idx components, dkm_idx block)
{
    double basis = (double)dkm_block_lanczos_max_basis(components, block);
    double rows = ceil((double)m / size), width = (double)(block > components ? block : components);
    double vectors = 8.0 * rows * (2.0 * basis + 4.0 * width); /* V, W; Q, Y, R and the result */
    double inner = 8.0 * 2.0 * basis * (double)block;          /* G and its workspace */
    double product = 8.0 * 4.0 * (double)m * (double)block / sqrt((double)size); /* of K V */

    return vectors + inner + product +
           dkm_rayleigh_ritz_bytes((dkm_idx)basis, components + block / 2, size,
                                   DKM_RITZ_LOCAL_MAX);
}

/* Pairs that remain when the basis is full. */
static dkm_idx lanczos_restart_size(const dkm_block_lanczos_run *k)
{
    return k->settings->components + k->block / 2;
}

static dkm_local lanczos_alloc(dkm_block_lanczos_run *k)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx m = k->settings->m;
    dkm_idx used = k->capacity * dkm_idx_max(lanczos_restart_size(k), k->widest);

    DKM_STEP(dkm_multivec_init(&k->V, k->ctx, m, k->capacity));
    DKM_STEP(dkm_multivec_init(&k->W, k->ctx, m, k->capacity));
    DKM_STEP(dkm_multivec_init(&k->Q, k->ctx, m, k->widest));
    DKM_STEP(dkm_multivec_init(&k->Y, k->ctx, m, k->widest));
    DKM_STEP(dkm_calloc(k->ctx, k->capacity, &k->diagonal));
    DKM_STEP(dkm_alloc(k->ctx, used, &k->S));
    DKM_STEP(dkm_alloc(k->ctx, k->capacity * k->widest, &k->G));
    DKM_STEP(dkm_alloc(k->ctx, k->capacity * k->widest, &k->work));
    DKM_STEP(dkm_alloc(k->ctx, 2 * k->capacity, &k->theta));
out:
    return local;
}

static void lanczos_free(dkm_block_lanczos_run *k)
{
    dkm_multivec_free(&k->V);
    dkm_multivec_free(&k->W);
    dkm_multivec_free(&k->Q);
    dkm_multivec_free(&k->Y);
    dkm_dmat_destroy(&k->T);
    DKM_FREE(k->diagonal);
    DKM_FREE(k->S);
    DKM_FREE(k->G);
    DKM_FREE(k->work);
    DKM_FREE(k->theta);
}

/* Fill Q up to the block's width with random columns that do not depend on the rank count. */
static void lanczos_add_random(dkm_block_lanczos_run *k)
{
    dkm_idx first = dkm_slab_first(k->settings->m, dkm_ctx_rank(k->ctx), dkm_ctx_size(k->ctx));
    dkm_idx from = k->Q.cols;

    for (dkm_idx i = 0; i < k->Q.n; i++)
        for (dkm_idx j = from; j < k->block; j++)
            k->Q.a[i * k->Q.ld + j] =
                dkm_random_normal(dkm_ctx_seed(k->ctx), START_STREAM, (uint64_t)(first + i),
                                  (uint64_t)(k->random_columns + j));
    k->random_columns += k->block - from;
    k->Q.cols = k->block;
    k->projected = 0;
}

/* Q <- Q - V V'Q */
static void lanczos_project_out(dkm_block_lanczos_run *k)
{
    if (k->V.cols == 0)
        return;
    dkm_multivec_inner(&k->V, &k->Q, k->G, k->work);
    dkm_multivec_combine(&k->V, k->Q.cols, k->G, k->V.cols, -1.0, 1.0, &k->Q);
}

/* G <- D G D with D = diag(G)^-1/2 in theta; a column no longer than @p least gets zero. */
static void lanczos_equilibrate(dkm_idx b, double least, double *G, double *theta)
{
    for (dkm_idx j = 0; j < b; j++) {
        double square = G[j + j * b];
        theta[j] = square > least * least ? 1.0 / sqrt(square) : 0.0;
    }
    for (dkm_idx j = 0; j < b; j++)
        for (dkm_idx i = 0; i < b; i++)
            G[i + j * b] *= theta[i] * theta[j];
}

/* S = D U lambda^-1/2 for the eigenpairs of D G D that are not zero, as many as *count. */
static dkm_local lanczos_svqb(dkm_block_lanczos_run *k, dkm_idx b, double least, double *G,
                              dkm_idx *count)
{
    dkm_local local = DKM_LOCAL_OK;
    double *scale = k->theta, *values = k->theta + b;

    *count = 0;
    lanczos_equilibrate(b, least, G, scale);
    DKM_STEP(dkm_syevd_local(k->ctx, b, G, values));
    for (dkm_idx j = b - 1; j >= 0; j--) {
        if (!(values[j] > PARALLEL))
            continue;
        for (dkm_idx i = 0; i < b; i++)
            k->S[i + *count * b] = G[i + j * b] * scale[i] / sqrt(values[j]);
        ++*count;
    }
out:
    return local;
}

/* Q <- Q S, an orthonormal basis of its span, leaving out columns no longer than @p least and
 * directions the others hold already. Y is overwritten. S is rank 0's: a sign that came out
 * otherwise elsewhere would tear the columns apart. */
static dkm_status lanczos_orthonormalize(dkm_block_lanczos_run *k, double least)
{
    dkm_status status = DKM_OK;
    dkm_idx b = k->Q.cols, count = 0;
    MPI_Comm comm = dkm_ctx_comm(k->ctx);
    dkm_multivec swap;

    if (b == 0)
        return status;
    dkm_multivec_inner_local(&k->Q, &k->Q, k->G);
    dkm_mpi_reduce(k->G, k->work, b * b, MPI_DOUBLE, MPI_SUM, 0, comm);
    DKM_AGREE(k->ctx, dkm_ctx_rank(k->ctx) == 0 ? lanczos_svqb(k, b, least, k->work, &count)
                                                : DKM_LOCAL_OK);
    MPI_Bcast(&count, 1, MPI_INT64_T, 0, comm);
    dkm_mpi_bcast(k->S, b * count, MPI_DOUBLE, 0, comm);
    dkm_multivec_combine(&k->Q, count, k->S, b, 1.0, 0.0, &k->Y);
    swap = k->Q;
    k->Q = k->Y;
    k->Y = swap;
out:
    return status;
}

/* Make Q orthonormal and orthogonal to V: twice, for rounding's sake. */
static dkm_status lanczos_extend_basis(dkm_block_lanczos_run *k, double least)
{
    dkm_status status = DKM_OK;

    if (!k->projected)
        lanczos_project_out(k);
    DKM_TRY(lanczos_orthonormalize(k, least));
    lanczos_project_out(k);
    DKM_TRY(lanczos_orthonormalize(k, 0.5)); /* unit columns: shorter ones were rounding */
out:
    return status;
}

/* Rows [had, s) of the lower triangle of T, whose transpose is G. */
static void lanczos_set_products(dkm_block_lanczos_run *k, dkm_idx had, dkm_idx s)
{
    dkm_dmat *T = k->T;
    int p = dkm_grid_row(T->grid), P = dkm_grid_rows(T->grid);
    dkm_idx i0 = p < 0 ? 0 : dkm_cyclic_count(had, T->mb, p, P);
    dkm_idx i1 = p < 0 ? 0 : dkm_cyclic_count(s, T->mb, p, P);

    for (dkm_idx il = i0; il < i1; il++) {
        dkm_idx ig = dkm_dmat_global_row(T, il);
        for (dkm_idx jl = 0; jl < T->n_loc && dkm_dmat_global_col(T, jl) <= ig; jl++)
            dkm_dmat_put(T, il, jl, k->G[dkm_dmat_global_col(T, jl) + (ig - had) * s]);
    }
    for (dkm_idx i = had; i < s; i++)
        k->diagonal[i] = k->G[i + (i - had) * s];
}

/* V <- [V Q], W <- [W A Q], T <- V'W; Q <- A Q - V V'A Q, the raw material of the next block, by
 * the inner products that T takes. */
static dkm_status lanczos_apply(dkm_block_lanczos_run *k)
{
    dkm_status status = DKM_OK;
    dkm_idx had = k->V.cols, b = k->Q.cols, s = had + b;

    DKM_TRY(dkm_linop_apply(k->A, &k->Q, &k->Y));
    dkm_multivec_append(&k->V, &k->Q);
    dkm_multivec_append(&k->W, &k->Y);
    dkm_multivec_inner(&k->V, &k->Y, k->G, k->work);
    lanczos_set_products(k, had, s);
    k->Q.cols = 0;
    dkm_multivec_append(&k->Q, &k->Y);
    dkm_multivec_combine(&k->V, b, k->G, s, -1.0, 1.0, &k->Q);
    k->projected = 1;
out:
    return status;
}

/* The Ritz pairs that are used, those that are wanted and those that remain at a restart: values in
 * theta, vectors in S. */
static dkm_status lanczos_ritz_pairs(dkm_block_lanczos_run *k)
{
    dkm_idx s = k->V.cols, used = dkm_idx_min(s, lanczos_restart_size(k));
    dkm_idx local_max = k->settings->ritz_local_max;

    return dkm_rayleigh_ritz(k->T, s, used, local_max > 0 ? local_max : DKM_RITZ_LOCAL_MAX,
                             k->theta, k->S);
}

/* vectors = V S; residuals of the first p pairs from W S - V S theta, relative to theta_1. */
static double lanczos_residuals(dkm_block_lanczos_run *k, dkm_idx p, dkm_multivec *vectors,
                                dkm_multivec *R)
{
    dkm_idx s = k->V.cols;
    double worst = 0;

    dkm_multivec_combine(&k->V, p, k->S, s, 1.0, 0.0, vectors);
    dkm_multivec_combine(&k->W, p, k->S, s, 1.0, 0.0, R);
    memset(k->G, 0, (size_t)p * sizeof *k->G);
    for (dkm_idx i = 0; i < R->n; i++)
        for (dkm_idx j = 0; j < p; j++) {
            double r = R->a[i * R->ld + j] - k->theta[j] * vectors->a[i * vectors->ld + j];
            k->G[j] += r * r;
        }
    dkm_mpi_allreduce(k->G, p, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(k->ctx));
    for (dkm_idx j = 0; j < p; j++)
        worst = fmax(worst, sqrt(k->G[j]));
    return k->theta[0] > 0 ? worst / k->theta[0] : worst;
}

/* T = diag(theta) of the leading @p count Ritz values. */
static void lanczos_set_diagonal(dkm_block_lanczos_run *k, dkm_idx count)
{
    dkm_dmat *T = k->T;
    int p = dkm_grid_row(T->grid), P = dkm_grid_rows(T->grid);

    memset(k->diagonal, 0, (size_t)k->capacity * sizeof *k->diagonal);
    memcpy(k->diagonal, k->theta, (size_t)count * sizeof *k->diagonal);
    memset(T->a.f64, 0, (size_t)(T->ld * T->n_loc) * sizeof *T->a.f64);
    for (dkm_idx jl = 0; jl < T->n_loc; jl++) {
        dkm_idx jg = dkm_dmat_global_col(T, jl);
        if (dkm_cyclic_owner(jg, T->mb, P) == p)
            dkm_dmat_put(T, dkm_cyclic_count(jg, T->mb, p, P), jl, k->diagonal[jg]);
    }
}

/* Go on from the leading Ritz vectors alone; @p scratch has space for them. */
static void lanczos_restart(dkm_block_lanczos_run *k, dkm_multivec *scratch)
{
    dkm_idx s = k->V.cols, count = lanczos_restart_size(k);
    dkm_multivec *bases[] = {&k->V, &k->W};

    for (int which = 0; which < 2; which++) {
        dkm_multivec_combine(bases[which], count, k->S, s, 1.0, 0.0, scratch);
        bases[which]->cols = 0;
        dkm_multivec_append(bases[which], scratch);
    }
    lanczos_set_diagonal(k, count);
}

/* A lower bound of the largest eigenvalue: the largest diagonal element of T. */
static double lanczos_size(const dkm_block_lanczos_run *k)
{
    double most = 0;

    for (dkm_idx j = 0; j < k->V.cols; j++)
        most = fmax(most, k->diagonal[j]);
    return most;
}

/* One round: grow the basis by what A added last, or by random directions when that was nothing,
 * and after a start, in which eigenvectors may be missing. */
static dkm_status lanczos_grow(dkm_block_lanczos_run *k, int *exhausted)
{
    dkm_status status = DKM_OK;

    DKM_TRY(lanczos_extend_basis(k, DEPENDENT * lanczos_size(k)));
    if (k->V.cols < k->settings->m && k->Q.cols < k->block && (k->Q.cols == 0 || k->started)) {
        lanczos_add_random(k);
        DKM_TRY(lanczos_extend_basis(k, DEPENDENT));
    }
    k->started = k->started && k->V.cols == 0;
    *exhausted = k->Q.cols == 0;
    if (!*exhausted)
        DKM_TRY(lanczos_apply(k));
out:
    return status;
}

/* Whether some run of neighboring values, larger than rounding, is as long as the block is wide.
 */
static int lanczos_has_cluster(const dkm_block_lanczos_run *k, dkm_idx found, const double *values)
{
    double near = CLUSTER * values[0];
    dkm_idx run = 1;

    for (dkm_idx j = 1; j < found && run < k->block && values[j] > near; j++)
        run = values[j - 1] - values[j] <= near ? run + 1 : 1;
    return found > 0 && values[0] > 0 && run >= k->block;
}

/* The largest residual of the first p pairs, relative to theta_1, from Q = A Q_b - V V'A Q_b alone, where
 * Q_b is the last block of V: A maps the other ones into the span of V, so A V s - theta V s = Q s_b. */
static double lanczos_estimate(dkm_block_lanczos_run *k, dkm_idx p)
{
    dkm_idx s = k->V.cols, b = k->Q.cols;
    double worst = 0;

    dkm_multivec_inner(&k->Q, &k->Q, k->G, k->work);
    for (dkm_idx j = 0; j < p; j++) {
        const double *last = k->S + j * s + s - b;
        double square = 0;
        for (dkm_idx c = 0; c < b; c++)
            for (dkm_idx r = 0; r < b; r++)
                square += last[r] * k->G[r + c * b] * last[c];
        worst = fmax(worst, sqrt(fmax(square, 0.0)));
    }
    MPI_Bcast(&worst, 1, MPI_DOUBLE, 0, dkm_ctx_comm(k->ctx));
    return k->theta[0] > 0 ? worst / k->theta[0] : worst;
}

/* Ritz pairs of the basis as it stands, with their residuals. Where the estimate says that there will
 * be more rounds, it stands for the residual, and vectors are not formed. */
static dkm_status lanczos_test(dkm_block_lanczos_run *k, int last, double *values,
                               dkm_multivec *vectors, dkm_multivec *R, dkm_block_lanczos_outcome *o)
{
    dkm_status status = DKM_OK;
    dkm_idx p = k->settings->components;

    DKM_TRY(lanczos_ritz_pairs(k));
    o->found = k->V.cols < p ? k->V.cols : p;
    o->residual = last ? 0.0 : lanczos_estimate(k, o->found);
    if (o->residual > ESTIMATE * k->settings->tolerance) {
        o->converged = 0;
        return status;
    }
    o->residual = lanczos_residuals(k, o->found, vectors, R);
    MPI_Bcast(&o->residual, 1, MPI_DOUBLE, 0, dkm_ctx_comm(k->ctx));
    o->converged = o->residual <= k->settings->tolerance && o->found == p;
    o->clustered = k->block < p && lanczos_has_cluster(k, o->found, k->theta);
    memcpy(values, k->theta, (size_t)o->found * sizeof *values);
    dkm_progress(k->ctx, log10(1.0 / fmax(o->residual, 1e-300)),
                 log10(1.0 / k->settings->tolerance));
out:
    return status;
}

/* Products after which it is worth looking at the pairs again: not half of what it takes to reach the
 * tolerance at the rate of the last @p products, as the rate grows. Collective: rank 0 decides, as
 * logarithms may round differently on other machines of the job. */
static dkm_idx lanczos_next_test(const dkm_block_lanczos_run *k, double before, double now,
                                 dkm_idx products)
{
    double shrunk = log(before / now), left = log(now / k->settings->tolerance);
    double wait = shrunk > 0 && left > 0 ? SOONER * left / shrunk * (double)products : 0;
    dkm_idx look = (dkm_idx)fmin(wait, 1e15);

    MPI_Bcast(&look, 1, MPI_INT64_T, 0, dkm_ctx_comm(k->ctx));
    return look;
}

static int lanczos_basis_full(const dkm_block_lanczos_run *k)
{
    dkm_idx width = k->Q.cols > k->block ? k->Q.cols : k->block;

    return k->V.cols + width > k->capacity;
}

static dkm_status lanczos_iterate(dkm_block_lanczos_run *k, double *values, dkm_multivec *vectors,
                                  dkm_multivec *R, dkm_block_lanczos_outcome *o)
{
    dkm_status status = DKM_OK;
    int exhausted = 0, from = o->rounds; /* rounds of runs before this one are not left again */

    while (o->rounds < k->settings->max_rounds && !o->converged && !exhausted) {
        dkm_idx had;
        double before = k->looked == 0 ? 1.0 : o->residual;
        if (o->rounds > from)
            DKM_TRY(dkm_block_lanczos_save(k, o));
        if (lanczos_basis_full(k)) {
            if (!k->projected)
                lanczos_project_out(k);
            lanczos_restart(k, R);
        }
        had = k->V.cols;
        DKM_TRY(lanczos_grow(k, &exhausted));
        o->rounds++;
        o->products += k->V.cols - had;
        if (o->products < k->look && !exhausted && !lanczos_basis_full(k) &&
            o->rounds < k->settings->max_rounds) /* the last round always hands over its pairs */
            continue;
        DKM_TRY(lanczos_test(k, exhausted || o->rounds == k->settings->max_rounds, values, vectors,
                             R, o));
        k->look = o->products + lanczos_next_test(k, before, o->residual, o->products - k->looked);
        k->looked = o->products;
    }
    o->converged = o->converged || (exhausted && o->residual <= k->settings->tolerance);
out:
    return status;
}

/* The first block: what is known already, or random columns; or else what another run left, of
 * which a full basis needs its Ritz pairs again. */
static dkm_status lanczos_begin(dkm_block_lanczos_run *k, const dkm_multivec *start,
                                dkm_block_lanczos_outcome *o)
{
    dkm_status status = DKM_OK;

    k->look = 2 * k->settings->components;
    k->started = start && start->cols > 0;
    if (k->started)
        dkm_multivec_append(&k->Q, start);
    else
        lanczos_add_random(k);
    DKM_TRY(dkm_block_lanczos_restore(k, o));
    if (k->V.cols > 0 && lanczos_basis_full(k))
        DKM_TRY(lanczos_ritz_pairs(k));
out:
    return status;
}

dkm_status dkm_block_lanczos(dkm_ctx *ctx, const dkm_block_lanczos_settings *settings,
                             const dkm_linop *A, const dkm_multivec *start, double *values,
                             dkm_multivec *vectors, dkm_block_lanczos_outcome *outcome)
{
    dkm_status status = DKM_OK;
    dkm_block_lanczos_run k = {.ctx = ctx, .settings = settings, .A = A};
    dkm_multivec R = {0};
    dkm_idx nb;
    int serial =
        dkm_blas_set_serial(ctx, 1); /* K V and slices of the rest have threads of their own */

    *outcome = (dkm_block_lanczos_outcome){.residual = INFINITY};
    k.block = settings->block;
    k.capacity = dkm_block_lanczos_max_basis(settings->components, k.block);
    k.widest = start && start->cols > k.block ? start->cols : k.block;
    DKM_TRY(dkm_memory_check(
        ctx, dkm_krylov_bytes(settings->m, dkm_ctx_size(ctx), settings->components, k.block),
        "the block eigensolver"));
    DKM_AGREE(ctx, lanczos_alloc(&k));
    nb = dkm_grid_block(settings->grid, k.capacity);
    DKM_TRY(dkm_dmat_create(settings->grid, k.capacity, k.capacity, nb, nb, DKM_F64, &k.T));
    DKM_AGREE(ctx, dkm_multivec_init(&R, ctx, settings->m, lanczos_restart_size(&k)));
    DKM_TRY(lanczos_begin(&k, start, outcome));
    DKM_TRY(lanczos_iterate(&k, values, vectors, &R, outcome));
out:
    dkm_blas_set_serial(ctx, serial);
    dkm_multivec_free(&R);
    lanczos_free(&k);
    return status;
}
