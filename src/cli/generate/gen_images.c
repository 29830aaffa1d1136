/* Rows of a file, changed one by one: noise added to them, or images smoothed. */
#include <math.h>

#include "cli/commands/commands.h"
#include "cli/generate/gen.h"
#include "cli/options/common_options.h"

enum { STREAM_PIXEL = 4001 };
enum { BATCH_ROWS = 8192, REACH_MOST = 64, SIDE_MOST = 4096 };

/* What happens to row i. */
typedef void (*change_row)(void *user, dkm_idx i, dkm_idx d, double *row);

static dkm_status change_rows(dkm_source *source, dkm_sink *sink, change_row change, void *user)
{
    dkm_status status = DKM_OK;
    dkm_idx m = dkm_source_rows(source), d = dkm_source_cols(source), count;
    dkm_data *data = NULL;

    for (dkm_idx first = 0; first < m; first += count) {
        count = m - first < BATCH_ROWS ? m - first : BATCH_ROWS;
        DKM_TRY(dkm_source_read(source, first, count, &data));
        for (dkm_idx i = 0; i < dkm_data_local_rows(data); i++)
            change(user, first + dkm_data_local_first(data) + i, d, dkm_data_values(data) + i * d);
        DKM_TRY(dkm_sink_write(sink, data));
        dkm_data_destroy(&data);
    }
    DKM_TRY(dkm_sink_commit(sink));
out:
    dkm_data_destroy(&data);
    return status;
}

/* --x to -o, row by row. @p pixels is how many columns there must be, or 0 for any. */
static dkm_status change_file(run *r, dkm_idx pixels, change_row change, void *user)
{
    const char *where = args_text(r->args, "x"), *path = args_text(r->args, "output");
    dkm_status status = DKM_OK;
    dkm_source *source = NULL;
    dkm_sink *sink = NULL;

    DKM_TRY(dkm_source_open(r->ctx, where, DKM_INPUTS, "dense", &source));
    DKM_REQUIRE(r->ctx, pixels <= 0 || pixels == dkm_source_cols(source), DKM_ERR_ARG,
                "%s has %lld columns, and images of --shape %s have %lld", where,
                (long long)dkm_source_cols(source), args_text(r->args, "shape"), (long long)pixels);
    DKM_TRY(dkm_sink_open(r->ctx, path, DKM_DENSE, dkm_source_rows(source), dkm_source_cols(source),
                          &sink));
    DKM_TRY(change_rows(source, sink, change, user));
    report_int(r, "rows", dkm_source_rows(source));
    report_text(r, "output", path);
out:
    dkm_sink_close(&sink);
    dkm_source_close(&source);
    return status;
}

typedef struct speckle {
    run *r;
    double sd;
} speckle;

static void add_noise(void *user, dkm_idx i, dkm_idx d, double *row)
{
    const speckle *s = user;
    gen_dice dice = gen_dice_of(s->r, STREAM_PIXEL, i);

    for (dkm_idx j = 0; j < d; j++)
        row[j] += s->sd * gen_normal(&dice);
}

static dkm_status noise(run *r)
{
    speckle s = {.r = r};
    dkm_status status = DKM_OK;

    DKM_TRY(run_positive(r, "sd", &s.sd));
    DKM_TRY(change_file(r, 0, add_noise, &s));
out:
    return status;
}

typedef struct blur {
    dkm_idx height, width, reach;
    int mirrors;                    /* images go on mirrored beyond their edges; else they are */
    double background;              /* there */
    double weights[REACH_MOST + 1]; /* of pixels so far away, on either side */
} blur;

/* Beyond its edge an image goes on as in a mirror that stands on the edge. */
static dkm_idx mirrored(dkm_idx at, dkm_idx n)
{
    dkm_idx turn = at % (2 * n);

    turn += turn < 0 ? 2 * n : 0;
    return turn < n ? turn : 2 * n - 1 - turn;
}

static double pixel(const blur *b, const double *line, dkm_idx at, dkm_idx n)
{
    return b->mirrors || (at >= 0 && at < n) ? line[mirrored(at, n)] : b->background;
}

