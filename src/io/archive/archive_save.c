/* Rank 0 lays the file out in memory with the HDF5 library: all small things, and every array of
 * the data parts as a contiguous dataset that is allocated at once and left unfilled. What the
 * library wrote is copied to the file; then each rank writes its own slab of each array at the
 * offset the library gave. */
#include <string.h>

#include "core/alloc.h"
#include "io/archive/archive_file.h"
#include "io/archive/archive_plan.h"
#include "io/archive/checksum.h"
#include "io/archive/h5file.h"
#include "io/archive/timestamp.h"
#include "io/memory_file.h"

#define COMMAND_LENGTH 32768 /* an attribute may hold 64 KiB */

static hid_t open_early_layout(void)
{
    hid_t list = H5Pcreate(H5P_DATASET_CREATE);

    H5Pset_layout(list, H5D_CONTIGUOUS);
    H5Pset_alloc_time(list, H5D_ALLOC_TIME_EARLY);
    H5Pset_fill_time(list, H5D_FILL_TIME_NEVER);
    return list;
}

static dkm_local lay_array(const dkm_h5 *h5, hid_t group, const dkm_write_plan_array *a,
                           int64_t *offset)
{
    const hid_t types[] = {H5T_NATIVE_DOUBLE, H5T_NATIVE_INT64, H5T_NATIVE_UCHAR, H5T_NATIVE_FLOAT};
    hsize_t dims[2] = {(hsize_t)a->dims[0], (hsize_t)a->dims[1]};
    hid_t layout = open_early_layout();
    hid_t space = H5Screate_simple(a->rank, dims, NULL);
    hid_t set = H5Dcreate2(group, a->name, types[a->kind], space, H5P_DEFAULT, layout, H5P_DEFAULT);
    haddr_t at = set < 0 ? HADDR_UNDEF : H5Dget_offset(set);
    int empty = H5Sget_simple_extent_npoints(space) == 0;

    H5Dclose(set);
    H5Sclose(space);
    H5Pclose(layout);
    *offset = (int64_t)at;
    if (set < 0 || (at == HADDR_UNDEF && !empty))
        return dkm_h5_unwritten(h5, a->name);
    return DKM_LOCAL_OK;
}

static dkm_local lay_data(const dkm_write_plan *p, const dkm_h5 *h5, dkm_idx k)
{
    dkm_local local = DKM_LOCAL_OK;
    const dkm_archive_entry *part = &p->archive->parts[k];
    hid_t group = H5Gcreate2(h5->file, part->name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);

    DKM_STEP(dkm_h5_put_text(h5, group, "type", dkm_type_name(part->data->mine.type)));
    DKM_STEP(dkm_h5_put_int(h5, group, "rows", part->data->m));
    DKM_STEP(dkm_h5_put_int(h5, group, "cols", part->data->mine.d));
    for (dkm_idx s = k * DKM_PLAN_ARRAYS; s < (k + 1) * DKM_PLAN_ARRAYS; s++)
        if (p->arrays[s].name)
            DKM_STEP(lay_array(h5, group, &p->arrays[s], &p->offsets[s]));
out:
    H5Gclose(group);
    return local;
}

/* Space for rows, allocated at once; attributes say what they are. */
static dkm_local lay_rows(const dkm_h5 *h5, const dkm_archive_entry *part, int64_t *offset)
{
    const dkm_matrix_entry *r = &part->rows;
    dkm_write_plan_array a = {.name = part->name, .rank = r->lower ? 1 : 2, .dims = {r->m, r->n}};
    dkm_local local = DKM_LOCAL_OK;
    hid_t set;

    a.kind = r->precision == DKM_F64 ? DKM_PLAN_REAL : DKM_PLAN_SINGLE;
    if (r->lower)
        a.dims[0] = dkm_matrix_entry_before(r, r->m);
    DKM_STEP(lay_array(h5, h5->file, &a, offset));
    set = H5Dopen2(h5->file, part->name, H5P_DEFAULT);
    local = dkm_h5_put_int(h5, set, "rows", r->m);
    if (local.code == DKM_OK)
        local = dkm_h5_put_int(h5, set, "cols", r->n);
    if (local.code == DKM_OK && r->first > 0)
        local = dkm_h5_put_int(h5, set, "first", r->first);
    H5Dclose(set);
out:
    return local;
}

