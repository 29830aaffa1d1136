/* Stabilized separation (in-out separation, cf. Ben-Ameur and Neto 2007, Networks 49(1):3-17,
 * doi:10.1002/net.20137). The w of a QP with few constraints oscillates, and the constraint it
 * violates most says little about the optimum. On the sphere, where a cut is one of many tangents
 * of the same cone, the cut of each example is generated at an exponentially averaged iterate, as
 * long as the current w violates it nearly as much as the constraint it violates most. That halves
 * the number of iterations.
 *
 * Cost: one more array of a rank's examples x r. Local, apart from the separation itself. */
#include <string.h>

#include "models/jkm/jkm_cutting_plane.h"

#define MEMORY 0.8 /* of the running mean */
#define NEARLY 0.5 /* of the largest violation */

dkm_status dkm_jkm_separate_stabilized(dkm_cutting_plane *loop)
{
    dkm_status status = DKM_OK;
    dkm_separation_oracle *o = loop->oracle;
    dkm_idx r = loop->map->r, size = o->n * r;
    double memory = loop->begun ? MEMORY : 0;

    if (!loop->slow)
        return dkm_separation_oracle_search(o, loop->G);
    for (dkm_idx k = 0; k < size; k++)
        loop->H[k] = (memory > 0 ? memory * loop->H[k] : 0) + (1 - memory) * loop->G[k];
    loop->begun = 1;
    DKM_TRY(dkm_separation_oracle_search(o, loop->H));
    memcpy(loop->V, o->V, (size_t)size * sizeof *loop->V);
    DKM_TRY(dkm_separation_oracle_search(o, loop->G));
    for (dkm_idx i = 0; i < o->n; i++) {
        double h = o->b[i] - dkm_qp_dot(r, loop->G + i * r, loop->V + i * r);
        if (h >= NEARLY * o->violation[i])
            memcpy(o->V + i * r, loop->V + i * r, (size_t)r * sizeof *loop->V);
    }
out:
    return status;
}