/* One line of n pixels that lie @p step apart. */
static void blur_line(const blur *b, dkm_idx n, dkm_idx step, double *line)
{
    double old[SIDE_MOST];

    for (dkm_idx i = 0; i < n; i++)
        old[i] = line[i * step];
    for (dkm_idx i = 0; i < n; i++) {
        double sum = b->weights[0] * old[i];
        for (dkm_idx k = 1; k <= b->reach; k++)
            sum += b->weights[k] * (pixel(b, old, i - k, n) + pixel(b, old, i + k, n));
        line[i * step] = sum;
    }
}

static void blur_image(void *user, dkm_idx i, dkm_idx d, double *row)
{
    const blur *b = user;

    (void)i;
    (void)d;
    for (dkm_idx j = 0; j < b->width; j++)
        blur_line(b, b->height, b->width, row + j);
    for (dkm_idx k = 0; k < b->height; k++)
        blur_line(b, b->width, 1, row + k * b->width);
}

/* A Gaussian, cut off at four times its width, with sum 1. */
static dkm_local shape_blur(run *r, double width, blur *b)
{
    const value *shape = args_value(r->args, "shape", 0);
    double sum = 1.0;

    b->mirrors = args_text(r->args, "background") == NULL;
    b->background = b->mirrors ? 0.0 : args_real(r->args, "background");
    b->height = shape->P;
    b->width = shape->Q;
    b->reach = (dkm_idx)(4.0 * width + 0.5);
    if (b->reach > REACH_MOST || b->height > SIDE_MOST || b->width > SIDE_MOST)
        return dkm_fail(r->ctx, DKM_ERR_ARG,
                        "--width %g of --shape %s: at most %d, on images of at most %d a side",
                        width, shape->text, REACH_MOST / 4, SIDE_MOST);
    for (dkm_idx k = 1; k <= b->reach; k++) {
        b->weights[k] = exp(-0.5 * (double)(k * k) / (width * width));
        sum += 2.0 * b->weights[k];
    }
    b->weights[0] = 1.0;
    for (dkm_idx k = 0; k <= b->reach; k++)
        b->weights[k] /= sum;
    return DKM_LOCAL_OK;
}

static dkm_status smooth(run *r)
{
    dkm_status status = DKM_OK;
    double width;
    blur b;

    DKM_TRY(run_positive(r, "width", &width));
    DKM_AGREE(r->ctx, shape_blur(r, width, &b));
    DKM_TRY(change_file(r, b.height * b.width, blur_image, &b));
out:
    return status;
}

static const option noise_options[] = {ROW_X("rows of numbers"),
                                       {.name = "sd",
                                        .kind = OPT_REAL,
                                        .flags = OPT_REQUIRED,
                                        .metavar = "SD",
                                        .help = "standard deviation of the noise"},
                                       ROW_OUTPUT("file to write"),
                                       {0}};

static const option smooth_options[] = {
    ROW_X("images, one a row"),
    {.name = "shape",
     .kind = OPT_GRID,
     .flags = OPT_REQUIRED,
     .metavar = "HxW",
     .help = "height and width of an image in pixels"},
    {.name = "width",
     .kind = OPT_REAL,
     .flags = OPT_REQUIRED,
     .metavar = "S",
     .help = "standard deviation of the Gaussian, in pixels"},
    {.name = "background",
     .kind = OPT_REAL,
     .metavar = "V",
     .help = "what lies beyond the edges of an image; where it is not given images go on mirrored"},
    ROW_OUTPUT("file to write"),
    {0}};

const command command_gen_noise = {
    .name = "gen noise",
    .summary = "rows of a file with normal noise added",
    .example = "dkmap gen noise --x digits.npy --sd 0.5 --seed 1 -o noisy.npy",
    .tables = {noise_options, dkm_layout_settings, compute_options, report_options},
    .run = noise,
};

const command command_gen_smooth = {
    .name = "gen smooth",
    .summary = "images of a file, smoothed by a Gaussian",
    .about = "The Gaussian is cut off at four times its width.",
    .example = "dkmap gen smooth --x digits.npy --shape 16x16 --width 0.75 -o smooth.npy",
    .tables = {smooth_options, dkm_layout_settings, compute_options, report_options},
    .run = smooth,
};
