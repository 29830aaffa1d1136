// An inverted file of faiss behind a C interface. No exception leaves this file.
#include "search/faiss_index.h"

#include <faiss/IndexFlat.h>
#include <faiss/IndexIVFFlat.h>
#include <faiss/IndexScalarQuantizer.h>
#include <omp.h>

#include <cstdio>
#include <exception>
#include <memory>

struct dkm_faiss {
    faiss::IndexFlatL2 centers;
    std::unique_ptr<faiss::IndexIVF> index;
    int threads;

    explicit dkm_faiss(const dkm_faiss_shape &shape) : centers(shape.d), threads(shape.threads)
    {
        size_t d = (size_t)shape.d, cells = (size_t)shape.cells;
        if (shape.bytes)
            index.reset(new faiss::IndexIVFScalarQuantizer(&centers, d, cells,
                                                           faiss::ScalarQuantizer::QT_8bit));
        else
            index.reset(new faiss::IndexIVFFlat(&centers, d, cells));
        index->cp.min_points_per_centroid = 1; // no warnings on stderr
    }
};

namespace
{
template <typename step> int guarded(char *why, step what)
{
    try {
        what();
        return 0;
    } catch (const std::exception &e) {
        std::snprintf(why, DKM_FAISS_WHY, "faiss: %s", e.what());
    } catch (...) {
        std::snprintf(why, DKM_FAISS_WHY, "faiss failed");
    }
    return 1;
}

// The threads of a rank, and then again those of its caller.
class thread_count
{
    int before = omp_get_max_threads();

  public:
    explicit thread_count(int threads)
    {
        omp_set_num_threads(threads > 0 ? threads : 1);
    }
    ~thread_count()
    {
        omp_set_num_threads(before);
    }
    thread_count(const thread_count &) = delete;
    thread_count &operator=(const thread_count &) = delete;
};
} // namespace

int dkm_faiss_available(void)
{
    return 1;
}

int dkm_faiss_create(const dkm_faiss_shape *shape, dkm_faiss **index, char why[DKM_FAISS_WHY])
{
    *index = nullptr;
    return guarded(why, [&] { *index = new dkm_faiss(*shape); });
}

int dkm_faiss_train(dkm_faiss *index, int64_t n, const float *x, char why[DKM_FAISS_WHY])
{
    thread_count threads(index->threads);
    return guarded(why, [&] { index->index->train(n, x); });
}

int dkm_faiss_add(dkm_faiss *index, int64_t n, const float *x, char why[DKM_FAISS_WHY])
{
    thread_count threads(index->threads);
    return guarded(why, [&] { index->index->add(n, x); });
}

int dkm_faiss_search(dkm_faiss *index, int64_t n, const float *x, int64_t k, int64_t probes,
                     float *distance, int64_t *number, char why[DKM_FAISS_WHY])
{
    static_assert(sizeof(faiss::Index::idx_t) == sizeof(int64_t), "numbers of 64 bits");
    thread_count threads(index->threads);
    return guarded(why, [&] {
        index->index->nprobe = (size_t)probes;
        index->index->search(n, x, k, distance, reinterpret_cast<faiss::Index::idx_t *>(number));
    });
}

void dkm_faiss_destroy(dkm_faiss **index)
{
    delete *index;
    *index = nullptr;
}
