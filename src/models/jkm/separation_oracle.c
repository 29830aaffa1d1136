/* The separation oracle: for each example the most violated constraint, given W x. For a finite set
 * of candidates this is an exhaustive search, a panel of candidates at a time, 2 n c r flops over
 * all ranks for n examples and c candidates with r coordinates; on the unit sphere, and for free
 * outputs, in closed form (see separation_oracle.h), r flops per example. Every rank receives all
 * candidates: c r words. */
#include "models/jkm/separation_oracle.h"

#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "models/common/reproducible.h"
#include "models/jkm/chain/chain_set.h"

static double oracle_own_dot(dkm_idx n, const double *x, const double *y)
{
    double sum = 0;

    for (dkm_idx k = 0; k < n; k++)
        sum += x[k] * y[k];
    return sum;
}

void dkm_separation_oracle_set_epsilon(dkm_separation_oracle *oracle, double epsilon)
{
    oracle->epsilon = epsilon;
    oracle->margin = epsilon > 0 ? epsilon * epsilon / 4 : 1;
}

/* Where the weight vector says nothing yet an example is separated from the output of the next one.
 */
static dkm_status choose_away(dkm_separation_oracle *o, dkm_idx m)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = o->space->ctx;
    dkm_idx r = o->space->r, *next = NULL;
    dkm_objs got = {0};
    dkm_data *Z = NULL;

    DKM_TRY(dkm_data_create_dense(ctx, m, r, &Z));
    memcpy(dkm_data_values(Z), o->space->Z, (size_t)(o->n * r) * sizeof *o->away);
    DKM_AGREE(ctx, dkm_alloc(ctx, o->n, &next));
    for (dkm_idx i = 0; i < o->n; i++)
        next[i] = (o->first + i + 1) % m;
    DKM_TRY(dkm_data_fetch(Z, o->n, next, &got));
    o->away = got.values;
    got.values = NULL;
out:
    dkm_objs_clear(&got);
    dkm_data_destroy(&Z);
    DKM_FREE(next);
    return status;
}

dkm_status dkm_separation_oracle_open(dkm_separation_oracle *oracle, const dkm_output_space *space,
                                      dkm_idx m, const dkm_jkm_settings *settings)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = space->ctx;
    int rank = dkm_ctx_rank(ctx), size = dkm_ctx_size(ctx);

    *oracle = (dkm_separation_oracle){
        .space = space, .rescale = settings->rescale, .user = settings->oracle};
    oracle->first = dkm_slab_first(m, rank, size);
    oracle->n = dkm_slab_count(m, rank, size);
    dkm_separation_oracle_set_epsilon(oracle, settings->epsilon);
    DKM_AGREE(ctx, dkm_alloc(ctx, oracle->n, &oracle->violation));
    DKM_AGREE(ctx, dkm_alloc(ctx, oracle->n, &oracle->b));
    DKM_AGREE(ctx, dkm_alloc(ctx, oracle->n, &oracle->choice));
    DKM_AGREE(ctx, dkm_alloc(ctx, oracle->n * space->r, &oracle->V));
    if (space->kind != DKM_JKM_CANDIDATES)
        DKM_TRY(choose_away(oracle, m));
out:
    return status;
}

void dkm_separation_oracle_close(dkm_separation_oracle *oracle)
{
    DKM_FREE(oracle->away);
    DKM_FREE(oracle->violation);
    DKM_FREE(oracle->b);
    DKM_FREE(oracle->choice);
    DKM_FREE(oracle->V);
}

/* v <- the part of x at right angles to the unit vector y, at unit length; 0 when there is none. */
static int rest(dkm_idx r, const double *x, const double *y, double *v)
{
    double along = oracle_own_dot(r, x, y), length;

    for (dkm_idx k = 0; k < r; k++)
        v[k] = x[k] - along * y[k];
    length = sqrt(oracle_own_dot(r, v, v));
    if (!(length > 1e-12 * sqrt(oracle_own_dot(r, x, x))))
        return 0;
    for (dkm_idx k = 0; k < r; k++)
        v[k] /= length;
    return 1;
}

/* A direction at right angles to y, whatever happens. */
static void any_rest(dkm_idx r, const double *y, double *v)
{
    dkm_idx least = 0;

    for (dkm_idx k = 1; k < r; k++)
        if (fabs(y[k]) < fabs(y[least]))
            least = k;
    for (dkm_idx k = 0; k < r; k++)
        v[k] = (k == least) - y[least] * y[k];
    rest(r, v, y, v);
}

