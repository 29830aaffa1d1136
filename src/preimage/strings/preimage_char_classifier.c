/* Predicts the characters of strings by a kernel classifier (cf. Bakir, Weston and Schoelkopf 2004,
 * NIPS 16:449-456): see preimage_char_classifier.h. Cost: a ridge regression (models/krr) with one
 * example per character. */
#include "preimage/strings/preimage_char_classifier.h"

#include <string.h>

#include <dkmap/grid.h>
#include <dkmap/krr.h>

#include "core/alloc.h"
#include "preimage/strings/context_windows.h"

/* All characters of some strings, one after the other, dealt to the ranks in equal slabs. */
typedef struct letters {
    dkm_ctx *ctx;
    dkm_idx strings, window;
    dkm_idx *start;             /* strings + 1, on every rank: where the characters of each begin */
    dkm_idx first, count, last; /* strings that this rank's characters are of, and where they end */
    dkm_idx *indices;           /* those strings */
    dkm_objs z, x, y;           /* what is known of them */
    dkm_context_windows windows;
} letters;

static void close_letters(letters *l)
{
    dkm_context_windows_close(&l->windows);
    dkm_objs_clear(&l->y);
    dkm_objs_clear(&l->x);
    dkm_objs_clear(&l->z);
    DKM_FREE(l->indices);
    DKM_FREE(l->start);
}

/* Lengths of this rank's strings, from @p first on, to where the characters of all begin. */
static dkm_status find_starts(letters *l, dkm_idx first, dkm_idx n, const dkm_idx *lengths)
{
    dkm_status status = DKM_OK;

    DKM_AGREE(l->ctx, dkm_calloc(l->ctx, l->strings + 1, &l->start));
    for (dkm_idx i = 0; i < n; i++)
        l->start[first + i + 1] = lengths[i];
    MPI_Allreduce(MPI_IN_PLACE, l->start, (int)l->strings + 1, MPI_INT64_T, MPI_SUM,
                  dkm_ctx_comm(l->ctx));
    for (dkm_idx i = 0; i < l->strings; i++)
        l->start[i + 1] += l->start[i];
out:
    return status;
}

/* The strings that this rank's slab of characters is of. */
static dkm_local list_strings(letters *l)
{
    int rank = dkm_ctx_rank(l->ctx), size = dkm_ctx_size(l->ctx);
    dkm_idx total = l->start[l->strings], end = dkm_slab_first(total, rank + 1, size), i = 0;
    dkm_local local = DKM_LOCAL_OK;

    l->first = dkm_slab_first(total, rank, size);
    l->last = end;
    while (i < l->strings && l->start[i + 1] <= l->first)
        i++;
    DKM_STEP(dkm_alloc(l->ctx, l->strings, &l->indices));
    for (; i < l->strings && l->start[i] < end; i++)
        l->indices[l->count++] = i;
out:
    return local;
}

/* Coordinates, inputs and, where they are known, outputs of those strings, with their windows. */
static dkm_status fetch(letters *l, const dkm_data *Z, const dkm_data *X, const dkm_data *Y)
{
    dkm_status status = DKM_OK;
    dkm_idx *lengths = NULL;

    DKM_AGREE(l->ctx, list_strings(l));
    DKM_TRY(dkm_data_fetch(Z, l->count, l->indices, &l->z));
    DKM_TRY(dkm_data_fetch(X, l->count, l->indices, &l->x));
    if (Y)
        DKM_TRY(dkm_data_fetch(Y, l->count, l->indices, &l->y));
    DKM_AGREE(l->ctx, dkm_alloc(l->ctx, l->count, &lengths));
    for (dkm_idx i = 0; i < l->count; i++)
        lengths[i] = l->start[l->indices[i] + 1] - l->start[l->indices[i]];
    DKM_AGREE(l->ctx, dkm_context_windows_open(&l->windows, &l->x, Y ? &l->y : NULL,
                                               Y ? NULL : lengths, l->window));
out:
    DKM_FREE(lengths);
    return status;
}

/* Characters of all inputs are numbered, 0 standing for what is outside of a string. */
static void number_letters(dkm_char_classifier *c)
{
    const dkm_preimage *pre = c->pre;
    const dkm_objs *x = &pre->e->inputs->mine;
    int seen[256] = {1};

    for (dkm_idx b = 0; b < x->start[x->n]; b++)
        seen[(unsigned char)x->bytes[b]] = 1;
    MPI_Allreduce(MPI_IN_PLACE, seen, 256, MPI_INT, MPI_MAX, dkm_ctx_comm(pre->e->fitted.ctx));
    c->alphabet = 0;
    for (int b = 0; b < 256; b++)
        c->code[b] = seen[b] ? (int)c->alphabet++ : -1;
}

static void write_row(const dkm_char_classifier *c, const letters *l, dkm_idx string,
                      dkm_idx letter, double *row)
{
    const uint64_t *window = l->windows.window + letter * l->windows.words;
    dkm_idx p = c->pre->e->p;

    memcpy(row, l->z.values + string * p, (size_t)p * sizeof *row);
    memset(row + p, 0, (size_t)(l->window * c->alphabet) * sizeof *row);
    for (dkm_idx k = 0; k < l->window; k++) {
        int code = c->code[window[k / 8] >> 8 * (k % 8) & 255];
        if (code >= 0) /* a character that no training input has is like no other */
            row[p + k * c->alphabet + code] = 1;
    }
}

