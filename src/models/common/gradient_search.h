/** @file gradient_search.h  The least of a positive function of positive numbers by its gradient.
 *
 *  L-BFGS (NLopt) on the logarithms of both. Rank 0 chooses where to look next, all ranks compute.
 */
#ifndef DKMAP_MODELS_COMMON_GRADIENT_SEARCH_H
#define DKMAP_MODELS_COMMON_GRADIENT_SEARCH_H

#include <dkmap/dmat.h>

typedef struct dkm_search dkm_search;

struct dkm_search {
    dkm_ctx *ctx;
    dkm_idx n;     /**< logarithms of numbers */
    dkm_idx ridge; /**< which of them is that of the ridge */
    /** The function at exp(x), the same on every rank, and in `gradient` its derivatives by x where
     *  it is finite. Collective. */
    dkm_status (*evaluate)(dkm_search *search, double *loss);
    double precise; /**< change of the logarithm below which a search ends; 0: a millionth */
    double *x, *gradient;
    double *best;   /**< where the least was seen; before that where to begin */
    double *slope;  /**< derivatives of the logarithm there */
    double *from;   /**< where the search at hand begins, and then NLopt's own x */
    double *basis;  /**< x = best + basis z, column-major, z being NLopt's; NULL: x itself is */
    double *center; /**< where z is 0 */
    double first, least; /**< values of the first look, and at `best`; begin with INFINITY */
    dkm_idx fits, end;   /**< looks so far, and at which the search at hand ends */
    double cost;         /**< of a look, by which `spent` grows; 0: 1 */
    double spent;
    dkm_idx most;    /**< of that in all, for the progress */
    int settled;     /**< the search at hand ended where there is little to gain... */
    int stopped;     /**< ...as far as it was allowed to go */
    void *optimizer; /**< of the search at hand, on rank 0 */
    dkm_status status;
};

/** Space for @p n numbers. Local; dkm_search_close() frees, also after a failure. */
DKM_NODISCARD dkm_local dkm_search_open(dkm_search *search, dkm_idx n);
void dkm_search_close(dkm_search *search);

/** Refuse to search where NLopt was not there when dkmap was built. Collective. */
DKM_NODISCARD dkm_status dkm_search_check(dkm_ctx *ctx);

/** Search from `best`, and from 1/3, 3, 1/9, ... times its numbers with a hundredth of the ridge.
 *  Collective.
 *  @param[in] fits  looks at most, of all starts together */
DKM_NODISCARD dkm_status dkm_search_run(dkm_search *search, dkm_idx starts, dkm_idx fits);

/** The function at exp(x). Collective. */
DKM_NODISCARD dkm_status dkm_search_look(dkm_search *search, const double *x, double *loss);

/** Forget the least that was seen, as the function is another one now; `best` stays. Local. */
void dkm_search_restart(dkm_search *search);

/** From `best`, where a search of a function like this one has ended, by coordinates in which its second
 *  derivatives are the identity: differences of gradients there, n looks more, so that the first step
 *  afterwards is Newton's. Where n is too large for that, nothing is done. Collective. */
DKM_NODISCARD dkm_status dkm_search_take_curvature(dkm_search *search);

/** Search on from `best`, in those coordinates, by ten times or a tenth of a number at most. It ends where
 *  the slope says that the logarithm would fall by less than `precise`, too; where that is as far as it may go it goes on
 *  from there, and where it gives up it begins again without them. Collective.
 *  @param[in] fits  looks at most */
DKM_NODISCARD dkm_status dkm_search_refine(dkm_search *search, dkm_idx fits);

#endif
