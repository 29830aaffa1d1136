#include "cli/bench/bench_iterations.h"

#include <dkmap/jkm.h>
#include <dkmap/joint.h>
#include <dkmap/random.h>

#include "cli/bench/bench.h"

enum { FEATURES = BENCH_FEATURES, ROUNDS = 4 };

/* Noise, whose classes are hard to separate: all iterations take place. */
static void bench_iterations_fill(dkm_data *X, dkm_data *Y, dkm_idx classes)
{
    dkm_idx first = dkm_data_local_first(X);
    double *x = dkm_data_values(X), *y = dkm_data_values(Y);

    for (dkm_idx i = 0; i < dkm_data_local_rows(X); i++) {
        for (dkm_idx j = 0; j < FEATURES; j++)
            x[i * FEATURES + j] = dkm_random_normal(1, 2, (uint64_t)(first + i), (uint64_t)j);
        y[i] = (double)((first + i) % classes);
    }
}

/* Each round applies the machine twice, to look for constraints and to take them in. */
static bench_joint times(dkm_ctx *ctx, dkm_idx rounds)
{
    bench b = {.ctx = ctx};
    double applied = bench_phase(&b, "oracle", NULL) + bench_phase(&b, "constraints", NULL);
    double start = bench_phase(&b, "jkm", NULL) - applied - bench_phase(&b, "program", NULL);

    return (bench_joint){start, applied / (2.0 * (double)rounds + 1.0)};
}

dkm_status bench_rounds(run *r, dkm_idx m, dkm_idx classes, bench_joint *seconds)
{
    dkm_status status = DKM_OK;
    dkm_jkm_settings s = dkm_jkm_settings_default();
    dkm_data *X = NULL, *Y = NULL;
    dkm_kernel *kernel = NULL;
    dkm_joint *joint = NULL;
    dkm_model *model = NULL;
    dkm_jkm_info info = {0};

    s.C = 1;
    s.slacks = DKM_JKM_SLACKS_ONE;
    s.rounds = ROUNDS;
    s.tolerance = 1e-12;
    s.layout = run_layout(r);
    DKM_TRY(dkm_kernel_parse(r->ctx, "rbf(sigma=1)", &kernel));
    DKM_TRY(dkm_joint_parse(r->ctx, "tensor", &joint));
    DKM_TRY(dkm_data_create_dense(r->ctx, m, FEATURES, &X));
    DKM_TRY(dkm_data_create_labels(r->ctx, m, &Y));
    bench_iterations_fill(X, Y, classes);
    dkm_phase_clear(r->ctx);
    DKM_TRY(dkm_jkm_fit(r->ctx, X, Y, kernel, NULL, joint, &s, &model, &info));
    *seconds = times(r->ctx, info.rounds);
out:
    dkm_phase_clear(r->ctx);
    dkm_model_destroy(&model);
    dkm_data_destroy(&Y);
    dkm_data_destroy(&X);
    dkm_joint_destroy(&joint);
    dkm_kernel_destroy(&kernel);
    return status;
}
