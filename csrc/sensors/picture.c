#include "picture.h"

#include "shading.h"

#include <math.h>
#include <string.h>

/* A bundle is a square of pixels. */
enum { BLOCK = 4, NEARBY = 2, SHADES = 4096 };
#define NOTHING 0x3fffffffu
#define SHADED 0x80000000u
#define PI 3.14159265358979323846

typedef struct {
    const rs_ray_scene *scene;
    const rs_depth_camera *camera;
    const rs_ray_filter *filter;
    const rs_picture *style;
    const rs_colors *colors;
    rs_transform pose;
    double pixel; /* size of a pixel at depth 1 */
    rs_vec3 sun, sun_u, sun_v;
    uint8_t bytes[SHADES + 1]; /* of shares of light, in equal steps */
} painter;

/* What one ray saw: light, and a mark that differs where edges are. */
typedef struct {
    double light[3];
    uint32_t mark;
} sample;

/* ---- scattered numbers: the same for the same pixel ---- */

static uint32_t scramble(uint32_t x) {
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ (x >> 16);
}

/* Number k of a sample of a pixel, 0..1. Samples of a pixel are spread evenly (golden ratio), pixels are not alike. */
static double scattered(int64_t pixel, int32_t number, uint32_t k) {
    static const double steps[] = {0.7548776662466927, 0.5698402909980532, 0.8191725133961645,
                                   0.6710436067037893, 0.5497004779019703, 0.8566748838545029};
    double start = scramble((uint32_t)pixel * 6u + k) / 4294967296.0, value = start + number * steps[k];
    return value - floor(value);
}

/* ---- light ---- */

static void sky_color(const rs_picture *style, double up, double out[3]) {
    double share = sqrt(rs_clamp(up, 0.0, 1.0));
    for (int k = 0; k < 3; k++)
        out[k] = (1.0 - share) * style->horizon[k] + share * style->zenith[k];
}

static rs_vec3 towards_sun(const painter *p, int64_t pixel, int32_t number) {
    double radius = p->style->sun_size * sqrt(scattered(pixel, number, 2)), turn = 2.0 * PI * scattered(pixel, number, 3);
    rs_vec3 aside = rs_madd(rs_scale(radius * cos(turn), p->sun_u), radius * sin(turn), p->sun_v);
    return rs_normalize_or(rs_add(p->sun, aside), p->sun);
}

/* A direction of the half-space above a surface, more often where it counts more. */
static rs_vec3 towards_sky(rs_vec3 normal, int64_t pixel, int32_t number) {
    double z = 1.0 - 2.0 * scattered(pixel, number, 4), turn = 2.0 * PI * scattered(pixel, number, 5);
    double side = sqrt(rs_max(1.0 - z * z, 0.0));
    return rs_normalize_or(rs_add(normal, rs_v3(side * cos(turn), side * sin(turn), z)), normal);
}

static bool is_free(const painter *p, rs_vec3 point, rs_vec3 direction) {
    rs_ray ray = {point, direction, p->camera->far};
    return rs_ray_scene_is_free(p->scene, &ray, p->filter);
}

/* A pattern of tiles on endless planes that fades with the distance; `mark` tells tiles apart. */
static void tile(const rs_picture *style, rs_vec3 point, double distance, double color[3], uint32_t *mark) {
    if (!(style->tile > 0.0) || distance > 25.0 * style->tile)
        return;
    bool odd = ((int64_t)floor(point.x / style->tile) + (int64_t)floor(point.y / style->tile)) & 1;
    double contrast = 0.14 * (1.0 - distance / (25.0 * style->tile));
    for (int k = 0; k < 3 && odd; k++)
        color[k] *= 1.0 - contrast;
    *mark ^= odd && distance < 10.0 * style->tile ? 0x40000000u : 0u;
}

/* Share of the sun's light on a surface with a bent normal. It fades where the flat triangle itself turns away: its shadow
 * would end at the triangle's edge (Chiang, Li and Burley 2019, "Taming the shadow terminator"). */
static double sunlight(rs_vec3 normal, rs_vec3 bent, rs_vec3 sun) {
    double flat = rs_dot(normal, sun), round = rs_dot(bent, sun);
    if (flat <= 0.0 || round <= 0.0)
        return 0.0;
    double share = rs_min(flat / (round * rs_dot(normal, bent)), 1.0);
    return round * share * (1.0 + share - share * share);
}

