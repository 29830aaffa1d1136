/* Calibrations: a file of measurements is found, and a plan is made by it. */
#include <stdlib.h>

#include "cli/profile/calibration.h"
#include "fuzz/edit.h"

static void begin(void)
{
    static int begun;
    const char *path = fuzz_file("-1.calibration", "", 0);
    char folder[256];

    if (begun)
        return;
    begun = 1;
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(path, '/') - path), path);
    setenv("DKMAP_CALIBRATION", folder, 1);
    setenv("DKMAP_MACHINE", "f", 1);
    if (!freopen("/dev/null", "w", stdout))
        fuzz_broken("stdout", "cannot be closed");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const plans[] = {
        "plan krr --x 60000x784 --y 60000x10 --kx rbf(sigma=8) --gamma 1e-3 --ranks 64 --memory "
        "64G",
        "plan kpca --x 6000x7 --kx linear --components 20 --ranks 3",
        "plan kde --x 6000x7 --y 6000x3 --kx linear --ky linear --gamma 1 --components 20 --ranks "
        "3",
        "plan jkm --x 600x7 --y 600x3 --kx linear --ranks 2"};
    calibration c;
    int found;

    begin();
    if (size < 1)
        return 0;
    (void)fuzz_file("-1.calibration", data + 1, size - 1);
    fuzz_begin();
    found = calibration_find(1, &c);
    fuzz_end(size, 8);
    if (found) /* else it is the same plan as for the input before */
        (void)edit_run(plans[data[0] % 4], "", size);
    return 0;
}
