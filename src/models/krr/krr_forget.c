/* Examples removed from a model of kernel ridge regression: rows of its factor that stand for nothing
 * (krr_update.c says how). */
#include <string.h>

#include "core/alloc.h"
#include "data/objects.h"
#include "linalg/linalg.h"
#include "matrix/dmat_impl.h"
#include "models/krr/krr_fold.h"
#include "models/krr/krr_update_impl.h"

#define FOLD       16  /* one row in so many may stand for no example */
#define ORTHOGONAL 0.1 /* off by so much, a second pass makes rows orthonormal to rounding */

/* Rows of the factor that stand for no example from now on. */
typedef struct selection {
    dkm_idx retained, count; /* examples that stay, and that go */
    dkm_idx *keep;           /* of the examples, those that stay */
    dkm_idx *go;             /* of the rows of the factor, those of the others, ascending */
    dkm_idx *gone;           /* with those that stood for none before, ascending */
    dkm_idx dead;
} selection;

/* Which examples go, marked by a flag each. */
static dkm_local selection_mark(dkm_ctx *ctx, dkm_idx m, dkm_idx count, const dkm_idx *rows,
                                char *out)
{
    dkm_local local = DKM_LOCAL_OK;

    for (dkm_idx i = 0; i < count; i++) {
        if (rows[i] < 0 || rows[i] >= m)
            DKM_STEP(dkm_fail(ctx, DKM_ERR_ARG,
                              "row %lld is not there: the model has %lld examples, 0 to %lld",
                              (long long)rows[i], (long long)m, (long long)(m - 1)));
        if (out[rows[i]])
            DKM_STEP(dkm_fail(ctx, DKM_ERR_ARG, "row %lld is named twice", (long long)rows[i]));
        out[rows[i]] = 1;
    }
    if (count == 0 || count == m)
        DKM_STEP(dkm_fail(ctx, DKM_ERR_ARG, "%s of %lld examples to forget: name 1 to %lld",
                          count == 0 ? "none" : "all", (long long)m, (long long)(m - 1)));
out:
    return local;
}

static dkm_local selection_open(selection *z, const dkm_krr_dual *s, dkm_idx count,
                                const dkm_idx *rows)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_ctx *ctx = s->fitted.ctx;
    const dkm_krr_factor *f = &s->factor;
    dkm_idx m = dkm_data_rows(s->fitted.X), example = 0, known = 0;
    char *out = NULL;

    DKM_STEP(dkm_calloc(ctx, m, &out));
    DKM_STEP(selection_mark(ctx, m, count, rows, out));
    DKM_STEP(dkm_alloc(ctx, m, &z->keep));
    DKM_STEP(dkm_alloc(ctx, count, &z->go));
    DKM_STEP(dkm_alloc(ctx, count + f->dead, &z->gone));
    for (dkm_idx i = 0; i < m + f->dead; i++) {
        if (known < f->dead && f->gone[known] == i) {
            known++;
            z->gone[z->dead++] = i;
            continue;
        }
        if (out[example])
            z->gone[z->dead++] = z->go[z->count++] = i;
        else
            z->keep[z->retained++] = example;
        example++;
    }
out:
    DKM_FREE(out);
    return local;
}

static void selection_close(selection *z)
{
    DKM_FREE(z->gone);
    DKM_FREE(z->go);
    DKM_FREE(z->keep);
}

/* The outputs @p t of the examples that stay, one row each per column, and below them a row of the
 * identity for each example that goes: all are solved for in one pass over the factor. */
static dkm_status forget_sides(const dkm_krr_dual *s, const dkm_krr_base *base, const selection *z,
                               const dkm_multivec *t, dkm_dmat **sides)
{
    dkm_status status = DKM_OK;
    dkm_idx p = t->cols, nb = s->fitted.nb;
    const dkm_grid *grid = s->fitted.grid;
    dkm_data *wide = NULL;
    dkm_dmat *T = NULL;

    DKM_TRY(dkm_krr_base_give(base, t, &wide));
    DKM_TRY(dkm_krr_transpose_of(&s->fitted, wide, &T));
    DKM_TRY(dkm_dmat_create(s->fitted.grid, p + z->count, base->n, nb, nb, DKM_F64, sides));
    dkm_la_lacpy(T, (dkm_place){0, 0}, *sides, (dkm_place){0, 0}, p, base->n);
    for (dkm_idx il = 0; il < (*sides)->m_loc; il++) {
        dkm_idx k = dkm_dmat_global_row(*sides, il) - p;
        if (k >= 0 && dkm_cyclic_owner(z->go[k], nb, dkm_grid_cols(grid)) == dkm_grid_col(grid))
            dkm_dmat_put(*sides, il, dkm_cyclic_local(z->go[k], nb, dkm_grid_cols(grid)), 1.0);
    }
out:
    dkm_dmat_destroy(&T);
    dkm_data_destroy(&wide);
    return status;
}

