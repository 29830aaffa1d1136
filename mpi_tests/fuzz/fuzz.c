#include "fuzz/fuzz.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <dkmap/store.h>
#include <hdf5.h>

#include "core/alloc.h"

#define FILES 24

enum { PATH_ROOM = 256 };

/* A file that is written again and again. */
typedef struct slot {
    char ending[32], path[PATH_ROOM];
    int fd;
} slot;

static struct {
    dkm_ctx *ctx;
    char dir[64];
    slot slots[FILES];
    int slot_count;
    dkm_data *objects[FUZZ_KINDS];
    dkm_idx live;
    int64_t largest; /* over all inputs */
    long inputs;
    long opened;     /* by readers */
    long understood; /* of these, read whole by what the file itself says */
} all;

static void hear_nothing(void *user, dkm_level level, const char *text)
{
    (void)user;
    (void)level;
    (void)text;
}

static void remove_files(void)
{
    for (int k = 0; k < all.slot_count; k++)
        unlink(all.slots[k].path);
    rmdir(all.dir);
}

static void finish(void)
{
    fprintf(stderr, "fuzz: %ld inputs, largest block %lld bytes\n", all.inputs,
            (long long)all.largest);
    for (int k = 0; k < FUZZ_KINDS; k++)
        dkm_data_destroy(&all.objects[k]);
    dkm_ctx_destroy(&all.ctx);
    remove_files();
    MPI_Finalize();
}

static void make_folder(void)
{
    static const char *const places[] = {"/dev/shm", "/tmp"};

    for (int k = 0; k < 2; k++) {
        snprintf(all.dir, sizeof all.dir, "%s/dkmap-fuzz.XXXXXX", places[k]);
        if (mkdtemp(all.dir))
            return;
    }
    perror(all.dir);
    abort();
}

static void begin_process(void)
{
    int provided;

    setenv("OMPI_MCA_ess_singleton_isolated", "1", 0);
    setenv("OMPI_MCA_orte_create_session_dirs", "0", 0);
    setenv("OMPI_MCA_btl", "self", 0);
    setenv("OMPI_MCA_pml", "ob1", 0);
    setenv("HDF5_USE_FILE_LOCKING", "FALSE", 0);
    H5set_free_list_limits(-1, -1, -1, -1, -1, -1); /* else it clears 1 MB anew for each file */
    MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
    if (dkm_ctx_create(MPI_COMM_SELF, &all.ctx) != DKM_OK)
        abort();
    dkm_ctx_set_listener(all.ctx, (dkm_listener){.message = hear_nothing});
    dkm_ctx_set_threads(all.ctx, 1);
    make_folder();
    atexit(finish);
}

dkm_ctx *fuzz_ctx(void)
{
    if (!all.ctx)
        begin_process();
    return all.ctx;
}

void fuzz_begin(void)
{
    all.live = dkm_ctx_live_blocks(fuzz_ctx());
    (void)dkm_ctx_take_largest(all.ctx);
    dkm_ctx_set_svm_base(all.ctx, DKM_SVM_BASE_AUTO);
    all.inputs++;
}

_Noreturn void fuzz_broken(const char *what, const char *detail)
{
    fprintf(stderr, "fuzz: %s: %s\n", what, detail);
    remove_files();
    abort();
}

void fuzz_check_memory(dkm_ctx *ctx, dkm_idx live, size_t bytes, size_t factor)
{
    int64_t largest = dkm_ctx_take_largest(ctx);
    char detail[100];

    all.largest = largest > all.largest ? largest : all.largest;
    if (dkm_ctx_live_blocks(ctx) != live) {
        snprintf(detail, sizeof detail, "%lld blocks",
                 (long long)(dkm_ctx_live_blocks(ctx) - live));
        fuzz_broken("LEAK", detail);
    }
    if (largest > (int64_t)(64 << 20) + (int64_t)(factor * bytes)) {
        snprintf(detail, sizeof detail, "%lld bytes for a file of %zu", (long long)largest, bytes);
        fuzz_broken("LARGE", detail);
    }
}

void fuzz_end(size_t bytes, size_t factor)
{
    fuzz_check_memory(all.ctx, all.live, bytes, factor);
}

static slot *find_slot(const char *ending)
{
    slot *s = all.slots;

    while (s < all.slots + all.slot_count && strcmp(s->ending, ending) != 0)
        s++;
    if (s < all.slots + all.slot_count)
        return s;
    if (all.slot_count == FILES)
        fuzz_broken("too many endings", ending);
    all.slot_count++;
    snprintf(s->ending, sizeof s->ending, "%s", ending);
    snprintf(s->path, sizeof s->path, "%s/f%s", all.dir, ending);
    s->fd = open(s->path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
    return s;
}

const char *fuzz_file(const char *ending, const void *data, size_t size)
{
    slot *s;

    (void)fuzz_ctx();
    s = find_slot(ending);
    if (s->fd < 0 || ftruncate(s->fd, 0) != 0 || pwrite(s->fd, data, size, 0) != (ssize_t)size)
        fuzz_broken("cannot write", s->path);
    return s->path;
}

char *fuzz_text(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);

    if (!text)
        abort();
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    return text;
}

