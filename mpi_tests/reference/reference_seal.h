/** @file reference_seal.h  Seal a model file again that was changed by other means. */
#ifndef DKMAP_REFERENCE_SEAL_H
#define DKMAP_REFERENCE_SEAL_H

/** Put a seal behind the last byte of a file that has none. Local.
 *  @return 0, or -1 when the file cannot be read or written */
int reference_seal(const char *path);

/** The same with the seal of format 2. Local. */
int reference_seal_format_2(const char *path);

#endif
