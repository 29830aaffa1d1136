/* Minimizes log L over the logarithms of numbers by the limited-memory BFGS method of Nocedal 1980
 * (Mathematics of Computation 35:773-782) in NLopt's implementation. Numbers stay within a factor 1e3,
 * the ridge within 1e6, of where a search begins.
 *
 * A search that goes on from the end of one for fewer examples knows about the second derivatives H: with
 * H = V diag(h) V' and x = x0 + V diag(|h|)^(-1/2) z the method begins with Newton's step in place of one down
 * the slope, and |dL/dz|^2 / 2 is what Newton's step would gain (Nocedal and Wright 2006, 3.3).
 *
 * Cost: that of the evaluations, n for H. Replicated: the numbers, and n^2 for H. */
#include "models/common/gradient_search.h"

#include <math.h>
#include <string.h>

#ifdef DKM_HAVE_NLOPT
#include <nlopt.h>
#endif

#include "core/alloc.h"
#include "linalg/eigen/syevd.h"

#define THETA_REACH 6.907755278982137 /* log 1e3 */
#define GAMMA_REACH 13.815510557964274
#define PRECISE     1e-6 /* relative change of the error below which a search ends by default */
#define DIFFERENCE  1e-3 /* of logarithms, for second derivatives */
#define FLAT        1e-4 /* of the largest: second derivatives are no smaller */
#define STEP_REACH  2.302585092994046 /* log 10: numbers in Newton's steps stay so near */
#define AGAIN       6                 /* searches from where the one before gave up */
#define MOST_CURVED 48 /* numbers for whose second derivatives so many looks are made */

dkm_local dkm_search_open(dkm_search *s, dkm_idx n)
{
    dkm_local local = DKM_LOCAL_OK;

    s->n = n;
    DKM_STEP(dkm_alloc(s->ctx, n, &s->x));
    DKM_STEP(dkm_alloc(s->ctx, n, &s->gradient));
    DKM_STEP(dkm_alloc(s->ctx, n, &s->best));
    DKM_STEP(dkm_calloc(s->ctx, n, &s->slope));
    DKM_STEP(dkm_alloc(s->ctx, n, &s->center));
    DKM_STEP(dkm_alloc(s->ctx, n, &s->from));
out:
    return local;
}

void dkm_search_close(dkm_search *s)
{
    DKM_FREE(s->basis);
    DKM_FREE(s->from);
    DKM_FREE(s->center);
    DKM_FREE(s->slope);
    DKM_FREE(s->best);
    DKM_FREE(s->gradient);
    DKM_FREE(s->x);
}

/* Of rank 0, and with it of all; `best` is not computed anew. Collective. */
static dkm_status evaluate_at(dkm_search *t, double *loss)
{
    MPI_Bcast(t->x, (int)t->n, MPI_DOUBLE, 0, dkm_ctx_comm(t->ctx));
    if (isfinite(t->least) && memcmp(t->x, t->best, (size_t)t->n * sizeof *t->x) == 0) {
        *loss = t->least;
        for (dkm_idx k = 0; k < t->n; k++)
            t->gradient[k] = t->slope[k] * *loss;
        return t->status;
    }
    t->fits++;
    t->spent += t->cost > 0 ? t->cost : 1.0;
    t->status = t->evaluate(t, loss);
    if (t->status == DKM_OK)
        MPI_Bcast(loss, 1, MPI_DOUBLE, 0, dkm_ctx_comm(t->ctx));
    dkm_progress(t->ctx, t->spent, (double)t->most);
    if (t->fits == 1)
        t->first = *loss;
    if (t->status == DKM_OK && *loss < t->least) {
        t->least = *loss;
        memcpy(t->best, t->x, (size_t)t->n * sizeof *t->x);
        for (dkm_idx k = 0; k < t->n; k++)
            t->slope[k] = t->gradient[k] / *loss;
    }
    return t->status;
}

/* The start of search number k > 0: numbers of the kernel are 1/3, 3, 1/9, 9, ... times those given,
 * and the ridge is a hundredth, for where a search begins with too much of it, it ends with a flat f. */
static double shift_of(dkm_idx k, int is_ridge)
{
    if (k == 0)
        return 0.0;
    return is_ridge ? -log(100.0) : (k % 2 ? -1.0 : 1.0) * log(3.0) * (double)((k + 1) / 2);
}

static double precise(const dkm_search *t)
{
    return t->precise > 0 ? t->precise : PRECISE;
}

enum { SEARCH_ENDS, SEARCH_LOOKS };

