/* One rank per node opens the file. It verifies the checksum of its share, reads all of the small parts,
 * which it broadcasts to the ranks of its node with what the data parts are, and reads the slabs of
 * these for them (io/readers.h).
 *
 * Cost: the file is opened five times per node, whatever the number of ranks. Words sent: the small
 * parts along a tree within the node, each rank its slab. */
#include <string.h>

#include <dkmap/grid.h>

#include "core/alloc.h"
#include "core/mpi_calls.h"
#include "io/archive/archive_header.h"
#include "io/archive/archive_read.h"
#include "io/archive/checksum.h"
#include "io/readers.h"

#define READERS_PER_NODE 1

typedef struct loader {
    dkm_ctx *ctx;
    const char *path;
    dkm_readers readers;
    dkm_h5 h5; /* on a reader */
    int opened;
    char *names; /* of the parts, each ending in a zero byte */
    dkm_idx count;
    dkm_reading *readings;
    dkm_archive_header *header;
} loader;

static dkm_local archive_load_open(loader *l)
{
    dkm_local local = DKM_LOCAL_OK;

    if (!l->readers.readers)
        return local;
    l->opened = 1;
    DKM_STEP(dkm_h5_open(&l->h5, l->ctx, l->path));
    DKM_STEP(dkm_archive_header_read(&l->h5, l->header));
    DKM_STEP(dkm_readings_list(&l->h5, &l->names, &l->count, &l->readings));
    for (dkm_idx k = 0; k < l->count; k++)
        DKM_STEP(dkm_reading_read(&l->h5, &l->readings[k]));
out:
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
static dkm_status check_same(const loader *l)
{
    uint64_t mine = 0xcbf29ce484222325u;
    int64_t least = INT64_MAX,
            most = 0; /* MPICH 4.0 compares unsigned numbers as if they had a sign */
    dkm_local local = DKM_LOCAL_OK;

    if (l->readers.readers) {
        mine = archive_load_mix(mine, l->header->created, strlen(l->header->created));
        for (dkm_idx k = 0; k < l->count; k++) {
            const dkm_reading *r = &l->readings[k];
            mine = archive_load_mix(mine, r->name, strlen(r->name));
            mine = archive_load_mix(mine, &r->kind, sizeof r->kind);
            mine = archive_load_mix(mine, &r->m, sizeof r->m);
            mine = archive_load_mix(mine, &r->count, sizeof r->count);
        }
        least = most = (int64_t)(mine >> 1);
    }
    MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_INT64_T, MPI_MIN, dkm_ctx_comm(l->ctx));
    MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_INT64_T, MPI_MAX, dkm_ctx_comm(l->ctx));
    if (least != most)
        local = dkm_fail(l->ctx, DKM_ERR_FORMAT, "%s: changed while it was being read: try again",
                         l->path);
    return dkm_agree(l->ctx, local);
}

/* ---- what the file holds, from a reader to its group ---- */

/* One walk over all fields serves three times: to count bytes, to write them and to read them. */
typedef struct packer {
    dkm_ctx *ctx;
    enum { COUNT, WRITE, READ } mode;
    char *bytes;
    dkm_idx size;
} packer;

static void pack_bytes(packer *p, void *value, dkm_idx n)
{
    if (p->mode == WRITE && n > 0)
        memcpy(p->bytes + p->size, value, (size_t)n);
    if (p->mode == READ && n > 0)
        memcpy(value, p->bytes + p->size, (size_t)n);
    p->size += n;
}

/* A block of @p length bytes, which reading allocates; NULL stays NULL. */
static dkm_local pack_text(packer *p, char **text, dkm_idx length)
{
    dkm_local local = DKM_LOCAL_OK;

    if (p->mode != READ && !*text)
        length = 0;
    pack_bytes(p, &length, sizeof length);
    if (p->mode == READ && length > 0)
        DKM_STEP(dkm_alloc(p->ctx, length, text));
    pack_bytes(p, *text, length);
out:
    return local;
}

static dkm_idx bytes_of(const char *text)
{
    return text ? (dkm_idx)strlen(text) + 1 : 0;
}

static dkm_local pack_reading(packer *p, loader *l, dkm_reading *r)
{
    dkm_local local = DKM_LOCAL_OK;

    pack_bytes(p, &r->kind, sizeof r->kind);
    pack_bytes(p, &r->type, sizeof r->type);
    pack_bytes(p, &r->m, sizeof r->m);
    pack_bytes(p, &r->d, sizeof r->d);
    pack_bytes(p, &r->count, sizeof r->count);
    pack_bytes(p, &r->rows, sizeof r->rows);
    r->rows.path = r->rows.path ? (char *)(uintptr_t)l->path : NULL;
    DKM_STEP(pack_text(p, &r->text, bytes_of(r->text)));
    if (r->kind == DKM_ENTRY_REALS) {
        if (p->mode == READ)
            DKM_STEP(dkm_alloc(p->ctx, r->count, &r->reals));
        pack_bytes(p, r->reals, r->count * (dkm_idx)sizeof *r->reals);
    }
out:
    return local;
}

