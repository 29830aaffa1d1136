/* Kernel ridge regression on Nystroem landmarks C by preconditioned conjugate gradients, as in
 * Falkon (Rudi, Carratino and Rosasco 2017, NIPS 30, arXiv:1705.10958): f(x) = k(x, C) A + b, a
 * model in dual form on n inputs instead of m; or with all inputs as centers, where the landmarks
 * serve only as a preconditioner. Weights of examples scale rows of K_mn and of the outputs by their
 * roots: (K_nm W K_mn + gamma K_nn) A = K_nm W (Y - b).
 *
 * Cost: see solvers/nystroem: 4 m n p flops per iteration over all ranks and n p words per
 * allreduce. The landmarks and A are replicated. */
#include <string.h>

#include "core/alloc.h"
#include "models/krr/krr_distance.h"
#include "models/krr/krr_dual.h"
#include "models/registry/model_impl.h"
#include "solvers/nystroem/nystroem_impl.h"

typedef struct fitting {
    dkm_ctx *ctx;
    const dkm_krr_settings *settings;
    dkm_input_stream feed;
    dkm_krr_dual *s;
    dkm_idx *indices; /* of the landmarks among the inputs */
    dkm_data *C;      /* landmarks, where they are not the centers */
    dkm_prepared *landmarks;
    double *T; /* targets, this rank's slab */
    double *F; /* f(X) less the intercept, where the distance to the exact fit is wanted */
    dkm_nystroem_info info;
} fitting;

static dkm_status krr_nystroem_choose(fitting *f, const dkm_kernel *kernel)
{
    dkm_status status = DKM_OK;
    const dkm_nystroem_settings *how = &f->settings->nystroem;
    dkm_idx n = dkm_nystroem_count(how, f->feed.m);

    dkm_phase_begin(f->ctx, "landmarks");
    DKM_AGREE(f->ctx, dkm_alloc(f->ctx, n, &f->indices));
    DKM_TRY(dkm_input_stream_landmarks(&f->feed, kernel, how->choice, f->s->outputs.gamma, &n,
                                       f->indices));
    DKM_TRY(dkm_input_stream_select(&f->feed, n, f->indices, &f->C));
out:
    dkm_phase_end(f->ctx);
    return status;
}

/* The fitted kernel is on the landmarks, or on all inputs. */
static dkm_status krr_nystroem_open_base(fitting *f, const dkm_data *X, const dkm_kernel *kernel)
{
    dkm_status status = DKM_OK;
    int all = f->settings->nystroem.all_centers;

    DKM_TRY(dkm_fitted_kernel_open(&f->s->fitted, f->ctx, all ? X : f->C, kernel,
                                   &f->settings->layout));
    if (all)
        DKM_TRY(dkm_kernel_prepare(f->s->fitted.kernel, f->C, &f->landmarks));
    else
        DKM_TRY(dkm_fitted_kernel_set_indices(&f->s->fitted, f->indices));
    DKM_TRY(dkm_input_stream_bind(&f->feed, all ? f->landmarks : f->s->fitted.prepared));
out:
    return status;
}

static dkm_idx krr_nystroem_numbers(const fitting *f)
{
    return dkm_slab_count(f->feed.m, dkm_ctx_rank(f->ctx), dkm_ctx_size(f->ctx)) *
           f->s->outputs.encoder.cols;
}

/* Coefficients of all inputs. */
static dkm_status krr_nystroem_solve_all(fitting *f, dkm_nystroem *N)
{
    dkm_status status = DKM_OK;
    const dkm_fitted_kernel *fitted = &f->s->fitted;
    dkm_idx p = f->s->outputs.encoder.cols;
    double *rows = NULL;

    DKM_AGREE(f->ctx, dkm_alloc(f->ctx, krr_nystroem_numbers(f), &rows));
    memcpy(rows, f->T, (size_t)krr_nystroem_numbers(f) * sizeof *rows);
    DKM_TRY(dkm_nystroem_exact_pcg(N, fitted->prepared, &f->settings->nystroem, f->s->outputs.gamma,
                                   p, rows, &f->info));
    DKM_TRY(dkm_dmat_create(fitted->grid, f->feed.m, p, fitted->nb, fitted->nb, DKM_F64, &f->s->B));
    DKM_TRY(dkm_dmat_from_rows(f->s->B, rows));
    if (f->F) {
        DKM_TRY(dkm_gram_apply(fitted->grid, fitted->prepared, fitted->nb, p, rows));
        memcpy(f->F, rows, (size_t)krr_nystroem_numbers(f) * sizeof *rows);
    }
out:
    DKM_FREE(rows);
    return status;
}

