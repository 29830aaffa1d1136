/* Two searches (gradient_search.h). The first is that of ridge regression with the coordinates of the
 * outputs as targets: the error of the point that is predicted. What becomes of the point is another
 * matter where outputs are found among candidates: a ridge that shrinks it to the mean lowers the error
 * and blurs which candidate is the nearest. Nor can the numbers of ky be chosen by it, for they change
 * its unit. The second search begins where the first ends and has a loss of its own: the squared
 * distance of outputs in the feature space of a kernel that stays as it is, of outputs decoded from
 * leave-one-out predictions.
 *
 * Cost: per look that of loo_gradient.c and decode_loss.c. */
#include "models/kde/kde_tune.h"

#include <math.h>

#include "core/alloc.h"
#include "kernels/gram/gram.h"
#include "matrix/dmat_impl.h"
#include "matrix/symmetrize.h"
#include "models/common/embedding.h"
#include "models/common/gradient_search.h"
#include "models/common/tune.h"
#include "solvers/tune/decode_loss.h"

enum { FOR_AUTO, FOR_POINTS, FOR_OUTPUTS }; /* choices of tune-for */

#define TEMPERATURE 0.1 /* where to begin, of the mean squared distance of two outputs */

static dkm_local kde_check_tune(dkm_ctx *ctx, const dkm_kde_settings *kde)
{
    if (kde->learner == DKM_LEARN_SVR || kde->landmarks || kde->extra ||
        kde->penalty == DKM_PENALTY_COEFFICIENTS || kde->weights)
        return dkm_fail(ctx, DKM_ERR_ARG,
                        "tuning follows the leave-one-out error of the exact fit by ridge "
                        "regression, with the penalty on the norm of the map: leave out --solver "
                        "pcg, --regressor svr, --unpaired-y, --regularizer l2-coef and weights of "
                        "examples");
    return DKM_LOCAL_OK;
}

/* This rank's rows of the coordinates of the training outputs. */
static dkm_status kde_targets(const dkm_data *Y, const dkm_kernel *ky, const dkm_kde_settings *kde,
                              dkm_idx *p, double **rows)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_data_ctx(Y);
    dkm_eigen_settings eigen = kde->eigen;
    dkm_eigen_info info;
    dkm_embedding out = {0};
    dkm_dmat *Z = NULL;

    eigen.center = 1;
    DKM_TRY(dkm_fitted_kernel_open(&out.fitted, ctx, Y, ky, &kde->layout));
    DKM_TRY(dkm_embedding_fit(&out, &eigen, &info));
    DKM_TRY(dkm_embedding_training(&out, &Z));
    *p = out.p;
    DKM_AGREE(ctx, dkm_alloc(ctx, dkm_data_local_rows(Y) * out.p, rows));
    DKM_TRY(dkm_dmat_to_rows(Z, *rows));
out:
    dkm_dmat_destroy(&Z);
    dkm_embedding_close(&out);
    return status;
}

/* Follow the gradient of the squared distance, along the components of the outputs, to the image of
 * an output that was left out; the kernel of the inputs and the ridge become the tuned ones. */
static dkm_status tune_inputs(const dkm_tune_settings *tune, const dkm_data *X, const dkm_data *Y,
                              const dkm_kernel *ky, dkm_kde_settings *kde, dkm_kernel *kx,
                              dkm_report *report)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_data_ctx(X);
    dkm_loo_targets targets = {0};
    double *rows = NULL, start = kde->ridge.gamma;
    dkm_tune_info tuned;
    char *text = NULL;
    dkm_idx p = 0;

    DKM_AGREE(ctx, dkm_strdup(ctx, dkm_kernel_text(kx), &text));
    DKM_TRY(kde_targets(Y, ky, kde, &p, &rows));
    targets.T = dkm_multivec_view(ctx, dkm_data_rows(Y), p, rows);
    DKM_TRY(dkm_kernel_tune(X, &targets, tune, kx, &kde->ridge.gamma, &tuned));
    dkm_tune_report(report, text, start, (double)p, &tuned);
    dkm_report_add_real(report, "loo", (double)p * tuned.after);
