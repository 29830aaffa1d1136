#include "commands.h"

static const command *const methods[] = {&command_fit_krr, &command_fit_kpca, &command_fit_kde,
                                         &command_fit_knn, 0};

const command command_fit = {
    .name = "fit",
    .summary = "learn a model from examples and write it to a file",
    .example = "mpirun -np 4 dkmap fit krr --x x.npy --y y.npy --kx 'rbf(sigma=2)' \\\n"
               "      --gamma 1e-3 -o model.h5",
    .methods = methods,
};
