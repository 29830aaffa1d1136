/* Greedy landmarks, two rules that share one loop; the next landmark is the object with the
 * largest
 *
 *   farthest   squared distance to the nearest landmark: farthest-point traversal (Gonzalez 1985,
 *              Theor. Comput. Sci. 38:293-306, doi:10.1016/0304-3975(85)90224-5), within a factor
 *              2 of the best covering radius
 *   cholesky   residual diagonal k(x, x) - ||f(x)||^2 of a growing partial Cholesky factor:
 *              Cholesky with diagonal pivoting (Fine and Scheinberg 2001, JMLR 2:243-264;
 *              Harbrecht, Peters and Schneider 2012, Appl. Numer. Math. 62(4):428-440,
 *              doi:10.1016/j.apnum.2011.10.001)
 *
 * Cost per rank for n landmarks of m objects: m n / ranks kernel values and, for cholesky, m n^2 /
 * ranks flops; per landmark an allreduce and broadcasts of the object and of n words. Held: m /
 * ranks numbers, and m n / ranks for cholesky. */
#include "solvers/landmarks/greedy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "kernels/evaluation/panel.h"

#define ROUNDING 1e-13 /* of the most there was: so little left is rounding */

typedef struct greedy {
    dkm_ctx *ctx;
    const dkm_prepared *X;
    dkm_idx n, first, capacity, k; /* objects of this rank, landmarks wanted and found */
    dkm_panel rows, cols;
    double *column, *scratch; /* n numbers, and as much for each scratch tile */
    double *left, *self;
    dkm_idx wide;      /* columns of F: capacity; 0 where only distances are needed */
    double *F, *pivot; /* n x wide, and the row of the pivot */
} greedy;

static dkm_local greedy_open(greedy *g, const dkm_prepared *X, dkm_greedy_rule rule,
                             dkm_idx capacity)
{
    dkm_local local = DKM_LOCAL_OK;
    const dkm_node *root = X->kernel->node;

    *g = (greedy){
        .ctx = X->ctx, .X = X, .n = X->X->mine.n, .first = X->X->first, .capacity = capacity};
    g->wide = rule == DKM_GREEDY_CHOLESKY ? capacity : 0;
    DKM_STEP(dkm_panel_open(&g->rows, X, root, DKM_ROWS, DKM_F64, g->n));
    DKM_STEP(dkm_panel_open(&g->cols, X, root, DKM_COLS, DKM_F64, 1));
    DKM_STEP(dkm_alloc(g->ctx, g->n, &g->column));
    DKM_STEP(dkm_alloc(g->ctx, g->n * dkm_node_scratch(root), &g->scratch));
    DKM_STEP(dkm_alloc(g->ctx, g->n, &g->left));
    DKM_STEP(dkm_alloc(g->ctx, g->n, &g->self));
    DKM_STEP(dkm_alloc(g->ctx, g->n * g->wide, &g->F));
    DKM_STEP(dkm_alloc(g->ctx, g->wide, &g->pivot));
    dkm_panel_view(&g->rows, 0, g->n);
out:
    return local;
}

static void greedy_close(greedy *g)
{
    dkm_panel_close(&g->rows);
    dkm_panel_close(&g->cols);
    DKM_FREE(g->column);
    DKM_FREE(g->scratch);
    DKM_FREE(g->left);
    DKM_FREE(g->self);
    DKM_FREE(g->F);
    DKM_FREE(g->pivot);
}

/* column = k(x, landmark) for this rank's objects. */
static dkm_status greedy_kernel_column(greedy *g, dkm_idx index)
{
    dkm_status status = DKM_OK;
    const dkm_tile_task job = {.A = &g->rows, .B = &g->cols, .scratch = g->scratch};
    const dkm_tile tile = {DKM_F64, g->n, 1, g->n > 0 ? g->n : 1, g->column};

    DKM_TRY(dkm_panel_fill(&g->cols, 1, &index));
    DKM_AGREE(g->ctx, dkm_node_tile(g->X->kernel->node, &job, &tile));
out:
    return status;
}

