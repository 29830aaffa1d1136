#include "io/archive/archive_header.h"

#include <string.h>

#include "core/alloc.h"

dkm_local dkm_archive_is_dkmap_file(const dkm_h5 *h5, int *ours)
{
    char *format = NULL;
    dkm_local local = DKM_LOCAL_OK;

    if (H5Aexists(h5->file, "format") > 0)
        local = dkm_h5_get_text(h5, h5->file, "format", &format);
    *ours = format && strcmp(format, DKM_BUNDLE_FORMAT) == 0;
    DKM_FREE(format);
    return local.code == DKM_ERR_MEMORY ? local : DKM_LOCAL_OK;
}

static dkm_local check_ours(const dkm_h5 *h5)
{
    dkm_local local = DKM_LOCAL_OK;
    int ours;

    DKM_STEP(dkm_archive_is_dkmap_file(h5, &ours));
    if (!ours)
        DKM_STEP(dkm_fail(h5->ctx, DKM_ERR_FORMAT, "%s: an HDF5 file, but not a model of dkmap",
                          h5->called));
out:
    return local;
}

static dkm_local check_version(const dkm_h5 *h5, const dkm_archive_header *header)
{
    if (header->version > DKM_BUNDLE_VERSION)
        return dkm_fail(h5->ctx, DKM_ERR_FORMAT,
                        "%s: written in format %lld by dkmap %s; this dkmap %s reads formats up to "
                        "%d: use a newer dkmap",
                        h5->called, (long long)header->version, header->program, DKMAP_VERSION,
                        DKM_BUNDLE_VERSION);
    return header->version < 1 ? dkm_h5_damaged(h5, "format_version") : DKM_LOCAL_OK;
}

/* A file that was sealed when it was written and has lost its trailer is damaged. */
static dkm_local check_seal(const dkm_h5 *h5, const dkm_archive_header *header)
{
    if (header->sealed || H5Aexists(h5->file, "sealed") == 0)
        return DKM_LOCAL_OK;
    return dkm_fail(h5->ctx, DKM_ERR_FORMAT,
                    "%s: cut short or damaged: its checksum is missing: write the file again",
                    h5->called);
}

dkm_local dkm_archive_header_read(const dkm_h5 *h5, dkm_archive_header *header)
{
    dkm_local local = DKM_LOCAL_OK;
    int64_t seed = 0;

    DKM_STEP(check_ours(h5));
    DKM_STEP(dkm_h5_get_int(h5, h5->file, "format_version", &header->version));
    DKM_STEP(dkm_h5_get_text(h5, h5->file, "program_version", &header->program));
    DKM_STEP(check_version(h5, header));
    DKM_STEP(check_seal(h5, header));
    DKM_STEP(dkm_h5_get_text(h5, h5->file, "method", &header->method));
    DKM_STEP(dkm_h5_get_text(h5, h5->file, "command", &header->command));
    DKM_STEP(dkm_h5_get_text(h5, h5->file, "created", &header->created));
    DKM_STEP(dkm_h5_get_int(h5, h5->file, "ranks", &header->ranks));
    DKM_STEP(dkm_h5_get_int(h5, h5->file, "seed", &seed));
    header->seed = (uint64_t)seed;
out:
    return local;
}

void dkm_archive_header_clear(dkm_archive_header *header)
{
    DKM_FREE(header->program);
    DKM_FREE(header->method);
    DKM_FREE(header->command);
    DKM_FREE(header->created);
}
