/* With A(s) = mean + P (s - mean) and q = (I - P) mean, which (I - P) t is for every pattern t,
 * P s = A(s) - q. The rows of U are orthonormal and P = U'U. */
#include <dkmap/hopfield.h>

#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "dmat/dmat_impl.h"
#include "model/embedding.h"
#include "model/model_impl.h"
#include "model/nearest.h"
#include "scalapack/linalg.h"

#define STEP  0.15
#define DECAY 10.0

static const dkm_base_names pattern_names = {"kernel", "patterns"};

typedef struct hopfield {
    dkm_embedding e; /* of the patterns: they are its objects */
    dkm_idx d;       /* columns of x */
    dkm_idx steps;
    double tolerance;
    dkm_dmat *U;     /* p x columns */
    double *mean;    /* of the columns */
    double *rest;    /* q */
    double *squares; /* of the patterns of this rank */
} hopfield;

dkm_hopfield_settings dkm_hopfield_settings_default(void)
{
    return (dkm_hopfield_settings){.steps = 500, .tolerance = 1e-6};
}

static void destroy(void *state)
{
    hopfield *s = state;

    DKM_FREE(s->squares);
    DKM_FREE(s->rest);
    DKM_FREE(s->mean);
    dkm_dmat_destroy(&s->U);
    dkm_embedding_close(&s->e);
    dkm_free_block(s);
}

static dkm_local check_fit(dkm_ctx *ctx, const dkm_data *X, const dkm_data *Y)
{
    const dkm_data *both[] = {X, Y};

    if (dkm_data_type(X) != DKM_DENSE || dkm_data_type(Y) != DKM_DENSE)
        return dkm_fail(ctx, DKM_ERR_UNSUPPORTED, "a Hopfield net maps dense rows to dense rows");
    if (dkm_data_rows(X) != dkm_data_rows(Y))
        return dkm_fail(ctx, DKM_ERR_ARG, "x has %lld rows and y has %lld: they must match",
                        (long long)dkm_data_rows(X), (long long)dkm_data_rows(Y));
    for (int k = 0; k < 2; k++)
        for (dkm_idx i = 0; i < dkm_data_local_rows(both[k]) * dkm_data_cols(both[k]); i++)
            if (fabs(dkm_data_values_const(both[k])[i]) > 1.0 + 1e-9)
                return dkm_fail(ctx, DKM_ERR_ARG,
                                "%s has the number %g: a Hopfield net wants numbers from -1 to 1",
                                k ? "y" : "x", dkm_data_values_const(both[k])[i]);
    return DKM_LOCAL_OK;
}

/* Rows (x, y); zeros for y where there is none. */
static dkm_status join(dkm_ctx *ctx, const dkm_data *X, const dkm_data *Y, dkm_idx cols,
                       dkm_data **joined)
{
    dkm_idx d = dkm_data_cols(X);
    dkm_status status = dkm_data_create_dense(ctx, dkm_data_rows(X), cols, joined);

    for (dkm_idx i = 0; status == DKM_OK && i < dkm_data_local_rows(X); i++) {
        double *row = dkm_data_values(*joined) + i * cols;
        memcpy(row, dkm_data_values_const(X) + i * d, (size_t)d * sizeof *row);
        if (Y)
            memcpy(row + d, dkm_data_values_const(Y) + i * (cols - d),
                   (size_t)(cols - d) * sizeof *row);
    }
    return status;
}

static dkm_local make_room(hopfield *s)
{
    dkm_ctx *ctx = s->e.base.ctx;
    dkm_idx cols = dkm_data_cols(s->e.base.X);
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_alloc(ctx, cols, &s->mean));
    DKM_STEP(dkm_alloc(ctx, cols, &s->rest));
    DKM_STEP(dkm_alloc(ctx, dkm_data_local_rows(s->e.base.X), &s->squares));
out:
    return local;
}

