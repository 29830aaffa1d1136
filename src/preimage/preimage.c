#include "preimage/preimage.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "kernels/evaluation/prepare.h"

#define ADDRESS(name) &dkm_preimage_##name,
static const dkm_preimage_kind *const kinds[] = {DKM_PREIMAGE_METHODS(ADDRESS)};
#undef ADDRESS

enum { KINDS = sizeof kinds / sizeof *kinds };

static const char *name_of(dkm_preimage_method method)
{
#define NAME(code, name) name,
    static const char *const names[] = {DKM_PREIMAGE_LIST(NAME)};
#undef NAME

    return names[method];
}

static const dkm_preimage_kind *preimage_find_kind(dkm_preimage_method method)
{
    for (int k = 0; k < KINDS; k++)
        if (kinds[k]->method == method)
            return kinds[k];
    return NULL;
}

void dkm_preimage_settings_clear(dkm_preimage_settings *settings)
{
    dkm_data_destroy(&settings->candidates);
    dkm_source_close(&settings->stream);
    dkm_kernel_destroy(&settings->kz);
}

int dkm_preimage_dense(const dkm_embedding *e, const char *text)
{
    return dkm_data_type(e->fitted.X) == DKM_DENSE &&
           (!text || strcmp(dkm_kernel_text(e->fitted.kernel), text) == 0);
}

/* Where objects may be made anew the first of these that suits, else linear or candidates. */
static dkm_preimage_method preimage_own_choose(const dkm_preimage *pre, int make)
{
    static const dkm_preimage_method order[] = {DKM_PREIMAGE_LINEAR, DKM_PREIMAGE_FIXED_POINT,
                                                DKM_PREIMAGE_GRADIENT};

    if (pre->settings.candidates || pre->settings.stream || pre->settings.top > 0)
        return DKM_PREIMAGE_CANDIDATES;
    for (size_t k = 0; k < (make ? sizeof order / sizeof *order : 1); k++)
        if (preimage_find_kind(order[k])->suits(pre->e))
            return order[k];
    return DKM_PREIMAGE_CANDIDATES;
}

/* The names of all methods that suit, with commas. */
static void list_suitable(const dkm_embedding *e, char *text, size_t size)
{
    size_t used = 0;

    text[0] = '\0';
    for (int k = 0; k < KINDS; k++)
        if (kinds[k]->method != DKM_PREIMAGE_NONE && kinds[k]->suits(e) && used < size)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "",
                                     name_of(kinds[k]->method));
}

static dkm_local preimage_check_method(const dkm_preimage *pre)
{
    const dkm_fitted_kernel *fitted = &pre->e->fitted;
    char suitable[256];

    if (pre->kind->suits(pre->e))
        return DKM_LOCAL_OK;
    list_suitable(pre->e, suitable, sizeof suitable);
    return dkm_fail(fitted->ctx, DKM_ERR_UNSUPPORTED,
                    "the pre-image method %s does not suit the kernel %s on %s objects: use %s",
                    name_of(pre->kind->method), dkm_kernel_text(fitted->kernel),
                    dkm_type_name(dkm_data_type(fitted->X)), suitable);
}

/* What candidates were given, or the training objects. */
typedef struct given {
    dkm_type type;
    dkm_idx rows, cols;
} given;

static given look_at(const dkm_data *objects)
{
    return (given){dkm_data_type(objects), dkm_data_rows(objects), dkm_data_cols(objects)};
}

static given find_given(const dkm_preimage *pre)
{
    const dkm_source *stream = pre->settings.stream;

    if (stream)
        return (given){dkm_source_type(stream), dkm_source_rows(stream), dkm_source_cols(stream)};
    return look_at(pre->settings.candidates ? pre->settings.candidates : pre->e->fitted.X);
}

static dkm_local preimage_check_candidates(const dkm_preimage *pre)
{
    dkm_ctx *ctx = pre->e->fitted.ctx;
    given it = find_given(pre), training = look_at(pre->e->fitted.X);
    int any = pre->settings.candidates || pre->settings.stream;
    dkm_local local = DKM_LOCAL_OK;

    if ((any || pre->settings.top > 0) && !(pre->kind->takes & DKM_PREIMAGE_TAKES_CANDIDATES))
        return dkm_fail(
            ctx, DKM_ERR_ARG,
            "candidates and a list of the best go with the pre-image method candidates");
    DKM_STEP(dkm_candidates_match(ctx, it.type, it.cols, training.type, training.cols));
    if (pre->settings.approximate != 0 && !(pre->kind->takes & DKM_PREIMAGE_TAKES_CANDIDATES))
        return dkm_fail(ctx, DKM_ERR_ARG,
                        "an approximate search goes with the pre-image method candidates");
    if (!(pre->settings.approximate >= 0 && pre->settings.approximate <= 1))
        return dkm_fail(ctx, DKM_ERR_ARG,
                        "the recall of an approximate search is above 0 and at most 1, not %g",
                        pre->settings.approximate);
    if (pre->settings.approximate > 0 && pre->settings.scores)
        return dkm_fail(ctx, DKM_ERR_ARG,
                        "scores are of all candidates, and an approximate search does not look at "
                        "all: ask for the best of them with --top, or for an exact search");
    if (any && it.type == DKM_GRAM)
        return dkm_fail(ctx, DKM_ERR_UNSUPPORTED,
                        "rows of a gram matrix do not tell how long new candidates are, k(c, c): "
                        "choose among the training objects, or work with distances");
    if (it.rows < 1)
        return dkm_fail(ctx, DKM_ERR_ARG, "there are no candidates: give at least one");
    if (it.rows < pre->settings.top)
        return dkm_fail(ctx, DKM_ERR_ARG,
                        "the best %lld of %lld candidates cannot be listed: ask for at most %lld",
                        (long long)pre->settings.top, (long long)it.rows, (long long)it.rows);
out:
    return local;
}

