/* The directory of a zip archive (PKWARE, .ZIP File Format Specification 6.3), with the 64-bit fields
 * that archives or members beyond 4 GiB have. Every byte is untrusted. */
#include "io/formats/zip.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/alloc.h"
#include "core/printable.h"

#define END_BYTES     22
#define LOCATOR_BYTES 20
#define END64_BYTES   56
#define ENTRY_BYTES   46
#define LOCAL_BYTES   30
#define MOST_COMMENT  65535
#define MOST_ENTRIES  (64 << 20) /* bytes of a directory */
#define LISTED        200        /* bytes of names in a message */
#define STORED        0
#define DEFLATED      8
#define IN_EXTRA      0xffffffffu /* a field that is in the extra field, in 64 bits */

typedef const unsigned char *bytes_at;

static dkm_idx u16(bytes_at b)
{
    return b[0] | b[1] << 8;
}

static dkm_idx u32(bytes_at b)
{
    return u16(b) | u16(b + 2) << 16;
}

/* -1 where it does not fit. */
static dkm_idx u64(bytes_at b)
{
    return u32(b + 4) >> 31 ? -1 : u32(b) | u32(b + 4) << 32;
}

static int is_signature(bytes_at b, const char *two)
{
    return b[0] == 'P' && b[1] == 'K' && b[2] == two[0] && b[3] == two[1];
}

