/* Mixed precision solve of (K + gamma I) B = Y: a Cholesky factor in single precision is the
 * preconditioner of conjugate gradients in double.
 *
 * Iterative refinement of LAPACK dsposv (Langou et al. 2006, SC '06, doi:10.1145/1188455.1188573)
 * with a Krylov method in place of the stationary iteration (Carson and Higham 2018, SIAM J. Sci.
 * Comput. 40(2):A817-A847, doi:10.1137/17M1140819; for positive definite systems and a shifted low
 * precision factor see Higham and Pranesh 2021, SIAM J. Sci. Comput. 43(1):A258-A277,
 * doi:10.1137/19M1298263). K is stored in double, or computed anew tile by tile. Right-hand sides
 * are solved in blocks of columns, so that the vectors of the iteration stay small compared with
 * the matrix.
 *
 * Where the matrix is too ill-conditioned for single precision, iterations soon cost more than a
 * factor in double would. So their number is predicted, by a bound of the smallest eigenvalue before
 * the factorization, by the shift where there is one, and by the rate of convergence after three
 * iterations; the caller goes on in double when it is too large.
 *
 * Cost per rank: n^3 / (3 ranks) flops in single precision, and per iteration 2 n^2 p / ranks in
 * double and the same in single; communication of linalg/factor/potrf.c in half the bytes. Held:
 * n^2 / (2 ranks) single, and as many double numbers where K is stored. */
#include "solvers/ridge/posv_mixed.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <dkmap/random.h>

#include "core/alloc.h"
#include "io/checkpoint/checkpointer.h"
#include "kernels/evaluation/prepare.h"
#include "kernels/gram/gram.h"
#include "linalg/eigen/syevd.h"
#include "linalg/linalg.h"
#include "matrix/dmat_impl.h"
#include "solvers/eigen/power_iteration.h"
#include "solvers/krylov/pcg.h"
#include "solvers/operators/linop.h"
#include "solvers/ridge/potrf_checkpoint.h"

#define MAX_ITERATIONS 60
#define SHIFT_START    1e-8 /* of the largest eigenvalue; single precision rounds at 6e-8 */
#define SHIFT_STEPS    10
#define ROUNDING       6e-8 /* of single precision */
#define PROBE_STREAM   0x70726f6265u
#define BLOCK_BYTES    67108864.0 /* of right-hand sides at a time, a rank */

typedef struct mixed {
    dkm_ctx *ctx;
    dkm_grid *grid;
    const dkm_kernel *kernel;
    const dkm_prepared *X;
    dkm_idx m, nb;
    double gamma;
    dkm_dmat *K;    /* double, or NULL: computed anew */
    dkm_dmat *L;    /* single */
    double largest; /* eigenvalue of K, roughly */
    double floor;   /* the smallest one is no larger than this */
    double worth;   /* iterations that pay; 0: any number */
    dkm_multivec
        probe; /* a vector that goes through every solve with L L', as inverse power steps */
    dkm_multivec block; /* space for right-hand sides and the probe, without gaps */
    double *lengths;    /* of its columns */
    double inverse;     /* its growth in the last of them: of (L L')^-1 the norm, roughly */
} mixed;

/* A new L: K in single precision, lower triangle. Without K the factor is all there is, and may be
 * larger than ScaLAPACK can index. */
static dkm_status mixed_make_f32(mixed *s)
{
    dkm_status status;

    dkm_dmat_destroy(&s->L);
    if (!s->K)
        return dkm_gram_lower(s->grid, s->kernel, s->X, s->nb, DKM_F32, &s->L);
    dkm_phase_begin(s->ctx, "factor");
    status = dkm_dmat_convert_lower(s->K, DKM_F32, &s->L);
    dkm_phase_end(s->ctx);
    return status;
}

/* Iterations of conjugate gradients until @p tolerance for condition number @p c of the
 * preconditioned matrix: each divides the error by (sqrt(c) + 1) / (sqrt(c) - 1) at least. */
