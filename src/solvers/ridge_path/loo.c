/* Leave-one-out and generalized cross-validation errors of ridge regression in closed form:
 *
 *   e_i = b_i / G_ii,  b = G t,  G = (K + gamma I)^-1;     GCV = m ||b||^2 / trace(G)^2
 *
 * Allen 1974 (PRESS), Technometrics 16(1):125-127, doi:10.1080/00401706.1974.10489157; Golub,
 * Heath and Wahba 1979, Technometrics 21(2):215-223, doi:10.1080/00401706.1979.10489751; for
 * kernels Rifkin and Lippert 2007, MIT-CSAIL-TR-2007-025. Of examples with weights w = s^2 the
 * system is scaled, S K S and S t: then e_i = s_i (y_i - f(x_i)), ones are s, and means over
 * examples are weighted. Cost: O(m p / ranks) per gamma, one
 * allreduce of a few sums. */
#include "solvers/ridge_path/loo.h"

#include <math.h>

#include "core/alloc.h"

/* Sums over all rows, one set per gamma: of LEVELS slopes or thresholds as well. */
enum { SQUARES, REST, TRACE, ONES, WRONG, LEVEL, LEVELS = 49, SUMS = LEVEL + LEVELS };

/* Slopes between a number and its double: the fourth roots of 2 to the power 0, 1, 2, 3. */
enum { SLOPES = 4 };
static const double slopes[SLOPES] = {1.0, 1.189207115002721, 1.4142135623730951,
                                      1.681792830507429};

#define NEGLIGIBLE 1e-20 /* beside a sum of at least 1 */

/* The k-th slope, from 1 to 4096, or share, from 0.02 to 0.98. */
static double level_at(const dkm_loo *loo, int k)
{
    return loo->settings->classes == DKM_PATH_LABEL_SETS ? 0.02 * (k + 1)
                                                         : ldexp(slopes[k % SLOPES], k / SLOPES);
}

dkm_local dkm_loo_open(dkm_loo *loo, const dkm_multivec *T, dkm_idx m,
                       const dkm_path_settings *settings)
{
    *loo = (dkm_loo){.T = T, .m = m, .settings = settings};
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_calloc(T->ctx, settings->count * SUMS, &loo->sums));
    if (settings->classes)
        DKM_STEP(dkm_alloc(T->ctx, T->cols, &loo->row));
out:
    return local;
}

void dkm_loo_close(dkm_loo *loo)
{
    DKM_FREE(loo->row);
    DKM_FREE(loo->sums);
}

/* The root of the weight of a row of this rank's slab. */
static double root_of(const dkm_loo *loo, dkm_idx row)
{
    return loo->settings->roots ? loo->settings->roots[row] : 1.0;
}

static double total_weight(const dkm_loo *loo)
{
    return loo->settings->roots ? loo->settings->total : (double)loo->m;
}

/* b of a part, with the mean of the other examples taken off instead of that of all. */
static double loo_coefficient(const dkm_loo *loo, const dkm_loo_part *part, dkm_idx i, dkm_idx j,
                              double t, double s)
{
    double b = part->b[i * part->ldb + j];

    return part->u ? b + t * s * part->u[i * part->ld] / (total_weight(loo) - s * s) : b;
}

/* What is left of t at row i of the piece when its example is left out. */
static double loo_residual(const dkm_loo *loo, const dkm_loo_piece *piece, dkm_idx i, dkm_idx j,
                           double t)
{
    const dkm_loo_part *one = &piece->part[0], *two = &piece->part[1];
    double s = root_of(loo, piece->row + i), b = loo_coefficient(loo, one, i, j, t, s);
    double p = one->p[i * one->ld], c, q;

    if (piece->parts == 1)
        return b / p;
    c = loo_coefficient(loo, two, i, j, t, s);
    q = two->p[i * two->ld];
    /* (b p + c q) / (p^2 + q^2), squares scaled into range */
    if (fabs(p) >= fabs(q))
        return (b + c * (q / p)) / (p + q * (q / p));
    return (b * (p / q) + c) / (p * (p / q) + q);
}

static double greatest(const double *f, dkm_idx n)
{
    double most = f[0];

    for (dkm_idx j = 1; j < n; j++)
        most = f[j] > most ? f[j] : most;
    return most;
}

/* Add weight times -log of the probability of class @p truth under softmax(a f) for all slopes a, of which
 * every SLOPES-th is the double of an earlier one: exp(2 a x) is the square of exp(a x). */
static void add_log_losses(const dkm_loo *loo, dkm_idx n, dkm_idx truth, double weight,
                           double *sums)
{
    const double *f = loo->row, most = greatest(f, n);
    double total[LEVELS] = {0};

    for (dkm_idx j = 0; j < n; j++)
        for (int r = 0; r < SLOPES; r++) {
            double e = exp(slopes[r] * (f[j] - most));
            for (int k = r; k < LEVELS && !(e < NEGLIGIBLE); k += SLOPES, e *= e)
                total[k] += e;
        }
    for (int k = 0; k < LEVELS; k++)
        sums[k] += weight * (log(total[k]) - level_at(loo, k) * (f[truth] - most));
}

