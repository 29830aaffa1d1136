#define _GNU_SOURCE /* for MAP_ANONYMOUS and dl_iterate_phdr() */
#include <dlfcn.h>
#include <link.h>
#include <malloc.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <dkmap/context.h>

#include "cli/core/args.h"
#include "cli/core/help.h"
#include "cli/core/help_formats.h"
#include "cli/core/run.h"
#include "cli/profile/comm_counter.h"

enum { MPI_BYTES = 200 << 20, CONNECT_SECONDS = 2 };

/* The rank that a launcher gave this process, before MPI is up; NULL without a launcher. */
static const char *launched_rank(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"};
    const char *rank = NULL;

    for (size_t k = 0; !rank && k < sizeof names / sizeof *names; k++)
        rank = getenv(names[k]);
    return rank;
}

static int is_first(void)
{
    const char *rank = launched_rank();

    if (!rank)
        rank = getenv("SLURM_PROCID");
    return !rank || strcmp(rank, "0") == 0;
}

static void print_help(const args *a)
{
    switch (a->help_form) {
    case HELP_TEXT:
        help_print(stdout, a->command);
        break;
    case HELP_MAN:
        help_man(stdout, a->command);
        break;
    case HELP_MARKDOWN:
        help_markdown(stdout, a->command);
        break;
    case HELP_COMPLETION:
        help_completion(stdout);
        break;
    case HELP_NAMES:
        help_names(stdout);
    }
}

static int print_and_leave(const args *a, args_outcome asked)
{
    if (!is_first())
        return 0;
    if (asked == ARGS_VERSION)
        printf("dkmap %s\n", DKMAP_VERSION);
    else
        print_help(a);
    return fflush(stdout) != 0;
}

/* Once: a file of options is read with MPI, before the command runs. */
static void start_mpi(void)
{
    int there, provided;

    MPI_Initialized(&there);
    if (!there)
        MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
}

typedef struct library_names {
    const char *name[512];
    size_t count;
} library_names;

static int note_library(struct dl_phdr_info *info, size_t size, void *user)
{
    library_names *all = user;

    (void)size;
    if (info->dlpi_name[0] && all->count < sizeof all->name / sizeof *all->name)
        all->name[all->count++] = info->dlpi_name;
    return 0;
}

/* MPI_Finalize() of Open MPI 4.1 unloads its components while a progress thread may still call back
 * into one: seldom, on a busy machine, a rank then dies of SIGSEGV when all its work is done. Loaded
 * libraries stay where they are until the process ends. */
