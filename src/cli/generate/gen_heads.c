/* Pictures of a head: an ellipsoid with eyes, brows, nose, mouth and hair, lit from the upper left.
 * (u, v) is a place in the picture, both from -1 to 1, v downwards; (x, y, z) one on the unit
 * sphere that the head is, with the face at z = 1. */
#include <math.h>

#include "cli/commands/commands.h"
#include "cli/generate/gen.h"

enum { STREAM_FACE = 3001 };

typedef struct face {
    double eyes_apart, eye_size, brows, nose, mouth_width, mouth_height, hair, skin;
} face;

typedef struct heads {
    run *r;
    dkm_idx n, height, width;
    double smile;
} heads;

static const face plain_face = {0.36, 0.11, 0.33, 0.15, 0.30, 0.48, 0.52, 0.78};

/* 1 at a distance of 0 and nearly 0 from @p width on. */
static double bump(double distance, double width)
{
    return exp(-2.0 * distance * distance / (width * width));
}

/* 0 below -width, 1 above it. */
static double step(double x, double width)
{
    return 1.0 / (1.0 + exp(-4.0 * x / width));
}

/* How light the skin or hair is at a place on the head. */
static double paint(const face *f, double smile, double x, double y, double z)
{
    double front = step(z - 0.1, 0.15), tone = f->skin;
    double corner = fabs(x) / f->mouth_width, wide = 1.0 + 0.35 * smile;
    double bend = f->mouth_height - 0.09 * smile * corner * corner;

    for (int side = -1; side <= 1; side += 2) {
        double eye = x - side * f->eyes_apart;
        tone -= 0.65 * front * bump(hypot(eye, (y + 0.12) / (1.0 - 0.25 * smile)), f->eye_size);
        tone -= 0.40 * front * bump(y + f->brows + 0.3 * eye * eye, 0.05) * bump(eye, 0.22);
    }
    tone += 0.15 * front * bump(x, 0.08) * bump(y - 0.12, 2.0 * f->nose);
    tone -= 0.30 * front * bump(hypot(x, 2.0 * (y - 0.12 - f->nose)), 0.12);
    tone -= 0.45 * front * bump(y - bend, 0.06 + 0.03 * smile) * bump(x, f->mouth_width * wide);
    tone += (0.16 - tone) * step(-y - f->hair + 0.5 * (0.3 - z), 0.08);
    return tone;
}

/* The light at a place of the picture. */
static double light(const face *f, double smile, double angle, double u, double v)
{
    double x = u / 0.80, y = v / 0.95, inside = 1.0 - x * x - y * y;
    double z = sqrt(fmax(inside, 0.0)), shade = 0.55 + 0.45 * (-0.4 * x - 0.5 * y + 0.76 * z);
    double across = x * cos(angle) - z * sin(angle), ahead = x * sin(angle) + z * cos(angle);

    return step(inside, 0.05) * fmax(0.0, shade * paint(f, smile, across, y, ahead));
}

static void gen_heads_draw(const heads *h, const face *f, double smile, double angle, double *row)
{
    for (dkm_idx i = 0; i < h->height; i++)
        for (dkm_idx j = 0; j < h->width; j++)
            row[i * h->width + j] =
                light(f, smile, angle, (2.0 * (double)j + 1.0) / (double)h->width - 1.0,
                      (2.0 * (double)i + 1.0) / (double)h->height - 1.0);
}

/* Frame i of a half turn, from one side to the other. */
static double degrees(const heads *h, dkm_idx i)
{
    return h->n > 1 ? 180.0 * (double)i / (double)(h->n - 1) : 90.0;
}

static void angle_row(void *user, dkm_idx i, double *row)
{
    row[0] = degrees(user, i);
}

static void frame(void *user, dkm_idx i, double *row)
{
    const double radian = 3.14159265358979323846 / 180.0;
    const heads *h = user;

    gen_heads_draw(h, &plain_face, 0.2, (degrees(h, i) - 90.0) * radian, row);
}

/* Person i: every measure of the plain face varies, most of them by a tenth. */
static void person(void *user, dkm_idx i, double *row)
{
    const heads *h = user;
    gen_dice dice = gen_dice_of(h->r, STREAM_FACE, i);
    face f = plain_face;
    double *measures[] = {&f.eyes_apart,  &f.eye_size,     &f.brows, &f.nose,
                          &f.mouth_width, &f.mouth_height, &f.hair,  &f.skin};
    double turn;

    for (int k = 0; k < 8; k++)
        *measures[k] *= 1.0 + 0.1 * fmin(2.0, fmax(-2.0, gen_normal(&dice)));
    turn = 0.08 * gen_normal(&dice);
    gen_heads_draw(h, &f, h->smile * (0.8 + 0.4 * gen_uniform(&dice)), turn, row);
}

static dkm_status write_heads(run *r, heads *h, gen_file file)
{
    file.n = h->n;
    file.user = h;
    return gen_write(r, &file);
}

static heads heads_of(run *r)
{
    const value *shape = args_value(r->args, "shape", 0);

    return (heads){.r = r, .n = args_int(r->args, "n"), .height = shape->P, .width = shape->Q};
}

static dkm_status rotating(run *r)
{
    heads h = heads_of(r);
    dkm_status status = DKM_OK;

    DKM_TRY(gen_make_dir(r));
    DKM_TRY(write_heads(r, &h, (gen_file){.name = "t.npy", .d = 1, .numbers = angle_row}));
    DKM_TRY(write_heads(
        r, &h, (gen_file){.name = "frames.npy", .d = h.height * h.width, .numbers = frame}));
    report_seconds(r);
out:
    return status;
}

static dkm_status faces(run *r)
{
    heads h = heads_of(r);
    dkm_status status = DKM_OK;

    DKM_TRY(gen_make_dir(r));
    DKM_TRY(write_heads(r, &h,
                        (gen_file){.name = "x.npy", .d = h.height * h.width, .numbers = person}));
    h.smile = 1.0;
    DKM_TRY(write_heads(r, &h,
                        (gen_file){.name = "y.npy", .d = h.height * h.width, .numbers = person}));
    report_seconds(r);
out:
    return status;
}

#define ROW_SHAPE(value)                                                                           \
    {                                                                                              \
        .name = "shape", .kind = OPT_GRID, .default_text = value, .metavar = "HxW",                \
        .help = "height and width in pixels"                                                       \
    }

static const option rotating_options[] = {ROW_N, ROW_SHAPE("100x100"), ROW_OUT_DIR, {0}};
static const option faces_options[] = {ROW_N, ROW_SHAPE("176x156"), ROW_OUT_DIR, {0}};

const command command_gen_rotating = {
    .name = "gen rotating",
    .summary = "a film of a head that turns from side to side",
    .about = "frames.npy holds one picture a row, t.npy the angle in degrees, from 0 to 180.",
    .example = "dkmap gen rotating --n 1000 --out-dir film",
    .tables = {rotating_options, dkm_layout_settings, compute_options, report_options},
    .run = rotating,
};

const command command_gen_faces = {
    .name = "gen faces",
    .summary = "pictures of people, plain and smiling",
    .about = "x.npy holds plain faces, y.npy the same people smiling, one picture a row.",
    .example = "mpirun -np 2 dkmap gen faces --n 70 --seed 1 --out-dir people",
    .tables = {faces_options, dkm_layout_settings, compute_options, report_options},
    .run = faces,
};