static void sum_squares(hopfield *s)
{
    dkm_idx cols = dkm_data_cols(s->e.base.X);
    const double *rows = dkm_data_values_const(s->e.base.X);

    for (dkm_idx i = 0; i < dkm_data_local_rows(s->e.base.X); i++) {
        s->squares[i] = 0.0;
        for (dkm_idx j = i * cols; j < (i + 1) * cols; j++)
            s->squares[i] += rows[j] * rows[j];
    }
}

/* G = S U'U for the states S, whose rows were made less the mean. */
static dkm_status project(hopfield *s, const dkm_dmat *S, dkm_dmat *G)
{
    dkm_status status = DKM_OK;
    dkm_dmat *F = NULL;

    DKM_TRY(dkm_dmat_create_beside(S, s->e.p, s->e.base.nb, DKM_F64, &F));
    dkm_la_gemm('N', 'T', 1.0, S, s->U, 0.0, F);
    dkm_la_gemm('N', 'N', 1.0, F, s->U, 0.0, G);
out:
    dkm_dmat_destroy(&F);
    return status;
}

/* q = mean - mean U'U. */
static dkm_status find_rest(hopfield *s)
{
    dkm_status status = DKM_OK;
    const dkm_base *base = &s->e.base;
    dkm_idx cols = dkm_data_cols(base->X);
    dkm_dmat *S = NULL, *G = NULL;

    DKM_TRY(dkm_dmat_create(base->grid, 1, cols, base->nb, base->nb, DKM_F64, &S));
    DKM_TRY(dkm_dmat_create_beside(S, cols, base->nb, DKM_F64, &G));
    dkm_dmat_add_row(S, 1.0, s->mean);
    DKM_TRY(project(s, S, G));
    DKM_TRY(dkm_dmat_column_means(G, s->rest));
    for (dkm_idx j = 0; j < cols; j++)
        s->rest[j] = s->mean[j] - s->rest[j];
out:
    dkm_dmat_destroy(&G);
    dkm_dmat_destroy(&S);
    return status;
}

/* All that follows from the embedding of the patterns. */
static dkm_status get_ready(hopfield *s)
{
    dkm_status status = DKM_OK;
    const dkm_base *base = &s->e.base;
    dkm_idx m = dkm_data_rows(base->X), cols = dkm_data_cols(base->X);
    dkm_dmat *patterns = NULL;

    DKM_AGREE(base->ctx, make_room(s));
    sum_squares(s);
    DKM_TRY(dkm_dmat_create(base->grid, m, cols, base->nb, base->nb, DKM_F64, &patterns));
    DKM_TRY(dkm_dmat_from_rows(patterns, dkm_data_values_const(base->X)));
    DKM_TRY(dkm_dmat_column_means(patterns, s->mean));
    DKM_TRY(dkm_dmat_create(base->grid, s->e.p, cols, base->nb, base->nb, DKM_F64, &s->U));
    dkm_la_gemm('T', 'N', 1.0, s->e.W, patterns, 0.0, s->U); /* W'1 = 0: no need to centre */
    DKM_TRY(find_rest(s));
out:
    dkm_dmat_destroy(&patterns);
    return status;
}

dkm_status dkm_hopfield_fit(dkm_ctx *ctx, const dkm_data *X, const dkm_data *Y,
                            const dkm_hopfield_settings *settings, dkm_model **model,
                            dkm_hopfield_info *info)
{
    dkm_eigen_settings all = dkm_eigen_settings_default();
    dkm_status status = DKM_OK;
    dkm_eigen_info found;
    dkm_data *joined = NULL;
    hopfield *s = NULL;

    *model = NULL;
    all.center = 1;
    all.components = INT64_MAX;
    DKM_AGREE(ctx, check_fit(ctx, X, Y));
    DKM_AGREE(ctx, dkm_calloc(ctx, 1, &s));
    s->d = dkm_data_cols(X);
    s->steps = settings->steps;
    s->tolerance = settings->tolerance;
    DKM_TRY(join(ctx, X, Y, s->d + dkm_data_cols(Y), &joined));
    DKM_TRY(dkm_base_open(&s->e.base, ctx, &joined, "linear", &settings->layout));
    DKM_TRY(dkm_embedding_fit(&s->e, &all, &found));
    DKM_TRY(get_ready(s));
    if (info)
        *info = (dkm_hopfield_info){dkm_data_rows(X), s->e.p};
    status = dkm_model_wrap(ctx, &dkm_method_hopfield, s, DKM_DENSE, dkm_data_cols(Y), model);
    s = NULL; /* taken over, whatever came of it */
out:
    dkm_data_destroy(&joined);
    if (s)
        destroy(s);
    return status;
}

