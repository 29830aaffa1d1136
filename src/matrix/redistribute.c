/* Redistribution between row slabs (one block of consecutive rows per rank) and the 2-D
 * block-cyclic layout (ScaLAPACK: p?gemr2d; Prylli and Tourancheau 1997, J. Parallel Distrib.
 * Comput. 45(1):63-72).
 *
 * Both ends know the two layouts, so only matrix elements are sent. Rows are sent in rounds, each
 * rank contributing a bounded chunk of its slab, so that buffers do not grow with the matrix. In
 * one message from slab holder s to process (p, q) the rows of s that belong to grid row p follow
 * each other in order, each as the elements of grid column q in local column order.
 *
 * Cost per rank: m n / ranks words sent and received, by one alltoallv per round of 16 MiB per
 * rank. Nothing is replicated. */
#include <string.h>

#include "core/alloc.h"
#include "matrix/dmat_impl.h"

#define ROUND_BYTES  (16 << 20)
#define COLUMN_BLOCK 64

typedef struct redistribution {
    const dkm_dmat *A;
    dkm_ctx *ctx;
    int P, Q, size, rank;
    dkm_idx chunk; /* rows a rank gives in one round */
    dkm_idx rounds;
    int lower; /* what lies above the diagonal stays as it is */
    double *slab_side, *grid_side;
    int *slab_counts, *slab_starts, *grid_counts, *grid_starts;
} redistribution;

static dkm_idx my_first(const redistribution *e)
{
    return dkm_slab_first(e->A->m, e->rank, e->size);
}

/* Rows [*from, *to) of the slab of rank s that travel in round t. */
static void chunk_rows(const redistribution *e, int s, dkm_idx t, dkm_idx *from, dkm_idx *to)
{
    dkm_idx first = dkm_slab_first(e->A->m, s, e->size);
    dkm_idx end = dkm_slab_first(e->A->m, s + 1, e->size);

    *from = first + t * e->chunk < end ? first + t * e->chunk : end;
    *to = *from + e->chunk < end ? *from + e->chunk : end;
}

/* How many of rows [from, to) belong to grid row p. */
static dkm_idx rows_of(const redistribution *e, dkm_idx from, dkm_idx to, int p)
{
    dkm_idx mb = e->A->mb;

    return dkm_cyclic_count(to, mb, p, e->P) - dkm_cyclic_count(from, mb, p, e->P);
}

static dkm_idx cols_of(const redistribution *e, int q)
{
    return dkm_cyclic_count(e->A->n, e->A->nb, q, e->Q);
}

static void redistribute_plan_round(redistribution *e, dkm_idx t)
{
    int slab_at = 0, grid_at = 0, p = dkm_grid_row(e->A->grid);
    dkm_idx from, to, s_from, s_to;

    chunk_rows(e, e->rank, t, &from, &to);
    for (int r = 0; r < e->size; r++) {
        int inside = r < e->P * e->Q;
        chunk_rows(e, r, t, &s_from, &s_to);
        e->slab_counts[r] =
            inside ? (int)(rows_of(e, from, to, r / e->Q) * cols_of(e, r % e->Q)) : 0;
        e->grid_counts[r] = p >= 0 ? (int)(rows_of(e, s_from, s_to, p) * e->A->n_loc) : 0;
        e->slab_starts[r] = slab_at;
        e->grid_starts[r] = grid_at;
        slab_at += e->slab_counts[r];
        grid_at += e->grid_counts[r];
    }
}

/* The most rows this grid row sends or gets in any one round. */
static dkm_idx max_rows_per_round(const redistribution *e)
{
    dkm_idx most = 0, from, to;

    for (dkm_idx t = 0; t < e->rounds; t++) {
        dkm_idx rows = 0;
        for (int s = 0; s < e->size; s++) {
            chunk_rows(e, s, t, &from, &to);
            rows += rows_of(e, from, to, dkm_grid_row(e->A->grid));
        }
        most = rows > most ? rows : most;
    }
    return most;
}

