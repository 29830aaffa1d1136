/* What the formulations share: numbers per constraint, pruning by age, and the restricted
 * quadratic program (solvers/qp). Replicated: right-hand side, multiplier and age of every
 * constraint. */
#include "models/jkm/constraint_set.h"

#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "io/checkpoint/state_table.h"
#include "solvers/qp/qp_checkpoint.h"

void dkm_constraint_set_init(dkm_constraint_set *set, dkm_joint_map *map,
                             const dkm_separation_oracle *oracle, const dkm_jkm_settings *settings)
{
    set->ctx = map->fitted.ctx;
    set->map = map;
    set->oracle = oracle;
    set->settings = settings;
    set->qp = dkm_qp_empty(set->ctx);
}

void dkm_constraint_set_destroy(dkm_constraint_set **set)
{
    dkm_constraint_set *s = *set;

    if (!s)
        return;
    s->ops->clear(s);
    dkm_constraint_set_saved(s);
    DKM_FREE(s->age);
    DKM_FREE(s->b);
    DKM_FREE(s->a);
    dkm_qp_clear(&s->qp);
    DKM_FREE(*set);
}

double dkm_constraint_set_margin(const dkm_constraint_set *set)
{
    return set->oracle->margin * (set->settings->threshold ? 0.5 : 1);
}

dkm_local dkm_constraint_set_reserve(dkm_constraint_set *set, dkm_idx count)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx n = set->n + count;

    if (n > set->capacity) {
        set->capacity = n + n / 2;
        DKM_STEP(dkm_realloc(set->ctx, set->capacity, &set->age));
        DKM_STEP(dkm_realloc(set->ctx, set->capacity, &set->b));
        DKM_STEP(dkm_realloc(set->ctx, set->capacity, &set->a));
    }
    if (dkm_ctx_rank(set->ctx) == 0)
        DKM_STEP(dkm_qp_grow(&set->qp, count));
out:
    return local;
}

void dkm_constraint_set_begin(dkm_constraint_set *set, dkm_idx c, double b)
{
    set->b[c] = b;
    set->a[c] = 0;
    set->age[c] = 0;
    if (dkm_ctx_rank(set->ctx) != 0)
        return;
    set->qp.b[c] = b;
    set->qp.group[c] = set->ops->slack_of(set, c);
}

void dkm_constraint_set_publish(dkm_constraint_set *set, dkm_qp_info *info)
{
    MPI_Comm comm = dkm_ctx_comm(set->ctx);

    if (dkm_ctx_rank(set->ctx) == 0 && set->n > 0)
        memcpy(set->a, set->qp.a, (size_t)set->n * sizeof *set->a);
    MPI_Bcast(set->a, (int)set->n, MPI_DOUBLE, 0, comm);
    MPI_Bcast(info, (int)sizeof *info, MPI_BYTE, 0, comm);
}

static dkm_local solve_one_slack(dkm_constraint_set *set, dkm_qp_target target, dkm_qp_info *info)
{
    if (dkm_ctx_rank(set->ctx) != 0)
        return DKM_LOCAL_OK;
    return dkm_qp_smo(&set->qp, set->settings->C, target, info);
}

/* What the QP leaves undone costs at most C times its tolerance: a small share of the objective. */
dkm_status dkm_constraint_set_solve_one_slack(dkm_constraint_set *set, double objective, double gap,
                                              dkm_qp_info *info)
{
    dkm_status status = DKM_OK;
    double accuracy = DKM_QP_ACCURACY * set->settings->tolerance;
    dkm_qp_target target = {accuracy * objective / set->settings->C, gap};

    DKM_AGREE(set->ctx, solve_one_slack(set, target, info));
    dkm_constraint_set_publish(set, info);
out:
    return status;
}

dkm_status dkm_constraint_set_solve(dkm_constraint_set *set, double objective, double gap,
                                    dkm_qp_info *info)
{
    dkm_status status = DKM_OK;

    dkm_phase_begin(set->ctx, "program");
    DKM_TRY(set->ops->solve(set, objective, gap, info));
    for (dkm_idx c = 0; c < set->n; c++)
        set->age[c] = set->a[c] > 0 ? 0 : set->age[c] + 1;
out:
    dkm_phase_end(set->ctx);
    return status;
}

dkm_status dkm_constraint_set_prune(dkm_constraint_set *set, dkm_idx age)
{
    dkm_status status = DKM_OK;
    dkm_idx n_kept = 0;
    char *keep = NULL;

    DKM_AGREE(set->ctx, dkm_alloc(set->ctx, set->n, &keep));
    for (dkm_idx c = 0; c < set->n; c++) {
        keep[c] = set->age[c] < age;
        n_kept += keep[c];
    }
    if (n_kept == set->n)
        goto out;
    if (dkm_ctx_rank(set->ctx) == 0)
        dkm_qp_keep(&set->qp, keep);
    set->ops->keep(set, keep);
    n_kept = 0;
    for (dkm_idx c = 0; c < set->n; c++) {
        if (!keep[c])
            continue;
        set->age[n_kept] = set->age[c];
        set->b[n_kept] = set->b[c];
        set->a[n_kept++] = set->a[c];
    }
    set->n = n_kept;
out:
    DKM_FREE(keep);
    return status;
}

