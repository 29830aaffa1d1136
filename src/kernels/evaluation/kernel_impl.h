/** @file kernel_impl.h  The tree of a kernel, and what every kind of node provides.
 *
 *  A kernel is a tree whose leaves look at objects and whose other nodes combine the kernels inside
 *  them. What a node needs of the objects is computed once and cached in a slot: objects in
 *  whatever representation suits, with a few numbers each (extras). Slots travel between ranks;
 *  nodes that need the same share one. A new kind of kernel is one file and one row in
 * kernel_registry.c.
 */
#ifndef DKMAP_KERNELS_EVALUATION_KERNEL_IMPL_H
#define DKMAP_KERNELS_EVALUATION_KERNEL_IMPL_H

#include <dkmap/kernel.h>

#include <math.h>

#include "data/objects.h"
#include "kernels/evaluation/kernel_plugin.h"
#include "kernels/evaluation/tile_maps.h"

typedef struct dkm_kernel_class dkm_kernel_class;
typedef struct dkm_node dkm_node;
typedef struct dkm_panel dkm_panel;

/** What a parameter may be. */
typedef enum dkm_param_range {
    DKM_POSITIVE,     /**< > 0 */
    DKM_NOT_NEGATIVE, /**< >= 0 */
    DKM_SHARE,        /**< > 0 and <= 1 */
    DKM_COUNT,        /**< 1, 2, 3, ... up to 1000 */
    DKM_COUNT_OR_ZERO /**< 0, 1, 2, ... up to 1000 */
} dkm_param_range;

/** A parameter of a kernel: `name=value`. */
typedef struct dkm_param {
    const char *name;
    dkm_param_range range;    /**< of every number */
    double default_value;     /**< when the expression does not say */
    int is_list;              /**< takes any number of numbers, separated by ';' */
    int is_shape;             /**< takes a shape, 28x28; its numbers are the sides */
    const char *const *words; /**< words that it takes instead of numbers, ended by NULL; or NULL */
    int is_choice;            /**< one of a few numbers: there is no derivative by it */
} dkm_param;

/** The parameters of a class: `.params = DKM_PARAMS({.name = "sigma", ...}, ...)`. */
#define DKM_PARAMS(...) ((const dkm_param[]){__VA_ARGS__, {0}})

/** The value of a parameter: numbers, or a word. */
typedef struct dkm_param_value {
    dkm_idx count; /**< of numbers; 0 for a word */
    double *numbers;
    const char *word; /**< one of the parameter's words; NULL for numbers */
} dkm_param_value;

/** One number of a parameter of a node of a kernel. */
typedef struct dkm_param_place {
    dkm_idx node; /**< its index in the kernel */
    int param;
    dkm_idx number;
} dkm_param_place;

/** What a kernel takes before the kernels inside it, as in `extend(q.h5)`. */
typedef enum dkm_kernel_argument {
    DKM_ARGUMENT_NONE,
    DKM_ARGUMENT_FILE,   /**< the name of a file, with a '.' or '/' in it */
    DKM_ARGUMENT_COLUMNS /**< indices and ranges of columns, separated by ';': 0:3;7 */
} dkm_kernel_argument;

/** What tiles ask of k(x, x) of the kernels inside. */
typedef enum dkm_diag_need {
    DKM_NO_DIAG,  /**< nothing */
    DKM_ANY_DIAG, /**< that it is known */
    DKM_DIAG_ROOT /**< that it has a square root */
} dkm_diag_need;

/** Whether values depend on where the origin of the rows of numbers is. */
typedef enum dkm_origin {
    DKM_ORIGIN_MATTERS,
    DKM_ORIGIN_FREE,      /**< no, and of kernels inside only distances between images are used */
    DKM_ORIGIN_AS_OUTSIDE /**< yes, but distances between images do not: it is free where the kernel
                               outside uses nothing else */
} dkm_origin;

struct dkm_node {
    const dkm_kernel_class *kind;
    dkm_param_value *param; /**< one per parameter of the class; see dkm_node_param() */
    dkm_idx inner_count;
    dkm_node **inner;
    dkm_idx index;  /**< place in the kernel's list of nodes */
    dkm_idx size;   /**< nodes of this tree: itself and those that follow it in the list */
    char *argument; /**< of a class that takes one, as it was written; else NULL */
    dkm_kernel_plugin loaded;
    int free_origin; /**< nothing changes when rows are shifted */
    dkm_idx slot;    /**< where what it needs of the objects is cached; -1 when it needs nothing */
};

