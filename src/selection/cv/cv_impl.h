/** @file cv_impl.h  A run of cross-validation: the cells that groups of ranks (cv_group.h) work on.
 *
 *  A cell is one kernel with one split of the examples into a training and a test part. A method
 *  predicts the test part for every setting and hands predictions to dkm_cv_score_predictions().
 */
#ifndef DKMAP_SELECTION_CV_CV_IMPL_H
#define DKMAP_SELECTION_CV_CV_IMPL_H

#include "selection/cv/cv_group.h"

/** Some of the examples. */
typedef struct dkm_cv_part {
    dkm_idx count;
    dkm_idx *rows;
} dkm_cv_part;

/** Which cell it is. */
typedef struct dkm_cv_cell_id {
    dkm_idx kernel;
    dkm_idx outer, inner; /**< inner is -1 where the outer fold itself is the test part */
    dkm_idx only;         /**< the one setting wanted; -1: all */
    dkm_idx part, parts;  /**< the part of the settings wanted, those with s % parts == part; part
                             is -1 for all of them */
} dkm_cv_cell_id;

/** The folds of a problem. */
typedef struct dkm_cv_folds {
    dkm_ctx *ctx;
    const dkm_cv_problem *problem;
    dkm_idx m;
    dkm_idx *of; /**< the fold of each example, m numbers; nested, m more for each outer fold: the
                      inner folds of those that are outside it */
    double *weight; /**< of each example; NULL: all weigh 1 */
} dkm_cv_folds;

/** Deal the examples, and tell of classes too small. Collective; dkm_cv_folds_close() frees, also
 *  after a failure. */
DKM_NODISCARD dkm_status dkm_cv_folds_open(dkm_cv_folds *folds, dkm_ctx *ctx,
                                           const dkm_cv_problem *problem);
void dkm_cv_folds_close(dkm_cv_folds *folds);

/** How many examples the cells of a split are tested on, by their weights. Local. */
double dkm_cv_tested(const dkm_cv_folds *folds, dkm_cv_cell_id cell_id);

/** A split made ready: its parts, and what a method learned of the outputs. */
typedef struct dkm_cv_split {
    dkm_idx outer, inner, output_index; /**< of the output kernel that `state` was learned with */
    dkm_cv_part train, test;
    dkm_idx nb;
    dkm_data *Y, *truth; /**< outputs of the two parts; NULL: it is not ready */
    dkm_data *weights;   /**< of the test part, or NULL */
    void *state;
} dkm_cv_split;

/** Outputs of all examples as few columns: what a split has to learn is a combination of them. */
typedef struct dkm_cv_lowrank {
    dkm_idx q;    /**< columns; 0: there is no low-rank factor */
    double scale; /**< the largest size of a number in it */
    double *E;    /**< q numbers per example, the last of them 1 */
} dkm_cv_lowrank;

/** A cell at work. */
typedef struct dkm_cv_cell {
    const dkm_cv_problem *problem;
    dkm_cv_group *group;
    dkm_cv_cell_id id;
    dkm_cv_part train, test; /**< these, nb and the outputs belong to the split */
    dkm_idx nb;
    const dkm_idx
        *inner; /**< of an inner fold: the inner fold of each example outside the outer one */
    const dkm_data *K, *L;     /**< Gram matrices of all inputs and outputs, as the method wants */
    const dkm_data *Y, *truth; /**< outputs of the two parts */
    const dkm_data *weights;   /**< of the test part, or NULL */
    const dkm_cv_lowrank *lowrank; /**< of the outputs, or NULL */
    double *sums;                  /**< dkm_cv_width() per setting: of losses and of their roots */
    void *shared;                  /**< what the method worked out for all splits, or NULL */
} dkm_cv_cell;

enum { DKM_CV_INPUT_GRAM = 1, DKM_CV_OUTPUT_GRAM = 2, DKM_CV_INPUTS = 4 };

