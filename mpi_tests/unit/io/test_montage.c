#include <png.h>
#include <string.h>

#include <dkmap/montage.h>

#include "support/scratch.h"

enum { HEIGHT = 10, WIDTH = 3, PIXELS = HEIGHT * WIDTH, MOST = 1 << 16 };

/* Image i holds 0, 1, 2, ... plus 100 i. */
static dkm_status make_images(dkm_ctx *ctx, dkm_idx m, dkm_idx d, dkm_data **images)
{
    dkm_status status = dkm_data_create_dense(ctx, m, d, images);

    for (dkm_idx k = 0; status == DKM_OK && k < dkm_data_local_rows(*images) * d; k++)
        dkm_data_values(*images)[k] =
            (double)(100 * (dkm_data_local_first(*images) + k / d) + k % d);
    return status;
}

/* The picture as libpng reads it back, on rank 0. */
static void read_back(const char *path, unsigned char grey[MOST], dkm_idx *height, dkm_idx *width)
{
    png_image image = {.version = PNG_IMAGE_VERSION};

    *height = *width = 0;
    CHECK(png_image_begin_read_from_file(&image, path) != 0);
    image.format = PNG_FORMAT_GRAY;
    CHECK(PNG_IMAGE_SIZE(image) <= MOST);
    CHECK(png_image_finish_read(&image, NULL, grey, 0, NULL) != 0);
    *height = (dkm_idx)image.height;
    *width = (dkm_idx)image.width;
    png_image_free(&image);
}

static dkm_status draw(dkm_ctx *ctx, const dkm_montage_settings *s, const char *path)
{
    dkm_status status = DKM_OK;
    dkm_montage *picture = NULL;
    dkm_data *whole = NULL, *part = NULL;

    DKM_TRY(make_images(ctx, 5, PIXELS, &whole));
    DKM_TRY(make_images(ctx, 2, 12, &part));
    DKM_TRY(dkm_montage_create(ctx, s, &picture));
    DKM_TRY(dkm_montage_place(picture, 0, 0, whole));
    DKM_TRY(dkm_montage_place(picture, 1, 0, part));
    DKM_TRY(dkm_montage_place(picture, 1, 12, part));
    DKM_TRY(dkm_montage_write(picture, path));
out:
    dkm_montage_destroy(&picture);
    dkm_data_destroy(&part);
    dkm_data_destroy(&whole);
    return status;
}

static void pixels_are_where_they_belong(dkm_ctx *ctx)
{
    dkm_montage_settings s = {
        .height = HEIGHT, .width = WIDTH, .rows = 2, .count = 3, .scale = 4, .high = 255};
    dkm_idx height, width, gap = 2, side = s.scale;
    static unsigned char grey[MOST];
    char path[SCRATCH_LENGTH];

    scratch_path(ctx, "plain.png", path);
    CHECK_OK(ctx, draw(ctx, &s, path));
    if (dkm_ctx_rank(ctx) == 0) {
        read_back(path, grey, &height, &width);
        CHECK(height == gap + 2 * (HEIGHT * side + gap) && width == gap + 3 * (WIDTH * side + gap));
        CHECK(grey[0] == 255); /* paper */
        for (dkm_idx k = 0; k < PIXELS; k++)
            for (dkm_idx image = 0; image < 3; image++) {
                dkm_idx i = gap + k / WIDTH * side + side / 2;
                dkm_idx j = gap + image * (WIDTH * side + gap) + k % WIDTH * side + side / 2;
                dkm_idx below = (i + HEIGHT * side + gap) * width + j;
                dkm_idx joined = k < 24 ? 100 * image + k % 12 : 224; /* grey where none is */
                CHECK(grey[i * width + j] == 100 * image + k);
                CHECK(grey[below] == (image < 2 ? joined : 224));
            }
    }
    scratch_remove(ctx, path);
}

