/** @file preimage.h  From a point in feature space back to an object.
 *
 *  Methods that predict coordinates along directions of a feature space (kde, kpca) need an object
 *  whose image is near the point Psi those coordinates stand for.
 */
#ifndef DKMAP_PREIMAGE_H
#define DKMAP_PREIMAGE_H

#include <dkmap/data.h>
#include <dkmap/kernel.h>

DKM_API_BEGIN

/** Every method with the name users type. */
#define DKM_PREIMAGE_LIST(X)                                                                       \
    X(DKM_PREIMAGE_AUTO, "auto")               /* what suits the kernel and the objects */         \
    X(DKM_PREIMAGE_CANDIDATES, "candidates")   /* the nearest training object, or one given */     \
    X(DKM_PREIMAGE_LINEAR, "linear")           /* closed form of the linear kernel */              \
    X(DKM_PREIMAGE_EXACT, "exact")             /* closed form of f(<x, x'>), f invertible */       \
    X(DKM_PREIMAGE_FIXED_POINT, "fixed-point") /* iteration for an rbf */                          \
    X(DKM_PREIMAGE_GRADIENT, "gradient")       /* descent on ||Psi - phi(x)||^2 */                 \
    X(DKM_PREIMAGE_MDS, "mds")                 /* by the distances to near training objects */     \
    X(DKM_PREIMAGE_LEARNED, "learned")         /* ridge from coordinates to the objects */         \
    X(DKM_PREIMAGE_STRINGS, "strings")         /* each letter by a window on the input */          \
    X(DKM_PREIMAGE_NONE, "coordinates")        /* the coordinates themselves */

#define DKM_PREIMAGE_ENUM(code, name) code,
typedef enum dkm_preimage_method { DKM_PREIMAGE_LIST(DKM_PREIMAGE_ENUM) } dkm_preimage_method;
#undef DKM_PREIMAGE_ENUM

/** What the places of a window weigh, with the name users type. */
#define DKM_WINDOW_WEIGHTS_LIST(X)                                                                 \
    X(DKM_WINDOW_WEIGHTS_EQUAL, "equal") /* one each */                                            \
    X(DKM_WINDOW_WEIGHTS_LOO, "loo")     /* chosen by leave-one-out on the training strings */

#define DKM_WINDOW_WEIGHTS_ENUM(code, name) code,
typedef enum dkm_window_weights {
    DKM_WINDOW_WEIGHTS_LIST(DKM_WINDOW_WEIGHTS_ENUM)
} dkm_window_weights;
#undef DKM_WINDOW_WEIGHTS_ENUM

/** A `top` that lists all candidates. */
#define DKM_PREIMAGE_TOP_ALL INT64_MAX

/** What searches among candidates took. */
typedef struct dkm_search_info {
    dkm_idx searches;   /**< batches of points that were searched for */
    dkm_idx candidates; /**< to choose from, where they were counted: streamed or approximate */
    dkm_idx evaluated;  /**< by kernel values to all training objects, after bounds or an index have
                             ruled the others out; of all searches together */
    dkm_idx pivots;     /**< training objects that a bound ruled others out by; 0: no bound */
    dkm_idx sample;     /**< points whose recall was measured; 0: the search was exact */
    double recall;      /**< the share of their true best candidates that was found */
    dkm_idx cells, probes; /**< of the index, and into how many of them it looks */
} dkm_search_info;

typedef struct dkm_preimage_settings {
    dkm_preimage_method method;
    dkm_data *candidates; /**< NULL takes the training objects */
    dkm_source *stream;   /**< in place of `candidates` a file of any length, read in blocks that
                             do not stay */
    dkm_idx top;          /**< 0, or: predict the indices of so many nearest candidates and their
                             squared distances, alternating, instead of the nearest itself */
    dkm_idx neighbors;    /**< DKM_PREIMAGE_MDS: objects to measure by, 0 takes 10;
                             DKM_PREIMAGE_STRINGS: letters that vote on one, 0 takes 5 */
    dkm_idx window; /**< DKM_PREIMAGE_STRINGS: letters of the input to look at, odd; 0 takes 3 */
    dkm_kernel *kz; /**< on coordinates, for DKM_PREIMAGE_LEARNED, which needs it.
                       DKM_PREIMAGE_STRINGS: on coordinates and windows, of a ridge classifier of
                       letters; NULL lets the nearest letters vote */
    double gamma_z; /**< its ridge > 0 */
    int scores;     /**< predict a number per candidate instead, in their order, the best the
                       greatest: minus its squared distance, or of jkm its score */
    double approximate; /**< 0, or in (0, 1]: search by an index that finds this share of the best
                              candidates of a sample of points, or more; needs faiss */
    dkm_search_info *info; /**< NULL, or what is added to by every search; borrowed, and there as
                              long as the model */
    dkm_window_weights window_weights; /**< DKM_PREIMAGE_STRINGS without kz: of the window */
} dkm_preimage_settings;

/** Destroy what the settings hold, for a caller to whom it belongs. Local. */
void dkm_preimage_settings_clear(dkm_preimage_settings *settings);

DKM_API_END

#endif
