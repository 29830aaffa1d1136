/* Joint kernel maps (Weston, Schoelkopf and Bousquet 2005, IWANN, LNCS 3512:176-191,
 * doi:10.1007/11494669_23), fit: the output space and the joint feature map are opened, the
 * cutting-plane loop (cutting_plane.c) finds the weight vector, and examples without a share in
 * it are dropped. Costs are those of cutting_plane.c and joint_map.c. */
#include <dkmap/jkm.h>

#include <string.h>

#include "core/alloc.h"
#include "core/minmax.h"
#include "io/checkpoint/checkpointer.h"
#include "models/common/method_parts.h"
#include "models/jkm/chain/chain.h"
#include "models/jkm/cutting_plane.h"
#include "models/jkm/jkm_impl.h"
#include "models/jkm/one_slack_scores.h"

dkm_jkm_settings dkm_jkm_settings_default(void)
{
    return (dkm_jkm_settings){
        .epsilon = -1, .tolerance = 1e-3, .rounds = 1000, .sequence_column = -1};
}

static dkm_local check_margin(dkm_ctx *ctx, const dkm_jkm_settings *s)
{
    if (s->anneal != 0 && !(s->anneal > s->epsilon && s->epsilon > 0))
        return dkm_fail(ctx, DKM_ERR_ARG,
                        "an annealed epsilon begins above the one it ends at, which is above 0: %g "
                        "and %g do not do",
                        s->anneal, s->epsilon);
    if (!(s->C >= 0))
        return dkm_fail(ctx, DKM_ERR_ARG, "C = %g: it must be greater than 0", s->C);
    if (!(s->tolerance > 0 && s->tolerance < 1))
        return dkm_fail(ctx, DKM_ERR_ARG,
                        "tolerance = %g: a share of the margin greater than 0 and less than 1 is "
                        "wanted",
                        s->tolerance);
    return DKM_LOCAL_OK;
}

static dkm_local jkm_check_fit(dkm_ctx *ctx, const dkm_data *X, const dkm_data *Y,
                               const dkm_jkm_settings *s)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_check_examples(ctx, dkm_data_rows(X), Y));
    DKM_STEP(check_margin(ctx, s));
    if (s->C == 0 && (s->rescale != DKM_JKM_PLAIN || s->slacks == DKM_JKM_SLACKS_ONE))
        return dkm_fail(ctx, DKM_ERR_ARG,
                        "slacks are rescaled, or shared, where there is a C only");
    if (s->weights && s->C == 0)
        return dkm_fail(ctx, DKM_ERR_UNSUPPORTED, "--weights are what slacks cost: give --C");
    if (s->anneal != 0 && s->oracle.find)
        return dkm_fail(
            ctx, DKM_ERR_UNSUPPORTED,
            "an annealed epsilon does not go with a user's oracle, which sets margins of "
            "its own");
    if (s->threshold && (s->rescale != DKM_JKM_PLAIN || s->slacks == DKM_JKM_SLACKS_ONE))
        return dkm_fail(ctx, DKM_ERR_UNSUPPORTED,
                        "with a threshold slacks are neither rescaled nor shared");
out:
    return local;
}

/* Examples whose row of the weight vector is not zero, on every rank. */
static dkm_status jkm_find_support(const dkm_jkm *s, const double *U, dkm_idx *count, dkm_idx *rows)
{
    dkm_status status = DKM_OK;
    dkm_idx m = s->map.m, r = s->map.r, n = dkm_data_local_rows(s->map.fitted.X);
    char *used = NULL;

    DKM_AGREE(s->ctx, dkm_calloc(s->ctx, m, &used));
    for (dkm_idx k = 0; k < n * r; k++)
        if (U[k] != 0)
            used[dkm_data_local_first(s->map.fitted.X) + k / r] = 1;
    MPI_Allreduce(MPI_IN_PLACE, used, (int)m, MPI_SIGNED_CHAR, MPI_MAX, dkm_ctx_comm(s->ctx));
    *count = 0;
    for (dkm_idx i = 0; i < m; i++)
        if (used[i])
            rows[(*count)++] = i;
out:
    DKM_FREE(used);
    return status;
}

