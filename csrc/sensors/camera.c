#include "camera.h"

/* A bundle is a square of pixels. */
enum { BLOCK = 4 };

typedef struct {
    const rs_depth_camera *camera;
    rs_transform pose;
    double pixel; /* size of a pixel at depth 1 */
} view;

static view make_view(const rs_depth_camera *camera) {
    return (view){camera, rs_transform_make(rs_v3_load(camera->position), rs_quat_load(camera->quaternion)),
                  2.0 * tan(0.5 * camera->horizontal_fov) / camera->width};
}

/* Rays of the block whose first pixel is (row, column); `stretch`: distance along the ray for depth 1. Lanes outside
 * the image see its last pixel, unused. */
static void aim(const view *v, int32_t row, int32_t column, rs_packet_rays *rays, rs_packet_hits *hits,
                double stretch[RS_LANES]) {
    const double *m = v->pose.rot.m;
    const rs_depth_camera *camera = v->camera;
    rays->origin = v->pose.pos;
    for (int l = 0; l < RS_LANES; l++) {
        double r = row + l / BLOCK, c = column + l % BLOCK;
        bool used = r < camera->height && c < camera->width;
        double y = v->pixel * (0.5 * camera->width - c - 0.5), z = v->pixel * (0.5 * camera->height - r - 0.5);
        double length = sqrt(1.0 + y * y + z * z), scale = 1.0 / length;
        double dx = scale, dy = scale * y, dz = scale * z;
        rays->x[l] = m[0] * dx + m[1] * dy + m[2] * dz;
        rays->y[l] = m[3] * dx + m[4] * dy + m[5] * dz;
        rays->z[l] = m[6] * dx + m[7] * dy + m[8] * dz;
        stretch[l] = length;
        hits->distance[l] = used ? length * camera->far : -1.0;
        hits->target[l] = RS_NO_TARGET;
    }
}

/* Number of the lane's pixel, or -1 outside the image. */
static int64_t pixel_of(const view *v, int32_t row, int32_t column, int lane) {
    int32_t r = row + lane / BLOCK, c = column + lane % BLOCK;
    return r < v->camera->height && c < v->camera->width ? (int64_t)r * v->camera->width + c : -1;
}

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

void rs_camera_depth(const rs_ray_scene *scene, const rs_depth_camera *camera, const rs_ray_filter *filter,
                     const rs_noise *noise, const rs_depth_image *image) {
    view v = make_view(camera);
    rs_packet_rays rays;
    rs_packet_hits hits = {{0}, {0}, {0}};
    double stretch[RS_LANES];
    for (int32_t row = 0; row < camera->height; row += BLOCK)
        for (int32_t column = 0; column < camera->width; column += BLOCK) {
            aim(&v, row, column, &rays, &hits, stretch);
            rs_ray_scene_cast_packet(scene, &rays, filter, &hits);
            for (int l = 0; l < RS_LANES; l++) {
                int64_t pixel = pixel_of(&v, row, column, l);
                rs_ray ray = rs_packet_ray(&rays, l, hits.distance[l]);
                if (pixel >= 0)
                    note_depth(scene, camera, noise, image, pixel, &ray, hits.target[l], stretch[l]);
            }
        }
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
    bool shaded = light->shadows && lit > 0.0 && rs_ray_scene_cast(scene, &to_light, filter).body != RS_NONE;
    return shaded ? 0.0 : lit;
}

static uint8_t byte_of(double share) { return (uint8_t)(255.0 * rs_clamp(share, 0.0, 1.0) + 0.5); }

void rs_camera_color(const rs_ray_scene *scene, const rs_depth_camera *camera, const rs_ray_filter *filter,
                     const rs_light *light, const rs_colors *colors, uint8_t *rgb) {
    view v = make_view(camera);
    rs_packet_rays rays;
    rs_packet_hits hits = {{0}, {0}, {0}};
    double stretch[RS_LANES];
    for (int32_t row = 0; row < camera->height; row += BLOCK)
        for (int32_t column = 0; column < camera->width; column += BLOCK) {
            aim(&v, row, column, &rays, &hits, stretch);
            rs_ray_scene_cast_packet(scene, &rays, filter, &hits);
            for (int l = 0; l < RS_LANES; l++) {
                int64_t pixel = pixel_of(&v, row, column, l);
                if (pixel < 0)
                    continue;
                bool seen = hits.target[l] != RS_NO_TARGET && hits.distance[l] >= stretch[l] * camera->near;
                rs_ray ray = rs_packet_ray(&rays, l, hits.distance[l]);
                double color[3] = {light->background[0], light->background[1], light->background[2]};
                if (seen) {
                    double lit = lit_share(scene, &ray, filter, light, hits.target[l], hits.feature[l]);
                    rs_vec3 point = rs_madd(ray.origin, ray.max, ray.direction);
                    rs_color_at(colors, rs_ray_scene_target(scene, hits.target[l]), hits.feature[l], point, color);
                    for (int k = 0; k < 3; k++)
                        color[k] *= light->ambient + (1.0 - light->ambient) * lit * light->color[k];
                }
                for (int k = 0; k < 3; k++)
                    rgb[3 * pixel + k] = byte_of(color[k]);
            }
        }
}