static void search_sphere(dkm_separation_oracle *o, dkm_idx i, const double *g)
{
    dkm_idx r = o->space->r;
    const double *y = o->space->Z + i * r;
    double *v = o->V + i * r, eps = o->epsilon, c = 1 - eps * eps / 2;
    double length = sqrt(oracle_own_dot(r, g, g)), s = eps * sqrt(1 - eps * eps / 4);

    if (length > 0 && oracle_own_dot(r, g, y) <= c * length) {
        for (dkm_idx k = 0; k < r; k++)
            v[k] = y[k] - g[k] / length;
    } else {
        if (!rest(r, g, y, v) && !rest(r, o->away + i * r, y, v))
            any_rest(r, y, v);
        for (dkm_idx k = 0; k < r; k++)
            v[k] = (1 - c) * y[k] - s * v[k];
    }
    o->b[i] = o->margin;
}

static void search_free(dkm_separation_oracle *o, dkm_idx i, const double *g)
{
    dkm_idx r = o->space->r;
    const double *y = o->space->Z + i * r;
    double *v = o->V + i * r, length = 0, along = 0;

    for (dkm_idx k = 0; k < r; k++)
        v[k] = y[k] - g[k];
    length = sqrt(oracle_own_dot(r, v, v));
    for (dkm_idx k = 0; k < r; k++) {
        v[k] = length > 0 ? o->epsilon * v[k] / length : (k == 0) * o->epsilon;
        along += v[k] * y[k];
    }
    /* (||y_i||^2 - ||y_i - v||^2) / 2 beside the margin */
    o->b[i] = o->margin + along - 0.5 * o->epsilon * o->epsilon;
}

static void search_user(dkm_separation_oracle *o, dkm_idx i, const double *g)
{
    dkm_idx r = o->space->r;
    const double *y = o->space->Z + i * r;
    double *v = o->V + i * r;

    o->b[i] = o->margin;
    o->choice[i] = o->user.find(o->user.user, o->first + i, r, g, y, v, &o->b[i]) ? -1 : -2;
    for (dkm_idx k = 0; k < r; k++)
        v[k] = y[k] - v[k];
}

/* What a panel of candidates looks like to the own examples. */
typedef struct view {
    dkm_idx first, count;
    double *rows;   /* count x r */
    double *norms;  /* count */
    double *scores; /* n x count: <g, c> */
    double *meets;  /* n x count: <z, c> */
} view;

static void close_view(view *w)
{
    DKM_FREE(w->rows);
    DKM_FREE(w->norms);
    DKM_FREE(w->scores);
    DKM_FREE(w->meets);
}

static dkm_local open_view(const dkm_separation_oracle *o, dkm_idx step, view *w)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_ctx *ctx = o->space->ctx;

    DKM_STEP(dkm_alloc(ctx, step * o->space->r, &w->rows));
    DKM_STEP(dkm_alloc(ctx, step, &w->norms));
    DKM_STEP(dkm_alloc(ctx, step * o->n, &w->scores));
    DKM_STEP(dkm_alloc(ctx, step * o->n, &w->meets));
out:
    return local;
}

static void fill_view(const dkm_separation_oracle *o, const double *G, view *w)
{
    dkm_idx r = o->space->r;
    dkm_row_block rows = {w->rows, r};

    dkm_repro_gemm_nt(o->n, w->count, r, 1.0, (dkm_row_block){G, r}, rows, 0.0, w->scores);
    dkm_repro_gemm_nt(o->n, w->count, r, 1.0, (dkm_row_block){o->space->Z, r}, rows, 0.0, w->meets);
    for (dkm_idx c = 0; c < w->count; c++)
        w->norms[c] = oracle_own_dot(r, w->rows + c * r, w->rows + c * r);
    dkm_phase_flops(o->space->ctx, 4.0 * (double)o->n * (double)w->count * (double)r);
}

/* Is candidate c one that counts for example i? */
static int listed(const dkm_separation_oracle *o, dkm_idx i, dkm_idx c)
{
    const dkm_objs *lists = o->space->lists ? &o->space->lists->mine : NULL;

    for (dkm_idx k = lists ? lists->start[i] : 0; lists && k < lists->start[i + 1]; k++)
        if (lists->col[k] == c)
            return 1;
    return !lists;
}

/* Keep the most violated constraint of example i among a panel of candidates. @p own is <g, z_i>,
 * @p norm is <z_i, z_i>. */
