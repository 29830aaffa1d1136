/** @file cutting_plane.h  The cutting-plane loop of a joint kernel map: separate, prune, add,
 * solve.
 *
 *  Between iterations the state is the working set with its multipliers, the number of iterations
 *  and the epsilon they are at.
 */
#ifndef DKMAP_MODELS_JKM_CUTTING_PLANE_H
#define DKMAP_MODELS_JKM_CUTTING_PLANE_H

#include "models/jkm/constraint_set.h"
#include "models/jkm/stabilized_separation.h"

typedef struct dkm_cutting_plane {
    dkm_ctx *ctx;
    dkm_joint_map *map;
    dkm_separation_oracle *oracle;
    const dkm_jkm_settings *settings;
    dkm_constraint_set *constraints;
    dkm_stabilized_separation stabilized;
    uint64_t fingerprint; /**< of inputs, outputs and joint kernel, for checkpoints */
    dkm_idx iteration;
    double *U, *G;   /**< own examples x r: the weight vector, and W x */
    double started;  /**< seconds of the clock */
    double reported; /**< seconds since then at the last report */
    double first_gap;
    double
        least; /**< smallest of the largest violations of each iteration, relative to the margin */
    dkm_jkm_info info;
} dkm_cutting_plane;

/** Run iterations until all constraints are met, or the gap is closed. Collective;
 *  dkm_cutting_plane_close() frees, also after a failure. On success U is the weight vector.
 *  @param[in] fingerprint  of the inputs, the outputs and the joint kernel, for checkpoints
 *  @return DKM_OK; DKM_ERR_MEMORY; DKM_ERR_NUMERIC when no weight vector meets all constraints;
 *          DKM_ERR_STOPPED when a checkpoint was saved and the run is to end */
DKM_NODISCARD dkm_status dkm_cutting_plane_run(dkm_cutting_plane *loop, dkm_joint_map *map,
                                               dkm_separation_oracle *oracle,
                                               const dkm_jkm_settings *settings,
                                               uint64_t fingerprint);
void dkm_cutting_plane_close(dkm_cutting_plane *loop);

/** Save the state after an iteration, where that is due; continue after the last iteration that a
 *  run before saved, if there is one. Collective.
 *  @param[in,out] qp  of the last QP; unchanged where there is no state */
DKM_NODISCARD dkm_status dkm_cutting_plane_save(dkm_cutting_plane *loop, const dkm_qp_info *qp);
DKM_NODISCARD dkm_status dkm_cutting_plane_resume(dkm_cutting_plane *loop, dkm_qp_info *qp);

#endif
