/* The method extend, which `dkmap extend fit` fits: its models are saved and loaded like all
 * others. */
#include "models/registry/method_impl.h"

const dkm_method dkm_method_extend = {.name = "extend", .classes = {&dkm_class_extend}};
