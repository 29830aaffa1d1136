/** @file fixture_ridge_path.h  Small problems for lists of gammas, with all of them at hand on
 * every rank.
 */
#ifndef DKMAP_FIXTURE_RIDGE_PATH_H
#define DKMAP_FIXTURE_RIDGE_PATH_H

#include <dkmap/ridge_path.h>

enum { PATH_M = 29, PATH_D = 5, PATH_OUTPUTS = 3, PATH_NB = 4, PATH_GAMMAS = 8 };

extern const double path_gammas[PATH_GAMMAS];

/** Kinds of inputs: scattered points, pairs of equal points, points of a line (the linear kernel on
 *  them has rank one). */
enum { SCATTERED, DUPLICATES, LINE };

typedef struct path_problem {
    dkm_ctx *ctx;
    dkm_grid *grid;
    dkm_data *X;
    dkm_kernel *kernel;
    dkm_prepared *prepared;
    dkm_dmat *Y;
    double means[PATH_OUTPUTS];
    double K[PATH_M * PATH_M];       /**< whole, column-major, by path_problem_kernel() */
    double y[PATH_M * PATH_OUTPUTS]; /**< whole, column-major, with its means */
    dkm_path_settings settings;      /**< all of path_gammas */
} path_problem;

typedef double (*path_value)(void *user, dkm_idx ig, dkm_idx jg);

/** Coordinate j of point i, and outputs that go smoothly with the place in the list. */
double path_point(int kind, dkm_idx i, dkm_idx j);
double path_smooth(void *user, dkm_idx ig, dkm_idx jg);

/** Inputs of a kind and smooth outputs, their means taken off where @p center says so. Collective.
 */
DKM_NODISCARD dkm_status path_problem_open(path_problem *p, dkm_ctx *ctx, int kind,
                                           const char *kernel, int center);
/** Other outputs. Collective. */
DKM_NODISCARD dkm_status path_problem_outputs(path_problem *p, int kind, path_value value,
                                              int center);
/** Gather the whole kernel matrix. Collective.
 *  @return its largest eigenvalue */
double path_problem_kernel(path_problem *p);
void path_problem_close(path_problem *p);

#endif
