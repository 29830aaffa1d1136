/* Numbers in C order, low byte first, each rank at the place of its rows: class labels as 64-bit
 * integers in one dimension, all else as doubles in two. An HDF5 file is laid out by the
 * library on rank 0, in memory, which says where the numbers go. */
#include <hdf5.h>
#include <string.h>

#include "core/alloc.h"
#include "io/formats/npy_header.h"
#include "io/memory_file.h"
#include "io/writers/sink.h"

#define BUFFER_NUMBERS (128 << 10)

dkm_local dkm_sink_begin_npy(dkm_sink *sink)
{
    char head[DKM_NPY_HEADER_ROOM];
    int labels = sink->type == DKM_LABELS;

    sink->end = dkm_npy_header_write(labels ? DKM_NUMBER_I64 : DKM_NUMBER_F64, sink->m,
                                     labels ? -1 : sink->d, head);
    return dkm_atomic_file_write(&sink->out, 0, head, sink->end);
}

/* Memory for the numbers, taken at once and left unfilled. */
static hid_t open_plain_layout(void)
{
    hid_t list = H5Pcreate(H5P_DATASET_CREATE);

    H5Pset_layout(list, H5D_CONTIGUOUS);
    H5Pset_alloc_time(list, H5D_ALLOC_TIME_EARLY);
    H5Pset_fill_time(list, H5D_FILL_TIME_NEVER);
    return list;
}

static hid_t create_set(const dkm_sink *sink, hid_t file, const char *name)
{
    int labels = sink->type == DKM_LABELS;
    hsize_t shape[2] = {(hsize_t)sink->m, (hsize_t)sink->d};
    hid_t space = H5Screate_simple(labels ? 1 : 2, shape, NULL);
    hid_t links = H5Pcreate(H5P_LINK_CREATE), layout = open_plain_layout(), set;

    H5Pset_create_intermediate_group(links, 1);
    set = H5Dcreate2(file, name, labels ? H5T_STD_I64LE : H5T_IEEE_F64LE, space, links, layout,
                     H5P_DEFAULT);
    H5Pclose(layout);
    H5Pclose(links);
    H5Sclose(space);
    return set;
}

static const char *set_name(const dkm_sink *sink)
{
    return sink->dataset && sink->dataset[0] ? sink->dataset : "/data";
}

/* @return where the numbers go; 0 where there are none; negative when it cannot be laid out */
static dkm_idx lay_out(const dkm_sink *sink, const char *path)
{
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t set = file < 0 ? -1 : create_set(sink, file, set_name(sink));
    haddr_t at = set < 0 ? HADDR_UNDEF : H5Dget_offset(set);
    int good = set >= 0 && (at != HADDR_UNDEF || sink->m * sink->d == 0);

    if (set >= 0)
        good &= H5Dclose(set) >= 0;
    if (file >= 0)
        good &= H5Fclose(file) >= 0;
    return !good ? -1 : at == HADDR_UNDEF ? 0 : (dkm_idx)at;
}

dkm_local dkm_sink_begin_hdf5(dkm_sink *sink)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_memory_file mem;
    H5E_auto2_t handler;
    void *data;

    DKM_STEP(dkm_memory_file_open(&mem, &sink->out, (double)sink->m * (double)sink->d * 8.0));
    H5Eget_auto2(H5E_DEFAULT, &handler, &data);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    sink->end = lay_out(sink, mem.path);
    H5Eset_auto2(H5E_DEFAULT, handler, data);
    if (sink->end < 0)
        DKM_STEP(dkm_fail(sink->ctx, DKM_ERR_IO,
                          "%s: the HDF5 library cannot make the dataset %s: check its name",
                          sink->path, set_name(sink)));
    DKM_STEP(dkm_memory_file_copy(&mem, &sink->out));
out:
    dkm_memory_file_close(&mem);
    return local;
}

/* Put numbers into the bytes that the file has of them. */
static void sink_raw_encode(const dkm_sink *sink, const double *values, dkm_idx n, char *bytes)
{
    memcpy(bytes, values, (size_t)n * 8);
    for (dkm_idx k = 0; sink->type == DKM_LABELS && k < n; k++) {
        int64_t label = (int64_t)values[k];
        memcpy(bytes + k * 8, &label, 8);
    }
    if (!dkm_number_low_first())
        dkm_numbers_swap(DKM_NUMBER_F64, bytes, n);
}

static dkm_local write_mine(dkm_sink *sink, const dkm_data *data)
{
    const double *values = data->mine.values;
    dkm_idx n = data->mine.n * sink->d, at = sink->end + (sink->done + data->first) * sink->d * 8;
    dkm_local local = DKM_LOCAL_OK;
    char *buffer = NULL;

    if (sink->type != DKM_LABELS && dkm_number_low_first())
        return dkm_atomic_file_write(&sink->out, at, values, n * 8);
    DKM_STEP(dkm_alloc(sink->ctx, BUFFER_NUMBERS * 8, &buffer));
    for (dkm_idx k = 0; k < n; k += BUFFER_NUMBERS) {
        dkm_idx part = n - k < BUFFER_NUMBERS ? n - k : BUFFER_NUMBERS;
        sink_raw_encode(sink, values + k, part, buffer);
        DKM_STEP(dkm_atomic_file_write(&sink->out, at + k * 8, buffer, part * 8));
    }
out:
    DKM_FREE(buffer);
    return local;
}

dkm_status dkm_sink_write_raw(dkm_sink *sink, const dkm_data *data)
{
    return dkm_agree(sink->ctx, write_mine(sink, data));
}
