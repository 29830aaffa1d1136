/* Rank 0 lays the file out in memory with the HDF5 library: all small things, and every array of
 * the data parts as a contiguous dataset whose room is taken at once and left unfilled. What the
 * library wrote is copied to the file; then each rank writes its own slab of each array at the
 * offset the library gave. */
#include <string.h>

#include "core/alloc.h"
#include "data/memfile.h"
#include "store/bundle_file.h"
#include "store/bundle_plan.h"
#include "store/h5file.h"
#include "store/seal.h"
#include "store/stamp.h"

#define COMMAND_LENGTH 32768 /* an attribute may hold 64 KiB */

static hid_t open_early_layout(void)
{
    hid_t list = H5Pcreate(H5P_DATASET_CREATE);

    H5Pset_layout(list, H5D_CONTIGUOUS);
    H5Pset_alloc_time(list, H5D_ALLOC_TIME_EARLY);
    H5Pset_fill_time(list, H5D_FILL_TIME_NEVER);
    return list;
}

static dkm_local lay_array(const dkm_h5 *h5, hid_t group, const dkm_plan_array *a, int64_t *offset)
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

static dkm_local lay_data(const dkm_plan *p, const dkm_h5 *h5, dkm_idx k)
{
    dkm_local local = DKM_LOCAL_OK;
    const dkm_part *part = &p->bundle->parts[k];
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

/* Room for rows, taken at once; what they are is said by attributes. */
static dkm_local lay_rows(const dkm_h5 *h5, const dkm_part *part, int64_t *offset)
{
    const dkm_rowpart *r = &part->rows;
    dkm_plan_array a = {.name = part->name, .rank = r->lower ? 1 : 2, .dims = {r->m, r->n}};
    dkm_local local = DKM_LOCAL_OK;
    hid_t set;

    a.kind = r->precision == DKM_F64 ? DKM_PLAN_REAL : DKM_PLAN_SINGLE;
    if (r->lower)
        a.dims[0] = dkm_rowpart_before(r, r->m);
    DKM_STEP(lay_array(h5, h5->file, &a, offset));
    set = H5Dopen2(h5->file, part->name, H5P_DEFAULT);
    local = dkm_h5_put_int(h5, set, "rows", r->m);
    if (local.code == DKM_OK)
        local = dkm_h5_put_int(h5, set, "cols", r->n);
    H5Dclose(set);
out:
    return local;
}

/* A small dataset, written whole; @p type and @p space are taken over. */
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

static dkm_local lay_part(const dkm_plan *p, const dkm_h5 *h5, dkm_idx k)
{
    const dkm_part *part = &p->bundle->parts[k];
    hsize_t count = (hsize_t)part->count;

    if (part->kind == DKM_PART_TEXT)
        return lay_small(h5, part->name, dkm_h5_string_type(strlen(part->text)),
                         H5Screate(H5S_SCALAR), part->text);
    if (part->kind == DKM_PART_REALS)
        return lay_small(h5, part->name, H5Tcopy(H5T_NATIVE_DOUBLE),
                         H5Screate_simple(1, &count, NULL), part->reals);
    if (part->kind == DKM_PART_ROWS)
        return lay_rows(h5, part, &p->offsets[k * DKM_PLAN_ARRAYS]);
    return lay_data(p, h5, k);
}

/* The names of all parts, one a line. */
static dkm_local list_parts(const dkm_bundle *b, char **list)
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

static dkm_local lay_header(const dkm_plan *p, const dkm_h5 *h5, const char *method,
                            const char *command)
{
    dkm_local local = DKM_LOCAL_OK;
    char stamp[DKM_STAMP_LENGTH], *parts = NULL, *line = NULL;

    dkm_stamp_now(stamp);
    DKM_STEP(list_parts(p->bundle, &parts));
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
static dkm_local lay_all(const dkm_plan *p, const dkm_memfile *mem, const dkm_outfile *out,
                         const char *method, const char *command)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_h5 h5;

    DKM_STEP(dkm_h5_create(&h5, p->ctx, mem->path, out->path));
    DKM_STEP(lay_header(p, &h5, method, command));
    for (dkm_idx k = 0; k < p->bundle->count; k++)
        DKM_STEP(lay_part(p, &h5, k));
out:
    if (dkm_h5_close(&h5) != 0 && local.code == DKM_OK)
        local = dkm_h5_unwritten(&h5, "the file");
    return local;
}

static double bytes_planned(const dkm_plan *p)
{
    double bytes = 0;

    for (dkm_idx k = 0; k < p->bundle->count; k++)
        if (p->bundle->parts[k].kind == DKM_PART_ROWS)
            bytes += dkm_rowpart_bytes(&p->bundle->parts[k].rows);
    for (dkm_idx s = 0; s < p->bundle->count * DKM_PLAN_ARRAYS; s++) {
        const dkm_plan_array *a = &p->arrays[s];
        double count = (double)a->dims[0] * (a->rank == 2 ? (double)a->dims[1] : 1.0);
        bytes += count * (double)dkm_plan_size(a->kind);
    }
    return bytes;
}

/* All of the file but the slabs. */
static dkm_local lay_file(const dkm_plan *p, dkm_outfile *out, const char *method,
                          const char *command)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_memfile mem;

    DKM_STEP(dkm_memfile_open(&mem, out, bytes_planned(p)));
    DKM_STEP(lay_all(p, &mem, out, method, command));
    DKM_STEP(dkm_memfile_copy(&mem, out));
out:
    dkm_memfile_close(&mem);
    return local;
}

static dkm_local write_slabs(const dkm_plan *p, dkm_outfile *out)
{
    dkm_local local = DKM_LOCAL_OK;

    for (dkm_idx s = 0; s < p->bundle->count * DKM_PLAN_ARRAYS; s++) {
        const dkm_plan_array *a = &p->arrays[s];
        dkm_idx size = (dkm_idx)dkm_plan_size(a->kind);
        if (a->count > 0)
            DKM_STEP(
                dkm_outfile_write(out, p->offsets[s] + a->first * size, a->slab, a->count * size));
    }
out:
    return local;
}

static dkm_status write_rows(const dkm_plan *p, dkm_outfile *out)
{
    dkm_status status = DKM_OK;

    for (dkm_idx k = 0; k < p->bundle->count; k++) {
        const dkm_part *part = &p->bundle->parts[k];
        if (part->kind == DKM_PART_ROWS)
            DKM_TRY(dkm_rowpart_write(&part->rows, out, p->offsets[k * DKM_PLAN_ARRAYS]));
    }
out:
    return status;
}

dkm_status dkm_bundle_save(const dkm_bundle *bundle, const char *path, const char *method,
                           const char *command)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = bundle->ctx;
    dkm_local laid = DKM_LOCAL_OK;
    dkm_outfile out = {0};
    dkm_plan plan = {0};

    DKM_TRY(dkm_plan_make(&plan, bundle));
    DKM_TRY(dkm_outfile_open(&out, ctx, path));
    if (dkm_ctx_rank(ctx) == 0)
        laid = lay_file(&plan, &out, method, command);
    DKM_AGREE(ctx, laid);
    MPI_Bcast(plan.offsets, (int)bundle->count * DKM_PLAN_ARRAYS, MPI_INT64_T, 0,
              dkm_ctx_comm(ctx));
    DKM_AGREE(ctx, write_slabs(&plan, &out));
    DKM_TRY(write_rows(&plan, &out));
    DKM_TRY(dkm_seal_write(&out));
    DKM_TRY(dkm_outfile_commit(&out));
out:
    dkm_outfile_close(&out);
    dkm_plan_clear(&plan);
    return status;
}
