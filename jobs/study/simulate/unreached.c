/* Functions that no simulated fit should reach, as the linker found them missing: files, ScaLAPACK and
 * methods that are not compiled. */
#include <stdio.h>
#include <stdlib.h>

#define REACHED(name)                                                                              \
    void name(void);                                                                               \
    void name(void)                                                                                \
    {                                                                                              \
        fprintf(stderr, "simulate: %s is not part of the simulation\n", #name);                    \
        abort();                                                                                   \
    }

#include "missing.inc"
