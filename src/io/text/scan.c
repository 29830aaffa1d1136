#include "io/text/scan.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "io/formats/numbers.h"

#define WORD_SHOWN 40

int dkm_scan_ends(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\0';
}

char *dkm_scan_blanks(char *at)
{
    while (*at && dkm_scan_ends(*at))
        at++;
    return at;
}

int dkm_scan_real(char **at, double *value)
{
    const char *end = dkm_number_parse(*at, value);

    if (!end || !isfinite(*value))
        return 0;
    *at += end - *at;
    return 1;
}

int dkm_scan_int(char **at, int sign, dkm_idx *value)
{
    const char *digit = *at + (sign && **at == '-');
    char *end;
    long long got;

    if (*digit < '0' || *digit > '9')
        return 0;
    errno = 0;
    got = strtoll(*at, &end, 10);
    if (errno == ERANGE)
        return 0;
    *value = got;
    *at = end;
    return 1;
}

int dkm_scan_word(const char *at)
{
    int length = 0;

    while (length < WORD_SHOWN && !dkm_scan_ends(at[length]))
        length++;
    return length;
}