/* W <- R^-T W with W W' = R'R, twice: its rows become orthonormal (CholeskyQR2; Yamamoto, Nakatsukasa,
 * Yanagisawa and Fukaya 2015, ETNA 44:306-326). @p info is not 0 where they are too near to one another. */
static dkm_status forget_orthonormalize(dkm_dmat *W, dkm_idx *info)
{
    dkm_status status = DKM_OK;
    dkm_dmat *G = NULL;

    for (int pass = 0; pass < 2; pass++) {
        dkm_dmat_destroy(&G);
        DKM_TRY(dkm_dmat_create(W->grid, W->m, W->m, W->mb, W->mb, DKM_F64, &G));
        dkm_la_syrk('N', 1.0, W, 0.0, G);
        dkm_dmat_shift_diagonal(G, -1.0);
        *info = pass > 0 && !(dkm_dmat_norm(G) < ORTHOGONAL);
        dkm_dmat_shift_diagonal(G, 1.0);
        if (*info == 0)
            DKM_TRY(dkm_la_potrf(G, info));
        if (*info != 0)
            break;
        dkm_la_trsm('N', G, W);
    }
out:
    dkm_dmat_destroy(&G);
    return status;
}

/* Q for all rows that stand for no example: those it had, and the new ones. The rows of Q are in the
 * order of the examples' going, which does not matter. */
static dkm_status forget_extend_basis(dkm_krr_dual *s, const dkm_krr_dual *old, dkm_dmat *W,
                                      dkm_idx *info)
{
    dkm_status status = DKM_OK;
    dkm_data *rows = NULL;

    DKM_TRY(forget_orthonormalize(W, info));
    if (*info != 0)
        return DKM_OK;
    DKM_TRY(dkm_krr_project(old->factor.Q, W)); /* what rounding left of the others */
    DKM_TRY(dkm_krr_rows_of(W, &rows));
    DKM_TRY(dkm_krr_update_stack(s, old->factor.Q, rows, &s->factor.Q));
out:
    dkm_data_destroy(&rows);
    return status;
}

/* Where each of the right-hand sides begins: outputs anywhere, columns of the identity at their one. */
static dkm_local forget_first(dkm_ctx *ctx, dkm_idx p, const selection *z, dkm_idx **first)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_calloc(ctx, p + z->count, first));
    memcpy(*first + p, z->go, (size_t)z->count * sizeof **first);
out:
    return local;
}

/* The basis, and b by the factor; where the rows that go are too near to one another, *info is not 0 and
 * nothing is done. */
static dkm_status forget_project(dkm_krr_dual *s, const dkm_krr_dual *old, const selection *z,
                                 const dkm_multivec *t, dkm_multivec *b, dkm_idx *info)
{
    dkm_status status = DKM_OK;
    dkm_idx p = t->cols, *first = NULL;
    dkm_krr_base base = {0};
    dkm_dmat *sides = NULL, *y = NULL, *W = NULL;

    dkm_phase_begin(s->fitted.ctx, "project");
    DKM_TRY(dkm_krr_base_open(&base, &s->factor, &s->fitted, dkm_krr_factor_order(&s->factor)));
    DKM_TRY(forget_sides(s, &base, z, t, &sides));
    DKM_AGREE(s->fitted.ctx, forget_first(s->fitted.ctx, p, z, &first));
    DKM_TRY(dkm_krr_factor_forward(&s->factor, &s->fitted, 0, first, sides));
    DKM_TRY(dkm_krr_project(old->factor.Q, sides));
    DKM_TRY(dkm_krr_take_rows(sides, p, z->count, &W));
    DKM_TRY(dkm_krr_take_rows(sides, 0, p, &y));
    dkm_dmat_destroy(&sides);
    DKM_TRY(forget_extend_basis(s, old, W, info));
    if (*info != 0)
        goto out;
    DKM_TRY(dkm_krr_project(s->factor.Q, y));
    DKM_TRY(dkm_krr_factor_back(&s->factor, &s->fitted, y));
    DKM_TRY(dkm_krr_base_take(&base, y, b));
out:
    dkm_phase_end(s->fitted.ctx);
    dkm_dmat_destroy(&W);
    dkm_dmat_destroy(&y);
    dkm_dmat_destroy(&sides);
    dkm_krr_base_close(&base);
    DKM_FREE(first);
    return status;
}

