/* Pictures for people: colours, light, shadows and edges, in images of any size. */
#include "../../../csrc/include/raisim_engine.h"

#include <stdlib.h>

#include "../asset_fixture.h"
#include "../check.h"
#include "../random.h"

static const rs_ray_rule EVERYTHING = {.ignored_local = -1, .mask = UINT64_MAX};
enum { MOST = 70 };

static rs_picture plain(void)
{
    return (rs_picture){.sun = {0, 0, 1}, .sun_light = {1, 1, 1}, .horizon = {0, 0, 1}, .zenith = {0, 0, 1},
                        .fade = 1e6, .samples = 8};
}

static void add_shape(rs_world *world, rs_shape_def shape, double z)
{
    rs_body_def def;
    rs_default_body_def(&def);
    def.properties.body_type = RS_BODY_STATIC;
    def.shape_count = 1;
    def.shapes = &shape;
    def.state.position[2] = z;
    rs_object_id id = 0;
    CHECK(rs_body_create(world, &def, &id) == RS_OK);
}

/* A ground at z = 0 and a box above it, seen from above. */
static rs_world *make_scene(rs_depth_camera *camera, int32_t width, int32_t height)
{
    rs_world *world = NULL;
    CHECK(rs_world_create(&world) == RS_OK);
    add_shape(world, (rs_shape_def){.type = RS_SHAPE_HALF_SPACE, .quaternion = {1, 0, 0, 0}}, 0.0);
    add_shape(world, (rs_shape_def){.type = RS_SHAPE_BOX, .dim = {1, 1, 1}, .quaternion = {1, 0, 0, 0}}, 1.5);
    *camera = (rs_depth_camera){.width = width, .height = height, .horizontal_fov = 1.0, .far = 100,
                                .position = {0, 0, 10}};
    rs_quat_store(camera->quaternion, rs_quat_exp(rs_v3(0, 0.5 * 3.14159265358979, 0))); /* looks down */
    return world;
}

static const int64_t FIRST[] = {0, 1, 2};
static const float RGB[] = {0, 1, 0, 1, 0, 0}; /* the ground is green, the box red */
static const rs_looks LOOKS = {.object_count = 2, .first = FIRST, .rgb = RGB};

static void things_have_their_colours_and_shadows(void)
{
    rs_depth_camera camera;
    rs_world *world = make_scene(&camera, MOST, MOST);
    rs_picture style = plain();
    uint8_t image[3 * MOST * MOST];
    uint32_t scratch[2 * MOST * MOST];
    CHECK(rs_world_paint(world, &camera, &EVERYTHING, &style, &LOOKS, scratch, image) == RS_OK);
    const uint8_t *middle = &image[3 * (MOST / 2 * MOST + MOST / 2)];
    CHECK(middle[0] == 255 && middle[1] == 0 && middle[2] == 0);
    CHECK(image[0] == 0 && image[1] == 255 && image[2] == 0);
    style.sun[0] = 1.0; /* the shadow falls to the side of -x, which is below in the image */
    CHECK(rs_world_paint(world, &camera, &EVERYTHING, &style, &LOOKS, scratch, image) == RS_OK);
    int dark = 0;
    for (int k = 0; k < MOST * MOST; k++)
        dark += image[3 * k] == 0 && image[3 * k + 1] == 0;
    CHECK(dark > 20);
    rs_world_destroy(world);
}

static void images_of_all_small_sizes_are_painted_within_their_bounds(void)
{
    for (int32_t width = 1; width <= 9; width++)
        for (int32_t height = 1; height <= 9; height++) {
            rs_depth_camera camera;
            rs_world *world = make_scene(&camera, width, height);
            rs_picture style = plain();
            style.everywhere = width % 2, style.occlusion = height % 2, style.tile = 0.5, style.sun_size = 0.1;
            size_t pixels = (size_t)width * (size_t)height;
            /* exactly as large as promised: the sanitizer sees a byte too many */
            uint8_t *image = malloc(3 * pixels);
            uint32_t *scratch = malloc(2 * pixels * sizeof *scratch);
            CHECK(rs_world_paint(world, &camera, &EVERYTHING, &style, &LOOKS, scratch, image) == RS_OK);
            free(image);
            free(scratch);
            rs_world_destroy(world);
        }
}

