/* The factor of a model in dual form: retained by a fit, written with the model, found again when it
 * is needed.
 *
 * Cost of saving: m^2 / 2 numbers written; rows that lie in another file are copied from there, each
 * rank its share of the bytes, or stay there. Held per rank: m^2 / ranks numbers after a fit, nothing of that order
 * after a load. Replicated: the numbers of rows that were forgotten. */
#include "models/krr/krr_factor.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/alloc.h"
#include "io/archive/checksum.h"
#include "io/path.h"
#include "solvers/ridge/ridge_factor.h"
#include "solvers/ridge/shifted_cholesky.h"

#define FACTOR        "factor"
#define FILE_OF       "factor_file"
#define GONE          "forgotten_rows"
#define BASIS         "forgotten_basis"
#define JITTER        "factor_jitter"
#define CENTER        "centered"
#define HISTORY       "history"
#define WEIGHTS       "example_weights"
#define MEMORY_MARGIN 1.1 /* of the matrix's bytes: panels, buffers, vectors */

void dkm_krr_factor_clear(dkm_krr_factor *f)
{
    dkm_dmat_destroy(&f->L);
    dkm_dmat_destroy(&f->tail);
    dkm_dmat_destroy(&f->Q);
    DKM_FREE(f->gone);
    dkm_data_destroy(&f->Y);
    dkm_data_destroy(&f->history);
    dkm_data_destroy(&f->weights);
    dkm_example_weights_close(&f->roots);
    DKM_FREE(f->stored.rows.path);
    DKM_FREE(f->stored_tail.rows.path);
}

dkm_idx dkm_krr_factor_order(const dkm_krr_factor *f)
{
    if (f->tail)
        return dkm_dmat_cols(f->tail);
    if (f->stored_tail.rows.m > 0)
        return f->stored_tail.rows.m;
    return f->L ? dkm_dmat_rows(f->L) : f->stored.rows.m;
}

/* The roots of weights that came from a file. Collective. */
static dkm_status factor_open_roots(dkm_krr_factor *f)
{
    if (!f->weights || f->roots.root)
        return DKM_OK;
    return dkm_example_weights_open(&f->roots, dkm_data_ctx(f->weights), f->weights);
}

dkm_status dkm_krr_factor_set_weights(dkm_krr_factor *f, const dkm_data *weights)
{
    dkm_example_weights_close(&f->roots);
    dkm_data_destroy(&f->weights);
    f->weights = weights ? dkm_data_share(weights) : NULL;
    return factor_open_roots(f);
}

void dkm_krr_factor_weigh(const dkm_krr_factor *f, const dkm_fitted_kernel *fitted, int on)
{
    dkm_example_weights_apply(on ? &f->roots : NULL, fitted);
}

static dkm_status factor_check_memory(const dkm_fitted_kernel *fitted)
{
    const dkm_grid *grid = fitted->grid;
    dkm_idx m = dkm_data_rows(fitted->X);
    double elements =
        (double)dkm_cyclic_count(m, fitted->nb, dkm_grid_row(grid), dkm_grid_rows(grid)) *
        (double)dkm_cyclic_count(m, fitted->nb, dkm_grid_col(grid), dkm_grid_cols(grid));

    return dkm_memory_check(fitted->ctx, MEMORY_MARGIN * sizeof(double) * elements,
                            "the factor of the kernel matrix in double precision");
}

dkm_precision dkm_krr_factor_precision(const dkm_krr_factor *f)
{
    return f->L ? dkm_dmat_precision(f->L) : f->stored.rows.precision;
}

