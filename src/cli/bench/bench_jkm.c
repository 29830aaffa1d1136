#include <math.h>
#include <stdio.h>
#include <string.h>

#include <dkmap/data.h>
#include <dkmap/jkm.h>
#include <dkmap/random.h>

#include "cli/bench/bench.h"
#include "cli/commands/commands.h"

enum { STREAM_CENTRES = 106, STREAM_NOISE = 107, STREAM_WAVES = 108, WAVES = 12 };

/* Image i at a point: some waves, alike in all images but for how strong they are. */
static double image(const bench *b, dkm_idx i, double row, double col)
{
    uint64_t seed = dkm_ctx_seed(b->ctx);
    double sum = 2;

    for (uint64_t w = 0; w < WAVES; w++) {
        double fx = 12 * dkm_random_uniform(seed, STREAM_WAVES, w, 0);
        double fy = 12 * dkm_random_uniform(seed, STREAM_WAVES, w, 1);
        double turn = 7 * dkm_random_uniform(seed, STREAM_WAVES, w, 2);
        double strong = dkm_random_normal(seed, STREAM_NOISE, (uint64_t)i, w);
        sum += 0.2 * strong * cos(fx * col + fy * row + turn);
    }
    return sum;
}

/* Images, and the same with their lower middle drawn to the sides: --shape HxW. */
static dkm_status generate_images(bench *b, dkm_idx height, dkm_idx width, dkm_data **Y)
{
    dkm_status status = DKM_OK;

    b->d = height * width;
    DKM_TRY(dkm_data_create_dense(b->ctx, b->n, b->d, &b->X));
    DKM_TRY(dkm_data_create_dense(b->ctx, b->n, b->d, Y));
    for (dkm_idx k = 0; k < dkm_data_local_rows(b->X) * b->d; k++) {
        dkm_idx i = dkm_data_local_first(b->X) + k / b->d, p = k % b->d;
        double row = (double)(p / width) / (double)height,
               col = (double)(p % width) / (double)width;
        double near = exp(-20 * ((row - 0.7) * (row - 0.7) + (col - 0.5) * (col - 0.5)));
        dkm_data_values(b->X)[k] = image(b, i, row, col);
        dkm_data_values(*Y)[k] = image(b, i, row, col - 0.3 * near * (col - 0.5));
    }
out:
    return status;
}

/* Rows about the centers of --classes classes. */
static dkm_status generate_classes(bench *b, dkm_data **Y)
{
    dkm_status status = DKM_OK;
    uint64_t seed = dkm_ctx_seed(b->ctx);
    dkm_idx classes = args_int(b->r->args, "classes");

    b->d = args_int(b->r->args, "d");
    DKM_TRY(dkm_data_create_dense(b->ctx, b->n, b->d, &b->X));
    DKM_TRY(dkm_data_create_labels(b->ctx, b->n, Y));
    for (dkm_idx il = 0; il < dkm_data_local_rows(b->X); il++) {
        uint64_t i = (uint64_t)(dkm_data_local_first(b->X) + il), c = i % (uint64_t)classes;
        dkm_data_values(*Y)[il] = (double)c;
        for (dkm_idx k = 0; k < b->d; k++)
            dkm_data_values(b->X)[il * b->d + k] =
                dkm_random_normal(seed, STREAM_CENTRES, c, (uint64_t)k) / sqrt((double)b->d) +
                dkm_random_normal(seed, STREAM_NOISE, i, (uint64_t)k) / sqrt((double)b->d);
    }
out:
    return status;
}

static dkm_local bench_jkm_read_shape(bench *b, dkm_idx *height, dkm_idx *width)
{
    const char *text = args_text(b->r->args, "shape");
    long long h = 0, w = 0;

    if (sscanf(text, "%lldx%lld", &h, &w) != 2 || h < 10 || w < 10 || h > 100000 || w > 100000)
        return dkm_fail(b->ctx, DKM_ERR_ARG,
                        "--shape %s: rows x columns are wanted, at least 10 each, as in 156x176",
                        text);
    *height = h;
    *width = w;
    return DKM_LOCAL_OK;
}

