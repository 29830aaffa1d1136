/* In which order the cells of a run come. */
#include "selection/cv/cv_impl.h"

dkm_idx dkm_cv_batch_end(const dkm_cv_problem *p, const dkm_cv_grams *grams, dkm_idx capacity,
                         dkm_idx first)
{
    dkm_idx last = first, held = 0;

    for (; last < p->kernels; last++) {
        for (int side = 0; side < 2; side++) {
            dkm_idx at = grams->index[2 * last + side];
            int known = at < 0;
            for (dkm_idx k = 2 * first; k < 2 * last + side && !known; k++)
                known = grams->index[k] == at;
            held += !known;
        }
        if (held > capacity && last > first)
            break;
    }
    return last;
}

/* A split by its number. */
static dkm_cv_cell_id split_at(const dkm_cv_problem *p, dkm_idx kernel, dkm_idx split)
{
    dkm_idx each = p->inner ? p->inner : 1;

    return (dkm_cv_cell_id){.kernel = kernel,
                            .outer = split / each,
                            .inner = p->inner ? split % each : -1,
                            .only = -1,
                            .part = -1};
}

/* Whether a setting of a cell is wanted. */
static int any_wanted(const dkm_cv_problem *p, dkm_cv_cell_id cell_id)
{
    for (dkm_idx s = 0; s < p->settings; s++)
        if (dkm_cv_wants(p, cell_id, s))
            return 1;
    return 0;
}

dkm_idx dkm_cv_kernels_wanted(const dkm_cv_problem *p)
{
    dkm_idx count = 0;

    for (dkm_idx k = 0; k < p->kernels; k++)
        count += any_wanted(p, split_at(p, k, 0));
    return count;
}

dkm_idx dkm_cv_schedule_cells(const dkm_cv_problem *p, const dkm_cv_grams *grams, dkm_idx first,
                              dkm_idx last, dkm_cv_cell_id *cell_id)
{
    dkm_idx cells = 0;

    for (dkm_idx split = 0; split < dkm_cv_splits(p); split++)
        for (dkm_idx outputs = -1; outputs < grams->count; outputs++)
            for (dkm_idx k = first; k < last; k++)
                if (grams->index[2 * k + 1] == outputs && any_wanted(p, split_at(p, k, split)))
                    cell_id[cells++] = split_at(p, k, split);
    return cells;
}

dkm_idx dkm_cv_schedule_kernels(const dkm_cv_problem *p, dkm_idx first, dkm_idx last,
                                dkm_cv_cell_id *cell_id)
{
    dkm_idx cells = 0;

    for (dkm_idx k = first; k < last; k++)
        for (dkm_idx split = 0; split < dkm_cv_splits(p); split++)
            if (any_wanted(p, split_at(p, k, split)))
                cell_id[cells++] = split_at(p, k, split);
    return cells;
}

/* Kernels often come in the order of a width, and the narrow ones take longer than the wide: each
 * group has some of all. */
dkm_idx dkm_cv_schedule_units(const dkm_cv_problem *p, dkm_idx parts, int groups, dkm_idx first,
                              dkm_idx last, dkm_cv_cell_id *cell_id)
{
    dkm_idx cells = 0;

    for (dkm_idx g = 0; g < groups; g++)
        for (dkm_idx k = first + g; k < last; k += groups)
            for (dkm_idx part = 0; part < parts; part++) {
                dkm_cv_cell_id unit = split_at(p, k, 0);
                unit.part = part;
                unit.parts = parts;
                for (dkm_idx split = 0; split < dkm_cv_splits(p) && any_wanted(p, unit); split++) {
                    cell_id[cells] = split_at(p, k, split);
                    cell_id[cells].part = part;
                    cell_id[cells++].parts = parts;
                }
            }
    return cells;
}