/* A small dataset, written at once; @p type and @p space are taken over. */
static dkm_local lay_small(const dkm_h5 *h5, const char *name, hid_t type, hid_t space,
                           const void *content)
{
    hid_t set = H5Dcreate2(h5->file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    herr_t written = set < 0 ? -1 : H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, content);

    H5Dclose(set);
    H5Sclose(space);
    H5Tclose(type);
    return written < 0 ? dkm_h5_unwritten(h5, name) : DKM_LOCAL_OK;
}

static dkm_local lay_part(const dkm_write_plan *p, const dkm_h5 *h5, dkm_idx k)
{
    const dkm_archive_entry *part = &p->archive->parts[k];
    hsize_t count = (hsize_t)part->count;

    if (part->kind == DKM_ENTRY_TEXT)
        return lay_small(h5, part->name, dkm_h5_string_type(strlen(part->text)),
                         H5Screate(H5S_SCALAR), part->text);
    if (part->kind == DKM_ENTRY_REALS)
        return lay_small(h5, part->name, H5Tcopy(H5T_NATIVE_DOUBLE),
                         H5Screate_simple(1, &count, NULL), part->reals);
    if (part->kind == DKM_ENTRY_ROWS)
        return lay_rows(h5, part, &p->offsets[k * DKM_PLAN_ARRAYS]);
    return lay_data(p, h5, k);
}

/* The names of all parts, one per line. */
static dkm_local archive_save_list_parts(const dkm_archive *b, char **list)
{
    dkm_local local = DKM_LOCAL_OK;
    size_t length = 1, at = 0;

    for (dkm_idx k = 0; k < b->count; k++)
        length += strlen(b->parts[k].name) + 1;
    DKM_STEP(dkm_calloc(b->ctx, (dkm_idx)length, list));
    for (dkm_idx k = 0; k < b->count; k++) {
        size_t name = strlen(b->parts[k].name);
        memcpy(*list + at, b->parts[k].name, name);
        at += name;
        (*list)[at++] = '\n';
    }
out:
    return local;
}

static dkm_local lay_header(const dkm_write_plan *p, const dkm_h5 *h5, const char *method,
                            const char *command)
{
    dkm_local local = DKM_LOCAL_OK;
    char stamp[DKM_TIMESTAMP_LENGTH], *parts = NULL, *line = NULL;

    dkm_timestamp_now(stamp);
    DKM_STEP(archive_save_list_parts(p->archive, &parts));
    DKM_STEP(dkm_strdup(p->ctx, command, &line));
    if (strlen(line) > COMMAND_LENGTH)
        line[COMMAND_LENGTH] = '\0';
    DKM_STEP(dkm_h5_put_text(h5, h5->file, "format", DKM_BUNDLE_FORMAT));
    DKM_STEP(dkm_h5_put_int(h5, h5->file, "format_version", DKM_BUNDLE_VERSION));
    DKM_STEP(dkm_h5_put_text(h5, h5->file, "program_version", DKMAP_VERSION));
    DKM_STEP(dkm_h5_put_text(h5, h5->file, "method", method));
    DKM_STEP(dkm_h5_put_text(h5, h5->file, "command", line));
    DKM_STEP(dkm_h5_put_int(h5, h5->file, "seed", (int64_t)dkm_ctx_seed(p->ctx)));
    DKM_STEP(dkm_h5_put_text(h5, h5->file, "created", stamp));
    DKM_STEP(dkm_h5_put_int(h5, h5->file, "ranks", dkm_ctx_size(p->ctx)));
    DKM_STEP(dkm_h5_put_int(h5, h5->file, "sealed", 1));
    DKM_STEP(dkm_h5_put_text(h5, h5->file, "parts", parts));
out:
    DKM_FREE(parts);
    DKM_FREE(line);
    return local;
}