static void search_view(dkm_separation_oracle *o, dkm_idx i, double own, double norm, const view *w)
{
    const double *scores = w->scores + i * w->count, *meets = w->meets + i * w->count;

    for (dkm_idx c = 0; c < w->count; c++) {
        double apart = norm + w->norms[c] - 2 * meets[c], loss = apart / 2, b = o->margin, h;
        if (w->first + c == o->space->truth[i] || !listed(o, i, w->first + c) ||
            !(apart > o->epsilon * o->epsilon + 1e-12 * (norm + w->norms[c])))
            continue;
        if (o->rescale == DKM_JKM_RESCALE_MARGIN)
            b *= loss;
        h = b - (own - scores[c]);
        if (o->rescale == DKM_JKM_RESCALE_SLACK) {
            h *= loss;
            b *= loss;
        }
        if (h > o->violation[i]) {
            o->violation[i] = h;
            o->b[i] = b;
            o->choice[i] = w->first + c;
            for (dkm_idx k = 0; k < o->space->r; k++)
                o->V[i * o->space->r + k] =
                    (o->space->Z[i * o->space->r + k] - w->rows[c * o->space->r + k]) *
                    (o->rescale == DKM_JKM_RESCALE_SLACK ? loss : 1);
        }
    }
}

/* Classes are as far apart as one another: only scores count. */
static void search_classes(dkm_separation_oracle *o, const double *G)
{
    const dkm_output_space *s = o->space;
    double unit = s->unit, loss = unit * unit, factor = 1;
    double b = o->margin * (o->rescale == DKM_JKM_RESCALE_MARGIN ? loss : 1);

    if (o->rescale == DKM_JKM_RESCALE_SLACK)
        factor = loss;
    if (!(2 * loss > o->epsilon * o->epsilon))
        return;
    memset(o->V, 0, (size_t)(o->n * s->r) * sizeof *o->V);
    for (dkm_idx i = 0; i < o->n; i++) {
        const double *g = G + i * s->r;
        dkm_idx own = s->truth[i], best = -1;
        for (dkm_idx c = 0; c < s->r; c++)
            if (c != own && (best < 0 || g[c] > g[best]) && listed(o, i, c))
                best = c;
        if (best < 0)
            continue;
        o->choice[i] = best;
        o->b[i] = factor * b;
        o->violation[i] = factor * (b - unit * (g[own] - g[best]));
        o->V[i * s->r + own] = factor * unit;
        o->V[i * s->r + best] = -factor * unit;
    }
}

static dkm_status search_candidates(dkm_separation_oracle *o, const double *G)
{
    dkm_status status = DKM_OK;
    dkm_idx r = o->space->r, total = o->space->count, step = dkm_repro_panel_rows(r);
    view w = {0};

    DKM_AGREE(o->space->ctx, open_view(o, step, &w));
    for (w.first = 0; w.first < total; w.first += step) {
        w.count = total - w.first < step ? total - w.first : step;
        DKM_TRY(dkm_output_space_candidates(o->space, w.first, w.count, w.rows));
        fill_view(o, G, &w);
        for (dkm_idx i = 0; i < o->n; i++) {
            const double *z = o->space->Z + i * r;
            search_view(o, i, oracle_own_dot(r, G + i * r, z), oracle_own_dot(r, z, z), &w);
        }
    }
out:
    close_view(&w);
    return status;
}

dkm_status dkm_separation_oracle_search(dkm_separation_oracle *oracle, const double *G)
{
    dkm_idx r = oracle->space->r;

    if (oracle->chain) {
        dkm_chain_separate(oracle, G);
        return DKM_OK;
    }
    for (dkm_idx i = 0; i < oracle->n; i++) {
        oracle->violation[i] = -INFINITY;
        oracle->choice[i] = -1;
    }
    if (!oracle->user.find && oracle->space->classes.classes) {
        search_classes(oracle, G);
        return DKM_OK;
    }
    if (!oracle->user.find && oracle->space->kind == DKM_JKM_CANDIDATES)
        return search_candidates(oracle, G);
    for (dkm_idx i = 0; i < oracle->n; i++) {
        const double *g = G + i * r;
        if (oracle->user.find)
            search_user(oracle, i, g);
        else if (oracle->space->kind == DKM_JKM_SPHERE)
            search_sphere(oracle, i, g);
        else
            search_free(oracle, i, g);
        if (oracle->choice[i] == -1)
            oracle->violation[i] = oracle->b[i] - oracle_own_dot(r, g, oracle->V + i * r);
    }
    return DKM_OK;
}