static double mixed_predicted_steps(double c, double tolerance)
{
    double root = sqrt(c);

    return log(2.0 / tolerance) / log((root + 1.0) / (root - 1.0));
}

/* Whether a factor of K + (gamma + shift) I is worth its while. Rounding and the shift perturb it
 * by about e = 6e-8 lambda_1 + shift, so that the preconditioned matrix has the condition number 1 +
 * e / lambda_m, lambda_m = @p smallest + gamma. */
static int mixed_factor_pays(const mixed *s, double smallest, double shift, double worth,
                             double tolerance)
{
    double e = ROUNDING * s->largest + shift;

    return s->worth <= 0 ||
           mixed_predicted_steps(1.0 + e / (fmax(smallest, 0.0) + s->gamma), tolerance) <= worth;
}

/* The smallest eigenvalue of the first diagonal block of K on the rank that has it, where there is
 * more to be known of it than that it is finite. */
static dkm_local mixed_block_eigenvalue(const mixed *s, double *smallest)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx b = s->nb < s->m ? s->nb : s->m, ld = dkm_dmat_ld(s->L);
    double *G = NULL, *values = NULL;

    *smallest = INFINITY;
    if (dkm_grid_row(s->grid) != 0 || dkm_grid_col(s->grid) != 0 || b == 0)
        return local;
    DKM_STEP(dkm_alloc(s->ctx, b * b, &G));
    DKM_STEP(dkm_alloc(s->ctx, b, &values));
    for (dkm_idx j = 0; j < b; j++)
        for (dkm_idx i = j; i < b; i++)
            G[i + j * b] = G[j + i * b] = s->K ? dkm_dmat_f64(s->K)[i + j * dkm_dmat_ld(s->K)]
                                               : (double)dkm_dmat_f32(s->L)[i + j * ld];
    DKM_STEP(dkm_syevd_local(s->ctx, b, G, values));
    *smallest = values[0];
out:
    DKM_FREE(values);
    DKM_FREE(G);
    return local;
}

/* What is known of the spectrum before the factorization: the smallest eigenvalue of K is no larger
 * than that of any of its diagonal blocks (Cauchy's interlacing). */
static dkm_status mixed_estimate_spectrum(mixed *s)
{
    dkm_status status = DKM_OK;

    DKM_TRY(dkm_largest_eigenvalue(s->L, &s->largest));
    DKM_AGREE(s->ctx, mixed_block_eigenvalue(s, &s->floor));
    MPI_Allreduce(MPI_IN_PLACE, &s->floor, 1, MPI_DOUBLE, MPI_MIN, dkm_ctx_comm(s->ctx));
out:
    return status;
}

/* The shift of an attempt. */
static double mixed_next_shift(const mixed *s, int step, double last)
{
    return step == 0 ? 0 : step == 1 ? SHIFT_START * s->largest : 4.0 * last;
}

/* K + (gamma + shift) I in single precision, the shift being that of an attempt. */
static dkm_status mixed_begin_attempt(mixed *s, int step, dkm_idx potrf_info, dkm_ridge_info *info)
{
    dkm_status status = DKM_OK;

    DKM_TRY(mixed_make_f32(s));
    if (step == 0)
        DKM_TRY(mixed_estimate_spectrum(s));
    info->shift = mixed_next_shift(s, step, info->shift);
    if (step > 0)
        dkm_log(s->ctx, DKM_INFO,
                "single precision cannot factor K + gamma I (leading minor %lld): shifting the "
                "preconditioner by %.1e",
                (long long)potrf_info, info->shift);
    dkm_dmat_shift_diagonal(s->L, s->gamma + info->shift);
out:
    return status;
}

