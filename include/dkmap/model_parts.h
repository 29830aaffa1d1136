/** @file model_parts.h  The parts of a fitted model, by name: what its file would hold.
 *
 *  Names that several methods share:
 *    kernel, output_kernel   texts of the kernels
 *    inputs, outputs         training objects that the model keeps
 *    input_indices           of inputs among the training inputs, where a model keeps some of them:
 *                            landmarks or support vectors, a row each; likewise output_indices
 *    coefficients            one row for each object of inputs, one column for each output
 *                            (krr, svm, kde)
 *    weights                 of a linear model in primal form, one row for each input column
 *    intercept               one number for each output
 *    gamma                   the ridge
 *    eigenvalues             of the centered kernel matrix, largest first (kpca, kde)
 *    components              its eigenvectors, scaled, one row for each object
 *    classes                 the labels that the columns of outputs stand for
 *  dkm_parts_name() lists the parts of a model.
 */
#ifndef DKMAP_MODEL_PARTS_H
#define DKMAP_MODEL_PARTS_H

#include <dkmap/arrays.h>
#include <dkmap/model.h>

DKM_API_BEGIN

/** All parts of a model, as they were when it was asked for them. */
typedef struct dkm_parts dkm_parts;

/** List the parts of a model. Collective.
 *  @param[in] model  fitted, borrowed
 *  @param[out] parts  new, owned by the caller, to be destroyed before the model; NULL on failure */
DKM_NODISCARD dkm_status dkm_parts_create(dkm_model *model, dkm_parts **parts);

/** How many parts there are, and the name of the k-th; NULL past the last. Local. */
dkm_idx dkm_parts_count(const dkm_parts *parts);
const char *dkm_parts_name(const dkm_parts *parts, dkm_idx k);

/** A part that is a text, numbers that are the same on every rank, or objects; NULL where the part
 *  is not there or something else. Borrowed. Local. */
const char *dkm_parts_text(const dkm_parts *parts, const char *name);
const double *dkm_parts_reals(const dkm_parts *parts, const char *name, dkm_idx *count);
const dkm_data *dkm_parts_data(const dkm_parts *parts, const char *name);

/** Free. Local; takes NULL and nulls. */
void dkm_parts_destroy(dkm_parts **parts);

/** One part of a model, as data: numbers become dense rows of one column, a text a string.
 *
 *  Collective.
 *
 *  @param[in] model  fitted, borrowed
 *  @param[in] name  of a part
 *  @param[out] part  new, owned by the caller; NULL on failure
 *  @return DKM_OK; DKM_ERR_ARG for a part that is not there, naming those that are; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_status dkm_model_part(dkm_model *model, const char *name, dkm_data **part);

/** Which of the training inputs the rows of the part `inputs` are: their row numbers from 0 on, one
 *  each, also where a model keeps all of them. Collective.
 *
 *  @param[in] model  fitted, borrowed
 *  @param[out] indices  new, owned by the caller, dense rows of one column; NULL on failure
 *  @return DKM_OK; DKM_ERR_ARG for a model without inputs, as in primal form; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_status dkm_model_training_indices(dkm_model *model, dkm_data **indices);

DKM_API_END

#endif
