/* What cross-validation leaves: a model of the best setting, and its table as a file. */
#include <stdio.h>
#include <stdlib.h>

#include <dkmap/data.h>
#include <dkmap/store.h>

#include "cli/commands/validation.h"
#include "cli/options/method_options.h"

dkm_status validation_refit(validation *v)
{
    const char *path = args_text(v->r->args, "output");
    dkm_idx settings = v->grid_search.settings;
    dkm_status status = DKM_OK;
    dkm_settings *best = NULL;
    dkm_report *report = NULL;
    dkm_model *model = NULL;

    if (!path)
        return DKM_OK;
    DKM_TRY(grid_search_at(&v->grid_search, v->result.best / settings, v->result.best % settings,
                           &best));
    if (v->weights)
        DKM_TRY(dkm_settings_set_data(best, "weights", v->weights));
    DKM_TRY(dkm_fit(v->r->ctx, dkm_method_name(v->r->args->command->method), v->X,
                    v->named ? v->named : v->Y, best, &model, &report));
    dkm_model_take_table(model, &v->table);
    DKM_TRY(dkm_model_save(model, path, v->r->args->line));
out:
    dkm_model_destroy(&model);
    dkm_report_destroy(&report);
    dkm_settings_destroy(&best);
    return status;
}

static void put_scores(const validation *v, dkm_idx p, FILE *file)
{
    const dkm_cv_result *r = &v->result;

    fprintf(file, ",%.17g,%.17g", r->table[p].mean, r->table[p].stderror);
    for (int l = 0; l + 1 < v->losses; l++)
        fprintf(file, ",%.17g,%.17g", r->more[l * r->points + p].mean,
                r->more[l * r->points + p].stderror);
    if (r->examples)
        fprintf(file, ",%lld", (long long)r->examples[p]);
    fputc('\n', file);
}

static int put_table(const validation *v, FILE *file)
{
    char label[GRID_SEARCH_LABEL];

    fprintf(file, "setting,%s,stderr", dkm_loss_name(v->loss[0]));
    for (int l = 1; l < v->losses; l++)
        fprintf(file, ",%s,%s_stderr", dkm_loss_name(v->loss[l]), dkm_loss_name(v->loss[l]));
    fprintf(file, "%s\n", v->result.examples ? ",examples" : "");
    for (int64_t t = 0; t < v->grid_search.trials; t++) {
        dkm_idx p = v->grid_search.point[t];
        grid_search_label(&v->grid_search, p / v->grid_search.settings, p % v->grid_search.settings,
                          label);
        fprintf(file, "\"%s\"", label);
        put_scores(v, p, file);
    }
    return ferror(file) ? -1 : 0;
}

/* The table as text in memory, which the caller frees. */
static dkm_local lay_out_table(const validation *v, char **text, size_t *bytes)
{
    FILE *file = open_memstream(text, bytes);
    int failed = !file || put_table(v, file) != 0;

    if (file)
        failed |= fclose(file) != 0;
    return failed ? dkm_fail(v->r->ctx, DKM_ERR_MEMORY, "no memory for the table of losses")
                  : DKM_LOCAL_OK;
}

dkm_status validation_write_table(const validation *v)
{
    const char *path = args_text(v->r->args, "table");
    dkm_ctx *ctx = v->r->ctx;
    dkm_status status = DKM_OK;
    char *text = NULL;
    size_t bytes = 0;

    if (!path)
        return DKM_OK;
    DKM_AGREE(ctx, dkm_ctx_rank(ctx) == 0 ? lay_out_table(v, &text, &bytes) : DKM_LOCAL_OK);
    DKM_TRY(dkm_file_write(ctx, path, text, (dkm_idx)bytes));
out:
    free(text);
    return status;
}
