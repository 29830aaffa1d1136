/* Support vector machines in the dual by decomposition, all ranks on each problem (svm_dual_impl.h).
 *
 * Osuna, Freund and Girosi 1997 (CVPR, doi:10.1109/CVPR.1997.609310); Joachims 1999 (Advances in Kernel
 * Methods, ch. 11); working sets half of which are renewed in every iteration as in Wen, Shi, Li, He and
 * Chen 2018 (JMLR 19(21):1-5). With u = K beta - t and f = u +- tube, a round of a problem
 *
 *   1. finds the largest violators of the optimality conditions, by a reduction that merges lists;
 *   2. gathers the rows of K of a working set of q variables, on its columns, on one rank;
 *   3. solves for these q with all others held (svm_subproblem.c), problems side by side on ranks;
 *   4. adds sum_w dbeta_w K_iw to u_i, every rank for its own rows: nothing but dbeta travels.
 *
 * It ends where LIBSVM does: max f_j - f_i over pairs that may move is at most the tolerance. A problem
 * that takes too many steps is a failure, which is reported.
 *
 * Per round and problem: 2 q m / P flops per rank; q^2 + 3 q words to the rank that solves and 7 q words
 * along trees. Held per rank: the rows of K, m^2 / P words, (1 + sides) m cols / P of u and a, sides = 2
 * for the tube and 1 else, and 3 q^2 + q cols words, which do not shrink. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/minmax.h"
#include "core/parallel.h"
#include "solvers/svm/svm_dual_impl.h"

enum { WORKING_SET = 512, ROWS_AT_ONCE = 64 };

/* Pairs that a problem may move, in all and per variable: ten times as many as LIBSVM allows. More are
 * needed where rounding hides the violation, as of inputs of very different scale. */
#define STEPS_MOST         1e8
#define STEPS_PER_VARIABLE 1e3

typedef struct decomposition {
    dkm_ctx *ctx;
    const dkm_svm_dual_problem *p;
    const dkm_svm_dual_settings *s;
    double C, shift;
    dkm_idx m, rows, first; /* examples, and those of this rank */
    dkm_idx sides;          /* variables per example; variable k is of example k % m */
    dkm_idx q, fresh;       /* variables of a working set, and new ones per round */
    dkm_data *K;            /* rows of this rank */
    double *u, *a;          /* cols x rows, cols x sides x rows */
    dkm_idx *set, *held;    /* cols x q: the working sets, newest first, and how many there are */
    dkm_idx *open, opened;  /* problems that are not solved yet */
    dkm_idx rounds;         /* of all problems */
    dkm_svm_violator *mine, *all; /* 2 x fresh: that may grow, that may shrink */
    MPI_Datatype type;
    MPI_Op merge;
    dkm_svm_subproblem sub;
    double *head;             /* size x (2 + q): violation, count and ids of each problem's set */
    double *solution, *moved; /* 2 q + 1: new a, dbeta, steps; of this rank's subproblem, of any */
    double *steps;            /* cols: that each problem took so far */
    double *out, *in;         /* rows of a working set on their way */
    dkm_idx *columns;         /* q: those of K that a round adds up */
    int *counts, *starts, *owner; /* of ranks; q owners of a set */
} decomposition;

/* ---- variables ---- */

/* y of side @p side of the local example i in problem c. */
static double sign_of(const decomposition *d, dkm_idx c, dkm_idx i, dkm_idx side)
{
    if (d->sides == 2)
        return side ? -1.0 : 1.0;
    return d->p->T[i * d->p->cols + c];
}

static double f_of(const decomposition *d, dkm_idx c, dkm_idx i, dkm_idx side)
{
    double tube = d->sides == 2 ? (side ? -d->s->tube : d->s->tube) : 0.0;

    return d->u[c * d->rows + i] + tube;
}

