/* Features of positions from landmarks (Williams and Seeger 2001, NIPS 13:682-688), see emission.h.
 *
 * Cost, N positions, n landmarks, d <= n features, k labels, P ranks: n^2 / 2 kernel values and all
 * eigenpairs of their matrix, N n kernel values and 2 N n d / P flops for features, once; scores of
 * new positions n kernel values and 2 n k flops each. Per rank: n^2 / P numbers, then (n + N) d / P;
 * n k / P after training. Replicated: n zeros, the mean that is not taken off. */
#include "models/jkm/chain/emission.h"

#include <string.h>

#include "core/alloc.h"
#include "linalg/linalg.h"

#define LANDMARKS      2000  /* where their number is not given */
#define CUTOFF         1e-12 /* eigenvalues below this part of the largest are rounding */
#define LEVERAGE_RIDGE 1e-3  /* of the choice of landmarks by leverage */

void dkm_emission_close(dkm_emission *emission)
{
    dkm_embedding_close(&emission->e);
    emission->fitted = 0;
}

/* The windows about the own positions. */
static dkm_local cut_windows(const dkm_sequences *s, dkm_idx window, char pad, dkm_objs *windows)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx own = dkm_sequences_own(s), half = window / 2;

    DKM_STEP(dkm_objs_init(windows, s->ctx, DKM_STRINGS, own, 0, own * window));
    memset(windows->bytes, pad, (size_t)(own * window));
    for (dkm_idx i = 0; i < s->count; i++) {
        dkm_idx length;
        const char *x = dkm_data_string_const(s->X, i, &length);
        for (dkm_idx t = 0; t < length; t++) {
            dkm_idx from = t > half ? t - half : 0;
            dkm_idx to = t + half + 1 < length ? t + half + 1 : length;
            char *to_window = windows->bytes + (s->start[i] + t) * window;
            memcpy(to_window + (from - (t - half)), x + from, (size_t)(to - from));
        }
    }
    for (dkm_idx t = 0; t <= own; t++)
        windows->start[t] = t * window;
out:
    return local;
}

/* Dense rows without a column. They are in slabs already. */
static dkm_status drop_column(const dkm_data *X, dkm_idx column, dkm_data **rows)
{
    dkm_status status = DKM_OK;
    dkm_idx cols = dkm_data_cols(X), d = cols - 1;
    const double *x = dkm_data_values_const(X);

    DKM_TRY(dkm_data_create_dense(dkm_data_ctx(X), dkm_data_rows(X), d, rows));
    for (dkm_idx i = 0; i < dkm_data_local_rows(X); i++)
        for (dkm_idx j = 0; j < d; j++)
            dkm_data_values(*rows)[i * d + j] = x[i * cols + j + (j >= column)];
out:
    return status;
}

dkm_status dkm_emission_positions(const dkm_sequences *s, dkm_idx window, char pad, dkm_idx column,
                                  dkm_data **positions)
{
    dkm_status status = DKM_OK;
    dkm_objs windows = {0};

    *positions = NULL;
    if (dkm_data_type(s->X) != DKM_STRINGS)
        return drop_column(s->X, column, positions);
    DKM_AGREE(s->ctx, cut_windows(s, window, pad, &windows));
    DKM_TRY(dkm_sequences_to_slabs(s, &windows, positions));
out:
    dkm_objs_clear(&windows);
    return status;
}

/* The fitted kernel on some of the positions, or on all. */
static dkm_status open_landmarks(dkm_embedding *e, const dkm_data *P, const dkm_kernel *kernel,
                                 const dkm_jkm_settings *settings)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_data_ctx(P);
    dkm_input_stream feed = dkm_input_stream_open(P, NULL, ctx);
    dkm_idx n = settings->landmarks > 0 ? settings->landmarks : LANDMARKS, *indices = NULL;
    dkm_data *C = NULL;

    if (n >= feed.m) {
        DKM_TRY(dkm_fitted_kernel_open(&e->fitted, ctx, P, kernel, &settings->layout));
        goto out;
    }
    DKM_AGREE(ctx, dkm_alloc(ctx, n, &indices));
    DKM_TRY(dkm_input_stream_landmarks(&feed, kernel, settings->landmark_choice, LEVERAGE_RIDGE, &n,
                                       indices));
    DKM_TRY(dkm_input_stream_select(&feed, n, indices, &C));
    DKM_TRY(dkm_fitted_kernel_open(&e->fitted, ctx, C, kernel, &settings->layout));
out:
    dkm_data_destroy(&C);
    DKM_FREE(indices);
    dkm_input_stream_close(&feed);
    return status;
}

/* No mean is taken off: the center is no object at all. */
static dkm_local leave_uncentered(dkm_embedding *e)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx n = dkm_data_rows(e->fitted.X);

    DKM_STEP(dkm_calloc(e->fitted.ctx, n, &e->means));
    DKM_STEP(dkm_calloc(e->fitted.ctx, n, &e->center));
