#include <stdio.h>
#include <string.h>

#include <dkmap/store.h>

#include "core/alloc.h"
#include "io/archive/archive_file.h"
#include "kernels/expression/old_text.h"
#include "kernels/expression/registered.h"
#include "models/registry/load_guard.h"
#include "models/registry/model_impl.h"

#define DAMAGED        "damaged model file"
#define MESSAGE_LENGTH 900
#define REGISTERED     "registered_kernels"

/* The parts that are kernel expressions. */
static const char *const kernel_parts[] = {"kernel", "output_kernel", "landmark_kernel", "kx",
                                           "ky"};
enum { KERNEL_PARTS = sizeof kernel_parts / sizeof *kernel_parts };

/* Name the kernels that are functions of this program: a program that loads the model needs them.
 */
static dkm_local put_registered_kernels(dkm_archive *archive)
{
    dkm_local local = DKM_LOCAL_OK;
    char *names = NULL;

    for (int k = 0; k < KERNEL_PARTS; k++) {
        const dkm_archive_entry *part = dkm_archive_find(archive, kernel_parts[k]);
        if (part && part->kind == DKM_ENTRY_TEXT)
            DKM_STEP(dkm_kernel_registered_names(archive->ctx, part->text, &names));
    }
    if (names)
        DKM_STEP(dkm_archive_put_text(archive, REGISTERED, names));
out:
    DKM_FREE(names);
    return local;
}

static dkm_local check_registered_kernels(const dkm_archive *archive, const char *path)
{
    const dkm_archive_entry *part = dkm_archive_find(archive, REGISTERED);

    return part && part->kind == DKM_ENTRY_TEXT
               ? dkm_kernel_registered_check(archive->ctx, part->text, path)
               : DKM_LOCAL_OK;
}

dkm_status dkm_model_save(dkm_model *model, const char *path, const char *command)
{
    dkm_status status = DKM_OK;
    dkm_archive archive = dkm_archive_empty(model->ctx);

    dkm_phase_begin(model->ctx, "save");
    DKM_TRY(dkm_model_to_archive(model, &archive));
    DKM_AGREE(model->ctx, put_registered_kernels(&archive));
    DKM_TRY(dkm_archive_save(&archive, path, dkm_model_method(model), command));
out:
    dkm_phase_end(model->ctx);
    dkm_archive_clear(&archive);
    return status;
}

/* Texts of kernels, as they would be written today. */
static dkm_local renew_kernels(const dkm_archive *archive)
{
    dkm_local local = DKM_LOCAL_OK;

    for (int k = 0; k < KERNEL_PARTS; k++) {
        dkm_archive_entry *part = dkm_archive_find(archive, kernel_parts[k]);
        char *now = NULL;
        if (!part || part->kind != DKM_ENTRY_TEXT)
            continue;
        DKM_STEP(dkm_kernel_from_format_1(archive->ctx, part->text, &now));
        DKM_FREE(part->text);
        part->text = now;
    }
out:
    return local;
}

/* Parts that make no model are the file's fault, whatever step found them so. Collective. */
static dkm_status blame_file(dkm_ctx *ctx, const char *path, dkm_status status)
{
    char message[MESSAGE_LENGTH];

    if (status != DKM_ERR_FORMAT && status != DKM_ERR_ARG && status != DKM_ERR_UNSUPPORTED &&
        status != DKM_ERR_SIZE && status != DKM_ERR_NUMERIC)
        return status;
    snprintf(message, sizeof message, "%s", dkm_ctx_message(ctx));
    if (strstr(message, DAMAGED))
        return status;
    message[strcspn(message, "\n")] = '\0'; /* expressions are shown below in messages of theirs */
    return dkm_agree(ctx, dkm_fail(ctx, DKM_ERR_FORMAT, "%s: " DAMAGED ": %s", path, message));
}

dkm_status dkm_model_load(dkm_ctx *ctx, const char *path, const dkm_layout *layout,
                          dkm_model **model)
{
    dkm_status status = DKM_OK;
    dkm_archive archive = dkm_archive_empty(ctx);
    dkm_archive_header header = {0};
    dkm_loading loading;

    *model = NULL;
    dkm_phase_begin(ctx, "load");
    DKM_AGREE(ctx, dkm_loading_begin(&loading, ctx, path));
    DKM_TRY(dkm_archive_load(ctx, path, &archive, &header));
    if (header.version < 2)
        DKM_AGREE(ctx, renew_kernels(&archive));
    DKM_AGREE(ctx, check_registered_kernels(&archive, path));
    DKM_TRY(
        blame_file(ctx, path, dkm_model_from_archive(ctx, header.method, &archive, layout, model)));
out:
    dkm_loading_end(&loading, ctx);
    dkm_phase_end(ctx);
    dkm_archive_header_clear(&header);
    dkm_archive_clear(&archive);
    return status;
}

dkm_status dkm_eigenpairs_save(dkm_data *vectors, dkm_idx count, const double *values,
                               const char *path, const char *command)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_data_ctx(vectors);
    dkm_archive archive = dkm_archive_empty(ctx);

    DKM_AGREE(ctx, dkm_archive_put_reals(&archive, "eigenvalues", count, values));
    DKM_AGREE(ctx, dkm_archive_borrow_data(&archive, "vectors", vectors));
    DKM_TRY(dkm_archive_save(&archive, path, "eigenpairs", command));
out:
    dkm_archive_clear(&archive);
    return status;
}