static double *a_of(const decomposition *d, dkm_idx c, dkm_idx i, dkm_idx side)
{
    return &d->a[(c * d->sides + side) * d->rows + i];
}

/* The bound C of the a of an example, and what is added to its element of the diagonal. */
static double bound_of(const decomposition *d, dkm_idx example)
{
    return d->p->weights && d->s->loss != DKM_LOSS_SQUARED_HINGE ? d->C * d->p->weights[example]
                                                                 : d->C;
}

static double shift_of(const decomposition *d, dkm_idx example)
{
    return d->p->weights ? d->shift / d->p->weights[example] : d->shift;
}

/* ---- 1. violators ---- */

static void find_violators(decomposition *d, dkm_idx c)
{
    dkm_svm_violators grow = {d->fresh, 0, d->mine}, shrink = {d->fresh, 0, d->mine + d->fresh};

    for (dkm_idx side = 0; side < d->sides; side++)
        for (dkm_idx i = 0; i < d->rows; i++) {
            double a = *a_of(d, c, i, side), f = f_of(d, c, i, side);
            double C = bound_of(d, d->first + i);
            int positive = sign_of(d, c, i, side) > 0;
            if (positive ? a < C : a > 0)
                dkm_svm_violators_put(&grow, -f, side * d->m + d->first + i);
            if (positive ? a > 0 : a < C)
                dkm_svm_violators_put(&shrink, f, side * d->m + d->first + i);
        }
    dkm_svm_violators_sort(&grow);
    dkm_svm_violators_sort(&shrink);
}

static void add_to_set(double id, double *ids, dkm_idx *n)
{
    for (dkm_idx k = 0; k < *n; k++)
        if (ids[k] == id)
            return;
    ids[(*n)++] = id;
}

/* The next working set of problem c from the violators of all ranks, and what is left of the old one:
 * violation, count, ids. */
static void choose_set(const decomposition *d, dkm_idx c, double *head)
{
    const dkm_svm_violator *grow = d->all, *shrink = d->all + d->fresh;
    dkm_idx n = 0;

    for (dkm_idx k = 0; k < d->fresh && n < d->fresh; k++) {
        if (isfinite(grow[k].key))
            add_to_set(grow[k].id, head + 2, &n);
        if (isfinite(shrink[k].key) && n < d->fresh)
            add_to_set(shrink[k].id, head + 2, &n);
    }
    for (dkm_idx k = 0; k < d->held[c] && n < d->q; k++)
        add_to_set((double)d->set[c * d->q + k], head + 2, &n);
    head[0] = grow[0].key + shrink[0].key;
    head[1] = (double)n;
}

/* Violation and working set of problem c, on every rank; rank @p root solves it. */
static void renew_set(decomposition *d, dkm_idx c, int root, double *head)
{
    MPI_Comm comm = dkm_ctx_comm(d->ctx);

    find_violators(d, c);
    MPI_Reduce(d->mine, d->all, 2, d->type, d->merge, root, comm);
    if (dkm_ctx_rank(d->ctx) == root)
        choose_set(d, c, head);
    MPI_Bcast(head, (int)(2 + d->q), MPI_DOUBLE, root, comm);
    d->held[c] = (dkm_idx)head[1];
    for (dkm_idx k = 0; k < d->held[c]; k++)
        d->set[c * d->q + k] = (dkm_idx)head[2 + k];
}

/* ---- 2. the rows of a working set ---- */

/* y, a, f and the row of K of those variables of the set that are here. */
static int pack_rows(decomposition *d, dkm_idx c)
{
    dkm_idx n = d->held[c], count = 0;
    const dkm_idx *set = d->set + c * d->q;

    for (dkm_idx k = 0; k < n; k++) {
        dkm_idx i = set[k] % d->m - d->first, side = set[k] / d->m;
        double *to = d->out + count * (n + 3);
        const double *row = dkm_data_values_const(d->K) + i * d->m;
        if (i < 0 || i >= d->rows)
            continue;
        to[0] = sign_of(d, c, i, side);
        to[1] = *a_of(d, c, i, side);
        to[2] = f_of(d, c, i, side);
        for (dkm_idx l = 0; l < n; l++)
            to[3 + l] = row[set[l] % d->m];
        to[3 + k] += shift_of(d, set[k] % d->m);
        count++;
    }
    return (int)(count * (n + 3));
}

