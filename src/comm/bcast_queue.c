#include "comm/bcast_queue.h"

#include <assert.h>

#include "core/alloc.h"

#define SEGMENT_BYTES (256.0 * 1024) /* at least, unless there is only one */

static int bcast_log2(int size)
{
    int log = 0;

    while ((1 << log) < size)
        log++;
    return log;
}

dkm_local dkm_bcast_queue_open(dkm_bcast_queue *queue, dkm_ctx *ctx, dkm_idx broadcasts, int size)
{
    dkm_local local = DKM_LOCAL_OK;
    dkm_idx each = 2 * DKM_BCAST_SEGMENTS, tree = 1 + bcast_log2(size);

    *queue = (dkm_bcast_queue){0};
    queue->capacity = (int)(broadcasts * (each > tree ? each : tree));
    DKM_STEP(dkm_alloc(ctx, queue->capacity, &queue->requests));
    DKM_STEP(dkm_alloc(ctx, queue->capacity, &queue->meta));
    DKM_STEP(dkm_alloc(ctx, queue->capacity, &queue->completed));
out:
    return local;
}

void dkm_bcast_queue_close(dkm_bcast_queue *queue)
{
    DKM_FREE(queue->completed);
    DKM_FREE(queue->meta);
    DKM_FREE(queue->requests);
}

/* With the root as rank 0: the chain 0 -> 1 -> 2 ...; the tree in which v > 0 hears from v without
 * its highest bit and sends to v + 2^k for all higher k, the largest subtree first. */
static void bcast_plan(dkm_bcast *b, dkm_bcast_shape shape, int root)
{
    int rank, size, v, bits;

    MPI_Comm_rank(b->comm, &rank);
    MPI_Comm_size(b->comm, &size);
    v = (rank - root + size) % size;
    b->parent = -1;
    b->child_count = 0;
    if (shape == DKM_BCAST_CHAIN) {
        if (v > 0)
            b->parent = (rank - 1 + size) % size;
        if (v + 1 < size)
            b->children[b->child_count++] = (rank + 1) % size;
        return;
    }
    bits = bcast_log2(v + 1);
    if (v > 0)
        b->parent = (v - (1 << (bits - 1)) + root) % size;
    for (int k = bits; v + (1 << k) < size; k++)
        b->children[b->child_count++] = (v + (1 << k) + root) % size;
}

/* Part k of n in segments. */
static dkm_idx bcast_part(const dkm_bcast *b, dkm_idx n, int k)
{
    return n * k / b->segments;
}

/* One segment: elements in a row, or some columns. */
typedef struct bcast_segment {
    void *data;
    int count;
    MPI_Datatype type; /* to be freed when it is not that of the elements */
} bcast_segment;

static bcast_segment bcast_segment_of(const dkm_bcast *b, int k)
{
    dkm_idx n = b->rows == b->ld || b->cols == 1 ? b->rows * b->cols : b->cols,
            first = bcast_part(b, n, k), count = bcast_part(b, n, k + 1) - first;
    bcast_segment s = {b->buffer + (size_t)first * b->width, (int)count, b->type};

    if (n == b->rows * b->cols)
        return s;
    s.data = b->buffer + (size_t)(first * b->ld) * b->width;
    s.count = 1;
    MPI_Type_vector((int)count, (int)b->rows, (int)b->ld, b->type, &s.type);
    MPI_Type_commit(&s.type);
    return s;
}

static void bcast_segment_free(const dkm_bcast *b, bcast_segment *s)
{
    if (s->type != b->type)
        MPI_Type_free(&s->type);
}

static MPI_Request *bcast_add_request(dkm_bcast_queue *queue, dkm_bcast *b, int segment,
                                      int is_receive)
{
    MPI_Request *request = &queue->requests[queue->count];

    assert(queue->count < queue->capacity);
    queue->meta[queue->count++] = (dkm_bcast_request){b, segment, is_receive};
    *request = MPI_REQUEST_NULL;
    return request;
}

static void bcast_send_segment(dkm_bcast_queue *queue, dkm_bcast *b, int k)
{
    bcast_segment s = bcast_segment_of(b, k);

    for (int j = 0; j < b->child_count; j++)
        MPI_Isend(s.data, s.count, s.type, b->children[j], b->tag, b->comm,
                  bcast_add_request(queue, b, k, 0));
    bcast_segment_free(b, &s);
}