static sample shade(const painter *p, const rs_ray *ray, int64_t target, int64_t feature, int64_t pixel,
                    int32_t number) {
    const rs_picture *style = p->style;
    sample out = {{0.0, 0.0, 0.0}, NOTHING};
    double sky[3];
    sky_color(style, ray->direction.z, sky);
    if (target == RS_NO_TARGET) {
        memcpy(out.light, sky, sizeof sky);
        return out;
    }
    const rs_ray_target *hit = rs_ray_scene_target(p->scene, target);
    rs_vec3 normal = rs_ray_scene_normal(p->scene, ray, target, feature);
    if (rs_dot(normal, ray->direction) > 0.0)
        normal = rs_neg(normal);
    rs_vec3 surface = rs_madd(ray->origin, ray->max, ray->direction);
    rs_vec3 point = rs_madd(surface, 1e-5 * (1.0 + ray->max), normal);
    rs_vec3 bent = rs_shading_normal(hit, feature, surface, normal);
    double color[3];
    rs_color_at(p->colors, hit, feature, surface, color);
    /* Faces whose normals differ are told apart, smooth surfaces are not. */
    uint32_t facing = rs_shape_is_smooth(hit->shape->type)
                          ? 0u
                          : (uint32_t)((bent.x + 2.0) * 2.0) * 64u + (uint32_t)((bent.y + 2.0) * 2.0) * 8u +
                                (uint32_t)((bent.z + 2.0) * 2.0);
    out.mark = ((uint32_t)target * 512u + facing) & 0x3fffffffu;
    if (hit->shape->type == RS_SHAPE_HALF_SPACE)
        tile(style, surface, ray->max, color, &out.mark);
    rs_vec3 sun = towards_sun(p, pixel, number);
    double lit = sunlight(normal, bent, sun);
    if (lit > 0.0 && !is_free(p, point, sun)) {
        lit = 0.0;
        out.mark ^= SHADED;
    }
    double open = style->occlusion && !is_free(p, point, towards_sky(normal, pixel, number)) ? 0.25 : 1.0;
    double up = 0.5 + 0.5 * bent.z;
    rs_vec3 halfway = rs_normalize_or(rs_sub(sun, ray->direction), bent);
    double shine = lit > 0.0 ? rs_max(rs_dot(halfway, bent), 0.0) : 0.0;
    for (int k = 0; k < 6; k++) /* to the power of 64 */
        shine *= shine;
    shine *= style->gloss;
    double far = ray->max / style->fade, haze = 1.0 - exp(-far * far);
    for (int k = 0; k < 3; k++) {
        double around = open * ((1.0 - up) * style->bounce[k] + up * style->sky_light[k]);
        double light = color[k] * (around + lit * style->sun_light[k]) + shine * style->sun_light[k];
        out.light[k] = (1.0 - haze) * light + haze * style->horizon[k];
    }
    return out;
}

/* ---- rays ---- */

/* Through a point of the image, in pixels from its upper left corner. */
static rs_vec3 direction_of(const painter *p, double row, double column) {
    const double *m = p->pose.rot.m;
    double y = p->pixel * (0.5 * p->camera->width - column), z = p->pixel * (0.5 * p->camera->height - row);
    double s = 1.0 / sqrt(1.0 + y * y + z * z);
    return rs_v3(s * (m[0] + m[1] * y + m[2] * z), s * (m[3] + m[4] * y + m[5] * z), s * (m[6] + m[7] * y + m[8] * z));
}

static void store(const painter *p, const double light[3], uint8_t *rgb) {
    for (int k = 0; k < 3; k++)
        rgb[k] = p->bytes[(int32_t)(SHADES * rs_clamp(light[k], 0.0, 1.0) + 0.5)];
}

/* One ray through the middle of every pixel. */
static void sketch(const painter *p, uint32_t *marks, uint8_t *rgb) {
    int32_t width = p->camera->width, height = p->camera->height;
    rs_packet_rays rays;
    rs_packet_hits hits = {{0}, {0}, {0}};
    rays.origin = p->pose.pos;
    for (int32_t row = 0; row < height; row += BLOCK)
        for (int32_t column = 0; column < width; column += BLOCK) {
            for (int l = 0; l < RS_LANES; l++) {
                int32_t r = row + l / BLOCK, c = column + l % BLOCK;
                rs_vec3 d = direction_of(p, r + 0.5, c + 0.5);
                rays.x[l] = d.x, rays.y[l] = d.y, rays.z[l] = d.z;
                hits.distance[l] = r < height && c < width ? p->camera->far : -1.0;
                hits.target[l] = RS_NO_TARGET;
            }
            rs_ray_scene_cast_packet(p->scene, &rays, p->filter, &hits);
            for (int l = 0; l < RS_LANES; l++) {
                int32_t r = row + l / BLOCK, c = column + l % BLOCK;
                if (r >= height || c >= width)
                    continue;
                int64_t pixel = (int64_t)r * width + c;
                rs_ray ray = rs_packet_ray(&rays, l, hits.distance[l]);
                sample seen = shade(p, &ray, hits.target[l], hits.feature[l], pixel, 0);
                marks[pixel] = seen.mark;
                store(p, seen.light, &rgb[3 * pixel]);
            }
        }
}