dkm_status dkm_krr_factor_solve(dkm_krr_factor *f, const dkm_fitted_kernel *fitted,
                                const dkm_ridge_settings *ridge, const dkm_dmat *T,
                                const dkm_data *Y, dkm_dmat **B, dkm_ridge_info *info)
{
    dkm_status status = DKM_OK;
    dkm_ridge_settings settings = *ridge;

    *B = NULL;
    if (settings.precision == DKM_RIDGE_AUTO)
        settings.precision = DKM_RIDGE_DOUBLE;
    settings.keep = DKM_RECOMPUTE; /* memory is what other precisions are asked for */
    if (settings.precision == DKM_RIDGE_DOUBLE)
        DKM_TRY(factor_check_memory(fitted));
    dkm_dmat_destroy(&f->L);
    DKM_TRY(dkm_ridge_kernel_factor(fitted->kernel, fitted->prepared, fitted->nb, &settings, T,
                                    &f->L, B, info));
    f->jitter = info->jitter;
    f->retained = 1;
    if (!f->Y)
        f->Y = dkm_data_share(Y);
out:
    if (status != DKM_OK)
        dkm_dmat_destroy(&f->L);
    return status;
}

/* L <- the factor of K + gamma I, made now. */
static dkm_status factor_compute(dkm_krr_factor *f, const dkm_fitted_kernel *fitted, double gamma)
{
    dkm_status status = DKM_OK;
    dkm_shifted_cholesky factor = {0};

    dkm_phase_begin(fitted->ctx, "refactor");
    dkm_krr_factor_weigh(f, fitted, 1);
    DKM_TRY(dkm_gram(fitted->grid, fitted->kernel, fitted->prepared, fitted->nb, DKM_F64, &f->L));
    DKM_TRY(dkm_shifted_cholesky_open(&factor, f->L, "K + gamma I"));
    DKM_TRY(dkm_shifted_cholesky_factorize(&factor, gamma));
    f->jitter = factor.info.jitter;
    f->recomputed = 1;
out:
    dkm_krr_factor_weigh(f, fitted, 0);
    dkm_shifted_cholesky_close(&factor);
    if (status != DKM_OK)
        dkm_dmat_destroy(&f->L);
    dkm_phase_end(fitted->ctx);
    return status;
}

/* What tells a file from another one of its name. */
static int factor_stamp(const char *path, int64_t stamp[3])
{
    struct stat s;

    if (stat(path, &s) != 0)
        return 0;
    stamp[0] = (int64_t)s.st_ino;
    stamp[1] = (int64_t)s.st_size;
    stamp[2] = (int64_t)s.st_mtim.tv_sec * 1000000000 + s.st_mtim.tv_nsec;
    return 1;
}

static int factor_same_file(const dkm_krr_stored *s)
{
    int64_t now[3];

    return s->rows.path && factor_stamp(s->rows.path, now) && now[0] == s->stamp[0] &&
           now[1] == s->stamp[1] && now[2] == s->stamp[2];
}

/* Whether all rows are in memory, or in files that are still there, on all ranks. Collective. */
static int factor_is_there(const dkm_krr_factor *f, dkm_ctx *ctx)
{
    int there = (f->L || factor_same_file(&f->stored)) &&
                (f->tail || f->stored_tail.rows.m == 0 || factor_same_file(&f->stored_tail));

    MPI_Allreduce(MPI_IN_PLACE, &there, 1, MPI_INT, MPI_MIN, dkm_ctx_comm(ctx));
    return there;
}

static dkm_status factor_read_tail(dkm_krr_factor *f, const dkm_fitted_kernel *fitted)
{
    const dkm_matrix_entry *rows = &f->stored_tail.rows;
    dkm_status status = DKM_OK;

    if (f->tail || !rows->path)
        return DKM_OK;
    dkm_phase_begin(fitted->ctx, "read factor");
    DKM_TRY(dkm_dmat_create(fitted->grid, rows->m - rows->first, rows->n, fitted->nb, fitted->nb,
                            DKM_F64, &f->tail));
    DKM_TRY(dkm_matrix_entry_read_matrix(rows, f->tail));
out:
    if (status != DKM_OK)
        dkm_dmat_destroy(&f->tail);
    dkm_phase_end(fitted->ctx);
    return status;
}

