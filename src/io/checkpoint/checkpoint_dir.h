/** @file checkpoint_dir.h  The folder of checkpoints within a directory of the user's.
 *
 *  States lie in DIR/dkmap-checkpoints, which holds a marker file, as STAGE-HASH-RUN-NUMBER.h5. RUN
 *  is a hash of the run's settings, so that several runs can share a directory. Numbers grow with
 *  every file written, whatever its stage. Nothing outside that folder is ever touched, and within
 *  it only files of this run that have a checksum, and its temporary files. All functions are
 *  local: rank 0 looks, and broadcasts what it finds.
 */
#ifndef DKMAP_IO_CHECKPOINT_CHECKPOINT_DIR_H
#define DKMAP_IO_CHECKPOINT_CHECKPOINT_DIR_H

#include <dkmap/context.h>

#define DKM_CHECKPOINT_FOLDER "dkmap-checkpoints"
#define DKM_CHECKPOINT_MARKER "about-this-folder"

#define DKM_STEM_LENGTH 64
#define DKM_NAME_LENGTH 96
#define DKM_RUN_LENGTH  9

/** Which files: those of a stage, or of any where @p stem is ""; of a run, or of any where @p run
 *  is "". */
typedef struct dkm_checkpoint_files {
    const char *folder;
    const char *stem, *run;
} dkm_checkpoint_files;

/** STAGE-HASH of a stage: its first word, and a hash of all of it. */
void dkm_checkpoint_dir_stem(const char *stage, char stem[DKM_STEM_LENGTH]);

/** RUN of a run's settings. */
void dkm_checkpoint_run(const char *settings, char run[DKM_RUN_LENGTH]);

/** The number in the name of such a file; -1 for other names.
 *  @param[out] rest  may be NULL; what follows STAGE-HASH-RUN-NUMBER.h5, else that must be nothing
 */
long dkm_checkpoint_dir_number(const dkm_checkpoint_files *files, const char *name,
                               const char **rest);

/** Such a file with the greatest number below @p below.
 *  @return its number, or -1 when there is none */
long dkm_checkpoint_dir_newest(const dkm_checkpoint_files *files, long below,
                               char name[DKM_NAME_LENGTH]);

/** Remove a file, if it carries a checksum trailer. */
void dkm_checkpoint_remove(const char *folder, const char *name);

/** Remove such files with numbers below @p below, but for the @p keep newest of them. A file
 *  without a checksum trailer stays. */
void dkm_checkpoint_dir_prune(const dkm_checkpoint_files *files, long below, int keep);

/** Remove temporary files of a run that was killed while it saved. */
void dkm_checkpoint_sweep(const dkm_checkpoint_files *files);

/** Make the directory, the folder in it and its marker where they are not there yet.
 *  @param[in] folder  DIR/dkmap-checkpoints
 *  @return ok; DKM_ERR_IO, also when there is such a folder that is not ours */
DKM_NODISCARD dkm_local dkm_checkpoint_dir_make(dkm_ctx *ctx, const char *dir, const char *folder);

/** The first line of @p a that is not at the same place in @p b, and the one there.
 *  @return 0 when there is none */
int dkm_checkpoint_dir_compare(const char *a, const char *b, char *mine, char *theirs, size_t size);

#endif
