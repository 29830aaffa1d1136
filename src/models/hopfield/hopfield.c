/* Pattern completion by a linear system on a closed hypercube (Li, Michel and Porod 1989, IEEE
 * Trans. Circuits Syst. 36(11):1405-1422): the formula is in <dkmap/hopfield.h>.
 *
 * The projection P onto the span of the patterns comes from the eigenvectors of their linear
 * Gram matrix (models/common/embedding.c). Cost of a fit: the Gram matrix of m patterns and its
 * eigendecomposition. Cost per iteration of n states of d columns and p directions: 4 n d p
 * flops. Replicated: the eigenvalues. */
#include "models/hopfield/hopfield_impl.h"

#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "models/common/method_parts.h"
#include "models/registry/model_impl.h"
#include "search/topk.h"

#define MOST_STEPS 1000000 /* that a model file may ask for */

static const dkm_fitted_kernel_names pattern_names = {"kernel", "patterns", NULL};

dkm_hopfield_settings dkm_hopfield_settings_default(void)
{
    return (dkm_hopfield_settings){.steps = 500, .tolerance = 1e-6};
}

static void hopfield_destroy(void *state)
{
    dkm_hopfield *s = state;

    DKM_FREE(s->squares);
    DKM_FREE(s->rest);
    DKM_FREE(s->mean);
    dkm_dmat_destroy(&s->U);
    dkm_embedding_close(&s->e);
    dkm_free_block(s);
}

/* Numbers beyond the hypercube that states move in are refused, with their place. */
static dkm_local check_range(const dkm_data *data, const char *name)
{
    dkm_idx cols = dkm_data_cols(data), first = dkm_data_local_first(data);
    const double *values = dkm_data_values_const(data);

    for (dkm_idx i = 0; i < dkm_data_local_rows(data) * cols; i++)
        if (fabs(values[i]) > 1.0 + 1e-9)
            return dkm_fail(dkm_data_ctx(data), DKM_ERR_ARG,
                            "row %lld of %s has the number %g: a Hopfield net wants numbers from "
                            "-1 to 1, scale them first",
                            (long long)(first + i / cols), name, values[i]);
    return DKM_LOCAL_OK;
}

static dkm_local hopfield_check_fit(dkm_ctx *ctx, const dkm_data *X, const dkm_data *Y)
{
    dkm_local local = DKM_LOCAL_OK;

    if (dkm_data_type(X) != DKM_DENSE || dkm_data_type(Y) != DKM_DENSE)
        return dkm_fail(ctx, DKM_ERR_UNSUPPORTED, "a Hopfield net maps dense rows to dense rows");
    DKM_STEP(dkm_check_examples(ctx, dkm_data_rows(X), Y));
    DKM_STEP(check_range(X, "x"));
    DKM_STEP(check_range(Y, "y"));
out:
    return local;
}

dkm_status dkm_hopfield_fit(dkm_ctx *ctx, const dkm_data *X, const dkm_data *Y,
                            const dkm_hopfield_settings *settings, dkm_model **model,
                            dkm_hopfield_info *info)
{
    dkm_eigen_settings all = dkm_eigen_settings_default();
    dkm_status status = DKM_OK;
    dkm_eigen_info found;
    dkm_data *joined = NULL;
    dkm_hopfield *s = NULL;

    *model = NULL;
    all.center = 1;
    all.components = INT64_MAX;
    DKM_AGREE(ctx, hopfield_check_fit(ctx, X, Y));
    DKM_AGREE(ctx, dkm_calloc(ctx, 1, &s));
    s->d = dkm_data_cols(X);
    s->steps = settings->steps;
    s->tolerance = settings->tolerance;
    DKM_TRY(dkm_hopfield_join(ctx, X, Y, s->d + dkm_data_cols(Y), &joined));
    DKM_TRY(dkm_fitted_kernel_parse(&s->e.fitted, NULL, joined, "linear", &settings->layout));
    DKM_TRY(dkm_embedding_fit(&s->e, &all, &found));
    DKM_TRY(dkm_hopfield_ready(s));
    if (info)
        *info = (dkm_hopfield_info){dkm_data_rows(X), s->e.p};
    status = dkm_model_wrap(ctx, &dkm_class_hopfield, s, DKM_DENSE, dkm_data_cols(Y), model);
    s = NULL; /* taken over, whatever came of it */
out:
    dkm_data_destroy(&joined);
    if (s)
        hopfield_destroy(s);
    return status;
}

/* The y of the patterns named. */
static dkm_status hopfield_hand_over(const dkm_hopfield *s, const dkm_data *X,
                                     const dkm_idx *nearest, dkm_data **Y)
{
    dkm_status status = DKM_OK;
    dkm_idx cols = dkm_data_cols(s->e.fitted.X), d = cols - s->d;
    dkm_objs got = {0};

    DKM_TRY(dkm_data_fetch(s->e.fitted.X, dkm_data_local_rows(X), nearest, &got));
    DKM_TRY(dkm_data_create_dense(s->e.fitted.ctx, dkm_data_rows(X), d, Y));
    for (dkm_idx i = 0; i < got.n; i++)
        memcpy(dkm_data_values(*Y) + i * d, got.values + i * cols + s->d,
               (size_t)d * sizeof *got.values);
out:
    dkm_objs_clear(&got);
    return status;
}

