#include "io/stream/spool.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/alloc.h"
#include "core/mpi_calls.h"
#include "io/path.h"

enum { SPOOLS = 16, PIECE = 1 << 20, NAME_BYTES = 1024, HEAD = 4096 };

/* Standard input and pipes belong to the process, and so do their copies: whoever opens the same
 * name again must find what was read the first time. */
static struct spool {
    char *path;
    char real[40]; /* by the descriptor: the file has no name */
} spools[SPOOLS];
static int spool_count;

int dkm_path_is_standard(const char *path)
{
    return path[0] == '-' && (path[1] == '\0' || path[1] == '.' || path[1] == '[');
}

/* Standard input is one, whatever ending or slice stands behind its name. */
static const char *key_of(const char *path)
{
    return dkm_path_is_standard(path) ? "-" : path;
}

const char *dkm_spool_path(const char *path)
{
    for (int k = 0; k < spool_count; k++)
        if (strcmp(spools[k].path, key_of(path)) == 0)
            return spools[k].real;
    return path;
}

int dkm_nameless_file(char *name, size_t size)
{
    const char *folder = getenv("TMPDIR");
    char own[NAME_BYTES], *path = name ? name : own;
    int fd;

    snprintf(path, name ? size : sizeof own, "%s/dkmap-XXXXXX",
             folder && *folder ? folder : "/tmp");
    fd = mkstemp(path);
    if (fd >= 0)
        (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
    if (fd >= 0 && !name)
        unlink(path);
    return fd;
}

static int is_pipe(const char *path)
{
    struct stat about;

    if (dkm_path_is_standard(path))
        return 1;
    return stat(path, &about) == 0 && (S_ISFIFO(about.st_mode) || S_ISCHR(about.st_mode));
}

typedef struct spooler {
    dkm_ctx *ctx;
    const char *path;
    char name[NAME_BYTES]; /* of the node's copy, until all have it open */
    int from, to;          /* descriptors: of the pipe on rank 0, of the copy */
    int writes;            /* whether this rank writes the copy of its node */
    char *piece;
    dkm_idx total;
} spooler;

static dkm_local spool_failed(const spooler *s, const char *what)
{
    return dkm_fail(s->ctx, DKM_ERR_IO, "%s: cannot %s: %s", s->path, what, strerror(errno));
}

static dkm_local begin_copy(spooler *s)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_alloc(s->ctx, PIECE, &s->piece));
    if (spool_count == SPOOLS)
        DKM_STEP(dkm_fail(s->ctx, DKM_ERR_ARG, "%s: more than %d pipes", s->path, SPOOLS));
    if (dkm_ctx_rank(s->ctx) == 0) {
        s->from = dkm_path_is_standard(s->path) ? dup(STDIN_FILENO)
                                                : dkm_path_open(s->path, O_RDONLY | O_CLOEXEC, 0);
        if (s->from < 0)
            DKM_STEP(spool_failed(s, "read"));
    }
    if (s->writes) {
        s->to = dkm_nameless_file(s->name, sizeof s->name);
        if (s->to < 0)
            local = spool_failed(s, "keep it in a temporary file (TMPDIR names a place for it)");
    }
out:
    return local;
}

/* The first rank of a node has made the copy; the others open it. */
static dkm_local join_copy(spooler *s)
{
    if (s->to < 0)
        s->to = dkm_path_open(s->name, O_RDONLY | O_CLOEXEC, 0);
    return s->to < 0 ? spool_failed(s, "open its copy") : DKM_LOCAL_OK;
}

int dkm_write_all(int fd, const char *bytes, dkm_idx count)
{
    while (count > 0) {
        ssize_t done = write(fd, bytes, (size_t)count);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return 0;
        bytes += done;
        count -= done;
    }
    return 1;
}

/* All of the pipe, piece by piece. Collective; a failure is this rank's own. */
static dkm_local pump(spooler *s)
{
    MPI_Comm comm = dkm_ctx_comm(s->ctx);
    dkm_local local = DKM_LOCAL_OK;
    long long count = 1;

    while (count > 0) {
        if (s->from >= 0)
            do
                count = read(s->from, s->piece, PIECE);
            while (count < 0 && errno == EINTR);
        if (count < 0 && s->from >= 0)
            local = spool_failed(s, "read");
        MPI_Bcast(&count, 1, MPI_LONG_LONG, 0, comm);
        if (count > 0)
            MPI_Bcast(s->piece, (int)count, MPI_CHAR, 0, comm);
        if (count > 0 && s->writes && local.code == DKM_OK &&
            !dkm_write_all(s->to, s->piece, count))
            local = spool_failed(s, "keep it in a temporary file (TMPDIR names a place for it)");
        s->total += count > 0 ? count : 0;
    }
    return local;
}

