/* Prediction sets of chains of dense rows: the labels of each position whose best label sequence
 * scores at most a radius below the best of all; see dkmap/conformal.h. Residuals are these
 * margins of the right labels. Positions of one sequence are not independent of each other: coverage
 * is that of a position of a sequence drawn at random.
 *
 * Cost per position, k labels: its scores, and 4 k^2 flops. Per rank: 2 k numbers per position. */
#include "core/alloc.h"
#include "models/common/candidate_sets.h"
#include "models/jkm/chain/chain.h"

static dkm_local check_sets(const dkm_jkm_chain *s, const dkm_data *Y)
{
    if (s->map.output != DKM_LABELS)
        return dkm_fail(s->ctx, DKM_ERR_UNSUPPORTED,
                        "prediction sets of chains are of dense rows, with a label for each: the "
                        "model predicts strings");
    if (Y && dkm_data_type(Y) != DKM_LABELS)
        return dkm_fail(s->ctx, DKM_ERR_ARG, "calibration outputs of chains are labels, not %s",
                        dkm_type_name(dkm_data_type(Y)));
    return dkm_class_sets_check(s->ctx, s->map.k, s->map.labels);
}

/* Margins of all labels at each position, in slabs. */
static dkm_status find_margins(dkm_jkm_chain *s, const dkm_data *X, dkm_data **margins)
{
    dkm_status status = DKM_OK;
    dkm_chain chain = {0};
    double *G = NULL;
    dkm_objs own = {0};

    DKM_TRY(dkm_jkm_chain_score(s, X, &chain, &G));
    DKM_AGREE(s->ctx, dkm_objs_init(&own, s->ctx, DKM_DENSE, dkm_sequences_own(&chain.sequences),
                                    s->map.k, 0));
    for (dkm_idx i = 0; i < chain.sequences.count; i++) {
        dkm_idx from = chain.sequences.start[i], to = chain.sequences.start[i + 1];
        dkm_viterbi_margins(&chain.viterbi, to - from, G + from * s->map.k,
                            chain.w + s->map.features * s->map.k, own.values + from * s->map.k);
    }
    DKM_TRY(dkm_sequences_to_slabs(&chain.sequences, &own, margins));
out:
    dkm_objs_clear(&own);
    DKM_FREE(G);
    dkm_chain_close(&chain);
    return status;
}

static dkm_local take_margins(const dkm_jkm_chain *s, const dkm_data *margins, const dkm_data *Y,
                              double *R)
{
    for (dkm_idx i = 0; i < dkm_data_local_rows(Y); i++) {
        double label = dkm_data_values_const(Y)[i];
        dkm_idx c = 0;
        while (c < s->map.k && s->map.labels[c] != label)
            c++;
        if (c == s->map.k)
            return dkm_fail(s->ctx, DKM_ERR_ARG,
                            "calibration row %lld: %g is no label of the model",
                            (long long)(dkm_data_local_first(Y) + i), label);
        R[i] = dkm_data_values_const(margins)[i * s->map.k + c];
    }
    return DKM_LOCAL_OK;
}

dkm_status dkm_jkm_chain_residuals(void *state, const dkm_data *X, const dkm_data *Y, dkm_data **R)
{
    dkm_status status = DKM_OK;
    dkm_jkm_chain *s = state;
    dkm_data *margins = NULL;

    *R = NULL;
    DKM_AGREE(s->ctx, check_sets(s, Y));
    DKM_TRY(find_margins(s, X, &margins));
    DKM_TRY(dkm_data_create_dense(s->ctx, dkm_data_rows(X), 1, R));
    DKM_AGREE(s->ctx, take_margins(s, margins, Y, dkm_data_values(*R)));
out:
    dkm_data_destroy(&margins);
    if (status != DKM_OK)
        dkm_data_destroy(R);
    return status;
}

dkm_status dkm_jkm_chain_open_sets(void *state, dkm_type *type, dkm_idx *cols)
{
    *type = DKM_LABEL_SETS;
    *cols = 0;
    return dkm_agree(((dkm_jkm_chain *)state)->ctx, check_sets(state, NULL));
}

dkm_status dkm_jkm_chain_prediction_sets(void *state, const dkm_data *X, const double *radius,
                                         dkm_data **S)
{
    dkm_status status = DKM_OK;
    dkm_jkm_chain *s = state;
    dkm_data *margins = NULL;

    *S = NULL;
    DKM_AGREE(s->ctx, check_sets(s, NULL));
    DKM_TRY(find_margins(s, X, &margins));
    DKM_TRY(dkm_candidate_sets(s->ctx, dkm_data_rows(X), s->map.k, s->map.labels,
                               dkm_data_values_const(margins), radius[0] * (1.0 + 1e-12), S));
out:
    dkm_data_destroy(&margins);
    return status;
}
