/** @file categories.h  Distinct strings with a number each: names of classes.
 *
 *  The names are sorted by their bytes and replicated: every rank holds all of them, so they should
 *  be few beside the rows.
 */
#ifndef DKMAP_CATEGORIES_H
#define DKMAP_CATEGORIES_H

#include <dkmap/data.h>

DKM_API_BEGIN

typedef struct dkm_categories dkm_categories;

/** The distinct strings in data. Collective.
 *
 *  @param[in] strings  data of the type DKM_STRINGS
 *  @param[in]  more        other strings, or NULL
 *  @param[out] categories  new, owned by the caller; NULL on failure
 *  @return DKM_OK; DKM_ERR_MEMORY; DKM_ERR_SIZE */
DKM_NODISCARD dkm_status dkm_categories_learn(const dkm_data *strings, const dkm_data *more,
                                              dkm_categories **categories);

/** How many there are. Local. */
dkm_idx dkm_categories_count(const dkm_categories *categories);

/** The name of a number, which must be in [0, count), with no zero after it. Local. */
const char *dkm_categories_name(const dkm_categories *categories, dkm_idx number, dkm_idx *length);

/** Strings as labels. Collective.
 *  @param[in] categories  borrowed
 *  @param[in] strings  all of them among the categories
 *  @param[out] labels  new, owned by the caller; NULL on failure
 *  @return DKM_OK; DKM_ERR_ARG naming a string that is not among the categories */
DKM_NODISCARD dkm_status dkm_categories_encode(const dkm_categories *categories,
                                               const dkm_data *strings, dkm_data **labels);

/** Labels, all in [0, count), as strings. Collective.
 *  @param[in] categories  borrowed
 *  @param[in] labels  of any rank count
 *  @param[out] strings  new, owned by the caller; NULL on failure */
DKM_NODISCARD dkm_status dkm_categories_decode(const dkm_categories *categories,
                                               const dkm_data *labels, dkm_data **strings);

void dkm_categories_destroy(dkm_categories **categories);

DKM_API_END

#endif
