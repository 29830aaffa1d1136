/* Some rows of some files, all together or dealt to folds: a folder a fold then, with files of
 * training and test rows. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <dkmap/folds.h>
#include <dkmap/random.h>

#include "cli/commands/commands.h"
#include "cli/generate/gen.h"

enum { STREAM_DEAL = 5001, STREAM_PICK };
enum { FILES_MOST = 16, PATH_MOST = 4096, NAME_MOST = 256 };

typedef struct deal {
    run *r;
    int files;
    dkm_data *data[FILES_MOST];
    double *classes; /* of all rows, or NULL */
    dkm_idx m, count, folds;
    dkm_idx *rows; /* that are dealt, ascending */
    dkm_idx *fold; /* of each of them */
    dkm_idx *list; /* rows of one side of a fold */
} deal;

static void close_deal(deal *d)
{
    for (int k = 0; k < d->files; k++)
        dkm_data_destroy(&d->data[k]);
    dkm_folds_free(&d->classes);
    free(d->rows);
    free(d->fold);
    free(d->list);
}

static dkm_local gen_sample_check_rows(const deal *d)
{
    for (int k = 1; k < d->files; k++)
        if (dkm_data_rows(d->data[k]) != d->m)
            return dkm_fail(d->r->ctx, DKM_ERR_ARG, "%s has %lld rows but %s has %lld",
                            args_value(d->r->args, "rows", 0)->text, (long long)d->m,
                            args_value(d->r->args, "rows", k)->text,
                            (long long)dkm_data_rows(d->data[k]));
    return DKM_LOCAL_OK;
}

static dkm_status read_files(deal *d)
{
    dkm_status status = DKM_OK;
    run *r = d->r;

    d->files = args_count(r->args, "rows");
    DKM_REQUIRE(r->ctx, d->files <= FILES_MOST, DKM_ERR_ARG, "--rows is given %d times: at most %d",
                d->files, FILES_MOST);
    for (int k = 0; k < d->files; k++)
        DKM_TRY(dkm_data_read(r->ctx, args_value(r->args, "rows", k)->text, DKM_INPUTS, NULL,
                              &d->data[k]));
    d->m = dkm_data_rows(d->data[0]);
    DKM_AGREE(r->ctx, gen_sample_check_rows(d));
out:
    return status;
}

static dkm_local gen_sample_check_labels(const deal *d, const dkm_data *labels)
{
    const char *where = args_text(d->r->args, "labels");

    if (dkm_data_rows(labels) == d->m && d->classes)
        return DKM_LOCAL_OK;
    return dkm_fail(d->r->ctx, DKM_ERR_ARG, "%s must have %lld class labels", where,
                    (long long)d->m);
}

static dkm_status read_labels(deal *d)
{
    const char *where = args_text(d->r->args, "labels");
    dkm_status status = DKM_OK;
    dkm_data *labels = NULL;

    if (!where)
        return DKM_OK;
    DKM_TRY(dkm_data_read(d->r->ctx, where, DKM_OUTPUTS, "labels", &labels));
    DKM_TRY(dkm_folds_classes(labels, &d->classes));
    DKM_AGREE(d->r->ctx, gen_sample_check_labels(d, labels));
out:
    dkm_data_destroy(&labels);
    return status;
}

/* A row that may be picked. */
typedef struct candidate {
    double class;
    uint64_t order;
    dkm_idx row;
} candidate;

