#include "kernels/evaluation/kernel_impl.h"

/* A new kind of kernel is a file that defines dkm_kernel_class_<name>, and its name in this list.
 */
#define KINDS(X)                                                                                   \
    X(linear)                                                                                      \
    X(poly)                                                                                        \
    X(rbf)                                                                                         \
    X(rbf_of)                                                                                      \
    X(matern)                                                                                      \
    X(rq)                                                                                          \
    X(tanimoto)                                                                                    \
    X(laplace)                                                                                     \
    X(expdot)                                                                                      \
    X(cosine)                                                                                      \
    X(class)                                                                                       \
    X(labels)                                                                                      \
    X(set)                                                                                         \
    X(spectrum)                                                                                    \
    X(strings)                                                                                     \
    X(mismatch)                                                                                    \
    X(ssk)                                                                                         \
    X(ssk_gaps)                                                                                    \
    X(smith_waterman)                                                                              \
    X(align)                                                                                       \
    X(weighted_degree)                                                                             \
    X(gram)                                                                                        \
    X(distance)                                                                                    \
    X(extend)                                                                                      \
    X(diffusion)                                                                                   \
    X(weisfeiler_lehman)                                                                           \
    X(local_patch)                                                                                 \
    X(on)                                                                                          \
    X(sum)                                                                                         \
    X(product)                                                                                     \
    X(scale)                                                                                       \
    X(power)                                                                                       \
    X(exp)                                                                                         \
    X(normalize)                                                                                   \
    X(rownorm)

#define DECLARE(name) extern const dkm_kernel_class dkm_kernel_class_##name;
KINDS(DECLARE)

#define ADDRESS(name) &dkm_kernel_class_##name,
const dkm_kernel_class *const dkm_kernel_registry[] = {KINDS(ADDRESS) NULL};
