/* Measures of predicted normal distributions: rows of p means and p standard deviations, as predict
 * --std writes them, beside p true numbers.
 *
 * gaussian-nll: -log N(y; mean, std^2) = log(2 pi std^2) / 2 + (y - mean)^2 / (2 std^2), the mean
 * over the columns of a row (Gneiting and Raftery 2007, J. Amer. Statist. Assoc. 102(477):359-378,
 * doi:10.1198/016214506000001437: the logarithmic score).
 *
 * calibration: the mean of |q - share of y in the central interval of probability q| over q = 0.05,
 * 0.1, ..., 0.95 (Kuleshov, Fenner and Ermon 2018, ICML, with the absolute instead of the squared
 * difference). An interval of probability q is |y - mean| <= z std with erf(z / sqrt(2)) = q. */
#include <math.h>

#include "selection/metrics/losses.h"

enum { LEVELS = 19 };

static dkm_local check_deviation(const dkm_data *truth, dkm_idx i, double std)
{
    if (std > 0)
        return DKM_LOCAL_OK;
    return dkm_fail(truth->ctx, DKM_ERR_ARG,
                    "row %lld has a standard deviation of %g, which must be above 0: columns are "
                    "all means and then all deviations, as predict --std writes them; with --noise "
                    "none is 0",
                    (long long)(truth->first + i), std);
}

static dkm_local gaussian_nll_rows(const dkm_data *truth, const dkm_data *pred, dkm_idx labels,
                                   double *losses)
{
    const dkm_objs *y = &truth->mine, *f = &pred->mine;
    dkm_local local = DKM_LOCAL_OK;

    (void)labels;
    for (dkm_idx i = 0; i < y->n; i++) {
        losses[i] = 0;
        for (dkm_idx j = 0; j < y->d; j++) {
            double std = f->values[i * f->d + y->d + j];
            double z = (y->values[i * y->d + j] - f->values[i * f->d + j]) / std;
            DKM_STEP(check_deviation(truth, i, std));
            losses[i] += (0.5 * log(2.0 * acos(-1.0)) + log(std) + 0.5 * z * z) / (double)y->d;
        }
    }
out:
    return local;
}

/* inside[k] += the numbers in the interval of probability (k + 1) / (LEVELS + 1). */
static dkm_local count_inside(const dkm_data *truth, const dkm_data *pred, double inside[LEVELS])
{
    const dkm_objs *y = &truth->mine, *f = &pred->mine;
    dkm_local local = DKM_LOCAL_OK;

    for (dkm_idx k = 0; k < y->n * y->d; k++) {
        dkm_idx i = k / y->d, j = k % y->d;
        double std = f->values[i * f->d + y->d + j];
        double z = fabs(y->values[k] - f->values[i * f->d + j]) / std;
        DKM_STEP(check_deviation(truth, i, std));
        for (int level = 0; level < LEVELS; level++)
            inside[level] += erf(z / sqrt(2.0)) <= (level + 1.0) / (LEVELS + 1.0);
    }
out:
    return local;
}

static dkm_status calibration_total(const dkm_data *truth, const dkm_data *pred, double *value)
{
    dkm_status status = DKM_OK;
    double inside[LEVELS] = {0}, numbers = (double)truth->m * (double)truth->mine.d;

    DKM_AGREE(truth->ctx, count_inside(truth, pred, inside));
    MPI_Allreduce(MPI_IN_PLACE, inside, LEVELS, MPI_DOUBLE, MPI_SUM, dkm_ctx_comm(truth->ctx));
    *value = 0;
    for (int level = 0; level < LEVELS; level++)
        *value += fabs(inside[level] / numbers - (level + 1.0) / (LEVELS + 1.0)) / LEVELS;
out:
    return status;
}

const dkm_loss_class DKM_LOSS_CLASS(DKM_LOSS_GAUSSIAN_NLL) = {
    .types = DKM_TYPE_BIT(DKM_DENSE), .input = DKM_LOSS_OF_NORMALS, .rows = gaussian_nll_rows};

const dkm_loss_class DKM_LOSS_CLASS(DKM_LOSS_CALIBRATION) = {
    .types = DKM_TYPE_BIT(DKM_DENSE), .input = DKM_LOSS_OF_NORMALS, .total = calibration_total};