/* What is known of a factor whose file is gone. Local. */
static void factor_drop(dkm_krr_factor *f)
{
    dkm_dmat_destroy(&f->L);
    dkm_dmat_destroy(&f->tail);
    dkm_dmat_destroy(&f->Q);
    DKM_FREE(f->gone);
    f->dead = 0;
    DKM_FREE(f->stored.rows.path);
    DKM_FREE(f->stored_tail.rows.path);
    f->stored_tail.rows.m = 0;
}

/* The rows of another file, which was not verified with the model's. */
static dkm_status factor_verify(dkm_krr_factor *f, dkm_ctx *ctx)
{
    dkm_status status = DKM_OK;

    if (f->refers)
        DKM_TRY(dkm_checksum_verify(ctx, f->stored.rows.path));
    f->refers = 0;
out:
    return status;
}

dkm_status dkm_krr_factor_open(dkm_krr_factor *f, const dkm_fitted_kernel *fitted, double gamma)
{
    dkm_status status = DKM_OK;

    DKM_TRY(factor_open_roots(f));
    if (factor_is_there(f, fitted->ctx)) {
        DKM_TRY(factor_verify(f, fitted->ctx));
        return factor_read_tail(f, fitted);
    }
    if (f->refers)
        dkm_log(fitted->ctx, DKM_INFO,
                "the file that has the model's factor is gone, or is another one: the factor is "
                "computed anew");
    factor_drop(f);
    DKM_TRY(factor_check_memory(fitted));
    DKM_TRY(factor_compute(f, fitted, gamma));
out:
    return status;
}

/* What a file is to hold: all rows, or those that the file to refer to has not. */
static dkm_matrix_entry factor_rows(const dkm_krr_factor *f, int refer)
{
    dkm_idx n = dkm_krr_factor_order(f);

    return (dkm_matrix_entry){.m = n,
                              .n = n,
                              .precision = dkm_krr_factor_precision(f),
                              .lower = 1,
                              .first = refer ? f->stored.rows.m : 0,
                              .copied = f->L || refer ? NULL : &f->stored.rows,
                              .matrix = f->L,
                              .rest = f->tail};
}

/* The path of a file called @p name in the folder of the file @p beside. */
static dkm_local path_beside(dkm_ctx *ctx, const char *beside, const char *name, char **path)
{
    dkm_local local = DKM_LOCAL_OK;
    int folder = (int)(dkm_path_last_name(beside) - beside);
    dkm_idx size = folder + (dkm_idx)strlen(name) + 1;

    DKM_STEP(dkm_alloc(ctx, size, path));
    snprintf(*path, (size_t)size, "%.*s%s", folder, beside, name);
out:
    return local;
}

static int is_one_file(const char *a, const char *b)
{
    struct stat s, t;

    return stat(a, &s) == 0 && stat(b, &t) == 0 && s.st_ino == t.st_ino && s.st_dev == t.st_dev;
}

/* Check that a file at @p path can refer to the rows of another one: not to its own, and only to one
 * beside it, as a model makes no one read a file elsewhere. */
static dkm_local factor_check_reference(const dkm_krr_stored *stored, dkm_ctx *ctx,
                                        const char *path)
{
    dkm_local local = DKM_LOCAL_OK;
    char *here = NULL, *there = NULL;

    if (is_one_file(path, stored->rows.path))
        DKM_STEP(
            dkm_fail(ctx, DKM_ERR_ARG,
                     "%s has the factor that the new file is to refer to: write another file, or "
                     "a copy of the factor",
                     path));
    DKM_STEP(path_beside(ctx, path, ".", &here));
    DKM_STEP(path_beside(ctx, stored->rows.path, ".", &there));
    if (!is_one_file(here, there))
        DKM_STEP(dkm_fail(
            ctx, DKM_ERR_ARG,
            "%s cannot refer to the factor in %s, which is in another folder: write the new "
            "file beside it, or a copy of the factor",
            path, stored->rows.path));
out:
    DKM_FREE(here);
    DKM_FREE(there);
    return local;
}

