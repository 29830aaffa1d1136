/** @file describe.h  What any file holds, for a person to read. */
#ifndef DKMAP_DESCRIBE_H
#define DKMAP_DESCRIBE_H

#include <dkmap/context.h>

DKM_API_BEGIN

/** Describe a model, data or record file, line by line.
 *
 *  Collective; @p line is called on rank 0 only.
 *
 *  @param[in] ctx  of all ranks that call, borrowed
 *  @param[in] path  of the file, the same on every rank
 *  @param[in] type  name of a type of objects, or NULL where the ending of the file says
 *  @param[in] line  called with each line and @p user
 *  @param[in] user  handed to @p line
 *  @return DKM_OK; DKM_ERR_IO; DKM_ERR_FORMAT */
DKM_NODISCARD dkm_status dkm_describe(dkm_ctx *ctx, const char *path, const char *type,
                                      void (*line)(void *user, const char *text), void *user);

DKM_API_END

#endif
