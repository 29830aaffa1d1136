/** @file zip.h  One member of a zip archive, as numpy.savez writes them: where it is, and its bytes.
 */
#ifndef DKMAP_IO_FORMATS_ZIP_H
#define DKMAP_IO_FORMATS_ZIP_H

#include <dkmap/context.h>

typedef struct dkm_zip_member {
    dkm_idx offset; /**< of its first byte in the archive */
    dkm_idx packed; /**< bytes that it takes there */
    dkm_idx bytes;  /**< that it has */
    int deflated;   /**< else it stands there as it is */
} dkm_zip_member;

/** An open archive. */
typedef struct dkm_zip {
    dkm_ctx *ctx;
    const char *path; /**< for messages */
    int fd;
    dkm_idx bytes;
} dkm_zip;

/** Read bytes of the archive. Local.
 *  @return ok; DKM_ERR_IO; DKM_ERR_FORMAT where the archive ends before them */
DKM_NODISCARD dkm_local dkm_zip_read(const dkm_zip *zip, dkm_idx offset, dkm_idx count,
                                     void *bytes);

/** Find the array called @p name, which is the member `name.npy`. Local.
 *
 *  @param[in] name  NULL: the only array
 *  @return ok; DKM_ERR_IO; DKM_ERR_FORMAT for no archive, or a damaged one; DKM_ERR_ARG for a name
 *          that is not there, with those that are
 */
DKM_NODISCARD dkm_local dkm_zip_find(const dkm_zip *zip, const char *name, dkm_zip_member *member);

/** A deflated member that is unpacked from its beginning on. */
typedef struct dkm_inflate dkm_inflate;

/** Begin. Local. @param[in] zip  borrowed as long as the stream */
DKM_NODISCARD dkm_local dkm_inflate_open(const dkm_zip *zip, const dkm_zip_member *member,
                                         dkm_inflate **stream);

/** Read unpacked bytes. Local. Going on costs what is passed over, going back all that is before. */
DKM_NODISCARD dkm_local dkm_inflate_read(dkm_inflate *stream, dkm_idx offset, dkm_idx count,
                                         void *bytes);

/** Free. Local; takes NULL and nulls. */
void dkm_inflate_close(dkm_inflate **stream);

#endif