static dkm_local redistribution_open(redistribution *e, const dkm_dmat *A)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx most;

    memset(e, 0, sizeof *e);
    e->A = A;
    e->ctx = dkm_grid_ctx(A->grid);
    e->P = dkm_grid_rows(A->grid);
    e->Q = dkm_grid_cols(A->grid);
    e->size = dkm_ctx_size(e->ctx);
    e->rank = dkm_ctx_rank(e->ctx);
    e->chunk = ROUND_BYTES / ((A->n > 0 ? A->n : 1) * (dkm_idx)sizeof(double));
    if (e->chunk < 1)
        e->chunk = 1;
    most = dkm_slab_count(A->m, 0, e->size);
    if (e->chunk > most)
        e->chunk = most > 0 ? most : 1;
    e->rounds = (most + e->chunk - 1) / e->chunk;
    DKM_STEP(dkm_alloc(e->ctx, e->chunk * A->n, &e->slab_side));
    DKM_STEP(dkm_alloc(e->ctx, max_rows_per_round(e) * A->n_loc, &e->grid_side));
    DKM_STEP(dkm_alloc(e->ctx, e->size, &e->slab_counts));
    DKM_STEP(dkm_alloc(e->ctx, e->size, &e->slab_starts));
    DKM_STEP(dkm_alloc(e->ctx, e->size, &e->grid_counts));
    DKM_STEP(dkm_alloc(e->ctx, e->size, &e->grid_starts));
out:
    return local;
}

static void redistribution_close(redistribution *e)
{
    DKM_FREE(e->slab_side);
    DKM_FREE(e->grid_side);
    DKM_FREE(e->slab_counts);
    DKM_FREE(e->slab_starts);
    DKM_FREE(e->grid_counts);
    DKM_FREE(e->grid_starts);
}

/* Copy the elements of one row that belong to grid column q: pack (into == 1) or unpack. */
static void copy_row_part(const redistribution *e, double *row, int q, double *packed, int into)
{
    dkm_idx nb = e->A->nb, n = e->A->n;

    for (dkm_idx jg = q * nb; jg < n; jg += nb * e->Q) {
        dkm_idx width = jg + nb < n ? nb : n - jg;
        memcpy(into ? packed : row + jg, into ? row + jg : packed, (size_t)width * sizeof *row);
        packed += width;
    }
}

/* Walk the slab side of round t, packing from or unpacking to rows that begin with row @p first. */
static void slab_copy(redistribution *e, dkm_idx t, double *rows, dkm_idx first, int into)
{
    dkm_idx from, to;

    chunk_rows(e, e->rank, t, &from, &to);
    for (int r = 0; r < e->P * e->Q; r++) {
        double *packed = e->slab_side + e->slab_starts[r];
        for (dkm_idx ig = from; ig < to; ig++) {
            if (dkm_cyclic_owner(ig, e->A->mb, e->P) != r / e->Q)
                continue;
            copy_row_part(e, rows + (ig - first) * e->A->n, r % e->Q, packed, into);
            packed += cols_of(e, r % e->Q);
        }
    }
}

/* Local rows [first, end) between their packed form and the local array, a few columns at a time:
 * columns of the array are far apart, and the lines of the cache hold several of its rows. */
static void copy_local_rows(const redistribution *e, dkm_dmat *A, dkm_idx first, dkm_idx end,
                            double *packed, int into)
{
    int Q = dkm_grid_cols(A->grid), q = dkm_grid_col(A->grid);

    for (dkm_idx j0 = 0; j0 < A->n_loc; j0 += COLUMN_BLOCK)
        for (dkm_idx il = first; il < end; il++) {
            double *row = packed + (il - first) * A->n_loc;
            dkm_idx j1 = j0 + COLUMN_BLOCK < A->n_loc ? j0 + COLUMN_BLOCK : A->n_loc;
            if (e->lower) {
                dkm_idx most = dkm_cyclic_count(dkm_dmat_global_row(A, il) + 1, A->nb, q, Q);
                j1 = j1 < most ? j1 : most;
            }
            for (dkm_idx jl = j0; jl < j1; jl++) {
                if (into)
                    row[jl] = dkm_dmat_at(A, il, jl);
                else
                    dkm_dmat_put(A, il, jl, row[jl]);
            }
        }
}

/* Walk the grid side of round t, unpacking to (into == 0) or packing from the local array. */
static void grid_copy(redistribution *e, dkm_idx t, dkm_dmat *A, int into)
{
    int p = dkm_grid_row(A->grid);

    for (int s = 0; s < e->size && p >= 0; s++) {
        dkm_idx from, to;
        chunk_rows(e, s, t, &from, &to);
        copy_local_rows(e, A, dkm_cyclic_count(from, A->mb, p, e->P),
                        dkm_cyclic_count(to, A->mb, p, e->P), e->grid_side + e->grid_starts[s],
                        into);
    }
}

