/* Quadratic program with a row-distributed Gram matrix: rank 0 solves, and requests rows G_c and
 * products G a from the ranks that own them; the others serve requests until it is done.
 *
 * Rows and products are summed in the order of qp.h for any number of ranks. Cost: n words per row
 * that is not cached (row_cache.c), 2 n per product; n^2 / ranks numbers held per rank, O(n) on
 * rank 0 beside its cache. */
#include "solvers/qp/distributed.h"

#include <stdint.h>
#include <string.h>

#include "core/alloc.h"

dkm_qp_distributed dkm_qp_distributed_empty(dkm_ctx *ctx)
{
    return (dkm_qp_distributed){.ctx = ctx};
}

void dkm_qp_distributed_clear(dkm_qp_distributed *spread)
{
    DKM_FREE(spread->owner);
    DKM_FREE(spread->G);
    spread->n = spread->own = spread->capacity = spread->own_capacity = 0;
}

static dkm_local distributed_enlarge(dkm_qp_distributed *s, dkm_idx n, dkm_idx own)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx capacity = n > s->capacity ? n + n / 2 + 16 : s->capacity;
    dkm_idx rows = own > s->own_capacity ? own + own / 2 + 16 : s->own_capacity;
    double *G = NULL;

    if (capacity == s->capacity && rows == s->own_capacity)
        return local;
    DKM_STEP(dkm_realloc(s->ctx, capacity, &s->owner));
    DKM_STEP(dkm_calloc(s->ctx, rows * capacity, &G));
    for (dkm_idx k = 0; k < s->own; k++)
        memcpy(G + k * capacity, s->G + k * s->capacity, (size_t)s->n * sizeof *G);
    DKM_FREE(s->G);
    s->G = G;
    s->capacity = capacity;
    s->own_capacity = rows;
out:
    return local;
}

dkm_local dkm_qp_distributed_grow(dkm_qp_distributed *spread, dkm_idx count, const int *owner)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx own = spread->own;

    for (dkm_idx k = 0; k < count; k++)
        own += owner[k] == dkm_ctx_rank(spread->ctx);
    DKM_STEP(distributed_enlarge(spread, spread->n + count, own));
    for (dkm_idx k = 0; k < count; k++)
        spread->owner[spread->n + k] = owner[k];
    spread->n += count;
    spread->own = own;
out:
    return local;
}

void dkm_qp_distributed_take(dkm_qp_distributed *spread, dkm_qp *qp)
{
    MPI_Comm comm = dkm_ctx_comm(spread->ctx);
    int rank = dkm_ctx_rank(spread->ctx), n = (int)spread->n;
    dkm_idx k = 0;

    for (dkm_idx c = 0; c < spread->n; c++) {
        int to = spread->owner[c];
        double *row = spread->G + k * spread->capacity;
        if (rank == 0 && to == 0)
            memcpy(row, qp->G + c * qp->capacity, (size_t)n * sizeof *row);
        else if (rank == 0)
            MPI_Send(qp->G + c * qp->capacity, n, MPI_DOUBLE, to, 0, comm);
        else if (rank == to)
            MPI_Recv(row, n, MPI_DOUBLE, 0, 0, comm, MPI_STATUS_IGNORE);
        k += rank == to;
    }
    if (rank == 0)
        dkm_qp_use_row_provider(qp, &spread->provider);
}

/* How products of new constraints travel to the owners of those: all counts are of numbers. */
typedef struct messages {
    int *out, *out_at, *in, *in_at;
    double *got;
} messages;

static void messages_close(messages *p)
{
    DKM_FREE(p->out);
    DKM_FREE(p->out_at);
    DKM_FREE(p->in);
    DKM_FREE(p->in_at);
    DKM_FREE(p->got);
}

static dkm_local messages_open(const dkm_qp_distributed *s, dkm_idx fresh, messages *p)
{
    dkm_local local = DKM_LOCAL_OK;
    int size = dkm_ctx_size(s->ctx), rank = dkm_ctx_rank(s->ctx);

    if (fresh * s->n > INT32_MAX)
        return dkm_fail(s->ctx, DKM_ERR_SIZE,
                        "%lld new constraints beside %lld are too many for one round",
                        (long long)fresh, (long long)s->n);
    DKM_STEP(dkm_calloc(s->ctx, size, &p->out));
    DKM_STEP(dkm_calloc(s->ctx, size, &p->out_at));
    DKM_STEP(dkm_calloc(s->ctx, size, &p->in));
    DKM_STEP(dkm_calloc(s->ctx, size, &p->in_at));
    for (dkm_idx c = s->n - fresh; c < s->n; c++)
        p->out[s->owner[c]]++;
    for (dkm_idx c = 0; c < s->n; c++)
        p->in[s->owner[c]] += p->out[rank];
    for (int k = 0; k < size; k++) {
        p->out[k] *= (int)s->own;
        p->out_at[k] = k ? p->out_at[k - 1] + p->out[k - 1] : 0;
        p->in_at[k] = k ? p->in_at[k - 1] + p->in[k - 1] : 0;
    }
    DKM_STEP(dkm_alloc(s->ctx, p->in_at[size - 1] + p->in[size - 1], &p->got));
out:
    return local;
}

