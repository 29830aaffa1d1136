/** @file hdf5_guard.h  Keep HDF5 inside the file that was named.
 *
 *  An HDF5 file can make the library open other files: by external links, by values in external
 *  storage, by virtual datasets, and by filters that are loaded as plugins. None of them is
 *  followed. Every function is local.
 */
#ifndef DKMAP_IO_HDF5_GUARD_H
#define DKMAP_IO_HDF5_GUARD_H

#include <hdf5.h>

/** An access list for H5Oopen() and H5Dopen2() under which external links are not followed.
 *  @param[out] refused  set to 1 when one was met; must outlive the list
 *  @return to be closed by H5Pclose(); negative on failure */
hid_t dkm_h5_guard(int *refused);

/** Why the values of an open dataset are not read: they need another file or a plugin.
 *  @return a phrase, or NULL when all is in the file itself */
const char *dkm_h5_outside(hid_t set);

/** Whether @p name is a hard link in the group @p at, that is, an object of this very file. */
int dkm_h5_is_inside(hid_t at, const char *name);

#endif
