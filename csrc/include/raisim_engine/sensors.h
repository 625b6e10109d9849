/* Rays, at the present poses and from either side of surfaces, and sensors made of them. See raisim_engine.h. */
#ifndef RAISIM_ENGINE_SENSORS_H
#define RAISIM_ENGINE_SENSORS_H

#include "core.h"

/* cdef begin */

/* What rays pass through, and what they see. */
typedef struct {
    rs_object_id ignored;  /* 0: nothing */
    int32_t ignored_local; /* body of the ignored object; -1: all of it */
    uint64_t mask;         /* groups that are seen */
} rs_ray_rule;

typedef struct {
    int64_t count;
    const double *origins;    /* x y z each, or one for all, world frame [m] */
    int32_t shared_origin;    /* one for all */
    const double *directions; /* x y z each; need not be unit */
    double length;            /* how far they reach [m] */
} rs_rays;
/* What rays hit, one entry per ray; any pointer may be NULL. */
typedef struct {
    double *distances;     /* [m]; NaN: nothing within reach */
    rs_object_id *objects; /* 0: none */
    int32_t *locals;       /* local body of the object */
    double *normals;       /* outward unit normals, world frame */
} rs_ray_hits;
/* The nearest hits. */
rs_status rs_world_cast_rays(rs_world *world, const rs_rays *rays, const rs_ray_rule *rule, const rs_ray_hits *out);

typedef enum { RS_NOISE_NONE = 0, RS_NOISE_GAUSSIAN, RS_NOISE_UNIFORM } rs_noise_type;
/* Added to each measured distance. The same seed and frame give the same noise. */
typedef struct {
    int32_t type;
    double mean, spread; /* gaussian: mean and standard deviation; uniform: mean +- spread [m] */
    double dropout;      /* share of returns that are lost, 0..1 */
    uint64_t seed, frame;
} rs_noise;

/* A spinning lidar: +x forward, y left, z up. Yaw angles are index * increment * direction (+1 or -1). One that moves
 * while it turns casts column k of the scan at the share first_share + k * share_increment of the way from its pose to
 * the end pose; points are in the frame of the sensor at that moment. */
typedef struct {
    double position[3], quaternion[4]; /* world frame */
    int32_t moves;
    double end_position[3], end_quaternion[4];
    double first_share, share_increment;
    int32_t yaw_first, yaw_last;       /* indices, both included */
    double yaw_increment;              /* [rad] */
    int32_t spin_direction;
    int32_t pitch_samples;
    double pitch_min, pitch_increment; /* [rad] */
    double range_min, range_max;       /* [m]; nearer hits are dropped */
    rs_noise noise;
} rs_lidar;
/* RS_OK, or what is wrong with the numbers; likewise for cameras. */
rs_status rs_lidar_valid(const rs_lidar *lidar);
/* Points in the sensor frame, yaw outer, pitch inner, misses left out. Room for all rays. */
rs_status rs_world_scan_lidar(rs_world *world, const rs_lidar *lidar, const rs_ray_rule *rule, double *points,
                              int64_t *count);

/* Where the single-precision numbers of a scan go: bytes from column to column and from row to row, and the place of
 * each number within a point; -1 leaves it out. */
typedef struct {
    int64_t yaw_stride, pitch_stride;
    int64_t x, y, z;   /* sensor frame [m]; NaN: no return */
    int64_t range;     /* [m]; -infinity: nearer than range_min, +infinity: no return (REP 117) */
    int64_t intensity; /* cosine of the angle of incidence; 0: no return */
} rs_cloud_layout;
/* Every ray has its place in `out`; *returns counts those that are valid. */
rs_status rs_world_scan_cloud(rs_world *world, const rs_lidar *lidar, const rs_ray_rule *rule,
                              const rs_cloud_layout *layout, void *out, int64_t *returns);

