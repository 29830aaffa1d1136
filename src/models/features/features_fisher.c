/* Fisher scores, gradients of log p(x | theta) at the fitted theta (Jaakkola and Haussler 1999,
 * NIPS 11:487-493), of three simple generative models. All three count, or add up, something over
 * all objects: a table of numbers that is summed over the ranks. Characters are indexed by a table
 * of 256 entries.
 *
 * Cost: one pass over the objects; one allreduce of the table, which is replicated. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "models/features/features_impl.h"

enum { BYTES = 256, BAD_PLACE = -2 };

typedef struct fisher {
    dkm_ctx *ctx;
    dkm_fisher_model model;
    dkm_type type;
    dkm_idx n, n_chars; /* features; characters of the alphabet, or columns */
    int code[BYTES];    /* of a character in the alphabet, or -1 */
    dkm_idx count;      /* of parameters */
    double *p;          /* p_a; p_ab, rows of a; means, then standard deviations */
} fisher;

static void features_fisher_destroy(void *state)
{
    fisher *s = state;

    DKM_FREE(s->p);
    dkm_free_block(s);
}

static const char *model_name(dkm_fisher_model model)
{
#define FISHER_NAME(code, name) name,
    static const char *const names[] = {DKM_FISHER_LIST(FISHER_NAME)};
#undef FISHER_NAME
    return names[model];
}

static int features_fisher_accepts(dkm_fisher_model model, dkm_type type)
{
    if (model == DKM_FISHER_MARKOV)
        return type == DKM_STRINGS;
    return type == DKM_DENSE || (model == DKM_FISHER_MULTINOMIAL && type == DKM_STRINGS);
}

static dkm_local features_fisher_check_type(dkm_ctx *ctx, dkm_fisher_model model, const dkm_data *X)
{
    if (!features_fisher_accepts(model, dkm_data_type(X)))
        return dkm_fail(ctx, DKM_ERR_UNSUPPORTED, "a %s model is not for %s objects",
                        model_name(model), dkm_type_name(dkm_data_type(X)));
    if (dkm_data_rows(X) == 0)
        return dkm_fail(ctx, DKM_ERR_ARG, "there are no objects to fit a model to");
    return DKM_LOCAL_OK;
}

/* Which characters there are, in the order of their bytes. */
static void find_letters(fisher *s, const dkm_data *X)
{
    memset(s->code, 0, sizeof s->code);
    for (dkm_idx i = 0; i < dkm_data_local_rows(X); i++) {
        dkm_idx length;
        const char *text = dkm_data_string_const(X, i, &length);
        for (dkm_idx k = 0; k < length; k++)
            s->code[(unsigned char)text[k]] = 1;
    }
    MPI_Allreduce(MPI_IN_PLACE, s->code, BYTES, MPI_INT, MPI_MAX, dkm_ctx_comm(s->ctx));
    for (int c = 0; c < BYTES; c++)
        s->code[c] = s->code[c] ? (int)s->n_chars++ : -1;
}

/* Counts of the characters, or of pairs of them, of one string. */
static void count_string(const fisher *s, const dkm_data *X, dkm_idx i, double *counts)
{
    dkm_idx length;
    const char *text = dkm_data_string_const(X, i, &length);
    int before = -1;

    for (dkm_idx k = 0; k < length; k++) {
        int now = s->code[(unsigned char)text[k]];
        if (s->model == DKM_FISHER_MULTINOMIAL && now >= 0)
            counts[now] += 1.0;
        else if (s->model == DKM_FISHER_MARKOV && now >= 0 && before >= 0)
            counts[before * s->n_chars + now] += 1.0;
        before = now;
    }
}

static void features_fisher_add_row(const fisher *s, const double *row, double *sums)
{
    for (dkm_idx j = 0; j < s->n_chars; j++) {
        sums[j] += row[j];
        if (s->model == DKM_FISHER_GAUSSIAN)
            sums[s->n_chars + j] += row[j] * row[j];
    }
}

static dkm_local check_counts(const fisher *s, const dkm_data *X)
{
    const double *values = dkm_data_values_const(X);

    for (dkm_idx k = 0; k < dkm_data_local_rows(X) * s->n_chars; k++)
        if (values[k] < 0)
            return dkm_fail(s->ctx, DKM_ERR_ARG,
                            "row %lld, column %lld: a multinomial model counts, and %g is below "
                            "zero",
                            (long long)(dkm_data_local_first(X) + k / s->n_chars),
                            (long long)(k % s->n_chars), values[k]);
    return DKM_LOCAL_OK;
}