/* One step of the states in place, G being their projections less the mean. Local.
 * @return the largest change */
static double advance(const hopfield *s, dkm_dmat *S, const dkm_dmat *G)
{
    const double grow = exp(STEP), fade = exp(-DECAY * STEP);
    const double push = (1.0 - fade) * (1.0 + 1.0 / DECAY);
    double most = 0.0;

    for (dkm_idx jl = 0; jl < S->n_loc; jl++) {
        dkm_idx j = dkm_dmat_global_col(S, jl);
        for (dkm_idx il = 0; il < S->m_loc; il++) {
            double old = dkm_dmat_at(S, il, jl) + s->mean[j];
            double along = dkm_dmat_at(G, il, jl) + s->mean[j] - s->rest[j];
            double next = grow * along + fade * (old - along) + push * s->rest[j];
            next = fmin(1.0, fmax(-1.0, next));
            most = fmax(most, fabs(next - old));
            dkm_dmat_put(S, il, jl, next - s->mean[j]);
        }
    }
    return most;
}

/* States to their equilibrium; rows are less the mean before and after. */
static dkm_status settle(hopfield *s, dkm_dmat *S)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = s->e.base.ctx;
    double most = INFINITY;
    dkm_dmat *G = NULL;

    DKM_TRY(dkm_dmat_create_beside(S, dkm_dmat_cols(S), s->e.base.nb, DKM_F64, &G));
    for (dkm_idx k = 0; k < s->steps && most > s->tolerance; k++) {
        DKM_TRY(project(s, S, G));
        most = advance(s, S, G);
        MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_DOUBLE, MPI_MAX, dkm_ctx_comm(ctx));
    }
    if (most > s->tolerance)
        dkm_say(ctx, DKM_INFO, "after %lld steps states of the net still move by %.1e",
                (long long)s->steps, most);
out:
    dkm_dmat_destroy(&G);
    return status;
}

/* The rows of X, filled up with zeros, to where the net takes them. */
static dkm_status complete(hopfield *s, const dkm_data *X, dkm_data **states)
{
    dkm_status status = DKM_OK;
    const dkm_base *base = &s->e.base;
    dkm_idx cols = dkm_data_cols(base->X);
    dkm_dmat *S = NULL;

    DKM_TRY(join(base->ctx, X, NULL, cols, states));
    DKM_TRY(dkm_dmat_create(base->grid, dkm_data_rows(X), cols, base->nb, base->nb, DKM_F64, &S));
    DKM_TRY(dkm_dmat_from_rows(S, dkm_data_values_const(*states)));
    dkm_dmat_add_row(S, -1.0, s->mean);
    DKM_TRY(settle(s, S));
    dkm_dmat_add_row(S, 1.0, s->mean);
    DKM_TRY(dkm_dmat_to_rows(S, dkm_data_values(*states)));
out:
    dkm_dmat_destroy(&S);
    return status;
}

/* The y of the patterns named. */
static dkm_status hand_over(const hopfield *s, const dkm_data *X, const dkm_idx *nearest,
                            dkm_data **Y)
{
    dkm_status status = DKM_OK;
    dkm_idx cols = dkm_data_cols(s->e.base.X), d = cols - s->d;
    dkm_objs got = {0};

    DKM_TRY(dkm_data_fetch(s->e.base.X, dkm_data_local_rows(X), nearest, &got));
    DKM_TRY(dkm_data_create_dense(s->e.base.ctx, dkm_data_rows(X), d, Y));
    for (dkm_idx i = 0; i < got.n; i++)
        memcpy(dkm_data_values(*Y) + i * d, got.values + i * cols + s->d,
               (size_t)d * sizeof *got.values);
out:
    dkm_objs_clear(&got);
    return status;
}