/* The state a run before left, in a new L; without one there is no L. */
static dkm_status mixed_restore(mixed *s, dkm_potrf_checkpoint *checkpoint, dkm_ridge_info *info)
{
    dkm_status status = DKM_OK;

    snprintf(checkpoint->stage, sizeof checkpoint->stage,
             "factor m=%lld gamma=%.17g single K=%016llx", (long long)s->m, s->gamma,
             (unsigned long long)dkm_checkpointer_fingerprint(s->X->X, s->X->kernel->text));
    if (!dkm_checkpointer_enabled(s->ctx))
        return DKM_OK;
    DKM_TRY(dkm_dmat_create_lower(s->grid, s->m, s->nb, DKM_F32, &s->L));
    checkpoint->A = s->L;
    DKM_TRY(dkm_potrf_checkpoint_restore(checkpoint));
    if (checkpoint->from == 0)
        dkm_dmat_destroy(&s->L);
    info->shift = checkpoint->meta[1];
    s->largest = checkpoint->meta[2];
out:
    return status;
}

static dkm_status mixed_factor(mixed *s, double tolerance, dkm_ridge_info *info)
{
    dkm_status status = DKM_OK;
    dkm_idx potrf_info = 0;
    dkm_potrf_checkpoint checkpoint = {.steps = SHIFT_STEPS};

    DKM_TRY(mixed_restore(s, &checkpoint, info));
    for (int step = (int)checkpoint.meta[0]; step <= SHIFT_STEPS; step++) {
        if (step > 0 && checkpoint.from == 0 &&
            !mixed_factor_pays(s, 0.0, mixed_next_shift(s, step, info->shift), s->worth, tolerance))
            break; /* it failed without: K has eigenvalues near zero */
        if (checkpoint.from == 0)
            DKM_TRY(mixed_begin_attempt(s, step, potrf_info, info));
        if (step == 0 && checkpoint.from == 0 &&
            !mixed_factor_pays(s, s->floor, 0.0, 0.5 * s->worth, tolerance))
            break; /* single precision saves half of the time of double */
        checkpoint.A = s->L;
        checkpoint.meta[0] = step;
        checkpoint.meta[1] = info->shift;
        checkpoint.meta[2] = s->largest;
        dkm_phase_begin(s->ctx, "factor");
        status = dkm_potrf_checkpoint_factorize(&checkpoint, &potrf_info);
        dkm_phase_end(s->ctx);
        if (status != DKM_OK || potrf_info == 0)
            goto out;
    }
    DKM_AGREE(s->ctx, dkm_error_user(s->ctx, DKM_ERR_NUMERIC,
                                     "K + gamma I cannot be factored in single precision (leading "
                                     "minor %lld): use --precision double or a larger gamma",
                                     (long long)potrf_info));
out:
    return status;
}

/* The columns of a block and the probe behind them, each scaled to length one so that single
 * precision can hold; norms are unchanged. */
static void mixed_normalize(mixed *s, const dkm_multivec *in)
{
    dkm_multivec *B = &s->block;

    dkm_multivec_copy(in, B);
    dkm_multivec_append(B, &s->probe);
    dkm_multivec_dots(B, B, s->lengths);
    for (dkm_idx j = 0; j < B->cols; j++)
        s->lengths[j] = s->lengths[j] > 0 ? sqrt(s->lengths[j]) : 1.0;
    for (dkm_idx i = 0; i < B->n; i++)
        for (dkm_idx j = 0; j < B->cols; j++)
            B->a[i * B->ld + j] /= s->lengths[j];
}

/* rows <- (L L')^-1 rows, q columns of them */
static dkm_status mixed_solve_rows(const mixed *s, dkm_idx q, double *rows)
{
    dkm_status status = DKM_OK;
    dkm_dmat *V = NULL;

    if (q <= DKM_NRHS_BLOCK || !dkm_dmat_suits_scalapack(s->L))
        return dkm_la_potrs_multivec(s->L, q, rows);
    DKM_TRY(dkm_dmat_create_like(s->L, q, s->nb, DKM_F32, &V));
    DKM_TRY(dkm_dmat_from_rows(V, rows));
    dkm_la_trsm('N', s->L, V);
    dkm_la_trsm('T', s->L, V);
    DKM_TRY(dkm_dmat_to_rows(V, rows));
out:
    dkm_dmat_destroy(&V);
    return status;
}

