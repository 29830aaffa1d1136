/* Leave-one-out and generalized cross-validation errors of ridge regression in closed form:
 *
 *   e_i = b_i / G_ii,  b = G t,  G = (K + gamma I)^-1;     GCV = m ||b||^2 / trace(G)^2
 *
 * Allen 1974 (PRESS), Technometrics 16(1):125-127, doi:10.1080/00401706.1974.10489157; Golub,
 * Heath and Wahba 1979, Technometrics 21(2):215-223, doi:10.1080/00401706.1979.10489751; for
 * kernels Rifkin and Lippert 2007, MIT-CSAIL-TR-2007-025. Cost: O(m p / ranks) per gamma, one
 * allreduce of a few sums. */
#include "solvers/ridge_path/loo.h"

#include <math.h>

#include "core/alloc.h"

/* Sums over all rows, one set a gamma. */
enum { SQUARES, REST, TRACE, ONES, WRONG, SUMS };

dkm_local dkm_loo_open(dkm_loo *loo, const dkm_multivec *T, dkm_idx m,
                       const dkm_path_settings *settings)
{
    *loo = (dkm_loo){.T = T, .m = m, .settings = settings};
    return dkm_calloc(T->ctx, settings->count * SUMS, &loo->sums);
}

void dkm_loo_close(dkm_loo *loo)
{
    DKM_FREE(loo->sums);
}

/* b of a part, with the mean of the other examples taken off instead of that of all. */
static double loo_coefficient(const dkm_loo *loo, const dkm_loo_part *part, dkm_idx i, dkm_idx j,
                              double t)
{
    double b = part->b[i * part->ldb + j];

    return part->u ? b + t * part->u[i * part->ld] / (double)(loo->m - 1) : b;
}

/* What is left of t at row i of the piece when its example is left out. */
static double loo_residual(const dkm_loo *loo, const dkm_loo_piece *piece, dkm_idx i, dkm_idx j,
                           double t)
{
    const dkm_loo_part *one = &piece->part[0], *two = &piece->part[1];
    double b = loo_coefficient(loo, one, i, j, t), p = one->p[i * one->ld], c, q;

    if (piece->parts == 1)
        return b / p;
    c = loo_coefficient(loo, two, i, j, t);
    q = two->p[i * two->ld];
    /* (b p + c q) / (p^2 + q^2), squares kept in range */
    if (fabs(p) >= fabs(q))
        return (b + c * (q / p)) / (p + q * (q / p));
    return (b * (p / q) + c) / (p * (p / q) + q);
}

static void loo_add_row(dkm_loo *loo, const dkm_loo_piece *piece, dkm_idx i, double *sums)
{
    const dkm_multivec *T = loo->T;
    const double *t = T->a + (piece->row + i) * T->ld + piece->col;
    const double *means = loo->settings->means;
    double best_true = -INFINITY, best_found = -INFINITY;
    dkm_idx truth = -1, found = -1;

    for (dkm_idx j = 0; j < piece->cols; j++) {
        double e = loo_residual(loo, piece, i, j, t[j]),
               b = piece->part[0].b[i * piece->part[0].ldb + j];
        double y = t[j] + (means ? means[piece->col + j] : 0.0);
        sums[SQUARES] += e * e;
        sums[REST] += b * b;
        if (y > best_true) {
            best_true = y;
            truth = j;
        }
        if (y - e > best_found) {
            best_found = y - e;
            found = j;
        }
    }
    sums[WRONG] += truth != found;
}

void dkm_loo_add(dkm_loo *loo, const dkm_loo_piece *piece)
{
    double *sums = loo->sums + piece->gamma * SUMS;
    const dkm_loo_part *part = &piece->part[0];

    for (dkm_idx i = 0; i < piece->rows; i++) {
        loo_add_row(loo, piece, i, sums);
        if (piece->col > 0)
            continue;
        sums[TRACE] += part->p[i * part->ld];
        sums[ONES] += part->u ? part->u[i * part->ld] : 0.0;
    }
}

void dkm_loo_finish(dkm_loo *loo, dkm_idx first, dkm_idx count, dkm_path_point *points)
{
    double m = (double)loo->m, numbers = m * (double)loo->T->cols;

    MPI_Allreduce(MPI_IN_PLACE, loo->sums + first * SUMS, (int)(count * SUMS), MPI_DOUBLE, MPI_SUM,
                  dkm_ctx_comm(loo->T->ctx));
    for (dkm_idx g = first; g < first + count; g++) {
        const double *sums = loo->sums + g * SUMS;
        double free_share = (sums[TRACE] - sums[ONES] / m) / m;
        points[g].loo = sums[SQUARES] / numbers;
        points[g].gcv = sums[REST] / numbers / free_share / free_share;
        if (loo->settings->classes)
            points[g].wrong = sums[WRONG] / m;
    }
}
