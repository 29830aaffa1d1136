/* What the iterations of svm_decomposition.c are made of: lists of the largest violators, which merge in a
 * reduction, and sequential minimal optimization on a few variables.
 *
 * SMO moves the pair (i, j) of the second-order rule: i has the largest -f of all whose a may grow
 * along y, and j promises the largest gain beside it (Fan, Chen and Lin 2005, JMLR 6:1889-1918).
 * With beta = y a the pair moves by beta_i += d, beta_j -= d,
 *
 *      d = (f_j - f_i) / (K_ii + K_jj - 2 K_ij)   within the bounds,   f += d (K_i - K_j).
 *
 * A step costs 4 n flops; no communication. */
#include <math.h>
#include <stdlib.h>

#include "comm/merge_lists.h"
#include "solvers/svm/svm_dual_impl.h"

#define CURVATURE_LEAST 1e-12

/* ---- lists of violators ---- */

static int comes_before(const void *a, const void *b)
{
    const dkm_svm_violator *x = a, *y = b;

    return x->key > y->key || (x->key == y->key && x->id < y->id);
}

static int by_key(const void *a, const void *b)
{
    return comes_before(b, a) - comes_before(a, b);
}

void dkm_svm_violators_clear(dkm_svm_violators *v)
{
    v->filled = 0;
}

/* Let the entry at @p k sink below those that come after it: the last of all is at 0. */
static void sink(dkm_svm_violator *heap, dkm_idx n, dkm_idx k)
{
    for (dkm_idx child = 2 * k + 1; child < n; child = 2 * k + 1) {
        dkm_svm_violator held = heap[k];
        if (child + 1 < n && comes_before(&heap[child], &heap[child + 1]))
            child++;
        if (!comes_before(&heap[k], &heap[child]))
            return;
        heap[k] = heap[child];
        heap[child] = held;
        k = child;
    }
}

void dkm_svm_violators_put(dkm_svm_violators *v, double key, dkm_idx id)
{
    dkm_svm_violator one = {key, (double)id};

    if (v->filled < v->n) {
        v->list[v->filled++] = one;
        if (v->filled == v->n)
            for (dkm_idx k = v->n / 2; k-- > 0;)
                sink(v->list, v->n, k);
    } else if (comes_before(&one, &v->list[0])) {
        v->list[0] = one;
        sink(v->list, v->n, 0);
    }
}

void dkm_svm_violators_sort(dkm_svm_violators *v)
{
    qsort(v->list, (size_t)v->filled, sizeof *v->list, by_key);
    for (dkm_idx k = v->filled; k < v->n; k++)
        v->list[k] = (dkm_svm_violator){-INFINITY, 0};
}

static void merge_op(void *in, void *inout, int *count, MPI_Datatype *type)
{
    dkm_merge_lists(in, inout, *count, *type, sizeof(dkm_svm_violator), comes_before);
}

void dkm_svm_violators_op(dkm_idx n, MPI_Datatype *type, MPI_Op *op)
{
    MPI_Type_contiguous((int)(2 * n), MPI_DOUBLE, type);
    MPI_Type_commit(type);
    MPI_Op_create(merge_op, 1, op);
}

/* ---- sequential minimal optimization ---- */

/* Whether beta_k = y_k a_k may grow, or shrink. */
static int may_grow(const dkm_svm_subproblem *s, dkm_idx k)
{
    return s->y[k] > 0 ? s->a[k] < s->C[k] : s->a[k] > 0;
}

static int may_shrink(const dkm_svm_subproblem *s, dkm_idx k)
{
    return s->y[k] > 0 ? s->a[k] > 0 : s->a[k] < s->C[k];
}

static double curvature(const dkm_svm_subproblem *s, dkm_idx i, dkm_idx j)
{
    double c = s->K[i * s->n + i] + s->K[j * s->n + j] - 2.0 * s->K[i * s->n + j];

    return c > 0 ? c : CURVATURE_LEAST;
}

/* The pair to move; returns the violation, max f_j - f_i, -INFINITY where nothing can move. */
static double select_pair(const dkm_svm_subproblem *s, dkm_idx *i, dkm_idx *j)
{
    double lowest = INFINITY, highest = -INFINITY, gain = -1.0;

    *i = *j = -1;
    for (dkm_idx k = 0; k < s->n; k++)
        if (s->f[k] < lowest && may_grow(s, k)) {
            lowest = s->f[k];
            *i = k;
        }
    if (*i < 0)
        return -INFINITY;
    for (dkm_idx k = 0; k < s->n; k++) {
        double apart = s->f[k] - lowest;
        if (!may_shrink(s, k))
            continue;
        highest = fmax(highest, s->f[k]);
        if (apart > 0 && apart * apart / curvature(s, *i, k) > gain) {
            gain = apart * apart / curvature(s, *i, k);
            *j = k;
        }
    }
    return *j < 0 ? -INFINITY : highest - lowest;
}

/* How far beta_k may go in one direction, and there. */
static double distance_to_bound(const dkm_svm_subproblem *s, dkm_idx k, int sign)
{
    return s->y[k] * sign > 0 ? s->C[k] - s->a[k] : s->a[k];
}

static void move_beta(dkm_svm_subproblem *s, dkm_idx k, int sign, double d)
{
    double grows = s->y[k] * sign;

    if (d >= distance_to_bound(s, k, sign)) /* exactly to the bound */
        s->a[k] = grows > 0 ? s->C[k] : 0.0;
    else
        s->a[k] = fmin(s->C[k], fmax(0.0, s->a[k] + grows * d));
}

dkm_idx dkm_svm_subproblem_solve(dkm_svm_subproblem *sub, double tolerance, dkm_idx steps)
{
    dkm_idx i, j, moved = 0;
    double violation = select_pair(sub, &i, &j);

    for (; violation > tolerance && moved < steps; moved++) {
        double d = (sub->f[j] - sub->f[i]) / curvature(sub, i, j);
        const double *Ki = sub->K + i * sub->n, *Kj = sub->K + j * sub->n;
        d = fmin(d, fmin(distance_to_bound(sub, i, 1), distance_to_bound(sub, j, -1)));
        move_beta(sub, i, 1, d);
        move_beta(sub, j, -1, d);
        for (dkm_idx k = 0; k < sub->n; k++)
            sub->f[k] += d * (Ki[k] - Kj[k]);
        violation = select_pair(sub, &i, &j);
    }
    return moved;
}
