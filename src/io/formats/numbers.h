/** @file numbers.h  Numbers as files have them: raw of many types, or written out in digits. */
#ifndef DKMAP_IO_FORMATS_NUMBERS_H
#define DKMAP_IO_FORMATS_NUMBERS_H

#include <dkmap/types.h>

/** Every type of raw number: code, C type, name. */
#define DKM_NUMBER_LIST(X)                                                                         \
    X(DKM_NUMBER_I8, int8_t, "int8")                                                               \
    X(DKM_NUMBER_U8, uint8_t, "uint8")                                                             \
    X(DKM_NUMBER_I16, int16_t, "int16")                                                            \
    X(DKM_NUMBER_U16, uint16_t, "uint16")                                                          \
    X(DKM_NUMBER_I32, int32_t, "int32")                                                            \
    X(DKM_NUMBER_U32, uint32_t, "uint32")                                                          \
    X(DKM_NUMBER_I64, int64_t, "int64")                                                            \
    X(DKM_NUMBER_U64, uint64_t, "uint64")                                                          \
    X(DKM_NUMBER_F32, float, "float32")                                                            \
    X(DKM_NUMBER_F64, double, "float64")

#define DKM_NUMBER_ENUM(code, type, name) code,
typedef enum dkm_number { DKM_NUMBER_LIST(DKM_NUMBER_ENUM) DKM_NUMBER_COUNT } dkm_number;
#undef DKM_NUMBER_ENUM

dkm_idx dkm_number_bytes(dkm_number number);
const char *dkm_number_name(dkm_number number);
int dkm_number_is_integer(dkm_number number);

/** Whether this machine puts the low byte of a number first. Local. */
int dkm_number_low_first(void);

/** Turn the bytes of each of @p n raw numbers around, in place. Local. */
void dkm_numbers_swap(dkm_number number, void *raw, dkm_idx n);

/** out[k out_step] = raw[k raw_step] for k < n. Local; steps count numbers. */
void dkm_numbers_convert(dkm_number number, const void *raw, dkm_idx raw_step, dkm_idx n,
                         double *out, dkm_idx out_step);

/** Read a number at the front of @p text, as strtod() does but without passing over blanks.
 *  @return where it ends; NULL when there is none. Local. */
const char *dkm_number_parse(const char *text, double *value);

#endif
