#include "io/checkpoint/checkpointer.h"

#include <stdio.h>
#include <string.h>

#include <dkmap/grid.h>
#include <dkmap/random.h>

#include "core/ctx_private.h"

static dkm_checkpointer *checkpointer_of(const dkm_ctx *ctx)
{
    return dkm_ctx_checkpointer(ctx);
}

int dkm_checkpointer_enabled(const dkm_ctx *ctx)
{
    return checkpointer_of(ctx) != NULL;
}

dkm_checkpointer *dkm_checkpointer_pause(dkm_ctx *ctx)
{
    dkm_checkpointer *k = checkpointer_of(ctx);

    dkm_ctx_set_checkpointer(ctx, NULL);
    return k;
}

void dkm_checkpointer_resume(dkm_ctx *ctx, dkm_checkpointer *checkpointer)
{
    dkm_ctx_set_checkpointer(ctx, checkpointer);
}

/* The number is that of the layout of states, so that those of another one are not found. */
static void full_name(const char *stage, char full[2 * DKM_STAGE_LENGTH])
{
    snprintf(full, 2 * DKM_STAGE_LENGTH, "%s layout 2", stage);
}

int dkm_checkpointer_due(dkm_ctx *ctx, double bytes, int finished)
{
    dkm_checkpointer *k = checkpointer_of(ctx);

    return k ? k->due(k, bytes, finished) : 0;
}

dkm_status dkm_checkpointer_save(dkm_ctx *ctx, const char *stage, dkm_archive *state)
{
    dkm_checkpointer *k = checkpointer_of(ctx);
    char full[2 * DKM_STAGE_LENGTH];

    if (!k)
        return DKM_OK;
    full_name(stage, full);
    return k->save(k, full, state);
}

dkm_status dkm_checkpointer_load(dkm_ctx *ctx, const char *stage, dkm_archive *state, int *found)
{
    dkm_checkpointer *k = checkpointer_of(ctx);
    char full[2 * DKM_STAGE_LENGTH];

    *state = dkm_archive_empty(ctx);
    *found = 0;
    if (!k)
        return DKM_OK;
    full_name(stage, full);
    return k->find(k, full, state, found);
}

/* A hash of bytes that goes on from another one. Sums of weighted words, as of files, would not do:
 * signs that change in an even number of places cancel in them. */
static uint64_t hash_bytes(uint64_t hash, const void *bytes, dkm_idx count)
{
    const char *from = bytes;

    for (dkm_idx at = 0; at < count; at += (dkm_idx)sizeof hash) {
        uint64_t word = 0;
        dkm_idx left = count - at;
        memcpy(&word, from + at, left < (dkm_idx)sizeof word ? (size_t)left : sizeof word);
        hash = dkm_random_bits(hash, word, 0, 0);
    }
    return hash;
}

/* An object at its place among all; those of all ranks are added up. */
static uint64_t hash_object(const dkm_objs *o, dkm_idx i, dkm_idx place)
{
    uint64_t hash = dkm_random_bits((uint64_t)place, 0, 0, 0);
    dkm_idx from, count;

    if (o->values)
        return hash_bytes(hash, o->values + i * o->d, o->d * (dkm_idx)sizeof *o->values);
    from = o->start[i];
    count = o->start[i + 1] - from;
    hash = hash_bytes(hash, &count, sizeof count);
    if (o->bytes)
        hash = hash_bytes(hash, o->bytes + from, count);
    if (o->col)
        hash = hash_bytes(hash, o->col + from, count * (dkm_idx)sizeof *o->col);
    if (o->val)
        hash = hash_bytes(hash, o->val + from, count * (dkm_idx)sizeof *o->val);
    return hash;
}