dkm_local dkm_zip_read(const dkm_zip *zip, dkm_idx offset, dkm_idx count, void *bytes)
{
    char *to = bytes;

    if (offset < 0 || count < 0 || offset > zip->bytes || count > zip->bytes - offset)
        return dkm_fail(zip->ctx, DKM_ERR_FORMAT, "%s is cut short or damaged: get it again",
                        zip->path);
    while (count > 0) {
        ssize_t got =
            pread(zip->fd, to, (size_t)(count < 1 << 30 ? count : 1 << 30), (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return dkm_fail(zip->ctx, DKM_ERR_IO, "%s: %s", zip->path,
                            got < 0 ? strerror(errno) : "it became shorter while it was read");
        to += got;
        offset += got;
        count -= got;
    }
    return DKM_LOCAL_OK;
}

/* Where the directory is. */
typedef struct directory {
    dkm_idx offset, bytes, entries;
} directory;

/* The 64-bit end record, where a locator stands before the other one. */
static dkm_local find_end64(const dkm_zip *zip, dkm_idx end, directory *d)
{
    dkm_local local = DKM_LOCAL_OK;
    unsigned char b[END64_BYTES];

    if (end < LOCATOR_BYTES)
        return local;
    DKM_STEP(dkm_zip_read(zip, end - LOCATOR_BYTES, LOCATOR_BYTES, b));
    if (!is_signature(b, "\x06\x07"))
        return local;
    DKM_STEP(dkm_zip_read(zip, u64(b + 8), END64_BYTES, b));
    if (is_signature(b, "\x06\x06"))
        *d = (directory){.entries = u64(b + 32), .bytes = u64(b + 40), .offset = u64(b + 48)};
out:
    return local;
}

static dkm_local find_directory(const dkm_zip *zip, directory *d)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx tail = zip->bytes < END_BYTES + MOST_COMMENT ? zip->bytes : END_BYTES + MOST_COMMENT;
    dkm_idx at = tail - END_BYTES;
    unsigned char *b = NULL;

    DKM_STEP(dkm_alloc(zip->ctx, tail, &b));
    DKM_STEP(dkm_zip_read(zip, zip->bytes - tail, tail, b));
    while (at >= 0 && !is_signature(b + at, "\x05\x06"))
        at--;
    if (at < 0) {
        local = dkm_fail(zip->ctx, DKM_ERR_FORMAT, "%s is no npz file, or cut short: get it again",
                         zip->path);
        goto out;
    }
    *d = (directory){
        .entries = u16(b + at + 10), .bytes = u32(b + at + 12), .offset = u32(b + at + 16)};
    DKM_STEP(find_end64(zip, zip->bytes - tail + at, d));
    if (d->bytes < 0 || d->bytes > MOST_ENTRIES)
        local = dkm_fail(zip->ctx, DKM_ERR_FORMAT, "%s: its directory has %lld bytes", zip->path,
                         (long long)d->bytes);
out:
    DKM_FREE(b);
    return local;
}

/* One entry of the directory. */
typedef struct entry {
    const char *name;
    dkm_idx name_length, method, flags, header;
    dkm_zip_member member;
} entry;

/* Sizes and place from the 64-bit extra field, in this order, those that are not in their own. */
static void read_extra(bytes_at b, bytes_at end, entry *e)
{
    dkm_idx *wide[3] = {&e->member.bytes, &e->member.packed, &e->header};

    while (end - b >= 4 && u16(b) != 1)
        b += 4 + (u16(b + 2) < end - b - 4 ? u16(b + 2) : end - b - 4);
    b += 4;
    for (int k = 0; k < 3; k++) {
        if (*wide[k] != (dkm_idx)IN_EXTRA)
            continue;
        *wide[k] = end - b >= 8 ? u64(b) : -1;
        b += 8;
    }
}

/* The entry at @p b. @return the bytes that it takes; 0 where there is none */
static dkm_idx read_entry(bytes_at b, bytes_at end, entry *e)
{
    dkm_idx length;

    if (end - b < ENTRY_BYTES || !is_signature(b, "\x01\x02"))
        return 0;
    length = ENTRY_BYTES + u16(b + 28) + u16(b + 30) + u16(b + 32);
    if (end - b < length)
        return 0;
    *e = (entry){.name = (const char *)b + ENTRY_BYTES,
                 .name_length = u16(b + 28),
                 .flags = u16(b + 8),
                 .method = u16(b + 10),
                 .header = u32(b + 42)};
    e->member = (dkm_zip_member){
        .packed = u32(b + 20), .bytes = u32(b + 24), .deflated = e->method == DEFLATED};
    b += ENTRY_BYTES + e->name_length;
    read_extra(b, b + u16((bytes_at)e->name - ENTRY_BYTES + 30), e);
    return length;
}

/* The name of the array in a member `name.npy`; its length, or 0. */
static dkm_idx array_name(const entry *e)
{
    return e->name_length > 4 && memcmp(e->name + e->name_length - 4, ".npy", 4) == 0
               ? e->name_length - 4
               : 0;
}

static int has_name(const entry *e, const char *name)
{
    return !name ||
           ((dkm_idx)strlen(name) == array_name(e) && memcmp(name, e->name, strlen(name)) == 0);
}

static void list_name(const entry *e, char list[LISTED])
{
    size_t used = strlen(list);

    snprintf(list + used, LISTED - used, "%s%.*s", used ? ", " : "", (int)array_name(e), e->name);
    dkm_make_printable(list + used, 0);
}

static dkm_local check_found(const dkm_zip *zip, const char *name, dkm_idx found, const char *list)
{
    if (found == 1 || (name && found > 0))
        return DKM_LOCAL_OK;
    if (!*list)
        return dkm_fail(zip->ctx, DKM_ERR_FORMAT, "%s: holds no arrays", zip->path);
    if (!name)
        return dkm_fail(zip->ctx, DKM_ERR_ARG, "%s: holds several arrays: name one, %s:NAME, of %s",
                        zip->path, zip->path, list);
    return dkm_fail(zip->ctx, DKM_ERR_ARG, "%s: holds no array '%s': it has %s", zip->path, name,
                    list);
}

/* Where the bytes begin, after a header of their own. */
static dkm_local find_bytes(const dkm_zip *zip, const entry *e, dkm_zip_member *member)
{
    dkm_local local = DKM_LOCAL_OK;
    unsigned char b[LOCAL_BYTES];
    char name[LISTED] = "";

    list_name(e, name);
    if ((e->flags & 1) || (e->method != STORED && e->method != DEFLATED))
        return dkm_fail(zip->ctx, DKM_ERR_UNSUPPORTED,
                        "%s: '%s' is %s: save it with numpy.savez or savez_compressed", zip->path,
                        name, e->flags & 1 ? "encrypted" : "packed in a way that is not read");
    DKM_STEP(dkm_zip_read(zip, e->header, LOCAL_BYTES, b));
    *member = e->member;
    member->offset = e->header + LOCAL_BYTES + u16(b + 26) + u16(b + 28);
    if (!is_signature(b, "\x03\x04") || member->packed < 0 || member->bytes < 0 ||
        member->offset > zip->bytes || member->packed > zip->bytes - member->offset ||
        (!member->deflated && member->packed != member->bytes))
        local = dkm_fail(zip->ctx, DKM_ERR_FORMAT, "%s is cut short or damaged: get it again",
                         zip->path);
out:
    return local;
}

dkm_local dkm_zip_find(const dkm_zip *zip, const char *name, dkm_zip_member *member)
{
    dkm_local local = DKM_LOCAL_OK;
    char list[LISTED] = "";
    unsigned char *b = NULL;
    dkm_idx at = 0, step, found = 0;
    directory d = {0};
    entry e, it = {0};

    DKM_STEP(find_directory(zip, &d));
    DKM_STEP(dkm_alloc(zip->ctx, d.bytes, &b));
    DKM_STEP(dkm_zip_read(zip, d.offset, d.bytes, b));
    for (; (step = read_entry(b + at, b + d.bytes, &e)) > 0; at += step) {
        if (array_name(&e) == 0)
            continue;
        list_name(&e, list);
        if (has_name(&e, name)) {
            it = e;
            found++;
        }
    }
    DKM_STEP(check_found(zip, name, found, list));
    DKM_STEP(find_bytes(zip, &it, member));
out:
    DKM_FREE(b);
    return local;
}
