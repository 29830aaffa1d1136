/* Rank 0 stores the numbers of all images, NaN where there are none; they become grey when the
 * picture is written, so that the range of all of them is known. */
#include <dkmap/montage.h>

#include <math.h>
#include <png.h>
#include <string.h>

#include "core/alloc.h"
#include "data/objects.h"
#include "io/atomic_file.h"
#include "io/montage/bitmap_font.h"

enum { GAP = 2, LETTER_SCALE = 2, SIDE_MOST = 32768 };
enum { PAPER = 255, INK = 0, EMPTY = 224 };

struct dkm_montage {
    dkm_ctx *ctx;
    dkm_montage_settings s;
    dkm_idx margin;        /* pixels that labels take */
    dkm_idx height, width; /* of the picture */
    double *numbers;       /* rows x count x height x width of an image; none but on rank 0 */
};

static dkm_idx longest_label(const dkm_montage_settings *s)
{
    size_t most = 0;

    for (dkm_idx r = 0; s->labels && r < s->rows; r++)
        if (strlen(s->labels[r]) > most)
            most = strlen(s->labels[r]);
    return (dkm_idx)most;
}

static dkm_local montage_plan(dkm_montage *p)
{
    const dkm_montage_settings *s = &p->s;

    if (s->height < 1 || s->width < 1 || s->rows < 1 || s->count < 1 || s->scale < 1)
        return dkm_fail(p->ctx, DKM_ERR_ARG,
                        "a picture of %lld rows of %lld images of %lld x %lld: sizes must be at "
                        "least 1",
                        (long long)s->rows, (long long)s->count, (long long)s->height,
                        (long long)s->width);
    if (!(s->low < s->high) && !(s->low == 0.0 && s->high == 0.0))
        return dkm_fail(p->ctx, DKM_ERR_ARG, "from %g to %g there is nothing to draw", s->low,
                        s->high);
    p->margin = longest_label(s) * (DKM_LETTER_WIDTH + 1) * LETTER_SCALE;
    p->width = p->margin + GAP + s->count * (s->width * s->scale + GAP);
    p->height = GAP + s->rows * (s->height * s->scale + GAP);
    if (s->count > SIDE_MOST || s->rows > SIDE_MOST || s->scale > SIDE_MOST ||
        p->width > SIDE_MOST || p->height > SIDE_MOST)
        return dkm_fail(p->ctx, DKM_ERR_SIZE,
                        "a picture of %lld x %lld pixels, and at most %d a side can be drawn: show "
                        "fewer images, or smaller ones",
                        (long long)p->width, (long long)p->height, SIDE_MOST);
    return DKM_LOCAL_OK;
}

static dkm_local montage_allocate(dkm_montage *p)
{
    dkm_idx n = p->s.rows * p->s.count * p->s.height * p->s.width;
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_alloc(p->ctx, n, &p->numbers));
    for (dkm_idx k = 0; k < n; k++)
        p->numbers[k] = NAN;
out:
    return local;
}

dkm_status dkm_montage_create(dkm_ctx *ctx, const dkm_montage_settings *settings,
                              dkm_montage **picture)
{
    dkm_status status = DKM_OK;
    dkm_montage *p = NULL;

    *picture = NULL;
    DKM_AGREE(ctx, dkm_calloc(ctx, 1, &p));
    p->ctx = ctx;
    p->s = *settings;
    DKM_AGREE(ctx, montage_plan(p));
    DKM_AGREE(ctx, dkm_ctx_rank(ctx) == 0 ? montage_allocate(p) : DKM_LOCAL_OK);
    *picture = p;
    p = NULL;
out:
    dkm_montage_destroy(&p);
    return status;
}