static void ranges_labels_and_inversion_are_heeded(dkm_ctx *ctx)
{
    const char *labels[] = {"1", "Ab"};
    dkm_montage_settings s = {.height = HEIGHT, .width = WIDTH, .rows = 2, .count = 2, .scale = 2};
    dkm_idx height, width, margin = 2 * 6 * 2, dark = 0;
    static unsigned char grey[MOST];
    char path[SCRATCH_LENGTH];

    s.invert = 1;
    s.labels = labels;
    scratch_path(ctx, "labels.png", path);
    CHECK_OK(ctx, draw(ctx, &s, path));
    if (dkm_ctx_rank(ctx) == 0) {
        read_back(path, grey, &height, &width);
        CHECK(width == margin + 2 + 2 * (WIDTH * 2 + 2));
        CHECK(grey[2 * width + margin + 2] == 255); /* the least of all is white */
        CHECK(grey[(2 + (HEIGHT - 1) * 2) * width + margin + 2 + WIDTH * 2 + 2 + 4] == 0);
        for (dkm_idx i = 0; i < 2 + HEIGHT * 2; i++)
            for (dkm_idx j = 0; j < margin; j++)
                dark += grey[i * width + j] == 0;
        CHECK(dark == 10 * 4); /* a 1 has ten pixels */
    }
    scratch_remove(ctx, path);
}

static void impossible_pictures_are_refused(dkm_ctx *ctx)
{
    dkm_montage_settings s = {.height = 2, .width = 2, .rows = 1, .count = 1, .scale = 1};
    dkm_montage_settings wrong[] = {s, s, s, s};
    dkm_montage *picture = NULL;
    dkm_data *images = NULL, *labels = NULL;

    wrong[0].rows = 0;
    wrong[1].low = 2;
    wrong[2].count = 40000;
    wrong[3].scale = 0;
    for (int k = 0; k < 4; k++)
        CHECK(dkm_montage_create(ctx, &wrong[k], &picture) ==
              (k == 2 ? DKM_ERR_SIZE : DKM_ERR_ARG));
    CHECK_OK(ctx, dkm_montage_create(ctx, &s, &picture));
    CHECK_OK(ctx, make_images(ctx, 3, 5, &images));
    CHECK_OK(ctx, dkm_data_create_labels(ctx, 3, &labels));
    CHECK(dkm_montage_place(picture, 0, 0, images) == DKM_ERR_ARG);
    CHECK(strstr(dkm_ctx_message(ctx), "2 x 2 = 4 pixels") != NULL);
    CHECK(dkm_montage_place(picture, 1, 0, images) == DKM_ERR_ARG);
    CHECK(dkm_montage_place(picture, 0, 0, labels) == DKM_ERR_UNSUPPORTED);
    CHECK(dkm_montage_write(picture, "/nowhere/at/all.png") == DKM_ERR_IO);
    dkm_data_destroy(&labels);
    dkm_data_destroy(&images);
    dkm_montage_destroy(&picture);
}

static char brutal_path[SCRATCH_LENGTH];

static dkm_status draw_small(dkm_ctx *ctx)
{
    dkm_montage_settings s = {.height = HEIGHT, .width = WIDTH, .rows = 2, .count = 2, .scale = 1};

    return draw(ctx, &s, brutal_path);
}

static void failing_allocations_are_agreed_on(dkm_ctx *ctx)
{
    scratch_path(ctx, "brutal.png", brutal_path);
    check_every_allocation(ctx, 0, draw_small);
    check_every_allocation(ctx, dkm_ctx_size(ctx) - 1, draw_small);
    scratch_remove(ctx, brutal_path);
}

static const check_case cases[] = {
    CASE(pixels_are_where_they_belong),
    CASE(ranges_labels_and_inversion_are_heeded),
    CASE(impossible_pictures_are_refused),
    CASE(failing_allocations_are_agreed_on),
};

CHECK_MAIN(cases)