struct dkm_kernel {
    dkm_ctx *ctx;
    char *text;
    dkm_idx nodes, slots;
    dkm_node *node; /**< node[0] is the root; inner nodes come after the one they are inside of */
    dkm_node **inners; /**< what the `inner` of all nodes point into */
    int distances;     /**< only distances between images are used of it */
};

/** Objects of rows of the matrix, or of columns: what a slot caches for columns may be less. */
typedef enum dkm_side { DKM_ROWS, DKM_COLS } dkm_side;

/** What a node needs of the objects, cached for all of them in slabs. */
typedef struct dkm_feature_cache {
    dkm_data *full;
    dkm_data *thin; /**< the extras alone, where columns need no more than that; else NULL */
    int borrowed;   /**< the arrays of `full`, extras apart, belong to the raw objects */
} dkm_feature_cache;

struct dkm_prepared {
    dkm_ctx *ctx;
    const dkm_kernel *kernel;
    const dkm_data *X;
    const dkm_prepared *training; /**< NULL: these are the training objects */
    dkm_feature_cache *slot;
    double *own_shift;
    const double *shift; /**< the origin of rows for kernels to which it does not matter: own_shift
                              or that of the training objects; NULL for zero */
    double loss;         /**< the largest of any node: see dkm_prepared_error() */
    double bytes[2];     /**< mean size of an object as row and as column, all slots together */
    const double *scale; /**< of each object, m numbers: its rows and columns of Gram matrices are
                              multiplied by it; NULL: they are not. Borrowed */
};

/** What a slot has for one side. Local. */
static inline const dkm_data *dkm_feature_cache_data(const dkm_feature_cache *slot, dkm_side side)
{
    return side == DKM_COLS && slot->thin ? slot->thin : slot->full;
}

/** A tile to be evaluated: objects [a, a + C.na) of panel A against [b, b + C.nb) of panel B. */
typedef struct dkm_tile_task {
    const dkm_panel *A, *B;
    dkm_idx a, b;
    const dkm_idx *first; /**< the first row wanted of each column; NULL when all are. A kind for
                               which elements are expensive may leave those before it at zero */
    void *scratch;        /**< as many tiles like C as dkm_node_scratch() says */
    const dkm_tile
        *dots;  /**< inner products of the objects' rows where they are known; else NULL */
    int thread; /**< whose workspace of panel A is used */
} dkm_tile_task;

#define DKM_PAIRS 256

/** Pairs of rows x, x': inner products s, and squared norms a of x and b of x'. */
typedef struct dkm_dots {
    dkm_idx n;
    const double *s, *a, *b;
} dkm_dots;

/** Where kernel values of pairs go, and their derivatives by s and by a. */
typedef struct dkm_derivatives {
    double *k, *dk_ds, *dk_da;
} dkm_derivatives;

/** What the node of a kind can do. A function that does not apply is NULL. */
struct dkm_kernel_class {
    const char *name;
    int min_inner, max_inner; /**< kernels inside it; both 0 for a leaf, most -1 for any number */
    unsigned types;           /**< DKM_TYPE_BIT()s of the objects a leaf is for */
    dkm_diag_need needs_diag;
    int is_data_dependent; /**< values depend on all training objects */
    dkm_kernel_argument argument;
    const struct dkm_kernel_callback *callback; /**< of a kernel that the program registered */
    dkm_origin origin;
    int precompute_params; /**< how many parameters the precomputation depends on, from the first */
    const dkm_param *params; /**< DKM_PARAMS(); NULL for none */
    int divides_columns; /**< the first parameter may be a list: its numbers divide the columns of
                              rows before anything looks at them (row_transform.h) */

    /** What is wrong with the parameters taken together, or NULL. Local. */
    const char *(*refuse)(const dkm_node *node);

    /** The number that the word of parameter @p k stands for, given the training objects.
     *  Collective; the words of inner nodes are resolved. NULL: words are never resolved.
     *  @param[out] number  within the range of the parameter */
    dkm_status (*resolve)(const dkm_kernel *kernel, const dkm_node *node, int k, const dkm_data *X,
                          double *number);

    /** Work out what a node needs of some objects. Local. A precomputation that leaves the arrays
     * of @p out as they are (a shallow copy of @p X) borrows them; it owns the extras it adds. */
    dkm_local (*precompute)(const dkm_node *node, const dkm_objs *X, dkm_objs *out);

