/* Lidars and cameras through the public functions: bundles see what single rays see, up to the borders of image and
 * scan; a lidar that moves casts every column from its place; colours by shape and by sample. */
#include "../../../csrc/include/raisim_engine.h"

#include <string.h>

#include "../asset_fixture.h"
#include "../check.h"
#include "../random.h"

enum { OBJECTS = 40, PIXELS_WIDE = 37, PIXELS_HIGH = 23, YAWS = 29, PITCHES = 19 };

static const rs_ray_rule EVERYTHING = {.ignored_local = -1, .mask = UINT64_MAX};

static rs_object_id add_shape(rs_world *world, rs_shape_def shape, rs_vec3 position, rs_quat turn)
{
    rs_body_def def;
    rs_default_body_def(&def);
    def.properties.body_type = RS_BODY_STATIC;
    def.shape_count = 1;
    def.shapes = &shape;
    rs_v3_store(def.state.position, position);
    rs_quat_store(def.state.quaternion, turn);
    rs_object_id id = 0;
    CHECK(rs_body_create(world, &def, &id) == RS_OK);
    return id;
}

static rs_quat random_turn(uint64_t *random) { return rs_quat_exp(random_vector(random, 3.0)); }

static rs_object_id add_heightmap(rs_world *world, int32_t samples, rs_vec3 position)
{
    double heights[64];
    for (int i = 0; i < samples * samples; i++)
        heights[i] = 0.1 * (i % 3);
    rs_shape_def shape = {.type = RS_SHAPE_HEIGHTMAP, .quaternion = {1, 0, 0, 0}};
    rs_asset *made_heightmap = NULL;
    shape.asset = asset_in(world, rs_asset_create_heightmap(samples, samples, 6.0, 6.0, heights, &made_heightmap), &made_heightmap);
    CHECK(shape.asset != 0);
    return add_shape(world, shape, position, rs_quat_identity());
}

/* All primitives around the origin, a heightmap, and the ground below. */
static rs_world *make_scene(void)
{
    rs_world *world = NULL;
    CHECK(rs_world_create(&world) == RS_OK);
    uint64_t random = 11;
    rs_shape_def ground = {.type = RS_SHAPE_HALF_SPACE, .quaternion = {1, 0, 0, 0}};
    add_shape(world, ground, rs_v3(0, 0, -4), rs_quat_identity());
    for (int k = 0; k < OBJECTS; k++) {
        rs_shape_def shape = {.type = k % 5, .dim = {0.4, 0.6, 0.5}, .quaternion = {1, 0, 0, 0}};
        rs_vec3 place = rs_scale(random_between(&random, 3, 9), rs_normalize_or(random_vector(&random, 1), rs_v3(1, 0, 0)));
        add_shape(world, shape, place, random_turn(&random));
    }
    add_heightmap(world, 8, rs_v3(3, 2, -3));
    return world;
}

/* Distance of one ray, or NaN. */
static double cast_one(rs_world *world, rs_vec3 origin, rs_vec3 direction, double reach)
{
    double o[3], d[3], distance = 0.0;
    rs_v3_store(o, origin);
    rs_v3_store(d, direction);
    rs_rays ray = {.count = 1, .origins = o, .shared_origin = 1, .directions = d, .length = reach};
    CHECK(rs_world_cast_rays(world, &ray, &EVERYTHING, &(rs_ray_hits){.distances = &distance}) == RS_OK);
    return distance;
}

static bool same(double a, double b, double tolerance) { return (isnan(a) && isnan(b)) || fabs(a - b) <= tolerance; }

