/* From rows of W x back to outputs, and the parts of a space in a model file. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "model/nearest.h"
#include "model/panels.h"
#include "model/space_parts.h"

/* y = g B, B spread over the ranks. */
static dkm_status leave_basis(const dkm_space *s, const dkm_data *G, dkm_data **Y)
{
    dkm_status status = DKM_OK;
    dkm_idx step = dkm_rows_panel(s->cols), n = dkm_data_local_rows(G);
    double *panel = NULL;

    DKM_AGREE(s->ctx, dkm_alloc(s->ctx, step * s->cols, &panel));
    DKM_TRY(dkm_data_create_dense(s->ctx, dkm_data_rows(G), s->cols, Y));
    for (dkm_idx first = 0; first < s->r; first += step) {
        dkm_idx count = s->r - first < step ? s->r - first : step;
        DKM_TRY(dkm_rows_gather(s->ctx, s->r, s->cols, dkm_data_values_const(s->basis), first,
                                count, panel));
        dkm_rows_times(n, s->cols, count, 1.0, (dkm_block){dkm_data_values_const(G) + first, s->r},
                       (dkm_block){panel, s->cols}, 1.0, dkm_data_values(*Y));
    }
out:
    DKM_FREE(panel);
    if (status != DKM_OK)
        dkm_data_destroy(Y);
    return status;
}

/* To unit length; a row of zeros stays one. */
static void scale_rows(dkm_data *Y)
{
    dkm_idx q = dkm_data_cols(Y);

    for (dkm_idx i = 0; i < dkm_data_local_rows(Y); i++) {
        double *y = dkm_data_values(Y) + i * q, square = 0;
        for (dkm_idx k = 0; k < q; k++)
            square += y[k] * y[k];
        for (dkm_idx k = 0; k < q && square > 0; k++)
            y[k] /= sqrt(square);
    }
}

static dkm_status decode_vectors(const dkm_space *s, dkm_data **G, dkm_data **Y)
{
    dkm_status status = DKM_OK;

    if (s->basis) {
        DKM_TRY(leave_basis(s, *G, Y));
    } else {
        *Y = *G;
        *G = NULL;
    }
    if (s->kind == DKM_JKM_SPHERE)
        scale_rows(*Y);
out:
    return status;
}

/* Put a candidate into a list of the best, highest score first, if it belongs there. Candidates
 * come in ascending order: equals stay behind those before them. */
static void insert(dkm_idx top, dkm_idx *index, double *score, dkm_idx c, double value)
{
    dkm_idx k = top - 1;

    if (!(value > score[k]))
        return;
    for (; k > 0 && value > score[k - 1]; k--) {
        score[k] = score[k - 1];
        index[k] = index[k - 1];
    }
    score[k] = value;
    index[k] = c;
}

/* The @p top candidates of highest score <g, c> for own rows, and the scores. */
static dkm_status best_candidates(const dkm_space *s, const dkm_data *G, dkm_idx top,
                                  dkm_idx *index, double *score)
{
    dkm_status status = DKM_OK;
    dkm_idx n = dkm_data_local_rows(G), r = s->r, step = dkm_rows_panel(r);
    double *rows = NULL, *tile = NULL;

    DKM_AGREE(s->ctx, dkm_alloc(s->ctx, step * r, &rows));
    DKM_AGREE(s->ctx, dkm_alloc(s->ctx, step * n, &tile));
    for (dkm_idx k = 0; k < n * top; k++) {
        score[k] = -INFINITY;
        index[k] = k % top;
    }
    for (dkm_idx first = 0; first < s->count; first += step) {
        dkm_idx count = s->count - first < step ? s->count - first : step;
        DKM_TRY(dkm_space_candidates(s, first, count, rows));
        dkm_rows_meet(n, count, r, 1.0, (dkm_block){dkm_data_values_const(G), r},
                      (dkm_block){rows, r}, 0.0, tile);
        for (dkm_idx k = 0; k < n * count; k++)
            insert(top, index + k / count * top, score + k / count * top, first + k % count,
                   tile[k]);
    }
out:
    DKM_FREE(tile);
    DKM_FREE(rows);
    return status;
}

