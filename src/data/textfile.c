#include "data/textfile.h"

#include "core/alloc.h"

static dkm_local make_state(dkm_file *file)
{
    dkm_records *records = NULL;
    dkm_local local = dkm_calloc(file->ctx, 1, &records);

    file->state = records;
    return local;
}

dkm_status dkm_textfile_open(dkm_file *file, dkm_records_kind kind)
{
    dkm_status status = DKM_OK;
    dkm_records *records;

    DKM_AGREE(file->ctx, make_state(file));
    records = file->state;
    DKM_TRY(dkm_records_index(records, file->ctx, file->path, kind, 0, 1));
    file->m = records->count;
    file->d = 0;
out:
    return status;
}

void dkm_textfile_close(dkm_file *file)
{
    if (file->state)
        dkm_records_clear(file->state);
    DKM_FREE(file->state);
}
