/** @file calibration.h  How fast a machine is, measured once and stored for plans.
 *
 *  A file of `name value` lines for each rank count that was measured, in the directory that
 *  DKMAP_CALIBRATION names, or in ~/.config/dkmap. A machine is called DKMAP_MACHINE,
 *  SLURM_CLUSTER_NAME or the name of the host.
 */
#ifndef DKMAP_CLI_PROFILE_CALIBRATION_H
#define DKMAP_CLI_PROFILE_CALIBRATION_H

#include <dkmap/estimate.h>

#include "cli/core/run.h"

/** Every number is a rate of dkmap/estimate.h. */
#define CALIBRATION_LIST DKM_RATES_LIST
typedef dkm_rates calibration;

enum { CALIBRATION_PATH = 512 };

/** The file for as many ranks as there are; its directory is made where it is not there.
 *  Collective.
 *  @return DKM_OK; DKM_ERR_IO when neither HOME nor DKMAP_CALIBRATION says where it goes */
DKM_NODISCARD dkm_status calibration_place(run *r, char path[CALIBRATION_PATH]);

/** The name of a rate that no machine has, a time or a rate of 0 or infinity; NULL where all are
 *  sound. The parts of a sum (times of squares beside cubes, of bases beside columns) may be 0, but
 *  not both. Local.
 *  Rates of one rank are all 0 in files of earlier versions. */
const char *calibration_unsound(const calibration *c);

/** Write the file, which appears complete or not at all; rank 0 does. Collective.
 *  @return DKM_OK; DKM_ERR_IO */
DKM_NODISCARD dkm_status calibration_write(run *r, const calibration *c, const char *path);

/** The calibration for as many ranks, or the nearest number below that, else above. Local.
 *  @return 1, or 0 when none was ever made on this machine */
int calibration_find(int ranks, calibration *c);

#endif