/* out = (L L')^-1 in */
static dkm_status mixed_precondition(void *user, const dkm_multivec *in, dkm_multivec *out)
{
    mixed *s = user;
    dkm_status status = DKM_OK;
    dkm_idx p = in->cols, q = p + 1;
    const double *solved = s->block.a;

    mixed_normalize(s, in);
    DKM_TRY(mixed_solve_rows(s, q, s->block.a));
    out->cols = p;
    for (dkm_idx i = 0; i < in->n; i++) {
        for (dkm_idx j = 0; j < p; j++)
            out->a[i * out->ld + j] = solved[i * q + j] * s->lengths[j];
        s->probe.a[i] = solved[i * q + p];
    }
    s->inverse = dkm_multivec_norm(&s->probe);
out:
    return status;
}

/* The single precision solution alone, with its residual measured in double. */
static dkm_status mixed_solve_f32(mixed *s, const dkm_linop *A, const dkm_multivec *Y,
                                  dkm_multivec *X, double *residual)
{
    dkm_status status = DKM_OK;
    dkm_multivec R = {0};
    double norm;

    DKM_TRY(mixed_precondition(s, Y, X));
    DKM_AGREE(s->ctx, dkm_multivec_init(&R, s->ctx, s->m, Y->cols));
    DKM_TRY(dkm_linop_apply(A, X, &R));
    dkm_multivec_axpy(-1.0, Y, &R);
    norm = dkm_multivec_norm(Y);
    *residual = dkm_multivec_norm(&R) / (norm > 0 ? norm : 1.0);
out:
    dkm_multivec_free(&R);
    return status;
}

/* The report is the worst over all blocks of columns. */
static void mixed_note_outcome(const mixed *s, const dkm_pcg_outcome *o, const dkm_multivec *Y,
                               const dkm_multivec *X, dkm_ridge_info *info)
{
    double y = dkm_multivec_norm(Y), x = (s->largest + s->gamma) * dkm_multivec_norm(X);

    info->steps = o->steps > info->steps ? o->steps : info->steps;
    if (!(o->residual <= info->residual))
        info->residual = o->residual;
    if (y > 0 && !(o->residual * y / (x + y) <= info->backward))
        info->backward = o->residual * y / (x + y);
}

/* Columns [c, c + p) of the solution, in place of those columns of the right-hand sides in @p rows.
 */
static dkm_status mixed_solve_columns(mixed *s, const dkm_ridge_settings *settings, int refine,
                                      double *rows, dkm_idx d, dkm_idx c, dkm_idx p,
                                      dkm_ridge_info *info)
{
    dkm_status status = DKM_OK;
    dkm_multivec Y = {0}, X = {0};
    dkm_kernel_op K = {s->grid, s->X, s->nb, s->K, 1.0, s->gamma};
    dkm_pcg_settings how = {.tolerance = settings->tolerance,
                            .max_steps = MAX_ITERATIONS,
                            .worth = s->worth,
                            .A = {dkm_kernel_op_apply, &K},
                            .M = {mixed_precondition, s}};
    dkm_pcg_outcome outcome = {0};

    DKM_AGREE(s->ctx, dkm_multivec_init(&Y, s->ctx, s->m, p));
    DKM_AGREE(s->ctx, dkm_multivec_init(&X, s->ctx, s->m, p));
    DKM_AGREE(s->ctx, dkm_multivec_init(&s->block, s->ctx, s->m, p + 1));
    DKM_AGREE(s->ctx, dkm_alloc(s->ctx, p + 1, &s->lengths));
    Y.cols = p;
    for (dkm_idx i = 0; i < Y.n; i++)
        memcpy(Y.a + i * p, rows + i * d + c, (size_t)p * sizeof *rows);
    if (refine)
        DKM_TRY(dkm_pcg(&Y, &how, s->m, &X, &outcome));
    else
        DKM_TRY(mixed_solve_f32(s, &how.A, &Y, &X, &outcome.residual));
    for (dkm_idx i = 0; i < X.n; i++)
        memcpy(rows + i * d + c, X.a + i * p, (size_t)p * sizeof *rows);
    mixed_note_outcome(s, &outcome, &Y, &X, info);
out:
    DKM_FREE(s->lengths);
    dkm_multivec_free(&s->block);
    dkm_multivec_free(&X);
    dkm_multivec_free(&Y);
    return status;
}

