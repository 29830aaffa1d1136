/** @file version.h  The version of dkmap, for the preprocessor and at run time.
 *
 *  The build reads the three numbers here. While the major version is 0, a new minor version may
 *  change the interface; a new patch version does not.
 */
#ifndef DKMAP_VERSION_H
#define DKMAP_VERSION_H

#include <dkmap/types.h>

#define DKM_VERSION_MAJOR 0
#define DKM_VERSION_MINOR 1
#define DKM_VERSION_PATCH 0

/** One number that grows with the version, for comparisons: 0.1.0 is 100. */
#define DKM_VERSION_NUMBER (10000 * DKM_VERSION_MAJOR + 100 * DKM_VERSION_MINOR + DKM_VERSION_PATCH)

#define DKM_VERSION_TEXT_OF(x) #x
#define DKM_VERSION_TEXT(x)    DKM_VERSION_TEXT_OF(x)

/** The version of the headers as text, such as "0.1.0". */
#define DKMAP_VERSION                                                                              \
    DKM_VERSION_TEXT(DKM_VERSION_MAJOR)                                                            \
    "." DKM_VERSION_TEXT(DKM_VERSION_MINOR) "." DKM_VERSION_TEXT(DKM_VERSION_PATCH)

DKM_API_BEGIN

/** The version of the library that is linked, as text. Local. */
const char *dkm_version(void);

/** The same as DKM_VERSION_NUMBER, of the library that is linked. Local. */
int dkm_version_number(void);

DKM_API_END

#endif