/* This rank's characters as rows, and what they are where that is known. */
static dkm_status preimage_char_classifier_make_rows(const dkm_char_classifier *c, const letters *l,
                                                     dkm_data **rows, dkm_data **labels)
{
    dkm_status status = DKM_OK;
    dkm_idx total = l->start[l->strings], width = c->pre->e->p + l->window * c->alphabet;

    DKM_TRY(dkm_data_create_dense(l->ctx, total, width, rows));
    if (labels)
        DKM_TRY(dkm_data_create_labels(l->ctx, total, labels));
    for (dkm_idx g = l->first, i = 0; g < l->last; g++) {
        while (l->start[l->indices[i] + 1] <= g)
            i++;
        dkm_idx letter = l->windows.start[i] + g - l->start[l->indices[i]];
        write_row(c, l, i, letter, dkm_data_values(*rows) + (g - l->first) * width);
        if (labels)
            dkm_data_values(*labels)[g - l->first] = (unsigned char)l->windows.letter[letter];
    }
out:
    return status;
}

/* Lengths of the parts of this rank's training outputs that are to be found. */
static dkm_status training_lengths(const dkm_preimage *pre, const double *longer, dkm_idx **lengths)
{
    dkm_status status = DKM_OK;
    const dkm_data *X = pre->e->inputs;
    dkm_ctx *ctx = dkm_data_ctx(X);
    dkm_idx n = dkm_data_local_rows(X), first = dkm_data_local_first(X);

    DKM_AGREE(ctx, dkm_alloc(ctx, n, lengths));
    for (dkm_idx i = 0; i < n; i++) {
        dkm_idx input;
        dkm_data_string_const(X, i, &input);
        (*lengths)[i] = input + (dkm_idx)longer[first + i];
    }
out:
    return status;
}

void dkm_char_classifier_close(dkm_char_classifier *c)
{
    dkm_model_destroy(&c->model);
}

dkm_status dkm_char_classifier_learn(dkm_char_classifier *c, const dkm_preimage *pre,
                                     dkm_idx window, const dkm_data *Z, const double *longer)
{
    dkm_status status = DKM_OK;
    const dkm_fitted_kernel *fitted = &pre->e->fitted;
    const dkm_data *X = pre->e->inputs;
    dkm_krr_settings how = dkm_krr_settings_default();
    letters l = {.ctx = fitted->ctx, .strings = dkm_data_rows(X), .window = window};
    dkm_data *rows = NULL, *labels = NULL;
    dkm_idx *lengths = NULL;

    how.ridge.gamma = pre->settings.gamma_z;
    how.layout = (dkm_layout){dkm_grid_rows(fitted->grid), dkm_grid_cols(fitted->grid), fitted->nb};
    *c = (dkm_char_classifier){.pre = pre, .window = window};
    number_letters(c);
    DKM_TRY(training_lengths(pre, longer, &lengths));
    DKM_TRY(find_starts(&l, dkm_data_local_first(X), dkm_data_local_rows(X), lengths));
    DKM_TRY(fetch(&l, Z, X, fitted->X));
    DKM_TRY(preimage_char_classifier_make_rows(c, &l, &rows, &labels));
    DKM_TRY(dkm_krr_fit(fitted->ctx, rows, labels, pre->settings.kz, &how, &c->model, NULL));
out:
    DKM_FREE(lengths);
    dkm_data_destroy(&labels);
    dkm_data_destroy(&rows);
    close_letters(&l);
    return status;
}

/* Characters that ranks have predicted in slabs, to where their strings are. */
static dkm_status bring_home(const letters *l, const dkm_data *found, dkm_data *Y)
{
    dkm_status status = DKM_OK;
    dkm_idx first = dkm_data_local_first(Y), n = dkm_data_local_rows(Y), *indices = NULL;
    dkm_idx begin = l->start[first], count = l->start[first + n] - begin, at = 0, length;
    dkm_objs got = {0};

    DKM_AGREE(l->ctx, dkm_alloc(l->ctx, count, &indices));
    for (dkm_idx k = 0; k < count; k++)
        indices[k] = begin + k;
    DKM_TRY(dkm_data_fetch(found, count, indices, &got));
    for (dkm_idx i = 0; i < n; i++) {
        char *text = dkm_data_string(Y, i, &length);
        for (dkm_idx p = 0; p < length; p++)
            text[p] = (char)(unsigned char)got.values[at++];
    }
out:
    dkm_objs_clear(&got);
    DKM_FREE(indices);
    return status;
}

dkm_status dkm_char_classifier_fill(const dkm_char_classifier *c, const dkm_data *X,
                                    const dkm_data *Z, dkm_data *Y)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_data_ctx(Z);
    letters l = {.ctx = ctx, .strings = dkm_data_rows(Y), .window = c->window};
    dkm_data *rows = NULL, *found = NULL;
    dkm_idx *lengths = NULL;

    DKM_AGREE(ctx, dkm_alloc(ctx, dkm_data_local_rows(Y), &lengths));
    for (dkm_idx i = 0; i < dkm_data_local_rows(Y); i++)
        dkm_data_string(Y, i, &lengths[i]);
    DKM_TRY(find_starts(&l, dkm_data_local_first(Y), dkm_data_local_rows(Y), lengths));
    DKM_TRY(fetch(&l, Z, X, NULL));
    DKM_TRY(preimage_char_classifier_make_rows(c, &l, &rows, NULL));
    DKM_TRY(dkm_model_predict(c->model, rows, &found));
    DKM_TRY(bring_home(&l, found, Y));
out:
    DKM_FREE(lengths);
    dkm_data_destroy(&found);
    dkm_data_destroy(&rows);
    close_letters(&l);
    return status;
}
