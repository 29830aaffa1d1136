#include "models/jkm/output_space/output_space.h"

#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "kernels/joint/joint_impl.h"
#include "models/common/reproducible.h"
#include "models/jkm/output_space/output_space_impl.h"

#define SPAN_MOST 2000 /* examples whose span is worked out */

void dkm_output_space_close(dkm_output_space *space)
{
    DKM_FREE(space->Z);
    DKM_FREE(space->truth);
    DKM_FREE(space->alphabet);
    dkm_data_destroy(&space->basis);
    dkm_data_destroy(&space->lists);
    dkm_data_destroy(&space->C);
    dkm_data_destroy(&space->objects);
    dkm_target_encoder_clear(&space->classes);
    if (space->embedding)
        dkm_embedding_close(space->embedding);
    DKM_FREE(space->embedding);
}

const char *dkm_output_space_name(const dkm_output_space *space)
{
    return space->kind == DKM_JKM_SPHERE ? "sphere"
           : space->kind == DKM_JKM_FREE ? "free"
           : space->classes.classes      ? "classes"
                                         : "candidates";
}

static int output_space_is_rows(dkm_type type, const char *ky)
{
    return type == DKM_DENSE && strcmp(ky, "linear") == 0;
}

static dkm_local decide(dkm_output_space *s, const char *ky, const dkm_jkm_settings *settings)
{
    int rows = output_space_is_rows(s->type, ky);

    s->kind = settings->outputs;
    if (s->kind == DKM_JKM_AUTO)
        s->kind = settings->oracle.find           ? DKM_JKM_FREE
                  : rows && !settings->candidates ? DKM_JKM_SPHERE
                                                  : DKM_JKM_CANDIDATES;
    if (strcmp(ky, DKM_JOINT_LETTERS) == 0 && s->type != DKM_STRINGS)
        return dkm_fail(s->ctx, DKM_ERR_ARG,
                        "the joint kernel strings is for outputs that are strings, these are %s",
                        dkm_type_name(s->type));
    if (s->kind != DKM_JKM_CANDIDATES && !rows)
        return dkm_fail(s->ctx, DKM_ERR_UNSUPPORTED,
                        "outputs on the sphere, or free, are dense rows under a linear kernel, not "
                        "%s under %s: use candidates",
                        dkm_type_name(s->type), ky);
    if (s->kind != DKM_JKM_CANDIDATES && settings->candidates)
        return dkm_fail(s->ctx, DKM_ERR_ARG,
                        "candidates go with outputs that are candidates, not with the %s",
                        dkm_output_space_name(s));
    if (s->kind == DKM_JKM_SPHERE && settings->epsilon >= 2)
        return dkm_fail(s->ctx, DKM_ERR_ARG,
                        "epsilon = %g leaves nothing to tell apart: points of the sphere are at "
                        "most 2 apart, take less",
                        settings->epsilon);
    return DKM_LOCAL_OK;
}

/* Rows as they are; on the sphere scaled to unit length. */
static dkm_local output_space_take_rows(dkm_output_space *s, const dkm_data *Y)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx n = dkm_data_local_rows(Y), r = dkm_data_cols(Y);

    s->r = r;
    DKM_STEP(dkm_alloc(s->ctx, n * r, &s->Z));
    memcpy(s->Z, dkm_data_values_const(Y), (size_t)(n * r) * sizeof *s->Z);
    for (dkm_idx i = 0; s->kind == DKM_JKM_SPHERE && i < n; i++) {
        double *z = s->Z + i * r, square = 0;
        for (dkm_idx k = 0; k < r; k++)
            square += z[k] * z[k];
        if (square == 0)
            return dkm_fail(s->ctx, DKM_ERR_ARG,
                            "row %lld of y is zero and cannot be scaled to unit length",
                            (long long)(dkm_data_local_first(Y) + i));
        for (dkm_idx k = 0; k < r; k++)
            z[k] /= sqrt(square);
    }
out:
    return local;
}

/* One column a class. */
static dkm_status take_classes(dkm_output_space *s, const dkm_data *Y)
{
    dkm_status status = DKM_OK;
    dkm_idx n = dkm_data_local_rows(Y);

    DKM_TRY(dkm_target_encoder_learn(&s->classes, Y));
    s->r = s->count = s->classes.cols;
    DKM_AGREE(s->ctx, dkm_alloc(s->ctx, n * s->r, &s->Z));
    DKM_AGREE(s->ctx, dkm_alloc(s->ctx, n, &s->truth));
    dkm_target_encoder_encode(&s->classes, Y, s->Z);
    for (dkm_idx i = 0; i < n * s->r; i++) {
        if (s->Z[i] > 0)
            s->truth[i / s->r] = i % s->r;
        s->Z[i] *= s->unit;
    }
out:
    return status;
}

/* The coordinates of each example's own output are those of its candidate. */
static dkm_status take_truth_rows(dkm_output_space *s, dkm_idx n)
{
    dkm_status status = DKM_OK;
    dkm_objs got = {0};

    DKM_TRY(dkm_data_fetch(s->C, n, s->truth, &got));
    s->Z = got.values;
    got.values = NULL;
out:
    dkm_objs_clear(&got);
    return status;
}

