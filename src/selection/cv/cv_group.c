/* Ranks work faster apart than together as long as there are cells for all of them: a factorization
 * on q ranks loses time to messages and uneven blocks. What it loses is reckoned as
 * 1 + MESSAGES sqrt(q) / n for matrices of order n, which fits the rates that benches give.
 *
 * Each group of q ranks holds Gram matrices and workspace of its own, 8 m^2 (grams + 4) / q bytes per
 * rank. Where that is not small anyway there are G <= GROUPS_MAX groups of at least ceil(ranks / G)
 * ranks each, with a G that depends on the cells and on m alone: then q never falls, and memory per
 * rank never rises, as ranks are added. */
#include <math.h>

#include <dkmap/grid.h>

#include "core/alloc.h"
#include "core/ctx_private.h"
#include "core/mpi_calls.h"
#include "data/objects.h"
#include "selection/cv/cv_impl.h"

#define MESSAGES    600.0
#define WORK        4     /* matrices beside the Gram matrices that a cell holds at once */
#define UNKNOWN     20000 /* examples of a method whose memory is not known: all ranks share them */
#define GROUPS_MAX  4
#define MANY_RANKS  60         /* that the number of groups is chosen for */
#define SMALL_BYTES 16777216.0 /* of the matrices of a group: it may then be one rank */

static double cell_cost(double n, double q)
{
    return n * n * n / q * (q > 1 ? 1.0 + MESSAGES * sqrt(q) / n : 1.0);
}

static double seconds_with(dkm_idx cells, double n, int size, int groups)
{
    dkm_idx turns = (cells + groups - 1) / groups;

    return (double)turns * cell_cost(n, floor((double)size / groups));
}

/* Bytes a rank holds with so many Gram matrices in its group, one more being computed by all. */
static double bytes_with(double m, dkm_idx grams, int size, int groups)
{
    double q = floor((double)size / groups);

    return grams > 0 ? 8.0 * m * m * (((double)grams + WORK) / q + 2.0 / size) : 0.0;
}

static dkm_local check_groups(dkm_ctx *ctx, int groups)
{
    if (groups <= dkm_ctx_size(ctx))
        return DKM_LOCAL_OK;
    return dkm_fail(ctx, DKM_ERR_ARG, "%d groups of ranks, and there are %d ranks", groups,
                    dkm_ctx_size(ctx));
}

int dkm_cv_is_small(double m, dkm_idx grams)
{
    return 8.0 * m * m * (double)(grams + WORK) <= SMALL_BYTES;
}

/* Ranks that every group must have, of @p size ranks; 0 where memory is small and the fastest number
 * of groups is taken. */
static int least_group(dkm_idx cells, double m, dkm_idx grams, int size)
{
    double best = INFINITY;
    int groups = 1;

    if (dkm_cv_is_small(m, grams))
        return 0;
    for (int g = 1; g <= GROUPS_MAX; g++)
        if (seconds_with(cells, m, MANY_RANKS, g) < best) {
            best = seconds_with(cells, m, MANY_RANKS, g);
            groups = g;
        }
    return (size + groups - 1) / groups;
}

dkm_status dkm_cv_choose_groups(dkm_ctx *ctx, const dkm_cv_problem *problem, dkm_idx cells,
                                dkm_idx grams, int *groups)
{
    dkm_status status = DKM_OK;
    int size = dkm_ctx_size(ctx), together = problem->layout.P > 0, given = problem->groups, least;
    double m = (double)dkm_data_rows(problem->X), best = INFINITY;

    *groups = together || given == 0 ? 1 : given;
    DKM_AGREE(ctx, check_groups(ctx, *groups));
    if (together || given > 0 || (grams == 0 && m > UNKNOWN))
        return DKM_OK;
    least = least_group(cells, m, grams < 2 ? grams : 2, size);
    for (int g = 1; g <= size && g <= cells && size / g >= least; g++) {
        double seconds = least > 0 ? -g : seconds_with(cells, m, size, g);
        if (seconds < best && dkm_memory_fits(ctx, bytes_with(m, grams < 2 ? grams : 2, size, g))) {
            best = seconds;
            *groups = g;
        }
    }
out:
    return status;
}