/* Scores that are not numbers choose nobody. */
static dkm_local check_scores(const dkm_space *s, dkm_idx count, const double *score)
{
    for (dkm_idx k = 0; k < count; k++)
        if (!isfinite(score[k]))
            return dkm_fail(s->ctx, DKM_ERR_NUMERIC,
                            "scores of candidates are not finite: inputs or model are too large");
    return DKM_LOCAL_OK;
}

/* Rows of (index, score) pairs; of classes the label instead of the index. */
static dkm_status list_best(const dkm_space *s, dkm_idx rows, dkm_idx top, const dkm_idx *index,
                            const double *score, dkm_data **Y)
{
    dkm_status status = dkm_data_create_dense(s->ctx, rows, 2 * top, Y);

    for (dkm_idx k = 0; status == DKM_OK && k < dkm_data_local_rows(*Y) * top; k++) {
        dkm_data_values(*Y)[2 * k] =
            s->classes.classes ? s->classes.classes[index[k]] : (double)index[k];
        dkm_data_values(*Y)[2 * k + 1] = score[k];
    }
    return status;
}

static dkm_status pick_objects(const dkm_space *s, dkm_idx rows, dkm_idx n, const dkm_idx *index,
                               dkm_data **Y)
{
    dkm_status status = DKM_OK;
    const dkm_data *objects = s->objects ? s->objects : s->embedding->base.X;
    dkm_objs got = {0};

    DKM_TRY(dkm_data_fetch(objects, n, index, &got));
    DKM_TRY(dkm_data_wrap(s->ctx, rows, &got, Y));
out:
    dkm_objs_clear(&got);
    return status;
}

static dkm_status pick_labels(const dkm_space *s, dkm_idx rows, const dkm_idx *index, dkm_data **Y)
{
    dkm_status status = dkm_data_create_labels(s->ctx, rows, Y);

    for (dkm_idx i = 0; status == DKM_OK && i < dkm_data_local_rows(*Y); i++)
        dkm_data_values(*Y)[i] = s->classes.classes[index[i]];
    return status;
}

static dkm_status decode_candidates(const dkm_space *s, dkm_idx top, const dkm_data *G,
                                    dkm_data **Y)
{
    dkm_status status = DKM_OK;
    dkm_idx n = dkm_data_local_rows(G), keep = top > 0 ? top : 1, *index = NULL;
    double *score = NULL;

    DKM_AGREE(s->ctx, dkm_alloc(s->ctx, n * keep, &index));
    DKM_AGREE(s->ctx, dkm_alloc(s->ctx, n * keep, &score));
    DKM_TRY(best_candidates(s, G, keep, index, score));
    DKM_AGREE(s->ctx, check_scores(s, n * keep, score));
    if (top > 0)
        DKM_TRY(list_best(s, dkm_data_rows(G), top, index, score, Y));
    else if (s->C)
        DKM_TRY(pick_objects(s, dkm_data_rows(G), n, index, Y));
    else
        DKM_TRY(pick_labels(s, dkm_data_rows(G), index, Y));
out:
    DKM_FREE(score);
    DKM_FREE(index);
    return status;
}

dkm_status dkm_space_decode(const dkm_space *space, dkm_idx top, dkm_data **G, dkm_data **Y)
{
    dkm_status status = DKM_OK;

    *Y = NULL;
    if (space->kind == DKM_JKM_CANDIDATES)
        status = decode_candidates(space, top, *G, Y);
    else
        status = decode_vectors(space, G, Y);
    dkm_data_destroy(G);
    return status;
}

static dkm_local check_candidates(const dkm_space *s, const dkm_data *given)
{
    if (s->type == DKM_LABELS)
        return dkm_fail(s->ctx, DKM_ERR_UNSUPPORTED,
                        "the model tells classes apart: it has no other candidates");
    if (s->basis)
        return dkm_fail(s->ctx, DKM_ERR_UNSUPPORTED,
                        "the model was trained in the span of its outputs: fit with candidates to "
                        "choose among candidates");
    if (dkm_data_rows(given) < 1)
        return dkm_fail(s->ctx, DKM_ERR_ARG, "there are no candidates: give at least one");
    return dkm_candidates_match(s->ctx, dkm_data_type(given), dkm_data_cols(given), s->type,
                                s->cols);
}

