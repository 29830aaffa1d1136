/* Exact kernel ridge regression, (K + gamma I) B = T, by conjugate gradients with a Nystroem
 * preconditioner P = K_mn K_nn^-1 K_nm + g I, whose inverse needs only products with K_mn and a
 * small solve:
 *
 *   P^-1 r = (r - K_mn (K_nm K_mn + g K_nn)^-1 K_nm r) / g     (Woodbury)
 *
 * Cutajar, Osborne, Cunningham and Filippone 2016, ICML (Preconditioning kernel matrices);
 * Frangella, Tropp and Udell 2023, SIAM J. Matrix Anal. Appl. 44(2):718-752,
 * doi:10.1137/21M1466244; Diaz, Epperly, Frangella, Tropp and Webber 2023, arXiv:2304.12465. g is
 * gamma plus the mean residual diagonal of the landmarks (residual_trace.c), as if that were noise:
 * a few iterations then predict about as well as many. Rounding sets a lower bound on g. K is
 * stored if it fits, only its lower triangle, or else computed anew in every iteration.
 *
 * Cost per iteration on an R x C grid: 2 m^2 p / (R C) flops per rank for K, which sends 2 m p (1/R + 1/C)
 * words (linalg/symm/symm_multivec.c), and 4 m n p / (R C) for P, with allreduces of n p words. Held: m^2 /
 * (2 R C) numbers where K is stored, K_nn and the factor; replicated: n p numbers, and the
 * landmarks where K_mn is not stored (kernels/gram/strips.h). */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "io/checkpoint/checkpointer.h"
#include "kernels/gram/tiles.h"
#include "linalg/linalg.h"
#include "solvers/eigen/power_iteration.h"
#include "solvers/krylov/pcg.h"
#include "solvers/nystroem/nystroem_impl.h"
#include "solvers/ridge/shifted_cholesky.h"

#define TOLERANCE 1e-12
#define STEPS     200
#define PATIENCE  30
#define LEAST     1e-12 /* of the largest eigenvalue of K: no smaller g */
#define EASY      1e-3  /* a tolerance for which all may be done in single precision */
#define SAFE      4.0   /* times the mean error of moments: eigenvalues of a random one reach 2 */
#define SPOILED   10.0  /* times g: larger eigenvalues of K must not be */

typedef struct exact_solver {
    dkm_nystroem *N;
    const dkm_prepared *X;
    dkm_idx nb; /* of the layout in which ranks share K */
    double gamma, g;
    dkm_shifted_cholesky factor; /* of K_nm K_mn + g K_nn */
    dkm_multivec W;              /* space for n rows of a block */
    dkm_tiles K;                 /* where it is stored */
    int stored;
    int easy; /* so much may be left that products in single precision will do for everything */
} exact_solver;

/* out = K in */
static dkm_status exact_multiply(const exact_solver *s, int f32, const dkm_multivec *in,
                                 dkm_multivec *out)
{
    if (!s->stored)
        return dkm_gram_symm(s->N->grid, s->X, s->nb, s->N->strips.precision, in, out);
    return f32 ? dkm_tiles_symm_f32(&s->K, in, out) : dkm_tiles_symm(&s->K, in, out);
}

/* out = (K + gamma I) in */
static dkm_status exact_apply_as(const exact_solver *s, int f32, const dkm_multivec *in,
                                 dkm_multivec *out)
{
    dkm_status status = DKM_OK;

    DKM_TRY(exact_multiply(s, f32, in, out));
    dkm_multivec_axpy(s->gamma, in, out);
out:
    return status;
}

static dkm_status exact_apply(void *user, const dkm_multivec *in, dkm_multivec *out)
{
    return exact_apply_as(user, 0, in, out);
}

static dkm_status exact_apply_f32(void *user, const dkm_multivec *in, dkm_multivec *out)
{
    return exact_apply_as(user, 1, in, out);
}