struct dkm_cv_method {
    const char *name;
    /** What it wants of the examples beside their outputs: some of the above. Local. */
    unsigned (*wants)(const void *options);
    /** Check the options before anything is computed. Local; NULL: nothing to check. */
    dkm_local (*check)(dkm_ctx *ctx, const dkm_cv_problem *problem);
    /** Outputs as a low-rank factor. Collective on a group of one rank; NULL: there is none. @p
     * lowrank is empty; what is put there is freed, also after a failure. */
    dkm_status (*find_base)(dkm_cv_cell *cell, dkm_cv_lowrank *lowrank);
    /** What depends on the outputs and the split, and serves all input kernels. Collective on the
     *  group; NULL: there is nothing. @p state is new, for release(), also after a
     *  failure. */
    dkm_status (*learn_outputs)(dkm_cv_cell *cell, void **state);
    int relearns; /**< learning them for each kernel anew takes little beside a fit */
    /** Bytes that the state of a split of @p n training examples takes at the most. Local; of
     *  methods with parts(). */
    double (*state_bytes)(const dkm_cv_problem *problem, double n);
    /** Predict the test part for every setting wanted and judge it. Collective on the group. */
    dkm_status (*run)(dkm_cv_cell *cell, void *state);
    void (*release)(void **state);
    /** Where groups are of one rank: in how many parts settings are dealt, setting s to part
     *  s % parts, so that what share() works out for a kernel and a part serves all splits; 0 where
     *  that is not worth while. Local; NULL: never. */
    dkm_idx (*parts)(const dkm_cv_problem *problem, int groups);
    /** Work it out, as much as two square matrices of all examples at the most; @p shared is new,
     * for unshare(), also after a failure. Collective on the group. */
    dkm_status (*share)(dkm_cv_cell *cell, void **shared);
    void (*unshare)(void **shared);
};

/** How many splits there are: folds, or nested the inner ones of all of them. Local. */
static inline dkm_idx dkm_cv_splits(const dkm_cv_problem *problem)
{
    return problem->folds * (problem->inner ? problem->inner : 1);
}

/** Whether an example of @p fold is held out when outer fold @p a has its turn. Local. */
static inline int dkm_cv_held_out(const dkm_cv_problem *problem, dkm_idx fold, dkm_idx a)
{
    return problem->train_on_one ? fold != a : fold == a;
}

/** Sums per setting of a cell: two of each loss. Local. */
static inline dkm_idx dkm_cv_width(const dkm_cv_problem *problem)
{
    return 2 * (1 + (dkm_idx)problem->more_losses);
}

/** A loss by its number: the one that chooses is 0. Local. */
static inline dkm_loss dkm_cv_loss_at(const dkm_cv_problem *problem, int k)
{
    return k == 0 ? problem->loss : problem->more[k - 1];
}

/** Whether a setting is wanted of a cell. Local. */
static inline int dkm_cv_wants(const dkm_cv_problem *problem, dkm_cv_cell_id cell_id,
                               dkm_idx setting)
{
    return (!problem->wanted || problem->wanted[cell_id.kernel * problem->settings + setting]) &&
           (cell_id.only < 0 || cell_id.only == setting) &&
           (cell_id.part < 0 || setting % cell_id.parts == cell_id.part);
}
static inline int dkm_cv_wanted(const dkm_cv_cell *cell, dkm_idx setting)
{
    return dkm_cv_wants(cell->problem, cell->id, setting);
}

/** Score predictions of the test part with a setting. Collective on the group. */
DKM_NODISCARD dkm_status dkm_cv_score_predictions(dkm_cv_cell *cell, dkm_idx setting,
                                                  const dkm_data *pred);

/** G(rows, cols) as rows in slabs, of a type. Collective on the group. */
DKM_NODISCARD dkm_status dkm_cv_extract(const dkm_data *G, const dkm_cv_part *rows,
                                        const dkm_cv_part *cols, dkm_type type, dkm_data **cut);
