#include "io/hdf5_guard.h"

static herr_t hdf5_guard_refuse(const char *file, const char *group, const char *other,
                                const char *object, unsigned *flags, hid_t access, void *user)
{
    (void)file;
    (void)group;
    (void)other;
    (void)object;
    (void)flags;
    (void)access;
    *(int *)user = 1;
    return -1;
}

hid_t dkm_h5_guard(int *refused)
{
    hid_t list = H5Pcreate(H5P_DATASET_ACCESS);

    *refused = 0;
    if (list >= 0 && H5Pset_elink_cb(list, hdf5_guard_refuse, refused) < 0) {
        H5Pclose(list);
        return -1;
    }
    return list;
}

/* Filters with numbers from H5Z_FILTER_RESERVED on are not part of the library. */
static int needs_plugin(hid_t list)
{
    int count = H5Pget_nfilters(list), foreign = 0;

    for (int k = 0; k < count && !foreign; k++) {
        unsigned flags = 0;
        size_t values = 0;
        H5Z_filter_t id = H5Pget_filter2(list, (unsigned)k, &flags, &values, NULL, 0, NULL, NULL);
        foreign = id < 0 || id >= H5Z_FILTER_RESERVED;
    }
    return foreign;
}

const char *dkm_h5_outside(hid_t set)
{
    hid_t list = H5Dget_create_plist(set);
    const char *why = NULL;

    if (list < 0)
        return "its layout cannot be read";
    if (H5Pget_external_count(list) != 0)
        why = "its values lie in another file (external storage), which is not read";
    else if (H5Pget_layout(list) == H5D_VIRTUAL)
        why = "it is a virtual dataset with values in other files, which are not read";
    else if (needs_plugin(list))
        why = "it needs a filter that is not part of HDF5";
    H5Pclose(list);
    return why;
}

int dkm_h5_is_inside(hid_t at, const char *name)
{
    H5L_info_t info;

    return H5Lget_info(at, name, &info, H5P_DEFAULT) >= 0 && info.type == H5L_TYPE_HARD;
}
