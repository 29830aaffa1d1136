/** @file calibration.h  How fast a machine is, measured once and kept for plans.
 *
 *  A file of `name value` lines for each rank count that was measured, in the directory that
 *  DKMAP_CALIBRATION names, or in ~/.config/dkmap. A machine is called DKMAP_MACHINE,
 *  SLURM_CLUSTER_NAME or the name of the host.
 */
#ifndef DKMAP_CLI_CORE_CALIBRATION_H
#define DKMAP_CLI_CORE_CALIBRATION_H

#include "cli/core/run.h"

/** Every number, with what it counts; seconds are those of all ranks working together. */
#define CALIBRATION_LIST(X)                                                                        \
    X(ranks)         /* that measured */                                                           \
    X(cores)         /* of a node */                                                               \
    X(nodes)         /* that the ranks were on */                                                  \
    X(base_bytes)    /* of a rank that has done nothing yet */                                     \
    X(gram_column)   /* seconds an element of the lower triangle and column of the inputs */       \
    X(gram_element)  /* seconds an element */                                                      \
    X(double_cube)   /* seconds of a Cholesky factor in double, by m^3 / 3 ... */                  \
    X(double_square) /* ... and by m^2 */                                                          \
    X(single_cube)   /* the same in single */                                                      \
    X(single_square)                                                                               \
    X(solve_column)  /* solving with a double factor, by m^2 and output */                         \
    X(solve_square)  /* by m^2 */                                                                  \
    X(refine_column) /* refining with a single factor, by m^2 and output */                        \
    X(refine_square)                                                                               \
    X(round_column) /* a round of the block eigensolver, by m^2 and column of its block */         \
    X(round_basis)  /* by m, column of the block and column of the basis */                        \
    X(rounds_root)  /* rounds that it takes, by the root of the components ... */                  \
    X(rounds_base)  /* ... and whatever their number */                                            \
    X(full_cube)    /* a full eigensolve, by m^3 */                                                \
    X(rows_square)  /* a joint map before its first round, by m^2 */                               \
    X(apply_column) /* its values at all examples, by m^2 and coordinate of outputs */             \
    X(apply_square) /* by m^2 */

typedef struct calibration {
#define CALIBRATION_FIELD(name) double name;
    CALIBRATION_LIST(CALIBRATION_FIELD)
#undef CALIBRATION_FIELD
} calibration;

enum { CALIBRATION_PATH = 512 };

/** The file for as many ranks as there are; its directory is made where it is not there.
 *  Collective.
 *  @return DKM_OK; DKM_ERR_IO when neither HOME nor DKMAP_CALIBRATION says where it goes */
DKM_NODISCARD
dkm_status calibration_place(run *r, char path[CALIBRATION_PATH]);

/** Write the file, which appears complete or not at all; rank 0 does. Collective.
 *  @return DKM_OK; DKM_ERR_IO */
DKM_NODISCARD
dkm_status calibration_write(run *r, const calibration *c, const char *path);

/** The calibration for as many ranks, or the nearest number below that, else above. Local.
 *  @return 1, or 0 when none was ever made on this machine */
int calibration_find(int ranks, calibration *c);

#endif
