/* Ridge regression by conjugate gradients: f(x) = k(x, C) A + b with landmarks C as centres, a
 * model in dual form on n inputs instead of m; or with all inputs as centres, where landmarks do no
 * more than precondition. */
#include <string.h>

#include "core/alloc.h"
#include "model/krr_distance.h"
#include "model/krr_dual.h"
#include "model/model_impl.h"
#include "solve/nystroem.h"

typedef struct fitting {
    dkm_ctx *ctx;
    const dkm_krr_settings *settings;
    dkm_feed feed;
    dkm_krr_dual *s;
    dkm_data *C; /* landmarks, where they are not the centres */
    dkm_prepared *landmarks;
    double *T; /* targets, this rank's slab */
    double *F; /* f(X) less the intercept, where the distance to the exact fit is wanted */
    dkm_nystroem_info info;
} fitting;

static dkm_status choose(fitting *f, const dkm_kernel *kernel)
{
    dkm_status status = DKM_OK;
    const dkm_nystroem_settings *how = &f->settings->nystroem;
    dkm_idx n = dkm_nystroem_count(how, f->feed.m), *places = NULL;

    dkm_phase_begin(f->ctx, "landmarks");
    DKM_AGREE(f->ctx, dkm_alloc(f->ctx, n, &places));
    DKM_TRY(dkm_feed_landmarks(&f->feed, kernel, how->choice, f->s->head.gamma, &n, places));
    DKM_TRY(dkm_feed_select(&f->feed, n, places, &f->C));
out:
    dkm_phase_end(f->ctx);
    DKM_FREE(places);
    return status;
}

/* The base is on the landmarks, or on all inputs, which are taken over. */
static dkm_status open_base(fitting *f, dkm_data **X, const dkm_kernel *kernel)
{
    dkm_status status = DKM_OK;
    int all = f->settings->nystroem.all_centers;

    DKM_TRY(dkm_base_open(&f->s->base, f->ctx, all ? X : &f->C, dkm_kernel_text(kernel),
                          &f->settings->layout));
    if (all)
        DKM_TRY(dkm_kernel_prepare(f->s->base.kernel, f->C, &f->landmarks));
    DKM_TRY(dkm_feed_aim(&f->feed, all ? f->landmarks : f->s->base.prepared));
out:
    return status;
}

static dkm_idx numbers(const fitting *f)
{
    return dkm_slab_count(f->feed.m, dkm_ctx_rank(f->ctx), dkm_ctx_size(f->ctx)) *
           f->s->head.targets.cols;
}

/* Coefficients of all inputs. */
static dkm_status solve_all(fitting *f, dkm_nystroem *N)
{
    dkm_status status = DKM_OK;
    const dkm_base *base = &f->s->base;
    dkm_idx p = f->s->head.targets.cols;
    double *rows = NULL;

    DKM_AGREE(f->ctx, dkm_alloc(f->ctx, numbers(f), &rows));
    memcpy(rows, f->T, (size_t)numbers(f) * sizeof *rows);
    DKM_TRY(dkm_nystroem_full(N, base->prepared, &f->settings->nystroem, f->s->head.gamma, p, rows,
                              &f->info));
    DKM_TRY(dkm_dmat_create(base->grid, f->feed.m, p, base->nb, base->nb, DKM_F64, &f->s->B));
    DKM_TRY(dkm_dmat_from_rows(f->s->B, rows));
    if (f->F) {
        DKM_TRY(dkm_gram_apply(base->grid, base->prepared, base->nb, p, rows));
        memcpy(f->F, rows, (size_t)numbers(f) * sizeof *rows);
    }
out:
    DKM_FREE(rows);
    return status;
}

/* Coefficients of the landmarks. */
static dkm_status solve_some(fitting *f, dkm_nystroem *N)
{
    dkm_status status = DKM_OK;
    dkm_idx p = f->s->head.targets.cols;
    dkm_slab A = {0};
    dkm_nystroem_pass pass = {.p = p, .V = &A, .F = f->F};

    DKM_TRY(dkm_nystroem_ridge(N, &f->settings->nystroem, f->s->head.gamma, p, f->T, &f->s->B,
                               &f->info));
    if (!f->F)
        goto out;
    DKM_AGREE(f->ctx, dkm_slab_init(&A, f->ctx, N->n, p));
    A.cols = p;
    DKM_TRY(dkm_dmat_to_rows(f->s->B, A.a));
    DKM_TRY(dkm_nystroem_products(N, &pass));
out:
    dkm_slab_free(&A);
    return status;
}

static dkm_status solve(fitting *f)
{
    dkm_status status = DKM_OK;
    const dkm_nystroem_settings *how = &f->settings->nystroem;
    const dkm_base *base = &f->s->base;
    dkm_nystroem_parts parts = {.grid = base->grid, .kernel = base->kernel, .feed = &f->feed};
    dkm_nystroem N = {0};

    parts.C = how->all_centers ? f->landmarks : base->prepared;
    parts.nb = how->all_centers ? dkm_grid_block(base->grid, dkm_data_rows(f->C)) : base->nb;
    DKM_TRY(dkm_nystroem_open(&N, &parts, how));
    if (f->feed.X && f->feed.m <= how->compare)
        DKM_AGREE(f->ctx, dkm_alloc(f->ctx, numbers(f), &f->F));
    DKM_TRY(how->all_centers ? solve_all(f, &N) : solve_some(f, &N));
    if (f->F)
        DKM_TRY(dkm_krr_distance(base, f->feed.X, f->s->head.gamma, f->s->head.targets.cols, f->T,
                                 f->F, &f->info.distance));
out:
    dkm_nystroem_close(&N);
    return status;
}

static void tell(fitting *f, dkm_krr_info *info)
{
    dkm_path_info path = {.count = 1, .solver = "pcg"};

    dkm_krr_head_tell(&f->s->head, &f->s->base, f->feed.m, &path, info);
    if (!info)
        return;
    info->form = "dual";
    info->nystroem = f->info;
}

dkm_status dkm_krr_landmark_fit(dkm_ctx *ctx, dkm_data **X, dkm_source *source, const dkm_data *Y,
                                const dkm_kernel *kernel, const dkm_krr_settings *settings,
                                dkm_model **model, dkm_krr_info *info)
{
    dkm_status status = DKM_OK;
    fitting f = {.ctx = ctx, .settings = settings};

    *model = NULL;
    f.feed = dkm_feed_of(X ? *X : NULL, source, ctx);
    DKM_AGREE(ctx, dkm_calloc(ctx, 1, &f.s));
    DKM_TRY(dkm_krr_head_rows(&f.s->head, Y, settings->center, &f.T));
    f.s->head.gamma = dkm_krr_head_path(&f.s->head, settings).gammas[0];
    DKM_TRY(choose(&f, kernel));
    DKM_TRY(open_base(&f, X, kernel));
    DKM_TRY(solve(&f));
    tell(&f, info);
    status = dkm_krr_dual_wrap(f.s, &dkm_method_krr, model);
    f.s = NULL; /* taken over, whatever came of it */
out:
    DKM_FREE(f.F);
    DKM_FREE(f.T);
    dkm_feed_close(&f.feed);
    dkm_prepared_destroy(&f.landmarks);
    dkm_data_destroy(&f.C);
    dkm_krr_dual_destroy(&f.s);
    if (X)
        dkm_data_destroy(X);
    return status;
}
