/* Locally linear embedding (Roweis and Saul 2000, Science 290:2323-2326,
 * doi:10.1126/science.290.5500.2323): the coordinates Z minimize ||(I - W) Z||^2; they are the
 * bottom eigenvectors of N = (I - W)'(I - W) after the constant one.
 *
 * N + 1 1'/m is nonsingular and has the same bottom eigenvectors except for the constant one: they
 * are the leading ones of its inverse, found by block Lanczos from one Cholesky factor.
 *
 * Cost: m^2 d flops for the neighbors, m k^3 for the weights, m^3 / 3 for the factor, over all
 * ranks; N takes m^2 / ranks numbers per rank. Replicated: the m k weights. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <dkmap/psd.h>
#include <dkmap/random.h>

#include "core/alloc.h"
#include "matrix/dmat_impl.h"
#include "models/lle/lle_impl.h"
#include "models/registry/model_impl.h"
#include "solvers/krylov/block_lanczos.h"
#include "solvers/ridge/shifted_cholesky.h"

#define TOLERANCE   1e-11
#define ROUNDS      60
#define SHIFT       1e-12 /* of the largest eigenvalue, for neighbors that fall into pieces */
#define SIGN_STREAM 0x6c6c65u
#define ABOVE       1.001 /* the largest eigenvalue is known from below */

/* What a fit holds beside. */
typedef struct fit {
    dkm_lle *s;
    dkm_ctx *ctx;
    dkm_idx m;
    dkm_objs W; /* all rows: k indices, then k weights */
    dkm_dmat *A;
    dkm_shifted_cholesky factor;
    dkm_multivec V;
    double *values;
    dkm_lle_info info;
} fit;

dkm_lle_settings dkm_lle_settings_default(void)
{
    return (dkm_lle_settings){.neighbors = 10, .components = 2, .ridge = 1e-3};
}

/* All weights to every rank: they are little beside its share of N. */
static dkm_status find_weights(fit *f)
{
    dkm_status status = DKM_OK;
    dkm_idx *all = NULL;
    dkm_data *pairs = NULL;

    DKM_TRY(dkm_data_create_dense(f->ctx, f->m, 2 * f->s->k, &pairs));
    DKM_TRY(dkm_barycentric_weights(&f->s->anchors, f->s->fitted.X, 1, f->s->k, f->s->ridge,
                                    dkm_data_values(pairs)));
    DKM_AGREE(f->ctx, dkm_alloc(f->ctx, f->m, &all));
    for (dkm_idx i = 0; i < f->m; i++)
        all[i] = i;
    DKM_TRY(dkm_data_fetch(pairs, f->m, all, &f->W));
out:
    DKM_FREE(all);
    dkm_data_destroy(&pairs);
    return status;
}

/* Entry a of row i of I - W: the point itself, then its neighbors. */
static dkm_idx lle_fit_entry(const fit *f, dkm_idx i, dkm_idx a, double *value)
{
    const double *row = f->W.values + i * f->W.d;

    *value = a == 0 ? 1.0 : -row[f->s->k + a - 1];
    return a == 0 ? i : (dkm_idx)row[a - 1];
}

static void add_at(dkm_dmat *A, dkm_idx ig, dkm_idx jg, double value)
{
    int P = dkm_grid_rows(A->grid), Q = dkm_grid_cols(A->grid);

    if (dkm_cyclic_owner(ig, A->mb, P) == dkm_grid_row(A->grid) &&
        dkm_cyclic_owner(jg, A->nb, Q) == dkm_grid_col(A->grid))
        A->a.f64[dkm_cyclic_local(ig, A->mb, P) + dkm_cyclic_local(jg, A->nb, Q) * A->ld] += value;
}

static double one_over(void *user, dkm_idx ig, dkm_idx jg)
{
    (void)ig;
    (void)jg;
    return 1.0 / *(double *)user;
}

/* A = (I - W)'(I - W) + 1 1'/m */
static dkm_status lle_fit_make_matrix(fit *f)
{
    dkm_status status = DKM_OK;
    double m = (double)f->m, u, v;

    DKM_TRY(dkm_dmat_create(f->s->fitted.grid, f->m, f->m, f->s->fitted.nb, f->s->fitted.nb,
                            DKM_F64, &f->A));
    dkm_dmat_fill(f->A, one_over, &m);
    for (dkm_idx i = 0; i < f->m; i++)
        for (dkm_idx a = 0; a <= f->s->k; a++)
            for (dkm_idx b = 0; b <= f->s->k; b++) {
                dkm_idx ig = lle_fit_entry(f, i, a, &u), jg = lle_fit_entry(f, i, b, &v);
                add_at(f->A, ig, jg, u * v);
            }
out:
    return status;
}

