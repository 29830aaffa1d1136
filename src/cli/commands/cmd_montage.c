#include <dkmap/data.h>
#include <dkmap/montage.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands/commands.h"
#include "cli/core/run.h"
#include "cli/options/common_options.h"

enum { PATH_MOST = 4096 };

static const char plus[] = " + ";

static dkm_local cmd_montage_check_name(run *r, const char *where, const char *row)
{
    if (*where)
        return DKM_LOCAL_OK;
    return dkm_fail(r->ctx, DKM_ERR_ARG, "--rows %s: there is no file beside the +", row);
}

/* Images of one file into a row of the picture, from pixel @p *first on, which moves behind them.
 */
static dkm_status place_file(run *r, dkm_montage *picture, dkm_idx row, const char *where,
                             dkm_idx *first)
{
    dkm_status status = DKM_OK;
    dkm_idx count = args_int(r->args, "count");
    dkm_source *source = NULL;
    dkm_data *images = NULL;

    DKM_TRY(dkm_source_open(r->ctx, where, DKM_INPUTS, "dense", &source));
    if (count > dkm_source_rows(source))
        count = dkm_source_rows(source);
    DKM_TRY(dkm_source_read(source, 0, count, &images));
    DKM_TRY(run_error_context(r, where, dkm_montage_place(picture, row, *first, images)));
    *first += dkm_data_cols(images);
out:
    dkm_data_destroy(&images);
    dkm_source_close(&source);
    return status;
}

/* The next file of a value of --rows, and what follows it: NULL behind the last. */
static const char *next_file(const char *rest, char where[PATH_MOST])
{
    const char *next = strstr(rest, plus);

    snprintf(where, PATH_MOST, "%.*s", (int)(next ? (size_t)(next - rest) : strlen(rest)), rest);
    return next ? next + strlen(plus) : NULL;
}

/* A value of --rows: one file, or several to be put below each other. */
static dkm_status place_row(run *r, dkm_montage *picture, dkm_idx row)
{
    const char *rest = args_value(r->args, "rows", (int)row)->text;
    dkm_status status = DKM_OK;
    dkm_idx first = 0;
    char where[PATH_MOST];

    while (rest) {
        rest = next_file(rest, where);
        DKM_TRY(place_file(r, picture, row, where, &first));
    }
out:
    return status;
}

/* How many images the fullest row of the picture has, --count of them at most. */
static dkm_status count_images(run *r, dkm_idx *count)
{
    dkm_idx wanted = args_int(r->args, "count");
    dkm_status status = DKM_OK;
    dkm_source *source = NULL;
    char where[PATH_MOST];

    *count = 1;
    for (int row = 0; row < args_count(r->args, "rows"); row++) {
        const char *all = args_value(r->args, "rows", row)->text, *rest = all;
        while (rest) {
            rest = next_file(rest, where);
            DKM_AGREE(r->ctx, cmd_montage_check_name(r, where, all));
            DKM_TRY(dkm_source_open(r->ctx, where, DKM_INPUTS, "dense", &source));
            if (dkm_source_rows(source) > *count)
                *count = dkm_source_rows(source);
            dkm_source_close(&source);
        }
    }
    *count = *count < wanted ? *count : wanted;
out:
    return status;
}

/* LO:HI as two numbers. */
static dkm_local read_range(run *r, double *low, double *high)
{
    const char *text = args_text(r->args, "range");
    char *end;

    if (!text)
        return DKM_LOCAL_OK;
    *low = strtod(text, &end);
    if (end != text && *end == ':') {
        const char *second = end + 1;
        *high = strtod(second, &end);
        if (end != second && *end == '\0' && *low < *high)
            return DKM_LOCAL_OK;
    }
    return dkm_fail(r->ctx, DKM_ERR_ARG,
                    "--range %s: give the numbers drawn black and white, such as -1:1", text);
}