static void every_pixel_is_what_a_ray_finds(void)
{
    rs_world *world = make_scene();
    uint64_t random = 3;
    int seen = 0, differing = 0;
    for (int round = 0; round < 6; round++) {
        rs_depth_camera camera = {.width = PIXELS_WIDE, .height = PIXELS_HIGH, .horizontal_fov = 0.4 + 0.45 * round, .far = 20};
        rs_vec3 place = random_vector(&random, 0.5);
        rs_quat turn = random_turn(&random);
        rs_v3_store(camera.position, place);
        rs_quat_store(camera.quaternion, turn);
        float depth[PIXELS_WIDE * PIXELS_HIGH];
        int32_t objects[PIXELS_WIDE * PIXELS_HIGH], links[PIXELS_WIDE * PIXELS_HIGH];
        CHECK(rs_world_scan_depth(world, &camera, &EVERYTHING, depth, objects, links, NULL) == RS_OK);
        rs_mat3 rotation = rs_quat_to_m3(turn);
        double pixel = 2.0 * tan(0.5 * camera.horizontal_fov) / PIXELS_WIDE;
        for (int i = 0; i < PIXELS_WIDE * PIXELS_HIGH; i++) {
            rs_vec3 aim = rs_v3(1.0, pixel * (0.5 * PIXELS_WIDE - i % PIXELS_WIDE - 0.5),
                                pixel * (0.5 * PIXELS_HIGH - i / PIXELS_WIDE - 0.5));
            double distance = cast_one(world, place, rs_m3_mulv(&rotation, aim), 20.0 * rs_norm(aim)) / rs_norm(aim);
            seen += !isnan(distance);
            differing += !same((double)depth[i], distance, 1e-5);
            CHECK((objects[i] < 0) == isnan(depth[i]));
            CHECK(links[i] == (objects[i] < 0 ? -1 : 0));
        }
    }
    CHECK(seen > 500);
    CHECK(differing <= 2); /* along an edge either may miss */
    rs_world_destroy(world);
}

/* Distances of all rays of a scan, from the cloud. */
static void scan(rs_world *world, const rs_lidar *lidar, float *ranges)
{
    rs_cloud_layout layout = {.yaw_stride = PITCHES * 4, .pitch_stride = 4, .x = -1, .y = -1, .z = -1, .range = 0, .intensity = -1};
    int64_t returns = 0;
    CHECK(rs_world_scan_cloud(world, lidar, &EVERYTHING, &layout, ranges, &returns) == RS_OK);
}

static rs_lidar make_lidar(rs_vec3 place, rs_quat turn)
{
    rs_lidar lidar = {.yaw_first = 5, .yaw_last = 5 + YAWS - 1, .yaw_increment = 0.2, .spin_direction = -1,
                      .pitch_samples = PITCHES, .pitch_min = -1.2, .pitch_increment = 0.13, .range_max = 20};
    rs_v3_store(lidar.position, place);
    rs_quat_store(lidar.quaternion, turn);
    return lidar;
}

static void every_return_is_what_a_ray_finds(void)
{
    rs_world *world = make_scene();
    uint64_t random = 8;
    int seen = 0, differing = 0;
    for (int round = 0; round < 6; round++) {
        rs_vec3 place = random_vector(&random, 0.5);
        rs_quat turn = random_turn(&random);
        rs_lidar lidar = make_lidar(place, turn);
        float ranges[YAWS * PITCHES];
        scan(world, &lidar, ranges);
        rs_mat3 rotation = rs_quat_to_m3(turn);
        for (int i = 0; i < YAWS * PITCHES; i++) {
            double yaw = -0.2 * (5 + i / PITCHES), pitch = -1.2 + 0.13 * (i % PITCHES);
            rs_vec3 aim = rs_v3(cos(pitch) * cos(yaw), cos(pitch) * sin(yaw), sin(pitch));
            double distance = cast_one(world, place, rs_m3_mulv(&rotation, aim), 20.0);
            seen += !isnan(distance);
            differing += !same(isinf(ranges[i]) ? (double)NAN : (double)ranges[i], distance, 1e-5);
        }
    }
    CHECK(seen > 500);
    CHECK(differing <= 2);
    rs_world_destroy(world);
}