/* 1 where a pixel and the next one to the right or below saw different things, 2 where one is in the shadow. */
static void find_edges(const painter *p, const uint32_t *marks, uint8_t *edges) {
    int64_t width = p->camera->width, height = p->camera->height;
    for (int64_t r = 0; r < height; r++)
        for (int64_t c = 0; c < width; c++) {
            const uint32_t *own = &marks[r * width + c];
            uint32_t right = c + 1 < width ? own[0] ^ own[1] : 0, below = r + 1 < height ? own[0] ^ own[width] : 0;
            uint32_t differs = right | below;
            edges[r * width + c] = (uint8_t)(((differs & ~SHADED) != 0) + 2 * (differs >> 31));
        }
}

/* Whether something differs at a pixel, or the border of a shadow is near: that is wide. */
static bool is_edge(const painter *p, const uint8_t *edges, int32_t row, int32_t column) {
    int32_t width = p->camera->width, first = row < NEARBY ? 0 : row - NEARBY;
    int32_t left = column < NEARBY ? 0 : column - NEARBY;
    int32_t right = column + 1 < width ? column + 1 : column, last = row + 1 < p->camera->height ? row + 1 : row;
    const uint8_t *own = &edges[(int64_t)row * width + column];
    if (own[0] || (column > 0 && own[-1]) || (row > 0 && own[-width]))
        return true;
    uint32_t found = 0;
    for (int32_t r = first; r <= last; r++) {
        const uint8_t *line = &edges[(int64_t)r * width];
        if (right - left == 3) { /* four at once */
            uint32_t four;
            memcpy(&four, &line[left], sizeof four);
            found |= four;
        } else {
            for (int32_t c = left; c <= right; c++)
                found |= line[c];
        }
    }
    return (found & 0x02020202u) != 0;
}

/* Several rays through one pixel, as a bundle. */
static void refine(const painter *p, int32_t row, int32_t column, uint8_t *rgb) {
    int64_t pixel = (int64_t)row * p->camera->width + column;
    double sum[3] = {0.0, 0.0, 0.0};
    rs_packet_rays rays;
    rs_packet_hits hits = {{0}, {0}, {0}};
    rays.origin = p->pose.pos;
    for (int32_t first = 0; first < p->style->samples; first += RS_LANES) {
        for (int32_t l = 0; l < RS_LANES; l++) {
            rs_vec3 d = direction_of(p, row + scattered(pixel, first + l, 0), column + scattered(pixel, first + l, 1));
            rays.x[l] = d.x, rays.y[l] = d.y, rays.z[l] = d.z;
            hits.distance[l] = first + l < p->style->samples ? p->camera->far : -1.0;
            hits.target[l] = RS_NO_TARGET;
        }
        rs_ray_scene_cast_packet(p->scene, &rays, p->filter, &hits);
        for (int32_t l = 0; l < RS_LANES && first + l < p->style->samples; l++) {
            rs_ray ray = rs_packet_ray(&rays, l, hits.distance[l]);
            sample seen = shade(p, &ray, hits.target[l], hits.feature[l], pixel, first + l);
            for (int k = 0; k < 3; k++)
                sum[k] += rs_clamp(seen.light[k], 0.0, 1.0) / p->style->samples;
        }
    }
    store(p, sum, &rgb[3 * pixel]);
}

void rs_camera_picture(const rs_ray_scene *scene, const rs_depth_camera *camera, const rs_ray_filter *filter,
                       const rs_picture *style, const rs_colors *colors, uint32_t *marks, uint8_t *rgb) {
    rs_vec3 sun = rs_normalize_or(rs_v3_load(style->sun), rs_v3(0.0, 0.0, 1.0));
    rs_vec3 other = fabs(sun.z) < 0.9 ? rs_v3(0.0, 0.0, 1.0) : rs_v3(1.0, 0.0, 0.0);
    rs_vec3 u = rs_normalize_or(rs_cross(other, sun), rs_v3(1.0, 0.0, 0.0));
    painter p = {scene, camera, filter, style, colors,
                 rs_transform_make(rs_v3_load(camera->position), rs_quat_load(camera->quaternion)),
                 2.0 * tan(0.5 * camera->horizontal_fov) / camera->width, sun, u, rs_cross(sun, u), {0}};
    for (int k = 0; k <= SHADES; k++)
        p.bytes[k] = (uint8_t)(255.0 * pow((double)k / SHADES, 1.0 / 2.2) + 0.5);
    sketch(&p, marks, rgb);
    if (style->samples < 2)
        return;
    uint8_t *edges = (uint8_t *)&marks[(int64_t)camera->width * camera->height];
    find_edges(&p, marks, edges);
    for (int32_t row = 0; row < camera->height; row++)
        for (int32_t column = 0; column < camera->width; column++)
            if (style->everywhere || is_edge(&p, edges, row, column))
                refine(&p, row, column, rgb);
}