dkm_status dkm_space_choose_from(dkm_space *space, dkm_data **candidates)
{
    dkm_status status = DKM_OK;

    DKM_AGREE(space->ctx, check_candidates(space, *candidates));
    dkm_data_destroy(&space->C);
    dkm_data_destroy(&space->objects);
    space->objects = *candidates;
    *candidates = NULL;
    space->count = dkm_data_rows(space->objects);
    space->kind = DKM_JKM_CANDIDATES;
    if (space->embedding)
        DKM_TRY(dkm_embedding_encode(space->embedding, space->objects, &space->C, NULL));
    else
        DKM_TRY(dkm_space_embed(space, NULL, NULL));
out:
    dkm_data_destroy(candidates);
    return status;
}

static const char *const kinds[] = {"auto", "sphere", "free", "candidates"};

static dkm_local name_parts(dkm_space *s, dkm_bundle *bundle)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_bundle_put_text(bundle, "space", kinds[s->kind]));
    DKM_STEP(dkm_bundle_put_text(bundle, "space_type", dkm_type_name(s->type)));
    DKM_STEP(dkm_bundle_put_real(bundle, "space_cols", (double)s->cols));
    DKM_STEP(dkm_bundle_put_real(bundle, "coordinates", (double)s->r));
    DKM_STEP(dkm_bundle_put_real(bundle, "class_unit", s->unit));
    if (s->alphabet) {
        DKM_STEP(dkm_bundle_put_text(bundle, "alphabet", s->alphabet));
        DKM_STEP(dkm_bundle_put_real(bundle, "places", (double)s->places));
    }
    if (s->basis)
        DKM_STEP(dkm_bundle_lend_data(bundle, "basis", s->basis));
    if (s->classes.classes)
        DKM_STEP(dkm_targets_to_bundle(&s->classes, bundle));
    if (s->objects)
        DKM_STEP(dkm_bundle_lend_data(bundle, "candidates", s->objects));
out:
    return local;
}

dkm_status dkm_space_to_bundle(dkm_space *space, dkm_bundle *bundle)
{
    dkm_status status = DKM_OK;

    DKM_AGREE(space->ctx, name_parts(space, bundle));
    if (space->embedding)
        DKM_TRY(dkm_embedding_to_bundle(space->embedding, dkm_output_names, bundle));
out:
    return status;
}

static dkm_local read_letters(dkm_space *s, const dkm_bundle *bundle)
{
    dkm_local local = DKM_LOCAL_OK;
    const char *alphabet = "";

    DKM_STEP(dkm_bundle_text(bundle, "alphabet", &alphabet));
    DKM_STEP(dkm_bundle_count(bundle, "places", 1, INT32_MAX, &s->places));
    DKM_STEP(dkm_strdup(s->ctx, alphabet, &s->alphabet));
    s->letters = (dkm_idx)strlen(alphabet);
    if (s->type != DKM_STRINGS || s->letters > UCHAR_MAX || s->places * s->letters != s->r)
        local = dkm_fail(s->ctx, DKM_ERR_FORMAT, "%lld coordinates of %lld letters at %lld places",
                         (long long)s->r, (long long)s->letters, (long long)s->places);
out:
    return local;
}

/* Whether the parts that there are fit each other and the kind of outputs. */
static int parts_fit(const dkm_space *s, int embedded)
{
    if (s->kind != DKM_JKM_CANDIDATES)
        return s->type == DKM_DENSE && !s->classes.classes && !s->objects && !s->alphabet &&
               (s->basis ? dkm_data_rows(s->basis) == s->r && dkm_data_cols(s->basis) == s->cols
                         : s->cols == s->r);
    if (s->basis)
        return 0;
    if (s->classes.classes)
        return s->type == DKM_LABELS && s->cols == 1 && s->classes.cols == s->r && !s->objects;
    if (embedded)
        return !s->objects && !s->alphabet;
    return s->objects && dkm_data_type(s->objects) == s->type &&
           (s->alphabet || s->type == DKM_DENSE);
}

