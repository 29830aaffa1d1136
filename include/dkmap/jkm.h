/** @file jkm.h  Joint kernel maps: the output that fits an input best, by a margin.
 *
 *  A machine w in the space of a joint kernel gives each pair the score F(x, y) = <w, Phi(x, y)>;
 *  the prediction for x is the y of highest score. Training finds
 *
 *      minimize    1/2 ||w||^2 + C sum_i xi_i
 *      subject to  F(x_i, y_i) - F(x_i, y) >= margin - xi_i   for all y with ||y_i - y|| > epsilon
 *
 *  with margin = epsilon^2 / 4 (1 where epsilon is 0) and, without C, xi = 0. Constraints are found
 *  as they are needed: each round looks for the most violated one of every example, adds those, and
 *  solves the quadratic program of all constraints so far from its last solution.
 *
 *  With a threshold t constraints are split: F(x_i, y_i) + t >= margin / 2 - xi_i and F(x_i, y) + t
 * <= xi'_i - margin / 2. Scores F + t are then positive where input and output belong together.
 */
#ifndef DKMAP_JKM_H
#define DKMAP_JKM_H

#include <dkmap/joint.h>
#include <dkmap/landmarks.h>
#include <dkmap/model.h>

DKM_API_BEGIN

/** Among which outputs violated constraints, and predictions, are looked for. */
typedef enum dkm_jkm_outputs {
    DKM_JKM_AUTO,   /**< candidates where they are given; classes of labels, the sphere for dense
                          outputs under a linear kernel; else the training outputs */
    DKM_JKM_SPHERE, /**< all vectors of unit length; outputs are scaled to it */
    DKM_JKM_FREE,   /**< all vectors; epsilon/4 is the tube of support vector regression */
    DKM_JKM_CANDIDATES, /**< a finite set: candidates given, classes, or the training outputs */
    DKM_JKM_CHAIN /**< label sequences: strings as long as the input strings, or a label for each of
                     dense rows. The margin is the number of wrong labels; with a C */
} dkm_jkm_outputs;

/** What slacks stand for. */
typedef enum dkm_jkm_slacks {
    DKM_JKM_SLACKS_AUTO, /**< one where there are many examples */
    DKM_JKM_SLACKS_EACH, /**< one an example */
    DKM_JKM_SLACKS_ONE   /**< one for the sum of a constraint of every example */
} dkm_jkm_slacks;

/** How the loss D = ||y_i - y||^2 / 2 enters a soft margin. */
typedef enum dkm_jkm_rescale {
    DKM_JKM_PLAIN,         /**< not at all */
    DKM_JKM_RESCALE_SLACK, /**< F(x_i, y_i) - F(x_i, y) >= margin - xi_i / D */
    DKM_JKM_RESCALE_MARGIN /**< F(x_i, y_i) - F(x_i, y) >= margin D - xi_i */
} dkm_jkm_rescale;

/** A user's own way of finding the most violating output of an example. */
typedef struct dkm_jkm_oracle {
    void *user;
    /** Called on the rank that holds the example.
     *
     *  @param[in]  example  its index among all
     *  @param[in]  r        numbers an output
     *  @param[in]  g        the machine's value W x: F(x, y) = <g, y>
     *  @param[in]  y        the example's own output
     *  @param[out] found    the output that violates most
     *  @param[out] margin   by how much F(x_i, y_i) must exceed F(x_i, found); set to the margin of
     *                       epsilon beforehand
     *  @return whether there is one */
    int (*find)(void *user, dkm_idx example, dkm_idx r, const double *g, const double *y,
                double *found, double *margin);
} dkm_jkm_oracle;

typedef struct dkm_jkm_settings {
    double epsilon;   /**< outputs so near are as good as the right one; negative chooses: 0
                         among candidates, else 0.1 */
    double anneal;    /**< 0, or the epsilon to begin with: it shrinks on separability */
    double C;         /**< price of slack; 0 for none (hard margin) */
    double tolerance; /**< on violations relative to the margin, and on the duality gap */
    dkm_idx rounds;   /**< at most */
    int threshold;    /**< whether constraints are split by a threshold */
    dkm_idx spread;   /**< constraints beyond which their Gram matrix is spread over the ranks; 0
                         chooses */
    dkm_jkm_outputs outputs;
    dkm_jkm_slacks slacks;
    dkm_jkm_rescale rescale;
    const dkm_data *candidates; /**< NULL, or outputs to tell the right one from */
    const dkm_data *lists;   /**< NULL, or for each example the candidates that count, as label sets
                              of their rows */
    const dkm_data *weights; /**< NULL, or of the examples a column of numbers > 0, borrowed: slacks
                                  cost C w_i. With a C. Rows of one sequence have one weight */
    dkm_jkm_oracle oracle;   /**< used where `find` is set; dense outputs under a linear kernel */
    dkm_layout layout;
    dkm_idx window; /**< of chains of strings: characters that a label depends on, odd; 0: 3 */
    dkm_idx
        sequence_column; /**< of chains of dense rows: the column, from 0, that has the number of
                                the sequence; -1: none. A new one begins where it changes */
    dkm_idx landmarks;   /**< of chains, with kernels that have no explicit features: positions that
                            such features are made of, all where there are fewer; 0: 2000 */
    dkm_landmark_method landmark_choice; /**< of those */
} dkm_jkm_settings;

typedef struct dkm_jkm_info {
    dkm_idx m, r;        /**< examples, coordinates of an output */
    dkm_idx candidates;  /**< 0 where outputs are not a finite set */
    const char *outputs; /**< "sphere", "free", "classes", "candidates",
                            "chain" or "oracle" */
    const char *slacks;  /**< "none", "each" or "one" */
    dkm_idx rounds, constraints, support;
    int spread;          /**< whether the Gram matrix of constraints was spread over the ranks */
    double epsilon;      /**< reached */
    double threshold;    /**< 0 where there is none */
    double primal, dual; /**< objectives */
    double gap;          /**< (primal - dual) / primal */
    double slack;        /**< sum of xi */
    double violation;    /**< largest, relative to the margin */
    dkm_idx positions;   /**< of chains: of all sequences, m of which there are; else 0 */
    dkm_idx landmarks;   /**< of chains: positions that features are made of; else 0 */
} dkm_jkm_info;

dkm_jkm_settings dkm_jkm_settings_default(void);

/** Fit. Collective.
 *
 *  @param[in] ctx  of all ranks that call, borrowed
 *  @param[in]  X, Y    as many objects each
 *  @param[in]  kx, ky  kernels of inputs and outputs that the joint kernel stands on; a ky of NULL
 *                      is linear, with labels as one column per class
 *  @param[in] joint  kernel, borrowed
 *  @param[in] settings  borrowed; the same on every rank
 *  @param[out] model   new, owned by the caller; NULL on failure
 *  @param[out] info    may be NULL
 *  @return DKM_OK; DKM_ERR_ARG; DKM_ERR_UNSUPPORTED; DKM_ERR_MEMORY; DKM_ERR_NUMERIC when no
 *          machine meets all constraints (the message says how far it went, and which C to try) */
DKM_NODISCARD dkm_status dkm_jkm_fit(dkm_ctx *ctx, const dkm_data *X, const dkm_data *Y,
                                     const dkm_kernel *kx, const dkm_kernel *ky,
                                     const dkm_joint *joint, const dkm_jkm_settings *settings,
                                     dkm_model **model, dkm_jkm_info *info);

DKM_API_END

#endif
