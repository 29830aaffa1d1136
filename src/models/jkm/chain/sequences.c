/* Sequences on the ranks. Per rank: its positions. Sent, for dense rows: the rows of sequences that
 * cross a border between ranks, d words each, once. Replicated: one number per rank. */
#include "models/jkm/chain/sequences.h"

#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/checked.h"
#include "data/fetch.h"

void dkm_sequences_close(dkm_sequences *s)
{
    DKM_FREE(s->start);
    DKM_FREE(s->first);
    DKM_FREE(s->rows);
}

dkm_status dkm_sequences_numbers(const dkm_data *X, dkm_idx column, dkm_data **numbers)
{
    dkm_status status = DKM_OK;
    dkm_idx cols = dkm_data_cols(X);

    DKM_TRY(dkm_data_create_dense(dkm_data_ctx(X), dkm_data_rows(X), 1, numbers));
    for (dkm_idx i = 0; i < dkm_data_local_rows(X); i++)
        dkm_data_values(*numbers)[i] = dkm_data_values_const(X)[i * cols + column];
out:
    return status;
}

dkm_idx dkm_sequences_own(const dkm_sequences *s)
{
    return s->start[s->count];
}

dkm_idx dkm_sequences_total(const dkm_sequences *s)
{
    return s->first[dkm_ctx_size(s->ctx)];
}

/* Lengths of strings. */
static dkm_local take_strings(dkm_sequences *s)
{
    dkm_local local = DKM_LOCAL_OK;

    s->count = dkm_data_local_rows(s->X);
    DKM_STEP(dkm_calloc(s->ctx, s->count + 1, &s->start));
    for (dkm_idx i = 0; i < s->count; i++) {
        dkm_idx length;
        dkm_data_string_const(s->X, i, &length);
        if (length == 0)
            DKM_STEP(dkm_fail(s->ctx, DKM_ERR_ARG,
                              "input %lld is a chain of length 0: each needs a position at least",
                              (long long)(dkm_data_local_first(s->X) + i)));
        s->start[i + 1] = s->start[i] + length;
    }
out:
    return local;
}

/* The own row at which the rank's first sequence begins, among all rows; -1: none begins here.
 * Collective. */
static dkm_status first_beginning(const dkm_sequences *s, dkm_idx column, dkm_idx *begins)
{
    dkm_status status = DKM_OK;
    dkm_idx n = dkm_data_local_rows(s->X), cols = dkm_data_cols(s->X), i = 0;
    const double *x = dkm_data_values_const(s->X);
    double mine[2] = {(double)(n > 0), n > 0 ? x[(n - 1) * cols + column] : 0}, *all = NULL;
    double before = NAN;

    DKM_AGREE(s->ctx, dkm_alloc(s->ctx, 2 * (dkm_idx)dkm_ctx_size(s->ctx), &all));
    MPI_Allgather(mine, 2, MPI_DOUBLE, all, 2, MPI_DOUBLE, dkm_ctx_comm(s->ctx));
    for (int r = 0; r < dkm_ctx_rank(s->ctx); r++)
        before = all[2 * r] > 0 ? all[2 * r + 1] : before;
    while (i < n && x[i * cols + column] == before)
        i++;
    *begins = i < n ? dkm_data_local_first(s->X) + i : -1;
out:
    DKM_FREE(all);
    return status;
}

/* Rows of own sequences, and where each of those begins. */
static dkm_local take_rows(dkm_sequences *s, const dkm_objs *got, dkm_idx column)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx n = got->n, cols = got->d;

    DKM_STEP(dkm_alloc(s->ctx, n * s->d, &s->rows));
    DKM_STEP(dkm_calloc(s->ctx, n + 1, &s->start));
    for (dkm_idx i = 0; i < n; i++) {
        const double *x = got->values + i * cols;
        double *row = s->rows + i * s->d;
        for (dkm_idx j = 0; j < s->d; j++)
            row[j] = x[j + (j >= column)];
        if (i == 0 || x[column] != x[column - cols])
            s->start[s->count++] = i;
    }
    s->start[s->count] = n;
out:
    return local;
}