out:
    DKM_FREE(rows);
    DKM_FREE(text);
    return status;
}

/* Numbers of kx, those of ky, the ridge and the temperature. */
typedef struct decoder {
    dkm_search search;
    const dkm_data *X, *Y;
    dkm_tuned_kernel kx, ky;
    dkm_fitted_kernel loss; /* its grid is that of all matrices */
    dkm_dmat *Delta;
    double nearest, first_nearest; /* losses of nearest outputs at the best and at first */
} decoder;

/* Both triangles of a Gram matrix. Collective; the fitted kernel is open after it. */
static dkm_status gram_of(const decoder *d, const dkm_data *data, const dkm_kernel *kernel,
                          dkm_fitted_kernel *fitted, dkm_dmat **K)
{
    dkm_status status = DKM_OK;
    dkm_idx m = dkm_data_rows(data), nb = d->loss.nb;

    DKM_TRY(dkm_fitted_kernel_open_sharing_grid(fitted, &d->loss, data, kernel));
    DKM_TRY(dkm_dmat_create(d->loss.grid, m, m, nb, nb, DKM_F64, K));
    DKM_TRY(dkm_gram_fill(fitted->prepared, fitted->prepared, 1, *K, NULL, NULL));
    DKM_TRY(dkm_dmat_symmetrize('L', *K));
out:
    return status;
}

/* Squared distances from a Gram matrix, in its place, and their mean. Collective. */
static dkm_status to_distances(dkm_ctx *ctx, dkm_dmat *K, double *mean)
{
    dkm_status status = DKM_OK;
    double sum = 0, *diagonal = NULL;

    DKM_AGREE(ctx, dkm_calloc(ctx, K->m, &diagonal));
    for (dkm_idx jl = 0; jl < K->n_loc; jl++)
        for (dkm_idx il = 0; il < K->m_loc; il++)
            if (dkm_dmat_global_row(K, il) == dkm_dmat_global_col(K, jl))
                diagonal[dkm_dmat_global_col(K, jl)] = dkm_dmat_at(K, il, jl);
    MPI_Allreduce(MPI_IN_PLACE, diagonal, (int)K->m, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(ctx));
    for (dkm_idx jl = 0; jl < K->n_loc; jl++)
        for (dkm_idx il = 0; il < K->m_loc; il++) {
            double d = diagonal[dkm_dmat_global_row(K, il)] + diagonal[dkm_dmat_global_col(K, jl)] -
                       2.0 * dkm_dmat_at(K, il, jl);
            dkm_dmat_put(K, il, jl, fmax(d, 0.0));
            sum += fmax(d, 0.0);
        }
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(ctx));
    *mean = sum / ((double)K->m * (double)K->m);
out:
    DKM_FREE(diagonal);
    return status;
}

static dkm_status evaluate(dkm_search *search, double *loss)
{
    dkm_status status = DKM_OK;
    decoder *d = (decoder *)search;
    dkm_ctx *ctx = search->ctx;
    dkm_idx nx = d->kx.count, ny = d->ky.count;
    double *gradient = search->gradient;
    dkm_fitted_kernel fx = {0}, fy = {0};
    dkm_dmat *K = NULL, *L = NULL;
    dkm_decode_info info = {0};
    dkm_decoding decoding = {.gamma = exp(search->x[nx + ny]),
                             .temperature = exp(search->x[nx + ny + 1]),
                             .Delta = d->Delta};

    DKM_AGREE(ctx, dkm_tuned_kernel_set(&d->kx, search->x));
    DKM_AGREE(ctx, dkm_tuned_kernel_set(&d->ky, search->x + nx));
    DKM_TRY(gram_of(d, d->X, d->kx.kernel, &fx, &K));
    DKM_TRY(gram_of(d, d->Y, d->ky.kernel, &fy, &L));
    decoding.L = L;
    DKM_TRY(dkm_decode_loss(K, &decoding, &info));
    *loss = info.loss;
    d->first_nearest = search->fits == 1 ? info.nearest : d->first_nearest;
    d->nearest = info.loss < search->least ? info.nearest : d->nearest;
    if (info.by_K) {
        DKM_TRY(dkm_gram_param_gradient(fx.prepared, info.by_K, nx, d->kx.places, gradient));
        if (ny > 0)
            DKM_TRY(
                dkm_gram_param_gradient(fy.prepared, info.by_L, ny, d->ky.places, gradient + nx));
        gradient[nx + ny] = dkm_tune_trace(info.by_K, ctx);
        gradient[nx + ny + 1] = info.by_temperature;
        for (dkm_idx k = 0; k < search->n; k++)
            gradient[k] *= exp(search->x[k]);
    }
out:
    dkm_dmat_destroy(&info.by_K);
    dkm_dmat_destroy(&info.by_L);
    dkm_dmat_destroy(&L);
    dkm_dmat_destroy(&K);
    dkm_fitted_kernel_close(&fy);
    dkm_fitted_kernel_close(&fx);
    return status;
}

