/** @file dkmap.h  The basic tier of dkmap: learn maps between arbitrary objects with kernels, on
 *  any number of MPI ranks.
 *
 *      context   one per communicator                            context.h, status.h
 *      data      from files, from memory, and back               data.h, arrays.h
 *      kernels   expressions, and functions of the program       kernel.h, kernel_callback.h
 *      fit       any method by name, with settings and a report  method.h, settings.h, report.h
 *      models    predict, decode, read parts, save and load      model.h, model_parts.h, store.h,
 *                                                              export.h
 *
 *  What these headers declare stays as it is within a minor version. Settings and results are
 *  named by strings, so that new ones change no structure. extended.h has the parts below it, such
 *  as typed fits, solvers and distributed matrices. They may change with every version.
 */
#ifndef DKMAP_DKMAP_H
#define DKMAP_DKMAP_H

#include <dkmap/arrays.h>
#include <dkmap/context.h>
#include <dkmap/data.h>
#include <dkmap/export.h>
#include <dkmap/kernel.h>
#include <dkmap/kernel_callback.h>
#include <dkmap/method.h>
#include <dkmap/model.h>
#include <dkmap/model_parts.h>
#include <dkmap/report.h>
#include <dkmap/settings.h>
#include <dkmap/status.h>
#include <dkmap/store.h>
#include <dkmap/types.h>
#include <dkmap/version.h>

#endif