/* The products that rank @p from sent, rows of its constraints in their order. */
static void distributed_place(dkm_qp_distributed *s, dkm_idx rows, int from, const double *got)
{
    dkm_idx column = 0, width = 0;

    for (dkm_idx c = 0; c < s->n; c++)
        width += s->owner[c] == from;
    for (dkm_idx c = 0; c < s->n; c++) {
        if (s->owner[c] != from)
            continue;
        for (dkm_idx k = 0; k < rows; k++)
            s->G[(s->own - rows + k) * s->capacity + c] = got[k * width + column];
        column++;
    }
}

dkm_status dkm_qp_distributed_add(dkm_qp_distributed *spread, dkm_idx fresh, const double *block)
{
    dkm_status status = DKM_OK;
    dkm_idx old = spread->n - fresh, rows = 0, own = spread->own;
    messages p = {0};

    DKM_AGREE(spread->ctx, messages_open(spread, fresh, &p));
    for (dkm_idx c = old; c < spread->n; c++)
        rows += spread->owner[c] == dkm_ctx_rank(spread->ctx);
    for (dkm_idx k = 0; k < own - rows; k++)
        for (dkm_idx f = 0; f < fresh; f++)
            spread->G[k * spread->capacity + old + f] = block[f * own + k];
    MPI_Alltoallv(block, p.out, p.out_at, MPI_DOUBLE, p.got, p.in, p.in_at, MPI_DOUBLE,
                  dkm_ctx_comm(spread->ctx));
    for (int k = 0; k < dkm_ctx_size(spread->ctx); k++)
        distributed_place(spread, rows, k, p.got + p.in_at[k]);
out:
    messages_close(&p);
    return status;
}

void dkm_qp_distributed_keep(dkm_qp_distributed *spread, const char *keep)
{
    dkm_idx n_kept = 0, own = 0, k = 0;

    for (dkm_idx c = 0; c < spread->n; c++) {
        int here = spread->owner[c] == dkm_ctx_rank(spread->ctx);
        dkm_idx col = 0;
        for (dkm_idx d = 0; here && keep[c] && d < spread->n; d++)
            if (keep[d])
                spread->G[own * spread->capacity + col++] = spread->G[k * spread->capacity + d];
        own += here && keep[c];
        k += here;
        if (keep[c])
            spread->owner[n_kept++] = spread->owner[c];
    }
    spread->n = n_kept;
    spread->own = own;
}

/* Questions of rank 0. */
enum { DONE = -1, TIMES = -2 }; /* else the number of a row */

/* This rank's part of what rank 0 asked for; returns whether there will be more. */
static int reply(dkm_qp_distributed *s, dkm_idx question, const double *row)
{
    MPI_Comm comm = dkm_ctx_comm(s->ctx);
    int rank = dkm_ctx_rank(s->ctx);

    if (question == TIMES) {
        MPI_Bcast(s->a, (int)s->n, MPI_DOUBLE, 0, comm);
        for (dkm_idx k = 0; k < s->own; k++)
            s->mine[k] = dkm_qp_dot(s->n, s->G + k * s->capacity, s->a);
        MPI_Gatherv(s->mine, (int)s->own, MPI_DOUBLE, s->all, s->counts, s->starts, MPI_DOUBLE, 0,
                    comm);
    } else if (question >= 0 && s->owner[question] == rank && rank != 0) {
        MPI_Send(row, (int)s->n, MPI_DOUBLE, 0, 0, comm);
    }
    return question != DONE;
}

/* Which of its owner's rows. */
static dkm_idx distributed_index_of(const dkm_qp_distributed *s, dkm_idx c)
{
    dkm_idx k = 0;

    for (dkm_idx d = 0; d < c; d++)
        k += s->owner[d] == s->owner[c];
    return k;
}