/* The matrix of losses, and where to begin. Collective. */
static dkm_status decoder_open(decoder *d, const dkm_settings *s, const dkm_kde_settings *kde,
                               dkm_kernel *kx, dkm_kernel *ky)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = d->search.ctx;
    dkm_kernel *given = NULL;
    dkm_fitted_kernel fitted = {0};
    dkm_dmat *L = NULL;
    double mean = 0;
    dkm_idx n;

    DKM_AGREE(ctx, dkm_tuned_kernel_open(&d->kx, ctx, kx));
    DKM_AGREE(ctx, dkm_tuned_kernel_open(&d->ky, ctx, ky));
    n = d->kx.count + d->ky.count;
    DKM_TRY(dkm_settings_kernel(ctx, s, "tune-loss", d->Y, &given));
    DKM_TRY(dkm_fitted_kernel_open(&d->loss, ctx, d->Y, given ? given : ky, &kde->layout));
    DKM_TRY(gram_of(d, d->Y, d->loss.kernel, &fitted, &d->Delta));
    DKM_TRY(to_distances(ctx, d->Delta, &mean));
    dkm_fitted_kernel_close(&fitted);
    DKM_TRY(gram_of(d, d->Y, ky, &fitted, &L));
    DKM_TRY(to_distances(ctx, L, &mean));
    DKM_REQUIRE(ctx, mean > 0, DKM_ERR_NUMERIC, "all outputs look alike to %s",
                dkm_kernel_text(ky));
    DKM_AGREE(ctx, dkm_search_open(&d->search, n + 2));
    d->search.ridge = n;
    dkm_tuned_kernel_get(&d->kx, d->search.best);
    dkm_tuned_kernel_get(&d->ky, d->search.best + d->kx.count);
    d->search.best[n] = log(kde->ridge.gamma);
    d->search.best[n + 1] = log(TEMPERATURE * mean);
out:
    dkm_dmat_destroy(&L);
    dkm_fitted_kernel_close(&fitted);
    dkm_kernel_destroy(&given);
    return status;
}

static void decoder_close(decoder *d)
{
    dkm_dmat_destroy(&d->Delta);
    dkm_search_close(&d->search);
    dkm_tuned_kernel_close(&d->ky);
    dkm_tuned_kernel_close(&d->kx);
    dkm_fitted_kernel_close(&d->loss);
}

