#include <stdio.h>
#include <string.h>
#include <strings.h>

#include <dkmap/data.h>

#include "cli/commands/commands.h"
#include "cli/options/common_options.h"
#include "cli/report/page_model.h"
#include "cli/report/page_runs.h"

/* By its first bytes, as rank 0 sees them. A file that cannot be read is left to whoever reads it. */
static int is_hdf5(run *r, const char *path)
{
    static const char signature[] = "\x89HDF\r\n\x1a\n";
    char first[sizeof signature - 1] = {0};
    FILE *file = dkm_ctx_rank(r->ctx) == 0 ? fopen(path, "rb") : NULL;
    int found = 0;

    if (file) {
        found = fread(first, 1, sizeof first, file) == sizeof first &&
                memcmp(first, signature, sizeof first) == 0;
        fclose(file);
    }
    MPI_Bcast(&found, 1, MPI_INT, 0, dkm_ctx_comm(r->ctx));
    return found;
}

static dkm_status put_file(page *p, const char *path)
{
    if (is_hdf5(p->r, path))
        return page_model(p, path);
    return dkm_agree(p->r->ctx, p->out ? page_runs(p, path) : DKM_LOCAL_OK);
}

static int ends_in_html(const char *path)
{
    size_t length = strlen(path);

    return length > 5 && strcasecmp(path + length - 5, ".html") == 0;
}

static dkm_status report(run *r)
{
    const char *path = args_text(r->args, "output");
    dkm_status status = DKM_OK;
    page p = {0};

    DKM_REQUIRE(r->ctx, ends_in_html(path), DKM_ERR_ARG,
                "%s: this will be a page of HTML: give it a name that ends in .html", path);
    DKM_TRY(dkm_file_check_writable(r->ctx, path));
    DKM_TRY(gnuplot_check_installed(r));
    DKM_TRY(page_open(&p, r, "dkmap report"));
    for (int k = 0; k < r->args->operand_count; k++)
        DKM_TRY(put_file(&p, r->args->positionals[k]));
    DKM_TRY(page_write(&p, path));
    report_int(r, "files", r->args->operand_count);
    report_int(r, "figures", p.figures);
    report_text(r, "output", path);
out:
    page_close(&p);
    return status;
}

static const option options[] = {ROW_OUTPUT("page to write, .html"), ROW_KERNEL_DIR, {0}};

const command command_report = {
    .name = "report",
    .summary = "a page of HTML about models and runs",
    .about = "One page without other files or scripts. Of a model: what its file holds, and the "
             "spectrum of kpca and kde. Of records that --record wrote: a table of the latest 200 "
             "runs, and of the latest 12 settings, results, the path of ridges, trials of a "
             "cross-validation, seconds by phase and memory, least, mean and most of a rank. "
             "gnuplot draws.",
    .example = "dkmap report model.h5 runs.jsonl -o page.html",
    .positionals = "FILE ...",
    .tables = {options, report_options},
    .run = report,
};