/* What came from the owners, in the order of the set. */
static void unpack_rows(decomposition *d, dkm_idx c)
{
    dkm_idx n = d->held[c];

    d->sub.n = n;
    for (dkm_idx k = 0; k < n; k++) {
        const double *from = d->in + d->starts[d->owner[k]];
        d->sub.y[k] = from[0];
        d->sub.a[k] = from[1];
        d->sub.f[k] = from[2];
        d->sub.C[k] = bound_of(d, d->set[c * d->q + k] % d->m);
        memcpy(d->sub.K + k * n, from + 3, (size_t)n * sizeof *from);
        d->starts[d->owner[k]] += (int)(n + 3);
    }
}

static void gather_rows(decomposition *d, dkm_idx c, int root)
{
    int size = dkm_ctx_size(d->ctx), sent = pack_rows(d, c);
    dkm_idx n = d->held[c];

    memset(d->counts, 0, (size_t)size * sizeof *d->counts);
    for (dkm_idx k = 0; k < n; k++) {
        d->owner[k] = dkm_slab_owner(d->m, d->set[c * d->q + k] % d->m, size);
        d->counts[d->owner[k]] += (int)(n + 3);
    }
    for (int r = 0; r < size; r++)
        d->starts[r] = r ? d->starts[r - 1] + d->counts[r - 1] : 0;
    MPI_Gatherv(d->out, sent, MPI_DOUBLE, d->in, d->counts, d->starts, MPI_DOUBLE, root,
                dkm_ctx_comm(d->ctx));
    if (dkm_ctx_rank(d->ctx) == root)
        unpack_rows(d, c);
}

/* ---- 3. and 4. solve, and move all ---- */

/* New a and dbeta of the subproblem of this rank. */
static void solve_own(decomposition *d, double violation)
{
    dkm_idx n = d->sub.n;
    double *dbeta = d->solution + n;

    for (dkm_idx k = 0; k < n; k++)
        dbeta[k] = -d->sub.y[k] * d->sub.a[k];
    d->solution[2 * n] = (double)dkm_svm_subproblem_solve(
        &d->sub, fmax(0.5 * d->s->tolerance, 0.1 * violation), 1000 + 100 * n);
    for (dkm_idx k = 0; k < n; k++) {
        d->solution[k] = d->sub.a[k];
        dbeta[k] += d->sub.y[k] * d->sub.a[k];
    }
}

typedef struct row_sums {
    const decomposition *d;
    double *u;
    dkm_idx n;
    const double *dbeta;
} row_sums;

static void add_some_rows(void *user, dkm_idx part, int thread)
{
    const row_sums *s = user;
    const decomposition *d = s->d;
    dkm_idx end = dkm_idx_min((part + 1) * ROWS_AT_ONCE, d->rows);

    (void)thread;
    for (dkm_idx i = part * ROWS_AT_ONCE; i < end; i++) {
        const double *row = dkm_data_values_const(d->K) + i * d->m;
        double sum = 0;
        for (dkm_idx k = 0; k < s->n; k++)
            sum += s->dbeta[k] * row[d->columns[k]];
        s->u[i] += sum;
    }
}