static dkm_status mixed_solve_all(mixed *s, const dkm_ridge_settings *settings, int refine,
                                  const dkm_dmat *Y, dkm_dmat **B, dkm_ridge_info *info)
{
    dkm_status status = DKM_OK;
    dkm_idx d = dkm_dmat_cols(Y), n = dkm_slab_count(s->m, 0, dkm_ctx_size(s->ctx));
    dkm_idx each = (dkm_idx)(BLOCK_BYTES / sizeof(double) / (double)(n > 0 ? n : 1));
    double *rows = NULL;
    dkm_dmat *X = NULL;

    each = each < 1 ? 1 : each;
    DKM_AGREE(s->ctx, dkm_alloc(s->ctx, n * d, &rows));
    DKM_TRY(dkm_dmat_to_rows(Y, rows));
    for (dkm_idx c = 0; c < d; c += each)
        DKM_TRY(mixed_solve_columns(s, settings, refine, rows, d, c, c + each < d ? each : d - c,
                                    info));
    DKM_TRY(dkm_dmat_create_like(Y, d, dkm_dmat_col_block(Y), DKM_F64, &X));
    DKM_TRY(dkm_dmat_from_rows(X, rows));
    *B = X;
    X = NULL;
out:
    dkm_dmat_destroy(&X);
    DKM_FREE(rows);
    return status;
}

/* Random, so that it has a part of every eigenvector. */
static dkm_local mixed_open_probe(mixed *s)
{
    dkm_local local = dkm_multivec_init(&s->probe, s->ctx, s->m, 1);
    dkm_idx first = dkm_slab_first(s->m, dkm_ctx_rank(s->ctx), dkm_ctx_size(s->ctx));

    s->probe.cols = 1;
    for (dkm_idx i = 0; local.code == DKM_OK && i < s->probe.n; i++)
        s->probe.a[i] = dkm_random_normal(0, PROBE_STREAM, (uint64_t)(first + i), 0);
    return local;
}

static double mixed_condition(const mixed *s, double shift)
{
    double smallest = s->inverse > 0 ? 1.0 / s->inverse : 0.0;

    return (s->largest + s->gamma) / fmax(smallest - shift, s->gamma);
}

dkm_status dkm_posv_mixed(const dkm_kernel *kernel, const dkm_prepared *X, dkm_idx nb,
                          const dkm_ridge_settings *settings, int keep, int refine, double worth,
                          const dkm_dmat *Y, dkm_dmat **K, dkm_dmat **L, dkm_dmat **B,
                          dkm_ridge_info *info)
{
    dkm_status status = DKM_OK;
    mixed s = {.grid = dkm_dmat_grid(Y), .kernel = kernel, .X = X, .m = dkm_dmat_rows(Y), .nb = nb};

    *B = *K = NULL;
    if (L)
        *L = NULL;
    s.worth = worth;
    *info = (dkm_ridge_info){.precision = refine ? "mixed" : "single", .recomputed = !keep};
    s.ctx = dkm_grid_ctx(s.grid);
    s.gamma = settings->gamma;
    DKM_AGREE(s.ctx, mixed_open_probe(&s));
    if (keep)
        DKM_TRY(dkm_gram(s.grid, kernel, X, nb, DKM_F64, &s.K));
    DKM_TRY(mixed_factor(&s, settings->tolerance, info));
    dkm_phase_begin(s.ctx, "refine");
    status = mixed_solve_all(&s, settings, refine, Y, B, info);
    dkm_phase_end(s.ctx);
    DKM_TRY(status);
    info->condition = mixed_condition(&s, info->shift);
    if (L) {
        *L = s.L;
        s.L = NULL;
    }
out:
    dkm_multivec_free(&s.probe);
    dkm_dmat_destroy(&s.L);
    *K = s.K;
    return status;
}