static dkm_local check_parts(const dkm_space *s, int embedded)
{
    if (parts_fit(s, embedded))
        return DKM_LOCAL_OK;
    return dkm_fail(s->ctx, DKM_ERR_FORMAT,
                    "the parts of outputs of the kind '%s', %s, %lld coordinates, do not fit",
                    kinds[s->kind], dkm_type_name(s->type), (long long)s->r);
}

static dkm_local read_parts(dkm_space *s, dkm_bundle *bundle)
{
    dkm_local local = DKM_LOCAL_OK;
    const char *kind = "", *type = "";
    int k = DKM_JKM_CANDIDATES;

    DKM_STEP(dkm_bundle_text(bundle, "space", &kind));
    DKM_STEP(dkm_bundle_text(bundle, "space_type", &type));
    DKM_STEP(dkm_bundle_count(bundle, "space_cols", 0, INT64_MAX, &s->cols));
    DKM_STEP(dkm_bundle_count(bundle, "coordinates", 1, INT64_MAX, &s->r));
    DKM_STEP(dkm_bundle_number(bundle, "class_unit", -HUGE_VAL, HUGE_VAL, &s->unit));
    while (k > 0 && strcmp(kinds[k], kind) != 0)
        k--;
    s->kind = (dkm_jkm_outputs)k;
    s->type = dkm_type_from_name(type);
    if (s->kind == DKM_JKM_AUTO || s->type == DKM_TYPE_COUNT)
        DKM_STEP(dkm_fail(s->ctx, DKM_ERR_FORMAT, "outputs of the kind '%s', %s, cannot be", kind,
                          type));
    if (dkm_bundle_find(bundle, "alphabet"))
        DKM_STEP(read_letters(s, bundle));
    if (dkm_bundle_find(bundle, "basis"))
        DKM_STEP(dkm_bundle_take_rows(bundle, "basis", &s->basis));
    if (dkm_bundle_find(bundle, "classes"))
        DKM_STEP(dkm_targets_from_bundle(&s->classes, bundle));
    if (dkm_bundle_find(bundle, "candidates"))
        DKM_STEP(dkm_bundle_take_data(bundle, "candidates", &s->objects));
    DKM_STEP(check_parts(s, dkm_bundle_find(bundle, "output_kernel") != NULL));
out:
    return local;
}

/* Coordinates of candidates are as many as the model's. */
static dkm_local check_rows(const dkm_space *s)
{
    const dkm_data *objects = s->objects ? s->objects : s->embedding->base.X;

    if (dkm_data_cols(s->C) == s->r && dkm_data_type(objects) == s->type &&
        dkm_data_rows(s->C) > 0 && dkm_data_rows(s->C) == dkm_data_rows(objects))
        return DKM_LOCAL_OK;
    return dkm_fail(s->ctx, DKM_ERR_FORMAT, "%lld candidates of %lld coordinates, not %lld",
                    (long long)dkm_data_rows(s->C), (long long)dkm_data_cols(s->C),
                    (long long)s->r);
}

dkm_status dkm_space_from_bundle(dkm_space *space, dkm_bundle *bundle, const dkm_layout *layout)
{
    dkm_status status = DKM_OK;

    *space = (dkm_space){.ctx = bundle->ctx};
    DKM_AGREE(space->ctx, read_parts(space, bundle));
    space->count = space->classes.classes ? space->r : 0;
    if (space->kind != DKM_JKM_CANDIDATES || space->classes.classes)
        goto out;
    if (dkm_bundle_find(bundle, "output_kernel")) {
        DKM_AGREE(space->ctx, dkm_calloc(space->ctx, 1, &space->embedding));
        DKM_TRY(
            dkm_embedding_from_bundle(space->embedding, NULL, dkm_output_names, bundle, layout));
        DKM_TRY(dkm_space_training_rows(space));
    } else {
        DKM_TRY(dkm_space_embed(space, NULL, layout));
    }
    DKM_AGREE(space->ctx, check_rows(space));
    space->count = dkm_data_rows(space->C);
out:
    return status;
}
