#include "camera.h"

#include <string.h>

/* A bundle is a square of pixels. */
enum { BLOCK = 4 };

/* A camera that looks at block after block of a row. */
typedef struct {
    const rs_depth_camera *camera;
    rs_transform pose;
    double pixel; /* size of a pixel at depth 1 */

    /* the block: its first pixel, its rays, distances along them for depth 1, and what they hit */
    int32_t row, column;
    rs_packet_rays rays;
    double stretch[RS_LANES];
    rs_packet_hits hits;
} view;

static view make_view(const rs_depth_camera *camera, int32_t row) {
    return (view){.camera = camera,
                  .pose = rs_transform_make(rs_v3_load(camera->position), rs_quat_load(camera->quaternion)),
                  .pixel = 2.0 * tan(0.5 * camera->horizontal_fov) / camera->width,
                  .column = -BLOCK,
                  .row = row};
}

/* Rays of the block. Lanes outside the image see its last pixel, unused. */
static void aim(view *v) {
    const double *m = v->pose.rot.m;
    const rs_depth_camera *camera = v->camera;
    v->rays.origin = v->pose.pos;
    for (int l = 0; l < RS_LANES; l++) {
        double r = v->row + l / BLOCK, c = v->column + l % BLOCK;
        bool used = r < camera->height && c < camera->width;
        double y = v->pixel * (0.5 * camera->width - c - 0.5), z = v->pixel * (0.5 * camera->height - r - 0.5);
        double length = sqrt(1.0 + y * y + z * z), scale = 1.0 / length;
        double dx = scale, dy = scale * y, dz = scale * z;
        v->rays.x[l] = m[0] * dx + m[1] * dy + m[2] * dz;
        v->rays.y[l] = m[3] * dx + m[4] * dy + m[5] * dz;
        v->rays.z[l] = m[6] * dx + m[7] * dy + m[8] * dz;
        v->stretch[l] = length;
        v->hits.distance[l] = used ? length * camera->far : -1.0;
        v->hits.target[l] = RS_NO_TARGET;
    }
}

/* Casts the rays of the next block; false after the last one of its row. */
static bool next_block(view *v, const rs_ray_scene *scene, const rs_ray_filter *filter) {
    v->column += BLOCK;
    if (v->column >= v->camera->width)
        return false;
    aim(v);
    rs_ray_scene_cast_packet(scene, &v->rays, filter, &v->hits);
    return true;
}

/* Number of the lane's pixel, or -1 outside the image. */
static int64_t pixel_of(const view *v, int lane) {
    int32_t r = v->row + lane / BLOCK, c = v->column + lane % BLOCK;
    return r < v->camera->height && c < v->camera->width ? (int64_t)r * v->camera->width + c : -1;
}

static rs_ray ray_of(const view *v, int lane) { return rs_packet_ray(&v->rays, lane, v->hits.distance[lane]); }

static void note_depth(const rs_ray_scene *scene, const rs_depth_camera *camera, const rs_noise *noise,
                       const rs_depth_image *image, int64_t pixel, const rs_ray *ray, int64_t target, double stretch) {
    double depth = ray->max / stretch;
    bool seen = target != RS_NO_TARGET && depth >= camera->near;
    if (image->points != NULL)
        rs_v3_store(&image->points[3 * pixel],
                    seen ? rs_madd(ray->origin, ray->max, ray->direction) : rs_v3(NAN, NAN, NAN));
    if (image->bodies != NULL)
        image->bodies[pixel] = seen ? rs_ray_scene_target(scene, target)->body : RS_NONE;
    if (image->links != NULL)
        image->links[pixel] = seen ? rs_ray_scene_target(scene, target)->link : RS_NONE;
    if (image->depth == NULL)
        return;
    if (seen && rs_noise_is_on(noise))
        depth = rs_noise_apply(noise, pixel, depth);
    float unseen = !camera->tell_range ? NAN : target != RS_NO_TARGET ? -INFINITY : INFINITY;
    image->depth[pixel] = seen ? (float)depth : unseen;
}

/* A picture that threads make, each a row of blocks at a time. */
typedef struct {
    const rs_ray_scene *scene;
    const rs_depth_camera *camera;
    const rs_ray_filter *filter;
    const rs_depth_image *image;
    const rs_light *light;
    const rs_colors *colors;
    uint8_t *rgb;
} picture_job;

static void share_rows(const picture_job *job, rs_thread_pool *pool, rs_pool_work work) {
    int64_t pixels = (int64_t)job->camera->width * job->camera->height;
    rs_pool_share(pixels < RS_FEW_RAYS ? NULL : pool, (job->camera->height + BLOCK - 1) / BLOCK, work, (void *)job);
}