static dkm_local check_images(const dkm_montage *p, dkm_idx row, dkm_idx first,
                              const dkm_data *images)
{
    dkm_idx pixels = p->s.height * p->s.width, d = dkm_data_cols(images);

    if (dkm_data_type(images) != DKM_DENSE)
        return dkm_fail(p->ctx, DKM_ERR_UNSUPPORTED, "images are dense rows, not %s",
                        dkm_type_name(dkm_data_type(images)));
    if (row < 0 || row >= p->s.rows || first < 0)
        return dkm_fail(p->ctx, DKM_ERR_ARG, "row %lld of a picture of %lld", (long long)row,
                        (long long)p->s.rows);
    if (d > pixels - first)
        return dkm_fail(p->ctx, DKM_ERR_ARG,
                        "%lld columns do not fit into an image of %lld x %lld = %lld pixels%s",
                        (long long)(first + d), (long long)p->s.height, (long long)p->s.width,
                        (long long)pixels, first > 0 ? ", together with what stands above" : "");
    return DKM_LOCAL_OK;
}

/* The images that are shown come to rank 0. */
static dkm_status montage_collect(const dkm_montage *p, const dkm_data *images, dkm_objs *got)
{
    dkm_status status = DKM_OK;
    dkm_idx n = dkm_data_rows(images) < p->s.count ? dkm_data_rows(images) : p->s.count;
    dkm_idx *indices = NULL;

    if (dkm_ctx_rank(p->ctx) != 0)
        n = 0;
    DKM_AGREE(p->ctx, dkm_alloc(p->ctx, n, &indices));
    for (dkm_idx k = 0; k < n; k++)
        indices[k] = k;
    DKM_TRY(dkm_data_fetch(images, n, indices, got));
out:
    DKM_FREE(indices);
    return status;
}

dkm_status dkm_montage_place(dkm_montage *picture, dkm_idx row, dkm_idx first,
                             const dkm_data *images)
{
    const dkm_montage_settings *s = &picture->s;
    dkm_status status = DKM_OK;
    dkm_objs got = {0};
    dkm_idx pixels = s->height * s->width;

    DKM_AGREE(picture->ctx, check_images(picture, row, first, images));
    DKM_TRY(montage_collect(picture, images, &got));
    for (dkm_idx k = 0; k < got.n; k++)
        memcpy(picture->numbers + (row * s->count + k) * pixels + first, got.values + k * got.d,
               (size_t)got.d * sizeof *got.values);
out:
    dkm_objs_clear(&got);
    return status;
}

/* What is drawn black and white; a single number is drawn in the middle. */
static void find_range(const dkm_montage *p, double *low, double *high)
{
    dkm_idx n = p->s.rows * p->s.count * p->s.height * p->s.width;

    *low = p->s.low;
    *high = p->s.high;
    if (*low < *high)
        return;
    *low = INFINITY;
    *high = -INFINITY;
    for (dkm_idx k = 0; k < n; k++) {
        *low = fmin(*low, p->numbers[k]); /* fmin passes over NaN */
        *high = fmax(*high, p->numbers[k]);
    }
    if (!(*low < *high)) {
        *low -= 1.0;
        *high += 1.0;
    }
}

static unsigned char shade(double number, double low, double high, int invert)
{
    double share = fmin(1.0, fmax(0.0, (number - low) / (high - low)));

    if (isnan(number))
        return EMPTY;
    return (unsigned char)lround(255.0 * (invert ? 1.0 - share : share));
}

/* A square of one colour with its corner at (i, j). */
static void montage_dot(const dkm_montage *p, unsigned char *grey, dkm_idx i, dkm_idx j,
                        dkm_idx side, unsigned char colour)
{
    for (dkm_idx k = 0; k < side; k++)
        memset(grey + (i + k) * p->width + j, colour, (size_t)side);
}

static void draw_image(const dkm_montage *p, dkm_idx row, dkm_idx at, double low, double high,
                       unsigned char *grey)
{
    const dkm_montage_settings *s = &p->s;
    const double *numbers = p->numbers + (row * s->count + at) * s->height * s->width;
    dkm_idx top = GAP + row * (s->height * s->scale + GAP);
    dkm_idx left = p->margin + GAP + at * (s->width * s->scale + GAP);

    for (dkm_idx i = 0; i < s->height; i++)
        for (dkm_idx j = 0; j < s->width; j++)
            montage_dot(p, grey, top + i * s->scale, left + j * s->scale, s->scale,
                        shade(numbers[i * s->width + j], low, high, s->invert));
}