/* The rows of the factor stay where they are; @p info is not 0 where that cannot be. */
static dkm_status forget_lazily(dkm_krr_dual *s, const dkm_krr_dual *old, selection *z,
                                double *residual, dkm_idx *info)
{
    dkm_status status = DKM_OK;
    dkm_multivec t = {0}, b = {0};

    DKM_FREE(s->factor.gone);
    s->factor.gone = z->gone;
    s->factor.dead = z->dead;
    z->gone = NULL;
    DKM_TRY(dkm_krr_update_targets(s, old, &t));
    DKM_AGREE(s->fitted.ctx,
              dkm_multivec_init(&b, s->fitted.ctx, dkm_data_rows(s->fitted.X), t.cols));
    b.cols = t.cols;
    DKM_TRY(forget_project(s, old, z, &t, &b, info));
    if (*info == 0)
        DKM_TRY(dkm_krr_update_finish(s, &t, &b, residual));
out:
    dkm_multivec_free(&b);
    dkm_multivec_free(&t);
    return status;
}

/* The gaps are closed. */
static dkm_status forget_fold(dkm_krr_dual *s, const dkm_krr_dual *old, const dkm_idx *gone,
                              dkm_idx dead, double *residual)
{
    dkm_status status = DKM_OK;
    dkm_dmat *L = NULL;

    dkm_phase_begin(s->fitted.ctx, "fold");
    DKM_TRY(dkm_krr_fold(&old->factor, &old->fitted, dead, gone, &L));
    dkm_krr_update_return(&old->factor, &s->factor);
    s->factor.L = L;
    s->factor.dead = 0;
    DKM_FREE(s->factor.gone);
    dkm_dmat_destroy(&s->factor.Q);
out:
    dkm_phase_end(s->fitted.ctx);
    return status == DKM_OK ? dkm_krr_update_solve(s, old, residual) : status;
}

dkm_status dkm_krr_forget(dkm_krr_dual *old, dkm_idx count, const dkm_idx *rows, dkm_report *report)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = old->fitted.ctx;
    dkm_krr_dual s = {0};
    selection z = {0};
    dkm_data *X = NULL, *Y = NULL, *W = NULL;
    dkm_idx info = 1;
    double residual = 0;

    DKM_AGREE(ctx, dkm_krr_update_check(old));
    DKM_TRY(dkm_krr_factor_open(&old->factor, &old->fitted, old->outputs.gamma));
    DKM_AGREE(ctx, selection_open(&z, old, count, rows));
    DKM_TRY(dkm_data_select(old->fitted.X, z.retained, z.keep, &X));
    DKM_TRY(dkm_data_select(old->factor.Y, z.retained, z.keep, &Y));
    if (old->factor.weights)
        DKM_TRY(dkm_data_select(old->factor.weights, z.retained, z.keep, &W));
    DKM_TRY(dkm_krr_update_begin(old, X, &Y, W, &s));
    if (FOLD * z.dead <= z.retained + z.dead)
        DKM_TRY(forget_lazily(&s, old, &z, &residual, &info));
    if (info != 0)
        DKM_TRY(forget_fold(&s, old, s.factor.dead == z.dead ? s.factor.gone : z.gone, z.dead,
                            &residual));
    DKM_TRY(dkm_krr_update_remember(&s, old, -1.0, count));
    dkm_krr_update_replace(old, &s);
    dkm_krr_update_report(old, "forgotten", count, residual, report);
out:
    dkm_krr_update_clear(&s, old);
    dkm_data_destroy(&W);
    dkm_data_destroy(&Y);
    dkm_data_destroy(&X);
    selection_close(&z);
    return status;
}
