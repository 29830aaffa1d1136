/** @file shared_copy.h  Included before every source of dkmap: copies of shared blocks are left
 *  out (memory.c). */
#ifndef DKMAP_SIMULATE_SHARED_COPY_H
#define DKMAP_SIMULATE_SHARED_COPY_H

#include <string.h>

void *sim_memcpy(void *to, const void *from, size_t bytes);
#define memcpy sim_memcpy

#endif