dkm_local dkm_krr_factor_store(dkm_krr_factor *f, dkm_ctx *ctx, dkm_factor_storage storage,
                               const char *path)
{
    f->storage = storage;
    if (storage == DKM_FACTOR_REFER && path && f->stored.rows.path)
        return factor_check_reference(&f->stored, ctx, path);
    return DKM_LOCAL_OK;
}

/* Where the rows are in a file that is not the model's: place, count, and the file's length and
 * checksum, by which it is known again, and its name in the folder of the model. */
static dkm_local factor_put_reference(const dkm_krr_factor *f, dkm_archive *archive)
{
    const dkm_matrix_entry *rows = &f->stored.rows;
    const char *name = dkm_path_last_name(rows->path);
    dkm_local local = DKM_LOCAL_OK;
    char *text = NULL;
    int64_t length = 0;
    uint64_t sum = 0;
    dkm_idx capacity = (dkm_idx)strlen(name) + 100;

    if (!dkm_seal_read(rows->path, &length, &sum))
        DKM_STEP(
            dkm_fail(archive->ctx, DKM_ERR_IO, "%s: it has no checksum to know it by", rows->path));
    DKM_STEP(dkm_alloc(archive->ctx, capacity, &text));
    snprintf(text, (size_t)capacity, "%lld %lld %lld %016llx %s", (long long)rows->offset,
             (long long)rows->m, (long long)length, (unsigned long long)sum, name);
    DKM_STEP(dkm_archive_put_text(archive, FILE_OF, text));
out:
    DKM_FREE(text);
    return local;
}

static dkm_local factor_put_gone(const dkm_krr_factor *f, dkm_archive *archive)
{
    dkm_local local = DKM_LOCAL_OK;
    double *rows = NULL;

    DKM_STEP(dkm_alloc(archive->ctx, f->dead, &rows));
    for (dkm_idx k = 0; k < f->dead; k++)
        rows[k] = (double)f->gone[k];
    DKM_STEP(dkm_archive_put_reals(archive, GONE, f->dead, rows));
out:
    DKM_FREE(rows);
    return local;
}

static dkm_local factor_put(dkm_krr_factor *f, dkm_archive *archive)
{
    dkm_local local = DKM_LOCAL_OK;
    int refer = f->storage == DKM_FACTOR_REFER && !f->L;
    dkm_matrix_entry rows = factor_rows(f, refer);

    DKM_STEP(dkm_archive_put_rows(archive, FACTOR, &rows));
    if (refer)
        DKM_STEP(factor_put_reference(f, archive));
    DKM_STEP(dkm_archive_put_real(archive, JITTER, f->jitter));
    DKM_STEP(dkm_archive_put_real(archive, CENTER, f->center));
    DKM_STEP(dkm_archive_borrow_data(archive, dkm_output_names.objects, f->Y));
out:
    return local;
}

dkm_status dkm_krr_factor_to_archive(dkm_krr_factor *f, const dkm_fitted_kernel *fitted,
                                     double gamma, dkm_archive *archive)
{
    dkm_status status = DKM_OK;

    if (f->weights)
        DKM_AGREE(fitted->ctx, dkm_archive_borrow_data(archive, WEIGHTS, f->weights));
    if (f->history)
        DKM_AGREE(fitted->ctx, dkm_archive_borrow_data(archive, HISTORY, f->history));
    if (!f->retained || f->storage == DKM_FACTOR_DROP)
        return DKM_OK;
    DKM_TRY(dkm_krr_factor_open(f, fitted, gamma));
    DKM_AGREE(fitted->ctx, factor_put(f, archive));
    if (f->dead == 0)
        goto out;
    DKM_AGREE(fitted->ctx, factor_put_gone(f, archive));
    DKM_TRY(dkm_fitted_kernel_put_matrix(fitted, archive, BASIS, f->Q));
out:
    return status;
}

