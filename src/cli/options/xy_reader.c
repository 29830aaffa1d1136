#include "cli/options/xy_reader.h"

#include <string.h>

static int xy_reader_ends_in(const char *name, size_t length, const char *ending)
{
    size_t more = strlen(ending);

    return length > more && strncmp(name + length - more, ending, more) == 0;
}

const char *xy_companion_type(const char *where, dkm_type type)
{
    size_t length = strcspn(where, "[");
    int listed = type == DKM_LABELS || type == DKM_LABEL_SETS || type == DKM_SETS;

    if (xy_reader_ends_in(where, length, ".gz"))
        length -= strlen(".gz");
    return listed && (xy_reader_ends_in(where, length, ".csv") ||
                      xy_reader_ends_in(where, length, ".tsv") ||
                      xy_reader_ends_in(where, length, ".txt"))
               ? dkm_type_name(type)
               : NULL;
}

static const char *type_of(const run *r, file_options file)
{
    return file.type ? args_text(r->args, file.type) : NULL;
}

static dkm_status open_source(run *r, file_options file, const char *type, dkm_source **source)
{
    return dkm_source_open(r->ctx, args_text(r->args, file.where), file.role, type, source);
}

static dkm_local xy_reader_check_rows(run *r, const char *a, dkm_idx m, const char *b, dkm_idx n)
{
    if (m == n)
        return DKM_LOCAL_OK;
    return dkm_fail(r->ctx, DKM_ERR_ARG, "%s has %lld rows but %s has %lld", args_text(r->args, a),
                    (long long)m, args_text(r->args, b), (long long)n);
}

dkm_status xy_open(run *r, file_options first, file_options second, dkm_source **a, dkm_data **B)
{
    const char *type = type_of(r, second);
    dkm_status status = DKM_OK;
    dkm_source *b = NULL;
    dkm_idx m, n;

    *B = NULL;
    DKM_TRY(open_source(r, first, type_of(r, first), a));
    if (first.role == DKM_OUTPUTS && second.role == DKM_OUTPUTS && second.type && !type)
        type = xy_companion_type(args_text(r->args, second.where), dkm_source_type(*a));
    DKM_TRY(open_source(r, second, type, &b));
    /* Some vertices may have no output. */
    if (second.missing_ok || (first.role == DKM_INPUTS && dkm_source_type(*a) == DKM_GRAPH))
        dkm_source_accept_missing(b);
    m = dkm_source_rows(*a);
    n = dkm_source_rows(b);
    DKM_AGREE(r->ctx, xy_reader_check_rows(r, first.where, m, second.where, n));
    DKM_TRY(dkm_source_read(b, 0, n, B));
out:
    dkm_source_close(&b);
    if (status != DKM_OK)
        dkm_source_close(a);
    return status;
}

dkm_status xy_read(run *r, file_options first, file_options second, dkm_data **A, dkm_data **B)
{
    dkm_status status = DKM_OK;
    dkm_source *a = NULL;

    *A = NULL;
    dkm_phase_begin(r->ctx, "read");
    DKM_TRY(xy_open(r, first, second, &a, B));
    DKM_TRY(dkm_source_read(a, 0, dkm_source_rows(a), A));
out:
    dkm_phase_end(r->ctx);
    dkm_source_close(&a);
    if (status != DKM_OK)
        dkm_data_destroy(B);
    return status;
}