/* Rows of @p width numbers made shares of their sum. */
static void to_shares(dkm_idx rows, dkm_idx width, double *p)
{
    for (dkm_idx i = 0; i < rows; i++) {
        double sum = 0;
        for (dkm_idx j = 0; j < width; j++)
            sum += p[i * width + j];
        for (dkm_idx j = 0; j < width; j++)
            p[i * width + j] /= sum > 0 ? sum : 1.0;
    }
}

/* From sums and sums of squares to means and standard deviations; 0 for a constant column. */
static void to_moments(fisher *s, double m)
{
    for (dkm_idx j = 0; j < s->n_chars; j++) {
        double mean = s->p[j] / m, square = s->p[s->n_chars + j] / m;
        double variance = square - mean * mean;
        s->p[j] = mean;
        s->p[s->n_chars + j] = variance > 1e-14 * square ? sqrt(variance) : 0.0;
    }
}

static dkm_status estimate(fisher *s, const dkm_data *X)
{
    dkm_status status = DKM_OK;
    int strings = s->type == DKM_STRINGS;

    if (s->model == DKM_FISHER_MULTINOMIAL && !strings)
        DKM_AGREE(s->ctx, check_counts(s, X));
    for (dkm_idx i = 0; i < dkm_data_local_rows(X); i++) {
        if (strings)
            count_string(s, X, i, s->p);
        else
            features_fisher_add_row(s, dkm_data_values_const(X) + i * s->n_chars, s->p);
    }
    MPI_Allreduce(MPI_IN_PLACE, s->p, (int)s->count, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(s->ctx));
    for (dkm_idx k = 0; s->model == DKM_FISHER_MARKOV && k < s->count; k++)
        s->p[k] += 1.0;
    if (s->model == DKM_FISHER_GAUSSIAN)
        to_moments(s, (double)dkm_data_rows(X));
    else
        to_shares(s->count / s->n_chars, s->n_chars, s->p);
out:
    return status;
}

/* From counts to (c - total p) / sqrt(p), row by row of the table. */
static void score_counts(const fisher *s, double *u)
{
    for (dkm_idx i = 0; i < s->count / s->n_chars; i++) {
        const double *p = s->p + i * s->n_chars;
        double *c = u + i * s->n_chars, total = 0;
        for (dkm_idx j = 0; j < s->n_chars; j++)
            total += c[j];
        for (dkm_idx j = 0; j < s->n_chars; j++)
            c[j] = p[j] > 0 ? (c[j] - total * p[j]) / sqrt(p[j]) : 0.0;
    }
}

static void score_row(const fisher *s, const double *row, double *u)
{
    for (dkm_idx j = 0; j < s->n_chars; j++) {
        double sd = s->p[s->n_chars + j], z = sd > 0 ? (row[j] - s->p[j]) / sd : 0.0;
        u[j] = z;
        u[s->n_chars + j] = sd > 0 ? (z * z - 1.0) / sqrt(2.0) : 0.0;
    }
}

static dkm_local features_fisher_check_objects(const fisher *s, const dkm_data *X)
{
    if (dkm_data_type(X) != s->type)
        return dkm_fail(s->ctx, DKM_ERR_ARG, "the map was fitted to %s objects, these are %s",
                        dkm_type_name(s->type), dkm_type_name(dkm_data_type(X)));
    if (s->type == DKM_DENSE && dkm_data_cols(X) != s->n_chars)
        return dkm_fail(s->ctx, DKM_ERR_ARG,
                        "the map was fitted to rows of %lld columns, these have %lld",
                        (long long)s->n_chars, (long long)dkm_data_cols(X));
    return DKM_LOCAL_OK;
}

static dkm_status features_fisher_apply(void *state, const dkm_data *X, dkm_data **F)
{
    fisher *s = state;
    dkm_status status = DKM_OK;

    DKM_AGREE(s->ctx, features_fisher_check_objects(s, X));
    DKM_TRY(dkm_data_create_dense(s->ctx, dkm_data_rows(X), s->n, F));
    for (dkm_idx i = 0; i < dkm_data_local_rows(X); i++) {
        double *u = dkm_data_values(*F) + i * s->n;
        const double *row = s->type == DKM_DENSE ? dkm_data_values_const(X) + i * s->n_chars : NULL;
        if (s->model == DKM_FISHER_GAUSSIAN) {
            score_row(s, row, u);
            continue;
        }
        if (row)
            memcpy(u, row, (size_t)s->n_chars * sizeof *u);
        else
            count_string(s, X, i, u);
        score_counts(s, u);
    }
out:
    return status;
}

static dkm_idx features_fisher_parameters(const fisher *s)
{
    return s->model == DKM_FISHER_MARKOV     ? s->n_chars * s->n_chars
           : s->model == DKM_FISHER_GAUSSIAN ? 2 * s->n_chars
                                             : s->n_chars;
}