/* On ranks other than 0: evaluate wherever the search looks. Collective. */
static void follow(dkm_search *t)
{
    int next = SEARCH_LOOKS;
    double loss = INFINITY;

    while (next == SEARCH_LOOKS) {
        MPI_Bcast(&next, 1, MPI_INT, 0, dkm_ctx_comm(t->ctx));
        if (next == SEARCH_LOOKS)
            t->status = evaluate_at(t, &loss);
    }
}

#ifdef DKM_HAVE_NLOPT

/* x from NLopt's numbers. */
static void place(dkm_search *t, const double *z)
{
    dkm_idx n = t->n;

    memcpy(t->x, t->basis ? t->center : z, (size_t)n * sizeof *z);
    for (dkm_idx k = 0; t->basis && k < n; k++)
        for (dkm_idx i = 0; i < n; i++)
            t->x[i] += t->basis[i + k * n] * z[k];
}

/* The slope of the logarithm by NLopt's numbers. @return half of its square */
static double project_slope(const dkm_search *t, double loss, double *slope)
{
    dkm_idx n = t->n;
    double square = 0;

    for (dkm_idx k = 0; k < n; k++) {
        double by = t->basis ? 0 : t->gradient[k];
        for (dkm_idx i = 0; t->basis && i < n; i++)
            by += t->basis[i + k * n] * t->gradient[i];
        square += by * by / (loss * loss);
        if (slope)
            slope[k] = by / loss;
    }
    return square / 2.0;
}

/* What NLopt calls on rank 0, while the others wait in follow(). Where there is no error, as too far
 * away for a factor, the value is large and the slope none. NLopt's own bound on evaluations lets a
 * line search end first, so that the bound is checked here. */
static double objective(unsigned n, const double *x, double *gradient, void *user)
{
    dkm_search *t = user;
    int next = SEARCH_LOOKS;
    double loss = INFINITY;

    if (t->status != DKM_OK || t->fits >= t->end) {
        nlopt_force_stop(t->optimizer);
        return HUGE_VAL;
    }
    MPI_Bcast(&next, 1, MPI_INT, 0, dkm_ctx_comm(t->ctx));
    place(t, x);
    if (evaluate_at(t, &loss) != DKM_OK || !(loss > 0) || !isfinite(loss)) {
        for (unsigned k = 0; gradient && k < n; k++)
            gradient[k] = 0;
        return t->status != DKM_OK ? HUGE_VAL : loss <= 0 ? -700 : 700;
    }
    if (project_slope(t, loss, gradient) < precise(t) && t->basis) {
        t->settled = 1;
        nlopt_force_stop(t->optimizer);
    }
    return log(loss);
}

/* How far one of NLopt's numbers may go. */
static double reach_of(const dkm_search *t, dkm_idx k)
{
    double most = 0;

    if (!t->basis)
        return k != t->ridge ? THETA_REACH : GAMMA_REACH;
    for (dkm_idx i = 0; i < t->n; i++)
        most = fmax(most, fabs(t->basis[i + k * t->n]));
    return STEP_REACH / most;
}

/* Whether Newton's steps would go on. */
static int is_at_reach(const dkm_search *t)
{
    for (dkm_idx k = 0; t->basis && k < t->n; k++)
        if (fabs(t->from[k]) > 0.99 * reach_of(t, k))
            return 1;
    return 0;
}

static void lead(dkm_search *t)
{
    unsigned n = (unsigned)t->n;
    nlopt_opt opt = nlopt_create(NLOPT_LD_LBFGS, n);
    int next = SEARCH_ENDS;
    double value;

    for (unsigned k = 0; opt && k < n; k++) {
        double reach = reach_of(t, k);
        nlopt_set_lower_bound(opt, (int)k, t->from[k] - reach);
        nlopt_set_upper_bound(opt, (int)k, t->from[k] + reach);
    }
    if (opt) {
        t->optimizer = opt;
        nlopt_set_min_objective(opt, objective, t);
        nlopt_set_maxeval(opt, (int)(t->end - t->fits));
        nlopt_set_ftol_abs(opt, precise(t));
        t->settled = 0; /* t->best has what was found, also after it gave up */
        t->settled |= nlopt_optimize(opt, t->from, &value) == NLOPT_FTOL_REACHED;
        t->stopped = t->settled && is_at_reach(t);
        nlopt_destroy(opt);
        t->optimizer = NULL;
    }
    MPI_Bcast(&next, 1, MPI_INT, 0, dkm_ctx_comm(t->ctx));
}

dkm_status dkm_search_check(dkm_ctx *ctx)
{
    (void)ctx;
    return DKM_OK;
}

#else

static void lead(dkm_search *t)
{
    (void)t;
}

dkm_status dkm_search_check(dkm_ctx *ctx)
{
    return dkm_agree(ctx, dkm_fail(ctx, DKM_ERR_UNSUPPORTED,
                                   "tuning needs NLopt, and this dkmap was built without it "
                                   "(Debian: libnlopt-dev)"));
}