/* Can inputs be dropped without changing the kernel of the others? */
static int can_drop(const dkm_jkm *s)
{
    dkm_type type = dkm_data_type(s->map.fitted.X);

    return (type == DKM_DENSE || type == DKM_SPARSE) && !strstr(s->kx, "rownorm");
}

/* The weight vector as rows, and the inputs that have one. */
static dkm_status jkm_keep_support(dkm_jkm *s, const dkm_joint *joint,
                                   const dkm_joint_kernels *kernels, const double *U,
                                   const dkm_layout *layout)
{
    dkm_status status = DKM_OK;
    dkm_data *all = NULL, *X = NULL;
    dkm_idx m = s->map.m, r = s->map.r, count = m, *rows = NULL;
    dkm_joint_map small = {0};

    DKM_TRY(dkm_data_create_dense(s->ctx, m, r, &all));
    memcpy(dkm_data_values(all), U, (size_t)(dkm_data_local_rows(all) * r) * sizeof *U);
    DKM_AGREE(s->ctx, dkm_alloc(s->ctx, m, &rows));
    if (can_drop(s))
        DKM_TRY(jkm_find_support(s, U, &count, rows));
    if (count == m || count == 0) {
        s->U = all;
        all = NULL;
        goto out;
    }
    DKM_TRY(dkm_data_select(all, count, rows, &s->U));
    DKM_TRY(dkm_data_select(s->map.fitted.X, count, rows, &X));
    dkm_joint_map_close(&s->map);
    status = dkm_joint_map_open(&small, X, joint, kernels, s->space.positions, r, layout);
    s->map = small;
    if (status == DKM_OK)
        DKM_TRY(dkm_fitted_kernel_set_indices(&s->map.fitted, rows));
out:
    DKM_FREE(rows);
    dkm_data_destroy(&X);
    dkm_data_destroy(&all);
    return status;
}

/* One slack for all goes with finite sets; with many examples it is the way to go. */
static dkm_local choose_slacks(const dkm_jkm *s, dkm_jkm_settings *settings)
{
    int able = s->space.count > 0 && !settings->oracle.find &&
               settings->rescale != DKM_JKM_RESCALE_SLACK && !settings->threshold;
    dkm_idx most = s->space.classes.classes ? DKM_JKM_CLASSES_MOST : DKM_JKM_CANDIDATES_MOST;

    if (settings->slacks == DKM_JKM_SLACKS_ONE && !able)
        return dkm_fail(s->ctx, DKM_ERR_UNSUPPORTED,
                        "one slack for all goes with candidates, and with slacks that are not "
                        "rescaled");
    if (settings->slacks == DKM_JKM_SLACKS_AUTO)
        settings->slacks =
            settings->C > 0 && able && s->map.m > most ? DKM_JKM_SLACKS_ONE : DKM_JKM_SLACKS_EACH;
    return DKM_LOCAL_OK;
}

/* One slack for all takes a product with the kernel matrix per round, and nothing else of it. */
static dkm_status jkm_train_map(dkm_jkm *s, const dkm_jkm_settings *settings)
{
    dkm_joint_map_load load = {.row_bytes = dkm_one_slack_row_bytes(&s->map, &s->space, settings),
                               .products =
                                   (double)dkm_idx_min(settings->rounds, DKM_JKM_ROUNDS_EXPECTED)};

    return dkm_joint_map_train(&s->map, settings->slacks == DKM_JKM_SLACKS_ONE ? &load : NULL,
                               &settings->layout);
}