static dkm_local check_learned(const dkm_preimage *pre)
{
    dkm_ctx *ctx = pre->e->fitted.ctx;
    int needs = (pre->kind->takes & DKM_PREIMAGE_NEEDS_KERNEL) != 0;
    int takes = (pre->kind->takes & DKM_PREIMAGE_TAKES_KERNEL) != 0;
    int learns = needs || (takes && pre->settings.kz);

    if (learns && !pre->settings.kz)
        return dkm_fail(ctx, DKM_ERR_ARG,
                        "a learned pre-image needs a kernel on coordinates: give kz, for example "
                        "rbf(sigma=1)");
    if (learns && !(pre->settings.gamma_z > 0))
        return dkm_fail(ctx, DKM_ERR_ARG, "the ridge of a learned pre-image is above 0, not %g",
                        pre->settings.gamma_z);
    if (learns && !dkm_kernel_suits(pre->settings.kz, DKM_DENSE))
        return dkm_fail(ctx, DKM_ERR_UNSUPPORTED,
                        "kz = %s is no kernel on coordinates, which are dense rows: give one, for "
                        "example rbf(sigma=1)",
                        dkm_kernel_text(pre->settings.kz));
    if (!learns && pre->settings.kz)
        return dkm_fail(ctx, DKM_ERR_ARG,
                        "a kernel on coordinates goes with the pre-image methods learned and "
                        "strings");
    return DKM_LOCAL_OK;
}

static dkm_local check_neighbors(const dkm_preimage *pre)
{
    dkm_ctx *ctx = pre->e->fitted.ctx;

    if (pre->settings.neighbors > 0 && !(pre->kind->takes & DKM_PREIMAGE_TAKES_NEIGHBORS))
        return dkm_fail(ctx, DKM_ERR_ARG,
                        "neighbors go with the pre-image methods mds and strings");
    if (pre->settings.window > 0 && !(pre->kind->takes & DKM_PREIMAGE_TAKES_WINDOW))
        return dkm_fail(ctx, DKM_ERR_ARG, "a window goes with the pre-image method strings");
    if (pre->settings.window_weights != DKM_WINDOW_WEIGHTS_EQUAL &&
        (!(pre->kind->takes & DKM_PREIMAGE_TAKES_WINDOW) || pre->settings.kz))
        return dkm_fail(ctx, DKM_ERR_ARG,
                        "window weights go with the pre-image method strings, and not with kz");
    if (pre->settings.window > 0 && pre->settings.window % 2 == 0)
        return dkm_fail(ctx, DKM_ERR_ARG,
                        "a window of %lld letters has none in its middle: give an "
                        "odd number",
                        (long long)pre->settings.window);
    return DKM_LOCAL_OK;
}

dkm_status dkm_preimage_open(dkm_preimage *pre, dkm_embedding *e, dkm_preimage_settings *settings,
                             int make)
{
    dkm_status status = DKM_OK;

    *pre = (dkm_preimage){.e = e, .settings = *settings};
    *settings = (dkm_preimage_settings){.method = settings->method};
    if (pre->settings.method == DKM_PREIMAGE_AUTO)
        pre->settings.method = preimage_own_choose(pre, make);
    pre->kind = preimage_find_kind(pre->settings.method);
    if (pre->settings.top == DKM_PREIMAGE_TOP_ALL)
        pre->settings.top = find_given(pre).rows;
    DKM_AGREE(e->fitted.ctx, preimage_check_method(pre));
    DKM_AGREE(e->fitted.ctx, preimage_check_candidates(pre));
    DKM_AGREE(e->fitted.ctx, check_learned(pre));
    DKM_AGREE(e->fitted.ctx, check_neighbors(pre));
    if (pre->kind->check)
        DKM_AGREE(e->fitted.ctx, pre->kind->check(pre));
out:
    return status;
}

/* Free what was prepared. */
static void forget(dkm_preimage *pre)
{
    if (pre->state && pre->kind->clear)
        pre->kind->clear(pre->state);
    DKM_FREE(pre->state);
    pre->ready = 0;
}

void dkm_preimage_close(dkm_preimage *pre)
{
    dkm_preimage_settings_clear(&pre->settings);
    forget(pre);
}