/* out = P^-1 in */
static dkm_status exact_precondition(void *user, const dkm_multivec *in, dkm_multivec *out)
{
    exact_solver *s = user;
    dkm_status status = DKM_OK;
    dkm_nystroem_pass back = {.p = in->cols, .T = in->a, .W = &s->W};
    dkm_nystroem_pass forth = {.p = in->cols, .V = &s->W, .F = out->a};

    assert(in->ld == in->cols && out->ld == in->cols);
    DKM_TRY(s->easy ? dkm_nystroem_products_f32(s->N, &back) : dkm_nystroem_products(s->N, &back));
    DKM_TRY(dkm_shifted_cholesky_apply_rows(&s->factor, &s->W));
    DKM_TRY(s->easy ? dkm_nystroem_products_f32(s->N, &forth)
                    : dkm_nystroem_products(s->N, &forth));
    for (dkm_idx k = 0; k < in->n * in->cols; k++)
        out->a[k] = (in->a[k] - out->a[k]) / s->g;
out:
    return status;
}

/* Compute K once and for all, where that is wanted and it fits. */
static dkm_status exact_decide_storage(exact_solver *s, dkm_storage keep)
{
    dkm_status status = DKM_OK;
    dkm_grid *grid = s->N->grid;
    dkm_precision precision = s->N->strips.precision;
    double bytes = dkm_tiles_bytes(grid, s->N->m, precision);

    if (keep == DKM_STORE)
        DKM_TRY(dkm_memory_check(s->N->ctx, bytes, "the kernel matrix"));
    else if (keep == DKM_RECOMPUTE || !dkm_memory_fits(s->N->ctx, bytes))
        return DKM_OK;
    DKM_TRY(dkm_tiles_open(&s->K, grid, s->X, s->nb, precision));
    s->stored = 1;
out:
    return status;
}

/* M = K_nm K_mn, and what is to be added to its diagonal so that P^-1 stays positive where M is too
 * small by rounding. Single precision will do unless that would spoil directions that matter: those
 * in which eigenvalues of K are above g. Landmarks see an eigenvalue l of K as n / m l^2. */
static dkm_status exact_normal_matrix(exact_solver *s, dkm_dmat **M)
{
    dkm_status status = DKM_OK;
    dkm_nystroem *N = s->N;
    double off = 0, spoiled;

    DKM_TRY(dkm_nystroem_normal_matrix_f32(N, M, &off));
    spoiled = sqrt(SAFE * off * (double)N->m / (double)N->n);
    dkm_log(N->ctx, DKM_DEBUG,
            "moments are off by %.1e: eigenvalues up to %.2g, of a ridge of %.2g", off, spoiled,
            s->g);
    if (spoiled > SPOILED * s->g) {
        dkm_dmat_destroy(M);
        DKM_TRY(dkm_nystroem_normal_matrix(N, M));
        off = 0;
    }
    dkm_dmat_shift_diagonal(*M, SAFE * off);
out:
    return status;
}

/* Factor K_nm K_mn + g K_nn, in @p M. */
static dkm_status exact_make_preconditioner(exact_solver *s, dkm_dmat **M)
{
    dkm_status status = DKM_OK;
    dkm_nystroem *N = s->N;
    double largest = 0, rest = 0;

    DKM_TRY(dkm_nystroem_residual_trace(N, &rest));
    s->g = s->gamma + rest;
    DKM_TRY(exact_normal_matrix(s, M));
    DKM_TRY(dkm_largest_eigenvalue(*M, &largest)); /* about (n / m) times that of K, squared */
    s->g = fmax(s->g, LEAST * sqrt(largest * (double)N->m / (double)N->n));
    dkm_nystroem_add_knn(N, s->g, *M);
    DKM_TRY(dkm_nystroem_factor(N, *M, &s->factor));
out:
    return status;
}

/* ||f(X) - T|| / ||T|| from R = T - (K + gamma I) B, which is overwritten: T - f(X) = R + gamma B.
 */
