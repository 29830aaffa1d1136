// Trains dlib's svm_multiclass_linear_trainer on rows and labels, and prints the seconds it took and
// the objective it reached,
//
//     1/2 sum of squares of all weights, thresholds included
//     + C times the mean over the examples of max(0, 1 + score of the best wrong class - own score).
//
// usage: dlib_multiclass ROWS.npy LABELS.npy C EPSILON THREADS     (float64 rows, int64 labels)
#include <dlib/svm_threaded.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

typedef dlib::matrix<double, 0, 1> sample;
typedef dlib::linear_kernel<sample> kernel;

// The numbers of a .npy file of the type that `kind` says; `cols` is 1 where it has one dimension.
template <typename number>
static std::vector<number> read_npy(const char *name, const std::string &kind, long &rows, long &cols)
{
    std::ifstream in(name, std::ios::binary);
    char head[10];
    in.read(head, sizeof head);
    if (!in || std::string(head + 1, 5) != "NUMPY")
        throw std::runtime_error(std::string(name) + " is not a .npy file");
    std::string text((unsigned char)head[8] + 256 * (unsigned char)head[9], ' ');
    in.read(&text[0], (std::streamsize)text.size());
    if (text.find(kind) == std::string::npos || text.find("'fortran_order': False") == std::string::npos)
        throw std::runtime_error(std::string(name) + " does not hold rows of " + kind);
    cols = 1;
    const char *shape = text.c_str() + text.find("'shape': (") + 10;
    if (std::sscanf(shape, "%ld, %ld", &rows, &cols) < 1)
        throw std::runtime_error(std::string(name) + " has no shape");
    std::vector<number> values(rows * cols);
    in.read((char *)values.data(), (std::streamsize)(values.size() * sizeof(number)));
    if (!in)
        throw std::runtime_error(std::string(name) + " ends early");
    return values;
}

static double objective(const dlib::multiclass_linear_decision_function<kernel, long> &f,
                        const std::vector<sample> &x, const std::vector<long> &y, double C)
{
    double losses = 0;
    for (size_t i = 0; i < x.size(); i++) {
        const sample scores = f.weights * x[i] - f.b;
        double own = 0, wrong = -1e300;
        for (size_t k = 0; k < f.labels.size(); k++)
            if (f.labels[k] == y[i])
                own = scores(k);
            else
                wrong = std::max(wrong, scores(k));
        losses += std::max(0.0, 1 + wrong - own);
    }
    return 0.5 * (dlib::sum(dlib::squared(f.weights)) + dlib::sum(dlib::squared(f.b))) +
           C * losses / (double)x.size();
}

int main(int argc, char **argv)
{
    if (argc != 6) {
        std::fprintf(stderr, "usage: dlib_multiclass ROWS.npy LABELS.npy C EPSILON THREADS\n");
        return 2;
    }
    try {
        long rows = 0, cols = 0, labels = 0, one = 0;
        const std::vector<double> X = read_npy<double>(argv[1], "<f8", rows, cols);
        const std::vector<int64_t> Y = read_npy<int64_t>(argv[2], "<i8", labels, one);
        std::vector<sample> x(rows);
        std::vector<long> y(Y.begin(), Y.end());
        for (long i = 0; i < rows; i++)
            x[i] = dlib::mat(&X[i * cols], cols);
        dlib::svm_multiclass_linear_trainer<kernel, long> trainer;
        trainer.set_c(std::stod(argv[3]));
        trainer.set_epsilon(std::stod(argv[4]));
        trainer.set_num_threads(std::stoul(argv[5]));
        const auto begun = std::chrono::steady_clock::now();
        const auto f = trainer.train(x, y);
        const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begun;
        std::printf("seconds %.6g\nobjective %.10g\n", spent.count(), objective(f, x, y, trainer.get_c()));
    } catch (const std::exception &e) {
        std::fprintf(stderr, "peer_dlib: %s\n", e.what());
        return 1;
    }
    return 0;
}