/** The same as a distributed matrix; G is symmetric. Collective on the group. */
DKM_NODISCARD dkm_status dkm_cv_submatrix(const dkm_cv_cell *cell, const dkm_data *G,
                                          const dkm_cv_part *rows, const dkm_cv_part *cols,
                                          dkm_dmat **A);

/** A = G(rows, cols) again, on a group of one rank: all of both is here, and columns of a symmetric
 *  matrix are its rows. Local. */
void dkm_cv_submatrix_fill(const dkm_data *G, const dkm_cv_part *rows, const dkm_cv_part *cols,
                           dkm_dmat *A);

/** A group's work on its cells, one after the other. */
typedef struct dkm_cv_worker {
    dkm_cv_cell cell;
    const dkm_cv_grams *grams;
    dkm_idx splits; /**< that are held ready at once */
    dkm_cv_split *split;
    dkm_cv_lowrank lowrank;
    dkm_idx base_place; /**< the output kernel it is of */
    int base_known;     /**< it was looked for */
    void **slot; /**< where what the cells of a kernel and part share is, or is to be put; NULL:
                    they share nothing */
} dkm_cv_worker;

/** Begin, with so many splits held ready at once. Local; dkm_cv_worker_close() frees, also after a
 *  failure. */
DKM_NODISCARD dkm_local dkm_cv_worker_open(dkm_cv_worker *worker, dkm_ctx *ctx, dkm_idx splits);

/** Do one cell. Collective on the group. A split is made ready when it is not at hand.
 *  @param[in]  fold  the `of` of the problem's folds
 *  @param[out] sums  dkm_cv_width() per setting, added to on the first rank of the group */
DKM_NODISCARD dkm_status dkm_cv_work(dkm_cv_worker *worker, dkm_cv_cell_id cell_id,
                                     const dkm_idx *fold, double *sums);
void dkm_cv_worker_close(dkm_cv_worker *worker);

/** How many kernels have a setting that is wanted. Local. */
dkm_idx dkm_cv_kernels_wanted(const dkm_cv_problem *problem);

/** All splits of those of kernels [first, last) that are wanted, of each with every setting: those
 *  of one split and one output kernel follow each other. Local.
 *  @return how many cells there are */
dkm_idx dkm_cv_schedule_cells(const dkm_cv_problem *problem, const dkm_cv_grams *grams,
                              dkm_idx first, dkm_idx last, dkm_cv_cell_id *cell_id);

/** The same where those of one kernel follow each other. Local. */
dkm_idx dkm_cv_schedule_kernels(const dkm_cv_problem *problem, dkm_idx first, dkm_idx last,
                                dkm_cv_cell_id *cell_id);

/** The same in units: all splits of a kernel and one of @p parts parts of the settings follow each
 *  other, and every so many kernels, as there are groups. Local. */
dkm_idx dkm_cv_schedule_units(const dkm_cv_problem *problem, dkm_idx parts, int groups,
                              dkm_idx first, dkm_idx last, dkm_cv_cell_id *cell_id);

/** Kernels from @p first on whose Gram matrices can be held at once; returns where they end.
 *  Local. */
dkm_idx dkm_cv_batch_end(const dkm_cv_problem *problem, const dkm_cv_grams *grams, dkm_idx capacity,
                         dkm_idx first);

/** Cells to be done. */
typedef struct dkm_cv_list {
    dkm_ctx *ctx; /**< that progress is reported to */
    const dkm_cv_cell_id *cell_id;
    double *sums;          /**< dkm_cv_width() x settings a cell */
    const dkm_idx *fold;   /**< the `of` of the problem's folds */
    dkm_idx splits;        /**< cells of a unit, which follow each other and share something */
    dkm_idx units_at_once; /**< units that may hold what they share at once; 0: nothing is shared */
    dkm_idx done, total;
} dkm_cv_list;

/** Do cells [first, last), complete units. Collective on the group. */
DKM_NODISCARD dkm_status dkm_cv_work_through(dkm_cv_worker *worker, dkm_cv_list *list,
                                             dkm_idx first, dkm_idx last);

#endif
