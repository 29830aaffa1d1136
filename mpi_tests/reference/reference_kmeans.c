#include "reference/reference_kmeans.h"

#include <math.h>
#include <string.h>

#include <dkmap/random.h>

static double squared_distance(const double *x, const double *y, int d)
{
    double sum = 0;

    for (int j = 0; j < d; j++)
        sum += (x[j] - y[j]) * (x[j] - y[j]);
    return sum;
}

/* Squared distance to the nearest of some centers, and which it is. */
static double nearest(const double *x, const double *centers, int count, int d, int *which)
{
    double best = INFINITY;

    for (int k = 0; k < count; k++) {
        double gap = squared_distance(x, centers + k * d, d);
        if (gap < best) {
            best = gap;
            *which = k;
        }
    }
    return best;
}

static void seed_centers(uint64_t seed, int m, int d, const double *rows, int clusters,
                         double *centers)
{
    int winner = (int)dkm_random_below(seed, 0x6b6d65616e73u, 0, m);

    for (int k = 0; k < clusters; k++) {
        double best = INFINITY;
        memcpy(centers + k * d, rows + winner * d, (size_t)d * sizeof *centers);
        winner = 0;
        for (int i = 0; i < m; i++) {
            int which;
            double gap = nearest(rows + i * d, centers, k + 1, d, &which);
            double u = dkm_random_uniform(seed, 0x6b6d65616e74u, (uint64_t)k + 1, (uint64_t)i);
            double time = gap > 0 ? -log1p(-u) / gap : INFINITY;
            if (time < best) {
                best = time;
                winner = i;
            }
        }
    }
}

static int count_of(const int *labels, int m, int label)
{
    int count = 0;

    for (int i = 0; i < m; i++)
        count += labels[i] == label;
    return count;
}

/* Squares below this are rounding. */
static double noise(int m, int d, const double *rows)
{
    double size = 0;

    for (int i = 0; i < m; i++)
        size = fmax(size, squared_distance(rows + i * d, rows + i * d, d));
    for (int i = 0; i < m * d; i++)
        size = fmax(size, rows[i] * rows[i]);
    return 1e-28 * size;
}

static int refill(int m, int d, const double *rows, int clusters, int *labels, double *gaps)
{
    int refilled = 0;

    for (int k = 0; k < clusters; k++) {
        int far = -1;
        if (count_of(labels, m, k) > 0)
            continue;
        for (int i = 0; i < m; i++)
            if (count_of(labels, m, labels[i]) > 1 && (far < 0 || gaps[i] > gaps[far]))
                far = i;
        if (far < 0 || gaps[far] <= noise(m, d, rows))
            break;
        labels[far] = k;
        gaps[far] = 0;
        refilled++;
    }
    return refilled;
}

static void move_centers(int m, int d, const double *rows, int clusters, const int *labels,
                         double *centers)
{
    for (int k = 0; k < clusters; k++) {
        int count = count_of(labels, m, k);
        for (int j = 0; j < d && count > 0; j++) {
            long double sum = 0;
            for (int i = 0; i < m; i++)
                sum += labels[i] == k ? rows[i * d + j] : 0.0;
            centers[k * d + j] = (double)(sum / count);
        }
    }
}

dkm_kmeans_info reference_kmeans(uint64_t seed, int m, int d, const double *rows, int clusters,
                                 int max_rounds, int *labels)
{
    static double centers[ORACLE_NUMBERS], gaps[ORACLE_NUMBERS];
    dkm_kmeans_info info = {0};

    for (int i = 0; i < m; i++)
        labels[i] = -1;
    seed_centers(seed, m, d, rows, clusters, centers);
    while (info.rounds < max_rounds && !info.converged) {
        int changed = 0, refilled;
        for (int i = 0; i < m; i++) {
            int which = 0;
            gaps[i] = nearest(rows + i * d, centers, clusters, d, &which);
            changed += which != labels[i];
            labels[i] = which;
        }
        refilled = refill(m, d, rows, clusters, labels, gaps);
        move_centers(m, d, rows, clusters, labels, centers);
        info.rounds++;
        info.refilled += refilled;
        info.converged = changed == 0 && refilled == 0;
    }
    for (int k = 0; k < clusters; k++)
        info.clusters += count_of(labels, m, k) > 0;
    for (int i = 0; i < m; i++)
        info.inertia += gaps[i];
    return info;
}