/* The joint kernel and the settings that go with the objects. */
static dkm_status open_problem(bench *b, char joint[120], dkm_jkm_settings *s, dkm_data **Y)
{
    dkm_status status = DKM_OK;
    dkm_idx height = 0, width = 0;

    *s = dkm_jkm_settings_default();
    s->layout = run_layout(b->r);
    if (!args_text(b->r->args, "shape")) {
        snprintf(joint, 120, "tensor");
        s->epsilon = 0;
        s->C = args_real(b->r->args, "C");
        s->slacks = DKM_JKM_SLACKS_ONE;
        s->tolerance = 0.1;
        DKM_TRY(generate_classes(b, Y));
        goto out;
    }
    DKM_AGREE(b->ctx, bench_jkm_read_shape(b, &height, &width));
    snprintf(joint, 120, "patch(lambda=0.95, shape=%lldx%lld, size=10, step=5)", (long long)height,
             (long long)width);
    s->epsilon = 0.1;
    s->tolerance = 0.9;
    DKM_TRY(generate_images(b, height, width, Y));
out:
    return status;
}

static void bench_jkm_note(bench *b, const dkm_jkm_info *info, bench_turn *t)
{
    bench_note_text(t, "outputs", info->outputs);
    bench_note_real(t, "rounds", (double)info->rounds);
    bench_note_real(t, "constraints", (double)info->constraints);
    bench_note_real(t, "support", (double)info->support);
    bench_note_real(t, "primal", info->primal);
    bench_note_real(t, "dual", info->dual);
    bench_note_real(t, "oracle_seconds", bench_phase(b, "oracle", NULL));
    bench_note_real(t, "constraints_seconds", bench_phase(b, "constraints", NULL));
    bench_note_real(t, "program_seconds", bench_phase(b, "program", NULL));
}

/* A fit from objects in memory. How wrong it is: the gap that was left of slacks, or the violations
 * of a hard margin. */
static dkm_status time_fit(bench *b, bench_turn *t)
{
    dkm_status status = DKM_OK;
    dkm_jkm_settings settings;
    dkm_jkm_info info = {0};
    dkm_joint *joint = NULL;
    dkm_model *model = NULL;
    dkm_data *Y = NULL;
    char text[120];
    double begun;

    dkm_data_destroy(&b->X);
    DKM_TRY(open_problem(b, text, &settings, &Y));
    DKM_TRY(dkm_joint_parse(b->ctx, text, &joint));
    begun = bench_start(b);
    DKM_TRY(dkm_jkm_fit(b->ctx, b->X, Y, b->kernel, NULL, joint, &settings, &model, &info));
    t->seconds = bench_stop(b, begun);
    t->residual = settings.C > 0 ? info.gap : info.violation;
    bench_jkm_note(b, &info, t);
out:
    dkm_model_destroy(&model);
    dkm_joint_destroy(&joint);
    dkm_data_destroy(&Y);
    return status;
}

static dkm_status bench_jkm(run *r)
{
    dkm_status status = DKM_OK;
    bench b = {.r = r, .ctx = r->ctx};

    DKM_TRY(bench_count(&b, -1));
    DKM_TRY(bench_open_grid(&b, b.n));
    DKM_TRY(dkm_kernel_parse(b.ctx, "linear", &b.kernel));
    DKM_TRY(bench_run(&b, time_fit));
out:
    bench_close(&b);
    return status;
}

static const option options[] = {
    ROW_N,
    {.name = "d",
     .kind = OPT_INT,
     .metavar = "D",
     .min = 1,
     .default_text = "256",
     .help = "columns of the rows of classes"},
    {.name = "classes",
     .kind = OPT_INT,
     .metavar = "K",
     .min = 2,
     .max = 100000,
     .default_text = "10",
     .help = "classes to tell apart, with one slack for all"},
    {.name = "C",
     .kind = OPT_REAL,
     .metavar = "C",
     .default_text = "0.1",
     .help = "price of slack"},
    {.name = "shape",
     .kind = OPT_TEXT,
     .metavar = "HxW",
     .help =
         "instead of classes, pairs of images under patch(lambda=0.95, size=10, step=5), epsilon "
         "0.1, until they are separated"},
    ROW_REPEAT,
    {0}};

const command command_bench_jkm = {
    .name = "bench jkm",
    .summary = "joint kernel maps: classes under a soft margin, or pairs of images",
    .about =
        "Times complete fits of generated objects, with the seconds of looking for constraints, of "
        "their products and of the quadratic programs apart. The residual is the duality gap "
        "that is left, or the violation of a hard margin relative to it.",
    .example = "mpirun -np 2 dkmap bench jkm --n 20000 --classes 100 --record bench.jsonl",
    .tables = {options, dkm_layout_settings, compute_options, report_options},
    .run = bench_jkm,
};
