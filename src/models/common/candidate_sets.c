/* Label sets of all candidates within a radius, and intervals around predictions, for
 * prediction sets. Cost: one comparison per input and candidate. Local. */
#include "models/common/candidate_sets.h"

#include <math.h>

#include <dkmap/grid.h>

#include "data/builder.h"

static dkm_local candidate_sets_build(dkm_ctx *ctx, dkm_idx n, dkm_idx count, const double *labels,
                                      const double *distance, double radius, dkm_objs *objs)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_builder g;

    DKM_STEP(dkm_builder_begin(&g, objs, ctx, DKM_LABEL_SETS, n, 0));
    for (dkm_idx i = 0; i < n; i++) {
        for (dkm_idx c = 0; c < count; c++)
            if (distance[i * count + c] <= radius)
                DKM_STEP(dkm_builder_entry(&g, labels ? (dkm_idx)labels[c] : c, 1.0));
        dkm_builder_next(&g);
    }
    DKM_STEP(dkm_builder_end(&g));
out:
    return local;
}

dkm_status dkm_candidate_sets(dkm_ctx *ctx, dkm_idx m, dkm_idx count, const double *labels,
                              const double *distance, double radius, dkm_data **S)
{
    dkm_status status = DKM_OK;
    dkm_idx n = dkm_slab_count(m, dkm_ctx_rank(ctx), dkm_ctx_size(ctx));
    dkm_objs objs = {0};

    *S = NULL;
    DKM_AGREE(ctx, candidate_sets_build(ctx, n, count, labels, distance, radius, &objs));
    DKM_TRY(dkm_data_wrap(ctx, m, &objs, S));
out:
    dkm_objs_clear(&objs);
    return status;
}

dkm_local dkm_class_sets_check(dkm_ctx *ctx, dkm_idx count, const double *classes)
{
    if (count > 0 && classes[0] < 0)
        return dkm_fail(ctx, DKM_ERR_UNSUPPORTED,
                        "sets of classes are of numbers from 0, and there is a class %g: number "
                        "the classes from 0, or name them",
                        classes[0]);
    return DKM_LOCAL_OK;
}

double dkm_class_distance(const double *f, dkm_idx cols, const double *classes, double c)
{
    double square = 1.0;

    for (dkm_idx j = 0; j < cols; j++)
        square += f[j] * f[j] - (classes[j] == c ? 2.0 * f[j] : 0.0);
    return fmax(square, 0.0);
}

dkm_status dkm_intervals(const dkm_data *F, const double *radius, dkm_data **S)
{
    dkm_status status = DKM_OK;
    dkm_idx p = dkm_data_cols(F);

    DKM_TRY(dkm_data_create_dense(dkm_data_ctx(F), dkm_data_rows(F), 2 * p, S));
    for (dkm_idx i = 0; i < dkm_data_local_rows(F); i++)
        for (dkm_idx j = 0; j < p; j++) {
            double f = dkm_data_values_const(F)[i * p + j], *row = dkm_data_values(*S) + i * 2 * p;
            row[j] = f - radius[j];
            row[p + j] = f + radius[j];
        }
out:
    return status;
}

static dkm_local class_sets_build(const dkm_data *F, const double *classes, double radius,
                                  dkm_objs *objs)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx p = dkm_data_cols(F), n = dkm_data_local_rows(F);
    dkm_builder g;

    DKM_STEP(dkm_builder_begin(&g, objs, dkm_data_ctx(F), DKM_LABEL_SETS, n, 0));
    for (dkm_idx i = 0; i < n; i++) {
        const double *f = dkm_data_values_const(F) + i * p;
        for (dkm_idx j = 0; j < p; j++)
            if (dkm_class_distance(f, p, classes, classes[j]) <= radius)
                DKM_STEP(dkm_builder_entry(&g, (dkm_idx)classes[j], 1.0));
        dkm_builder_next(&g);
    }
    DKM_STEP(dkm_builder_end(&g));
out:
    return local;
}

dkm_status dkm_class_sets(const dkm_data *F, const double *classes, double radius, dkm_data **S)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_data_ctx(F);
    dkm_objs objs = {0};

    DKM_AGREE(ctx, class_sets_build(F, classes, radius, &objs));
    DKM_TRY(dkm_data_wrap(ctx, dkm_data_rows(F), &objs, S));
out:
    dkm_objs_clear(&objs);
    return status;
}