/* Fill a file in memory; the library has let go of it on return. */
static dkm_local lay_all(const dkm_write_plan *p, const dkm_memory_file *mem,
                         const dkm_atomic_file *out, const char *method, const char *command)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_h5 h5;

    DKM_STEP(dkm_h5_create(&h5, p->ctx, mem->path, out->path));
    DKM_STEP(lay_header(p, &h5, method, command));
    for (dkm_idx k = 0; k < p->archive->count; k++)
        DKM_STEP(lay_part(p, &h5, k));
out:
    if (dkm_h5_close(&h5) != 0 && local.code == DKM_OK)
        local = dkm_h5_unwritten(&h5, "the file");
    return local;
}

static double bytes_planned(const dkm_write_plan *p)
{
    double bytes = 0;

    for (dkm_idx k = 0; k < p->archive->count; k++)
        if (p->archive->parts[k].kind == DKM_ENTRY_ROWS)
            bytes += dkm_matrix_entry_bytes(&p->archive->parts[k].rows);
    for (dkm_idx s = 0; s < p->archive->count * DKM_PLAN_ARRAYS; s++) {
        const dkm_write_plan_array *a = &p->arrays[s];
        double count = (double)a->dims[0] * (a->rank == 2 ? (double)a->dims[1] : 1.0);
        bytes += count * (double)dkm_write_plan_size(a->kind);
    }
    return bytes;
}

/* All of the file but the slabs. */
static dkm_local lay_file(const dkm_write_plan *p, dkm_atomic_file *out, const char *method,
                          const char *command)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_memory_file mem;

    DKM_STEP(dkm_memory_file_open(&mem, out, bytes_planned(p)));
    DKM_STEP(lay_all(p, &mem, out, method, command));
    DKM_STEP(dkm_memory_file_copy(&mem, out));
out:
    dkm_memory_file_close(&mem);
    return local;
}

static dkm_local write_slabs(const dkm_write_plan *p, dkm_atomic_file *out)
{
    dkm_local local = DKM_LOCAL_OK;

    for (dkm_idx s = 0; s < p->archive->count * DKM_PLAN_ARRAYS; s++) {
        const dkm_write_plan_array *a = &p->arrays[s];
        dkm_idx size = (dkm_idx)dkm_write_plan_size(a->kind);
        if (a->count > 0)
            DKM_STEP(dkm_atomic_file_write(out, p->offsets[s] + a->first * size, a->slab,
                                           a->count * size));
    }
out:
    return local;
}

static dkm_status archive_save_write_rows(const dkm_write_plan *p, dkm_atomic_file *out)
{
    dkm_status status = DKM_OK;

    for (dkm_idx k = 0; k < p->archive->count; k++) {
        const dkm_archive_entry *part = &p->archive->parts[k];
        if (part->kind == DKM_ENTRY_ROWS)
            DKM_TRY(dkm_matrix_entry_write(&part->rows, out, p->offsets[k * DKM_PLAN_ARRAYS]));
    }
out:
    return status;
}

dkm_status dkm_archive_save(const dkm_archive *archive, const char *path, const char *method,
                            const char *command)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = archive->ctx;
    dkm_local laid = DKM_LOCAL_OK;
    dkm_atomic_file out = {0};
    dkm_write_plan plan = {0};

    DKM_TRY(dkm_write_plan_make(&plan, archive));
    DKM_TRY(dkm_atomic_file_open(&out, ctx, path));
    if (dkm_ctx_rank(ctx) == 0)
        laid = lay_file(&plan, &out, method, command);
    DKM_AGREE(ctx, laid);
    MPI_Bcast(plan.offsets, (int)archive->count * DKM_PLAN_ARRAYS, MPI_INT64_T, 0,
              dkm_ctx_comm(ctx));
    DKM_AGREE(ctx, write_slabs(&plan, &out));
    DKM_TRY(archive_save_write_rows(&plan, &out));
    DKM_TRY(dkm_checksum_append(&out));
    DKM_TRY(dkm_atomic_file_commit(&out));
out:
    dkm_atomic_file_close(&out);
    dkm_write_plan_clear(&plan);
    return status;
}
