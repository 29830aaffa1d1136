#include <dkmap/store.h>

#include "cli/commands/commands.h"
#include "cli/core/run.h"
#include "cli/options/common_options.h"

static void print_line(void *user, const char *text)
{
    run_print(user, text);
}

static dkm_status info(run *r)
{
    return dkm_describe(r->ctx, r->args->positionals[0], args_text(r->args, "x-type"), print_line,
                        r);
}

static const option options[] = {ROW_X_TYPE, ROW_SVM_BASE, {0}};

const command command_info = {
    .name = "info",
    .summary = "tell what a data, model or record file holds",
    .example = "dkmap info model.h5",
    .positionals = "FILE",
    .tables = {options, report_options},
    .run = info,
};