/* The object with most left, on the lowest rank that has as much, and how much that is. */
static double greedy_argmax(const greedy *g, dkm_idx *index)
{
    struct {
        double value;
        int rank;
    } best = {-1.0, dkm_ctx_rank(g->ctx)};
    int64_t at = 0;

    for (dkm_idx i = 0; i < g->n; i++)
        if (g->left[i] > best.value) {
            best.value = g->left[i];
            at = g->first + i;
        }
    MPI_Allreduce(MPI_IN_PLACE, &best, 1, MPI_DOUBLE_INT, MPI_MAXLOC, dkm_ctx_comm(g->ctx));
    MPI_Bcast(&at, 1, MPI_INT64_T, best.rank, dkm_ctx_comm(g->ctx));
    *index = at;
    return best.value;
}

/* The number of an object, and the row of F that it has, brought to all ranks. */
static double greedy_bcast_row(greedy *g, dkm_idx index, const double *numbers)
{
    int owner = dkm_slab_owner(dkm_prepared_rows(g->X), index, dkm_ctx_size(g->ctx));
    int mine = owner == dkm_ctx_rank(g->ctx);
    double number = mine ? numbers[index - g->first] : 0.0;

    if (mine && g->wide > 0)
        memcpy(g->pivot, g->F + (index - g->first) * g->wide, (size_t)g->k * sizeof *g->pivot);
    MPI_Bcast(&number, 1, MPI_DOUBLE, owner, dkm_ctx_comm(g->ctx));
    if (g->wide > 0)
        MPI_Bcast(g->pivot, (int)g->k, MPI_DOUBLE, owner, dkm_ctx_comm(g->ctx));
    return number;
}

static void farthest_update(greedy *g, double self)
{
    for (dkm_idx i = 0; i < g->n; i++)
        g->left[i] = fmin(g->left[i], fmax(0.0, g->self[i] + self - 2.0 * g->column[i]));
}

/* A column of the factor, (k(:, p) - F F(p, :)') / sqrt(left(p)), is taken off what is left. */
static void pivoted_cholesky_update(greedy *g, dkm_idx index, double left)
{
    for (dkm_idx i = 0; i < g->n; i++) {
        double *row = g->F + i * g->wide, f = g->column[i];
        for (dkm_idx k = 0; k < g->k; k++)
            f -= row[k] * g->pivot[k];
        row[g->k] = f / sqrt(left);
        g->left[i] = g->first + i == index ? 0.0 : fmax(0.0, g->left[i] - row[g->k] * row[g->k]);
    }
}

static dkm_status greedy_grow(greedy *g, dkm_greedy_rule rule, dkm_idx *indices)
{
    dkm_status status = DKM_OK;
    dkm_idx index = 0;
    double most, start = greedy_argmax(g, &index);

    if (rule == DKM_GREEDY_FARTHEST) {
        index = 0;
        for (dkm_idx i = 0; i < g->n; i++)
            g->left[i] = INFINITY;
    }
    for (most = start; g->k < g->capacity && most > ROUNDING * start;
         most = greedy_argmax(g, &index)) {
        DKM_TRY(greedy_kernel_column(g, index));
        if (rule == DKM_GREEDY_FARTHEST)
            farthest_update(g, greedy_bcast_row(g, index, g->self));
        else
            pivoted_cholesky_update(g, index, greedy_bcast_row(g, index, g->left));
        indices[g->k++] = index;
        dkm_progress(g->ctx, (double)g->k, (double)g->capacity);
    }
out:
    return status;
}

static int compare_idx(const void *a, const void *b)
{
    dkm_idx x = *(const dkm_idx *)a, y = *(const dkm_idx *)b;

    return (x > y) - (x < y);
}

dkm_status dkm_greedy_choose(const dkm_prepared *X, dkm_greedy_rule rule, dkm_idx *count,
                             dkm_idx *indices)
{
    dkm_status status = DKM_OK;
    greedy g = {0};

    dkm_phase_begin(X->ctx, "landmarks");
    DKM_AGREE(X->ctx, greedy_open(&g, X, rule, *count));
    DKM_TRY(dkm_kernel_diagonal(X, g.self));
    memcpy(g.left, g.self, (size_t)g.n * sizeof *g.left);
    DKM_TRY(greedy_grow(&g, rule, indices));
    qsort(indices, (size_t)g.k, sizeof *indices, compare_idx);
    *count = g.k;
out:
    greedy_close(&g);
    dkm_phase_end(X->ctx);
    return status;
}