uint64_t dkm_data_fingerprint(const dkm_data *data)
{
    const dkm_objs *o = &data->mine;
    uint64_t sum = 0, all = 0;

    for (dkm_idx i = 0; i < o->n; i++)
        sum += hash_object(o, i, data->first + i);
    MPI_Allreduce(&sum, &all, 1, MPI_UINT64_T, MPI_SUM, dkm_ctx_comm(data->ctx));
    return all ^ ((uint64_t)data->m << 32) ^ ((uint64_t)o->d << 8) ^ (uint64_t)o->type;
}

uint64_t dkm_checkpointer_fingerprint(const dkm_data *data, const char *text)
{
    if (!dkm_checkpointer_enabled(data->ctx))
        return 0;
    return dkm_data_fingerprint(data) + hash_bytes(strlen(text), text, (dkm_idx)strlen(text));
}

dkm_status dkm_checkpointer_note_data(const dkm_data *data)
{
    dkm_checkpointer *k = checkpointer_of(data->ctx);

    return k ? k->note(k, dkm_data_fingerprint(data)) : DKM_OK;
}

dkm_status dkm_keep_note_sum(dkm_ctx *ctx, uint64_t sum)
{
    dkm_checkpointer *k = checkpointer_of(ctx);

    return k ? k->note(k, sum) : DKM_OK;
}

dkm_status dkm_checkpointer_load_table(dkm_ctx *ctx, const char *stage, dkm_idx count,
                                       const dkm_state_field *fields, int *found)
{
    dkm_status status = DKM_OK;
    dkm_archive state;

    DKM_TRY(dkm_checkpointer_load(ctx, stage, &state, found));
    if (*found)
        DKM_TRY(dkm_state_get(&state, count, fields));
out:
    dkm_archive_clear(&state);
    return status;
}

dkm_status dkm_checkpointer_save_table(dkm_ctx *ctx, const char *stage, dkm_idx count,
                                       const dkm_state_field *fields)
{
    dkm_status status = DKM_OK;
    dkm_archive state = dkm_archive_empty(ctx);

    DKM_AGREE(ctx, dkm_state_put(&state, count, fields));
    DKM_TRY(dkm_checkpointer_save(ctx, stage, &state));
out:
    dkm_archive_clear(&state);
    return status;
}

dkm_status dkm_checkpointer_load_choice(dkm_ctx *ctx, const char *stage, int *choice, int *found)
{
    dkm_state_field fields[] = {DKM_STATE_ONE("choice", DKM_STATE_INT, choice)};

    return dkm_checkpointer_load_table(ctx, stage, DKM_STATE_TABLE(fields), found);
}

/* A choice is saved in any case: what comes after depends on it. */
dkm_status dkm_checkpointer_save_choice(dkm_ctx *ctx, const char *stage, int choice)
{
    dkm_state_field fields[] = {DKM_STATE_ONE("choice", DKM_STATE_INT, &choice)};

    if (!dkm_checkpointer_enabled(ctx))
        return DKM_OK;
    (void)dkm_checkpointer_due(ctx, 0.0, 1);
    return dkm_checkpointer_save_table(ctx, stage, DKM_STATE_TABLE(fields));
}

dkm_status dkm_checkpointer_load_lower(const char *stage, dkm_dmat *A, int *found)
{
    dkm_state_field fields[] = {DKM_STATE_MATRIX("matrix", A)};

    return dkm_checkpointer_load_table(dkm_grid_ctx(dkm_dmat_grid(A)), stage,
                                       DKM_STATE_TABLE(fields), found);
}

dkm_status dkm_checkpointer_save_lower(const char *stage, dkm_dmat *A)
{
    dkm_ctx *ctx = dkm_grid_ctx(dkm_dmat_grid(A));
    dkm_state_field fields[] = {DKM_STATE_MATRIX("matrix", A)};

    if (!dkm_checkpointer_due(ctx, dkm_state_bytes(DKM_STATE_TABLE(fields)), 1))
        return DKM_OK;
    return dkm_checkpointer_save_table(ctx, stage, DKM_STATE_TABLE(fields));
}
