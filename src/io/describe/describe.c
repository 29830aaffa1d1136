#include "io/describe/describe.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <dkmap/describe.h>

#include "core/printable.h"
#include "io/archive/checksum.h"
#include "io/readers.h"
#include "io/stream/spool.h"

#define LINE_LENGTH 2048

typedef enum file_kind { DATA_FILE, HDF5_FILE, RECORD_FILE } file_kind;

void dkm_describe_line(const dkm_describe_writer *writer, const char *format, ...)
{
    char text[LINE_LENGTH];
    va_list args;

    if (dkm_ctx_rank(writer->ctx) != 0)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    dkm_make_printable(text, 0);
    writer->line(writer->user, text);
}

static dkm_local sniff(dkm_ctx *ctx, const char *path, file_kind *kind)
{
    static const char signature[] = "\x89HDF\r\n\x1a\n";
    char first[sizeof signature - 1] = {0};
    FILE *f = fopen(dkm_spool_path(path), "rb");
    dkm_local local = DKM_LOCAL_OK;
    int record = 0;

    *kind = DATA_FILE;
    if (!f)
        return local;
    if (fread(first, 1, sizeof first, f) > 0 && first[0] == '{')
        local = dkm_is_record(ctx, path, &record);
    fclose(f);
    if (memcmp(first, signature, sizeof first) == 0)
        *kind = HDF5_FILE;
    if (record)
        *kind = RECORD_FILE;
    return local;
}

/* By content, as rank 0 sees it. A path with a slice or a dataset is no file's: it is left to the
 * readers of data. */
static dkm_status describe_find_kind(dkm_ctx *ctx, const char *path, file_kind *kind)
{
    dkm_local local = DKM_LOCAL_OK;
    int found;

    *kind = DATA_FILE;
    if (dkm_ctx_rank(ctx) == 0)
        local = sniff(ctx, path, kind);
    found = (int)*kind;
    MPI_Bcast(&found, 1, MPI_INT, 0, dkm_ctx_comm(ctx));
    *kind = (file_kind)found;
    return dkm_agree(ctx, local);
}

static dkm_local describe_on_rank_0(const dkm_describe_writer *writer, file_kind kind,
                                    const char *path, int sealed)
{
    if (dkm_ctx_rank(writer->ctx) != 0)
        return DKM_LOCAL_OK;
    return kind == HDF5_FILE ? dkm_describe_hdf5(writer, path, sealed)
                             : dkm_describe_records(writer, path);
}

/* One rank per node verifies the checksum. */
static dkm_status describe_check_seal(dkm_ctx *ctx, const char *path, int *sealed)
{
    dkm_status status = DKM_OK;
    dkm_readers readers;

    DKM_TRY(dkm_readers_open(&readers, ctx, 1, DKM_READERS));
    if (readers.readers)
        status = dkm_seal_check_any(readers.readers, path, sealed);
    DKM_TRY(dkm_readers_agree(&readers, status));
out:
    dkm_readers_close(&readers);
    return status;
}

dkm_status dkm_describe(dkm_ctx *ctx, const char *path, const char *type,
                        void (*line)(void *user, const char *text), void *user)
{
    dkm_status status = DKM_OK;
    dkm_describe_writer writer = {.ctx = ctx, .line = line, .user = user};
    file_kind kind = DATA_FILE;
    int sealed = 0;

    DKM_TRY(dkm_spool(ctx, path));
    if (!type)
        DKM_TRY(describe_find_kind(ctx, path, &kind));
    DKM_REQUIRE(ctx, kind != HDF5_FILE || dkm_spool_path(path) == path, DKM_ERR_UNSUPPORTED,
                "%s: HDF5 is not read from a pipe: write it to a file first", path);
    if (kind == HDF5_FILE)
        DKM_TRY(describe_check_seal(ctx, path, &sealed));
    if (kind == DATA_FILE)
        DKM_TRY(dkm_describe_data(&writer, path, type));
    else
        DKM_AGREE(ctx, describe_on_rank_0(&writer, kind, path, sealed));
out:
    return status;
}