/* Coefficients of the landmarks. */
static dkm_status solve_some(fitting *f, dkm_nystroem *N)
{
    dkm_status status = DKM_OK;
    dkm_idx p = f->s->outputs.encoder.cols;
    dkm_multivec A = {0};
    dkm_nystroem_pass pass = {.p = p, .V = &A, .F = f->F};

    DKM_TRY(dkm_nystroem_ridge(N, &f->settings->nystroem, f->s->outputs.gamma, p, f->T, &f->s->B,
                               &f->info));
    if (!f->F)
        goto out;
    DKM_AGREE(f->ctx, dkm_multivec_init(&A, f->ctx, N->n, p));
    A.cols = p;
    DKM_TRY(dkm_dmat_to_rows(f->s->B, A.a));
    DKM_TRY(dkm_nystroem_products(N, &pass));
out:
    dkm_multivec_free(&A);
    return status;
}

static dkm_status krr_nystroem_solve(fitting *f)
{
    dkm_status status = DKM_OK;
    const dkm_nystroem_settings *how = &f->settings->nystroem;
    const dkm_fitted_kernel *fitted = &f->s->fitted;
    dkm_nystroem_problem parts = {.grid = fitted->grid,
                                  .kernel = fitted->kernel,
                                  .feed = &f->feed,
                                  .roots = dkm_example_roots(&f->s->outputs.weights)};
    dkm_nystroem N = {0};

    parts.C = how->all_centers ? f->landmarks : fitted->prepared;
    parts.nb = how->all_centers ? dkm_grid_block(fitted->grid, dkm_data_rows(f->C)) : fitted->nb;
    DKM_TRY(dkm_nystroem_open(&N, &parts, how));
    if (f->feed.X && f->feed.m <= how->compare)
        DKM_AGREE(f->ctx, dkm_alloc(f->ctx, krr_nystroem_numbers(f), &f->F));
    DKM_TRY(how->all_centers ? krr_nystroem_solve_all(f, &N) : solve_some(f, &N));
    if (f->F)
        DKM_TRY(dkm_krr_distance(fitted, f->feed.X, f->s->outputs.gamma, f->s->outputs.weights.root,
                                 f->s->outputs.encoder.cols, f->T, f->F, &f->info.distance));
out:
    dkm_nystroem_close(&N);
    return status;
}

static void krr_nystroem_report(fitting *f, dkm_krr_info *info)
{
    dkm_path_info path = {.count = 1, .solver = "pcg"};

    dkm_krr_outputs_report(&f->s->outputs, &f->s->fitted, f->feed.m, &path, info);
    if (!info)
        return;
    info->form = "dual";
    info->nystroem = f->info;
}

dkm_status dkm_krr_nystroem_fit(dkm_ctx *ctx, const dkm_data *X, dkm_source *source,
                                const dkm_data *Y, const dkm_kernel *kernel,
                                const dkm_krr_settings *settings, dkm_model **model,
                                dkm_krr_info *info)
{
    dkm_status status = DKM_OK;
    fitting f = {.ctx = ctx, .settings = settings};

    *model = NULL;
    f.feed = dkm_input_stream_open(X, source, ctx);
    DKM_AGREE(ctx, dkm_calloc(ctx, 1, &f.s));
    DKM_TRY(dkm_krr_outputs_rows(&f.s->outputs, Y, settings->center, settings->weights, &f.T));
    f.s->weighted = settings->weights != NULL;
    f.s->outputs.gamma = dkm_krr_outputs_path(&f.s->outputs, settings).gammas[0];
    DKM_TRY(krr_nystroem_choose(&f, kernel));
    DKM_TRY(krr_nystroem_open_base(&f, X, kernel));
    DKM_TRY(krr_nystroem_solve(&f));
    dkm_example_weights_close(&f.s->outputs.weights);
    krr_nystroem_report(&f, info);
    status = dkm_krr_dual_wrap(f.s, &dkm_class_krr, model);
    f.s = NULL; /* taken over, whatever came of it */
out:
    DKM_FREE(f.F);
    DKM_FREE(f.T);
    dkm_input_stream_close(&f.feed);
    dkm_prepared_destroy(&f.landmarks);
    dkm_data_destroy(&f.C);
    DKM_FREE(f.indices);
    dkm_krr_dual_destroy(&f.s);
    return status;
}
