/* Stabilized separation (in-out separation, cf. Ben-Ameur and Neto 2007, Networks 49(1):3-17,
 * doi:10.1002/net.20137). The w of a QP with few constraints oscillates, and the constraint it
 * violates most says little about the optimum. On the sphere, where a cut is one of many tangents
 * of the same cone, the cut of each example is generated at an exponentially averaged iterate, as
 * long as the current w violates it nearly as much as the constraint it violates most. That halves
 * the number of iterations.
 *
 * Cost: one more array of a rank's examples x r. Local, apart from the separation itself. */
#include "models/jkm/stabilized_separation.h"

#include <string.h>

#include "core/alloc.h"
#include "solvers/qp/qp.h"

#define MEMORY 0.8 /* of the running mean */
#define NEARLY 0.5 /* of the largest violation */

dkm_local dkm_stabilized_separation_open(dkm_stabilized_separation *s,
                                         const dkm_separation_oracle *oracle, double C)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx size = oracle->n * oracle->space->r;

    s->enabled = C == 0 && oracle->space->kind == DKM_JKM_SPHERE && !oracle->user.find;
    if (!s->enabled)
        return DKM_LOCAL_OK;
    DKM_STEP(dkm_alloc(oracle->space->ctx, size, &s->H));
    DKM_STEP(dkm_alloc(oracle->space->ctx, size, &s->V));
out:
    return local;
}

void dkm_stabilized_separation_close(dkm_stabilized_separation *s)
{
    DKM_FREE(s->H);
    DKM_FREE(s->V);
}

dkm_status dkm_stabilized_separation_search(dkm_stabilized_separation *s,
                                            dkm_separation_oracle *oracle, const double *G)
{
    dkm_status status = DKM_OK;
    dkm_idx r = oracle->space->r, size = oracle->n * r;
    double memory = s->begun ? MEMORY : 0;

    if (!s->enabled)
        return dkm_separation_oracle_search(oracle, G);
    for (dkm_idx k = 0; k < size; k++)
        s->H[k] = (memory > 0 ? memory * s->H[k] : 0) + (1 - memory) * G[k];
    s->begun = 1;
    DKM_TRY(dkm_separation_oracle_search(oracle, s->H));
    memcpy(s->V, oracle->V, (size_t)size * sizeof *s->V);
    DKM_TRY(dkm_separation_oracle_search(oracle, G));
    for (dkm_idx i = 0; i < oracle->n; i++) {
        double h = oracle->b[i] - dkm_qp_dot(r, G + i * r, s->V + i * r);
        if (h >= NEARLY * oracle->violation[i])
            memcpy(oracle->V + i * r, s->V + i * r, (size_t)r * sizeof *s->V);
    }
out:
    return status;
}
