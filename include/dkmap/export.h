/** @file export.h  Fitted models for programs without dkmap: as C source, and as ONNX graphs.
 *
 *  Models of krr and svm, kpca and kde whose inputs are dense rows of numbers, under the kernels
 *  linear, poly, rbf, laplace, expdot, cosine, tanimoto, matern, rq and what on, sum, product, scale,
 *  power, exp, normalize and rbf make of them. Inputs are columns as they are in files: missing
 *  values and standardization are part of what is exported.
 */
#ifndef DKMAP_EXPORT_H
#define DKMAP_EXPORT_H

#include <dkmap/model.h>

DKM_API_BEGIN

typedef enum dkm_export_format {
    DKM_EXPORT_C,   /**< one C99 file that needs nothing but the mathematics library */
    DKM_EXPORT_ONNX /**< operator set 13, all numbers in double precision */
} dkm_export_format;

/** Write a model as C or ONNX, with the pre-image that it is configured with.
 *
 *  Collective. Rank 0 writes; rows of the model come to it in blocks of a megabyte.
 *
 *  @param[in] model  fitted, borrowed
 *  @param[in] format  C or ONNX
 *  @param[in]  path     of the file; in C its functions are called as the file is: those of
 *                       house.c are house_predict() and so on
 *  @param[out] decodes  may be NULL; whether coordinates become objects there: of kpca the
 *                       pre-images linear, candidates and (in C) fixed-point do
 *  @return DKM_OK; DKM_ERR_UNSUPPORTED naming the method, kernel, type or pre-image that cannot be
 *          exported; DKM_ERR_SIZE for an ONNX file of 2 GiB or more; DKM_ERR_IO */
DKM_NODISCARD dkm_status dkm_model_export(dkm_model *model, dkm_export_format format,
                                          const char *path, int *decodes);

DKM_API_END

#endif