#endif

dkm_status dkm_search_look(dkm_search *t, const double *x, double *loss)
{
    *loss = INFINITY;
    memcpy(t->x, x, (size_t)t->n * sizeof *x);
    return evaluate_at(t, loss);
}

void dkm_search_restart(dkm_search *t)
{
    t->least = INFINITY;
}

/* V diag(|h|)^(-1/2) in the place of H. */
static dkm_local invert_root(dkm_search *t, double *H)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx n = t->n;
    double *values = NULL, most = 0;

    DKM_STEP(dkm_alloc(t->ctx, n, &values));
    for (dkm_idx j = 0; j < n; j++)
        for (dkm_idx i = 0; i < j; i++)
            H[i + j * n] = H[j + i * n] = (H[i + j * n] + H[j + i * n]) / 2.0;
    DKM_STEP(dkm_syevd_local(t->ctx, n, H, values));
    for (dkm_idx k = 0; k < n; k++)
        most = fmax(most, fabs(values[k]));
    for (dkm_idx k = 0; k < n; k++) {
        double root = sqrt(fmax(fabs(values[k]), FLAT * most));
        for (dkm_idx i = 0; i < n; i++)
            H[i + k * n] /= root > 0 ? root : 1.0;
    }
out:
    DKM_FREE(values);
    return local;
}

dkm_status dkm_search_take_curvature(dkm_search *t)
{
    dkm_status status = DKM_OK;
    dkm_idx n = t->n;
    double *H = NULL, loss = INFINITY;

    DKM_FREE(t->basis);
    if (n > MOST_CURVED || !isfinite(t->least))
        return DKM_OK;
    DKM_AGREE(t->ctx, dkm_calloc(t->ctx, n * n, &H));
    memcpy(t->center, t->best, (size_t)n * sizeof *t->best);
    memcpy(t->from, t->slope, (size_t)n * sizeof *t->slope); /* a better place may be seen */
    for (dkm_idx k = 0; k < n; k++) {
        memcpy(t->x, t->center, (size_t)n * sizeof *t->x);
        t->x[k] += DIFFERENCE;
        DKM_TRY(evaluate_at(t, &loss));
        for (dkm_idx i = 0; isfinite(loss) && loss > 0 && i < n; i++)
            H[i + k * n] = (t->gradient[i] / loss - t->from[i]) / DIFFERENCE;
    }
    MPI_Bcast(H, (int)(n * n), MPI_DOUBLE, 0, dkm_ctx_comm(t->ctx));
    DKM_AGREE(t->ctx, invert_root(t, H));
    t->basis = H;
    H = NULL;
out:
    DKM_FREE(H);
    return status;
}

/* One search from `best`. Collective. */
static void refine_once(dkm_search *t)
{
    memcpy(t->center, t->best, (size_t)t->n * sizeof *t->best);
    for (dkm_idx i = 0; i < t->n; i++)
        t->from[i] = t->basis ? 0.0 : t->best[i];
    if (dkm_ctx_rank(t->ctx) == 0)
        lead(t);
    else
        follow(t);
    MPI_Bcast(&t->settled, 1, MPI_INT, 0, dkm_ctx_comm(t->ctx));
    MPI_Bcast(&t->stopped, 1, MPI_INT, 0, dkm_ctx_comm(t->ctx));
}

dkm_status dkm_search_refine(dkm_search *t, dkm_idx fits)
{
    double before = INFINITY;

    t->end = t->fits + fits;
    for (int k = 0; k < AGAIN && t->fits < t->end && t->status == DKM_OK; k++) {
        refine_once(t);
        if ((t->settled && !t->stopped) || !(t->least < before * (1.0 - precise(t))))
            break;
        before = t->least;
        if (!t->stopped)
            DKM_FREE(t->basis); /* it was not that of a minimum */
    }
    return t->status;
}

dkm_status dkm_search_run(dkm_search *t, dkm_idx starts, dkm_idx fits)
{
    dkm_status status = DKM_OK;
    dkm_idx begun = t->fits;
    double *given = NULL;

    DKM_AGREE(t->ctx, dkm_alloc(t->ctx, t->n, &given));
    memcpy(given, t->best, (size_t)t->n * sizeof *given);
    for (dkm_idx k = 0; k < starts; k++) {
        for (dkm_idx i = 0; i < t->n; i++)
            t->from[i] = given[i] + shift_of(k, i == t->ridge);
        t->end = begun + fits * (k + 1) / starts;
        if (dkm_ctx_rank(t->ctx) == 0)
            lead(t);
        else
            follow(t);
        DKM_TRY(t->status);
    }
out:
    DKM_FREE(given);
    return status;
}
