/* From rows of W x back to outputs, and the parts of a space in a model file. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "models/common/reproducible.h"
#include "models/jkm/output_space/output_space_impl.h"
#include "search/topk.h"

/* y = g B, B spread over the ranks. */
static dkm_status leave_basis(const dkm_output_space *s, const dkm_data *G, dkm_data **Y)
{
    dkm_status status = DKM_OK;
    dkm_idx step = dkm_repro_panel_rows(s->cols), n = dkm_data_local_rows(G);
    double *panel = NULL;

    DKM_AGREE(s->ctx, dkm_alloc(s->ctx, step * s->cols, &panel));
    DKM_TRY(dkm_data_create_dense(s->ctx, dkm_data_rows(G), s->cols, Y));
    for (dkm_idx first = 0; first < s->r; first += step) {
        dkm_idx count = s->r - first < step ? s->r - first : step;
        DKM_TRY(dkm_repro_gather(s->ctx, s->r, s->cols, dkm_data_values_const(s->basis), first,
                                 count, panel));
        dkm_repro_gemm(n, s->cols, count, 1.0,
                       (dkm_row_block){dkm_data_values_const(G) + first, s->r},
                       (dkm_row_block){panel, s->cols}, 1.0, dkm_data_values(*Y));
    }
out:
    DKM_FREE(panel);
    if (status != DKM_OK)
        dkm_data_destroy(Y);
    return status;
}

/* To unit length; a row of zeros stays one. */
static void space_decode_scale_rows(dkm_data *Y)
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

static dkm_status decode_vectors(const dkm_output_space *s, dkm_data **G, dkm_data **Y)
{
    dkm_status status = DKM_OK;

    if (s->basis) {
        DKM_TRY(leave_basis(s, *G, Y));
    } else {
        *Y = *G;
        *G = NULL;
    }
    if (s->kind == DKM_JKM_SPHERE)
        space_decode_scale_rows(*Y);
out:
    return status;
}

/* Put a candidate into a list of the best, highest score first, if it belongs there. Candidates
 * come in ascending order: equals stay behind those before them. */
static void space_decode_insert(dkm_idx top, dkm_idx *index, double *score, dkm_idx c, double value)
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

/* Scores of candidates from @p first on, of one own row, into its list of the best. */
static void take_scores(const dkm_output_space *s, dkm_idx row, dkm_idx first, dkm_idx count,
                        const double *scores, dkm_idx top, dkm_idx *index, double *score)
{
    const dkm_objs *lists = s->lists ? &s->lists->mine : NULL;

    for (dkm_idx k = 0; !lists && k < count; k++)
        space_decode_insert(top, index, score, first + k, scores[k]);
    for (dkm_idx k = lists ? lists->start[row] : 0; lists && k < lists->start[row + 1]; k++)
        if (lists->col[k] >= first && lists->col[k] < first + count)
            space_decode_insert(top, index, score, lists->col[k], scores[lists->col[k] - first]);
}

/* Candidates that own row counts. */
static dkm_idx count_of_row(const dkm_output_space *s, dkm_idx row)
{
    const dkm_objs *lists = s->lists ? &s->lists->mine : NULL;

    return lists ? lists->start[row + 1] - lists->start[row] : s->count;
}

/* The @p top candidates of highest score <g, c> for own rows, and the scores. */
static dkm_status best_candidates(const dkm_output_space *s, const dkm_data *G, dkm_idx top,
                                  dkm_idx *index, double *score)
{
    dkm_status status = DKM_OK;
    dkm_idx n = dkm_data_local_rows(G), r = s->r, step = dkm_repro_panel_rows(r);
    double *rows = NULL, *tile = NULL;

    DKM_AGREE(s->ctx, dkm_alloc(s->ctx, step * r, &rows));
    DKM_AGREE(s->ctx, dkm_alloc(s->ctx, step * n, &tile));
    for (dkm_idx k = 0; k < n * top; k++) {
        score[k] = -INFINITY;
        index[k] = k % top;
    }
    for (dkm_idx first = 0; first < s->count; first += step) {
        dkm_idx count = s->count - first < step ? s->count - first : step;
        DKM_TRY(dkm_output_space_candidates(s, first, count, rows));
        dkm_repro_gemm_nt(n, count, r, 1.0, (dkm_row_block){dkm_data_values_const(G), r},
                          (dkm_row_block){rows, r}, 0.0, tile);
        for (dkm_idx i = 0; i < n; i++)
            take_scores(s, i, first, count, tile + i * count, top, index + i * top,
                        score + i * top);
    }
out:
    DKM_FREE(tile);
    DKM_FREE(rows);
    return status;
}

