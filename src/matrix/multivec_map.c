#include "matrix/multivec_map.h"

#include <string.h>

#include "core/alloc.h"
#include "matrix/dmat_impl.h"

enum { TAG_ROWS = 71, TAG_SUMS = 72 };

/* The rank that is the home of row ig. */
static int map_home(const dkm_multivec_map *s, dkm_idx ig)
{
    int line, member;
    dkm_idx rows;

    if (dkm_ctx_size(s->ctx) == 1)
        return 0;
    line = dkm_cyclic_owner(ig, s->nb, s->lines);
    rows = dkm_cyclic_count(s->m, s->nb, line, s->lines);
    member = dkm_slab_owner(rows, dkm_cyclic_local(ig, s->nb, s->lines), s->members);
    return line * s->next_line + member * s->next;
}

static dkm_idx map_slab_rows(const dkm_multivec_map *s)
{
    return dkm_slab_count(s->m, dkm_ctx_rank(s->ctx), dkm_ctx_size(s->ctx));
}

/* Whether this rank is the home of all its rows and of no others: they are in their order then. */
static int map_stays(const dkm_multivec_map *s)
{
    dkm_idx n = map_slab_rows(s);

    return s->to[dkm_ctx_rank(s->ctx)] == n && s->count == n;
}

static void map_place(dkm_multivec_map *s, const dkm_dmat *shape, char side)
{
    const dkm_grid *g = shape->grid;
    int P = dkm_grid_rows(g), Q = dkm_grid_cols(g), row = side == 'R';

    s->m = row ? shape->m : shape->n;
    s->nb = row ? shape->mb : shape->nb;
    s->local = row ? shape->m_loc : shape->n_loc;
    s->line = row ? dkm_grid_row_comm(g) : dkm_grid_col_comm(g);
    s->lines = row ? P : Q;
    s->members = row ? Q : P;
    s->next_line = row ? Q : 1;
    s->next = row ? 1 : Q;
    s->at = row ? dkm_grid_row(g) : dkm_grid_col(g);
    s->me = row ? dkm_grid_col(g) : dkm_grid_row(g);
    s->first = s->me >= 0 ? dkm_slab_first(s->local, s->me, s->members) : 0;
    s->count = s->me >= 0 ? dkm_slab_count(s->local, s->me, s->members) : 0;
}

/* Packed rows are in the order of their homes, those of one home in their own. */
static void map_pack(dkm_multivec_map *s, dkm_idx first, dkm_idx n)
{
    dkm_idx at = 0;

    for (int r = 0; r < dkm_ctx_size(s->ctx); at += s->to[r++])
        s->cursor[r] = at;
    for (dkm_idx i = 0; i < n; i++)
        s->place[i] = s->cursor[map_home(s, first + i)]++;
}

static void map_count(dkm_multivec_map *s)
{
    int size = dkm_ctx_size(s->ctx), rank = dkm_ctx_rank(s->ctx);
    dkm_idx first = dkm_slab_first(s->m, rank, size), n = dkm_slab_count(s->m, rank, size);

    for (dkm_idx i = 0; i < n; i++)
        s->to[map_home(s, first + i)]++;
    for (dkm_idx h = s->first; h < s->first + s->count; h++)
        s->from[dkm_slab_owner(s->m, dkm_cyclic_global(h, s->nb, s->at, s->lines), size)]++;
    map_pack(s, first, n);
    for (int k = 0; k < s->members; k++) {
        s->counts[k] = (int)(dkm_slab_count(s->local, k, s->members) * s->p);
        s->starts[k] = (int)(dkm_slab_first(s->local, k, s->members) * s->p);
    }
}

dkm_local dkm_multivec_map_init(dkm_multivec_map *s, const dkm_dmat *shape, char side, dkm_idx p)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_ctx *ctx = dkm_grid_ctx(shape->grid);
    int size = dkm_ctx_size(ctx);

    *s = (dkm_multivec_map){.ctx = ctx, .p = p};
    map_place(s, shape, side);
    DKM_STEP(dkm_calloc(ctx, size, &s->to));
    DKM_STEP(dkm_calloc(ctx, size, &s->from));
    DKM_STEP(dkm_alloc(ctx, size, &s->cursor));
    DKM_STEP(dkm_alloc(ctx, dkm_slab_count(s->m, dkm_ctx_rank(ctx), size), &s->place));
    DKM_STEP(dkm_alloc(ctx, s->members, &s->counts));
    DKM_STEP(dkm_alloc(ctx, s->members, &s->starts));
    DKM_STEP(dkm_alloc(ctx, 2 * size, &s->requests));
    DKM_STEP(dkm_alloc(ctx, size > 1 ? dkm_slab_count(s->m, dkm_ctx_rank(ctx), size) * p : 0,
                       &s->packed));
    DKM_STEP(dkm_alloc(ctx, s->count * p, &s->part));
    map_count(s);
