/** @file montage.h  Rows of numbers shown as images, side by side, in one PNG file.
 *
 *  A picture is a table: each of its rows shows as many images as the others, so that what stands
 *  below each other belongs together (input, truth, prediction). An image may be put together from
 *  several data, such as an upper half that is given and a lower one that is predicted.
 */
#ifndef DKMAP_MONTAGE_H
#define DKMAP_MONTAGE_H

#include <dkmap/data.h>

DKM_API_BEGIN

typedef struct dkm_montage dkm_montage;

typedef struct dkm_montage_settings {
    dkm_idx height, width; /**< of an image, in its own pixels */
    dkm_idx rows, count;   /**< of the table, and images in each of them */
    dkm_idx scale;         /**< a pixel of an image is drawn as so many squared */
    double low, high;      /**< numbers drawn black and white; both 0: the range of all images */
    int invert;            /**< draw @p low white and @p high black */
    const char *const *labels; /**< one a row, drawn to its left, borrowed; NULL for none */
} dkm_montage_settings;

/** An empty picture. Collective.
 *
 *  Rank 0 holds it: 8 bytes a pixel of the images.
 *
 *  @param[in] ctx  of all ranks that call, borrowed
 *  @param[in] settings  borrowed; the same on every rank
 *  @param[out] picture  new, owned by the caller; NULL on failure
 *  @return DKM_OK; DKM_ERR_ARG for sizes that are not positive or a range that is empty;
 *          DKM_ERR_SIZE for more than 32768 pixels a side; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_status dkm_montage_create(dkm_ctx *ctx, const dkm_montage_settings *settings,
                                            dkm_montage **picture);

/** Put images into a row of the table. Collective.
 *
 *  Pixels that nothing is put into stay grey.
 *
 *  @param[in] picture  to put them into
 *  @param[in] row     of the table, from 0
 *  @param[in] first   pixel of each image, counted row by row, where the first column goes
 *  @param[in] images  dense; the first @p count rows are shown, fewer leave gaps
 *  @return DKM_OK; DKM_ERR_ARG when they do not fit (the sizes are named); DKM_ERR_UNSUPPORTED for
 *          objects that are not dense; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_status dkm_montage_place(dkm_montage *picture, dkm_idx row, dkm_idx first,
                                           const dkm_data *images);

/** Write the picture as a grey PNG file. Collective.
 *  @return DKM_OK; DKM_ERR_IO; DKM_ERR_MEMORY */
DKM_NODISCARD dkm_status dkm_montage_write(const dkm_montage *picture, const char *path);

/** Free. Local; takes NULL and nulls. */
void dkm_montage_destroy(dkm_montage **picture);

DKM_API_END

#endif
