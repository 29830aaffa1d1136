/** @file export_plan.h  What an exported model computes, gathered from a fitted one.
 *
 *  f(x) = (k(x, X) - c(x)) C + b, or x'C + b in primal form; then classes, or objects from
 *  coordinates. X and C stay with the ranks that hold them.
 */
#ifndef DKMAP_EXPORT_EXPORT_PLAN_H
#define DKMAP_EXPORT_EXPORT_PLAN_H

#include <dkmap/export.h>
#include <dkmap/model_parts.h>

#include "export/export_file.h"
#include "preimage/preimage.h"

/** How coordinates become objects. */
typedef struct dkm_export_decoder {
    dkm_preimage_method method; /**< linear, candidates, fixed-point; auto: not at all */
    const dkm_data *objects;    /**< to choose from; of fixed-point the training objects */
    dkm_idx cols;               /**< numbers per object */
    dkm_data *Z;                /**< their coordinates */
    dkm_data *norms;            /**< theirs, as they are compared: a column */
    dkm_data *map;              /**< of linear: y = mean + z map */
    double *mean;
    dkm_data *weights; /**< of fixed-point: a = weights z + center are those of the objects */
    dkm_data *center;  /**< a column */
    double size;       /**< of the objects */
    double rate;       /**< of the kernel exp(-rate ||y - y'||^2) */
} dkm_export_decoder;

typedef struct dkm_export_plan {
    dkm_ctx *ctx;
    const char *method;
    dkm_parts *parts;
    const dkm_table *table; /**< that inputs go through; NULL: none */
    dkm_idx cols;           /**< of files, before the table */
    dkm_idx d;              /**< of rows that the kernel sees */
    dkm_idx outputs;        /**< columns of f */
    dkm_kernel *kernel;     /**< NULL: primal form */
    const dkm_data *X;      /**< m x d; NULL in primal form */
    const dkm_data *C;      /**< m x outputs, or d x outputs */
    const double *b;        /**< NULL: zero */
    const double
        *means;       /**< of kpca: c = means, and less what makes rows add up to zero where... */
    int centers_rows; /**< ...the components are not those of landmarks; else NULL */
    double grand;     /**< mean of the means */
    dkm_type target;  /**< dense, labels or label sets */
    const double *classes;
    const dkm_categories *names; /**< of classes; NULL: numbers */
    double threshold, slope;     /**< of label sets; of probabilities, 0: none */
    int is_coordinates;          /**< f is coordinates, of kpca or kde */
    dkm_export_decoder decoder;
} dkm_export_plan;

/** Gather. Collective; dkm_export_plan_close() frees, also after a failure.
 *  @return DKM_OK; DKM_ERR_UNSUPPORTED naming what cannot be exported */
DKM_NODISCARD dkm_status dkm_export_plan_open(dkm_export_plan *plan, dkm_model *model,
                                              dkm_export_format format);
void dkm_export_plan_close(dkm_export_plan *plan);

/** Write in either format. Collective. @param[in] name  that of the file, for names inside */
DKM_NODISCARD dkm_status dkm_export_c(const dkm_export_plan *plan, const char *name,
                                      dkm_export_file *file);
DKM_NODISCARD dkm_status dkm_export_onnx(const dkm_export_plan *plan, dkm_export_file *file);

#endif
