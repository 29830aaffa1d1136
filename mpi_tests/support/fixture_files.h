/** @file fixture_files.h  A place for the files of a test, and files of any bytes in it. */
#ifndef DKMAP_FIXTURE_FILES_H
#define DKMAP_FIXTURE_FILES_H

#include <stddef.h>

#include <dkmap/context.h>

#define FILES_PATH 512

/** Make an empty directory that all ranks know by name. Collective. */
void files_open(dkm_ctx *ctx, char dir[FILES_PATH]);

/** The name of a file in it. Local. @return @p path */
char *files_name(const char *dir, const char *name, char path[FILES_PATH]);

/** Write a file in it on rank 0, gzipped where its name ends in .gz. Collective.
 *  @return the name, in @p path */
char *files_put(dkm_ctx *ctx, const char *dir, const char *name, const void *bytes, size_t count,
                char path[FILES_PATH]);

/** Whether a file of that name is there, as rank 0 sees it. Collective. */
int files_exist(dkm_ctx *ctx, const char *path);
/** How many files are in the directory, as rank 0 sees it. Collective. */
int files_count(dkm_ctx *ctx, const char *dir);

/** Remove the directory and all in it. Collective. */
void files_close(dkm_ctx *ctx, const char *dir);

/** Change one byte of a file, or cut it there; rank 0 does it. Collective. */
void files_hurt(dkm_ctx *ctx, const char *path, long at, int cut);

/** Brutal: read @p where (a file with dataset and slice), with ever more allocations allowed on each
 *  rank in turn; see check_every_allocation(). Collective. */
void files_read_allocations(dkm_ctx *ctx, const char *where);

#endif
