#include "cli/methods/method.h"

#include "cli/options/xy_reader.h"

static dkm_status parse_kernel(run *r, const char *name, dkm_kernel **kernel)
{
    if (!args_accepts(r->args, name) || !args_text(r->args, name))
        return DKM_OK;
    return dkm_kernel_parse(r->ctx, args_text(r->args, name), kernel);
}

dkm_status method_settings_read(run *r, method_settings *s)
{
    dkm_status status = DKM_OK;

    s->kx = s->ky = NULL;
    DKM_TRY(r->args->command->method->settings(r, s));
    DKM_TRY(parse_kernel(r, "kx", &s->kx));
    DKM_TRY(parse_kernel(r, "ky", &s->ky));
out:
    return status;
}

void method_settings_free(method_settings *s)
{
    dkm_kernel_destroy(&s->ky);
    dkm_kernel_destroy(&s->kx);
}

void method_info_free(const method *m, method_info *info)
{
    if (m == &method_krr)
        dkm_krr_info_free(&info->krr);
}

static const file_options inputs = {"x", "x-type", DKM_INPUTS};
static const file_options outputs = {"y", "y-type", DKM_OUTPUTS};

dkm_status method_open_examples(run *r, dkm_source **X, dkm_data **Y)
{
    *X = NULL;
    *Y = NULL;
    if (args_accepts(r->args, "y"))
        return xy_open(r, inputs, outputs, X, Y);
    return dkm_source_open(r->ctx, args_text(r->args, "x"), DKM_INPUTS,
                           args_text(r->args, "x-type"), X);
}

dkm_status method_read_examples(run *r, dkm_data **X, dkm_data **Y)
{
    dkm_status status;

    *X = *Y = NULL;
    if (args_accepts(r->args, "y"))
        return xy_read(r, inputs, outputs, X, Y);
    dkm_phase_begin(r->ctx, "read");
    status =
        dkm_data_read(r->ctx, args_text(r->args, "x"), DKM_INPUTS, args_text(r->args, "x-type"), X);
    dkm_phase_end(r->ctx);
    return status;
}