static int by_class_then_order(const void *a, const void *b)
{
    const candidate *x = a, *y = b;

    if (x->class != y->class)
        return x->class < y->class ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static int ascending(const void *a, const void *b)
{
    dkm_idx x = *(const dkm_idx *)a, y = *(const dkm_idx *)b;

    return x < y ? -1 : x > y;
}

/* As many rows of each class as asked for, the first or any. */
static void pick_rows(deal *d, candidate *all, dkm_idx each, int any)
{
    dkm_idx taken = 0;

    for (dkm_idx i = 0; i < d->m; i++)
        all[i] =
            (candidate){d->classes[i],
                        any ? dkm_random_bits(dkm_ctx_seed(d->r->ctx), STREAM_PICK, (uint64_t)i, 0)
                            : (uint64_t)i,
                        i};
    qsort(all, (size_t)d->m, sizeof *all, by_class_then_order);
    d->count = 0;
    for (dkm_idx i = 0; i < d->m; i++) {
        taken = i > 0 && all[i].class == all[i - 1].class ? taken + 1 : 0;
        if (taken < each)
            d->rows[d->count++] = all[i].row;
    }
    qsort(d->rows, (size_t)d->count, sizeof *d->rows, ascending);
}

static dkm_local choose_rows(deal *d)
{
    const args *a = d->r->args;
    candidate *all = NULL;
    int picks = args_text(a, "per-class") != NULL;

    d->rows = calloc((size_t)d->m + 1, sizeof *d->rows);
    d->fold = calloc((size_t)d->m + 1, sizeof *d->fold);
    d->list = calloc((size_t)d->m + 1, sizeof *d->list);
    all = calloc((size_t)d->m + 1, sizeof *all);
    if (!d->rows || !d->fold || !d->list || !all) {
        free(all);
        return dkm_fail(d->r->ctx, DKM_ERR_MEMORY, "no memory for %lld rows", (long long)d->m);
    }
    d->count = d->m;
    for (dkm_idx i = 0; i < d->m; i++)
        d->rows[i] = i;
    if (picks && d->classes)
        pick_rows(d, all, args_int(a, "per-class"), strcmp(args_text(a, "pick"), "random") == 0);
    free(all);
    if (picks && !d->classes)
        return dkm_fail(d->r->ctx, DKM_ERR_ARG, "--per-class needs --labels");
    return DKM_LOCAL_OK;
}

/* x of /some/where/x.npy[0:10]. */
static void stem_of(const char *where, char stem[NAME_MOST])
{
    size_t length = strcspn(where, "[:");
    const char *from = where;

    for (const char *at = where; at < where + length; at++)
        if (*at == '/')
            from = at + 1;
    snprintf(stem, NAME_MOST, "%.*s", (int)strcspn(from, ".[:"), from);
}

static const char *ending_of(dkm_type type)
{
    return type == DKM_STRINGS      ? ".txt"
           : type == DKM_SETS       ? ".sets"
           : type == DKM_GRAPHS     ? ".graphs"
           : type == DKM_SPARSE     ? ".svm"
           : type == DKM_LABEL_SETS ? ".csv"
                                    : ".npy";
}

static dkm_local make_fold_dir(const deal *d, dkm_idx f)
{
    char path[PATH_MOST];

    snprintf(path, sizeof path, "%s/%lld", args_text(d->r->args, "out-dir"), (long long)f);
    if (dkm_ctx_rank(d->r->ctx) != 0 || mkdir(path, 0777) == 0 || errno == EEXIST)
        return DKM_LOCAL_OK;
    return dkm_fail(d->r->ctx, DKM_ERR_IO, "%s: cannot make this folder: %s", path,
                    strerror(errno));
}

/* The rows listed, of every file. @p before stands before the name of each. */
static dkm_status write_listed(deal *d, dkm_idx count, const char *before)
{
    char path[PATH_MOST + NAME_MOST], stem[NAME_MOST];
    dkm_status status = DKM_OK;
    dkm_data *part = NULL;

    for (int k = 0; k < d->files; k++) {
        stem_of(args_value(d->r->args, "rows", k)->text, stem);
        snprintf(path, sizeof path, "%s/%s%s%s", args_text(d->r->args, "out-dir"), before, stem,
                 ending_of(dkm_data_type(d->data[k])));
        DKM_TRY(dkm_data_select(d->data[k], count, d->list, &part));
        DKM_TRY(dkm_data_write(part, path));
        dkm_data_destroy(&part);
    }
out:
    dkm_data_destroy(&part);
    return status;
}

/* Rows inside or outside fold f. */
static dkm_status write_side(deal *d, dkm_idx f, int inside, const char *side)
{
    char before[NAME_MOST];
    dkm_idx count = 0;

    for (dkm_idx i = 0; i < d->count; i++)
        if ((d->fold[i] == f) == inside)
            d->list[count++] = d->rows[i];
    snprintf(before, sizeof before, "%lld/%s_", (long long)f, side);
    return write_listed(d, count, before);
}

static dkm_status write_folds(deal *d)
{
    int one = strcmp(args_text(d->r->args, "train"), "one") == 0;
    dkm_ctx *ctx = d->r->ctx;
    dkm_status status = DKM_OK;

    DKM_AGREE(ctx,
              dkm_folds_assign(ctx, STREAM_DEAL, d->count, d->rows, d->classes, d->folds, d->fold));
    for (dkm_idx f = 0; f < d->folds; f++) {
        DKM_AGREE(ctx, make_fold_dir(d, f));
        DKM_TRY(write_side(d, f, one, "train"));
        DKM_TRY(write_side(d, f, !one, "test"));
    }
    report_int(d->r, "folds", d->folds);
out:
    return status;
}

static dkm_status write_all(deal *d)
{
    memcpy(d->list, d->rows, (size_t)d->count * sizeof *d->list);
    return write_listed(d, d->count, "");
}

static dkm_status sample(run *r)
{
    dkm_status status = DKM_OK;
    deal d = {.r = r};

    if (args_text(r->args, "folds"))
        d.folds = args_int(r->args, "folds");
    DKM_TRY(gen_make_dir(r));
    DKM_TRY(read_files(&d));
    DKM_TRY(read_labels(&d));
    DKM_AGREE(r->ctx, choose_rows(&d));
    report_int(r, "rows", d.count);
    DKM_TRY(d.folds > 0 ? write_folds(&d) : write_all(&d));
    report_seconds(r);
out:
    close_deal(&d);
    return status;
}

static const option options[] = {
    {.name = "rows",
     .kind = OPT_TEXT,
     .flags = OPT_REQUIRED | OPT_REPEATED,
     .metavar = "FILE",
     .help = "a file to take rows of; given again, others whose rows belong to them"},
    {.name = "folds",
     .kind = OPT_INT,
     .min = 2,
     .metavar = "N",
     .help = "deal them at random to so many folds"},
    {.name = "train",
     .kind = OPT_CHOICE,
     .choices = "rest|one|",
     .default_text = "rest",
     .metavar = "WHAT",
     .help = "train on all folds but one, or on one alone; test on the others"},
    {.name = "labels",
     .kind = OPT_TEXT,
     .metavar = "FILE",
     .help = "classes of the rows, which are spread evenly over the folds"},
    {.name = "per-class",
     .kind = OPT_INT,
     .min = 1,
     .metavar = "N",
     .help = "take so many rows of each class alone"},
    {.name = "pick",
     .kind = OPT_CHOICE,
     .choices = "first|random|",
     .default_text = "first",
     .metavar = "WHICH",
     .help = "rows of --per-class"},
    ROW_OUT_DIR,
    {0}};

const command command_gen_sample = {
    .name = "gen sample",
    .summary = "some rows of some files, or all of them dealt to training and test files",
    .about = "Of --rows x.npy --rows y.txt the rows taken are DIR/x.npy and DIR/y.txt or, with "
             "--folds, of fold 0 DIR/0/train_x.npy, DIR/0/train_y.txt, DIR/0/test_x.npy and "
             "DIR/0/test_y.txt. Rows keep their order.",
    .example = "dkmap gen sample --rows x.npy --rows labels.npy --labels labels.npy --folds 5 \\\n"
               "      --seed 1 --out-dir folds",
    .tables = {options, dkm_layout_settings, compute_options, report_options},
    .run = sample,
};