static dkm_local keep_copy(spooler *s)
{
    struct spool *entry = &spools[spool_count];
    dkm_local local = DKM_LOCAL_OK;

    if (s->total == 0)
        return dkm_fail(s->ctx, DKM_ERR_FORMAT, "%s is empty: nothing came through %s", s->path,
                        dkm_path_is_standard(s->path) ? "standard input" : "the pipe");
    entry->path = strdup(key_of(s->path));
    if (!entry->path)
        return dkm_fail(s->ctx, DKM_ERR_MEMORY, "no memory for a name");
    snprintf(entry->real, sizeof entry->real, "/proc/self/fd/%d", s->to);
    s->to = -1;
    spool_count++;
    return local;
}

static dkm_status copy_pipe(spooler *s)
{
    dkm_status status = DKM_OK;
    MPI_Comm node = MPI_COMM_NULL;
    int place = 0;

    dkm_mpi_split_node(s->ctx, &node);
    if (node != MPI_COMM_NULL)
        MPI_Comm_rank(node, &place);
    s->writes = place == 0;
    DKM_AGREE(s->ctx, begin_copy(s));
    if (node != MPI_COMM_NULL)
        MPI_Bcast(s->name, NAME_BYTES, MPI_CHAR, 0, node);
    DKM_AGREE(s->ctx, join_copy(s));
    if (s->writes)
        unlink(s->name);
    s->name[0] = '\0';
    DKM_AGREE(s->ctx, pump(s));
    DKM_AGREE(s->ctx, keep_copy(s));
out:
    if (s->writes && s->name[0])
        unlink(s->name);
    if (node != MPI_COMM_NULL)
        MPI_Comm_free(&node);
    return status;
}

dkm_status dkm_spool(dkm_ctx *ctx, const char *path)
{
    spooler s = {.ctx = ctx, .path = path, .from = -1, .to = -1};
    int wanted = dkm_ctx_rank(ctx) == 0 && dkm_spool_path(path) == path && is_pipe(path);
    dkm_status status;

    MPI_Bcast(&wanted, 1, MPI_INT, 0, dkm_ctx_comm(ctx));
    if (!wanted)
        return DKM_OK;
    status = copy_pipe(&s);
    if (s.from >= 0)
        close(s.from);
    if (s.to >= 0)
        close(s.to);
    DKM_FREE(s.piece);
    return status;
}

/* Whether a line looks like a row of svmlight: numbers with a colon behind the first word. */
static int looks_sparse(const char *line)
{
    const char *word = line + strcspn(line, " \t\n"), *colon;

    word += strspn(word, " \t");
    colon = word + strspn(word, "0123456789");
    return colon > word && *colon == ':';
}

static const char *ending_of(const char *head)
{
    const char *line = head;

    if (memcmp(head, "\x93NUMPY", 6) == 0)
        return ".npy";
    if (memcmp(head, "\x89HDF", 4) == 0)
        return ".h5";
    if (strncasecmp(head, "%%MatrixMarket", 14) == 0)
        return ".mtx";
    while (*line == '#' || *line == '%' || *line == '\n' || *line == '\r') {
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
    if (strncasecmp(line, "@relation", 9) == 0)
        return ".arff";
    if (looks_sparse(line))
        return ".svm";
    return memchr(line, '\t', strcspn(line, "\n")) && !memchr(line, ',', strcspn(line, "\n"))
               ? ".tsv"
               : ".csv";
}

const char *dkm_spool_ending(const char *path)
{
    char head[HEAD + 1] = "";
    int fd = dkm_path_open(dkm_spool_path(path), O_RDONLY | O_CLOEXEC, 0);

    if (fd >= 0 && read(fd, head, HEAD) < 0)
        head[0] = '\0';
    if (fd >= 0)
        close(fd);
    return ending_of(head);
}