static void end_mpi(void)
{
    library_names all = {.count = 0};

    dl_iterate_phdr(note_library, &all);
    for (size_t k = 0; k < all.count; k++)
        (void)dlopen(all.name[k], RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
    MPI_Finalize();
}

/* A launcher ends all ranks when the first one fails: they wait until rank 0 has spoken. */
static int complain(const args *a, args_outcome outcome)
{
    int launched = launched_rank() != NULL;

    if (launched)
        start_mpi();
    if (is_first()) {
        if (outcome == ARGS_NOTHING)
            help_usage(stderr);
        else
            fprintf(stderr, "dkmap: %s\n", a->complaint);
    }
    if (launched) {
        MPI_Barrier(MPI_COMM_WORLD);
        end_mpi();
    }
    return outcome == ARGS_FAILED ? EXIT_FAILED : EXIT_USAGE;
}

/* Open MPI starts a daemon for a process without a launcher, in case it wants to spawn others; that
 * takes longer than many a run, and we never do. Without one all such processes of a user have the
 * same session directory, and must do without it. Other MPIs do not look at these variables. */
static void stay_alone(void)
{
    if (launched_rank() || getenv("OMPI_MCA_ess_singleton_isolated"))
        return;
    setenv("OMPI_MCA_ess_singleton_isolated", "1", 0);
    setenv("OMPI_MCA_orte_create_session_dirs", "0", 0);
}

/* Memory of matrices that come and go is reused by the next ones: what is given back to the system
 * comes anew page by page, which takes longer than to fill it. Blocks beyond REUSED_BLOCK are. */
static void keep_memory(void)
{
#ifdef M_TRIM_THRESHOLD
    enum { REUSED_BLOCK = 32 << 20, REUSED = 64 << 20 };

    mallopt(M_MMAP_THRESHOLD, REUSED_BLOCK);
    mallopt(M_TRIM_THRESHOLD, REUSED);
#endif
}

/* An MPI call failed here; the other ranks may wait for this one for ever. */
static void end_all_ranks(MPI_Comm *comm, int *code, ...)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length, rank = 0;

    (void)comm;
    MPI_Error_string(*code, text, &length);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    fprintf(stderr, "dkmap: [rank %d] MPI failed: %s\n", rank, text);
    fflush(stderr);
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

static void handle_mpi_errors(void)
{
    MPI_Errhandler handler;

    MPI_Comm_create_errhandler(end_all_ranks, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    MPI_Errhandler_free(&handler);
}

/* Whether MPI can have the address space it takes: Open MPI lets ranks wait for ever for messages
 * of one that could not map its shared memory. */
static int has_memory_for_mpi(void)
{
    void *probe = mmap(NULL, MPI_BYTES, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    return probe != MAP_FAILED && munmap(probe, MPI_BYTES) == 0;
}

/* The launcher ends the other ranks when one has left. That of Open MPI 4.1 hangs, or dies of SIGPIPE,
 * if it does so while they connect to it: they get the time to. That of MPICH lets them wait for ever
 * for one that left before MPI_Init(), unless that asks it by the protocol of PMI-1 to end them. */
static int leave_launcher(void)
{
    const char *pmi = getenv("PMI_FD");

    if (pmi)
        dprintf((int)strtol(pmi, NULL, 10), "cmd=abort exitcode=%d\n", EXIT_FAILURE);
    else if (launched_rank())
        sleep(CONNECT_SECONDS);
    return EXIT_FAILURE;
}

static int main_compute(const args *a)
{
    int exit_status;

    if (!has_memory_for_mpi()) {
        fprintf(stderr,
                "dkmap: less than %d MiB of address space to start with: is there a limit "
                "(ulimit -v)? Raise it\n",
                MPI_BYTES >> 20);
        return leave_launcher();
    }
    keep_memory();
    stay_alone();
    start_mpi();
    handle_mpi_errors();
    exit_status = run_command(a, MPI_COMM_WORLD);
    end_mpi();
    return exit_status;
}

/* Rank 0 reads the file of options and all have its text: they must not see different ones. */
static int load_config(void *user, const args *a, const char *path, char **text, size_t *bytes,
                       char *error)
{
    uint64_t size = 0;

    *text = NULL;
    if (args_counts_comm(a))
        comm_counter_load(user);
    if (!launched_rank())
        return config_file_read(path, text, bytes, error);
    start_mpi();
    if (is_first() && config_file_read(path, text, bytes, error))
        size = (uint64_t)*bytes + 1;
    MPI_Bcast(&size, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    MPI_Bcast(error, CONFIG_ERROR, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (size == 0)
        return 0;
    if (!*text)
        *text = malloc(size);
    if (!*text) {
        fprintf(stderr, "dkmap: no memory for %s\n", path);
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILED);
    }
    MPI_Bcast(*text, (int)size, MPI_CHAR, 0, MPI_COMM_WORLD);
    *bytes = size - 1;
    return 1;
}

int main(int argc, char **argv)
{
    const config_loader loader = {.load = load_config, .user = argv};
    args a;
    args_outcome outcome = args_read(&a, argc, argv, &loader);
    int exit_status;

    if (outcome == ARGS_RUN && args_counts_comm(&a))
        comm_counter_load(argv);
    if (outcome == ARGS_HELP || outcome == ARGS_VERSION)
        exit_status = print_and_leave(&a, outcome);
    else if (outcome == ARGS_RUN)
        exit_status = main_compute(&a);
    else
        exit_status = complain(&a, outcome);
    args_free(&a);
    return exit_status;
}