static void bcast_receive_segment(dkm_bcast_queue *queue, dkm_bcast *b, int k)
{
    bcast_segment s = bcast_segment_of(b, k);

    MPI_Irecv(s.data, s.count, s.type, b->parent, b->tag, b->comm,
              bcast_add_request(queue, b, k, 1));
    bcast_segment_free(b, &s);
}

/* At least SEGMENT_BYTES each and a column, as far as there are columns. */
static int bcast_segments(const dkm_bcast *b, dkm_bcast_shape shape)
{
    double bytes = (double)b->rows * (double)b->cols * (double)b->width, n = bytes / SEGMENT_BYTES;

    if (shape == DKM_BCAST_TREE || n < 1)
        return 1;
    if (b->rows != b->ld && b->cols > 1 && n > (double)b->cols)
        n = (double)b->cols;
    return n > DKM_BCAST_SEGMENTS ? DKM_BCAST_SEGMENTS : (int)n;
}

void dkm_bcast_start(dkm_bcast_queue *queue, dkm_bcast *b, dkm_bcast_shape shape,
                     const dkm_bcast_data *data, int root, int tag, MPI_Comm comm)
{
    int bytes = 0;

    MPI_Type_size(data->type, &bytes);
    *b = (dkm_bcast){.comm = comm,
                     .type = data->type,
                     .tag = tag,
                     .buffer = data->a,
                     .width = (size_t)bytes,
                     .rows = data->rows,
                     .cols = data->cols,
                     .ld = data->ld};
    if (b->rows == 0 || b->cols == 0)
        return;
    bcast_plan(b, shape, root);
    b->segments = bcast_segments(b, shape);
    b->to_receive = b->parent >= 0 ? b->segments : 0;
    b->to_send = b->segments * b->child_count;
    for (int k = 0; k < b->segments; k++) {
        if (b->parent >= 0)
            bcast_receive_segment(queue, b, k);
        else
            bcast_send_segment(queue, b, k);
    }
}

/* Leave out the requests that are complete. */
static void bcast_compact(dkm_bcast_queue *queue)
{
    int live = 0;

    for (int k = 0; k < queue->count; k++)
        if (queue->meta[k].of) {
            queue->requests[live] = queue->requests[k];
            queue->meta[live++] = queue->meta[k];
        }
    queue->count = live;
}

/* Requests that failed to start are null, and count as complete: the error is on record. */
static int bcast_completed(dkm_bcast_queue *queue, int count)
{
    if (count != MPI_UNDEFINED)
        return count;
    for (int k = 0; k < queue->count; k++)
        queue->completed[k] = k;
    return queue->count;
}

/* Send on what has arrived without a gap. */
static void bcast_forward(dkm_bcast_queue *queue, dkm_bcast *b)
{
    while (b->forwarded < b->segments && (b->there >> b->forwarded & 1u))
        bcast_send_segment(queue, b, b->forwarded++);
}

static void bcast_handle(dkm_bcast_queue *queue, int count)
{
    count = bcast_completed(queue, count);
    for (int k = 0; k < count; k++) {
        dkm_bcast_request done = queue->meta[queue->completed[k]];
        queue->meta[queue->completed[k]].of = NULL;
        if (done.is_receive) {
            done.of->to_receive--;
            done.of->there |= 1u << done.segment;
            bcast_forward(queue, done.of);
        } else {
            done.of->to_send--;
        }
    }
    if (count > 0)
        bcast_compact(queue);
}

void dkm_bcast_progress(dkm_bcast_queue *queue)
{
    int count = 0;

    if (queue->count == 0)
        return;
    MPI_Testsome(queue->count, queue->requests, &count, queue->completed, MPI_STATUSES_IGNORE);
    bcast_handle(queue, count);
}

void dkm_bcast_wait_some(dkm_bcast_queue *queue)
{
    int count = 0;

    assert(queue->count > 0);
    MPI_Waitsome(queue->count, queue->requests, &count, queue->completed, MPI_STATUSES_IGNORE);
    bcast_handle(queue, count);
}

void dkm_bcast_wait_all(dkm_bcast_queue *queue)
{
    while (queue->count > 0)
        dkm_bcast_wait_some(queue);
}
