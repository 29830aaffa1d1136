#include <dkmap/export.h>

#include <string.h>

#include "export/export_plan.h"
#include "io/path.h"

dkm_status dkm_model_export(dkm_model *model, dkm_export_format format, const char *path,
                            int *decodes)
{
    dkm_status status = DKM_OK;
    dkm_export_plan plan;
    dkm_export_file file = {0};

    DKM_TRY(dkm_export_plan_open(&plan, model, format));
    DKM_TRY(dkm_export_file_open(&file, plan.ctx, path));
    if (format == DKM_EXPORT_C)
        DKM_TRY(dkm_export_c(&plan, dkm_path_last_name(path), &file));
    else
        DKM_TRY(dkm_export_onnx(&plan, &file));
    DKM_TRY(dkm_export_file_commit(&file));
    if (decodes)
        *decodes = plan.decoder.method != DKM_PREIMAGE_AUTO;
out:
    if (file.ctx)
        dkm_export_file_close(&file);
    dkm_export_plan_close(&plan);
    return status;
}