static dkm_local hopfield_check_inputs(const dkm_hopfield *s, const dkm_data *X)
{
    if (dkm_data_type(X) == DKM_DENSE && dkm_data_cols(X) == s->d)
        return check_range(X, "x");
    return dkm_fail(s->e.fitted.ctx, DKM_ERR_ARG,
                    "the model was trained on dense inputs of %lld columns, these are %s of %lld",
                    (long long)s->d, dkm_type_name(dkm_data_type(X)), (long long)dkm_data_cols(X));
}

static dkm_status hopfield_predict(void *state, const dkm_data *X, dkm_data **Y)
{
    dkm_hopfield *s = state;
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = s->e.fitted.ctx;
    dkm_candidates patterns = {s->e.fitted.X, s->squares};
    dkm_idx *nearest = NULL;
    double *distance = NULL;
    dkm_data *states = NULL;

    *Y = NULL;
    dkm_phase_begin(ctx, "predict");
    DKM_AGREE(ctx, hopfield_check_inputs(s, X));
    DKM_AGREE(ctx, dkm_alloc(ctx, dkm_data_local_rows(X), &nearest));
    DKM_AGREE(ctx, dkm_alloc(ctx, dkm_data_local_rows(X), &distance));
    DKM_TRY(dkm_hopfield_complete(s, X, &states));
    DKM_TRY(dkm_topk(states, &patterns, 1, nearest, distance));
    DKM_TRY(hopfield_hand_over(s, X, nearest, Y));
out:
    dkm_phase_end(ctx);
    dkm_data_destroy(&states);
    DKM_FREE(distance);
    DKM_FREE(nearest);
    return status;
}

static dkm_idx hopfield_batch_rows(const void *state)
{
    const dkm_hopfield *s = state;

    return dkm_fitted_kernel_batch_rows(&s->e.fitted, 4 * dkm_data_cols(s->e.fitted.X));
}

static dkm_status hopfield_to_archive(void *state, dkm_archive *archive)
{
    dkm_hopfield *s = state;
    dkm_status status = DKM_OK;

    DKM_AGREE(s->e.fitted.ctx, dkm_archive_put_real(archive, "input_cols", (double)s->d));
    DKM_AGREE(s->e.fitted.ctx, dkm_archive_put_real(archive, "steps", (double)s->steps));
    DKM_AGREE(s->e.fitted.ctx, dkm_archive_put_real(archive, "tolerance", s->tolerance));
    DKM_TRY(dkm_embedding_to_archive(&s->e, pattern_names, archive));
out:
    return status;
}

static dkm_local hopfield_read_entries(dkm_hopfield *s, const dkm_archive *archive)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_archive_count(archive, "input_cols", 1, INT64_MAX, &s->d));
    DKM_STEP(dkm_archive_count(archive, "steps", 0, INT64_MAX, &s->steps));
    DKM_STEP(dkm_archive_number(archive, "tolerance", 0, HUGE_VAL, &s->tolerance));
    s->steps = s->steps < MOST_STEPS ? s->steps : MOST_STEPS;
out:
    return local;
}

static dkm_local check_patterns(const dkm_hopfield *s)
{
    const dkm_data *X = s->e.fitted.X;

    if (dkm_data_type(X) == DKM_DENSE && s->d < dkm_data_cols(X))
        return DKM_LOCAL_OK;
    return dkm_fail(s->e.fitted.ctx, DKM_ERR_FORMAT, "patterns are %s of %lld columns, inputs %lld",
                    dkm_type_name(dkm_data_type(X)), (long long)dkm_data_cols(X), (long long)s->d);
}

static dkm_status hopfield_from_archive(dkm_ctx *ctx, dkm_archive *archive,
                                        const dkm_layout *layout, void **state)
{
    dkm_status status = DKM_OK;
    dkm_hopfield *s = NULL;

    *state = NULL;
    DKM_AGREE(ctx, dkm_calloc(ctx, 1, &s));
    DKM_AGREE(ctx, hopfield_read_entries(s, archive));
    DKM_TRY(dkm_embedding_from_archive(&s->e, NULL, pattern_names, archive, layout));
    DKM_AGREE(ctx, check_patterns(s));
    DKM_TRY(dkm_hopfield_ready(s));
    *state = s;
    s = NULL;
out:
    if (s)
        hopfield_destroy(s);
    return status;
}

const dkm_model_class dkm_class_hopfield = {.name = "hopfield",
                                            .predict = hopfield_predict,
                                            .batch_rows = hopfield_batch_rows,
                                            .to_archive = hopfield_to_archive,
                                            .from_archive = hopfield_from_archive,
                                            .destroy = hopfield_destroy};