static double exact_training_residual(const exact_solver *s, const dkm_multivec *B,
                                      const dkm_multivec *T, dkm_multivec *R)
{
    double size = dkm_multivec_norm(T);

    dkm_multivec_axpy(s->gamma, B, R);
    return size > 0 ? dkm_multivec_norm(R) / size : 0.0;
}

static dkm_status exact_iterate(exact_solver *s, const dkm_nystroem_settings *settings,
                                dkm_multivec *T, dkm_multivec *B, dkm_nystroem_info *info)
{
    dkm_status status = DKM_OK;
    const dkm_nystroem_solution check = {s->X, s->N->m, s->gamma, B, T};
    dkm_multivec R = {0};
    char print[DKM_FINGERPRINT_LENGTH], stage[DKM_STAGE_LENGTH / 2];
    dkm_pcg_settings how = {.tolerance = settings->tolerance > 0 ? settings->tolerance : TOLERANCE,
                            .max_steps = settings->max_steps > 0 ? settings->max_steps : STEPS,
                            .A = {s->easy ? exact_apply_f32 : exact_apply, s},
                            .f32 = {s->stored ? exact_apply_f32 : NULL, s},
                            .M = {exact_precondition, s},
                            .patience = PATIENCE,
                            .left = &R,
                            .history = info->history,
                            .stage = stage,
                            .precision = s->N->strips.precision};

    dkm_fingerprint_lower(s->N->K, print);
    snprintf(stage, sizeof stage, "all centers n=%lld m=%lld gamma=%.17g K_nn=%s",
             (long long)s->N->n, (long long)s->N->m, s->gamma, print);
    DKM_AGREE(s->N->ctx, dkm_multivec_init(&R, s->N->ctx, s->N->m, T->cols));
    DKM_TRY(dkm_nystroem_pcg(s->N, &how, s->N->m, T, B, info));
    info->fit = exact_training_residual(s, B, T, &R);
    if (s->N->strips.precision == DKM_F32)
        DKM_TRY(dkm_nystroem_residual_estimate(s->N, &check, &info->checked));
out:
    dkm_multivec_free(&R);
    return status;
}

dkm_status dkm_nystroem_exact_pcg(dkm_nystroem *N, const dkm_prepared *X,
                                  const dkm_nystroem_settings *settings, double gamma, dkm_idx p,
                                  double *T, dkm_nystroem_info *info)
{
    dkm_status status = DKM_OK;
    exact_solver s = {.N = N, .X = X, .nb = dkm_grid_block(N->grid, N->m), .gamma = gamma};
    dkm_multivec Y = {0}, B = {0};
    dkm_dmat *M = NULL;

    *info = dkm_nystroem_info_init(N, settings);
    info->all_centers = 1;
    s.easy = settings->tolerance >= EASY;
    DKM_TRY(exact_make_preconditioner(&s, &M));
    DKM_TRY(exact_decide_storage(&s, settings->keep));
    info->matrix_stored = s.stored;
    DKM_AGREE(N->ctx, dkm_multivec_init(&Y, N->ctx, N->m, p));
    DKM_AGREE(N->ctx, dkm_multivec_init(&B, N->ctx, N->m, p));
    DKM_AGREE(N->ctx, dkm_multivec_init(&s.W, N->ctx, N->n, p));
    Y.cols = p;
    dkm_multivec_unpack(T, &Y);
    dkm_phase_begin(N->ctx, "iterate");
    status = exact_iterate(&s, settings, &Y, &B, info);
    dkm_phase_end(N->ctx);
    DKM_TRY(status);
    dkm_multivec_pack(&B, T);
out:
    dkm_multivec_free(&s.W);
    dkm_multivec_free(&B);
    dkm_multivec_free(&Y);
    dkm_shifted_cholesky_close(&s.factor);
    dkm_tiles_close(&s.K);
    dkm_dmat_destroy(&M);
    return status;
}
