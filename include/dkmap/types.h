/** @file types.h  The few names every other header of dkmap needs. */
#ifndef DKMAP_TYPES_H
#define DKMAP_TYPES_H

#include <stddef.h>
#include <stdint.h>

/** Around the declarations of every public header: C linkage for C++ programs, and the only symbols
 *  that the library exports. */
#if defined(__GNUC__)
#define DKM_EXPORT_BEGIN _Pragma("GCC visibility push(default)")
#define DKM_EXPORT_END   _Pragma("GCC visibility pop")
#else
#define DKM_EXPORT_BEGIN
#define DKM_EXPORT_END
#endif
#if defined(__cplusplus)
#define DKM_API_BEGIN                                                                              \
    extern "C" {                                                                                   \
    DKM_EXPORT_BEGIN
#define DKM_API_END                                                                                \
    DKM_EXPORT_END                                                                                 \
    }
#else
#define DKM_API_BEGIN DKM_EXPORT_BEGIN
#define DKM_API_END   DKM_EXPORT_END
#endif

/** Every size, index and leading dimension. `int` appears only at the Fortran border. */
typedef int64_t dkm_idx;

/** The number type of a distributed matrix. */
typedef enum dkm_precision { DKM_F64 = 0, DKM_F32 = 1 } dkm_precision;

#if defined(__GNUC__)
#define DKM_NODISCARD       __attribute__((warn_unused_result))
#define DKM_PRINTF(fmt, at) __attribute__((format(printf, fmt, at)))
#else
#define DKM_NODISCARD
#define DKM_PRINTF(fmt, at)
#endif

#endif