/* The working set's new a, and u of all rows of this rank. */
static void move_all(decomposition *d, dkm_idx c)
{
    dkm_idx n = d->held[c], count = 0;
    double *dbeta = d->moved + n;
    row_sums sums = {d, d->u + c * d->rows, 0, dbeta};

    for (dkm_idx k = 0; k < n; k++) {
        dkm_idx id = d->set[c * d->q + k], i = id % d->m - d->first;
        if (i >= 0 && i < d->rows) {
            *a_of(d, c, i, id / d->m) = d->moved[k];
            sums.u[i] += shift_of(d, d->first + i) * dbeta[k];
        }
        if (dbeta[k] != 0) {
            d->columns[count] = id % d->m;
            dbeta[count++] = dbeta[k];
        }
    }
    sums.n = count;
    dkm_parallel_for(dkm_ctx_threads(d->ctx), (d->rows + ROWS_AT_ONCE - 1) / ROWS_AT_ONCE,
                     add_some_rows, &sums);
}

/* A round of up to as many open problems as ranks, the k-th of which rank k solves. */
static void solve_round(decomposition *d, const dkm_idx *problems, int count)
{
    int rank = dkm_ctx_rank(d->ctx);
    dkm_idx wide = 2 + d->q;

    for (int k = 0; k < count; k++)
        renew_set(d, problems[k], k, d->head + k * wide);
    for (int k = 0; k < count; k++)
        if (d->head[k * wide] > d->s->tolerance)
            gather_rows(d, problems[k], k);
    if (rank < count && d->head[rank * wide] > d->s->tolerance)
        solve_own(d, d->head[rank * wide]);
    for (int k = 0; k < count; k++) {
        dkm_idx n = d->held[problems[k]];
        if (!(d->head[k * wide] > d->s->tolerance))
            continue;
        if (rank == k)
            memcpy(d->moved, d->solution, (size_t)(2 * n + 1) * sizeof *d->moved);
        MPI_Bcast(d->moved, (int)(2 * n + 1), MPI_DOUBLE, k, dkm_ctx_comm(d->ctx));
        d->steps[problems[k]] += 1.0 + d->moved[2 * n];
        d->rounds++;
        move_all(d, problems[k]);
    }
}

/* Whether a problem may go on. */
static dkm_local check_progress(const decomposition *d, dkm_idx c, double violation)
{
    double most = d->s->max_steps
                      ? (double)d->s->max_steps
                      : fmax(STEPS_MOST, STEPS_PER_VARIABLE * (double)(d->sides * d->m));

    if (isnan(violation))
        return dkm_fail(d->ctx, DKM_ERR_NUMERIC,
                        "support vector machine %lld leaves the range of numbers: scale the inputs "
                        "or normalize the kernel",
                        (long long)c);
    if (d->steps[c] > most)
        return dkm_fail(d->ctx, DKM_ERR_NUMERIC,
                        "support vector machine %lld is not optimal to %g after %.0f steps, but to "
                        "%g: scale the inputs, lower --C or raise --tolerance",
                        (long long)c, d->s->tolerance, d->steps[c], violation);
    return DKM_LOCAL_OK;
}

/* A round of all open problems; those that are solved are taken off the list. Violations and steps are
 * the same on every rank, and so is what comes back. */
static dkm_local solve_rounds_once(decomposition *d)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx left = 0, most = dkm_ctx_size(d->ctx);

    for (dkm_idx at = 0; at < d->opened; at += most) {
        int count = (int)dkm_idx_min(most, d->opened - at);
        solve_round(d, d->open + at, count);
        for (int k = 0; k < count; k++) {
            double violation = d->head[k * (2 + d->q)];
            DKM_STEP(check_progress(d, d->open[at + k], violation));
            if (violation > d->s->tolerance)
                d->open[left++] = d->open[at + k];
        }
    }
    d->opened = left;
out:
    return local;
}

static dkm_status solve_all(decomposition *d)
{
    dkm_status status = DKM_OK;

    while (d->opened > 0) {
        DKM_AGREE(d->ctx, solve_rounds_once(d));
        dkm_progress(d->ctx, (double)(d->p->cols - d->opened), (double)d->p->cols);
    }
out:
    return status;
}

/* ---- the result ---- */

