/** @file export_c.h  The parts of an exported C file. */
#ifndef DKMAP_EXPORT_EXPORT_C_H
#define DKMAP_EXPORT_EXPORT_C_H

#include "export/export_plan.h"

/** Begin and end an array of numbers: `static const double NAME[...] = {`. Local. */
void dkm_export_c_array(dkm_export_file *file, const char *name, dkm_idx count,
                        const double *numbers);

/** An array of rows. Collective. */
DKM_NODISCARD dkm_status dkm_export_c_rows(dkm_export_file *file, const char *name,
                                           const dkm_data *rows);

/** One function per node of the kernel, k0() being the kernel itself. Local. */
void dkm_export_c_kernel(const dkm_export_plan *plan, dkm_export_file *file);

/** NAME_decode(), from coordinates to objects. Collective. */
DKM_NODISCARD dkm_status dkm_export_c_decoder(const dkm_export_plan *plan, const char *prefix,
                                              dkm_export_file *file);

#endif
