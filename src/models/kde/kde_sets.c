/* Residuals and prediction sets of kernel dependency estimation in the feature space of the outputs:
 *
 *   ||phi(y) - f(x)||^2 = ||phi(y) - mu||^2 - 2 z(y).z(x) + ||z(x)||^2
 *
 * with z the coordinates along the components and mu the mean of the training outputs: what of
 * phi(y) lies outside the components counts. See dkmap/conformal.h.
 *
 * Cost of n new inputs and c candidates, beside predicting: 2 n c p flops spread over the ranks, n c
 * / ranks words to bring the distances to the rows. Held per rank: c p / ranks coordinates and n c /
 * ranks distances of a batch. Replicated: c norms. */
#include "core/alloc.h"
#include "linalg/linalg.h"
#include "matrix/multivec.h"
#include "models/common/candidate_sets.h"
#include "models/kde/kde_impl.h"

void dkm_kde_sets_close(dkm_kde_sets *sets)
{
    dkm_dmat_destroy(&sets->Z);
    DKM_FREE(sets->norms);
    sets->count = 0;
}

static double square_of(const double *z, dkm_idx p)
{
    double sum = 0;

    for (dkm_idx j = 0; j < p; j++)
        sum += z[j] * z[j];
    return sum;
}

dkm_status dkm_kde_residuals(dkm_kde *s, const dkm_data *X, const dkm_data *Y, dkm_data **R)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = s->fitted.ctx;
    dkm_idx p = s->out.p, n = dkm_data_local_rows(X);
    dkm_data *Z = NULL, *T = NULL;
    double *norms = NULL;

    *R = NULL;
    DKM_TRY(dkm_kde_coordinates(s, X, &Z));
    DKM_AGREE(ctx, dkm_alloc(ctx, dkm_data_local_rows(Y), &norms));
    DKM_TRY(dkm_embedding_encode(&s->out, Y, &T, norms));
    DKM_TRY(dkm_data_create_dense(ctx, dkm_data_rows(X), 1, R));
    for (dkm_idx i = 0; i < n; i++) {
        const double *z = dkm_data_values_const(Z) + i * p, *t = dkm_data_values_const(T) + i * p;
        double inner = 0;
        for (dkm_idx j = 0; j < p; j++)
            inner += z[j] * t[j];
        dkm_data_values(*R)[i] = norms[i] - 2.0 * inner + square_of(z, p);
    }
out:
    DKM_FREE(norms);
    dkm_data_destroy(&T);
    dkm_data_destroy(&Z);
    return status;
}

/* Coordinates and norms of the candidates. */
static dkm_status kde_sets_candidates(dkm_kde *s, dkm_candidates *all)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = s->fitted.ctx;
    const dkm_data *C = s->pre.settings.candidates;

    if (!C)
        return dkm_preimage_training(&s->pre, all);
    DKM_AGREE(ctx, dkm_alloc(ctx, dkm_data_local_rows(C), &all->norms));
    DKM_TRY(dkm_embedding_encode(&s->out, C, &all->Z, all->norms));
out:
    return status;
}

dkm_status dkm_kde_open_sets(dkm_kde *s, dkm_type *type, dkm_idx *cols)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = s->fitted.ctx;
    dkm_candidates all = {0};
    dkm_multivec norms;

    dkm_kde_sets_close(&s->sets);
    DKM_REQUIRE(ctx, !s->pre.settings.stream, DKM_ERR_UNSUPPORTED,
                "prediction sets take candidates that fit in memory: give fewer, or more ranks");
    DKM_REQUIRE(ctx, s->pre.settings.approximate == 0, DKM_ERR_UNSUPPORTED,
                "prediction sets look at all candidates: leave the approximate search out");
    DKM_TRY(kde_sets_candidates(s, &all));
    s->sets.count = dkm_data_rows(all.Z);
    DKM_TRY(dkm_dmat_create(s->fitted.grid, s->sets.count, s->out.p, s->fitted.nb, s->fitted.nb,
                            DKM_F64, &s->sets.Z));
    DKM_TRY(dkm_dmat_from_rows(s->sets.Z, dkm_data_values_const(all.Z)));
    DKM_AGREE(ctx, dkm_alloc(ctx, s->sets.count, &s->sets.norms));
    norms = dkm_multivec_view(ctx, s->sets.count, 1, all.norms);
    DKM_TRY(dkm_multivec_allgather(&norms, s->sets.count, s->sets.norms));
    *type = DKM_LABEL_SETS;
    *cols = 0;
out:
    dkm_candidates_clear(&all);
    return status;
}

/* Squared distances of this rank's points to all candidates. */
static dkm_status kde_sets_distances(dkm_kde *s, const dkm_data *Z, double *distance)
{
    dkm_status status = DKM_OK;
    dkm_idx p = s->out.p, count = s->sets.count;
    dkm_dmat *Q = NULL, *D = NULL;

    DKM_TRY(dkm_dmat_create(s->fitted.grid, dkm_data_rows(Z), p, s->fitted.nb, s->fitted.nb,
                            DKM_F64, &Q));
    DKM_TRY(dkm_dmat_from_rows(Q, dkm_data_values_const(Z)));
    DKM_TRY(dkm_dmat_create_like(Q, count, s->fitted.nb, DKM_F64, &D));
    dkm_la_gemm('N', 'T', -2.0, Q, s->sets.Z, 0.0, D);
    DKM_TRY(dkm_dmat_to_rows(D, distance));
    for (dkm_idx i = 0; i < dkm_data_local_rows(Z); i++) {
        double square = square_of(dkm_data_values_const(Z) + i * p, p);
        for (dkm_idx c = 0; c < count; c++)
            distance[i * count + c] += s->sets.norms[c] + square;
    }
out:
    dkm_dmat_destroy(&D);
    dkm_dmat_destroy(&Q);
    return status;
}

dkm_status dkm_kde_prediction_sets(dkm_kde *s, const dkm_data *X, const double *radius,
                                   dkm_data **S)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = s->fitted.ctx;
    dkm_data *Z = NULL;
    double *distance = NULL;

    *S = NULL;
    DKM_TRY(dkm_kde_coordinates(s, X, &Z));
    DKM_AGREE(ctx, dkm_alloc(ctx, dkm_data_local_rows(X) * s->sets.count, &distance));
    DKM_TRY(kde_sets_distances(s, Z, distance));
    /* the same numbers by another way round otherwise */
    DKM_TRY(dkm_candidate_sets(ctx, dkm_data_rows(X), s->sets.count, NULL, distance,
                               radius[0] * (1.0 + 1e-12) + 1e-12, S));
out:
    DKM_FREE(distance);
    dkm_data_destroy(&Z);
    return status;
}
