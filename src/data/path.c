#include "data/path.h"

#include <errno.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

int dkm_path_ends(const char *path, const char *ending)
{
    size_t length = strlen(path), tail = strlen(ending);

    return length >= tail && strcasecmp(path + length - tail, ending) == 0;
}

dkm_local dkm_path_readable(dkm_ctx *ctx, const char *path, dkm_idx *bytes)
{
    struct stat about;

    if (stat(path, &about) != 0)
        return dkm_fail(ctx, DKM_ERR_IO, "%s: %s: check the name and that every node sees it", path,
                        strerror(errno));
    if (S_ISDIR(about.st_mode))
        return dkm_fail(ctx, DKM_ERR_IO, "%s is a directory: name a file in it", path);
    if (access(path, R_OK) != 0)
        return dkm_fail(ctx, DKM_ERR_IO, "%s: %s: check its permissions", path, strerror(errno));
    if (S_ISREG(about.st_mode) && about.st_size == 0)
        return dkm_fail(ctx, DKM_ERR_FORMAT, "%s is empty: was it written to its end?", path);
    if (bytes)
        *bytes = (dkm_idx)about.st_size;
    return DKM_LOCAL_OK;
}