static dkm_status open_rows(dkm_sequences *s, dkm_idx column)
{
    dkm_status status = DKM_OK;
    int size = dkm_ctx_size(s->ctx);
    long long mine, *all = NULL;
    dkm_idx begins = -1;
    dkm_objs got = {0};

    DKM_REQUIRE(s->ctx, dkm_data_cols(s->X) > 1 && column < dkm_data_cols(s->X), DKM_ERR_ARG,
                "inputs of %lld columns, of which column %lld would be the numbers of sequences "
                "and the others the positions",
                (long long)dkm_data_cols(s->X), (long long)column);
    s->d = dkm_data_cols(s->X) - 1;
    DKM_AGREE(s->ctx, dkm_alloc(s->ctx, (dkm_idx)size, &all));
    DKM_TRY(first_beginning(s, column, &begins));
    mine = begins;
    MPI_Allgather(&mine, 1, MPI_LONG_LONG, all, 1, MPI_LONG_LONG, dkm_ctx_comm(s->ctx));
    s->first[size] = dkm_data_rows(s->X);
    for (int r = size - 1; r >= 0; r--)
        s->first[r] = all[r] >= 0 ? (dkm_idx)all[r] : s->first[r + 1];
    DKM_TRY(dkm_sequences_fetch(s, s->X, &got));
    DKM_AGREE(s->ctx, take_rows(s, &got, column));
out:
    dkm_objs_clear(&got);
    DKM_FREE(all);
    return status;
}

static dkm_status open_strings(dkm_sequences *s)
{
    dkm_status status = DKM_OK;
    int size = dkm_ctx_size(s->ctx);
    long long own, *all = NULL;

    DKM_AGREE(s->ctx, take_strings(s));
    DKM_AGREE(s->ctx, dkm_alloc(s->ctx, (dkm_idx)size, &all));
    own = dkm_sequences_own(s);
    MPI_Allgather(&own, 1, MPI_LONG_LONG, all, 1, MPI_LONG_LONG, dkm_ctx_comm(s->ctx));
    for (int r = 0; r < size; r++)
        s->first[r + 1] = s->first[r] + (dkm_idx)all[r];
out:
    DKM_FREE(all);
    return status;
}

dkm_status dkm_sequences_open(dkm_sequences *s, const dkm_data *X, dkm_idx column)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_data_ctx(X);
    long long count;
    int own; /* as MPI counts them */

    *s = (dkm_sequences){.ctx = ctx, .X = X};
    DKM_AGREE(ctx, dkm_calloc(ctx, (dkm_idx)dkm_ctx_size(ctx) + 1, &s->first));
    if (dkm_data_type(X) == DKM_STRINGS)
        DKM_TRY(open_strings(s));
    else
        DKM_TRY(open_rows(s, column));
    DKM_AGREE(ctx, dkm_checked_int(ctx, dkm_sequences_own(s), "positions of a rank", &own));
    for (dkm_idx i = 0; i < s->count; i++)
        if (s->start[i + 1] - s->start[i] > s->longest)
            s->longest = s->start[i + 1] - s->start[i];
    count = s->count;
    MPI_Allreduce(MPI_IN_PLACE, &count, 1, MPI_LONG_LONG, MPI_SUM, dkm_ctx_comm(ctx));
    s->all = (dkm_idx)count;
out:
    return status;
}

dkm_status dkm_sequences_fetch(const dkm_sequences *s, const dkm_data *Y, dkm_objs *got)
{
    dkm_status status = DKM_OK;
    int rank = dkm_ctx_rank(s->ctx);
    dkm_idx own = s->first[rank + 1] - s->first[rank], *indices = NULL;

    DKM_AGREE(s->ctx, dkm_alloc(s->ctx, own, &indices));
    for (dkm_idx i = 0; i < own; i++)
        indices[i] = s->first[rank] + i;
    DKM_TRY(dkm_data_fetch(Y, own, indices, got));
out:
    DKM_FREE(indices);
    return status;
}

dkm_status dkm_sequences_to_slabs(const dkm_sequences *s, const dkm_objs *own, dkm_data **data)
{
    dkm_status status = DKM_OK;
    int size = dkm_ctx_size(s->ctx), rank = dkm_ctx_rank(s->ctx);
    dkm_idx m = dkm_sequences_total(s), first = dkm_slab_first(m, rank, size);
    dkm_idx count = dkm_slab_count(m, rank, size), *indices = NULL;
    dkm_data here = {.ctx = s->ctx, .m = m, .first = s->first[rank], .mine = *own};
    dkm_objs got = {0};

    *data = NULL;
    DKM_AGREE(s->ctx, dkm_alloc(s->ctx, count, &indices));
    for (dkm_idx t = 0; t < count; t++)
        indices[t] = first + t;
    DKM_TRY(dkm_data_fetch_spread(&here, s->first, count, indices, &got));
    DKM_TRY(dkm_data_wrap(s->ctx, m, &got, data));
out:
    dkm_objs_clear(&got);
    DKM_FREE(indices);
    return status;
}
