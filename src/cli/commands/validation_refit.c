/* What cross-validation leaves: a model of the best setting, and its table as a file. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static int put_table(const validation *v, FILE *file)
{
    char label[GRID_SEARCH_LABEL];

    fprintf(file, "setting,%s,stderr\n", dkm_loss_name(v->problem.loss));
    for (dkm_idx p = 0; p < v->result.points; p++) {
        const dkm_cv_score *s = &v->result.table[p];
        grid_search_label(&v->grid_search, p / v->grid_search.settings, p % v->grid_search.settings,
                          label);
        fprintf(file, "\"%s\",%.17g,%.17g\n", label, s->mean, s->stderror);
    }
    return ferror(file) ? -1 : 0;
}

/* Under a name of its own first, so that the file appears complete or not at all. */
static dkm_local write_table(const validation *v, const char *path)
{
    size_t bytes = strlen(path) + sizeof ".part";
    char *part = malloc(bytes);
    FILE *file = NULL;
    int failed = 1;

    if (part) {
        snprintf(part, bytes, "%s.part", path);
        file = fopen(part, "w");
    }
    if (file) {
        failed = put_table(v, file);
        failed |= fclose(file);
        failed = failed || rename(part, path) != 0;
        if (failed)
            remove(part);
    }
    free(part);
    return failed ? dkm_fail(v->r->ctx, DKM_ERR_IO, "%s: %s", path, strerror(errno)) : DKM_LOCAL_OK;
}

dkm_status validation_write_table(const validation *v)
{
    const char *path = args_text(v->r->args, "table");

    if (!path)
        return DKM_OK;
    return dkm_agree(v->r->ctx, dkm_ctx_rank(v->r->ctx) == 0 ? write_table(v, path) : DKM_LOCAL_OK);
}
