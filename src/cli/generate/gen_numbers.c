/* Problems on rows of numbers. */
#include <math.h>

#include "cli/commands/commands.h"
#include "cli/generate/gen.h"

enum { STREAM_X = 1001, STREAM_NOISE, STREAM_SPHERE, STREAM_ROLL };

typedef struct problem {
    run *r;
    dkm_idx d;
    double noise;
} problem;

static void uniform_row(void *user, dkm_idx i, double *row)
{
    const problem *p = user;
    gen_dice dice = gen_dice_of(p->r, STREAM_X, i);

    for (dkm_idx j = 0; j < p->d; j++)
        row[j] = gen_uniform(&dice);
}

/* Friedman's function of the first five columns; the others tell nothing. */
static void friedman(void *user, dkm_idx i, double *row)
{
    const double pi = 3.14159265358979323846;
    const problem *p = user;
    gen_dice dice = gen_dice_of(p->r, STREAM_X, i);
    gen_dice noise = gen_dice_of(p->r, STREAM_NOISE, i);
    double x[5];

    for (int j = 0; j < 5; j++)
        x[j] = gen_uniform(&dice);
    row[0] = 10.0 * sin(pi * x[0] * x[1]) + 20.0 * (x[2] - 0.5) * (x[2] - 0.5) + 10.0 * x[3] +
             5.0 * x[4] + p->noise * gen_normal(&noise);
}

static void sphere(void *user, dkm_idx i, double *row)
{
    const problem *p = user;
    gen_dice dice = gen_dice_of(p->r, STREAM_SPHERE, i);
    double square = 0.0;

    for (dkm_idx j = 0; j < p->d; j++) {
        row[j] = gen_normal(&dice);
        square += row[j] * row[j];
    }
    for (dkm_idx j = 0; j < p->d; j++)
        row[j] /= sqrt(square);
}

/* Where a point lies on the sheet before it is rolled up: along it, and across it. */
static void sheet(void *user, dkm_idx i, double *row)
{
    const double pi = 3.14159265358979323846;
    const problem *p = user;
    gen_dice dice = gen_dice_of(p->r, STREAM_ROLL, i);

    row[0] = 1.5 * pi * (1.0 + 2.0 * gen_uniform(&dice));
    row[1] = 21.0 * gen_uniform(&dice);
}

static void roll(void *user, dkm_idx i, double *row)
{
    const problem *p = user;
    gen_dice noise = gen_dice_of(p->r, STREAM_NOISE, i);
    double at[2];

    sheet(user, i, at);
    row[0] = at[0] * cos(at[0]);
    row[1] = at[1];
    row[2] = at[0] * sin(at[0]);
    for (int j = 0; j < 3; j++)
        row[j] += p->noise * gen_normal(&noise);
}

/* Two files of as many rows. */
static dkm_status write_pair(run *r, problem *p, gen_file first, gen_file second)
{
    dkm_status status = DKM_OK;

    first.n = second.n = args_int(r->args, "n");
    first.user = second.user = p;
    DKM_TRY(gen_make_dir(r));
    DKM_TRY(gen_write(r, &first));
    DKM_TRY(gen_write(r, &second));
    report_seconds(r);
out:
    return status;
}

static dkm_status regression(run *r)
{
    problem p = {r, args_int(r->args, "dim"), args_real(r->args, "noise")};

    return write_pair(r, &p, (gen_file){.name = "x.npy", .d = p.d, .numbers = uniform_row},
                      (gen_file){.name = "y.npy", .d = 1, .numbers = friedman});
}

static dkm_status identity(run *r)
{
    problem p = {r, args_int(r->args, "dim"), 0.0};

    return write_pair(r, &p, (gen_file){.name = "x.npy", .d = p.d, .numbers = sphere},
                      (gen_file){.name = "y.npy", .d = p.d, .numbers = sphere});
}

static dkm_status swissroll(run *r)
{
    problem p = {r, 3, args_real(r->args, "noise")};

    return write_pair(r, &p, (gen_file){.name = "x.npy", .d = 3, .numbers = roll},
                      (gen_file){.name = "t.npy", .d = 2, .numbers = sheet});
}

#define ROW_NOISE(value)                                                                           \
    {                                                                                              \
        .name = "noise", .kind = OPT_REAL, .default_text = value, .metavar = "SD",                 \
        .help = "standard deviation of the noise"                                                  \
    }
#define ROW_DIM(value, lowest)                                                                     \
    {                                                                                              \
        .name = "dim", .kind = OPT_INT, .default_text = value, .min = lowest, .max = 1000000,      \
        .metavar = "D", .help = "columns"                                                          \
    }

static const option regression_options[] = {
    ROW_N, ROW_DIM("20", 5), ROW_NOISE("1"), ROW_OUT_DIR, {0}};
static const option identity_options[] = {ROW_N, ROW_DIM("20", 1), ROW_OUT_DIR, {0}};
static const option swissroll_options[] = {ROW_N, ROW_NOISE("0"), ROW_OUT_DIR, {0}};

const command command_gen_regression = {
    .name = "gen regression",
    .summary = "a smooth function of five of many columns, with noise",
    .about = "x.npy holds uniform numbers, y.npy 10 sin(pi x0 x1) + 20 (x2 - 1/2)^2 + 10 x3 + 5 x4 "
             "and noise. No learner gets below the variance of the noise.",
    .example = "mpirun -np 4 dkmap gen regression --n 1000000 --seed 1 --out-dir big",
    .tables = {regression_options, dkm_layout_settings, compute_options, report_options},
    .run = regression,
};

const command command_gen_identity = {
    .name = "gen identity",
    .summary = "points of the unit sphere that are mapped to themselves",
    .about = "x.npy and y.npy hold the same points.",
    .example = "dkmap gen identity --n 120 --dim 50 --seed 1 --out-dir sphere",
    .tables = {identity_options, dkm_layout_settings, compute_options, report_options},
    .run = identity,
};

const command command_gen_swissroll = {
    .name = "gen swissroll",
    .summary = "a sheet rolled up in three dimensions",
    .about = "x.npy holds the points, t.npy where they lie on the sheet: along it and across it.",
    .example = "dkmap gen swissroll --n 1000 --seed 1 --out-dir roll",
    .tables = {swissroll_options, dkm_layout_settings, compute_options, report_options},
    .run = swissroll,
};
