/* Every rank opens the file by itself and reads all of the small parts and its own slab of the data
 * parts. */
#include <string.h>

#include "core/alloc.h"
#include "io/archive/archive_header.h"
#include "io/archive/archive_read.h"
#include "io/archive/checksum.h"

typedef struct loader {
    dkm_ctx *ctx;
    dkm_h5 h5;
    char *names; /* of the parts, each ending in a zero byte */
    dkm_idx count;
    dkm_reading *readings;
} loader;

static dkm_local archive_load_read_file(loader *l, const char *path, dkm_archive_header *header)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_h5_open(&l->h5, l->ctx, path));
    DKM_STEP(dkm_archive_header_read(&l->h5, header));
    DKM_STEP(dkm_readings_list(&l->h5, &l->names, &l->count, &l->readings));
    for (dkm_idx k = 0; k < l->count; k++)
        DKM_STEP(dkm_reading_read(&l->h5, &l->readings[k]));
out:
    dkm_h5_close(&l->h5);
    return local;
}

static uint64_t archive_load_mix(uint64_t hash, const void *bytes, size_t length)
{
    const unsigned char *b = bytes;

    for (size_t k = 0; k < length; k++)
        hash = (hash ^ b[k]) * 0x100000001b3u; /* FNV-1a */
    return hash;
}

/* A file replaced while ranks were opening it gives some of them the old one: report it before
 * they part ways. */
static dkm_status check_same(const loader *l, const dkm_archive_header *header)
{
    uint64_t mine = 0xcbf29ce484222325u, least, most;
    dkm_local local = DKM_LOCAL_OK;

    mine = archive_load_mix(mine, header->created, strlen(header->created));
    for (dkm_idx k = 0; k < l->count; k++) {
        const dkm_reading *r = &l->readings[k];
        mine = archive_load_mix(mine, r->name, strlen(r->name));
        mine = archive_load_mix(mine, &r->kind, sizeof r->kind);
        mine = archive_load_mix(mine, &r->m, sizeof r->m);
        mine = archive_load_mix(mine, &r->count, sizeof r->count);
    }
    MPI_Allreduce(&mine, &least, 1, MPI_UINT64_T, MPI_MIN, dkm_ctx_comm(l->ctx));
    MPI_Allreduce(&mine, &most, 1, MPI_UINT64_T, MPI_MAX, dkm_ctx_comm(l->ctx));
    if (least != most)
        local = dkm_fail(l->ctx, DKM_ERR_FORMAT, "%s: changed while it was being read: try again",
                         l->h5.called);
    return dkm_agree(l->ctx, local);
}

static dkm_local put_part(dkm_archive *archive, const dkm_reading *r, dkm_data **data)
{
    if (r->kind == DKM_ENTRY_TEXT)
        return dkm_archive_put_text(archive, r->name, r->text);
    if (r->kind == DKM_ENTRY_REALS)
        return dkm_archive_put_reals(archive, r->name, r->count, r->reals);
    if (r->kind == DKM_ENTRY_ROWS)
        return dkm_archive_put_rows(archive, r->name, &r->rows);
    return dkm_archive_put_data(archive, r->name, data);
}

static dkm_status archive_load_hand_over(dkm_archive *archive, dkm_reading *r)
{
    dkm_status status = DKM_OK;
    dkm_data *data = NULL;

    if (r->kind == DKM_ENTRY_DATA)
        DKM_TRY(dkm_data_wrap(archive->ctx, r->m, &r->objs, &data));
    DKM_AGREE(archive->ctx, put_part(archive, r, &data));
out:
    dkm_data_destroy(&data);
    return status;
}

static void close_loader(loader *l)
{
    for (dkm_idx k = 0; l->readings && k < l->count; k++)
        dkm_reading_clear(&l->readings[k]);
    DKM_FREE(l->readings);
    DKM_FREE(l->names);
}

/* Collective; what the seal says is in the header already. */
static dkm_status archive_load_load(dkm_ctx *ctx, const char *path, dkm_archive *archive,
                                    dkm_archive_header *header)
{
    dkm_status status = DKM_OK;
    loader l = {.ctx = ctx};

    DKM_AGREE(ctx, archive_load_read_file(&l, path, header));
    DKM_TRY(check_same(&l, header));
    for (dkm_idx k = 0; k < l.count; k++)
        DKM_TRY(archive_load_hand_over(archive, &l.readings[k]));
out:
    close_loader(&l);
    return status;
}

dkm_status dkm_archive_load(dkm_ctx *ctx, const char *path, dkm_archive *archive,
                            dkm_archive_header *header)
{
    dkm_status status = DKM_OK;

    *archive = dkm_archive_empty(ctx);
    *header = (dkm_archive_header){0};
    DKM_TRY(dkm_seal_check_any(ctx, path, &header->sealed));
    DKM_TRY(archive_load_load(ctx, path, archive, header));
out:
    return status;
}

dkm_status dkm_archive_load_sealed(dkm_ctx *ctx, const char *path, dkm_archive *archive,
                                   dkm_archive_header *header)
{
    dkm_status status = DKM_OK;

    *archive = dkm_archive_empty(ctx);
    *header = (dkm_archive_header){.sealed = 1};
    DKM_TRY(dkm_checksum_verify(ctx, path));
    DKM_TRY(archive_load_load(ctx, path, archive, header));
out:
    return status;
}
