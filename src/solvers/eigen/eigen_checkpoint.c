/* Eigenpairs as a finished stage. */
#include "solvers/eigen/eigen_checkpoint.h"

#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "io/checkpoint/checkpointer.h"
#include "solvers/operators/fingerprint.h"

#define INFO_FIELDS   9
#define RESULT_FIELDS 3

/* The names that an info may have. */
static const char *const solvers[] = {"scalapack", "elpa", "block"};

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

static void list_info(const pairs *e, int *solver, dkm_state_field fields[INFO_FIELDS])
{
    dkm_eigen_info *i = e->info;
    const dkm_state_field all[INFO_FIELDS] = {
        DKM_STATE_ONE("components", DKM_STATE_COUNT, &i->components),
        DKM_STATE_ONE("wanted", DKM_STATE_COUNT, &i->wanted),
        DKM_STATE_ONE("rounds", DKM_STATE_INT, &i->rounds),
        DKM_STATE_ONE("products", DKM_STATE_COUNT, &i->products),
        DKM_STATE_ONE("residual", DKM_STATE_REAL, &i->residual),
        DKM_STATE_ONE("trace", DKM_STATE_REAL, &i->trace),
        DKM_STATE_ONE("explained", DKM_STATE_REAL, &i->explained),
        DKM_STATE_ONE("negative", DKM_STATE_REAL, &i->negative),
        DKM_STATE_ONE("solver", DKM_STATE_INT, solver)};

    memcpy(fields, all, sizeof all);
}

/* Values, vectors and, where they are wanted, means. Returns how many there are. */
static dkm_idx list_results(const pairs *e, dkm_state_field fields[RESULT_FIELDS])
{
    dkm_idx p = e->info->components;
    const dkm_state_field all[RESULT_FIELDS] = {
        DKM_STATE_ARRAY("eigenvalues", DKM_STATE_REAL, *e->values, p),
        DKM_STATE_SLAB("vectors", dkm_data_values(*e->vectors), e->m, p),
        DKM_STATE_ARRAY("means", DKM_STATE_REAL, e->means, e->m)};

    memcpy(fields, all, sizeof all);
    return e->means ? RESULT_FIELDS : RESULT_FIELDS - 1;
}

static dkm_status eigen_save_pairs(const pairs *e, const char *stage)
{
    dkm_state_field fields[INFO_FIELDS + RESULT_FIELDS];
    dkm_idx count = list_results(e, fields + INFO_FIELDS);
    int solver = 0, names = sizeof solvers / sizeof *solvers;

    for (int k = 0; k < names; k++)
        solver = strcmp(e->info->solver, solvers[k]) == 0 ? k : solver;
    list_info(e, &solver, fields);
    if (!dkm_checkpointer_due(e->ctx, dkm_state_bytes(INFO_FIELDS + count, fields), 1))
        return DKM_OK;
    return dkm_checkpointer_save_table(e->ctx, stage, INFO_FIELDS + count, fields);
}

static dkm_local check_info(const pairs *e, int solver)
{
    if (solver >= (int)(sizeof solvers / sizeof *solvers))
        return dkm_fail(e->ctx, DKM_ERR_FORMAT, "a checkpoint of eigenpairs by solver %d", solver);
    if (e->info->components > e->m)
        return dkm_fail(e->ctx, DKM_ERR_FORMAT,
                        "a checkpoint with %lld eigenpairs of a matrix of order %lld",
                        (long long)e->info->components, (long long)e->m);
    return DKM_LOCAL_OK;
}

static dkm_status eigen_restore_pairs(const pairs *e, const char *stage, int *found)
{
    dkm_status status = DKM_OK;
    dkm_state_field info[INFO_FIELDS], results[RESULT_FIELDS];
    dkm_archive state;
    dkm_idx count;
    int solver = 0;

    DKM_TRY(dkm_checkpointer_load(e->ctx, stage, &state, found));
    if (!*found)
        goto out;
    list_info(e, &solver, info);
    DKM_TRY(dkm_state_get(&state, DKM_STATE_TABLE(info)));
    DKM_AGREE(e->ctx, check_info(e, solver));
    e->info->solver = solvers[solver];
    DKM_AGREE(e->ctx, dkm_alloc(e->ctx, e->info->components, e->values));
    DKM_TRY(dkm_data_create_dense(e->ctx, e->m, e->info->components, e->vectors));
    count = list_results(e, results);
    DKM_TRY(dkm_state_get(&state, count, results));
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
