#include "selection/cv/cv_tally.h"

#include <math.h>

#define ALIKE 1e-9 /* relative: losses that differ by less are one */

void dkm_cv_tally_add(dkm_cv_tally *t, const double sums[2], double rows)
{
    double mean = sums[0] / rows;

    t->loss += sums[0];
    t->root += sums[1];
    t->rows += rows;
    t->splits += 1;
    t->means += mean;
    t->squares += mean * mean;
}

dkm_cv_score dkm_cv_tally_score(const dkm_cv_tally *t)
{
    double n = t->splits, spread = t->squares - t->means * t->means / n;

    return (dkm_cv_score){.mean = t->loss / t->rows,
                          .stderror = n > 1 ? sqrt(fmax(spread, 0.0) / (n - 1) / n) : 0.0,
                          .root = t->root / t->rows};
}

dkm_idx dkm_cv_best(dkm_idx points, const double *loss, int greater_is_better)
{
    dkm_idx best = 0;
    double sign = greater_is_better ? -1.0 : 1.0;

    for (dkm_idx p = 1; p < points; p++) {
        double now = sign * loss[best], other = sign * loss[p];
        if (isnan(now) ? !isnan(other) : other < now - ALIKE * fabs(now))
            best = p;
    }
    return best;
}