static void measure_row(void *context, int32_t worker, int64_t item) {
    const picture_job *job = context;
    view v = make_view(job->camera, (int32_t)item * BLOCK);
    (void)worker;
    while (next_block(&v, job->scene, job->filter))
        for (int l = 0; l < RS_LANES; l++) {
            int64_t pixel = pixel_of(&v, l);
            rs_ray ray = ray_of(&v, l);
            if (pixel >= 0)
                note_depth(job->scene, job->camera, &job->camera->noise, job->image, pixel, &ray, v.hits.target[l], v.stretch[l]);
        }
}

void rs_camera_depth(const rs_ray_scene *scene, const rs_depth_camera *camera, const rs_ray_filter *filter,
                     rs_thread_pool *pool, const rs_depth_image *image) {
    picture_job job = {.scene = scene, .camera = camera, .filter = filter, .image = image};
    share_rows(&job, pool, measure_row);
}

/* ---- colour ---- */

/* The unit vector from a point to the light, and how far shadows reach; false where the light does not shine. */
static bool shines_at(const rs_light *light, rs_vec3 point, rs_vec3 *towards, double *reach) {
    rs_vec3 backward = rs_neg(rs_v3_load(light->direction));
    *towards = backward;
    *reach = light->shadow_reach;
    if (!light->near)
        return true;
    rs_vec3 way = rs_sub(rs_v3_load(light->position), point);
    *reach = rs_norm(way);
    *towards = rs_normalize_or(way, backward);
    return rs_dot(*towards, backward) >= light->cos_cutoff;
}

/* Share of the light that a surface point sends back (Lambert), both sides alike; `ray->max` is its distance. */
static double lit_share(const rs_ray_scene *scene, const rs_ray *ray, const rs_ray_filter *filter,
                         const rs_light *light, int64_t target, int64_t feature) {
    rs_vec3 normal = rs_ray_scene_normal(scene, ray, target, feature);
    if (rs_dot(normal, ray->direction) > 0.0)
        normal = rs_neg(normal);
    /* From a little above the surface: it must not shade itself. */
    rs_vec3 point = rs_madd(rs_madd(ray->origin, ray->max, ray->direction), 1e-6 * (1.0 + ray->max), normal), towards;
    double reach;
    if (!shines_at(light, point, &towards, &reach))
        return 0.0;
    double lit = rs_max(rs_dot(normal, towards), 0.0);
    rs_ray to_light = {point, towards, reach};
    bool shaded = light->shadows && lit > 0.0 && !rs_ray_scene_is_free(scene, &to_light, filter);
    return shaded ? 0.0 : lit;
}

static uint8_t byte_of(double share) { return (uint8_t)(255.0 * rs_clamp(share, 0.0, 1.0) + 0.5); }

/* Colour of what a lane sees; the background's where that is nothing. */
static void color_of(const view *v, int lane, const rs_ray_scene *scene, const rs_ray_filter *filter,
                     const rs_light *light, const rs_colors *colors, double color[3]) {
    int64_t target = v->hits.target[lane], feature = v->hits.feature[lane];
    memcpy(color, light->background, sizeof light->background);
    if (target == RS_NO_TARGET || v->hits.distance[lane] < v->stretch[lane] * v->camera->near)
        return;
    rs_ray ray = ray_of(v, lane);
    double lit = lit_share(scene, &ray, filter, light, target, feature);
    rs_vec3 point = rs_madd(ray.origin, ray.max, ray.direction);
    rs_color_at(colors, rs_ray_scene_target(scene, target), feature, point, color);
    for (int k = 0; k < 3; k++)
        color[k] *= light->ambient + (1.0 - light->ambient) * lit * light->color[k];
}

static void paint_row(void *context, int32_t worker, int64_t item) {
    const picture_job *job = context;
    view v = make_view(job->camera, (int32_t)item * BLOCK);
    (void)worker;
    while (next_block(&v, job->scene, job->filter))
        for (int l = 0; l < RS_LANES; l++) {
            int64_t pixel = pixel_of(&v, l);
            if (pixel < 0)
                continue;
            double color[3];
            color_of(&v, l, job->scene, job->filter, job->light, job->colors, color);
            for (int k = 0; k < 3; k++)
                job->rgb[3 * pixel + k] = byte_of(color[k]);
        }
}

void rs_camera_color(const rs_ray_scene *scene, const rs_depth_camera *camera, const rs_ray_filter *filter,
                     const rs_light *light, const rs_colors *colors, rs_thread_pool *pool, uint8_t *rgb) {
    picture_job job = {scene, camera, filter, NULL, light, colors, rgb};
    share_rows(&job, pool, paint_row);
}
