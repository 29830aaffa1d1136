#include <stdlib.h>
#include <string.h>

#include <dkmap/score.h>
#include <dkmap/store.h>
#include <dkmap/update.h>

#include "cli/commands/commands.h"
#include "cli/options/common_options.h"
#include "cli/options/method_options.h"

#define ROWS_MOST (1 << 24) /* in a list: the factor of so many has 2^48 numbers */

typedef struct row_list {
    dkm_idx count, capacity;
    dkm_idx *rows;
} row_list;

static dkm_local row_list_add(run *r, row_list *list, dkm_idx row)
{
    if (list->count == list->capacity) {
        dkm_idx more = 2 * list->capacity + 64;
        dkm_idx *grown = realloc(list->rows, (size_t)more * sizeof *grown);
        if (!grown)
            return dkm_fail(r->ctx, DKM_ERR_MEMORY, "no memory for a list of rows");
        list->rows = grown;
        list->capacity = more;
    }
    list->rows[list->count++] = row;
    return DKM_LOCAL_OK;
}

static dkm_local row_list_refuse(run *r, const char *text)
{
    return dkm_fail(r->ctx, DKM_ERR_ARG,
                    "--rows is a file, or a list such as 0,5,7:12 (7 to 11), not '%s'", text);
}

/* A row of at most 18 digits, at @p at. @return what follows it; @p at where there is none */
static const char *row_list_number(const char *at, dkm_idx *row)
{
    const char *digits = at + (*at == '-'), *end = digits + strspn(digits, "0123456789");

    if (end == digits || end - digits > 18)
        return at;
    *row = strtoll(at, NULL, 10);
    return end;
}

/* Items separated by commas: a row, or first:end. */
static dkm_local row_list_parse(run *r, const char *text, row_list *list)
{
    dkm_local local = DKM_LOCAL_OK;
    const char *at = text, *end;

    for (;;) {
        dkm_idx first = 0, last;
        end = row_list_number(at, &first);
        last = first + 1;
        if (end == at)
            return row_list_refuse(r, text);
        if (*end == ':') {
            at = end + 1;
            end = row_list_number(at, &last);
            if (end == at || last <= first)
                return row_list_refuse(r, text);
        }
        if (last - first > ROWS_MOST - list->count)
            return dkm_fail(r->ctx, DKM_ERR_ARG, "--rows lists more than %d rows", ROWS_MOST);
        for (dkm_idx row = first; row < last; row++)
            DKM_STEP(row_list_add(r, list, row));
        if (*end == '\0')
            break;
        if (*end != ',')
            return row_list_refuse(r, text);
        at = end + 1;
    }
out:
    return local;
}

/* A file of one column of integers. */
static dkm_status row_list_read(run *r, const char *path, row_list *list)
{
    dkm_status status = DKM_OK;
    dkm_data *data = NULL;

    DKM_TRY(dkm_data_read(r->ctx, path, DKM_OUTPUTS, "labels", &data));
    DKM_TRY(dkm_score_distinct_labels(data, &list->count, &list->rows));
out:
    dkm_data_destroy(&data);
    return status;
}

static dkm_status cmd_forget(run *r)
{
    const char *path = args_text(r->args, "output"), *text = args_text(r->args, "rows");
    int listed = text[strspn(text, "0123456789,:-")] == '\0';
    dkm_layout layout = run_layout(r);
    dkm_status status = DKM_OK;
    dkm_report *report = NULL;
    dkm_model *model = NULL;
    row_list list = {0};

    DKM_TRY(run_check_model_path(r));
    if (listed)
        DKM_AGREE(r->ctx, row_list_parse(r, text, &list));
    else
        DKM_TRY(row_list_read(r, text, &list));
    DKM_TRY(dkm_model_load(r->ctx, r->args->positionals[0], &layout, &model));
    DKM_TRY(method_store_factor(r, model));
    DKM_TRY(run_error_context(r, r->args->positionals[0],
                              dkm_model_forget(model, list.count, list.rows, &report)));
    DKM_TRY(dkm_model_save(model, path, r->args->line));
    method_report(r, report);
    report_seconds(r);
    report_text(r, "model", path);
out:
    if (listed)
        free(list.rows);
    else
        dkm_score_labels_free(&list.rows);
    dkm_report_destroy(&report);
    dkm_model_destroy(&model);
    return status;
}

static const option options[] = {
    {.name = "rows",
     .kind = OPT_TEXT,
     .flags = OPT_REQUIRED,
     .metavar = "FILE|LIST",
     .help = "the examples to forget, counted from 0 in the order in which the model learned them: "
             "a list such as 0,5,7:12, or a file of one number per row"},
    ROW_KERNEL_DIR,
    ROW_FACTOR,
    ROW_OUTPUT("model file to write, .h5; may be MODEL itself"),
    {0}};

const command command_forget = {
    .name = "forget",
    .summary = "remove examples from a krr model that keeps its factor",
    .about = "Closes the gaps in the Cholesky factor and updates it instead of fitting anew: the "
             "model becomes what a fit with its kernel and gamma to the other examples would be, "
             "and the residual of the kernel matrix, computed anew, is reported. The examples that "
             "stay keep their order. The file that is written appears complete or not at all.",
    .example = "mpirun -np 4 dkmap forget m.h5 --rows 0,5,7:12 -o m2.h5",
    .positionals = "MODEL",
    .tables = {options, dkm_layout_settings, compute_options, report_options},
    .run = cmd_forget,
};
