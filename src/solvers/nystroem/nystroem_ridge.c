/* Nystroem kernel ridge regression, (K_nm K_mn + gamma K_nn) A = K_nm T, by conjugate gradients
 * with the preconditioner of sparse_sign_sketch.c.
 *
 * Williams and Seeger 2001, NIPS 13; Smola and Schoelkopf 2000, ICML (subset of regressors); solved
 * by preconditioned iteration as in Falkon (Rudi, Carratino and Rosasco 2017, NIPS 30,
 * arXiv:1705.10958), with the sketched preconditioner of KRILL (Diaz, Epperly, Frangella, Tropp and
 * Webber 2023, arXiv:2304.12465). K_mn is computed panel by panel in every iteration, each panel
 * being used for both products, or stored if memory allows.
 *
 * Cost per iteration and rank: 4 m n p / ranks flops, m n / ranks kernel values unless stored, an
 * allreduce of n p words, and a solve with the factor. Held: K_nn and the preconditioner, 2 n^2 /
 * ranks numbers; replicated: n p numbers, and the landmarks
 * where K_mn is not stored (kernels/gram/strips.h). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "io/checkpoint/checkpointer.h"
#include "linalg/linalg.h"
#include "linalg/symm/symm_multivec.h"
#include "matrix/dmat_impl.h"
#include "solvers/nystroem/nystroem_impl.h"
#include "solvers/operators/linop.h"

#define TOLERANCE 1e-7
#define STEPS     200
#define PATIENCE  20
#define ROUNDING  1e-14 /* of the mean diagonal of the preconditioner, added to it */

typedef struct ridge {
    dkm_nystroem *N;
    double gamma;
    dkm_shifted_cholesky factor; /* of the preconditioner */
    dkm_multivec KV;             /* space for K_nn times a block */
} ridge;

dkm_nystroem_info dkm_nystroem_info_init(const dkm_nystroem *N,
                                         const dkm_nystroem_settings *settings)
{
    return (dkm_nystroem_info){.landmarks = N->n,
                               .choice = dkm_landmark_name(settings->choice),
                               .precision = N->strips.precision == DKM_F64 ? "double" : "mixed",
                               .stored = N->strips.stored != NULL,
                               .streamed = N->feed->X == NULL,
                               .checked = NAN,
                               .distance = NAN};
}

void dkm_nystroem_add_knn(const dkm_nystroem *N, double scale, dkm_dmat *G)
{
    for (dkm_idx jl = 0; jl < G->n_loc; jl++)
        for (dkm_idx il = 0; il < G->m_loc; il++)
            G->a.f64[il + jl * G->ld] += scale * N->K->a.f64[il + jl * N->K->ld];
}

dkm_status dkm_nystroem_factor(const dkm_nystroem *N, dkm_dmat *P, dkm_shifted_cholesky *factor)
{
    dkm_status status = DKM_OK;

    DKM_TRY(dkm_shifted_cholesky_open(factor, P, "the preconditioner of the landmarks"));
    DKM_TRY(dkm_shifted_cholesky_factorize(factor, ROUNDING * (double)N->n * factor->mean));
out:
    return status;
}

static dkm_local nystroem_check_finite(dkm_ctx *ctx, double residual)
{
    if (isfinite(residual))
        return DKM_LOCAL_OK;
    return dkm_fail(ctx, DKM_ERR_NUMERIC,
                    "the ridge solution is not finite: kernel values are infinite or undefined; "
                    "check the data and the kernel");
}

/* Say why the steps ended before their time. */
static void nystroem_report_stall(dkm_ctx *ctx, const dkm_nystroem_info *info,
                                  const dkm_pcg_settings *how)
{
    if (info->converged)
        return;
    dkm_log(ctx, DKM_WARN,
            info->steps >= how->max_steps
                ? "conjugate gradients stopped after %d steps at a residual of %.1e, above %.1e: "
                  "allow more steps, take more landmarks or a larger gamma"
                : "conjugate gradients stopped shrinking the residual after %d steps, at %.1e, "
                  "above %.1e: rounding allows no more; use --precision double or a larger gamma",
            info->steps, info->residual, how->tolerance);
}

dkm_status dkm_nystroem_pcg(const dkm_nystroem *N, const dkm_pcg_settings *how, dkm_idx rows,
                            const dkm_multivec *Y, dkm_multivec *X, dkm_nystroem_info *info)
{
    dkm_status status = DKM_OK;
    dkm_pcg_outcome outcome = {0};

    DKM_TRY(dkm_pcg(Y, how, rows, X, &outcome));
    DKM_AGREE(N->ctx, nystroem_check_finite(N->ctx, outcome.residual));
    info->steps = outcome.steps;
    info->residual = outcome.residual;
    info->converged = outcome.residual <= how->tolerance;
    nystroem_report_stall(N->ctx, info, how);
out:
    return status;
}

/* out = (K_nm K_mn + gamma K_nn) in */
static dkm_status nystroem_ridge_apply(void *user, const dkm_multivec *in, dkm_multivec *out)
{
    ridge *s = user;
    dkm_status status = DKM_OK;
    dkm_nystroem_pass pass = {.p = in->cols, .V = in, .W = out};

    DKM_TRY(dkm_nystroem_products(s->N, &pass));
    DKM_TRY(dkm_symm_apply('L', s->N->K, in, &s->KV));
    dkm_multivec_axpy(s->gamma, &s->KV, out);
out:
    return status;
}

