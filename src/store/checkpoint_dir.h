/** @file checkpoint_dir.h  The files of a checkpoint directory: STAGE-HASH-NUMBER.h5.
 *
 *  Numbers grow with every file written, whatever its stage. All functions are local: rank 0 looks,
 *  and tells the others.
 */
#ifndef DKMAP_CHECKPOINT_DIR_H
#define DKMAP_CHECKPOINT_DIR_H

#include <dkmap/context.h>

#define DKM_STEM_LENGTH 64
#define DKM_NAME_LENGTH 96

/** STAGE-HASH of a stage: its first word after all scopes, and a hash of the whole text. */
void dkm_checkpoint_stem(const char *stage, char stem[DKM_STEM_LENGTH]);

/** The number of a file of ours whose name begins with @p stem ("" is any); -1 for other names. */
long dkm_checkpoint_number(const char *name, const char *stem);

/** The file of that stem with the greatest number below @p below.
 *  @return its number, or -1 when there is none */
long dkm_checkpoint_newest(const char *dir, const char *stem, long below,
                           char name[DKM_NAME_LENGTH]);

/** Remove files of that stem with numbers below @p below, but for the @p keep newest of them. */
void dkm_checkpoint_prune(const char *dir, const char *stem, long below, int keep);

/** Make the directory where it is not there yet.
 *  @return ok; DKM_ERR_IO */
DKM_NODISCARD
dkm_local dkm_checkpoint_make(dkm_ctx *ctx, const char *dir);

/** The first line of @p a that is not at the same place in @p b, and the one there.
 *  @return 0 when there is none */
int dkm_checkpoint_differ(const char *a, const char *b, char *mine, char *theirs, size_t room);

#endif