static dkm_local factor_check(const dkm_krr_factor *f, dkm_idx m, dkm_ctx *ctx)
{
    dkm_idx n = dkm_krr_factor_order(f);

    if (n - f->dead != m)
        return dkm_fail(ctx, DKM_ERR_FORMAT,
                        "the model's factor is %lld x %lld, and it has %lld inputs", (long long)n,
                        (long long)n, (long long)m);
    if (dkm_data_rows(f->Y) != m)
        return dkm_fail(ctx, DKM_ERR_FORMAT, "the model has %lld inputs and %lld outputs",
                        (long long)m, (long long)dkm_data_rows(f->Y));
    return DKM_LOCAL_OK;
}

/* Ascending numbers of rows of the factor. */
static dkm_local factor_take_gone(dkm_krr_factor *f, dkm_archive *archive)
{
    dkm_local local = DKM_LOCAL_OK;
    const double *rows;
    dkm_idx count = 0, least = 0;

    DKM_STEP(dkm_archive_reals(archive, GONE, &count, &rows));
    DKM_STEP(dkm_alloc(archive->ctx, count, &f->gone));
    for (dkm_idx k = 0; k < count; k++) {
        DKM_STEP(dkm_archive_check_int(archive, GONE, rows[k], least, dkm_krr_factor_order(f) - 1,
                                       &f->gone[k]));
        least = f->gone[k] + 1;
    }
    f->dead = count;
out:
    return local;
}

/* A number from 0 on for each of @p m inputs. */
static dkm_local factor_take_weights(dkm_krr_factor *f, dkm_idx m, dkm_archive *archive)
{
    dkm_local local = DKM_LOCAL_OK;
    const double *w;
    int fit;

    DKM_STEP(dkm_archive_take_rows(archive, WEIGHTS, &f->weights));
    w = dkm_data_values_const(f->weights);
    fit = dkm_data_rows(f->weights) == m && dkm_data_cols(f->weights) == 1;
    for (dkm_idx i = 0; fit && i < dkm_data_local_rows(f->weights); i++)
        fit = w[i] >= 0 && isfinite(w[i]);
    if (!fit)
        local =
            dkm_fail(archive->ctx, DKM_ERR_FORMAT,
                     "the model's weights are no numbers from 0 on for %lld inputs", (long long)m);
out:
    return local;
}

static dkm_local factor_take_stored(dkm_krr_stored *stored, dkm_archive *archive)
{
    dkm_local local = DKM_LOCAL_OK;
    const dkm_matrix_entry *rows;

    DKM_STEP(dkm_archive_rows(archive, FACTOR, &rows));
    if (rows->m != rows->n || !rows->lower ||
        (rows->precision != DKM_F64 && (rows->first > 0 || dkm_archive_find(archive, FILE_OF))))
        DKM_STEP(dkm_fail(archive->ctx, DKM_ERR_FORMAT, "the model's factor is %lld x %lld",
                          (long long)rows->m, (long long)rows->n));
    stored->rows = *rows;
    stored->rows.path = NULL;
    if (rows->path) {
        DKM_STEP(dkm_strdup(archive->ctx, rows->path, &stored->rows.path));
        if (!factor_stamp(rows->path, stored->stamp))
            DKM_FREE(stored->rows.path);
    }
out:
    return local;
}

/* What the model in the file @p model says of the file beside it that has the first @p rows rows; no
 * path where that is not there any more, or the model came from memory. */