static dkm_status take_candidates(dkm_output_space *s, const dkm_data *Y, const char *ky,
                                  const dkm_jkm_settings *settings)
{
    dkm_status status = DKM_OK;
    dkm_idx n = dkm_data_local_rows(Y);

    DKM_TRY(dkm_output_space_find_truth(s, Y, settings->candidates));
    s->objects = dkm_data_share(settings->candidates ? settings->candidates : Y);
    s->count = dkm_data_rows(s->objects);
    DKM_TRY(dkm_output_space_embed(s, output_space_is_rows(s->type, ky) ? NULL : ky,
                                   &settings->layout));
    s->r = dkm_data_cols(s->C);
    DKM_TRY(take_truth_rows(s, n));
out:
    return status;
}

static dkm_local output_space_check_lists(const dkm_output_space *s, const dkm_data *lists,
                                          dkm_idx m)
{
    const dkm_objs *own = &lists->mine;

    if (dkm_data_type(lists) != DKM_LABEL_SETS || dkm_data_rows(lists) != m)
        return dkm_fail(s->ctx, DKM_ERR_ARG,
                        "lists of candidates are label sets, one an example: %lld %s do not do for "
                        "%lld examples",
                        (long long)dkm_data_rows(lists), dkm_type_name(dkm_data_type(lists)),
                        (long long)m);
    for (dkm_idx k = 0; k < own->start[own->n]; k++)
        if (own->col[k] < 0 || own->col[k] >= s->count)
            return dkm_fail(s->ctx, DKM_ERR_ARG,
                            "a list names candidate %lld, and they are counted from 0 to %lld",
                            (long long)own->col[k], (long long)s->count - 1);
    return DKM_LOCAL_OK;
}

dkm_status dkm_output_space_open(dkm_output_space *space, const dkm_data *Y, const char *ky,
                                 int span, dkm_jkm_settings *settings)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_data_ctx(Y);
    dkm_idx m = dkm_data_rows(Y);

    *space = (dkm_output_space){.ctx = ctx, .type = dkm_data_type(Y), .cols = dkm_data_cols(Y)};
    space->lists = settings->lists ? dkm_data_share(settings->lists) : NULL;
    DKM_AGREE(ctx, decide(space, ky, settings));
    if (settings->epsilon < 0)
        settings->epsilon = space->kind == DKM_JKM_CANDIDATES ? 0 : 0.1;
    if (space->kind != DKM_JKM_CANDIDATES) {
        DKM_AGREE(ctx, output_space_take_rows(space, Y));
        if (span && space->cols > m && m <= SPAN_MOST)
            DKM_TRY(dkm_output_space_reduce_to_span(space, m));
    } else if (space->type == DKM_LABELS && !settings->candidates) {
        space->unit = strcmp(ky, "class") == 0 ? sqrt(0.5) : 1.0;
        DKM_TRY(take_classes(space, Y));
    } else {
        DKM_TRY(take_candidates(space, Y, ky, settings));
    }
    if (space->lists)
        DKM_AGREE(ctx, output_space_check_lists(space, space->lists, m));
out:
    return status;
}

/* To predict, an example needs something to choose from. */
static dkm_local output_space_check_choice(const dkm_output_space *s, const dkm_data *lists)
{
    const dkm_objs *own = &lists->mine;
    dkm_local local = DKM_LOCAL_OK;

    if (s->count == 0)
        return dkm_fail(s->ctx, DKM_ERR_ARG,
                        "the model predicts vectors: lists of candidates go with candidates");
    DKM_STEP(output_space_check_lists(s, lists, dkm_data_rows(lists)));
    for (dkm_idx i = 0; i < own->n; i++) {
        long long row = (long long)(dkm_data_local_first(lists) + i);
        if (own->start[i + 1] == own->start[i])
            return dkm_fail(s->ctx, DKM_ERR_ARG,
                            "row %lld of the lists of candidates is empty: name at least one", row);
        for (dkm_idx k = own->start[i] + 1; k < own->start[i + 1]; k++)
            if (own->col[k] <= own->col[k - 1])
                return dkm_fail(s->ctx, DKM_ERR_ARG,
                                "row %lld of the lists of candidates does not ascend", row);
    }
out:
    return local;
}

dkm_status dkm_output_space_set_lists(dkm_output_space *space, const dkm_data *lists)
{
    dkm_status status = DKM_OK;

    if (lists)
        DKM_AGREE(space->ctx, output_space_check_choice(space, lists));
    dkm_data_destroy(&space->lists);
    space->lists = lists ? dkm_data_share(lists) : NULL;
out:
    return status;
}

dkm_status dkm_output_space_candidates(const dkm_output_space *space, dkm_idx first, dkm_idx count,
                                       double *rows)
{
    if (space->C)
        return dkm_repro_gather(space->ctx, space->count, space->r, dkm_data_values_const(space->C),
                                first, count, rows);
    memset(rows, 0, (size_t)(count * space->r) * sizeof *rows);
    for (dkm_idx k = 0; k < count; k++)
        rows[k * space->r + first + k] = space->unit;
    return DKM_OK;
}