out:
    return local;
}

/* W = V diag(l)^-1/2 of the landmarks. */
static dkm_status decompose(dkm_embedding *e, dkm_idx positions)
{
    dkm_status status = DKM_OK;
    const dkm_fitted_kernel *fitted = &e->fitted;
    dkm_eigen_settings all = {.share = 1, .tolerance = 1e-9, .cutoff = CUTOFF};
    dkm_idx n = dkm_data_rows(fitted->X);
    double ranks = dkm_ctx_size(fitted->ctx);
    dkm_eigen_info info;
    dkm_data *vectors = NULL;
    dkm_dmat *K = NULL;

    DKM_TRY(dkm_memory_check(
        fitted->ctx, sizeof(double) * (double)n * (4.0 * (double)n + 2 * (double)positions) / ranks,
        "the features of landmarks"));
    DKM_TRY(dkm_gram(fitted->grid, fitted->kernel, fitted->prepared, fitted->nb, DKM_F64, &K));
    DKM_TRY(dkm_eigen_leading(K, &all, &e->values, &vectors, NULL, &info));
    e->p = info.components;
    DKM_REQUIRE(fitted->ctx, e->p > 0, DKM_ERR_NUMERIC, "the kernel '%s' is zero for all positions",
                dkm_kernel_text(fitted->kernel));
    DKM_TRY(dkm_embedding_scale_vectors(e, vectors));
out:
    dkm_data_destroy(&vectors);
    dkm_dmat_destroy(&K);
    return status;
}

dkm_status dkm_emission_fit(dkm_emission *emission, const dkm_data *positions,
                            const dkm_kernel *kernel, const dkm_jkm_settings *settings,
                            dkm_data **features)
{
    dkm_status status = DKM_OK;
    dkm_embedding *e = &emission->e;
    dkm_ctx *ctx = dkm_data_ctx(positions);

    *features = NULL;
    dkm_phase_begin(ctx, "features");
    emission->fitted = 1;
    DKM_TRY(open_landmarks(e, positions, kernel, settings));
    DKM_AGREE(ctx, leave_uncentered(e));
    DKM_TRY(decompose(e, dkm_data_rows(positions)));
    DKM_TRY(dkm_embedding_encode(e, positions, features, NULL));
out:
    dkm_phase_end(ctx);
    return status;
}

dkm_status dkm_emission_fold(dkm_emission *emission, dkm_idx k, const double *w)
{
    dkm_status status = DKM_OK;
    dkm_embedding *e = &emission->e;
    dkm_ctx *ctx = e->fitted.ctx;
    dkm_dmat *weights = NULL, *A = NULL;

    DKM_TRY(
        dkm_dmat_create(e->fitted.grid, e->p, k, e->fitted.nb, e->fitted.nb, DKM_F64, &weights));
    DKM_TRY(dkm_dmat_from_rows(weights,
                               w + dkm_slab_first(e->p, dkm_ctx_rank(ctx), dkm_ctx_size(ctx)) * k));
    DKM_TRY(dkm_dmat_create_like(e->W, k, e->fitted.nb, DKM_F64, &A));
    dkm_la_gemm('N', 'N', 1.0, e->W, weights, 0.0, A);
    dkm_dmat_destroy(&e->W);
    dkm_eigen_values_free(&e->values);
    e->W = A;
    e->p = k;
out:
    dkm_dmat_destroy(&weights);
    return status;
}

dkm_status dkm_emission_scores(dkm_emission *emission, const dkm_data *positions, dkm_data **scores)
{
    return dkm_embedding_encode(&emission->e, positions, scores, NULL);
}

dkm_status dkm_emission_to_archive(const dkm_emission *emission, dkm_archive *archive)
{
    dkm_status status = DKM_OK;
    const dkm_fitted_kernel *fitted = &emission->e.fitted;

    DKM_AGREE(fitted->ctx, dkm_fitted_kernel_to_archive(fitted, dkm_input_names, archive));
    DKM_TRY(dkm_fitted_kernel_put_matrix(fitted, archive, "coefficients", emission->e.W));
out:
    return status;
}

dkm_status dkm_emission_from_archive(dkm_emission *emission, dkm_archive *archive,
                                     const dkm_layout *layout, dkm_idx k)
{
    dkm_status status = DKM_OK;
    dkm_embedding *e = &emission->e;

    emission->fitted = 1;
    DKM_TRY(dkm_fitted_kernel_from_archive(&e->fitted, NULL, dkm_input_names, archive, layout));
    DKM_AGREE(archive->ctx, leave_uncentered(e));
    DKM_TRY(dkm_fitted_kernel_take_matrix(&e->fitted, archive, "coefficients",
                                          dkm_data_rows(e->fitted.X), k, &e->W));
    e->p = k;
out:
    return status;
}
