/** @file preimage.h  From a point in feature space back to an object.
 *
 *  Methods that predict coordinates along directions of a feature space (kde, kpca) need an object
 *  whose image is near the point those coordinates stand for.
 */
#ifndef DKMAP_PREIMAGE_H
#define DKMAP_PREIMAGE_H

#include <dkmap/data.h>

typedef enum dkm_preimage_method {
    DKM_PREIMAGE_AUTO,       /**< linear for a linear kernel on dense rows, else candidates */
    DKM_PREIMAGE_CANDIDATES, /**< the nearest of the training objects, or of those given */
    DKM_PREIMAGE_LINEAR,     /**< closed form, for a linear kernel on dense rows */
    DKM_PREIMAGE_NONE        /**< the coordinates themselves */
} dkm_preimage_method;

typedef struct dkm_preimage_settings {
    dkm_preimage_method method;
    dkm_data *candidates; /**< taken over; NULL takes the training objects */
    dkm_idx top;          /**< 0, or: predict the indices of so many nearest candidates and their
                             squared distances, alternating, instead of the nearest itself */
} dkm_preimage_settings;

#endif