static dkm_local read_settings(run *r, const char **labels, int most, dkm_montage_settings *s)
{
    const value *shape = args_value(r->args, "shape", 0), *path = args_value(r->args, "output", 0);
    const char *dot = strrchr(path->text, '.');
    int named = args_count(r->args, "labels");

    *s = (dkm_montage_settings){.height = shape->P,
                                .width = shape->Q,
                                .rows = args_count(r->args, "rows"),
                                .scale = args_int(r->args, "scale"),
                                .invert = args_flag(r->args, "invert"),
                                .labels = named ? labels : NULL};
    if (!dot || strcmp(dot, ".png") != 0)
        return dkm_fail(r->ctx, DKM_ERR_ARG,
                        "%s: this will be a PNG file: give it a name that ends in .png",
                        path->text);
    if (s->rows > most || (named && named != s->rows))
        return dkm_fail(r->ctx, DKM_ERR_ARG,
                        "%lld --rows and %d --labels: give one label a row, "
                        "and at most %d rows",
                        (long long)s->rows, named, most);
    for (int k = 0; k < named; k++)
        labels[k] = args_value(r->args, "labels", k)->text;
    return read_range(r, &s->low, &s->high);
}

static dkm_status montage(run *r)
{
    enum { ROWS_MOST = 100 };
    const char *labels[ROWS_MOST], *path = args_text(r->args, "output");
    dkm_status status = DKM_OK;
    dkm_montage_settings settings;
    dkm_montage *picture = NULL;

    DKM_AGREE(r->ctx, read_settings(r, labels, ROWS_MOST, &settings));
    DKM_TRY(dkm_file_check_writable(r->ctx, path));
    DKM_TRY(count_images(r, &settings.count));
    DKM_TRY(dkm_montage_create(r->ctx, &settings, &picture));
    for (dkm_idx row = 0; row < settings.rows; row++)
        DKM_TRY(place_row(r, picture, row));
    DKM_TRY(dkm_montage_write(picture, path));
    report_int(r, "rows", settings.rows);
    report_int(r, "count", settings.count);
    report_text(r, "picture", path);
out:
    dkm_montage_destroy(&picture);
    return status;
}

static const option options[] = {
    {.name = "rows",
     .kind = OPT_TEXT,
     .flags = OPT_REQUIRED | OPT_REPEATED,
     .metavar = "FILE",
     .help = "images, one a row of the file: they stand side by side. Given again, the next row "
             "stands below. 'A.npy + B.npy' puts the pixels of B below those of A into one image"},
    {.name = "shape",
     .kind = OPT_GRID,
     .flags = OPT_REQUIRED,
     .metavar = "HxW",
     .help = "height and width of an image in pixels"},
    {.name = "count",
     .kind = OPT_INT,
     .min = 1,
     .default_text = "16",
     .metavar = "N",
     .help = "how many images of each file to show; a slice of the file chooses which"},
    {.name = "labels",
     .kind = OPT_TEXT,
     .flags = OPT_LIST | OPT_REPEATED,
     .metavar = "A,B,...",
     .help = "what to write to the left of each row"},
    {.name = "range",
     .kind = OPT_TEXT,
     .metavar = "LO:HI",
     .help = "numbers drawn black and white; the least and largest of all where none are given"},
    {.name = "scale",
     .kind = OPT_INT,
     .min = 1,
     .max = 64,
     .default_text = "2",
     .metavar = "N",
     .help = "side of a pixel in the picture"},
    {.name = "invert", .kind = OPT_FLAG, .help = "dark on light"},
    ROW_OUTPUT("picture to write, .png"),
    {0}};

const command command_montage = {
    .name = "montage",
    .summary = "show rows of numbers as images, side by side, in one picture",
    .about = "What stands below each other belongs together: input, truth, predictions. Images "
             "that are not filled stay grey.",
    .example = "dkmap montage --shape 28x28 --rows 'x.npy[:, 0:392]' --rows x.npy \\\n"
               "      --rows 'x.npy[:, 0:392] + lower.npy' --labels input,truth,dkmap -o pic.png",
    .tables = {options, dkm_layout_settings, compute_options, report_options},
    .run = montage,
};
