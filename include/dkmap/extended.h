/** @file extended.h  The extended tier: everything that the library offers beside the basic tier of
 *  dkmap.h. It may change with every version; programs that use it are to be compiled again. */
#ifndef DKMAP_EXTENDED_H
#define DKMAP_EXTENDED_H

#include <dkmap/dkmap.h>

#include <dkmap/bench.h>
#include <dkmap/blas_memory.h>
#include <dkmap/categories.h>
#include <dkmap/checkpoint.h>
#include <dkmap/complete.h>
#include <dkmap/conformal.h>
#include <dkmap/cv.h>
#include <dkmap/describe.h>
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
#include <dkmap/kernel_alignment.h>
#include <dkmap/kmeans.h>
#include <dkmap/knn.h>
#include <dkmap/kpca.h>
#include <dkmap/krr.h>
#include <dkmap/landmarks.h>
#include <dkmap/lle.h>
#include <dkmap/machine.h>
#include <dkmap/montage.h>
#include <dkmap/nystroem.h>
#include <dkmap/preimage.h>
#include <dkmap/psd.h>
#include <dkmap/random.h>
#include <dkmap/ridge.h>
#include <dkmap/ridge_path.h>
#include <dkmap/runlog.h>
#include <dkmap/score.h>
#include <dkmap/svm.h>
#include <dkmap/svm_dual.h>
#include <dkmap/table.h>
#include <dkmap/update.h>

#endif
