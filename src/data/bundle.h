/** @file bundle.h  Named parts of a model or a checkpoint, on their way to or from a file.
 *
 *  A model turns itself into a bundle and back; src/store writes and reads bundles and knows
 * nothing of models. Text, numbers and arrays are the same on every rank; data are spread in slabs.
 */
#ifndef DKMAP_BUNDLE_H
#define DKMAP_BUNDLE_H

#include "data/objects.h"
#include "data/rowpart.h"

typedef enum dkm_part_kind {
    DKM_PART_TEXT,
    DKM_PART_REALS,
    DKM_PART_DATA,
    DKM_PART_ROWS /**< of a matrix; they go from it to the file and back without a copy */
} dkm_part_kind;

typedef struct dkm_part {
    char *name;
    dkm_part_kind kind;
    char *text;
    dkm_idx count;
    double *reals; /**< count of them; a plain number is an array of one */
    dkm_data *data;
    int lent; /**< the data belong to someone else */
    dkm_rowpart rows;
} dkm_part;

typedef struct dkm_bundle {
    dkm_ctx *ctx;
    dkm_idx count, room;
    dkm_part *parts;
} dkm_bundle;

/** An empty bundle. Local; dkm_bundle_clear() frees it, also after a failure. */
dkm_bundle dkm_bundle_empty(dkm_ctx *ctx);

/** Add a part; text and numbers are copied. Local. */
DKM_NODISCARD
dkm_local dkm_bundle_put_text(dkm_bundle *b, const char *name, const char *text);
DKM_NODISCARD
dkm_local dkm_bundle_put_real(dkm_bundle *b, const char *name, double value);
DKM_NODISCARD
dkm_local dkm_bundle_put_reals(dkm_bundle *b, const char *name, dkm_idx count,
                               const double *values);
/** Add data; takes over *data (nulled on success). Local. */
DKM_NODISCARD
dkm_local dkm_bundle_put_data(dkm_bundle *b, const char *name, dkm_data **data);
/** Add data that stay the caller's and outlive the bundle. Local. */
DKM_NODISCARD
dkm_local dkm_bundle_lend_data(dkm_bundle *b, const char *name, dkm_data *data);

/** Add rows; the path is copied, matrix and slab stay the caller's and outlive the bundle. Local.
 */
DKM_NODISCARD
dkm_local dkm_bundle_put_rows(dkm_bundle *b, const char *name, const dkm_rowpart *rows);

/** The part called @p name, or NULL. Local. */
dkm_part *dkm_bundle_find(const dkm_bundle *b, const char *name);

/** What a part holds; a part that is missing or of another kind is DKM_ERR_FORMAT naming it. Local.
 */
DKM_NODISCARD
dkm_local dkm_bundle_text(const dkm_bundle *b, const char *name, const char **text);
DKM_NODISCARD
dkm_local dkm_bundle_real(const dkm_bundle *b, const char *name, double *value);
DKM_NODISCARD
dkm_local dkm_bundle_reals(const dkm_bundle *b, const char *name, dkm_idx *count,
                           const double **values);
/** A number within [least, most]; one that is not is DKM_ERR_FORMAT naming it. Local. */
DKM_NODISCARD
dkm_local dkm_bundle_number(const dkm_bundle *b, const char *name, double least, double most,
                            double *value);
/** A whole number within [least, most]; likewise. Local. */
DKM_NODISCARD
dkm_local dkm_bundle_count(const dkm_bundle *b, const char *name, dkm_idx least, dkm_idx most,
                           dkm_idx *count);
/** One of the numbers of part @p name as a whole number within [least, most]; likewise. Local. */
DKM_NODISCARD
dkm_local dkm_bundle_whole(const dkm_bundle *b, const char *name, double number, dkm_idx least,
                           dkm_idx most, dkm_idx *whole);
/** As many numbers as are wanted; likewise. Local. */
DKM_NODISCARD
dkm_local dkm_bundle_numbers(const dkm_bundle *b, const char *name, dkm_idx count,
                             const double **values);
/** Hand over data that are dense rows; likewise. Local. */
DKM_NODISCARD
dkm_local dkm_bundle_take_rows(dkm_bundle *b, const char *name, dkm_data **data);
/** Refuse a bundle with a number that is not finite, in this rank's slabs or elsewhere. Local. */
DKM_NODISCARD
dkm_local dkm_bundle_check_finite(const dkm_bundle *b);

/** Hand over the data of a part: the caller owns them now. Local. */
DKM_NODISCARD
dkm_local dkm_bundle_take_data(dkm_bundle *b, const char *name, dkm_data **data);

/** Where the rows of a part lie. Local. */
DKM_NODISCARD
dkm_local dkm_bundle_rows(const dkm_bundle *b, const char *name, const dkm_rowpart **rows);

void dkm_bundle_clear(dkm_bundle *b);

#endif