/* b = -f of free variables, in the mean; where there are none, of the middle of the range that the
 * conditions leave. */
static void find_intercept(const decomposition *d, dkm_idx c, double *b)
{
    double sums[2] = {0, 0}, range[2] = {INFINITY, INFINITY}; /* least f, and of -f */

    for (dkm_idx side = 0; side < d->sides; side++)
        for (dkm_idx i = 0; i < d->rows; i++) {
            double a = *a_of(d, c, i, side), f = f_of(d, c, i, side);
            int positive = sign_of(d, c, i, side) > 0;
            if (a > 0 && a < bound_of(d, d->first + i)) {
                sums[0] += f;
                sums[1]++;
            } else if (positive == (a <= 0)) {
                range[0] = fmin(range[0], f);
            } else {
                range[1] = fmin(range[1], -f);
            }
        }
    MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(d->ctx));
    MPI_Allreduce(MPI_IN_PLACE, range, 2, MPI_DOUBLE, MPI_MIN, dkm_ctx_comm(d->ctx));
    *b = sums[1] > 0 ? -sums[0] / sums[1] : (range[1] - range[0]) / 2;
}

static void hand_over(const decomposition *d, double *B, double *b)
{
    for (dkm_idx c = 0; c < d->p->cols; c++) {
        find_intercept(d, c, &b[c]);
        for (dkm_idx i = 0; i < d->rows; i++) {
            B[i * d->p->cols + c] = 0;
            for (dkm_idx side = 0; side < d->sides; side++)
                B[i * d->p->cols + c] += sign_of(d, c, i, side) * *a_of(d, c, i, side);
        }
    }
}

/* ---- all of it ---- */

static dkm_local open_problems(decomposition *d)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx cols = d->p->cols;

    DKM_STEP(dkm_alloc(d->ctx, cols * d->rows, &d->u));
    DKM_STEP(dkm_calloc(d->ctx, cols * d->sides * d->rows, &d->a));
    DKM_STEP(dkm_alloc(d->ctx, cols * d->q, &d->set));
    DKM_STEP(dkm_calloc(d->ctx, cols, &d->held));
    DKM_STEP(dkm_alloc(d->ctx, cols, &d->open));
    DKM_STEP(dkm_calloc(d->ctx, cols, &d->steps));
    for (dkm_idx c = 0; c < cols; c++) {
        d->open[d->opened++] = c;
        for (dkm_idx i = 0; i < d->rows; i++)
            d->u[c * d->rows + i] = -d->p->T[i * cols + c]; /* a = 0 */
    }
out:
    return local;
}

static dkm_local open_buffers(decomposition *d)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx q = d->q, size = dkm_ctx_size(d->ctx), solved = dkm_idx_min(size, d->p->cols);
    int solves = dkm_ctx_rank(d->ctx) < d->p->cols;

    DKM_STEP(dkm_alloc(d->ctx, 2 * d->fresh, &d->mine));
    DKM_STEP(dkm_alloc(d->ctx, 2 * d->fresh, &d->all));
    DKM_STEP(dkm_alloc(d->ctx, solved * (2 + q), &d->head));
    DKM_STEP(dkm_alloc(d->ctx, 2 * q + 1, &d->solution));
    DKM_STEP(dkm_alloc(d->ctx, 2 * q + 1, &d->moved));
    DKM_STEP(dkm_alloc(d->ctx, q, &d->columns));
    DKM_STEP(dkm_alloc(d->ctx, q, &d->owner));
    DKM_STEP(dkm_alloc(d->ctx, size, &d->counts));
    DKM_STEP(dkm_alloc(d->ctx, size, &d->starts));
    DKM_STEP(dkm_alloc(d->ctx, dkm_idx_min(q, d->sides * d->rows) * (q + 3), &d->out));
    if (solves) {
        DKM_STEP(dkm_alloc(d->ctx, q * (q + 3), &d->in));
        DKM_STEP(dkm_alloc(d->ctx, q * q, &d->sub.K));
        DKM_STEP(dkm_alloc(d->ctx, q, &d->sub.y));
        DKM_STEP(dkm_alloc(d->ctx, q, &d->sub.a));
        DKM_STEP(dkm_alloc(d->ctx, q, &d->sub.f));
        DKM_STEP(dkm_alloc(d->ctx, q, &d->sub.C));
    }