/* Scores that are not numbers choose nobody. */
static dkm_local check_scores(const dkm_output_space *s, dkm_idx n, dkm_idx top,
                              const double *score)
{
    for (dkm_idx k = 0; k < n * top; k++)
        if (!isfinite(score[k]) && k % top < count_of_row(s, k / top))
            return dkm_fail(s->ctx, DKM_ERR_NUMERIC,
                            "scores of candidates are not finite: inputs or model are too large");
    return DKM_LOCAL_OK;
}

/* Rows of (index, score) pairs; of classes the label instead of the index, and NaN where fewer
 * candidates count. */
static dkm_status list_best(const dkm_output_space *s, dkm_idx rows, dkm_idx top,
                            const dkm_idx *index, const double *score, dkm_data **Y)
{
    dkm_status status = dkm_data_create_dense(s->ctx, rows, 2 * top, Y);

    for (dkm_idx k = 0; status == DKM_OK && k < dkm_data_local_rows(*Y) * top; k++) {
        int counts = k % top < count_of_row(s, k / top);
        double name = s->classes.classes ? s->classes.classes[index[k]] : (double)index[k];
        dkm_data_values(*Y)[2 * k] = counts ? name : NAN;
        dkm_data_values(*Y)[2 * k + 1] = counts ? score[k] : NAN;
    }
    return status;
}

static dkm_status pick_objects(const dkm_output_space *s, dkm_idx rows, dkm_idx n,
                               const dkm_idx *index, dkm_data **Y)
{
    dkm_status status = DKM_OK;
    const dkm_data *objects = s->objects ? s->objects : s->embedding->fitted.X;
    dkm_objs got = {0};

    DKM_TRY(dkm_data_fetch(objects, n, index, &got));
    DKM_TRY(dkm_data_wrap(s->ctx, rows, &got, Y));
out:
    dkm_objs_clear(&got);
    return status;
}

static dkm_status pick_labels(const dkm_output_space *s, dkm_idx rows, const dkm_idx *index,
                              dkm_data **Y)
{
    dkm_status status = dkm_data_create_labels(s->ctx, rows, Y);

    for (dkm_idx i = 0; status == DKM_OK && i < dkm_data_local_rows(*Y); i++)
        dkm_data_values(*Y)[i] = s->classes.classes[index[i]];
    return status;
}

