/** @file timestamp.h  The moment a file or record was made. */
#ifndef DKMAP_IO_ARCHIVE_TIMESTAMP_H
#define DKMAP_IO_ARCHIVE_TIMESTAMP_H

#define DKM_TIMESTAMP_LENGTH 32

/** Now in UTC, as 2031-12-24T18:00:00Z. Local. */
void dkm_timestamp_now(char stamp[DKM_TIMESTAMP_LENGTH]);

#endif