static dkm_status lle_fit_invert(fit *f)
{
    dkm_status status = DKM_OK;
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx minor = 0;

    DKM_TRY(dkm_shifted_cholesky_open(&f->factor, f->A, "N"));
    DKM_TRY(dkm_shifted_cholesky_attempt(&f->factor, 0.0, &minor));
    if (minor != 0) {
        f->info.shift = SHIFT * f->factor.largest;
        dkm_log(f->ctx, DKM_WARN,
                "the neighbors fall into pieces that no point joins: take more of them; %.1e was "
                "added to the diagonal",
                f->info.shift);
        DKM_TRY(dkm_shifted_cholesky_attempt(&f->factor, f->info.shift, &minor));
    }
    if (minor != 0)
        local = dkm_fail(f->ctx, DKM_ERR_NUMERIC,
                         "the matrix of weights is singular (leading minor %lld): are points "
                         "repeated? take more neighbors",
                         (long long)minor);
    DKM_AGREE(f->ctx, local);
out:
    return status;
}

static dkm_status apply_inverse(void *user, const dkm_multivec *Q, dkm_multivec *Y)
{
    const fit *f = user;
    dkm_status status = DKM_OK;
    dkm_multivec packed = {0};
    dkm_dmat *B = NULL;

    DKM_AGREE(f->ctx, dkm_multivec_init(&packed, f->ctx, f->m, Q->cols));
    dkm_multivec_append(&packed, Q);
    DKM_TRY(dkm_dmat_create_like(f->A, Q->cols, f->s->fitted.nb, DKM_F64, &B));
    DKM_TRY(dkm_dmat_from_rows(B, packed.a));
    dkm_shifted_cholesky_apply(&f->factor, B);
    DKM_TRY(dkm_dmat_to_rows(B, packed.a));
    Y->cols = 0;
    dkm_multivec_append(Y, &packed);
out:
    dkm_dmat_destroy(&B);
    dkm_multivec_free(&packed);
    return status;
}

/* The side of a random plane decides the sign, so that it does not depend on the ranks. */
static dkm_status lle_fit_fix_signs(fit *f)
{
    dkm_status status = DKM_OK;
    dkm_idx first = dkm_data_local_first(f->s->fitted.X), p = f->V.cols;
    double *side = NULL;

    DKM_AGREE(f->ctx, dkm_calloc(f->ctx, p, &side));
    for (dkm_idx i = 0; i < f->V.n; i++)
        for (dkm_idx j = 0; j < p; j++)
            side[j] += f->V.a[i * f->V.ld + j] *
                       dkm_random_normal(0, SIGN_STREAM, (uint64_t)(first + i), 0);
    MPI_Allreduce(MPI_IN_PLACE, side, (int)p, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(f->ctx));
    for (dkm_idx i = 0; i < f->V.n; i++)
        for (dkm_idx j = 0; j < p; j++)
            f->V.a[i * f->V.ld + j] *= side[j] < 0 ? -1.0 : 1.0;
out:
    DKM_FREE(side);
    return status;
}

static dkm_status find_vectors(fit *f)
{
    dkm_status status = DKM_OK;
    dkm_idx p = f->s->p;
    char name[DKM_FINGERPRINT_LENGTH + 64];
    dkm_block_lanczos_settings settings = {.m = f->m,
                                           .components = p,
                                           .block = p + 6,
                                           .tolerance = TOLERANCE,
                                           .max_rounds = ROUNDS,
                                           .grid = f->s->fitted.grid,
                                           .name = name};
    const dkm_linop inverse = {apply_inverse, f};
    dkm_block_lanczos_outcome outcome;

    snprintf(name, sizeof name, "(N + %.8g I)^-1, N=%s", f->info.shift, f->factor.print);
    DKM_AGREE(f->ctx, dkm_alloc(f->ctx, p, &f->values));
    DKM_AGREE(f->ctx, dkm_multivec_init(&f->V, f->ctx, f->m, p));
    dkm_phase_begin(f->ctx, "eigen");
    status = dkm_block_lanczos(f->ctx, &settings, &inverse, NULL, f->values, &f->V, &outcome);
    dkm_phase_end(f->ctx);
    DKM_TRY(status);
    if (!outcome.converged)
        dkm_log(f->ctx, DKM_WARN, "the eigensolver stopped at a residual of %.1e after %d rounds",
                outcome.residual, outcome.rounds);
    DKM_TRY(lle_fit_fix_signs(f));
    f->info.rounds = outcome.rounds;
    f->info.residual = outcome.residual;
    f->info.smallest = 1.0 / f->values[0] - f->info.shift;
    f->info.largest = 1.0 / f->values[p - 1] - f->info.shift;
    for (dkm_idx k = 0; k < p; k++)
        f->info.error += 1.0 / f->values[k] - f->info.shift;
out:
    return status;
}

