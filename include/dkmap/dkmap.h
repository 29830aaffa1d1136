/** @file dkmap.h  All of dkmap: learn maps between arbitrary objects with kernels, on any number of
 *  MPI ranks. */
#ifndef DKMAP_DKMAP_H
#define DKMAP_DKMAP_H

#include <dkmap/arrays.h>
#include <dkmap/bench.h>
#include <dkmap/blas_memory.h>
#include <dkmap/checkpoint.h>
#include <dkmap/complete.h>
#include <dkmap/context.h>
#include <dkmap/cv.h>
#include <dkmap/data.h>
#include <dkmap/dmat.h>
#include <dkmap/eigen.h>
#include <dkmap/estimate.h>
#include <dkmap/extend.h>
#include <dkmap/extrapolate.h>
#include <dkmap/features.h>
#include <dkmap/folds.h>
#include <dkmap/gram_eval.h>
#include <dkmap/grid.h>
#include <dkmap/hopfield.h>
#include <dkmap/jkm.h>
#include <dkmap/joint.h>
#include <dkmap/kde.h>
#include <dkmap/kernel.h>
#include <dkmap/kernel_alignment.h>
#include <dkmap/kernel_callback.h>
#include <dkmap/kmeans.h>
#include <dkmap/knn.h>
#include <dkmap/kpca.h>
#include <dkmap/krr.h>
#include <dkmap/landmarks.h>
#include <dkmap/lle.h>
#include <dkmap/method.h>
#include <dkmap/model.h>
#include <dkmap/model_parts.h>
#include <dkmap/montage.h>
#include <dkmap/nystroem.h>
#include <dkmap/preimage.h>
#include <dkmap/psd.h>
#include <dkmap/random.h>
#include <dkmap/report.h>
#include <dkmap/ridge.h>
#include <dkmap/ridge_path.h>
#include <dkmap/runlog.h>
#include <dkmap/score.h>
#include <dkmap/settings.h>
#include <dkmap/status.h>
#include <dkmap/store.h>
#include <dkmap/svm.h>
#include <dkmap/svm_dual.h>
#include <dkmap/types.h>
#include <dkmap/version.h>

#endif
