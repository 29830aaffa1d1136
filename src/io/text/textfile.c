#include "io/text/textfile.h"

#include "core/alloc.h"

dkm_status dkm_textfile_index(dkm_textfile *t, const dkm_file *file, dkm_records_kind kind)
{
    *t = (dkm_textfile){.next = -1};
    return dkm_records_index(&t->records, file->ctx, file->path, kind, 0, 1);
}

dkm_local dkm_textfile_seek(dkm_textfile *t, const dkm_file *file, dkm_idx k)
{
    dkm_local local = DKM_LOCAL_OK;

    if (!t->is_open) {
        DKM_STEP(dkm_text_open(&t->text, file->ctx, file->path));
        t->is_open = 1;
    }
    DKM_STEP(dkm_records_seek(&t->records, &t->text, t->next, k));
    t->next = k + 1;
out:
    return local;
}

void dkm_textfile_lose(dkm_textfile *t)
{
    dkm_text_close(&t->text);
    t->is_open = 0;
    t->next = -1;
}

void dkm_textfile_clear(dkm_textfile *t)
{
    dkm_textfile_lose(t);
    dkm_records_clear(&t->records);
}

static dkm_local textfile_make_state(dkm_file *file)
{
    dkm_textfile *t = NULL;
    dkm_local local = dkm_calloc(file->ctx, 1, &t);

    file->state = t;
    return local;
}

dkm_status dkm_textfile_open(dkm_file *file, dkm_records_kind kind)
{
    dkm_status status = DKM_OK;
    dkm_textfile *t;

    DKM_AGREE(file->ctx, textfile_make_state(file));
    t = file->state;
    DKM_TRY(dkm_textfile_index(t, file, kind));
    file->m = t->records.count;
    file->d = 0;
out:
    return status;
}

void dkm_textfile_close(dkm_file *file)
{
    if (file->state)
        dkm_textfile_clear(file->state);
    DKM_FREE(file->state);
}