    /** Fill the node's slot where that takes all training objects. Collective. The slots of inner
     *  nodes are ready; @p prepared says by its `training` whether these are new objects. */
    dkm_status (*train)(const dkm_node *node, dkm_prepared *prepared);

    /** k(x, x) of the objects of a panel, into dkm_panel_diag(). NaN where it cannot be known.
     *  Local. */
    void (*diag)(const dkm_node *node, dkm_panel *panel);

    /** How large the error of values between the panel's objects may be, in units of the rounding
     *  error: for kinds that take differences of large numbers. k(x, x) of kernels inside is known.
     *  Local. */
    double (*loss)(const dkm_node *node, const dkm_panel *panel);

    /** C(i, j) = k(a_i, b_j). Local. */
    dkm_local (*tile)(const dkm_node *node, const dkm_tile_task *task, const dkm_tile *C);

    /** C(i, j) = k(a_i, b_j) / sqrt(k(a_i, a_i) k(b_j, b_j)) and 0 where that is 0/0: for leaves
     *  whose plain values may leave the range of numbers. Local. */
    dkm_local (*normalized_tile)(const dkm_node *node, const dkm_tile_task *task,
                                 const dkm_tile *C);

    /** Values and derivatives of a kernel that is a smooth function of s, a and b, for at most
     *  DKM_PAIRS pairs; @p out overlaps nothing. Local. */
    void (*derivatives)(const dkm_node *node, const dkm_dots *pairs, const dkm_derivatives *out);

    /** The s, or value of the kernel inside, that gives @p k; NaN where there is none or, for k =
     *  1, where there may be several. For functions of s alone. Local. */
    double (*inverse)(const dkm_node *node, double k);

    /** dk / dp of a kernel of rows that is a function of s alone, by its only parameter p with a
     *  derivative; dkm_vectors_slope_tile() and dkm_vectors_slope_diag() are made from it. Local. */
    double (*param_slope)(const dkm_node *node, double s);

    /** D(i, j) = derivative of k(a_i, b_j) by a number of a parameter of this node, or of one inside
     *  it (param_derivatives.h). Local; double precision. */
    dkm_local (*param_tile)(const dkm_node *node, const dkm_tile_task *task,
                            const dkm_param_place *by, const dkm_tile *D);

    /** The same of k(x, x), of @p n objects of a panel from @p first on; NULL: all are 0. Local. */
    dkm_local (*param_diag)(const dkm_node *node, const dkm_panel *panel, dkm_idx first, dkm_idx n,
                            const dkm_param_place *by, double *diag);
};

/** Every kind of kernel, ended by NULL. */
extern const dkm_kernel_class *const dkm_kernel_registry[];

/** The value of a parameter that is one number, or the first of several; NaN for a word. Local. */
static inline double dkm_node_param(const dkm_node *node, int k)
{
    return node->param[k].count > 0 ? node->param[k].numbers[0] : NAN;
}

/** Evaluate a node. Local. */
static inline dkm_local dkm_node_tile(const dkm_node *node, const dkm_tile_task *task,
                                      const dkm_tile *C)
{
    return node->kind->tile(node, task, C);
}

/** Whether it is exp(-||x - x'||^2 / (2 sigma^2)) of rows with one width for all columns. Local. */
int dkm_kernel_is_rbf(const dkm_kernel *kernel);

/** Whether distances between images lose fewer digits after dkm_kernel_use_distances(). Local. */
int dkm_kernel_has_better_distances(const dkm_kernel *kernel);

/** Let @p kernel be used for distances between images alone: its values may then be those of rows
 *  with another origin. Local; nothing is prepared for it yet, or any more. */
void dkm_kernel_use_distances(dkm_kernel *kernel);

/** Take note that numbers of parameters were changed: slots and text are made anew. Local; nothing is
 *  prepared for the kernel yet, or any more. */
DKM_NODISCARD dkm_local dkm_kernel_update(dkm_kernel *kernel);

/** A copy of the part of a kernel whose root is @p root, as a kernel of its own. Logically
 *  collective on @p ctx. @param[out] copy  new, owned by the caller; NULL on failure */
DKM_NODISCARD dkm_status dkm_kernel_clone_tree(dkm_ctx *ctx, const dkm_kernel *kernel,
                                               const dkm_node *root, dkm_kernel **copy);

/** How many scratch tiles evaluating a node takes. Local. */
dkm_idx dkm_node_scratch(const dkm_node *node);

#endif