static void redistribute_to_grid(redistribution *e)
{
    MPI_Alltoallv(e->slab_side, e->slab_counts, e->slab_starts, MPI_DOUBLE, e->grid_side,
                  e->grid_counts, e->grid_starts, MPI_DOUBLE, dkm_ctx_comm(e->ctx));
}

static void redistribute_to_slabs(redistribution *e)
{
    MPI_Alltoallv(e->grid_side, e->grid_counts, e->grid_starts, MPI_DOUBLE, e->slab_side,
                  e->slab_counts, e->slab_starts, MPI_DOUBLE, dkm_ctx_comm(e->ctx));
}

dkm_status dkm_dmat_from_rows(dkm_dmat *A, const double *rows)
{
    dkm_status status = DKM_OK;
    redistribution e;

    DKM_AGREE(dkm_grid_ctx(A->grid), redistribution_open(&e, A));
    for (dkm_idx t = 0; t < e.rounds; t++) {
        redistribute_plan_round(&e, t);
        slab_copy(&e, t, (double *)(uintptr_t)rows, my_first(&e), 1);
        redistribute_to_grid(&e);
        grid_copy(&e, t, A, 0);
    }
out:
    redistribution_close(&e);
    return status;
}

dkm_status dkm_dmat_to_rows(const dkm_dmat *A, double *rows)
{
    dkm_status status = DKM_OK;
    redistribution e;

    DKM_AGREE(dkm_grid_ctx(A->grid), redistribution_open(&e, A));
    for (dkm_idx t = 0; t < e.rounds; t++) {
        redistribute_plan_round(&e, t);
        grid_copy(&e, t, (dkm_dmat *)(uintptr_t)A, 1);
        redistribute_to_slabs(&e);
        slab_copy(&e, t, rows, my_first(&e), 0);
    }
out:
    redistribution_close(&e);
    return status;
}

dkm_status dkm_dmat_for_each_rows(const dkm_dmat *A, dkm_rows_callback see, void *user)
{
    dkm_status status = DKM_OK;
    dkm_local seen = DKM_LOCAL_OK;
    double *rows = NULL;
    redistribution e;

    DKM_AGREE(dkm_grid_ctx(A->grid), redistribution_open(&e, A));
    DKM_AGREE(e.ctx, dkm_alloc(e.ctx, e.chunk * A->n, &rows));
    for (dkm_idx t = 0; t < e.rounds; t++) {
        dkm_idx from, to;
        chunk_rows(&e, e.rank, t, &from, &to);
        redistribute_plan_round(&e, t);
        grid_copy(&e, t, (dkm_dmat *)(uintptr_t)A, 1);
        redistribute_to_slabs(&e);
        slab_copy(&e, t, rows, from, 0);
        if (seen.code == DKM_OK && to > from)
            seen = see(user, from, to - from, rows);
    }
    DKM_AGREE(e.ctx, seen);
out:
    DKM_FREE(rows);
    redistribution_close(&e);
    return status;
}

dkm_status dkm_dmat_fill_rows(dkm_dmat *A, int lower, dkm_rows_callback fill, void *user)
{
    dkm_status status = DKM_OK;
    dkm_local filled = DKM_LOCAL_OK;
    double *rows = NULL;
    redistribution e;

    DKM_AGREE(dkm_grid_ctx(A->grid), redistribution_open(&e, A));
    e.lower = lower;
    DKM_AGREE(e.ctx, dkm_calloc(e.ctx, e.chunk * A->n, &rows));
    for (dkm_idx t = 0; t < e.rounds; t++) {
        dkm_idx from, to;
        chunk_rows(&e, e.rank, t, &from, &to);
        if (filled.code == DKM_OK && to > from)
            filled = fill(user, from, to - from, rows);
        redistribute_plan_round(&e, t);
        slab_copy(&e, t, rows, from, 1);
        redistribute_to_grid(&e);
        grid_copy(&e, t, A, 0);
    }
    DKM_AGREE(e.ctx, filled);
out:
    DKM_FREE(rows);
    redistribution_close(&e);
    return status;
}
