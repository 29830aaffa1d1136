#include <dkmap/model_parts.h>

#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "models/registry/model_impl.h"

#define NAMES_LENGTH 512

struct dkm_parts {
    dkm_archive archive;
};

dkm_status dkm_parts_create(dkm_model *model, dkm_parts **parts)
{
    dkm_status status = DKM_OK;
    dkm_parts *made = NULL;

    *parts = NULL;
    DKM_AGREE(model->ctx, dkm_calloc(model->ctx, 1, &made));
    made->archive = dkm_archive_empty(model->ctx);
    DKM_TRY(dkm_model_to_archive(model, &made->archive));
    *parts = made;
    made = NULL;
out:
    dkm_parts_destroy(&made);
    return status;
}

dkm_idx dkm_parts_count(const dkm_parts *parts)
{
    return parts->archive.count;
}

const char *dkm_parts_name(const dkm_parts *parts, dkm_idx k)
{
    return k >= 0 && k < parts->archive.count ? parts->archive.parts[k].name : NULL;
}

const char *dkm_parts_text(const dkm_parts *parts, const char *name)
{
    const dkm_archive_entry *part = dkm_archive_find(&parts->archive, name);

    return part && part->kind == DKM_ENTRY_TEXT ? part->text : NULL;
}

const double *dkm_parts_reals(const dkm_parts *parts, const char *name, dkm_idx *count)
{
    const dkm_archive_entry *part = dkm_archive_find(&parts->archive, name);
    int found = part && part->kind == DKM_ENTRY_REALS;

    *count = found ? part->count : 0;
    return found ? part->reals : NULL;
}

const dkm_data *dkm_parts_data(const dkm_parts *parts, const char *name)
{
    const dkm_archive_entry *part = dkm_archive_find(&parts->archive, name);

    return part && part->kind == DKM_ENTRY_DATA ? part->data : NULL;
}

void dkm_parts_destroy(dkm_parts **parts)
{
    if (!*parts)
        return;
    dkm_archive_clear(&(*parts)->archive);
    DKM_FREE(*parts);
}

/* A part that is there, or a failure that names those that are. */
static dkm_local find_part(const dkm_parts *parts, const char *name, dkm_archive_entry **part)
{
    char names[NAMES_LENGTH] = "";
    size_t used = 0;

    *part = dkm_archive_find(&parts->archive, name);
    if (*part && (*part)->kind != DKM_ENTRY_ROWS)
        return DKM_LOCAL_OK;
    for (dkm_idx k = 0; k < parts->archive.count && used < sizeof names; k++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", k > 0 ? ", " : "",
                                 parts->archive.parts[k].name);
    return dkm_fail(parts->archive.ctx, DKM_ERR_ARG, "the model has no part '%s': it has %s", name,
                    names);
}

/* The contents of a part for an owner of their own. Collective. */
static dkm_status copy_part(dkm_ctx *ctx, dkm_archive_entry *part, dkm_data **copy)
{
    const char *text = part->text;
    int root = dkm_ctx_rank(ctx) == 0;
    dkm_array numbers = dkm_array_row_major(part->reals, root ? part->count : 0, 1);

    if (part->kind == DKM_ENTRY_TEXT)
        return dkm_data_from_strings(ctx, DKM_STRINGS, root, &text, NULL, copy);
    if (part->kind == DKM_ENTRY_REALS)
        return dkm_data_from_array(ctx, DKM_DENSE, &numbers, copy);
    if (part->borrowed)
        return dkm_data_copy(part->data, copy);
    *copy = part->data;
    part->data = NULL;
    return DKM_OK;
}

dkm_status dkm_model_part(dkm_model *model, const char *name, dkm_data **part)
{
    dkm_status status = DKM_OK;
    dkm_archive_entry *found = NULL;
    dkm_parts *parts = NULL;

    *part = NULL;
    DKM_TRY(dkm_parts_create(model, &parts));
    DKM_AGREE(model->ctx, find_part(parts, name, &found));
    DKM_TRY(copy_part(model->ctx, found, part));
out:
    dkm_parts_destroy(&parts);
    return status;
}

/* 0, 1, ... for as many rows as @p inputs has. */
static dkm_status count_rows(dkm_ctx *ctx, const dkm_data *inputs, dkm_data **indices)
{
    dkm_status status = dkm_data_create_dense(ctx, dkm_data_rows(inputs), 1, indices);

    for (dkm_idx i = 0; status == DKM_OK && i < dkm_data_local_rows(*indices); i++)
        dkm_data_values(*indices)[i] = (double)(dkm_data_local_first(*indices) + i);
    return status;
}

dkm_status dkm_model_training_indices(dkm_model *model, dkm_data **indices)
{
    dkm_status status = DKM_OK;
    dkm_archive_entry *inputs = NULL;
    dkm_parts *parts = NULL;

    *indices = NULL;
    DKM_TRY(dkm_parts_create(model, &parts));
    DKM_AGREE(model->ctx, find_part(parts, "inputs", &inputs));
    if (dkm_parts_data(parts, "input_indices"))
        DKM_TRY(dkm_data_copy(dkm_parts_data(parts, "input_indices"), indices));
    else
        DKM_TRY(count_rows(model->ctx, inputs->data, indices));
out:
    dkm_parts_destroy(&parts);
    return status;
}
