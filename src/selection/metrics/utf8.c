#include "selection/metrics/utf8.h"

#define INVALID 0x110000u /* what a stray byte b is: INVALID + b */

/* Bytes of the character that begins at @p at, and its value; 1 and INVALID + byte for none. */
static dkm_idx take(const unsigned char *at, dkm_idx left, uint32_t *value)
{
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    dkm_idx length = at[0] < 0x80   ? 1
                     : at[0] < 0xc0 ? 0
                     : at[0] < 0xe0 ? 2
                     : at[0] < 0xf0 ? 3
                     : at[0] < 0xf8 ? 4
                                    : 0;
    uint32_t c = length == 1 ? at[0] : at[0] & (0x7fu >> length);

    *value = INVALID + at[0];
    if (length == 0 || length > left)
        return 1;
    for (dkm_idx k = 1; k < length; k++) {
        if ((at[k] & 0xc0) != 0x80)
            return 1;
        c = c << 6 | (at[k] & 0x3fu);
    }
    if (c < smallest[length] || c >= INVALID || (c >= 0xd800 && c < 0xe000))
        return 1;
    *value = c;
    return length;
}

dkm_idx dkm_utf8_decode(const char *bytes, dkm_idx n, uint32_t *characters)
{
    dkm_idx count = 0;
    uint32_t c;

    for (dkm_idx at = 0; at < n; count++) {
        at += take((const unsigned char *)bytes + at, n - at, &c);
        if (characters)
            characters[count] = c;
    }
    return count;
}