out:
    return local;
}

static void close_all(decomposition *d)
{
    DKM_FREE(d->u);
    DKM_FREE(d->a);
    DKM_FREE(d->set);
    DKM_FREE(d->held);
    DKM_FREE(d->open);
    DKM_FREE(d->steps);
    DKM_FREE(d->mine);
    DKM_FREE(d->all);
    DKM_FREE(d->head);
    DKM_FREE(d->solution);
    DKM_FREE(d->moved);
    DKM_FREE(d->columns);
    DKM_FREE(d->owner);
    DKM_FREE(d->counts);
    DKM_FREE(d->starts);
    DKM_FREE(d->out);
    DKM_FREE(d->in);
    DKM_FREE(d->sub.K);
    DKM_FREE(d->sub.y);
    DKM_FREE(d->sub.a);
    DKM_FREE(d->sub.f);
    DKM_FREE(d->sub.C);
    dkm_data_destroy(&d->K);
    if (d->type != MPI_DATATYPE_NULL)
        MPI_Type_free(&d->type);
    if (d->merge != MPI_OP_NULL)
        MPI_Op_free(&d->merge);
}

/* Rows of K, which are made from a block-cyclic matrix of the same size. */
static double bytes_needed(const decomposition *d)
{
    double share = (double)d->m / dkm_ctx_size(d->ctx), cols = (double)d->p->cols;

    return sizeof(double) * (2.0 * share * (double)d->m + (1.0 + (double)d->sides) * share * cols +
                             3.0 * (double)d->q * (double)d->q + (double)d->q * cols);
}

static void open_sizes(decomposition *d)
{
    int rank = dkm_ctx_rank(d->ctx), size = dkm_ctx_size(d->ctx);

    d->m = dkm_prepared_rows(d->p->X);
    d->rows = dkm_slab_count(d->m, rank, size);
    d->first = dkm_slab_first(d->m, rank, size);
    d->sides = d->s->loss == DKM_LOSS_EPS_INSENSITIVE ? 2 : 1;
    d->q = dkm_idx_min(d->s->working_set ? d->s->working_set : WORKING_SET, d->sides * d->m);
    d->fresh = d->q < 4 ? d->q : d->q / 2;
    d->C = dkm_svm_bound(d->s);
    d->shift = dkm_svm_shift(d->s);
}

dkm_status dkm_svm_decomposition_solve(const dkm_svm_dual_problem *problem,
                                       const dkm_svm_dual_settings *settings, double *B, double *b)
{
    dkm_status status = DKM_OK;
    decomposition d = {.ctx = dkm_grid_ctx(problem->grid),
                       .p = problem,
                       .s = settings,
                       .type = MPI_DATATYPE_NULL,
                       .merge = MPI_OP_NULL};

    open_sizes(&d);
    DKM_TRY(dkm_memory_check(d.ctx, bytes_needed(&d), "the rows of the kernel matrix"));
    DKM_TRY(dkm_gram_rows(problem->grid, problem->kernel, problem->X, problem->nb, 0, &d.K));
    DKM_AGREE(d.ctx, open_problems(&d));
    DKM_AGREE(d.ctx, open_buffers(&d));
    dkm_svm_violators_op(d.fresh, &d.type, &d.merge);
    DKM_TRY(solve_all(&d));
    hand_over(&d, B, b);
    if (problem->rounds)
        *problem->rounds = d.rounds;
out:
    close_all(&d);
    return status;
}
