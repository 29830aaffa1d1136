#include "kernels/gram/column_block.h"

#include <string.h>

#include "core/alloc.h"
#include "kernels/vector/vectors.h"

#define WIDE 2048 /* columns */

/* The node whose slot has the rows; NULL where another slot has more than extras. */
static const dkm_node *find_leaf(const dkm_prepared *of)
{
    const dkm_node *leaf = NULL;

    for (dkm_idx i = 0; i < of->kernel->nodes; i++) {
        const dkm_node *node = &of->kernel->node[i];
        const dkm_feature_cache *slot = node->slot < 0 ? NULL : &of->slot[node->slot];
        if (!slot)
            continue;
        if (slot->thin || slot->full->mine.type != DKM_DENSE)
            return NULL;
        if (node->kind->precompute == dkm_vectors_precompute && (!leaf || leaf->slot == node->slot))
            leaf = node;
        else if (slot->full->mine.d > 0)
            return NULL;
    }
    return leaf;
}

dkm_idx dkm_column_block_columns(const dkm_prepared *of)
{
    const dkm_node *leaf = find_leaf(of);

    return leaf ? of->slot[leaf->slot].full->mine.d : 0;
}

int dkm_column_block_wanted(const dkm_prepared *of)
{
    return dkm_column_block_columns(of) >= WIDE;
}

dkm_local dkm_column_block_open(dkm_column_block *window, const dkm_prepared *of, dkm_idx width)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx slots = of->kernel->slots;

    *window = (dkm_column_block){.of = of, .view = *of, .leaf = find_leaf(of), .width = width};
    window->view.slot = NULL;
    DKM_STEP(dkm_alloc(of->ctx, slots, &window->view.slot));
    memcpy(window->view.slot, of->slot, (size_t)slots * sizeof *of->slot);
    window->part = *of->slot[window->leaf->slot].full;
    window->part.mine.apart = window->part.mine.d;
    window->view.slot[window->leaf->slot].full = &window->part;
    dkm_column_block_move(window, 0);
out:
    return local;
}

void dkm_column_block_move(dkm_column_block *window, dkm_idx first)
{
    const dkm_objs *from = &window->of->slot[window->leaf->slot].full->mine;
    dkm_objs *to = &window->part.mine;

    to->d = from->d - first < window->width ? from->d - first : window->width;
    if (from->n > 0)
        to->values = from->values + first;
}

void dkm_column_block_close(dkm_column_block *window)
{
    DKM_FREE(window->view.slot);
}