static void draw_label(const dkm_montage *p, dkm_idx row, unsigned char *grey)
{
    dkm_idx side = p->s.height * p->s.scale, step = (DKM_LETTER_WIDTH + 1) * LETTER_SCALE;
    dkm_idx top = GAP + row * (side + GAP) + (side - DKM_LETTER_HEIGHT * LETTER_SCALE) / 2;
    const char *text = p->s.labels[row];

    if (side < DKM_LETTER_HEIGHT * LETTER_SCALE)
        return;
    for (dkm_idx k = 0; text[k]; k++)
        for (dkm_idx i = 0; i < DKM_LETTER_HEIGHT; i++)
            for (dkm_idx j = 0; j < DKM_LETTER_WIDTH; j++)
                if (dkm_bitmap_font_pixel(text[k], i, j))
                    montage_dot(p, grey, top + i * LETTER_SCALE, k * step + GAP + j * LETTER_SCALE,
                                LETTER_SCALE, INK);
}

static void montage_draw(const dkm_montage *p, unsigned char *grey)
{
    double low, high;

    find_range(p, &low, &high);
    memset(grey, PAPER, (size_t)(p->height * p->width));
    for (dkm_idx row = 0; row < p->s.rows; row++) {
        for (dkm_idx at = 0; at < p->s.count; at++)
            draw_image(p, row, at, low, high, grey);
        if (p->s.labels)
            draw_label(p, row, grey);
    }
}

/* The bytes of a PNG file; libpng says first how many there will be. */
static dkm_local compress(const dkm_montage *p, const unsigned char *grey, dkm_atomic_file *out)
{
    png_image image = {.version = PNG_IMAGE_VERSION, .format = PNG_FORMAT_GRAY};
    png_alloc_size_t size = 0;
    dkm_local local = DKM_LOCAL_OK;
    char *bytes = NULL;

    image.width = (png_uint_32)p->width;
    image.height = (png_uint_32)p->height;
    size = PNG_IMAGE_PNG_SIZE_MAX(image);
    DKM_STEP(dkm_alloc(p->ctx, (dkm_idx)size, &bytes));
    if (!png_image_write_to_memory(&image, bytes, &size, 0, grey, 0, NULL))
        DKM_STEP(dkm_fail(p->ctx, DKM_ERR_IO, "%s: libpng: %s", out->path, image.message));
    DKM_STEP(dkm_atomic_file_write(out, 0, bytes, (dkm_idx)size));
out:
    DKM_FREE(bytes);
    png_image_free(&image);
    return local;
}

static dkm_local draw_and_compress(const dkm_montage *p, dkm_atomic_file *out)
{
    dkm_local local = DKM_LOCAL_OK;
    unsigned char *grey = NULL;

    DKM_STEP(dkm_alloc(p->ctx, p->height * p->width, &grey));
    montage_draw(p, grey);
    DKM_STEP(compress(p, grey, out));
out:
    DKM_FREE(grey);
    return local;
}

dkm_status dkm_montage_write(const dkm_montage *picture, const char *path)
{
    dkm_ctx *ctx = picture->ctx;
    dkm_status status = DKM_OK;
    dkm_atomic_file out = {0};

    DKM_TRY(dkm_atomic_file_open(&out, ctx, path));
    DKM_AGREE(ctx, dkm_ctx_rank(ctx) == 0 ? draw_and_compress(picture, &out) : DKM_LOCAL_OK);
    DKM_TRY(dkm_atomic_file_commit(&out));
out:
    dkm_atomic_file_close(&out);
    return status;
}

void dkm_montage_destroy(dkm_montage **picture)
{
    if (!*picture)
        return;
    DKM_FREE((*picture)->numbers);
    DKM_FREE(*picture);
}
