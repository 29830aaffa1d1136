/* Eigenpairs as a finished stage: values and notes are small, the vectors are rows. */
#include "solvers/eigen/eigen_checkpoint.h"

#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "io/checkpoint/checkpointer.h"
#include "solvers/operators/fingerprint.h"

enum { COMPONENTS, WANTED, ROUNDS, PRODUCTS, RESIDUAL, TRACE, EXPLAINED, NEGATIVE, NOTES };

typedef struct pairs {
    dkm_ctx *ctx;
    dkm_idx m;
    double **values, *means;
    dkm_data **vectors;
    dkm_eigen_info *info;
} pairs;

static void eigen_checkpoint_key(const dkm_dmat *K, const dkm_eigen_settings *s,
                                 char stage[DKM_STAGE_LENGTH])
{
    char print[DKM_FINGERPRINT_LENGTH];

    dkm_fingerprint_lower(K, print);
    snprintf(stage, DKM_STAGE_LENGTH,
             "eigen m=%lld p=%lld share=%.17g center=%d tolerance=%g cutoff=%g solver=%d K=%s",
             (long long)dkm_dmat_rows(K), (long long)s->components, s->share, s->center,
             s->tolerance, s->cutoff, (int)s->solver, print);
}

static dkm_local eigen_fill_state(const pairs *e, dkm_archive *state)
{
    dkm_local local = DKM_LOCAL_OK;
    const dkm_eigen_info *i = e->info;
    double notes[NOTES] = {
        [COMPONENTS] = (double)i->components, [WANTED] = (double)i->wanted, [ROUNDS] = i->rounds,
        [PRODUCTS] = (double)i->products,     [RESIDUAL] = i->residual,     [TRACE] = i->trace,
        [EXPLAINED] = i->explained,           [NEGATIVE] = i->negative};
    dkm_matrix_entry rows = {.m = e->m,
                             .n = i->components,
                             .slab = dkm_data_values_const(*e->vectors),
                             .ld = i->components};

    DKM_STEP(dkm_archive_put_reals(state, "notes", NOTES, notes));
    DKM_STEP(dkm_archive_put_text(state, "solver", i->solver));
    DKM_STEP(dkm_archive_put_reals(state, "eigenvalues", i->components, *e->values));
    if (e->means)
        DKM_STEP(dkm_archive_put_reals(state, "means", e->m, e->means));
    DKM_STEP(dkm_archive_put_rows(state, "vectors", &rows));
out:
    return local;
}

static dkm_status eigen_save_pairs(const pairs *e, const char *stage)
{
    dkm_status status = DKM_OK;
    dkm_archive state = dkm_archive_empty(e->ctx);

    if (!dkm_checkpointer_due(e->ctx, 8.0 * (double)e->m * (double)e->info->components, 1))
        return DKM_OK;
    DKM_AGREE(e->ctx, eigen_fill_state(e, &state));
    DKM_TRY(dkm_checkpointer_save(e->ctx, stage, &state));
out:
    dkm_archive_clear(&state);
    return status;
}

/* One of the names that outlive the file. */
static const char *eigen_solver_name(const char *name)
{
    return strcmp(name, "elpa") == 0 ? "elpa" : strcmp(name, "block") == 0 ? "block" : "scalapack";
}

static const int wholes[] = {COMPONENTS, WANTED, ROUNDS, PRODUCTS};

static dkm_local eigen_read_meta(const dkm_archive *state, dkm_eigen_info *i)
{
    dkm_local local = DKM_LOCAL_OK;
    const double *notes = NULL;
    const char *solver = NULL;
    dkm_idx count = 0, whole[NEGATIVE + 1] = {0};

    DKM_STEP(dkm_archive_reals(state, "notes", &count, &notes));
    DKM_STEP(dkm_archive_text(state, "solver", &solver));
    if (count != NOTES)
        DKM_STEP(dkm_fail(state->ctx, DKM_ERR_FORMAT, "a checkpoint of eigenpairs with %lld notes",
                          (long long)count));
    for (size_t k = 0; k < sizeof wholes / sizeof *wholes; k++)
        DKM_STEP(dkm_archive_whole(state, "notes", notes[wholes[k]], 0,
                                   wholes[k] == ROUNDS ? INT32_MAX : INT64_MAX, &whole[wholes[k]]));
    *i = (dkm_eigen_info){.components = whole[COMPONENTS],
                          .wanted = whole[WANTED],
                          .solver = eigen_solver_name(solver),
                          .rounds = (int)whole[ROUNDS],
                          .products = whole[PRODUCTS],
                          .residual = notes[RESIDUAL],
                          .trace = notes[TRACE],
                          .explained = notes[EXPLAINED],
                          .negative = notes[NEGATIVE]};
out:
    return local;
}