static dkm_local factor_take_reference(dkm_krr_stored *stored, dkm_idx rows, const char *model,
                                       dkm_archive *archive)
{
    dkm_local local = DKM_LOCAL_OK;
    const char *text;
    long long offset = -1, count = -1, length = -1;
    unsigned long long sum = 0;
    int64_t now = -1;
    uint64_t sum_now = 0;
    int name = 0;
    char *path = NULL;

    DKM_STEP(dkm_archive_text(archive, FILE_OF, &text));
    stored->rows = (dkm_matrix_entry){.m = rows, .n = rows, .precision = DKM_F64, .lower = 1};
    if (sscanf(text, "%18lld %18lld %18lld %16llx %n", &offset, &count, &length, &sum, &name) !=
            4 ||
        name == 0 || strchr(text, '/') || count != rows || offset < 0 || rows < 1 ||
        rows >= INT32_MAX ||
        offset > length - dkm_matrix_entry_before(&stored->rows, rows) * (dkm_idx)sizeof(double))
        DKM_STEP(dkm_fail(archive->ctx, DKM_ERR_FORMAT,
                          "the model says of its factor '%s', which cannot be", text));
    stored->rows.offset = offset;
    if (!model)
        goto out;
    DKM_STEP(path_beside(archive->ctx, model, text + name, &path));
    if (dkm_seal_read(path, &now, &sum_now) && now == length && sum_now == sum &&
        factor_stamp(path, stored->stamp)) {
        stored->rows.path = path;
        path = NULL;
    }
out:
    DKM_FREE(path);
    return local;
}

/* The rows, all of the model's file, or the first ones of another one. */
static dkm_local factor_take_rows(dkm_krr_factor *f, dkm_archive *archive)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(factor_take_stored(&f->stored, archive));
    if (!dkm_archive_find(archive, FILE_OF)) {
        if (f->stored.rows.first > 0)
            local =
                dkm_fail(archive->ctx, DKM_ERR_FORMAT, "the model's factor begins with row %lld",
                         (long long)f->stored.rows.first);
        return local;
    }
    f->refers = 1;
    f->stored_tail = f->stored;
    f->stored.rows.path = NULL;
    DKM_STEP(factor_take_reference(&f->stored, f->stored_tail.rows.first, f->stored_tail.rows.path,
                                   archive));
    if (f->stored_tail.rows.first == f->stored_tail.rows.m) {
        DKM_FREE(f->stored_tail.rows.path);
        f->stored_tail.rows.m = 0;
    }
out:
    return local;
}

static dkm_local factor_take(dkm_krr_factor *f, dkm_idx m, dkm_archive *archive)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx center = 0;

    if (dkm_archive_find(archive, WEIGHTS))
        DKM_STEP(factor_take_weights(f, m, archive));
    if (dkm_archive_find(archive, HISTORY))
        DKM_STEP(dkm_archive_take_rows(archive, HISTORY, &f->history));
    if (!dkm_archive_find(archive, FACTOR))
        return local;
    DKM_STEP(factor_take_rows(f, archive));
    DKM_STEP(dkm_archive_number(archive, JITTER, 0, HUGE_VAL, &f->jitter));
    DKM_STEP(dkm_archive_count(archive, CENTER, 0, 1, &center));
    f->center = (int)center;
    DKM_STEP(dkm_archive_take_data(archive, dkm_output_names.objects, &f->Y));
    if (dkm_archive_find(archive, GONE))
        DKM_STEP(factor_take_gone(f, archive));
    DKM_STEP(factor_check(f, m, archive->ctx));
    f->retained = 1;
out:
    return local;
}

dkm_status dkm_krr_factor_from_archive(dkm_krr_factor *f, const dkm_fitted_kernel *fitted,
                                       dkm_archive *archive)
{
    dkm_status status = DKM_OK;

    DKM_AGREE(fitted->ctx, factor_take(f, dkm_data_rows(fitted->X), archive));
    if (f->dead > 0)
        DKM_TRY(dkm_fitted_kernel_take_matrix(fitted, archive, BASIS, f->dead,
                                              dkm_krr_factor_order(f), &f->Q));
out:
    return status;
}