/* A moving scan is made of still ones, a column from each place on the way. */
static void a_moving_lidar_casts_every_column_from_its_place(void)
{
    rs_world *world = make_scene();
    rs_vec3 from = rs_v3(0.1, -0.2, 0.3), axis = rs_v3(0.2, 0.5, -0.7), step = rs_v3(0.5, 0.2, -0.4);
    rs_quat turn = rs_quat_exp(rs_v3(0.3, -0.2, 0.9));
    rs_lidar lidar = make_lidar(from, turn);
    lidar.moves = 1;
    lidar.first_share = 0.25;
    lidar.share_increment = 0.02;
    rs_v3_store(lidar.end_position, rs_add(from, step));
    rs_quat end = rs_quat_mul(turn, rs_quat_exp(axis));
    rs_quat_store(lidar.end_quaternion, (rs_quat){-end.w, -end.x, -end.y, -end.z}); /* the same turn */
    float moving[YAWS * PITCHES], still[YAWS * PITCHES];
    scan(world, &lidar, moving);
    int seen = 0;
    for (int yaw = 0; yaw < YAWS; yaw++) {
        double share = 0.25 + 0.02 * yaw;
        rs_lidar there = make_lidar(rs_madd(from, share, step), rs_quat_mul(turn, rs_quat_exp(rs_scale(share, axis))));
        scan(world, &there, still);
        for (int pitch = 0; pitch < PITCHES; pitch++) {
            int i = yaw * PITCHES + pitch;
            seen += !isinf(moving[i]);
            CHECK((isinf(moving[i]) && isinf(still[i])) || fabsf(moving[i] - still[i]) < 1e-4f);
        }
    }
    CHECK(seen > 100);
    lidar.share_increment = NAN;
    CHECK(rs_lidar_valid(&lidar) == RS_INVALID_VALUE);
    rs_world_destroy(world);
}

static void colours_come_by_shape_and_by_sample(void)
{
    rs_world *world = NULL;
    CHECK(rs_world_create(&world) == RS_OK);
    add_heightmap(world, 2, rs_v3(0, 0, -1));
    rs_shape_def ball = {.type = RS_SHAPE_SPHERE, .dim = {0.2}, .quaternion = {1, 0, 0, 0}};
    add_shape(world, ball, rs_v3(0, 0, -0.5), rs_quat_identity());
    const float rgb[] = {1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, /* the four samples */ 0, 0, 1 /* the ball */};
    int64_t first[] = {0, 4, 5};
    rs_looks looks = {.object_count = 2, .first = first, .rgb = rgb};
    rs_light light = {.direction = {0, 0, -1}, .ambient = 1.0};
    rs_depth_camera camera = {.width = 5, .height = 3, .horizontal_fov = 1.5, .far = 20};
    rs_quat_store(camera.quaternion, rs_quat_exp(rs_v3(0, 0.5 * 3.14159265358979, 0))); /* looks down */
    uint8_t image[3 * 15];
    CHECK(rs_world_scan_color(world, &camera, &EVERYTHING, &light, &looks, image) == RS_OK);
    CHECK(image[0] == 255 && image[1] == 0 && image[2] == 0);         /* a corner: terrain */
    CHECK(image[3 * 7] == 0 && image[3 * 7 + 2] == 255);              /* the middle: ball */
    first[2] = 4; /* no colour: hidden */
    CHECK(rs_world_scan_color(world, &camera, &EVERYTHING, &light, &looks, image) == RS_OK);
    CHECK(image[3 * 7] == 255 && image[3 * 7 + 2] == 0);
    first[2] = 7; /* three colours for one shape */
    CHECK(rs_world_scan_color(world, &camera, &EVERYTHING, &light, &looks, image) == RS_INVALID_VALUE);
    looks.object_count = 1;
    CHECK(rs_world_scan_color(world, &camera, &EVERYTHING, &light, &looks, image) == RS_INVALID_VALUE);
    rs_world_destroy(world);
    CHECK(rs_memory_bytes() == 0);
}

int main(void)
{
    RUN(every_pixel_is_what_a_ray_finds);
    RUN(every_return_is_what_a_ray_finds);
    RUN(a_moving_lidar_casts_every_column_from_its_place);
    RUN(colours_come_by_shape_and_by_sample);
    return CHECK_RESULT();
}
