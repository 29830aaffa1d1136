/* Support vector machines in the dual: checks, and which of two solvers is taken.
 *
 * LIBSVM needs all of K on a rank, 16 m^2 bytes in its format, and solves a problem on one core. Up to
 * LIBSVM_MOST examples that is at most 256 MB, and problems are solved side by side. Above, all ranks
 * share K and each problem.
 *
 * References and costs are in svm_libsvm.c and svm_decomposition.c. Held: 16 m^2 bytes on a
 * rank that solves by LIBSVM, 8 m^2 / ranks by decomposition. */
#include "solvers/svm/svm_dual_impl.h"

#include <math.h>

#include "core/alloc.h"

#define LIBSVM_MOST      4000  /* examples */
#define WORKING_SET_MOST 32768 /* its matrix travels in one message, counted by an int */

dkm_svm_dual_settings dkm_svm_dual_settings_default(void)
{
    return (dkm_svm_dual_settings){.C = 1.0, .tube = 0.1, .tolerance = 1e-3};
}

double dkm_svm_shift(const dkm_svm_dual_settings *settings)
{
    return settings->loss == DKM_LOSS_SQUARED_HINGE ? 1.0 / settings->C : 0.0;
}

double dkm_svm_bound(const dkm_svm_dual_settings *settings)
{
    return settings->loss == DKM_LOSS_SQUARED_HINGE ? DKM_C_HARD_MARGIN : settings->C;
}

dkm_svm_solver dkm_svm_dual_solver(const dkm_svm_dual_settings *settings, dkm_idx m)
{
    if (settings->solver != DKM_SVM_AUTO)
        return settings->solver;
    return m <= LIBSVM_MOST ? DKM_SVM_LIBSVM : DKM_SVM_DECOMPOSITION;
}

static dkm_local svm_check(dkm_ctx *ctx, const dkm_svm_dual_settings *s)
{
    if (!(s->C > 0) || !isfinite(s->C))
        return dkm_fail(ctx, DKM_ERR_ARG, "C = %g: it must be a number above 0", s->C);
    if (!(s->tolerance > 0) || !(s->tube >= 0) || !isfinite(s->tube))
        return dkm_fail(ctx, DKM_ERR_ARG,
                        "a tube of %g and a tolerance of %g: neither may be negative, and the "
                        "tolerance not 0",
                        s->tube, s->tolerance);
    if (s->working_set < 0 || s->working_set == 1 || s->working_set > WORKING_SET_MOST)
        return dkm_fail(ctx, DKM_ERR_ARG,
                        "a working set of %lld variables: there must be two or more, and at most "
                        "%d",
                        (long long)s->working_set, WORKING_SET_MOST);
    if (s->max_steps < 0)
        return dkm_fail(ctx, DKM_ERR_ARG, "%lld steps at most: it must not be negative",
                        (long long)s->max_steps);
    return DKM_LOCAL_OK;
}

static dkm_local svm_name_column(dkm_ctx *ctx, dkm_idx cols, const double *range)
{
    for (dkm_idx c = 0; c < cols; c++)
        if (range[c] == -range[cols + c])
            return dkm_fail(ctx, DKM_ERR_ARG, "problem %lld has one class alone: there must be two",
                            (long long)c);
    return DKM_LOCAL_OK;
}

/* Targets of a class problem are not all alike. */
static dkm_status svm_check_targets(dkm_ctx *ctx, const dkm_svm_dual_problem *p)
{
    dkm_status status = DKM_OK;
    dkm_idx m = dkm_prepared_rows(p->X), cols = p->cols;
    dkm_idx rows = dkm_slab_count(m, dkm_ctx_rank(ctx), dkm_ctx_size(ctx));
    double *range = NULL; /* the largest target of each column, and minus the least */

    DKM_AGREE(ctx, dkm_alloc(ctx, 2 * cols, &range));
    for (dkm_idx c = 0; c < 2 * cols; c++)
        range[c] = -INFINITY;
    for (dkm_idx k = 0; k < rows * cols; k++) {
        range[k % cols] = fmax(range[k % cols], p->T[k]);
        range[cols + k % cols] = fmax(range[cols + k % cols], -p->T[k]);
    }
    MPI_Allreduce(MPI_IN_PLACE, range, (int)(2 * cols), MPI_DOUBLE, MPI_MAX, dkm_ctx_comm(ctx));
    DKM_AGREE(ctx, svm_name_column(ctx, cols, range));
out:
    DKM_FREE(range);
    return status;
}

dkm_status dkm_svm_dual_solve(const dkm_svm_dual_problem *problem,
                              const dkm_svm_dual_settings *settings, double *B, double *b)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_grid_ctx(problem->grid);
    dkm_svm_solver solver = dkm_svm_dual_solver(settings, dkm_prepared_rows(problem->X));

    if (problem->rounds)
        *problem->rounds = 0;
    dkm_phase_begin(ctx, "svm");
    DKM_AGREE(ctx, svm_check(ctx, settings));
    DKM_REQUIRE(ctx, !problem->weights || settings->solver != DKM_SVM_LIBSVM, DKM_ERR_UNSUPPORTED,
                "LIBSVM takes no weights of examples: use --solver decomposition");
    if (problem->weights)
        solver = DKM_SVM_DECOMPOSITION;
    if (settings->loss != DKM_LOSS_EPS_INSENSITIVE)
        DKM_TRY(svm_check_targets(ctx, problem));
    if (solver == DKM_SVM_LIBSVM)
        DKM_TRY(dkm_svm_libsvm_solve(problem, settings, B, b));
    else
        DKM_TRY(dkm_svm_decomposition_solve(problem, settings, B, b));
out:
    dkm_phase_end(ctx);
    return status;
}
