/* A group's way through its cells. Where cells of a kernel and a part of the settings share what is
 * worked out once, they are a unit: units are taken a few at a time, as many as memory holds,
 * and split by split, so that what is learned of the outputs serves all of them. */
#include "core/alloc.h"
#include "selection/cv/cv_impl.h"

static dkm_status do_cell(dkm_cv_worker *w, dkm_cv_list *list, dkm_idx k)
{
    dkm_idx width = dkm_cv_width(w->cell.problem) * w->cell.problem->settings;
    dkm_status status = dkm_cv_work(w, list->cell_id[k], list->fold, list->sums + k * width);

    list->done += w->cell.group->count;
    if (status == DKM_OK)
        dkm_progress(list->ctx, (double)list->done, (double)list->total);
    return status;
}

/* Units of cells from number @p first on. */
static dkm_status do_units(dkm_cv_worker *w, dkm_cv_list *list, dkm_idx first, dkm_idx units)
{
    dkm_ctx *ctx = w->cell.group->ctx;
    dkm_status status = DKM_OK;
    void **slots = NULL;

    DKM_AGREE(ctx, dkm_calloc(ctx, units, &slots));
    for (dkm_idx split = 0; split < list->splits; split++)
        for (dkm_idx u = 0; u < units; u++) {
            w->slot = &slots[u];
            DKM_TRY(do_cell(w, list, first + u * list->splits + split));
        }
out:
    w->slot = NULL;
    for (dkm_idx u = 0; slots && u < units; u++)
        w->cell.problem->method->unshare(&slots[u]);
    DKM_FREE(slots);
    return status;
}

dkm_status dkm_cv_work_through(dkm_cv_worker *w, dkm_cv_list *list, dkm_idx first, dkm_idx last)
{
    dkm_idx step = list->units_at_once * list->splits;
    dkm_status status = DKM_OK;

    dkm_progress(list->ctx, (double)list->done, (double)list->total);
    for (dkm_idx k = first; k < last && step == 0; k++)
        DKM_TRY(do_cell(w, list, k));
    for (dkm_idx k = first; k < last && step > 0; k += step)
        DKM_TRY(do_units(w, list, k, (k + step < last ? step : last - k) / list->splits));
out:
    return status;
}
