/** @file estimate.h  What a fit will take: bytes held and sent per rank, messages, operations and
 *  seconds, phase by phase.
 *
 *  Bytes and messages follow from sizes and the process grid. Seconds follow from rates measured on
 *  a machine, scaled by how much of it the ranks put to use, and on several nodes from the latency
 *  and bandwidth of their network; without rates they are unknown.
 */
#ifndef DKMAP_ESTIMATE_H
#define DKMAP_ESTIMATE_H

#include <dkmap/data.h>
#include <dkmap/report.h>
#include <dkmap/settings.h>

DKM_API_BEGIN

/** Every rate, with what it counts; seconds are those of all ranks working together. */
#define DKM_RATES_LIST(X)                                                                          \
    X(ranks)         /* that measured */                                                           \
    X(cores)         /* of a node */                                                               \
    X(nodes)         /* that the ranks were on */                                                  \
    X(base_bytes)    /* of a rank that has done nothing yet */                                     \
    X(gram_column)   /* seconds per element of the lower triangle and column of the inputs */      \
    X(gram_element)  /* seconds per element */                                                     \
    X(double_cube)   /* seconds of a Cholesky factor in double, by m^3 / 3 ... */                  \
    X(double_square) /* ... and by m^2 */                                                          \
    X(single_cube)   /* the same in single */                                                      \
    X(single_square)                                                                               \
    X(solve_column)  /* solving with a double factor, by m^2 and output */                         \
    X(solve_square)  /* by m^2 */                                                                  \
    X(refine_column) /* refining with a single factor, by m^2 and output */                        \
    X(refine_square)                                                                               \
    X(round_column) /* an iteration of the block eigensolver, by m^2 and column of its block */    \
    X(round_basis)  /* by m, column of the block and column of the basis */                        \
    X(rounds_root)  /* iterations that it takes, by the root of the components ... */              \
    X(rounds_base)  /* ... and whatever their number */                                            \
    X(full_cube)    /* a full eigensolve, by m^3 */                                                \
    X(rows_square)  /* a joint map before its first iteration, by m^2 */                           \
    X(apply_column) /* its values at all examples, by m^2 and coordinate of outputs */             \
    X(apply_square) /* by m^2 */                                                                   \
    X(rank_gemm_double) /* flops per second of one rank: large products ... */                     \
    X(rank_gemm_single) /* ... in single precision */                                              \
    X(rank_syrk)        /* ... and what is done with a block of a factor, in double */             \
    X(rank_trsm)                                                                                   \
    X(rank_potrf)                                                                                  \
    X(rank_skinny_bytes) /* bytes per second of one rank: of a matrix times few columns */         \
    X(rank_copy_bytes)   /* read and written by a copy */                                          \
    X(rank_map_element)  /* seconds of one rank per kernel value, without its inner product */

typedef struct dkm_rates {
#define DKM_RATES_FIELD(name) double name;
    DKM_RATES_LIST(DKM_RATES_FIELD)
#undef DKM_RATES_FIELD
} dkm_rates;

/** The examples, and the ranks that are to learn from them. */
typedef struct dkm_workload {
    dkm_idx m;               /**< examples */
    dkm_type x_type, y_type; /**< of inputs and outputs */
    dkm_idx x_cols;          /**< numbers of an input; 0 where inputs are no dense rows */
    dkm_idx y_cols;    /**< numbers of an output; 0 where there are none or they are no rows */
    dkm_idx y_classes; /**< different labels among outputs; 0 where unknown */
    double x_bytes, y_bytes; /**< of an input, of an output */
    dkm_idx iterations;      /**< expected of an iterative method; 0 where unknown */
    int ranks, P, Q;
    dkm_idx block;
    int nodes;
    double memory;    /**< bytes of a node; 0 where unknown */
    double latency;   /**< seconds of a message between nodes */
    double bandwidth; /**< bytes per second that a node sends */
} dkm_workload;

enum { DKM_COST_PHASES = 8, DKM_COST_ARRAYS = 8, DKM_COST_NOTE = 160 };

typedef struct dkm_cost_phase {
    const char *name;
    double bytes;       /**< held on the fullest rank while it lasts */
    double flops;       /**< of all ranks */
    double seconds;     /**< NaN where unknown */
    double allocated;   /**< bytes of the arrays that the fullest rank has for it */
    double sent;        /**< bytes that a rank gives to MPI, on the mean */
    double messages;    /**< that a rank sends, on the mean */
    double collectives; /**< that it takes part in */
} dkm_cost_phase;

/** An array that every rank has all of. */
typedef struct dkm_cost_array {
    const char
        *name; /**< with its sizes: n landmarks, d columns, k outputs, s vectors of a basis */
    double bytes;
} dkm_cost_array;

typedef struct dkm_cost {
    int count;
    dkm_cost_phase phases[DKM_COST_PHASES];
    int arrays; /**< that grow with the problem and are on every rank */
    dkm_cost_array replicated[DKM_COST_ARRAYS];
    double peak;      /**< bytes of the fullest rank */
    double allocated; /**< of its arrays alone, untouched parts included */
    double sent, messages, collectives;
    double network; /**< seconds of these between nodes, part of the seconds below */
    double flops;
    double seconds;           /**< NaN where unknown */
    char note[DKM_COST_NOTE]; /**< what was assumed for want of data; empty where nothing was */
} dkm_cost;

/** What a fit with these settings takes. Logically collective.
 *  @param[in] ctx  of all ranks that call, borrowed
 *  @param[in] settings  borrowed; the same on every rank
 *  @param[in] work  sizes of the data
 *  @param[in] rates  NULL where they are not known
 *  @param[out] cost  bytes, operations and seconds, NaN where they are not known
 *  @return DKM_OK; DKM_ERR_ARG; DKM_ERR_UNSUPPORTED for a method without an estimate */
DKM_NODISCARD dkm_status dkm_estimate(dkm_ctx *ctx, const dkm_settings *settings,
                                      const dkm_workload *work, const dkm_rates *rates,
                                      dkm_cost *cost);

/** A workload whose fields stay, for programs in other languages. */
typedef struct dkm_plan_request {
    dkm_idx m;
    dkm_type x_type, y_type;
    dkm_idx x_cols, y_cols;
    double x_bytes, y_bytes; /**< of an input, of an output */
    int ranks, nodes;
    int P, Q;      /**< 0: as dkm_grid_create() would choose */
    dkm_idx block; /**< 0 chooses */
} dkm_plan_request;

/** What a fit with these settings takes, without rates, as a report: `rank_memory`, bytes of the
 *  fullest rank; `flops`; `grid`; `block`; `phases.NAME.bytes` and `phases.NAME.flops`; `note`.
 *  Logically collective.
 *  @param[in] ctx  of all ranks that call, borrowed
 *  @param[in] settings  borrowed; the same on every rank
 *  @param[in] request  sizes of the data and the number of ranks
 *  @param[out] report  new, owned by the caller; NULL on failure
 *  @return as dkm_estimate() */
DKM_NODISCARD dkm_status dkm_plan(dkm_ctx *ctx, const dkm_settings *settings,
                                  const dkm_plan_request *request, dkm_report **report);

/** Columns of a block, and of the basis, of the block eigensolver. Local. */
double dkm_cost_eigen_block(double components);
double dkm_cost_eigen_basis(double components);

DKM_API_END

#endif
