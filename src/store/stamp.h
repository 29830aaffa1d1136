/** @file stamp.h  The moment a file or record was made. */
#ifndef DKMAP_STAMP_H
#define DKMAP_STAMP_H

#define DKM_STAMP_LENGTH 32

/** Now in UTC, as 2031-12-24T18:00:00Z. Local. */
void dkm_stamp_now(char stamp[DKM_STAMP_LENGTH]);

#endif