static dkm_local check_inputs(const hopfield *s, const dkm_data *X)
{
    if (dkm_data_type(X) == DKM_DENSE && dkm_data_cols(X) == s->d)
        return DKM_LOCAL_OK;
    return dkm_fail(s->e.base.ctx, DKM_ERR_ARG,
                    "the model was trained on dense inputs of %lld columns, these are %s of %lld",
                    (long long)s->d, dkm_type_name(dkm_data_type(X)), (long long)dkm_data_cols(X));
}

static dkm_status predict(void *state, const dkm_data *X, dkm_data **Y)
{
    hopfield *s = state;
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = s->e.base.ctx;
    dkm_candidates patterns = {s->e.base.X, s->squares};
    dkm_idx *nearest = NULL;
    double *distance = NULL;
    dkm_data *states = NULL;

    *Y = NULL;
    dkm_phase_begin(ctx, "predict");
    DKM_AGREE(ctx, check_inputs(s, X));
    DKM_AGREE(ctx, dkm_alloc(ctx, dkm_data_local_rows(X), &nearest));
    DKM_AGREE(ctx, dkm_alloc(ctx, dkm_data_local_rows(X), &distance));
    DKM_TRY(complete(s, X, &states));
    DKM_TRY(dkm_nearest(states, &patterns, 1, nearest, distance));
    DKM_TRY(hand_over(s, X, nearest, Y));
out:
    dkm_phase_end(ctx);
    dkm_data_destroy(&states);
    DKM_FREE(distance);
    DKM_FREE(nearest);
    return status;
}

static dkm_idx stretch(const void *state)
{
    const hopfield *s = state;

    return dkm_base_stretch(&s->e.base, 4 * dkm_data_cols(s->e.base.X));
}

static dkm_status to_bundle(void *state, dkm_bundle *bundle)
{
    hopfield *s = state;
    dkm_status status = DKM_OK;

    DKM_AGREE(s->e.base.ctx, dkm_bundle_put_real(bundle, "input_cols", (double)s->d));
    DKM_AGREE(s->e.base.ctx, dkm_bundle_put_real(bundle, "steps", (double)s->steps));
    DKM_AGREE(s->e.base.ctx, dkm_bundle_put_real(bundle, "tolerance", s->tolerance));
    DKM_TRY(dkm_embedding_to_bundle(&s->e, pattern_names, bundle));
out:
    return status;
}

static dkm_status from_bundle(dkm_ctx *ctx, dkm_bundle *bundle, const dkm_layout *layout,
                              void **state)
{
    dkm_status status = DKM_OK;
    double d = 0, steps = 0;
    hopfield *s = NULL;

    *state = NULL;
    DKM_AGREE(ctx, dkm_calloc(ctx, 1, &s));
    DKM_AGREE(ctx, dkm_bundle_real(bundle, "input_cols", &d));
    DKM_AGREE(ctx, dkm_bundle_real(bundle, "steps", &steps));
    DKM_AGREE(ctx, dkm_bundle_real(bundle, "tolerance", &s->tolerance));
    s->d = (dkm_idx)d;
    s->steps = (dkm_idx)steps;
    DKM_TRY(dkm_embedding_from_bundle(&s->e, NULL, pattern_names, bundle, layout));
    DKM_TRY(get_ready(s));
    *state = s;
    s = NULL;
out:
    if (s)
        destroy(s);
    return status;
}

const dkm_method dkm_method_hopfield = {.name = "hopfield",
                                        .predict = predict,
                                        .stretch = stretch,
                                        .to_bundle = to_bundle,
                                        .from_bundle = from_bundle,
                                        .destroy = destroy};
