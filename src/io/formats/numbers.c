#include "io/formats/numbers.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

dkm_idx dkm_number_bytes(dkm_number number)
{
#define NUMBER_BYTES(code, type, name) [code] = sizeof(type),
    static const dkm_idx bytes[] = {DKM_NUMBER_LIST(NUMBER_BYTES)};
#undef NUMBER_BYTES
    return bytes[number];
}

const char *dkm_number_name(dkm_number number)
{
#define NUMBER_NAME(code, type, name) [code] = name,
    static const char *const names[] = {DKM_NUMBER_LIST(NUMBER_NAME)};
#undef NUMBER_NAME
    return names[number];
}

int dkm_number_is_integer(dkm_number number)
{
    return number != DKM_NUMBER_F32 && number != DKM_NUMBER_F64;
}

int dkm_number_low_first(void)
{
    const uint16_t one = 1;

    return *(const uint8_t *)&one == 1;
}

void dkm_numbers_swap(dkm_number number, void *raw, dkm_idx n)
{
    dkm_idx bytes = dkm_number_bytes(number);
    char *at = raw;

    for (dkm_idx k = 0; bytes > 1 && k < n; k++, at += bytes)
        for (dkm_idx b = 0; b < bytes / 2; b++) {
            char first = at[b];
            at[b] = at[bytes - 1 - b];
            at[bytes - 1 - b] = first;
        }
}

#define CONVERTER(code, type, name)                                                                \
    static void convert_##code(const char *raw, dkm_idx raw_step, dkm_idx n, double *out,          \
                               dkm_idx out_step)                                                   \
    {                                                                                              \
        for (dkm_idx k = 0; k < n; k++) {                                                          \
            type number;                                                                           \
            memcpy(&number, raw + k * raw_step * (dkm_idx)sizeof number, sizeof number);           \
            out[k * out_step] = (double)number;                                                    \
        }                                                                                          \
    }
DKM_NUMBER_LIST(CONVERTER)
#undef CONVERTER

void dkm_numbers_convert(dkm_number number, const void *raw, dkm_idx raw_step, dkm_idx n,
                         double *out, dkm_idx out_step)
{
    typedef void converter(const char *raw, dkm_idx raw_step, dkm_idx n, double *out,
                           dkm_idx out_step);
#define NUMBER_CONVERTER(code, type, name) [code] = convert_##code,
    static converter *const converters[] = {DKM_NUMBER_LIST(NUMBER_CONVERTER)};
#undef NUMBER_CONVERTER

    converters[number](raw, raw_step, n, out, out_step);
}

/* Digits of a mantissa and how often it is to be multiplied by ten. */
typedef struct decimal {
    uint64_t mantissa;
    int digits, power;
} decimal;

static const char *take_digits(const char *at, decimal *d, int power)
{
    for (; isdigit((unsigned char)*at); at++) {
        d->mantissa = 10 * d->mantissa + (uint64_t)(*at - '0');
        d->digits += d->mantissa > 0;
        d->power += power;
        if (d->digits > 18)
            break;
    }
    return at;
}

/* mantissa x 10^power is right to the last bit when both factors are exact in a double: mantissa
 * below 2^53 and |power| <= 22. Anything else is left to strtod(). */
static int is_exact(const decimal *d)
{
    return d->mantissa < (UINT64_C(1) << 53) && d->power >= -22 && d->power <= 22;
}

static double scaled(const decimal *d)
{
    static const double ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                 1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

    return d->power < 0 ? (double)d->mantissa / ten[-d->power]
                        : (double)d->mantissa * ten[d->power];
}

static const char *parse_slowly(const char *text, double *value)
{
    char *end;

    if (isspace((unsigned char)*text))
        return NULL;
    *value = strtod(text, &end);
    return end == text ? NULL : end;
}

const char *dkm_number_parse(const char *text, double *value)
{
    const char *at = text, *first;
    decimal d = {0, 0, 0};
    int minus;

    minus = *at == '-';
    at += *at == '-' || *at == '+';
    first = at;
    at = take_digits(at, &d, 0);
    if (*at == '.' && at > first)
        at = take_digits(at + 1, &d, -1);
    if (at == first || isalnum((unsigned char)*at) || *at == '.' || !is_exact(&d))
        return parse_slowly(text, value);
    *value = minus ? -scaled(&d) : scaled(&d);
    return at;
}