static dkm_status decode_candidates(const dkm_output_space *s, dkm_idx top, const dkm_data *G,
                                    dkm_data **Y)
{
    dkm_status status = DKM_OK;
    dkm_idx n = dkm_data_local_rows(G), keep = top > 0 ? top : 1, *index = NULL;
    double *score = NULL;

    DKM_REQUIRE(s->ctx, !s->lists || dkm_data_rows(s->lists) == dkm_data_rows(G), DKM_ERR_ARG,
                "%lld lists of candidates for %lld inputs",
                (long long)(s->lists ? dkm_data_rows(s->lists) : 0), (long long)dkm_data_rows(G));
    DKM_AGREE(s->ctx, dkm_alloc(s->ctx, n * keep, &index));
    DKM_AGREE(s->ctx, dkm_alloc(s->ctx, n * keep, &score));
    DKM_TRY(best_candidates(s, G, keep, index, score));
    DKM_AGREE(s->ctx, check_scores(s, n, keep, score));
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

dkm_status dkm_output_space_decode(const dkm_output_space *space, dkm_idx top, dkm_data **G,
                                   dkm_data **Y)
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

static dkm_local space_decode_check_candidates(const dkm_output_space *s, const dkm_data *given)
{
    if (s->type == DKM_LABELS)
        return dkm_fail(s->ctx, DKM_ERR_UNSUPPORTED,
                        "the model is a classifier: it has no other candidates");
    if (s->basis)
        return dkm_fail(s->ctx, DKM_ERR_UNSUPPORTED,
                        "the model was trained in the span of its outputs: fit with candidates to "
                        "choose among candidates");
    if (dkm_data_rows(given) < 1)
        return dkm_fail(s->ctx, DKM_ERR_ARG, "there are no candidates: give at least one");
    return dkm_candidates_match(s->ctx, dkm_data_type(given), dkm_data_cols(given), s->type,
                                s->cols);
}

dkm_status dkm_output_space_set_candidates(dkm_output_space *space, dkm_data **candidates)
{
    dkm_status status = DKM_OK;

    DKM_AGREE(space->ctx, space_decode_check_candidates(space, *candidates));
    dkm_data_destroy(&space->C);
    dkm_data_destroy(&space->objects);
    space->objects = *candidates;
    *candidates = NULL;
    space->count = dkm_data_rows(space->objects);
    space->kind = DKM_JKM_CANDIDATES;
    if (space->embedding)
        DKM_TRY(dkm_embedding_encode(space->embedding, space->objects, &space->C, NULL));
    else
        DKM_TRY(dkm_output_space_embed(space, NULL, NULL));
out:
    dkm_data_destroy(candidates);
    return status;
}

static const char *const kinds[] = {"auto", "sphere", "free", "candidates"};

static dkm_local space_decode_name_entries(dkm_output_space *s, dkm_archive *archive)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_archive_put_text(archive, "space", kinds[s->kind]));
    DKM_STEP(dkm_archive_put_text(archive, "space_type", dkm_type_name(s->type)));
    DKM_STEP(dkm_archive_put_real(archive, "space_cols", (double)s->cols));
    DKM_STEP(dkm_archive_put_real(archive, "coordinates", (double)s->r));
    DKM_STEP(dkm_archive_put_real(archive, "class_unit", s->unit));
    if (s->alphabet) {
        DKM_STEP(dkm_archive_put_text(archive, "alphabet", s->alphabet));
        DKM_STEP(dkm_archive_put_real(archive, "places", (double)s->positions));
    }
    if (s->basis)
        DKM_STEP(dkm_archive_borrow_data(archive, "basis", s->basis));
    if (s->classes.classes)
        DKM_STEP(dkm_target_encoder_to_archive(&s->classes, archive));
    if (s->objects)
        DKM_STEP(dkm_archive_borrow_data(archive, "candidates", s->objects));
out:
    return local;
}

dkm_status dkm_output_space_to_archive(dkm_output_space *space, dkm_archive *archive)
{
    dkm_status status = DKM_OK;

    DKM_AGREE(space->ctx, space_decode_name_entries(space, archive));
    if (space->embedding)
        DKM_TRY(dkm_embedding_to_archive(space->embedding, dkm_output_names, archive));
out:
    return status;
}

static dkm_local read_letters(dkm_output_space *s, const dkm_archive *archive)
{
    dkm_local local = DKM_LOCAL_OK;
    const char *alphabet = "";

    DKM_STEP(dkm_archive_text(archive, "alphabet", &alphabet));
    DKM_STEP(dkm_archive_count(archive, "places", 1, INT32_MAX, &s->positions));
    DKM_STEP(dkm_strdup(s->ctx, alphabet, &s->alphabet));
    s->n_chars = (dkm_idx)strlen(alphabet);
    if (s->type != DKM_STRINGS || s->n_chars > UCHAR_MAX || s->positions * s->n_chars != s->r)
        local =
            dkm_fail(s->ctx, DKM_ERR_FORMAT, "%lld coordinates of %lld letters at %lld positions",
                     (long long)s->r, (long long)s->n_chars, (long long)s->positions);
out:
    return local;
}

/* Whether the parts that there are fit each other and the kind of outputs. */
static int parts_fit(const dkm_output_space *s, int embedded)
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