dkm_type dkm_preimage_type(const dkm_preimage *pre)
{
    return pre->settings.method == DKM_PREIMAGE_NONE || pre->settings.top > 0
               ? DKM_DENSE
               : dkm_data_type(pre->e->fitted.X);
}

dkm_idx dkm_preimage_cols(const dkm_preimage *pre)
{
    if (pre->settings.method == DKM_PREIMAGE_NONE)
        return pre->e->p;
    return pre->settings.top > 0 ? 2 * pre->settings.top : dkm_data_cols(pre->e->fitted.X);
}

dkm_idx dkm_preimage_width(const dkm_preimage *pre)
{
    return pre->e->p + dkm_preimage_cols(pre) + (pre->kind->width ? pre->kind->width(pre) : 0);
}

dkm_status dkm_preimage_training(const dkm_preimage *pre, dkm_candidates *candidates)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = pre->e->fitted.ctx;
    const dkm_data *X = pre->e->fitted.X;
    dkm_dmat *Z = NULL;

    DKM_TRY(dkm_embedding_training(pre->e, &Z));
    DKM_TRY(dkm_data_create_dense(ctx, dkm_data_rows(X), pre->e->p, &candidates->Z));
    DKM_TRY(dkm_dmat_to_rows(Z, dkm_data_values(candidates->Z)));
    DKM_AGREE(ctx, dkm_alloc(ctx, dkm_data_local_rows(X), &candidates->norms));
    DKM_TRY(dkm_embedding_training_norms(pre->e, candidates->norms));
out:
    dkm_dmat_destroy(&Z);
    return status;
}

static int is_finite_row(const double *row, dkm_idx d)
{
    for (dkm_idx k = 0; k < d; k++)
        if (!isfinite(row[k]))
            return 0;
    return 1;
}

dkm_status dkm_preimage_mend(const dkm_preimage *pre, const dkm_candidates *training,
                             const dkm_data *Z, dkm_data *Y)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = pre->e->fitted.ctx;
    dkm_idx n = dkm_data_local_rows(Y), d = dkm_data_cols(Y), bad = 0, all = 0, *index = NULL;
    double *distance = NULL;
    dkm_objs got = {0};

    for (dkm_idx i = 0; i < n; i++)
        bad += !is_finite_row(dkm_data_values(Y) + i * d, d);
    MPI_Allreduce(&bad, &all, 1, MPI_INT64_T, MPI_SUM, dkm_ctx_comm(ctx));
    if (all == 0)
        return DKM_OK;
    dkm_log(ctx, DKM_WARN,
            "%s has no object for %lld of %lld points: they get the nearest training object",
            name_of(pre->kind->method), (long long)all, (long long)dkm_data_rows(Y));
    DKM_AGREE(ctx, dkm_alloc(ctx, n, &index));
    DKM_AGREE(ctx, dkm_alloc(ctx, n, &distance));
    DKM_TRY(dkm_topk(Z, training, 1, index, distance));
    DKM_TRY(dkm_data_fetch(pre->e->fitted.X, n, index, &got));
    for (dkm_idx i = 0; i < n; i++)
        if (!is_finite_row(dkm_data_values(Y) + i * d, d))
            memcpy(dkm_data_values(Y) + i * d, got.values + i * d, (size_t)d * sizeof(double));
out:
    dkm_objs_clear(&got);
    DKM_FREE(distance);
    DKM_FREE(index);
    return status;
}

static dkm_local check_coordinates(const dkm_preimage *pre, const dkm_data *Z)
{
    dkm_ctx *ctx = pre->e->fitted.ctx;

    if (dkm_data_type(Z) != DKM_DENSE)
        return dkm_fail(ctx, DKM_ERR_ARG, "coordinates are dense rows, and these are %s",
                        dkm_type_name(dkm_data_type(Z)));
    if (dkm_data_cols(Z) != pre->e->p)
        return dkm_fail(ctx, DKM_ERR_ARG, "the model has %lld components, these rows %lld columns",
                        (long long)pre->e->p, (long long)dkm_data_cols(Z));
    return DKM_LOCAL_OK;
}

/* A state for the method, and what it computes once. */
static dkm_status preimage_prepare(dkm_preimage *pre)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = pre->e->fitted.ctx;
    char *state = NULL;

    DKM_AGREE(ctx, dkm_calloc(ctx, (dkm_idx)pre->kind->state_size, &state));
    pre->state = state;
    state = NULL;
    if (pre->kind->prepare)
        DKM_TRY(pre->kind->prepare(pre, pre->state));
    pre->ready = 1;
out:
    DKM_FREE(state);
    return status;
}

dkm_status dkm_preimage_solve(dkm_preimage *pre, const dkm_data *X, const dkm_data *Z, dkm_data **Y)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = pre->e->fitted.ctx;

    *Y = NULL;
    dkm_phase_begin(ctx, "preimage");
    DKM_AGREE(ctx, check_coordinates(pre, Z));
    if (!pre->ready)
        DKM_TRY(preimage_prepare(pre));
    DKM_TRY(pre->kind->solve(pre, pre->state, X, Z, Y));
out:
    if (!pre->ready)
        forget(pre);
    dkm_phase_end(ctx);
    return status;
}
