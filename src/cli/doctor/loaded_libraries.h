/** @file loaded_libraries.h  The shared libraries of this process, and which of them need which.
 *
 *  They are asked of the dynamic linker, so that they are those in use, whatever was there when
 *  dkmap was built.
 */
#ifndef DKMAP_CLI_DOCTOR_LOADED_LIBRARIES_H
#define DKMAP_CLI_DOCTOR_LOADED_LIBRARIES_H

#include <stddef.h>

enum { LIBRARY_PATH = 512, LIBRARY_NAME = 128 };

typedef struct loaded_library {
    char path[LIBRARY_PATH]; /**< of the file itself, links followed */
    char name[LIBRARY_NAME]; /**< the name it was loaded by: libmpi.so.40 */
    char mpi[LIBRARY_NAME];  /**< the MPI library that it needs by itself; "" for none */
} loaded_library;

typedef struct loaded_libraries {
    int count;
    loaded_library *list;
} loaded_libraries;

/** List them. @return 1, or 0 without memory */
int loaded_libraries_list(loaded_libraries *all);
void loaded_libraries_free(loaded_libraries *all);

/** The first library whose name begins with one of @p names, separated by '|'; NULL for none. */
const loaded_library *loaded_libraries_find(const loaded_libraries *all, const char *names);

/** Whether a name is that of an MPI library: libmpi.so.40, libmpich.so.12. */
int is_mpi_library(const char *name);

/** The version in the name of a library's file, such as 0.3.21 of libopenblasp-r0.3.21.so; "" where
 *  it has none. */
void library_version(const loaded_library *library, char *out, size_t size);

#endif