static dkm_local pack_all(packer *p, loader *l)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_archive_header *h = l->header;
    char **texts[] = {&h->program, &h->method, &h->command, &h->created}, *name;
    dkm_idx names = 0;

    pack_bytes(p, &h->version, sizeof h->version);
    pack_bytes(p, &h->ranks, sizeof h->ranks);
    pack_bytes(p, &h->sealed, sizeof h->sealed);
    pack_bytes(p, &h->seed, sizeof h->seed);
    for (int k = 0; k < 4; k++)
        DKM_STEP(pack_text(p, texts[k], bytes_of(*texts[k])));
    pack_bytes(p, &l->count, sizeof l->count);
    for (dkm_idx k = 0; p->mode != READ && k < l->count; k++)
        names += bytes_of(l->readings[k].name);
    DKM_STEP(pack_text(p, &l->names, names));
    if (p->mode == READ)
        DKM_STEP(dkm_calloc(p->ctx, l->count, &l->readings));
    name = l->names;
    for (dkm_idx k = 0; k < l->count; k++) {
        l->readings[k].name = name;
        name += bytes_of(name);
        DKM_STEP(pack_reading(p, l, &l->readings[k]));
    }
out:
    return local;
}

static dkm_local pack_on_reader(loader *l, packer *p)
{
    dkm_local local = DKM_LOCAL_OK;

    if (!l->readers.readers)
        return local;
    DKM_STEP(pack_all(p, l));
    DKM_STEP(dkm_alloc(l->ctx, p->size, &p->bytes));
    p->mode = WRITE;
    p->size = 0;
    DKM_STEP(pack_all(p, l));
out:
    return local;
}

static dkm_local unpack_elsewhere(loader *l, packer *p)
{
    if (l->readers.readers)
        return DKM_LOCAL_OK;
    p->mode = READ;
    p->size = 0;
    return pack_all(p, l);
}

static dkm_status archive_load_share(loader *l)
{
    dkm_status status = DKM_OK;
    packer p = {.ctx = l->ctx, .mode = COUNT};

    if (l->readers.group == MPI_COMM_NULL) /* all ranks have read it */
        return DKM_OK;
    DKM_AGREE(l->ctx, pack_on_reader(l, &p));
    MPI_Bcast(&p.size, 1, MPI_INT64_T, 0, l->readers.group);
    DKM_AGREE(l->ctx, l->readers.readers ? DKM_LOCAL_OK : dkm_alloc(l->ctx, p.size, &p.bytes));
    dkm_mpi_bcast(p.bytes, p.size, MPI_CHAR, 0, l->readers.group);
    DKM_AGREE(l->ctx, unpack_elsewhere(l, &p));
out:
    DKM_FREE(p.bytes);
    return status;
}

/* ---- the parts ---- */

typedef struct range_reader {
    loader *l;
    const dkm_reading *r;
} range_reader;

static dkm_local read_range(void *user, dkm_idx first, dkm_idx count, dkm_objs *objs)
{
    range_reader *one = user;

    return dkm_reading_objects(&one->l->h5, one->r, first, count, objs);
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

static dkm_status archive_load_hand_over(loader *l, dkm_archive *archive, const dkm_reading *r)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = l->ctx;
    range_reader one = {l, r};
    dkm_objs objs = {0};
    dkm_data *data = NULL;

    if (r->kind == DKM_ENTRY_DATA) {
        int rank = dkm_ctx_rank(ctx), size = dkm_ctx_size(ctx);
        DKM_AGREE(ctx, dkm_readers_read(&l->readers, read_range, &one, r->type,
                                        dkm_slab_first(r->m, rank, size),
                                        dkm_slab_count(r->m, rank, size), &objs));
        DKM_TRY(dkm_data_wrap(ctx, r->m, &objs, &data));
    }
    DKM_AGREE(ctx, put_part(archive, r, &data));
out:
    dkm_objs_clear(&objs);
    dkm_data_destroy(&data);
    return status;
}

static void close_loader(loader *l)
{
    if (l->opened)
        dkm_h5_close(&l->h5);
    for (dkm_idx k = 0; l->readings && k < l->count; k++)
        dkm_reading_clear(&l->readings[k]);
    DKM_FREE(l->readings);
    DKM_FREE(l->names);
    dkm_readers_close(&l->readers);
}

/* Collective. The checksum is verified before HDF5 sees the file, where there is one or must be. */
static dkm_status archive_load_load(dkm_ctx *ctx, const char *path, int sealed,
                                    dkm_archive *archive, dkm_archive_header *header)
{
    dkm_status status = DKM_OK;
    loader l = {.ctx = ctx, .path = path, .header = header};

    *archive = dkm_archive_empty(ctx);
    *header = (dkm_archive_header){.sealed = sealed};
    DKM_TRY(dkm_readers_open(&l.readers, ctx, READERS_PER_NODE, DKM_READERS));
    if (l.readers.readers)
        status = sealed ? dkm_checksum_verify(l.readers.readers, path)
                        : dkm_seal_check_any(l.readers.readers, path, &header->sealed);
    DKM_TRY(dkm_readers_agree(&l.readers, status));
    DKM_AGREE(ctx, archive_load_open(&l));
    DKM_TRY(check_same(&l));
    DKM_TRY(archive_load_share(&l));
    for (dkm_idx k = 0; k < l.count; k++)
        DKM_TRY(archive_load_hand_over(&l, archive, &l.readings[k]));
out:
    close_loader(&l);
    return status;
}

dkm_status dkm_archive_load(dkm_ctx *ctx, const char *path, dkm_archive *archive,
                            dkm_archive_header *header)
{
    return archive_load_load(ctx, path, 0, archive, header);
}

dkm_status dkm_archive_load_sealed(dkm_ctx *ctx, const char *path, dkm_archive *archive,
                                   dkm_archive_header *header)
{
    return archive_load_load(ctx, path, 1, archive, header);
}
