#include "io/archive/timestamp.h"

#include <stddef.h>
#include <time.h>

void dkm_timestamp_now(char stamp[DKM_TIMESTAMP_LENGTH])
{
    time_t now = time(NULL);
    struct tm utc;

    if (!gmtime_r(&now, &utc) || !strftime(stamp, DKM_TIMESTAMP_LENGTH, "%Y-%m-%dT%H:%M:%SZ", &utc))
        stamp[0] = '\0';
}