/* F1 of the labels whose f is at or above a share of the greatest f; labels that are there have
 * y > 1/2. */
static double f1_of(const dkm_loo *loo, const double *t, dkm_idx n, double share, double s)
{
    const double *means = loo->settings->means;
    double threshold = share * greatest(loo->row, n);
    dkm_idx there = 0, found = 0, both = 0;

    for (dkm_idx j = 0; j < n; j++) {
        int is_there = t[j] / s + (means ? means[j] : 0.0) > 0.5,
            is_found = loo->row[j] >= threshold;
        there += is_there;
        found += is_found;
        both += is_there && is_found;
    }
    return both > 0 ? 2.0 * (double)both / (double)(there + found) : 0.0;
}

static void loo_add_levels(dkm_loo *loo, const double *t, dkm_idx n, dkm_idx truth, double s,
                           double *sums)
{
    if (loo->settings->classes != DKM_PATH_LABEL_SETS)
        add_log_losses(loo, n, truth, s * s, sums + LEVEL);
    else
        for (int k = 0; k < LEVELS; k++)
            sums[LEVEL + k] += s * s * f1_of(loo, t, n, level_at(loo, k), s);
}

static void loo_add_row(dkm_loo *loo, const dkm_loo_piece *piece, dkm_idx i, double *sums)
{
    const dkm_multivec *T = loo->T;
    const double *t = T->a + (piece->row + i) * T->ld + piece->col;
    const double *means = loo->settings->means;
    double best_true = -INFINITY, best_found = -INFINITY, s = root_of(loo, piece->row + i);
    dkm_idx truth = -1, found = -1;

    for (dkm_idx j = 0; j < piece->cols; j++) {
        double e = loo_residual(loo, piece, i, j, t[j]),
               b = piece->part[0].b[i * piece->part[0].ldb + j];
        double y = t[j] / s + (means ? means[piece->col + j] : 0.0);
        sums[SQUARES] += e * e;
        sums[REST] += b * b;
        e /= s;
        if (y > best_true) {
            best_true = y;
            truth = j;
        }
        if (loo->row)
            loo->row[j] = y - e;
        if (y - e > best_found) {
            best_found = y - e;
            found = j;
        }
    }
    sums[WRONG] += s * s * (truth != found);
    if (loo->row && piece->cols == T->cols)
        loo_add_levels(loo, t, T->cols, truth, s, sums);
}

void dkm_loo_add(dkm_loo *loo, const dkm_loo_piece *piece)
{
    double *sums = loo->sums + piece->gamma * SUMS;
    const dkm_loo_part *part = &piece->part[0];

    for (dkm_idx i = 0; i < piece->rows; i++) {
        if (root_of(loo, piece->row + i) == 0)
            continue;
        loo_add_row(loo, piece, i, sums);
        if (piece->col > 0)
            continue;
        sums[TRACE] += part->p[i * part->ld];
        sums[ONES] += part->u ? root_of(loo, piece->row + i) * part->u[i * part->ld] : 0.0;
    }
}

/* The level with the least log loss, or the greatest F1. */
static void loo_choose_level(const dkm_loo *loo, const double *sums, dkm_path_point *point)
{
    double sign = loo->settings->classes == DKM_PATH_LABEL_SETS ? -1.0 : 1.0;
    int best = 0;

    for (int k = 1; k < LEVELS; k++)
        if (sign * sums[LEVEL + k] < sign * sums[LEVEL + best])
            best = k;
    point->level = level_at(loo, best);
    point->level_score = sums[LEVEL + best] / total_weight(loo);
}

void dkm_loo_finish(dkm_loo *loo, dkm_idx first, dkm_idx count, dkm_path_point *points)
{
    double m = (double)(loo->settings->roots ? loo->settings->weighing : loo->m),
           total = total_weight(loo), numbers = total * (double)loo->T->cols;

    MPI_Allreduce(MPI_IN_PLACE, loo->sums + first * SUMS, (int)(count * SUMS), MPI_DOUBLE, MPI_SUM,
                  dkm_ctx_comm(loo->T->ctx));
    for (dkm_idx g = first; g < first + count; g++) {
        const double *sums = loo->sums + g * SUMS;
        double free_share = (sums[TRACE] - sums[ONES] / total) / m;
        points[g].loo = sums[SQUARES] / numbers;
        points[g].gcv = sums[REST] / numbers / free_share / free_share;
        if (loo->settings->classes == 1)
            points[g].wrong = sums[WRONG] / total;
        if (loo->settings->classes)
            loo_choose_level(loo, sums, &points[g]);
    }
}
