/** @file store.h  Model files, and what any file holds.
 *
 *  A model file is HDF5: the attributes of its root say format, version, method, program version,
 *  command line, seed and date; each part of the model is a dataset or a group. It is written to a
 *  temporary name and renamed.
 */
#ifndef DKMAP_STORE_H
#define DKMAP_STORE_H

#include <dkmap/describe.h>
#include <dkmap/model.h>

DKM_API_BEGIN

/** Write a model. Collective.
 *  @param[in] model  fitted, borrowed
 *  @param[in] path  of the file, the same on every rank
 *  @param[in] command  the command line that made it, stored for the reader's sake */
DKM_NODISCARD dkm_status dkm_model_save(dkm_model *model, const char *path, const char *command);

/** Read a model, whatever number of ranks wrote it. Collective.
 *
 *  Its checksum is verified first; models of versions before the checksum have none and load
 *  without. Every part is checked for its size, type and range. No other file is read, except
 *  kernels in files beside the model (see dkm_store_kernel_folder()).
 *
 *  @return DKM_OK; DKM_ERR_IO; DKM_ERR_FORMAT for a file that is not ours, is torn, or is of a
 * newer format */
DKM_NODISCARD dkm_status dkm_model_load(dkm_ctx *ctx, const char *path, const dkm_layout *layout,
                                        dkm_model **model);

/** Name the folder of the files that kernels of loaded models name; else they must lie beside the
 *  model. Such a file is looked for under its plain name, and no other file is read. Logically
 *  collective.
 *  @param[in] ctx  of all ranks that call, borrowed
 *  @param[in] folder  borrowed until it is replaced; NULL for the model's own */
void dkm_store_kernel_folder(dkm_ctx *ctx, const char *folder);

/** Write eigenpairs as the datasets /eigenvalues and /vectors/values. Collective.
 *  @param[in] vectors  m x count, dense; stays the caller's
 *  @param[in] count  of eigenpairs
 *  @param[in] values  count of them, largest first
 *  @param[in] path  of the file
 *  @param[in] command  the command line, stored for the reader's sake */
DKM_NODISCARD dkm_status dkm_eigenpairs_save(dkm_data *vectors, dkm_idx count, const double *values,
                                             const char *path, const char *command);

DKM_API_END

#endif