const dkm_data *fuzz_objects(fuzz_kind kind)
{
    static const char *const ways[FUZZ_KINDS][3] = {
        {".some.csv", "1,2\n3,4\n0.5,-1\n0,0\n", NULL},
        {".some.svm", "1 1:1 3:2\n1 2:1\n1\n1 1:-1\n", NULL},
        {".some.txt", "abcabc\nabcd\n\nxyzabc\n", NULL},
        {".labels.csv", "0\n1\n0\n7\n", "labels"},
        {".some.sets", "a b\nb c\nc\n\n", NULL},
        {".sets.csv", "0 1\n1\n5 2\n\n", "label-sets"},
        {".some.graphs", "C C O | 0-1 1-2\nN\n|\nC C | 0-1:double\n", NULL},
    };

    if (!all.objects[kind]) {
        const char *path = fuzz_file(ways[kind][0], ways[kind][1], strlen(ways[kind][1]));
        if (dkm_data_read(fuzz_ctx(), path, DKM_INPUTS, ways[kind][2], &all.objects[kind]) !=
            DKM_OK)
            fuzz_broken("objects", dkm_ctx_message(all.ctx));
    }
    return all.objects[kind];
}

dkm_role fuzz_role(uint8_t choice)
{
    return choice / 10 % 2 ? DKM_OUTPUTS : DKM_INPUTS;
}

/* Left open in most of the last tenth, as in use. */
const char *fuzz_type(uint8_t choice)
{
    int type = choice % 10;

    _Static_assert(DKM_TYPE_COUNT == 10, "each type has its tenth, the last one shares it");
    return type == 9 && choice < 200 ? NULL : dkm_type_name((dkm_type)type);
}

/* What is read must say the same of itself as its source. */
static void check_read(const dkm_source *source, dkm_idx count, const dkm_data *data)
{
    if (dkm_data_rows(data) != count || dkm_data_type(data) != dkm_source_type(source))
        fuzz_broken("another number of rows or type", dkm_source_describe(source));
}

static void read_parts(dkm_source *source)
{
    dkm_idx m = dkm_source_rows(source), rows[3] = {m - 1, 0, m / 2}, count = m < 3 ? 1 : 3;
    dkm_data *part = NULL;

    if (m == 0)
        return;
    if (dkm_source_read(source, m / 2, m - m / 2, &part) == DKM_OK)
        check_read(source, m - m / 2, part);
    dkm_data_destroy(&part);
    if (dkm_source_select(source, count, rows, &part) == DKM_OK)
        check_read(source, count, part);
    dkm_data_destroy(&part);
}

/* What is refused is refused in one line, to which indented ones may belong, and which a terminal
 * only shows. */
static void check_refusal(const char *where)
{
    const char *message = dkm_ctx_message(all.ctx);

    if (!*message)
        fuzz_broken("refused without a word", where);
    for (; *message; message++)
        if (((unsigned char)*message < ' ' && strncmp(message, "\n  ", 3) != 0) || *message == 0x7f)
            fuzz_broken("a control character in a message", dkm_ctx_message(all.ctx));
}

int fuzz_read(const char *where, dkm_role role, const char *type)
{
    dkm_source *source = NULL;
    dkm_data *data = NULL;
    int is_read = 0;

    if (dkm_source_open(fuzz_ctx(), where, role, type, &source) == DKM_OK &&
        dkm_source_read(source, 0, dkm_source_rows(source), &data) == DKM_OK) {
        check_read(source, dkm_source_rows(source), data);
        read_parts(source);
        is_read = 1;
    } else {
        check_refusal(where);
    }
    dkm_data_destroy(&data);
    dkm_source_close(&source);
    return is_read;
}

int fuzz_understands(void)
{
    return all.opened == 0 || all.understood > 0;
}

int fuzz_reader(const char *ending, const uint8_t *data, size_t size)
{
    const char *type;
    int is_read;

    if (size < 1)
        return 0;
    type = fuzz_type(data[0]);
    fuzz_begin();
    dkm_ctx_set_svm_base(fuzz_ctx(), data[0] / 20 % 3 - 1);
    is_read = fuzz_read(fuzz_file(ending, data + 1, size - 1), fuzz_role(data[0]), type);
    all.opened++;
    all.understood += !type && is_read;
    fuzz_end(size, 8);
    return 0;
}
