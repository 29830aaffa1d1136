/* The list of all methods: one line each. */
#include <string.h>

#include "models/registry/method_impl.h"

#define METHODS(X)                                                                                 \
    X(krr)                                                                                         \
    X(kpca)                                                                                        \
    X(kde)                                                                                         \
    X(knn)                                                                                         \
    X(svm)                                                                                         \
    X(hopfield)                                                                                    \
    X(jkm)                                                                                         \
    X(extend)                                                                                      \
    X(lle)

#define DECLARE(name) extern const dkm_method dkm_method_##name;
#define LINE(name)    &dkm_method_##name,
METHODS(DECLARE)
static const dkm_method *const methods[] = {METHODS(LINE) NULL};

const dkm_method *dkm_registry_at(int k)
{
    return k >= 0 && (size_t)k < sizeof methods / sizeof *methods ? methods[k] : NULL;
}

const dkm_model_class *dkm_registry_class(const char *name)
{
    for (int k = 0; methods[k]; k++)
        for (int c = 0; c < DKM_METHOD_CLASSES && methods[k]->classes[c]; c++)
            if (strcmp(methods[k]->classes[c]->name, name) == 0)
                return methods[k]->classes[c];
    return NULL;
}