void dkm_constraint_set_rescale(dkm_constraint_set *set, double ratio)
{
    set->threshold *= ratio;
    for (dkm_idx c = 0; c < set->n; c++) {
        set->b[c] *= ratio;
        set->a[c] *= ratio;
        if (dkm_ctx_rank(set->ctx) == 0) {
            set->qp.b[c] *= ratio;
            set->qp.a[c] *= ratio;
        }
    }
}

double dkm_constraint_set_squared_norm(const dkm_constraint_set *set, double objective)
{
    double sum = 0;

    for (dkm_idx c = 0; c < set->n; c++)
        sum += set->a[c] * set->b[c];
    return 2 * (sum - objective);
}

double dkm_constraint_set_total(const dkm_constraint_set *set)
{
    double sum = 0;

    for (dkm_idx c = 0; c < set->n; c++)
        sum += set->a[c];
    return sum;
}

double dkm_constraint_set_largest_budget(const dkm_constraint_set *set)
{
    double most = 0;

    for (dkm_idx c = 0; c < set->n; c++) {
        double sum = 0;
        for (dkm_idx d = 0; d < set->n; d++)
            sum += set->ops->slack_of(set, d) == set->ops->slack_of(set, c) ? set->a[d] : 0;
        most = fmax(most, sum);
    }
    return most;
}

/* What the state of every formulation has; n comes first, as arrays depend on it. */
#define SIZE_FIELDS(set) DKM_STATE_ONE("constraints", DKM_STATE_COUNT, &(set)->n)
#define BASE_FIELDS(set)                                                                           \
    DKM_STATE_ONE("threshold", DKM_STATE_REAL, &(set)->threshold),                                 \
        DKM_STATE_ARRAY("age", DKM_STATE_COUNT, (set)->age, (set)->n),                             \
        DKM_STATE_ARRAY("b", DKM_STATE_REAL, (set)->b, (set)->n),                                  \
        DKM_STATE_ARRAY("a", DKM_STATE_REAL, (set)->a, (set)->n)

dkm_status dkm_constraint_set_save(dkm_constraint_set *set, dkm_archive *state)
{
    dkm_status status = DKM_OK;
    dkm_state_field fields[] = {SIZE_FIELDS(set), BASE_FIELDS(set)};

    DKM_AGREE(set->ctx, dkm_state_put(state, DKM_STATE_TABLE(fields)));
    DKM_TRY(set->ops->save(set, state, &set->lent[0]));
    DKM_TRY(dkm_qp_save(&set->qp, set->distributed, set->n, state, &set->lent[1]));
out:
    return status;
}

void dkm_constraint_set_saved(dkm_constraint_set *set)
{
    DKM_FREE(set->lent[0]);
    DKM_FREE(set->lent[1]);
}

/* Memory for the constraints of a state, which has as many ages. */
static dkm_local allocate_base(dkm_constraint_set *set, const dkm_archive *state, dkm_idx n)
{
    dkm_local local = DKM_LOCAL_OK;
    const double *ages = NULL;
    dkm_idx count = 0;

    DKM_STEP(dkm_archive_reals(state, "age", &count, &ages));
    set->n = count == n ? n : 0;
    if (count != n)
        DKM_STEP(dkm_fail(set->ctx, DKM_ERR_FORMAT,
                          "a checkpoint of %lld constraints and %lld ages", (long long)n,
                          (long long)count));
    DKM_STEP(dkm_alloc(set->ctx, n, &set->age));
    DKM_STEP(dkm_alloc(set->ctx, n, &set->b));
    DKM_STEP(dkm_alloc(set->ctx, n, &set->a));
    set->capacity = n;
out:
    return local;
}

dkm_status dkm_constraint_set_load(dkm_constraint_set *set, const dkm_archive *state)
{
    dkm_status status = DKM_OK;
    dkm_state_field size[] = {SIZE_FIELDS(set)};

    DKM_TRY(dkm_state_get(state, DKM_STATE_TABLE(size)));
    DKM_AGREE(set->ctx, allocate_base(set, state, set->n));
    dkm_state_field fields[] = {BASE_FIELDS(set)};
    DKM_TRY(dkm_state_get(state, DKM_STATE_TABLE(fields)));
    DKM_TRY(set->ops->load(set, state));
    DKM_TRY(dkm_qp_restore(&set->qp, set->distributed, set->n, state));
    for (dkm_idx c = 0; dkm_ctx_rank(set->ctx) == 0 && c < set->n; c++) {
        set->qp.b[c] = set->b[c];
        set->qp.a[c] = set->a[c];
        set->qp.group[c] = set->ops->slack_of(set, c);
    }
out:
    return status;
}