dkm_status dkm_features_fisher(const dkm_data *X, dkm_fisher_model model, dkm_features **map)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_data_ctx(X);
    fisher *s = NULL;

    *map = NULL;
    DKM_AGREE(ctx, features_fisher_check_type(ctx, model, X));
    DKM_AGREE(ctx, dkm_calloc(ctx, 1, &s));
    s->ctx = ctx;
    s->model = model;
    s->type = dkm_data_type(X);
    s->n_chars = dkm_data_cols(X);
    if (s->type == DKM_STRINGS)
        find_letters(s, X);
    s->n = s->count = features_fisher_parameters(s);
    DKM_AGREE(ctx, dkm_calloc(ctx, s->count, &s->p));
    DKM_TRY(estimate(s, X));
    status = dkm_features_wrap(ctx, &dkm_features_kind_fisher, s->n, s, map);
    s = NULL; /* taken over, whatever came of it */
out:
    if (s)
        features_fisher_destroy(s);
    return status;
}

static dkm_local features_fisher_name_entries(const fisher *s, dkm_archive *archive)
{
    dkm_local local = DKM_LOCAL_OK;
    double code[BYTES];

    for (int c = 0; c < BYTES; c++)
        code[c] = s->code[c];
    DKM_STEP(dkm_archive_put_text(archive, "fisher_model", model_name(s->model)));
    DKM_STEP(dkm_archive_put_text(archive, "fisher_type", dkm_type_name(s->type)));
    DKM_STEP(dkm_archive_put_real(archive, "fisher_letters", (double)s->n_chars));
    DKM_STEP(dkm_archive_put_reals(archive, "fisher_places", BYTES, code));
    DKM_STEP(dkm_archive_put_reals(archive, "fisher_parameters", s->count, s->p));
out:
    return local;
}

static dkm_status features_fisher_to_archive(void *state, dkm_archive *archive)
{
    fisher *s = state;

    return dkm_agree(s->ctx, features_fisher_name_entries(s, archive));
}

static dkm_local features_fisher_check_parts(const fisher *s, const char *model)
{
    int fits = s->model != DKM_FISHER_COUNT && features_fisher_accepts(s->model, s->type) &&
               s->count == features_fisher_parameters(s) && s->count == s->n;

    for (int c = 0; fits && c < BYTES; c++)
        fits = s->code[c] != BAD_PLACE;
    if (fits)
        return DKM_LOCAL_OK;
    return dkm_fail(s->ctx, DKM_ERR_FORMAT, "the parts of a Fisher model '%s' do not fit", model);
}

static dkm_local features_fisher_read_entries(fisher *s, const dkm_archive *archive)
{
    dkm_local local = DKM_LOCAL_OK;
    const char *model = NULL, *type = NULL;
    const double *code = NULL, *p = NULL;

    DKM_STEP(dkm_archive_text(archive, "fisher_model", &model));
    DKM_STEP(dkm_archive_text(archive, "fisher_type", &type));
    DKM_STEP(dkm_archive_count(archive, "fisher_letters", 1, INT32_MAX, &s->n_chars));
    DKM_STEP(dkm_archive_numbers(archive, "fisher_places", BYTES, &code));
    DKM_STEP(dkm_archive_reals(archive, "fisher_parameters", &s->count, &p));
    while (s->model < DKM_FISHER_COUNT && strcmp(model, model_name(s->model)) != 0)
        s->model++;
    s->type = dkm_type_from_name(type);
    for (int c = 0; c < BYTES; c++)
        s->code[c] = code[c] >= -1 && code[c] < (double)s->n_chars ? (int)code[c] : BAD_PLACE;
    DKM_STEP(features_fisher_check_parts(s, model));
    DKM_STEP(dkm_alloc(s->ctx, s->count, &s->p));
    memcpy(s->p, p, (size_t)s->count * sizeof *p);
out:
    return local;
}

static dkm_status features_fisher_from_archive(dkm_ctx *ctx, dkm_archive *archive,
                                               const dkm_layout *layout, dkm_idx n, void **state)
{
    dkm_status status = DKM_OK;
    fisher *s = NULL;

    (void)layout;
    DKM_AGREE(ctx, dkm_calloc(ctx, 1, &s));
    s->ctx = ctx;
    s->n = n;
    DKM_AGREE(ctx, features_fisher_read_entries(s, archive));
    *state = s;
    s = NULL;
out:
    if (s)
        features_fisher_destroy(s);
    return status;
}

const dkm_features_kind dkm_features_kind_fisher = {.name = "fisher",
                                                    .apply = features_fisher_apply,
                                                    .to_archive = features_fisher_to_archive,
                                                    .from_archive = features_fisher_from_archive,
                                                    .destroy = features_fisher_destroy};