/* A camera: +x forward, y left, z up; square pixels, the first row on top. */
typedef struct {
    double position[3], quaternion[4]; /* world frame */
    int32_t width, height;
    double horizontal_fov; /* full angle [rad] */
    double near, far;      /* along +x [m] */
    int32_t tell_range;    /* nonzero: depth is -infinity nearer than `near`, +infinity without return (REP 117) */
    rs_noise noise;        /* of the depth */
} rs_depth_camera;
rs_status rs_depth_camera_valid(const rs_depth_camera *camera);
/* Per pixel: depth along +x (NaN: nothing within near..far), place of the object in the list (-1: none), its local body
 * (0 for a single one, -1: none) and world point (NaN). Any pointer may be NULL. */
rs_status rs_world_scan_depth(rs_world *world, const rs_depth_camera *camera, const rs_ray_rule *rule, float *depth,
                              int32_t *object_index, int32_t *local_index, double *points);

/* Light from far away, or from a point. */
typedef struct {
    double direction[3];  /* of the light, world frame, unit */
    int32_t near;         /* nonzero: it shines from `position` */
    double position[3];   /* world frame [m] */
    double cos_cutoff;    /* near: nothing is lit beyond this angle to `direction`; -1: all around */
    double color[3];      /* red, green, blue, 0..1 */
    double ambient;       /* share of the light that comes from everywhere, 0..1 */
    double background[3]; /* red, green, blue where nothing is, 0..1 */
    int32_t shadows;
    double shadow_reach;  /* things farther away than this from a point do not shade it [m] */
} rs_light;
/* An image on a mesh. */
typedef struct {
    int32_t width, height;
    const uint8_t *rgb; /* rows from the top */
    const float *uv;    /* 6 per triangle, in the order in which the mesh was given: where its corners lie in the image, which
                           is 0..1 wide (u, to the right) and high (v, up) and repeats itself */
} rs_texture;
/* What the objects in the list look like. Those of object i are the rows first[i] to first[i + 1] - 1 of `rgb`: one for
 * each of its shapes, or one for each sample of its heightmap; an object without rows is not seen. */
typedef struct {
    int64_t object_count;
    const int64_t *first; /* object_count + 1 numbers */
    const float *rgb;     /* red, green, blue, 0..1 */
    const int32_t *image; /* number of the texture of each row, -1: plain; NULL: all are */
    const rs_texture *textures;
    const float *shares; /* 256 numbers: what the bytes of textures stand for, 0..1 */
} rs_looks;
/* Colours, 3 bytes per pixel. */
rs_status rs_world_scan_color(rs_world *world, const rs_depth_camera *camera, const rs_ray_rule *rule,
                              const rs_light *light, const rs_looks *looks, uint8_t *rgb);

/* How a picture for people is lit. Colours are shares of light (linear), red, green, blue. */
typedef struct {
    double sun[3];        /* towards it, world frame */
    double sun_size;      /* half the angle under which it is seen [rad]: the softness of shadows */
    double sun_light[3];
    double sky_light[3];  /* from above */
    double bounce[3];     /* from below */
    double zenith[3];     /* what the sky looks like */
    double horizon[3];
    double gloss;         /* share of the sun that surfaces mirror */
    double tile;          /* edge of the tiles on endless planes [m]; 0: none */
    double fade;          /* distance at which things go over into the horizon [m] */
    int32_t samples;      /* rays through a pixel that is refined */
    int32_t everywhere;   /* nonzero: all are, otherwise edges and borders of shadows */
    int32_t occlusion;    /* nonzero: what stands around a point takes light of the sky away */
} rs_picture;
/* A picture, 3 bytes per pixel (sRGB). The rgb of `looks` are shares of light. `scratch` has room for two numbers per pixel. */
rs_status rs_world_paint(rs_world *world, const rs_depth_camera *camera, const rs_ray_rule *rule,
                         const rs_picture *style, const rs_looks *looks, uint32_t *scratch, uint8_t *rgb);

/* cdef end */

#endif