static dkm_status jkm_learn(dkm_jkm *s, const dkm_data *X, const dkm_data *Y,
                            const dkm_joint *joint, dkm_jkm_settings *settings, dkm_jkm_info *info)
{
    dkm_status status = DKM_OK;
    dkm_joint_kernels kernels = {0};
    dkm_separation_oracle oracle = {0};
    dkm_cutting_plane loop = {0};
    dkm_idx m = dkm_data_rows(X);
    int span;

    DKM_AGREE(s->ctx, dkm_joint_resolve(joint, s->kx, s->ky, &kernels));
    span =
        dkm_joint_diagonal(joint) == 0 && dkm_joint_identity(joint) == 0 && !settings->oracle.find;
    for (dkm_idx k = 0; k < joint->terms; k++)
        span = span && !dkm_joint_is_patch(&joint->term[k]);
    DKM_TRY(dkm_output_space_open(&s->space, Y, kernels.ky, span, settings));
    DKM_TRY(dkm_joint_map_open(&s->map, X, joint, &kernels, s->space.positions, s->space.r,
                               &settings->layout));
    DKM_AGREE(s->ctx, choose_slacks(s, settings));
    DKM_TRY(jkm_train_map(s, settings));
    DKM_REQUIRE(s->ctx,
                !settings->threshold || s->space.kind != DKM_JKM_FREE || settings->oracle.find,
                DKM_ERR_UNSUPPORTED,
                "a threshold goes with outputs on the sphere and with candidates: free ones have "
                "scores above any");
    DKM_TRY(dkm_separation_oracle_open(&oracle, &s->space, m, settings));
    DKM_TRY(dkm_cutting_plane_run(&loop, &s->map, &oracle, settings,
                                  dkm_checkpointer_fingerprint(s->map.fitted.X, joint->text) +
                                      3 * dkm_checkpointer_fingerprint(Y, "")));
    s->epsilon = settings->epsilon;
    s->threshold = loop.info.threshold;
    *info = loop.info;
    info->m = m;
    info->r = s->space.r;
    info->candidates = s->space.count;
    info->outputs = settings->oracle.find ? "oracle" : dkm_output_space_name(&s->space);
    info->slacks = settings->C == 0 ? "none" : loop.constraints->ops->name;
    DKM_TRY(dkm_output_space_set_lists(&s->space, NULL)); /* they are of the training inputs */
    DKM_TRY(jkm_keep_support(s, joint, &kernels, loop.U, &settings->layout));
out:
    dkm_cutting_plane_close(&loop);
    dkm_separation_oracle_close(&oracle);
    dkm_joint_kernels_clear(&kernels);
    return status;
}

dkm_status dkm_jkm_fit(dkm_ctx *ctx, const dkm_data *X, const dkm_data *Y, const dkm_kernel *kx,
                       const dkm_kernel *ky, const dkm_joint *joint,
                       const dkm_jkm_settings *settings, dkm_model **model, dkm_jkm_info *info)
{
    dkm_status status = DKM_OK;
    dkm_jkm_settings chosen = *settings; /* with what is chosen for the data */
    dkm_jkm_info found = {0};
    dkm_type type;
    dkm_idx cols;
    dkm_jkm *s = NULL;

    if (settings->outputs == DKM_JKM_CHAIN)
        return dkm_jkm_chain_fit(ctx, X, Y, kx, settings, model, info);
    *model = NULL;
    dkm_phase_begin(ctx, "jkm");
    DKM_AGREE(ctx, jkm_check_fit(ctx, X, Y, settings));
    DKM_AGREE(ctx, dkm_calloc(ctx, 1, &s));
    s->ctx = s->space.ctx = ctx;
    s->C = settings->C;
    DKM_AGREE(ctx, dkm_jkm_store_texts(s, joint->text, dkm_kernel_text(kx),
                                       ky ? dkm_kernel_text(ky) : "linear"));
    DKM_TRY(jkm_learn(s, X, Y, joint, &chosen, &found));
    dkm_jkm_describe(s, &type, &cols);
    status = dkm_model_wrap(ctx, &dkm_class_jkm, s, type, cols, model);
    s = NULL; /* taken over, whatever came of it */
    if (info)
        *info = found;
out:
    dkm_phase_end(ctx);
    if (s)
        dkm_jkm_destroy(s);
    return status;
}