dkm_status dkm_cv_capacity(dkm_ctx *ctx, const dkm_cv_group *group, dkm_idx m, dkm_idx grams,
                           dkm_idx *capacity)
{
    int size = dkm_ctx_size(ctx);
    dkm_idx least = grams < 2 ? grams : 2;

    *capacity = grams;
    while (*capacity > least &&
           !dkm_memory_fits(ctx, bytes_with((double)m, *capacity, size, group->count)))
        *capacity = *capacity / 2 > least ? *capacity / 2 : least;
    return dkm_memory_check(ctx, bytes_with((double)m, *capacity, size, group->count),
                            "cross-validation");
}

dkm_idx dkm_cv_split_capacity(dkm_ctx *ctx, const dkm_cv_group *group, dkm_idx m, dkm_idx held,
                              dkm_idx most)
{
    int size = dkm_ctx_size(ctx);
    dkm_idx fitting = most;

    while (fitting > 0 &&
           !dkm_memory_fits(ctx, bytes_with((double)m, held + fitting, size, group->count)))
        fitting /= 2;
    return fitting;
}

static void cv_group_forward(void *user, dkm_level level, const char *text)
{
    dkm_log(user, level, "%s", text);
}

/* A context for this rank's group, with the seed, threads and kernel files of all. */
static dkm_status cv_group_split(dkm_cv_group *group, dkm_ctx *ctx)
{
    dkm_status status = DKM_OK;
    dkm_local local = DKM_LOCAL_OK;
    MPI_Comm comm = MPI_COMM_NULL;

    if (group->count == 1) {
        group->ctx = ctx;
        return DKM_OK;
    }
    dkm_mpi_split(ctx, group->index, dkm_ctx_rank(ctx), &comm);
    DKM_AGREE(ctx, DKM_LOCAL_OK);
    if (dkm_ctx_create(comm, &group->ctx) != DKM_OK)
        local = dkm_fail(ctx, DKM_ERR_MEMORY, "no memory for a group of ranks");
    group->own_ctx = group->ctx != NULL;
    if (group->ctx) {
        dkm_ctx_set_seed(group->ctx, dkm_ctx_seed(ctx));
        dkm_ctx_set_threads(group->ctx, dkm_ctx_threads(ctx));
        dkm_ctx_set_kernels(group->ctx, dkm_ctx_kernels(ctx), NULL);
        if (group->index == 0) /* what one group has to say speaks for all */
            dkm_ctx_set_listener(group->ctx,
                                 (dkm_listener){.user = ctx, .message = cv_group_forward});
    }
    DKM_AGREE(ctx, local);
out:
    if (comm != MPI_COMM_NULL)
        MPI_Comm_free(&comm);
    return status;
}

dkm_status dkm_cv_agree(dkm_ctx *ctx, const dkm_cv_group *group, dkm_status status)
{
    if (!group->own_ctx)
        return status;
    return dkm_agree(ctx, status == DKM_OK
                              ? DKM_LOCAL_OK
                              : dkm_fail(ctx, status, "%s", dkm_ctx_message(group->ctx)));
}

/* What each group makes for itself. */
static dkm_status open_inside(dkm_cv_group *group, const dkm_cv_problem *problem, dkm_idx grams)
{
    dkm_status status = DKM_OK;

    DKM_TRY(dkm_grid_create(group->ctx, problem->layout.P, problem->layout.Q, &group->grid));
    if (problem->loss_kernel)
        DKM_TRY(dkm_kernel_clone(group->ctx, problem->loss_kernel, &group->loss_kernel));
    DKM_AGREE(group->ctx, dkm_calloc(group->ctx, grams, &group->gram));
out:
    return status;
}

static dkm_local list_own_rows(const dkm_cv_group *group, dkm_idx m, dkm_idx *count, dkm_idx **rows)
{
    int rank = dkm_ctx_rank(group->ctx), size = dkm_ctx_size(group->ctx);
    dkm_local local;

    *count = dkm_slab_count(m, rank, size);
    local = dkm_alloc(group->ctx, *count, rows);
    for (dkm_idx k = 0; local.code == DKM_OK && k < *count; k++)
        (*rows)[k] = dkm_slab_first(m, rank, size) + k;
    return local;
}

