#include "io/checkpoint/state_table.h"

#include <string.h>

#include <dkmap/grid.h>

#include "core/alloc.h"

static dkm_matrix_entry rows_of(const dkm_state_field *f)
{
    if (f->type == DKM_STATE_LOWER)
        return dkm_matrix_entry_lower(f->at);
    return (dkm_matrix_entry){.m = f->count, .n = f->cols, .slab = f->at, .ld = f->ld};
}

static int holds_rows(const dkm_state_field *f)
{
    return f->type == DKM_STATE_ROWS || f->type == DKM_STATE_LOWER;
}

double dkm_state_bytes(dkm_idx count, const dkm_state_field *fields)
{
    double bytes = 0;

    for (dkm_idx k = 0; k < count; k++) {
        dkm_matrix_entry rows =
            holds_rows(&fields[k]) ? rows_of(&fields[k]) : (dkm_matrix_entry){0};
        bytes += holds_rows(&fields[k]) ? dkm_matrix_entry_bytes(&rows)
                                        : (double)sizeof(double) * (double)fields[k].count;
    }
    return bytes;
}

static double number_of(const dkm_state_field *f, dkm_idx i)
{
    switch (f->type) {
    case DKM_STATE_INT:
        return ((const int *)f->at)[i];
    case DKM_STATE_COUNT:
    case DKM_STATE_INDEX:
        return (double)((const dkm_idx *)f->at)[i];
    default:
        return ((const double *)f->at)[i];
    }
}

static dkm_local put_numbers(dkm_archive *state, const dkm_state_field *f)
{
    dkm_local local = DKM_LOCAL_OK;
    double *numbers = NULL;

    DKM_STEP(dkm_alloc(state->ctx, f->count, &numbers));
    for (dkm_idx i = 0; i < f->count; i++)
        numbers[i] = number_of(f, i);
    DKM_STEP(dkm_archive_put_reals(state, f->name, f->count, numbers));
out:
    DKM_FREE(numbers);
    return local;
}

dkm_local dkm_state_put(dkm_archive *state, dkm_idx count, const dkm_state_field *fields)
{
    dkm_local local = DKM_LOCAL_OK;

    for (dkm_idx k = 0; k < count; k++) {
        if (holds_rows(&fields[k])) {
            dkm_matrix_entry rows = rows_of(&fields[k]);
            DKM_STEP(dkm_archive_put_rows(state, fields[k].name, &rows));
        } else {
            DKM_STEP(put_numbers(state, &fields[k]));
        }
    }
out:
    return local;
}

static dkm_local get_numbers(const dkm_archive *state, const dkm_state_field *f)
{
    dkm_local local = DKM_LOCAL_OK;
    const double *numbers = NULL;
    dkm_idx count = 0, least = f->type == DKM_STATE_INDEX ? -1 : 0, integer = 0;
    dkm_idx most = f->type == DKM_STATE_INT ? INT32_MAX : INT64_MAX;

    DKM_STEP(dkm_archive_reals(state, f->name, &count, &numbers));
    if (count != f->count)
        DKM_STEP(dkm_fail(state->ctx, DKM_ERR_FORMAT,
                          "a checkpoint with %lld numbers of '%s' where %lld belong",
                          (long long)count, f->name, (long long)f->count));
    for (dkm_idx i = 0; i < count; i++) {
        if (f->type == DKM_STATE_REAL) {
            ((double *)f->at)[i] = numbers[i];
            continue;
        }
        DKM_STEP(dkm_archive_check_int(state, f->name, numbers[i], least, most, &integer));
        if (f->type == DKM_STATE_INT)
            ((int *)f->at)[i] = (int)integer;
        else
            ((dkm_idx *)f->at)[i] = integer;
    }
out:
    return local;
}

static dkm_local get_rows(const dkm_archive *state, const dkm_state_field *f)
{
    dkm_local local = DKM_LOCAL_OK;
    const dkm_matrix_entry *rows = NULL;

    DKM_STEP(dkm_archive_rows(state, f->name, &rows));
    if (rows->m != f->count)
        DKM_STEP(dkm_fail(state->ctx, DKM_ERR_FORMAT, "%s: %lld rows of '%s' where %lld belong",
                          rows->path, (long long)rows->m, f->name, (long long)f->count));
    DKM_STEP(dkm_matrix_entry_read_slab(state->ctx, rows, f->cols, f->ld, f->at));
out:
    return local;
}

/* All but matrices, whose reading is collective; of those, whether they are there. */
static dkm_local get_local(const dkm_archive *state, dkm_idx count, const dkm_state_field *fields)
{
    dkm_local local = DKM_LOCAL_OK;
    const dkm_matrix_entry *rows = NULL;

    for (dkm_idx k = 0; k < count; k++) {
        const dkm_state_field *f = &fields[k];
        DKM_STEP(f->type == DKM_STATE_LOWER  ? dkm_archive_rows(state, f->name, &rows)
                 : f->type == DKM_STATE_ROWS ? get_rows(state, f)
                                             : get_numbers(state, f));
    }
out:
    return local;
}

dkm_status dkm_state_get(const dkm_archive *state, dkm_idx count, const dkm_state_field *fields)
{
    dkm_status status = DKM_OK;

    DKM_AGREE(state->ctx, get_local(state, count, fields));
    for (dkm_idx k = 0; k < count; k++)
        if (fields[k].type == DKM_STATE_LOWER)
            DKM_TRY(dkm_matrix_entry_read_matrix(&dkm_archive_find(state, fields[k].name)->rows,
                                                 fields[k].at));
out:
    return status;
}