static dkm_status tune_both(const dkm_settings *s, dkm_idx fits, decoder *d, dkm_kde_settings *kde,
                            dkm_kernel *kx, dkm_kernel *ky, dkm_report *report)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = d->search.ctx;
    char *text = NULL;

    DKM_REQUIRE(ctx, dkm_data_rows(d->Y) > 2, DKM_ERR_ARG,
                "to tune %s takes three examples at least", dkm_kernel_text(ky));
    DKM_AGREE(ctx, dkm_strdup(ctx, dkm_kernel_text(ky), &text));
    DKM_TRY(decoder_open(d, s, kde, kx, ky));
    DKM_TRY(dkm_search_run(&d->search, 1, fits));
    DKM_AGREE(ctx, dkm_tuned_kernel_set(&d->kx, d->search.best));
    DKM_AGREE(ctx, dkm_tuned_kernel_set(&d->ky, d->search.best + d->kx.count));
    DKM_REQUIRE(ctx, isfinite(d->search.least), DKM_ERR_NUMERIC,
                "no loss of decoding near %s: begin elsewhere", text);
    kde->ridge.gamma = exp(d->search.best[d->search.ridge]);
    dkm_report_add_text(report, "start_output_kernel", text);
    dkm_report_add_text(report, "tune_loss", dkm_kernel_text(d->loss.kernel));
    dkm_report_add_real(report, "start_decoding_loss", d->search.first);
    dkm_report_add_real(report, "decoding_loss", d->search.least);
    dkm_report_add_real(report, "start_nearest_loss", d->first_nearest);
    dkm_report_add_real(report, "nearest_loss", d->nearest);
    dkm_report_add_int(report, "decoding_parameters", d->search.n);
    dkm_report_add_int(report, "decoding_fits", d->search.fits);
out:
    DKM_FREE(text);
    return status;
}

/* Whether the loss of decoding is looked at. Local. */
static int by_decoding(const dkm_settings *s, const dkm_data *Y, const dkm_kernel *ky)
{
    dkm_type type = dkm_data_type(Y);
    int one_by_one =
        type == DKM_STRINGS || type == DKM_SETS || type == DKM_LABEL_SETS || type == DKM_LABELS;

    switch (dkm_settings_choice(s, "tune-for")) {
    case FOR_POINTS:
        return 0;
    case FOR_OUTPUTS:
        return 1;
    default:
        return (one_by_one && dkm_data_rows(Y) > 2) || dkm_settings_given(s, "tune-loss") ||
               dkm_kernel_list_params(ky, 0, NULL) > 0;
    }
}

/* Both searches, by all of the examples given. Collective. */
static dkm_status tune_by(const dkm_settings *s, const dkm_data *X, const dkm_data *Y,
                          dkm_kde_settings *kde, dkm_kernel *kx, dkm_kernel *ky, dkm_report *report)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_data_ctx(X);
    dkm_tune_settings tune = dkm_tune_read(s, X);
    dkm_idx fits = by_decoding(s, Y, ky) ? tune.fits / 2 : 0;
    decoder d = {.search = {.ctx = ctx,
                            .evaluate = evaluate,
                            .first = INFINITY,
                            .least = INFINITY,
                            .most = fits},
                 .X = X,
                 .Y = Y};

    tune.fits -= fits;
    if (!dkm_settings_given(s, "tune-subset")) /* tune-rows is one */
        tune.subset = 0;
    DKM_TRY(tune_inputs(&tune, X, Y, ky, kde, kx, report));
    if (fits > 0)
        DKM_TRY(tune_both(s, fits, &d, kde, kx, ky, report));
    dkm_report_add_real(report, "gamma", kde->ridge.gamma);
out:
    decoder_close(&d);
    return status;
}

dkm_status dkm_kde_tune(const dkm_settings *s, const dkm_data *X, const dkm_data *Y,
                        dkm_kde_settings *kde, dkm_kernel *kx, dkm_kernel *ky, dkm_report *report)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_data_ctx(X);
    dkm_idx m = dkm_data_rows(X), count = dkm_settings_int(s, "tune-rows");
    dkm_data *some_X = NULL, *some_Y = NULL;

    DKM_AGREE(ctx, kde_check_tune(ctx, kde));
    if (count >= m || !dkm_tune_can_select(X) || !dkm_tune_can_select(Y)) {
        DKM_TRY(tune_by(s, X, Y, kde, kx, ky, report));
        goto out;
    }
    DKM_TRY(dkm_tune_select(X, count, &some_X));
    DKM_TRY(dkm_tune_select(Y, count, &some_Y));
    DKM_TRY(tune_by(s, some_X, some_Y, kde, kx, ky, report));
    dkm_report_add_int(report, "tune_rows", count);
out:
    dkm_data_destroy(&some_Y);
    dkm_data_destroy(&some_X);
    return status;
}