static void serve_requests(dkm_qp_distributed *s)
{
    dkm_idx question;
    const double *row;

    do {
        MPI_Bcast(&question, 1, MPI_INT64_T, 0, dkm_ctx_comm(s->ctx));
        row = question >= 0 ? s->G + distributed_index_of(s, question) * s->capacity : NULL;
    } while (reply(s, question, row));
}

static void request(dkm_qp_distributed *s, dkm_idx question)
{
    MPI_Bcast(&question, 1, MPI_INT64_T, 0, dkm_ctx_comm(s->ctx));
    reply(s, question, NULL);
}

static void request_row(void *user, dkm_idx c, double *row)
{
    dkm_qp_distributed *s = user;

    request(s, c);
    if (s->owner[c] == 0)
        memcpy(row, s->G + distributed_index_of(s, c) * s->capacity, (size_t)s->n * sizeof *row);
    else
        MPI_Recv(row, (int)s->n, MPI_DOUBLE, s->owner[c], 0, dkm_ctx_comm(s->ctx),
                 MPI_STATUS_IGNORE);
}

/* What lies by rank, in the order of all. */
static void unpermute_rows(dkm_qp_distributed *s, double *out)
{
    for (int k = 0; k < dkm_ctx_size(s->ctx); k++) {
        const double *at = s->all + s->starts[k];
        for (dkm_idx c = 0; c < s->n; c++)
            if (s->owner[c] == k)
                out[c] = *at++;
    }
}

static void request_matvec(void *user, const double *a, double *out)
{
    dkm_qp_distributed *s = user;

    memcpy(s->a, a, (size_t)s->n * sizeof *a);
    request(s, TIMES);
    unpermute_rows(s, out);
}

static dkm_local distributed_open(dkm_qp_distributed *s)
{
    dkm_local local = DKM_LOCAL_OK;
    int size = dkm_ctx_size(s->ctx);

    DKM_STEP(dkm_calloc(s->ctx, size, &s->counts));
    DKM_STEP(dkm_calloc(s->ctx, size, &s->starts));
    DKM_STEP(dkm_alloc(s->ctx, s->n, &s->a));
    DKM_STEP(dkm_alloc(s->ctx, s->own, &s->mine));
    DKM_STEP(dkm_alloc(s->ctx, s->n, &s->all));
    DKM_STEP(dkm_alloc(s->ctx, s->n, &s->provider.diagonal));
    for (dkm_idx c = 0; c < s->n; c++)
        s->counts[s->owner[c]]++;
    for (int k = 1; k < size; k++)
        s->starts[k] = s->starts[k - 1] + s->counts[k - 1];
out:
    return local;
}

static void distributed_close(dkm_qp_distributed *s)
{
    DKM_FREE(s->counts);
    DKM_FREE(s->starts);
    DKM_FREE(s->a);
    DKM_FREE(s->mine);
    DKM_FREE(s->all);
    DKM_FREE(s->provider.diagonal);
}

static void distributed_gather_diagonal(dkm_qp_distributed *s)
{
    dkm_idx k = 0;

    for (dkm_idx c = 0; c < s->n; c++)
        if (s->owner[c] == dkm_ctx_rank(s->ctx)) {
            s->mine[k] = s->G[k * s->capacity + c];
            k++;
        }
    MPI_Gatherv(s->mine, (int)s->own, MPI_DOUBLE, s->all, s->counts, s->starts, MPI_DOUBLE, 0,
                dkm_ctx_comm(s->ctx));
    if (dkm_ctx_rank(s->ctx) == 0)
        unpermute_rows(s, s->provider.diagonal);
}

dkm_status dkm_qp_distributed_solve(dkm_qp_distributed *spread, dkm_qp *qp, double C,
                                    dkm_qp_target target, dkm_qp_info *info)
{
    dkm_status status = DKM_OK;
    dkm_local local = DKM_LOCAL_OK;

    DKM_AGREE(spread->ctx, distributed_open(spread));
    distributed_gather_diagonal(spread);
    if (dkm_ctx_rank(spread->ctx) == 0) {
        spread->provider.user = spread;
        spread->provider.row = request_row;
        spread->provider.times = request_matvec;
        qp->provider = &spread->provider;
        local =
            C > 0 ? dkm_qp_smo(qp, C, target, info) : dkm_qp_active_set(qp, target.tolerance, info);
        request(spread, DONE);
    } else {
        serve_requests(spread);
    }
    DKM_AGREE(spread->ctx, local);
out:
    distributed_close(spread);
    return status;
}
