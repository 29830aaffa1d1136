/* The machine of a program with few constraints jumps about, and what violates it most says little
 * of the machine to be found. On the sphere, where a cut is one of many tangents of the same cone,
 * each example is asked for the one that violates a running mean of the machines most, as long as
 * the present machine violates that nearly as much as it can. That halves the rounds. */
#include <string.h>

#include "model/jkm_loop.h"

#define MEMORY 0.8 /* of the running mean */
#define NEARLY 0.5 /* of the largest violation */

dkm_status dkm_jkm_search(dkm_jkm_loop *loop)
{
    dkm_status status = DKM_OK;
    dkm_oracle *o = loop->oracle;
    dkm_idx r = loop->form->r, size = o->n * r;
    double memory = loop->begun ? MEMORY : 0;

    if (!loop->slow)
        return dkm_oracle_search(o, loop->G);
    for (dkm_idx k = 0; k < size; k++)
        loop->H[k] = (memory > 0 ? memory * loop->H[k] : 0) + (1 - memory) * loop->G[k];
    loop->begun = 1;
    DKM_TRY(dkm_oracle_search(o, loop->H));
    memcpy(loop->V, o->V, (size_t)size * sizeof *loop->V);
    DKM_TRY(dkm_oracle_search(o, loop->G));
    for (dkm_idx i = 0; i < o->n; i++) {
        double h = o->b[i] - dkm_qp_dot(r, loop->G + i * r, loop->V + i * r);
        if (h >= NEARLY * o->violation[i])
            memcpy(o->V + i * r, loop->V + i * r, (size_t)r * sizeof *loop->V);
    }
out:
    return status;
}
