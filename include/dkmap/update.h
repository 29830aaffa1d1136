/** @file update.h  Examples added to and removed from a fitted model, without a fit.
 *
 *  For models of krr that keep their factor (`fit krr --keep-factor`). Kernel, ridge and what inputs go
 *  through when they are read stay as they are: the model becomes what a fit with these would have
 *  made of the examples.
 */
#ifndef DKMAP_UPDATE_H
#define DKMAP_UPDATE_H

#include <dkmap/model.h>
#include <dkmap/report.h>

DKM_API_BEGIN

/** Learn from more examples. Collective; on failure the model is as it was.
 *
 *  @param[in] model  fitted, borrowed
 *  @param[in]  X, Y    as many rows each, like those that the model was trained on
 *  @param[out] report  may be NULL; else new, owned by the caller: `appended`, `m`, `residual`, ...
 *  @return DKM_OK; DKM_ERR_ARG for examples of another type or width; DKM_ERR_UNSUPPORTED for other
 *          models, and without a factor; DKM_ERR_NUMERIC; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_status dkm_model_append(dkm_model *model, const dkm_data *X, const dkm_data *Y,
                                          dkm_report **report);

/** The same with weights: an example of weight 2 counts as two. Collective.
 *
 *  @param[in] model  fitted, borrowed
 *  @param[in]  X, Y     as many rows each, like those that the model was trained on
 *  @param[in]  weights  a column of numbers > 0, as many; NULL: they weigh 1
 *  @param[out] report   may be NULL; else new, owned by the caller
 *  @return as dkm_model_append() */
DKM_NODISCARD dkm_status dkm_model_append_weighted(dkm_model *model, const dkm_data *X,
                                                   const dkm_data *Y, const dkm_data *weights,
                                                   dkm_report **report);

/** Forget some of the examples. Collective; as dkm_model_append().
 *
 *  @param[in] model  fitted, borrowed
 *  @param[in] count  of rows, > 0
 *  @param[in]  rows    @p count numbers of examples, from 0, in any order, the same on every rank
 *  @param[out] report  may be NULL; else new, owned by the caller
 *  @return also DKM_ERR_ARG for rows that are not there or named twice, for none and for all */
DKM_NODISCARD dkm_status dkm_model_forget(dkm_model *model, dkm_idx count, const dkm_idx *rows,
                                          dkm_report **report);

/** How a file that the model is saved to keeps the factor. */
typedef enum dkm_factor_storage {
    DKM_FACTOR_COPY,  /**< all of it: by default */
    DKM_FACTOR_REFER, /**< rows that are in the file the model came from stay there, and the new file
                           names it. It is looked for in the folder of the new one; where it is gone or
                           changed later, the factor is computed anew when it is needed */
    DKM_FACTOR_DROP /**< not at all: standard deviations compute it anew, and nothing can be added or
                           removed */
} dkm_factor_storage;

/** Choose how files keep the factor from now on. Collective.
 *
 *  @param[in] model    fitted, borrowed
 *  @param[in] storage  how
 *  @param[in] path     the file that the model is to be saved to: beside the one that it is to refer to,
 *                      and not that one; may be NULL
 *  @return DKM_OK; DKM_ERR_ARG; DKM_ERR_UNSUPPORTED for models that keep no factor */
DKM_NODISCARD dkm_status dkm_model_store_factor(dkm_model *model, dkm_factor_storage storage,
                                                const char *path);

DKM_API_END

#endif
