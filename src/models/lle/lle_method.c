/* The method lle, which `dkmap embed lle` fits: its models are saved and loaded like all others. */
#include "models/registry/method_impl.h"

const dkm_method dkm_method_lle = {.name = "lle", .classes = {&dkm_class_lle}};