/* A copy of @p count numbers of a part. */
static dkm_local eigen_copy_values(const dkm_archive *state, const char *name, dkm_idx count,
                                   double *to)
{
    dkm_local local = DKM_LOCAL_OK;
    const double *kept = NULL;
    dkm_idx found = 0;

    DKM_STEP(dkm_archive_reals(state, name, &found, &kept));
    if (found != count)
        DKM_STEP(dkm_fail(state->ctx, DKM_ERR_FORMAT, "a checkpoint of %lld %s, not %lld",
                          (long long)found, name, (long long)count));
    memcpy(to, kept, (size_t)count * sizeof *to);
out:
    return local;
}

static dkm_local eigen_read_values(const pairs *e, const dkm_archive *state)
{
    dkm_local local = DKM_LOCAL_OK;
    const double *values = NULL;

    DKM_STEP(eigen_read_meta(state, e->info));
    DKM_STEP(dkm_archive_numbers(state, "eigenvalues", e->info->components, &values));
    DKM_STEP(dkm_alloc(e->ctx, e->info->components, e->values));
    DKM_STEP(eigen_copy_values(state, "eigenvalues", e->info->components, *e->values));
    if (e->means)
        DKM_STEP(eigen_copy_values(state, "means", e->m, e->means));
out:
    return local;
}

static dkm_local eigen_read_vectors(const pairs *e, const dkm_archive *state)
{
    dkm_local local = DKM_LOCAL_OK;
    const dkm_matrix_entry *rows = NULL;
    dkm_idx p = e->info->components;

    DKM_STEP(dkm_archive_rows(state, "vectors", &rows));
    if (rows->m != e->m)
        DKM_STEP(dkm_fail(e->ctx, DKM_ERR_FORMAT, "%s: vectors of %lld rows, not %lld", rows->path,
                          (long long)rows->m, (long long)e->m));
    DKM_STEP(dkm_matrix_entry_read_slab(e->ctx, rows, p, p, dkm_data_values(*e->vectors)));
out:
    return local;
}

static dkm_status eigen_restore_pairs(const pairs *e, const char *stage, int *found)
{
    dkm_status status = DKM_OK;
    dkm_archive state;

    DKM_TRY(dkm_checkpointer_load(e->ctx, stage, &state, found));
    if (!*found)
        goto out;
    DKM_AGREE(e->ctx, eigen_read_values(e, &state));
    DKM_TRY(dkm_data_create_dense(e->ctx, e->m, e->info->components, e->vectors));
    DKM_AGREE(e->ctx, eigen_read_vectors(e, &state));
out:
    dkm_archive_clear(&state);
    return status;
}

dkm_status dkm_eigen_leading(dkm_dmat *K, const dkm_eigen_settings *settings, double **values,
                             dkm_data **vectors, double *means, dkm_eigen_info *info)
{
    dkm_status status = DKM_OK;
    dkm_eigen_info own = {0};
    pairs e = {dkm_grid_ctx(dkm_dmat_grid(K)), dkm_dmat_rows(K), values, means, vectors, &own};
    char stage[DKM_STAGE_LENGTH];
    int found = 0;

    *values = NULL;
    *vectors = NULL;
    eigen_checkpoint_key(K, settings, stage);
    DKM_TRY(eigen_restore_pairs(&e, stage, &found));
    if (!found) {
        DKM_TRY(dkm_eigen_compute(K, settings, values, vectors, means, &own));
        DKM_TRY(eigen_save_pairs(&e, stage));
    }
    if (info)
        *info = own;
out:
    if (status != DKM_OK) {
        dkm_eigen_values_free(values);
        dkm_data_destroy(vectors);
    }
    return status;
}
