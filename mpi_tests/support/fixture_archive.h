/** @file fixture_archive.h  A model file with parts of every kind, and whether it came back. */
#ifndef DKMAP_FIXTURE_ARCHIVE_H
#define DKMAP_FIXTURE_ARCHIVE_H

#include <dkmap/context.h>

/** Save an archive with small parts and one data part of each type, of m objects each. Collective.
 */
DKM_NODISCARD dkm_status fixture_store_save(dkm_ctx *ctx, dkm_idx m, const char *path);

/** Load what fixture_store_save() wrote on @p writers ranks, and compare. Collective. */
void fixture_store_check(dkm_ctx *ctx, dkm_idx m, const char *path, int writers);

/** Load a file and forget it. Collective. */
DKM_NODISCARD dkm_status fixture_store_load(dkm_ctx *ctx, const char *path);

#endif