/* H (L I - N) H; what 1 1'/m added to N falls away. */
static dkm_status make_gram(fit *f)
{
    dkm_status status = DKM_OK;
    double smallest, largest, *means = NULL;

    DKM_AGREE(f->ctx, dkm_alloc(f->ctx, f->m, &means));
    DKM_TRY(dkm_shifted_cholesky_restore(&f->factor));
    DKM_TRY(dkm_extremal_eigenvalues(f->A, &smallest, &largest));
    for (dkm_idx k = 0; k < f->A->ld * f->A->n_loc; k++)
        f->A->a.f64[k] = -f->A->a.f64[k];
    dkm_dmat_shift_diagonal(f->A, ABOVE * largest);
    DKM_TRY(dkm_gram_center(f->A, means));
    DKM_TRY(dkm_gram_to_rows(f->A, &f->info.gram));
out:
    DKM_FREE(means);
    return status;
}

static dkm_status embed(fit *f, const dkm_lle_settings *settings, dkm_data **Y)
{
    dkm_status status = DKM_OK;

    DKM_TRY(find_weights(f));
    DKM_TRY(lle_fit_make_matrix(f));
    DKM_TRY(lle_fit_invert(f));
    DKM_TRY(find_vectors(f));
    DKM_TRY(dkm_lle_cgls(f->s, &f->W, &f->V, &f->info));
    if (settings->gram)
        DKM_TRY(make_gram(f));
    if (!Y)
        goto out;
    DKM_TRY(dkm_data_create_dense(f->ctx, f->m, f->s->p, Y));
    for (dkm_idx i = 0; i < f->V.n; i++)
        memcpy(dkm_data_values(*Y) + i * f->s->p, f->V.a + i * f->V.ld,
               (size_t)f->s->p * sizeof(double));
out:
    return status;
}

static void lle_fit_close_fit(fit *f)
{
    dkm_shifted_cholesky_close(&f->factor);
    dkm_dmat_destroy(&f->A);
    dkm_objs_clear(&f->W);
    dkm_multivec_free(&f->V);
    DKM_FREE(f->values);
}

dkm_status dkm_lle_fit(dkm_ctx *ctx, const dkm_data *X, const dkm_lle_settings *settings,
                       dkm_model **model, dkm_data **Y, dkm_lle_info *info)
{
    dkm_status status = DKM_OK;
    fit f = {.ctx = ctx, .m = dkm_data_rows(X)};
    dkm_lle *s = NULL;

    *model = NULL;
    if (Y)
        *Y = NULL;
    DKM_AGREE(ctx, dkm_lle_check(ctx, X, settings->neighbors, settings->components));
    DKM_TRY(dkm_lle_open(ctx, X, &settings->layout, &s));
    s->k = settings->neighbors;
    s->p = settings->components;
    s->ridge = settings->ridge;
    f.s = s;
    DKM_TRY(embed(&f, settings, Y));
    f.info.m = f.m;
    f.info.components = s->p;
    f.info.P = dkm_grid_rows(s->fitted.grid);
    f.info.Q = dkm_grid_cols(s->fitted.grid);
    f.info.block = s->fitted.nb;
    status = dkm_model_wrap(ctx, &dkm_class_lle, s, DKM_DENSE, s->p, model);
    s = NULL; /* taken over, whatever came of it */
    DKM_TRY(status);
    if (info) {
        *info = f.info;
        f.info.gram = NULL;
    }
out:
    if (status != DKM_OK && Y)
        dkm_data_destroy(Y);
    dkm_data_destroy(&f.info.gram);
    lle_fit_close_fit(&f);
    if (s)
        dkm_lle_close(s);
    return status;
}
