/** @file bench.h  What the benches share: objects to work on, turns that are timed, and what is
 * reported of them.
 *
 *  A bench opens its objects and then takes turns. Each turn times one thing, reckons the floating
 *  point operations that the thing is worth, and measures how wrong its result is: without that
 *  there is no number. Every turn leaves one line in the record; the fastest and the median one are
 *  printed. Nothing is run beforehand to warm up.
 */
#ifndef DKMAP_CLI_BENCH_BENCH_H
#define DKMAP_CLI_BENCH_BENCH_H

#include <dkmap/kernel.h>

#include "cli/core/run.h"

enum { BENCH_NOTES = 16 };

/** A result of a turn beside those that every turn has. */
typedef struct bench_note {
    const char *name, *text; /**< a text, or else a number */
    double number;
} bench_note;

typedef struct bench_turn {
    double seconds;   /**< of the slowest rank */
    double flops;     /**< that the work is worth, of all ranks; 0 where none are counted */
    double gemm_rate; /**< of all ranks together just before; 0 when not measured */
    double residual;  /**< how wrong the result is, relative; NaN until it is known */
    int count;
    bench_note notes[BENCH_NOTES];
} bench_turn;

typedef struct bench {
    run *r;
    dkm_ctx *ctx;
    dkm_grid *grid;
    dkm_kernel *kernel;
    dkm_data *X;
    dkm_prepared *prepared; /**< X for the kernel; NULL until a bench makes it */
    dkm_idx n, d, nb;
    double sigma;            /**< of the rbf kernel of dense rows */
    dkm_precision precision; /**< of the matrix and of the gemm it is held against */
    int against_gemm;        /**< whether gemm is measured at all */
} bench;

/** Time one thing. Collective; fills @p t apart from its gemm_rate. */
typedef dkm_status bench_work(bench *b, bench_turn *t);

/** Objects, grid and kernel rbf for a bench on dense rows: those of --x, or generated. Collective;
 *  bench_close() frees, also after a failure. */
DKM_NODISCARD dkm_status bench_open(bench *b, run *r, dkm_precision precision);
/** The same without the kernel, for a bench that needs no matrix of all objects. Collective. */
DKM_NODISCARD dkm_status bench_open_rows(bench *b, run *r, dkm_precision precision);
/** Grid and block for @p n objects. Collective. */
DKM_NODISCARD dkm_status bench_open_grid(bench *b, dkm_idx n);
void bench_close(bench *b);

/** How many objects there are to be: --n, or all of --x, which has @p rows of them. Collective. */
DKM_NODISCARD dkm_status bench_count(bench *b, dkm_idx rows);

/** Take --repeat turns, record each and tell of all. Collective. */
DKM_NODISCARD dkm_status bench_run(bench *b, bench_work *work);

/** Start the clock when all ranks are here, and the seconds since then of the slowest. Collective.
 */
double bench_start(bench *b);
double bench_stop(bench *b, double begun);

/** Note a result of a turn. Local. @p name and @p text outlive the turn. */
void bench_note_real(bench_turn *t, const char *name, double number);
void bench_note_text(bench_turn *t, const char *name, const char *text);

/** Seconds that the slowest rank spent in a phase of this turn. Collective.
 *  @param[out] calls  may be NULL: how often it was entered */
double bench_phase(bench *b, const char *name, dkm_idx *calls);

/** A new m x cols matrix of normal numbers in blocks of nb. Collective. */
DKM_NODISCARD dkm_status bench_random(bench *b, dkm_idx cols, dkm_precision precision,
                                      dkm_dmat **Y);

/** Kernel of two objects, the @p il-th of this rank's of A and of B, by its definition. Local. */
typedef double bench_definition(const bench *b, const dkm_data *A, const dkm_data *B, dkm_idx il);

/** Largest difference between some entries of K and what the definition says. Collective.
 *  @param[in] each  entries a rank, about */
DKM_NODISCARD dkm_status bench_sample(bench *b, const dkm_dmat *K, dkm_idx each,
                                      bench_definition *definition, double *worst);

#define ROW_N                                                                                      \
    {                                                                                              \
        .name = "n", .kind = OPT_INT, .metavar = "N", .min = 1,                                    \
        .help = "how many objects; of those of --x the first"                                      \
    }
#define ROW_REPEAT                                                                                 \
    {                                                                                              \
        .name = "repeat", .kind = OPT_INT, .metavar = "R", .min = 1, .max = 1000,                  \
        .default_text = "3",                                                                       \
        .help = "how often to measure: the fastest and the median time are reported"               \
    }
#define ROW_DENSE                                                                                  \
    {                                                                                              \
        .name = "x", .kind = OPT_TEXT, .metavar = "FILE",                                          \
        .help = "dense rows to take instead of "                                                   \
                "generated ones"                                                                   \
    }
#define ROW_D                                                                                      \
    {                                                                                              \
        .name = "d", .kind = OPT_INT, .metavar = "D", .min = 1, .default_text = "784",             \
        .help = "columns of generated rows"                                                        \
    }
#define ROW_SIGMA                                                                                  \
    {                                                                                              \
        .name = "sigma", .kind = OPT_REAL, .metavar = "S", .default_text = "0",                    \
        .help = "width of the rbf kernel; 0 takes the square root of the columns"                  \
    }
#define ROW_GAMMA(value)                                                                           \
    {                                                                                              \
        .name = "gamma", .kind = OPT_REAL, .metavar = "G", .default_text = value,                  \
        .help = "ridge > 0 that is added to the diagonal of the kernel matrix"                     \
    }
#define ROW_GEMM                                                                                   \
    {                                                                                              \
        .name = "gemm", .kind = OPT_INT, .metavar = "N", .min = 1, .max = 32768,                   \
        .default_text = "2048", .help = "order of the matrices multiplied for comparison"          \
    }
#define ROW_MATRIX_PRECISION                                                                       \
    {                                                                                              \
        .name = "precision", .kind = OPT_CHOICE, .choices = "double|single|",                      \
        .default_text = "double", .help = "of the matrix"                                          \
    }

/** The value of ROW_MATRIX_PRECISION. */
dkm_precision bench_matrix_precision(const run *r);

#endif
