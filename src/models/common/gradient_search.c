/* Minimizes log L over the logarithms of numbers by the limited-memory BFGS method of Nocedal 1980
 * (Mathematics of Computation 35:773-782) in NLopt's implementation. Numbers stay within a factor 1e3,
 * the ridge within 1e6, of where a search begins.
 *
 * Cost: that of the evaluations. Replicated: the numbers. */
#include "models/common/gradient_search.h"

#include <math.h>
#include <string.h>

#ifdef DKM_HAVE_NLOPT
#include <nlopt.h>
#endif

#include "core/alloc.h"

#define THETA_REACH 6.907755278982137 /* log 1e3 */
#define GAMMA_REACH 13.815510557964274
#define PRECISE     1e-6 /* relative change of the error below which a search ends */

dkm_local dkm_search_open(dkm_search *s, dkm_idx n)
{
    dkm_local local = DKM_LOCAL_OK;

    s->n = n;
    DKM_STEP(dkm_alloc(s->ctx, n, &s->x));
    DKM_STEP(dkm_alloc(s->ctx, n, &s->gradient));
    DKM_STEP(dkm_alloc(s->ctx, n, &s->best));
    DKM_STEP(dkm_alloc(s->ctx, n, &s->from));
out:
    return local;
}

void dkm_search_close(dkm_search *s)
{
    DKM_FREE(s->from);
    DKM_FREE(s->best);
    DKM_FREE(s->gradient);
    DKM_FREE(s->x);
}

/* Of rank 0, and with it of all. Collective. */
static dkm_status evaluate_at(dkm_search *t, double *loss)
{
    MPI_Bcast(t->x, (int)t->n, MPI_DOUBLE, 0, dkm_ctx_comm(t->ctx));
    t->fits++;
    t->status = t->evaluate(t, loss);
    if (t->status == DKM_OK)
        MPI_Bcast(loss, 1, MPI_DOUBLE, 0, dkm_ctx_comm(t->ctx));
    dkm_progress(t->ctx, (double)t->fits, (double)t->most);
    if (t->fits == 1)
        t->first = *loss;
    if (t->status == DKM_OK && *loss < t->least) {
        t->least = *loss;
        memcpy(t->best, t->x, (size_t)t->n * sizeof *t->x);
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
    memcpy(t->x, x, n * sizeof *x);
    if (evaluate_at(t, &loss) != DKM_OK || !(loss > 0) || !isfinite(loss)) {
        for (unsigned k = 0; gradient && k < n; k++)
            gradient[k] = 0;
        return t->status != DKM_OK ? HUGE_VAL : loss <= 0 ? -700 : 700;
    }
    for (unsigned k = 0; gradient && k < n; k++)
        gradient[k] = t->gradient[k] / loss;
    return log(loss);
}

static void lead(dkm_search *t)
{
    unsigned n = (unsigned)t->n;
    nlopt_opt opt = nlopt_create(NLOPT_LD_LBFGS, n);
    int next = SEARCH_ENDS;
    double value;

    for (unsigned k = 0; opt && k < n; k++) {
        double reach = (dkm_idx)k != t->ridge ? THETA_REACH : GAMMA_REACH;
        nlopt_set_lower_bound(opt, (int)k, t->from[k] - reach);
        nlopt_set_upper_bound(opt, (int)k, t->from[k] + reach);
    }
    if (opt) {
        t->optimizer = opt;
        nlopt_set_min_objective(opt, objective, t);
        nlopt_set_maxeval(opt, (int)(t->end - t->fits));
        nlopt_set_ftol_abs(opt, PRECISE);
        nlopt_optimize(opt, t->from,
                       &value); /* t->best has what was found, also after it gave up */
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
