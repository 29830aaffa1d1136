/** @file dkmap.h  All of dkmap: learn maps between arbitrary objects with kernels, on any number of
 *  MPI ranks. */
#ifndef DKMAP_H
#define DKMAP_H

#include <dkmap/align.h>
#include <dkmap/bench.h>
#include <dkmap/blas_memory.h>
#include <dkmap/checkpoint.h>
#include <dkmap/complete.h>
#include <dkmap/context.h>
#include <dkmap/cv.h>
#include <dkmap/data.h>
#include <dkmap/dmat.h>
#include <dkmap/eigen.h>
#include <dkmap/extend.h>
#include <dkmap/extrapolate.h>
#include <dkmap/features.h>
#include <dkmap/folds.h>
#include <dkmap/grid.h>
#include <dkmap/hopfield.h>
#include <dkmap/jkm.h>
#include <dkmap/joint.h>
#include <dkmap/kde.h>
#include <dkmap/kernel.h>
#include <dkmap/kmeans.h>
#include <dkmap/knn.h>
#include <dkmap/kpca.h>
#include <dkmap/krr.h>
#include <dkmap/landmarks.h>
#include <dkmap/lle.h>
#include <dkmap/margin.h>
#include <dkmap/model.h>
#include <dkmap/nystroem.h>
#include <dkmap/picture.h>
#include <dkmap/preimage.h>
#include <dkmap/psd.h>
#include <dkmap/random.h>
#include <dkmap/record.h>
#include <dkmap/ridge.h>
#include <dkmap/ridge_path.h>
#include <dkmap/score.h>
#include <dkmap/status.h>
#include <dkmap/store.h>
#include <dkmap/svm.h>
#include <dkmap/trial.h>
#include <dkmap/types.h>

#endif