dkm_status dkm_cv_group_copy(const dkm_cv_group *group, int wanted, const dkm_data *all,
                             dkm_data **copy)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = all->ctx;
    dkm_idx count = 0, *rows = NULL;
    dkm_objs got = {0};

    *copy = NULL;
    DKM_AGREE(ctx, list_own_rows(group, all->m, &count, &rows));
    DKM_TRY(dkm_data_fetch(all, wanted ? count : 0, rows, &got));
    got.ctx = group->ctx;
    if (wanted)
        status = dkm_data_wrap(group->ctx, all->m, &got, copy);
    DKM_TRY(dkm_cv_agree(ctx, group, status));
out:
    dkm_objs_clear(&got);
    DKM_FREE(rows);
    if (status != DKM_OK)
        dkm_data_destroy(copy);
    return status;
}

/* Whether a copy of the inputs takes no more than half a kernel matrix. Collective. */
static int is_small(const dkm_data *X)
{
    const dkm_objs *mine = &X->mine;
    dkm_storage_form keeping = dkm_type_storage_form(mine->type);
    double items = keeping == DKM_STORED_VALUES ? (double)mine->n * (double)mine->d
                   : mine->n > 0                ? (double)mine->start[mine->n]
                                                : 0.0;
    double bytes = items * (keeping == DKM_STORED_VALUES  ? sizeof *mine->values
                            : keeping == DKM_STORED_LISTS ? sizeof *mine->col + sizeof *mine->val
                                                          : sizeof *mine->bytes);

    MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(X->ctx));
    return bytes <= 4.0 * (double)X->m * (double)X->m;
}

/* The examples themselves, or copies that the group has to itself. */
static dkm_status take_examples(dkm_cv_group *group, const dkm_cv_problem *problem)
{
    unsigned wants = problem->method->wants(problem->options);
    int inputs = (wants & DKM_CV_INPUTS) ||
                 (group->own_ctx && (wants & DKM_CV_INPUT_GRAM) && is_small(problem->X));
    dkm_status status = DKM_OK;

    group->Y = problem->Y;
    group->X = inputs ? problem->X : NULL;
    group->weights = problem->weights;
    if (!group->own_ctx)
        return DKM_OK;
    group->Y = group->X = group->weights = NULL;
    DKM_TRY(dkm_cv_group_copy(group, 1, problem->Y, &group->own_Y));
    if (inputs)
        DKM_TRY(dkm_cv_group_copy(group, 1, problem->X, &group->own_X));
    if (problem->weights)
        DKM_TRY(dkm_cv_group_copy(group, 1, problem->weights, &group->own_weights));
    group->Y = group->own_Y;
    group->X = group->own_X;
    group->weights = group->own_weights;
out:
    return status;
}

dkm_status dkm_cv_group_open(dkm_cv_group *group, dkm_ctx *ctx, const dkm_cv_problem *problem,
                             int groups, dkm_idx grams)
{
    dkm_status status = DKM_OK;

    *group = (dkm_cv_group){.count = groups, .grams = grams};
    group->index = dkm_slab_owner(dkm_ctx_size(ctx), dkm_ctx_rank(ctx), groups);
    for (int k = 0; k <= problem->more_losses; k++)
        if (dkm_cv_loss_at(problem, k) == DKM_LOSS_HAMMING)
            DKM_TRY(dkm_score_count_labels(problem->Y, NULL, &group->labels));
    DKM_TRY(cv_group_split(group, ctx));
    DKM_TRY(dkm_cv_agree(ctx, group, open_inside(group, problem, grams)));
    DKM_TRY(take_examples(group, problem));
out:
    return status;
}

void dkm_cv_group_close(dkm_cv_group *group)
{
    for (dkm_idx k = 0; group->gram && k < group->grams; k++)
        dkm_data_destroy(&group->gram[k]);
    DKM_FREE(group->gram);
    dkm_data_destroy(&group->own_weights);
    dkm_data_destroy(&group->own_X);
    dkm_data_destroy(&group->own_Y);
    dkm_kernel_destroy(&group->loss_kernel);
    dkm_grid_destroy(&group->grid);
    if (group->own_ctx)
        dkm_ctx_destroy(&group->ctx);
}
