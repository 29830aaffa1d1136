/* The factor of a model in dual form: retained by a fit, written with the model, read when needed.
 *
 * Cost of reading: m^2 / 2 numbers from the file, each rank its share of the rows, and m^2 / (2
 * ranks) words sent to where they belong (matrix/redistribute.c). Held per rank: m^2 / ranks
 * numbers. Nothing is replicated. */
#include "models/krr/krr_factor.h"

#include <math.h>
#include <sys/stat.h>

#include "core/alloc.h"
#include "solvers/ridge/shifted_cholesky.h"

#define FACTOR        "factor"
#define JITTER        "factor_jitter"
#define CENTER        "centered"
#define HISTORY       "history"
#define WEIGHTS       "example_weights"
#define MEMORY_MARGIN 1.1 /* of the matrix's bytes: panels, buffers, vectors */

void dkm_krr_factor_clear(dkm_krr_factor *f)
{
    dkm_dmat_destroy(&f->L);
    dkm_data_destroy(&f->Y);
    dkm_data_destroy(&f->history);
    dkm_data_destroy(&f->weights);
    dkm_example_weights_close(&f->roots);
    DKM_FREE(f->stored.path);
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

dkm_status dkm_krr_factor_solve(dkm_krr_factor *f, const dkm_fitted_kernel *fitted, double gamma,
                                const dkm_dmat *T, const dkm_data *Y, dkm_dmat **B,
                                dkm_ridge_info *info)
{
    dkm_status status = DKM_OK;

    *B = NULL;
    DKM_TRY(factor_check_memory(fitted));
    dkm_dmat_destroy(&f->L);
    DKM_TRY(dkm_gram(fitted->grid, fitted->kernel, fitted->prepared, fitted->nb, DKM_F64, &f->L));
    DKM_TRY(dkm_ridge_solve(f->L, gamma, T, B, info));
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

/* Whether the file that the model came from is still there, on all ranks. Collective. */
static int factor_is_there(const dkm_krr_factor *f, dkm_ctx *ctx)
{
    int64_t now[3];
    int there = f->stored.path && factor_stamp(f->stored.path, now) && now[0] == f->stamp[0] &&
                now[1] == f->stamp[1] && now[2] == f->stamp[2];

    MPI_Allreduce(MPI_IN_PLACE, &there, 1, MPI_INT, MPI_MIN, dkm_ctx_comm(ctx));
    return there;
}

static dkm_status factor_read(dkm_krr_factor *f, const dkm_fitted_kernel *fitted)
{
    dkm_status status = DKM_OK;
    dkm_idx m = dkm_data_rows(fitted->X);

    dkm_phase_begin(fitted->ctx, "read factor");
    DKM_TRY(dkm_dmat_create(fitted->grid, m, m, fitted->nb, fitted->nb, DKM_F64, &f->L));
    DKM_TRY(dkm_matrix_entry_read_matrix(&f->stored, f->L));
out:
    if (status != DKM_OK)
        dkm_dmat_destroy(&f->L);
    dkm_phase_end(fitted->ctx);
    return status;
}

dkm_status dkm_krr_factor_open(dkm_krr_factor *f, const dkm_fitted_kernel *fitted, double gamma)
{
    dkm_status status = DKM_OK;

    DKM_TRY(factor_open_roots(f));
    if (f->L)
        return DKM_OK;
    DKM_TRY(factor_check_memory(fitted));
    if (factor_is_there(f, fitted->ctx))
        DKM_TRY(factor_read(f, fitted));
    else
        DKM_TRY(factor_compute(f, fitted, gamma));
out:
    return status;
}

static dkm_local factor_put(dkm_krr_factor *f, dkm_archive *archive)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_matrix_entry rows = dkm_matrix_entry_lower(f->L);

    DKM_STEP(dkm_archive_put_rows(archive, FACTOR, &rows));
    DKM_STEP(dkm_archive_put_real(archive, JITTER, f->jitter));
    DKM_STEP(dkm_archive_put_real(archive, CENTER, f->center));
    DKM_STEP(dkm_archive_borrow_data(archive, dkm_output_names.objects, f->Y));
    if (f->history)
        DKM_STEP(dkm_archive_borrow_data(archive, HISTORY, f->history));
out:
    return local;
}

dkm_status dkm_krr_factor_to_archive(dkm_krr_factor *f, const dkm_fitted_kernel *fitted,
                                     double gamma, dkm_archive *archive)
{
    dkm_status status = DKM_OK;

    if (f->weights)
        DKM_AGREE(fitted->ctx, dkm_archive_borrow_data(archive, WEIGHTS, f->weights));
    if (!f->retained)
        return DKM_OK;
    DKM_TRY(dkm_krr_factor_open(f, fitted, gamma));
    DKM_AGREE(fitted->ctx, factor_put(f, archive));
out:
    return status;
}

static dkm_local factor_check(const dkm_krr_factor *f, dkm_idx m, dkm_ctx *ctx)
{
    const dkm_matrix_entry *part = &f->stored;

    if (part->m != m || part->n != m || !part->lower || part->precision != DKM_F64)
        return dkm_fail(ctx, DKM_ERR_FORMAT,
                        "the model's factor is %lld x %lld, and it has %lld inputs",
                        (long long)part->m, (long long)part->n, (long long)m);
    if (dkm_data_rows(f->Y) != m)
        return dkm_fail(ctx, DKM_ERR_FORMAT, "the model has %lld inputs and %lld outputs",
                        (long long)m, (long long)dkm_data_rows(f->Y));
    return DKM_LOCAL_OK;
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

dkm_local dkm_krr_factor_from_archive(dkm_krr_factor *f, dkm_idx m, dkm_archive *archive)
{
    dkm_local local = DKM_LOCAL_OK;
    const dkm_matrix_entry *rows;
    dkm_idx center = 0;

    if (dkm_archive_find(archive, WEIGHTS))
        DKM_STEP(factor_take_weights(f, m, archive));
    if (!dkm_archive_find(archive, FACTOR))
        return local;
    DKM_STEP(dkm_archive_rows(archive, FACTOR, &rows));
    f->stored = *rows;
    f->stored.path = NULL;
    if (rows->path) {
        DKM_STEP(dkm_strdup(archive->ctx, rows->path, &f->stored.path));
        if (!factor_stamp(rows->path, f->stamp))
            DKM_FREE(f->stored.path);
    }
    DKM_STEP(dkm_archive_number(archive, JITTER, 0, HUGE_VAL, &f->jitter));
    DKM_STEP(dkm_archive_count(archive, CENTER, 0, 1, &center));
    f->center = (int)center;
    DKM_STEP(dkm_archive_take_data(archive, dkm_output_names.objects, &f->Y));
    if (dkm_archive_find(archive, HISTORY))
        DKM_STEP(dkm_archive_take_rows(archive, HISTORY, &f->history));
    DKM_STEP(factor_check(f, m, archive->ctx));
    f->retained = 1;
out:
    return local;
}