static dkm_local space_decode_check_parts(const dkm_output_space *s, int embedded)
{
    if (parts_fit(s, embedded))
        return DKM_LOCAL_OK;
    return dkm_fail(s->ctx, DKM_ERR_FORMAT,
                    "the parts of outputs of the kind '%s', %s, %lld coordinates, do not fit",
                    kinds[s->kind], dkm_type_name(s->type), (long long)s->r);
}

static dkm_local space_decode_read_entries(dkm_output_space *s, dkm_archive *archive)
{
    dkm_local local = DKM_LOCAL_OK;
    const char *kind = "", *type = "";
    int k = DKM_JKM_CANDIDATES;

    DKM_STEP(dkm_archive_text(archive, "space", &kind));
    DKM_STEP(dkm_archive_text(archive, "space_type", &type));
    DKM_STEP(dkm_archive_count(archive, "space_cols", 0, INT64_MAX, &s->cols));
    DKM_STEP(dkm_archive_count(archive, "coordinates", 1, INT64_MAX, &s->r));
    DKM_STEP(dkm_archive_number(archive, "class_unit", -HUGE_VAL, HUGE_VAL, &s->unit));
    while (k > 0 && strcmp(kinds[k], kind) != 0)
        k--;
    s->kind = (dkm_jkm_outputs)k;
    s->type = dkm_type_from_name(type);
    if (s->kind == DKM_JKM_AUTO || s->type == DKM_TYPE_COUNT)
        DKM_STEP(dkm_fail(s->ctx, DKM_ERR_FORMAT, "outputs of the kind '%s', %s, cannot be", kind,
                          type));
    if (dkm_archive_find(archive, "alphabet"))
        DKM_STEP(read_letters(s, archive));
    if (dkm_archive_find(archive, "basis"))
        DKM_STEP(dkm_archive_take_rows(archive, "basis", &s->basis));
    if (dkm_archive_find(archive, "classes"))
        DKM_STEP(dkm_target_encoder_from_archive(&s->classes, archive));
    if (dkm_archive_find(archive, "candidates"))
        DKM_STEP(dkm_archive_take_data(archive, "candidates", &s->objects));
    DKM_STEP(space_decode_check_parts(s, dkm_archive_find(archive, "output_kernel") != NULL));
out:
    return local;
}

/* Coordinates of candidates are as many as the model's. */
static dkm_local space_decode_check_rows(const dkm_output_space *s)
{
    const dkm_data *objects = s->objects ? s->objects : s->embedding->fitted.X;

    if (dkm_data_cols(s->C) == s->r && dkm_data_type(objects) == s->type &&
        dkm_data_rows(s->C) > 0 && dkm_data_rows(s->C) == dkm_data_rows(objects))
        return DKM_LOCAL_OK;
    return dkm_fail(s->ctx, DKM_ERR_FORMAT, "%lld candidates of %lld coordinates, not %lld",
                    (long long)dkm_data_rows(s->C), (long long)dkm_data_cols(s->C),
                    (long long)s->r);
}

dkm_status dkm_output_space_from_archive(dkm_output_space *space, dkm_archive *archive,
                                         const dkm_layout *layout)
{
    dkm_status status = DKM_OK;

    *space = (dkm_output_space){.ctx = archive->ctx};
    DKM_AGREE(space->ctx, space_decode_read_entries(space, archive));
    space->count = space->classes.classes ? space->r : 0;
    if (space->kind != DKM_JKM_CANDIDATES || space->classes.classes)
        goto out;
    if (dkm_archive_find(archive, "output_kernel")) {
        DKM_AGREE(space->ctx, dkm_calloc(space->ctx, 1, &space->embedding));
        DKM_TRY(
            dkm_embedding_from_archive(space->embedding, NULL, dkm_output_names, archive, layout));
        DKM_TRY(dkm_output_space_training_rows(space));
    } else {
        DKM_TRY(dkm_output_space_embed(space, NULL, layout));
    }
    DKM_AGREE(space->ctx, space_decode_check_rows(space));
    space->count = dkm_data_rows(space->C);
out:
    return status;
}