out:
    return local;
}

void dkm_multivec_map_free(dkm_multivec_map *s)
{
    DKM_FREE(s->part);
    DKM_FREE(s->packed);
    DKM_FREE(s->requests);
    DKM_FREE(s->starts);
    DKM_FREE(s->counts);
    DKM_FREE(s->place);
    DKM_FREE(s->cursor);
    DKM_FREE(s->from);
    DKM_FREE(s->to);
}

/* Send out[r] rows to rank r and receive in[r] rows from it; in both arrays the rows of one rank
 * follow those of the rank before. */
static void map_exchange(dkm_multivec_map *s, const dkm_idx *out, const double *sent,
                         const dkm_idx *in, double *received)
{
    int size = dkm_ctx_size(s->ctx), rank = dkm_ctx_rank(s->ctx), n = 0;
    MPI_Comm comm = dkm_ctx_comm(s->ctx);
    double *own = NULL;

    for (int r = 0; r < size; r++) {
        if (r == rank)
            own = received;
        else if (in[r] > 0)
            MPI_Irecv(received, (int)(in[r] * s->p), MPI_DOUBLE, r, TAG_ROWS, comm,
                      &s->requests[n++]);
        received += in[r] * s->p;
    }
    for (int r = 0; r < size; r++) {
        if (r == rank)
            memcpy(own, sent, (size_t)(out[r] * s->p) * sizeof *own);
        else if (out[r] > 0)
            MPI_Isend(sent, (int)(out[r] * s->p), MPI_DOUBLE, r, TAG_ROWS, comm, &s->requests[n++]);
        sent += out[r] * s->p;
    }
    MPI_Waitall(n, s->requests, MPI_STATUSES_IGNORE);
}

void dkm_multivec_map_to_homes(dkm_multivec_map *s, const double *rows, dkm_idx ld, double *home)
{
    dkm_idx n = map_slab_rows(s);
    double *packed = map_stays(s) ? home : s->packed;

    for (dkm_idx i = 0; i < n; i++)
        memcpy(packed + s->place[i] * s->p, rows + i * ld, (size_t)s->p * sizeof *rows);
    if (!map_stays(s))
        map_exchange(s, s->to, packed, s->from, home);
}

void dkm_multivec_map_from_homes(dkm_multivec_map *s, const double *home, int add, double *rows,
                                 dkm_idx ld)
{
    dkm_idx n = map_slab_rows(s);
    const double *packed = map_stays(s) ? home : s->packed;

    if (!map_stays(s))
        map_exchange(s, s->from, home, s->to, s->packed);
    for (dkm_idx i = 0; i < n; i++) {
        const double *from = packed + s->place[i] * s->p;
        for (dkm_idx k = 0; k < s->p; k++)
            rows[i * ld + k] = add ? rows[i * ld + k] + from[k] : from[k];
    }
}

void dkm_multivec_map_allgather(dkm_multivec_map *s, double *local)
{
    if (s->me >= 0)
        MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, local, s->counts, s->starts, MPI_DOUBLE,
                       s->line);
}

/* Each rank sends every other one of the line its rows, so that each number moves once. */
void dkm_multivec_map_reduce_scatter(dkm_multivec_map *s, double *local)
{
    double *home = dkm_multivec_map_home(s, local);

    for (int step = 1; s->me >= 0 && step < s->members; step++) {
        int to = (s->me + step) % s->members, from = (s->me - step + s->members) % s->members;
        MPI_Sendrecv(local + s->starts[to], s->counts[to], MPI_DOUBLE,
                     s->counts[to] > 0 ? to : MPI_PROC_NULL, TAG_SUMS, s->part, s->counts[s->me],
                     MPI_DOUBLE, s->counts[s->me] > 0 ? from : MPI_PROC_NULL, TAG_SUMS, s->line,
                     MPI_STATUS_IGNORE);
        for (dkm_idx k = 0; k < s->counts[s->me]; k++)
            home[k] += s->part[k];
    }
}
