#include "io/writers/sink.h"

#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "io/path.h"
#include "io/stream/spool.h"

#define LIST_LENGTH 128

#define TEXTS (DKM_TYPE_BIT(DKM_STRINGS) | DKM_TYPE_BIT(DKM_SETS) | DKM_TYPE_BIT(DKM_GRAPHS))
#define TABLE (DKM_TYPE_NUMBERS | DKM_TYPE_BIT(DKM_LABEL_SETS))

static const dkm_writer writers[] = {
    {".npy", DKM_TYPE_NUMBERS, dkm_sink_begin_npy, dkm_sink_write_raw, 0},
    {".h5", DKM_TYPE_NUMBERS, dkm_sink_begin_hdf5, dkm_sink_write_raw, 0},
    {".hdf5", DKM_TYPE_NUMBERS, dkm_sink_begin_hdf5, dkm_sink_write_raw, 0},
    {".csv", TABLE | DKM_TYPE_BIT(DKM_STRINGS), dkm_sink_begin_table, dkm_sink_write_text, ','},
    {".tsv", TABLE | DKM_TYPE_BIT(DKM_STRINGS), dkm_sink_begin_table, dkm_sink_write_text, '\t'},
    {".txt", TABLE | TEXTS, NULL, dkm_sink_write_text, ' '},
    {".sets", DKM_TYPE_BIT(DKM_SETS), NULL, dkm_sink_write_text, ' '},
    {".graphs", DKM_TYPE_BIT(DKM_GRAPHS), NULL, dkm_sink_write_text, ' '},
    {".svm", DKM_TYPE_BIT(DKM_SPARSE) | DKM_TYPE_BIT(DKM_LABEL_SETS), NULL, dkm_sink_write_svmlight,
     ','},
};

enum { WRITERS = sizeof writers / sizeof *writers };

/* The endings that can hold a type; all of them for DKM_TYPE_COUNT. */
static char *list_endings(dkm_type type, char list[LIST_LENGTH])
{
    size_t used = 0;

    list[0] = '\0';
    for (int k = 0; k < WRITERS && used < LIST_LENGTH; k++)
        if (type == DKM_TYPE_COUNT || writers[k].types & DKM_TYPE_BIT(type))
            used += (size_t)snprintf(list + used, LIST_LENGTH - used, "%s%s", used ? " " : "",
                                     writers[k].ending);
    return list;
}

/* What goes to standard output where no ending says it. */
static const char *standard_ending(dkm_type type)
{
    return type == DKM_SPARSE ? ".svm" : type == DKM_SETS || type == DKM_STRINGS ? ".txt" : ".csv";
}

static dkm_local find_writer(dkm_sink *sink)
{
    const char *name = strcmp(sink->path, "-") == 0 ? standard_ending(sink->type) : sink->path;
    char list[LIST_LENGTH];

    for (int k = 0; k < WRITERS; k++)
        if (dkm_path_ends(name, writers[k].ending))
            sink->writer = &writers[k];
    if (sink->writer && sink->writer->begin == dkm_sink_begin_hdf5 &&
        dkm_path_is_standard(sink->path))
        return dkm_fail(sink->ctx, DKM_ERR_UNSUPPORTED,
                        "%s: HDF5 does not go to standard output: name a file", sink->path);
    if (!sink->writer)
        return dkm_fail(sink->ctx, DKM_ERR_ARG,
                        "%s: the ending does not say how to write it: known are %s", sink->path,
                        list_endings(DKM_TYPE_COUNT, list));
    if (sink->writer->types & DKM_TYPE_BIT(sink->type))
        return DKM_LOCAL_OK;
    list_endings(sink->type, list);
    return dkm_fail(sink->ctx, DKM_ERR_UNSUPPORTED, "%s cannot hold %s: %s%s", sink->path,
                    dkm_type_name(sink->type),
                    list[0] ? "give a name that ends in " : "no format that we write can", list);
}

