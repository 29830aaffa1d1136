// Trains dlib's structural_sequence_labeling_trainer on strings with a letter for each position, and
// prints the seconds it took, the objective it reached,
//
//     1/2 sum of squares of all weights
//     + C times the mean over the strings of max_y (wrong letters of y + score of y - own score),
//
// and the share of wrong letters of other strings. Features are the characters of a window around each
// position, one-hot, and pairs of neighbouring labels.
//
// usage: dlib_sequences X.txt Y.txt TEST_X.txt TEST_Y.txt WINDOW C EPSILON THREADS
#include <dlib/svm_threaded.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <set>
#include <string>
#include <vector>

typedef std::vector<int> codes; // with half a window at both ends

class extractor
{
  public:
    struct sequence_type {
        codes code;
        long length;
        unsigned long size() const { return (unsigned long)length; }
    };
    long window = 0, letters = 0, labels = 0;

    unsigned long num_features() const { return (unsigned long)((window * letters + labels) * labels); }
    unsigned long order() const { return 1; }
    unsigned long num_labels() const { return (unsigned long)labels; }

    template <typename setter, typename EXP>
    void get_features(setter &set, const sequence_type &x, const dlib::matrix_exp<EXP> &y,
                      unsigned long position) const
    {
        for (long o = 0; o < window; o++)
            set((unsigned long)((o * letters + x.code[position + o]) * labels) + y(0));
        if (y.size() > 1)
            set((unsigned long)((window * letters + (long)y(1)) * labels) + y(0));
    }
    friend void serialize(const extractor &, std::ostream &) {}
    friend void deserialize(extractor &, std::istream &) {}
};

typedef std::vector<extractor::sequence_type> inputs;
typedef std::vector<std::vector<unsigned long>> outputs;

static std::vector<std::string> lines(const char *name)
{
    std::vector<std::string> all;
    std::ifstream in(name);
    for (std::string line; std::getline(in, line);)
        all.push_back(line);
    return all;
}

static std::string distinct(const std::vector<std::string> &all)
{
    std::set<char> seen;
    for (const std::string &line : all)
        seen.insert(line.begin(), line.end());
    return std::string(seen.begin(), seen.end());
}

static void encode(const std::vector<std::string> &x, const std::vector<std::string> &y,
                   const std::string &alphabet, const std::string &labels, long window, inputs &X,
                   outputs &Y)
{
    for (size_t i = 0; i < x.size(); i++) {
        extractor::sequence_type one;
        one.code.assign(x[i].size() + (size_t)window - 1, (int)alphabet.size());
        one.length = (long)x[i].size();
        std::vector<unsigned long> truth;
        for (size_t t = 0; t < x[i].size(); t++) {
            one.code[t + (size_t)window / 2] = (int)std::min(alphabet.find(x[i][t]), alphabet.size());
            truth.push_back(labels.find(y[i][t]));
        }
        X.push_back(one);
        Y.push_back(truth);
    }
}

// Best score by Viterbi, with the loss added in, minus that of the truth.
static double slack(const extractor &fe, const dlib::matrix<double, 0, 1> &w,
                    const extractor::sequence_type &x, const std::vector<unsigned long> &truth)
{
    std::vector<double> before, here(fe.num_labels());
    double own = 0;
    const long pairs = fe.window * fe.letters * fe.labels;
    for (size_t t = 0; t < x.size(); t++) {
        for (long c = 0; c < fe.labels; c++) {
            double g = (unsigned long)c != truth[t];
            for (long o = 0; o < fe.window; o++)
                g += w((o * fe.letters + x.code[t + o]) * fe.labels + c);
            if ((unsigned long)c == truth[t])
                own += g + (t > 0 ? w(pairs + (long)truth[t - 1] * fe.labels + c) : 0);
            double best = t > 0 ? -1e300 : 0;
            for (long p = 0; t > 0 && p < fe.labels; p++)
                best = std::max(best, before[p] + w(pairs + p * fe.labels + c));
            here[c] = best + g;
        }
        before = here;
    }
    return *std::max_element(before.begin(), before.end()) - own;
}

int main(int argc, char **argv)
{
    if (argc != 9)
        return std::fprintf(stderr, "usage: see the head of this file\n"), 2;
    const std::vector<std::string> x = lines(argv[1]), y = lines(argv[2]);
    const std::string alphabet = distinct(x), labels = distinct(y);
    const double C = std::atof(argv[6]);
    extractor fe;
    inputs X, test;
    outputs Y, test_truth;

    fe.window = std::atol(argv[5]);
    fe.letters = (long)alphabet.size() + 1;
    fe.labels = (long)labels.size();
    encode(x, y, alphabet, labels, fe.window, X, Y);
    encode(lines(argv[3]), lines(argv[4]), alphabet, labels, fe.window, test, test_truth);
    dlib::structural_sequence_labeling_trainer<extractor> trainer(fe);
    trainer.set_c(C);
    trainer.set_epsilon(std::atof(argv[7]));
    trainer.set_num_threads((unsigned long)std::atol(argv[8]));
    const auto start = std::chrono::steady_clock::now();
    const dlib::sequence_labeler<extractor> f = trainer.train(X, Y);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    double losses = 0, wrong = 0, positions = 0;
    for (size_t i = 0; i < X.size(); i++)
        losses += slack(fe, f.get_weights(), X[i], Y[i]);
    for (size_t i = 0; i < test.size(); i++) {
        const std::vector<unsigned long> found = f(test[i]);
        for (size_t t = 0; t < found.size(); t++, positions++)
            wrong += found[t] != test_truth[i][t];
    }
    std::printf("seconds %.3f\nobjective %.6f\nwrong %.6f\n", seconds.count(),
                0.5 * dlib::sum(dlib::squared(f.get_weights())) + C * losses / (double)X.size(),
                wrong / positions);
    return 0;
}
