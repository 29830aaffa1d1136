/* Gzipped files. The first byte chooses a format, whether the rest is the packed file or is to be
 * packed, and whether its last 64 bytes are then repeated many times, as in a bomb; the second byte
 * chooses role and type, and how often. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "fuzz/fuzz.h"

enum { FORMATS = 6, REPEATED = 64, TIMES = 128, TIMES_RARELY = 4096, RARELY = 250 };

/* @return bytes of the packed file, in @p packed */
static size_t pack(const uint8_t *data, size_t size, int times, uint8_t *packed, size_t room)
{
    z_stream z = {0};
    size_t tail = size < REPEATED ? size : REPEATED;

    if (deflateInit2(&z, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        abort();
    z.next_out = packed;
    z.avail_out = (uInt)room;
    z.next_in = (z_const Bytef *)(uintptr_t)data;
    z.avail_in = (uInt)size;
    deflate(&z, Z_NO_FLUSH);
    for (int k = 0; k < times; k++) {
        z.next_in = (z_const Bytef *)(uintptr_t)(data + size - tail);
        z.avail_in = (uInt)tail;
        deflate(&z, Z_NO_FLUSH);
    }
    deflate(&z, Z_FINISH);
    size = z.total_out;
    deflateEnd(&z);
    return size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const endings[FORMATS] = {".csv.gz", ".svm.gz",   ".txt.gz",
                                                 ".mtx.gz", ".fasta.gz", ".idx.gz"};
    static uint8_t packed[1 << 16];
    const char *path;
    size_t bytes;
    int how;

    if (size < 2 || size > sizeof packed / 4)
        return 0;
    how = data[0] / FORMATS;
    bytes = size - 2;
    fuzz_begin();
    if (how % 2 == 0) {
        int times = how % 32 != 30 ? 0 : data[1] < RARELY ? TIMES : TIMES_RARELY;
        bytes = pack(data + 2, bytes, times, packed, sizeof packed);
        path = fuzz_file(endings[data[0] % FORMATS], packed, bytes);
    } else {
        path = fuzz_file(endings[data[0] % FORMATS], data + 2, bytes);
    }
    (void)fuzz_read(path, fuzz_role(data[1]), fuzz_type(data[1]));
    fuzz_end(bytes, 8256); /* of what is unpacked */
    return 0;
}
