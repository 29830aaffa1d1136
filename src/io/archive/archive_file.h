/** @file archive_file.h  Bundles as HDF5 files.
 *
 *  The root carries the attributes format ("dkmap-model"), format_version, program_version, method,
 *  command, seed, created, ranks, sealed and parts (names, one per line). Each part stands under
 * its name: text   a string reals  a row of numbers data   a group with the attributes type, rows,
 * cols and the datasets `values` (rows x cols), or `start` (rows + 1) with `col` and `val`, or
 * `start` with `bytes`; start[i] is where object i begins in the others rows   a dataset rows x
 * cols of either precision, or one of the lower triangle's numbers row by row, with the attributes
 * rows and cols All datasets are contiguous, so that every rank writes and reads its own slab.
 *
 *  Format 2 differs from 1 in what kernel texts mean: `ssk` outside of normalize was what
 * `ssk_gaps` is now (kernels/expression/old_text.h). Format 3 differs from 2 in the checksum behind it alone.
 */
#ifndef DKMAP_IO_ARCHIVE_ARCHIVE_FILE_H
#define DKMAP_IO_ARCHIVE_ARCHIVE_FILE_H

#include "io/archive/archive.h"

#define DKM_BUNDLE_FORMAT  "dkmap-model"
#define DKM_BUNDLE_VERSION 3

/** What the root of a file says of it. */
typedef struct dkm_archive_header {
    int64_t version, ranks;
    int sealed; /**< its checksum was verified; files of older versions have none */
    uint64_t seed;
    char *program, *method, *command, *created;
} dkm_archive_header;

/** Write an archive. Collective.
 *
 *  The file appears under its name complete or not at all; what stood there before stays until
 *  then. A checksum trailer behind it (see checksum.h) shows damage later.
 *
 *  @param[in] method   of the model
 *  @param[in] command  the command line that made it
 *  @return DKM_OK; DKM_ERR_IO; DKM_ERR_MEMORY
 */
DKM_NODISCARD dkm_status dkm_archive_save(const dkm_archive *archive, const char *path,
                                          const char *method, const char *command);

/** Read an archive, whatever number of ranks wrote it. Collective.
 *
 *  The checksum is verified before HDF5 sees the file. A file that says it is sealed must be; one of an
 *  older version is read without. No other file is opened, whatever this one holds.
 *
 *  @param[out] archive  fresh; to be cleared by the caller, also after a failure
 *  @param[out] header  fresh; to be cleared by the caller, also after a failure
 *  @return DKM_OK; DKM_ERR_IO; DKM_ERR_MEMORY; DKM_ERR_FORMAT for a file that is not ours, is torn,
 *          or is of a newer format
 */
DKM_NODISCARD dkm_status dkm_archive_load(dkm_ctx *ctx, const char *path, dkm_archive *archive,
                                          dkm_archive_header *header);

/** The same for a file that must be sealed. Collective. */
DKM_NODISCARD dkm_status dkm_archive_load_sealed(dkm_ctx *ctx, const char *path,
                                                 dkm_archive *archive, dkm_archive_header *header);

/** Free what a header holds. Local. */
void dkm_archive_header_clear(dkm_archive_header *header);

#endif