static void styles_that_make_no_sense_are_refused(void)
{
    rs_depth_camera camera;
    rs_world *world = make_scene(&camera, 1, 1);
    uint8_t image[3];
    uint32_t scratch[2];
    rs_picture style = plain();
    style.samples = 0;
    CHECK(rs_world_paint(world, &camera, &EVERYTHING, &style, &LOOKS, scratch, image) == RS_INVALID_VALUE);
    style = plain();
    style.fade = 0.0;
    CHECK(rs_world_paint(world, &camera, &EVERYTHING, &style, &LOOKS, scratch, image) == RS_INVALID_VALUE);
    style = plain();
    style.sun[1] = NAN;
    CHECK(rs_world_paint(world, &camera, &EVERYTHING, &style, &LOOKS, scratch, image) == RS_INVALID_VALUE);
    rs_world_destroy(world);
}

/* A square of 2 m in two triangles, given in an order that is not that of its tree, under an image of 2 x 2 pixels. */
static void a_mesh_wears_its_image(void)
{
    rs_depth_camera camera;
    rs_world *world = make_scene(&camera, MOST, MOST);
    const double xyz[] = {-1, -1, 0, 1, -1, 0, 1, 1, 0, -1, 1, 0};
    const int32_t triangles[] = {2, 3, 0, 0, 1, 2};
    const float uv[] = {1, 1, 0, 1, 0, 0, 0, 0, 1, 0, 1, 1};
    const uint8_t pixels[] = {255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 0}; /* red, green; blue, yellow */
    float shares[256];
    for (int k = 0; k < 256; k++)
        shares[k] = (float)k / 255.0f;
    rs_asset_id asset = 0;
    rs_asset *made_mesh = NULL;
    asset = asset_in(world, rs_asset_create_mesh(4, xyz, 2, triangles, &made_mesh), &made_mesh);
    CHECK(asset != 0);
    add_shape(world, (rs_shape_def){.type = RS_SHAPE_MESH, .asset = asset, .quaternion = {1, 0, 0, 0}}, 4.0);
    const int64_t first[] = {0, 1, 2, 3};
    const float rgb[] = {0, 1, 0, 1, 0, 0, 0, 0, 0};
    const int32_t image_of[] = {-1, -1, 0};
    const rs_texture texture = {2, 2, pixels, uv};
    rs_looks looks = {3, first, rgb, image_of, &texture, shares};
    rs_picture style = plain();
    uint8_t image[3 * MOST * MOST];
    uint32_t scratch[2 * MOST * MOST];
    CHECK(rs_world_paint(world, &camera, &EVERYTHING, &style, &looks, scratch, image) == RS_OK);
    /* The camera looks down with +x up and +y to the left in the image, and so grow u and v. */
    const uint8_t wanted[4][3] = {{0, 255, 0}, {255, 255, 0}, {255, 0, 0}, {0, 0, 255}};
    for (int k = 0; k < 4; k++) {
        int row = MOST / 2 + (k < 2 ? -5 : 5), column = MOST / 2 + (k % 2 == 0 ? -5 : 5);
        const uint8_t *seen = &image[3 * (row * MOST + column)];
        for (int c = 0; c < 3; c++)
            CHECK((seen[c] > 128) == (wanted[k][c] > 128));
    }
    rs_world_destroy(world);
}

int main(void)
{
    RUN(a_mesh_wears_its_image);
    RUN(things_have_their_colours_and_shadows);
    RUN(images_of_all_small_sizes_are_painted_within_their_bounds);
    RUN(styles_that_make_no_sense_are_refused);
    return CHECK_RESULT();
}