/* out = P^-1 in */
static dkm_status nystroem_ridge_precondition(void *user, const dkm_multivec *in, dkm_multivec *out)
{
    ridge *s = user;

    dkm_multivec_copy(in, out);
    return dkm_shifted_cholesky_apply_rows(&s->factor, out);
}

/* A from X, the solution in slabs, and how well it fits. */
static dkm_status nystroem_ridge_result(ridge *s, const dkm_multivec *X, const double *T,
                                        dkm_dmat **A, dkm_nystroem_info *info)
{
    dkm_status status = DKM_OK;
    dkm_nystroem_pass pass = {.p = X->cols, .V = X, .T = T};
    double *rows = NULL;

    DKM_AGREE(s->N->ctx, dkm_alloc(s->N->ctx, X->n * X->cols, &rows));
    dkm_multivec_pack(X, rows);
    DKM_TRY(dkm_dmat_create_like(s->factor.A, X->cols, s->N->nb, DKM_F64, A));
    DKM_TRY(dkm_dmat_from_rows(*A, rows));
    DKM_TRY(dkm_nystroem_products(s->N, &pass));
    info->fit = pass.size > 0 ? pass.off / pass.size : 0.0;
out:
    DKM_FREE(rows);
    return status;
}

static dkm_status nystroem_ridge_iterate(ridge *s, const dkm_nystroem_settings *settings, dkm_idx p,
                                         const double *T, dkm_dmat **A, dkm_nystroem_info *info)
{
    dkm_status status = DKM_OK;
    dkm_nystroem *N = s->N;
    dkm_multivec X = {0}, R = {0};
    char print[DKM_FINGERPRINT_LENGTH], stage[DKM_STAGE_LENGTH / 2];
    dkm_pcg_settings how = {.tolerance = settings->tolerance > 0 ? settings->tolerance : TOLERANCE,
                            .max_steps = settings->max_steps > 0 ? settings->max_steps : STEPS,
                            .A = {nystroem_ridge_apply, s},
                            .M = {nystroem_ridge_precondition, s},
                            .patience = PATIENCE,
                            .history = info->history,
                            .stage = stage,
                            .precision = N->strips.precision};
    dkm_nystroem_pass pass = {.p = p, .T = T, .W = &R};

    dkm_fingerprint_lower(N->K, print);
    snprintf(stage, sizeof stage, "landmarks n=%lld m=%lld gamma=%.17g K_nn=%s", (long long)N->n,
             (long long)N->m, s->gamma, print);
    DKM_AGREE(N->ctx, dkm_multivec_init(&X, N->ctx, N->n, p));
    DKM_AGREE(N->ctx, dkm_multivec_init(&R, N->ctx, N->n, p));
    DKM_AGREE(N->ctx, dkm_multivec_init(&s->KV, N->ctx, N->n, p));
    DKM_TRY(dkm_nystroem_products(N, &pass)); /* R = K_nm T */
    DKM_TRY(dkm_nystroem_pcg(N, &how, N->n, &R, &X, info));
    DKM_TRY(nystroem_ridge_result(s, &X, T, A, info));
out:
    dkm_multivec_free(&X);
    dkm_multivec_free(&R);
    dkm_multivec_free(&s->KV);
    return status;
}

/* The preconditioner, computed or found where a run before left it. */
static dkm_status nystroem_ridge_sketch(dkm_nystroem *N, double gamma, dkm_dmat **P)
{
    dkm_status status = DKM_OK;
    char print[DKM_FINGERPRINT_LENGTH], stage[DKM_STAGE_LENGTH];
    int found = 0;

    *P = NULL;
    dkm_fingerprint_lower(N->K, print);
    snprintf(stage, sizeof stage, "sketch n=%lld m=%lld gamma=%.17g K_nn=%s", (long long)N->n,
             (long long)N->m, gamma, print);
    if (dkm_checkpointer_enabled(N->ctx)) {
        DKM_TRY(dkm_dmat_create(N->grid, N->n, N->n, N->nb, N->nb, DKM_F64, P));
        DKM_TRY(dkm_checkpointer_load_lower(stage, *P, &found));
        if (!found)
            dkm_dmat_destroy(P);
    }
    if (!found) {
        DKM_TRY(dkm_nystroem_sketch(N, gamma, P));
        DKM_TRY(dkm_checkpointer_save_lower(stage, *P));
    }
out:
    return status;
}

dkm_status dkm_nystroem_ridge(dkm_nystroem *N, const dkm_nystroem_settings *settings, double gamma,
                              dkm_idx p, const double *T, dkm_dmat **A, dkm_nystroem_info *info)
{
    dkm_status status = DKM_OK;
    ridge s = {.N = N, .gamma = gamma};
    dkm_dmat *P = NULL;

    *A = NULL;
    *info = dkm_nystroem_info_init(N, settings);
    DKM_TRY(nystroem_ridge_sketch(N, gamma, &P));
    DKM_TRY(dkm_nystroem_factor(N, P, &s.factor));
    dkm_phase_begin(N->ctx, "iterate");
    status = nystroem_ridge_iterate(&s, settings, p, T, A, info);
    dkm_phase_end(N->ctx);
out:
    if (status != DKM_OK)
        dkm_dmat_destroy(A);
    dkm_shifted_cholesky_close(&s.factor);
    dkm_dmat_destroy(&P);
    return status;
}