static dkm_local sink_prepare(dkm_sink *sink, const char *where)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_path_split(sink->ctx, where, &sink->path, &sink->dataset));
    DKM_STEP(find_writer(sink));
out:
    return local;
}

static dkm_local sink_begin(dkm_sink *sink)
{
    if (dkm_ctx_rank(sink->ctx) != 0 || !sink->writer->begin)
        return DKM_LOCAL_OK;
    return sink->writer->begin(sink);
}

dkm_status dkm_sink_open(dkm_ctx *ctx, const char *where, dkm_type type, dkm_idx m, dkm_idx d,
                         dkm_sink **sink)
{
    dkm_status status = DKM_OK;
    dkm_sink *made = NULL;

    *sink = NULL;
    DKM_AGREE(ctx, dkm_calloc(ctx, 1, &made));
    made->ctx = ctx;
    made->type = type;
    made->m = m;
    made->d = type == DKM_LABELS ? 1 : d;
    DKM_AGREE(ctx, sink_prepare(made, where));
    DKM_TRY(dkm_atomic_file_open(&made->out, ctx, made->path));
    DKM_AGREE(ctx, sink_begin(made));
    MPI_Bcast(&made->end, 1, MPI_INT64_T, 0, dkm_ctx_comm(ctx));
    *sink = made;
    made = NULL;
out:
    dkm_sink_close(&made);
    return status;
}

static dkm_local sink_check_fit(const dkm_sink *sink, const dkm_data *data)
{
    const dkm_objs *mine = &data->mine;

    if (mine->type != sink->type || (mine->values && mine->d != sink->d))
        return dkm_fail(sink->ctx, DKM_ERR_ARG,
                        "%s is opened for %lld columns of %s, not %lld of %s", sink->path,
                        (long long)sink->d, dkm_type_name(sink->type), (long long)mine->d,
                        dkm_type_name(mine->type));
    if (data->m > sink->m - sink->done)
        return dkm_fail(sink->ctx, DKM_ERR_ARG, "%s is opened for %lld objects, not %lld",
                        sink->path, (long long)sink->m, (long long)(sink->done + data->m));
    return DKM_LOCAL_OK;
}

dkm_status dkm_sink_write(dkm_sink *sink, const dkm_data *data)
{
    dkm_status status = DKM_OK;

    DKM_AGREE(sink->ctx, sink_check_fit(sink, data));
    DKM_TRY(sink->writer->write(sink, data));
    sink->done += data->m;
out:
    return status;
}

static dkm_local check_complete(const dkm_sink *sink)
{
    if (sink->done == sink->m)
        return DKM_LOCAL_OK;
    return dkm_fail(sink->ctx, DKM_ERR_ARG, "%s has %lld of %lld objects: it is not complete",
                    sink->path, (long long)sink->done, (long long)sink->m);
}

dkm_status dkm_sink_commit(dkm_sink *sink)
{
    dkm_status status = DKM_OK;

    DKM_AGREE(sink->ctx, check_complete(sink));
    DKM_TRY(dkm_atomic_file_commit(&sink->out));
out:
    return status;
}

void dkm_sink_close(dkm_sink **sink)
{
    if (!*sink)
        return;
    dkm_atomic_file_close(&(*sink)->out);
    DKM_FREE((*sink)->path);
    DKM_FREE((*sink)->dataset);
    DKM_FREE(*sink);
}

dkm_status dkm_data_write(const dkm_data *data, const char *where)
{
    dkm_status status = DKM_OK;
    dkm_sink *sink = NULL;

    DKM_TRY(dkm_sink_open(data->ctx, where, data->mine.type, data->m, data->mine.d, &sink));
    DKM_TRY(dkm_sink_write(sink, data));
    DKM_TRY(dkm_sink_commit(sink));
out:
    dkm_sink_close(&sink);
    return status;
}
