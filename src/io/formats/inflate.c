/* Deflated members of zip archives, unpacked through buffers of bounded size by zlib. */
#include <string.h>
#include <zlib.h>

#include "core/alloc.h"
#include "io/formats/zip.h"

#define BUFFER_BYTES (64 << 10)

struct dkm_inflate {
    dkm_zip zip;
    dkm_zip_member member;
    z_stream z;
    int is_open;
    dkm_idx taken, at; /* packed bytes that were read, unpacked ones that were given */
    unsigned char packed[BUFFER_BYTES], passed[BUFFER_BYTES];
};

static dkm_local tell_damage(const dkm_inflate *s)
{
    return dkm_fail(s->zip.ctx, DKM_ERR_FORMAT, "%s is cut short or damaged: get it again",
                    s->zip.path);
}

static dkm_local begin(dkm_inflate *s)
{
    if (s->is_open)
        inflateEnd(&s->z);
    s->z = (z_stream){0};
    s->taken = s->at = 0;
    s->is_open = inflateInit2(&s->z, -MAX_WBITS) == Z_OK; /* without a header of zlib */
    if (!s->is_open)
        return dkm_fail(s->zip.ctx, DKM_ERR_MEMORY, "no memory to unpack %s", s->zip.path);
    return DKM_LOCAL_OK;
}

dkm_local dkm_inflate_open(const dkm_zip *zip, const dkm_zip_member *member, dkm_inflate **stream)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_calloc(zip->ctx, 1, stream));
    (*stream)->zip = *zip;
    (*stream)->member = *member;
    DKM_STEP(begin(*stream));
out:
    return local;
}

static dkm_local take_packed(dkm_inflate *s)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx left = s->member.packed - s->taken, count = left < BUFFER_BYTES ? left : BUFFER_BYTES;

    if (count == 0)
        return tell_damage(s);
    DKM_STEP(dkm_zip_read(&s->zip, s->member.offset + s->taken, count, s->packed));
    s->taken += count;
    s->z.next_in = s->packed;
    s->z.avail_in = (unsigned)count;
out:
    return local;
}

/* The next @p count bytes, at most BUFFER_BYTES. */
static dkm_local unpack(dkm_inflate *s, dkm_idx count, void *bytes)
{
    dkm_local local = DKM_LOCAL_OK;

    s->z.next_out = bytes;
    s->z.avail_out = (unsigned)count;
    while (s->z.avail_out > 0) {
        int code;
        if (s->z.avail_in == 0)
            DKM_STEP(take_packed(s));
        code = inflate(&s->z, Z_NO_FLUSH);
        if (code != Z_OK && !(code == Z_STREAM_END && s->z.avail_out == 0))
            DKM_STEP(tell_damage(s));
    }
    s->at += count;
out:
    return local;
}

dkm_local dkm_inflate_read(dkm_inflate *s, dkm_idx offset, dkm_idx count, void *bytes)
{
    dkm_local local = DKM_LOCAL_OK;
    char *to = bytes;

    if (offset < s->at)
        DKM_STEP(begin(s));
    while (s->at < offset)
        DKM_STEP(
            unpack(s, offset - s->at < BUFFER_BYTES ? offset - s->at : BUFFER_BYTES, s->passed));
    while (count > 0) {
        dkm_idx part = count < BUFFER_BYTES ? count : BUFFER_BYTES;
        DKM_STEP(unpack(s, part, to));
        to += part;
        count -= part;
    }
out:
    if (local.code != DKM_OK) /* begin anew if it is tried again */
        s->at = INT64_MAX;
    return local;
}

void dkm_inflate_close(dkm_inflate **stream)
{
    if (*stream && (*stream)->is_open)
        inflateEnd(&(*stream)->z);
    DKM_FREE(*stream);
}
