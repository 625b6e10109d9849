#include "colors.h"

#include "../model/height_grid.h"
#include "shading.h"

#include <math.h>

int64_t rs_heightmap_color_rows(const rs_shape *shape) {
    return (int64_t)shape->grid->x_samples * shape->grid->y_samples;
}

/* The sample before a coordinate in units of cells, and the rest of the way to the next one. */
static int32_t cell_of(double coordinate, int32_t samples, double *rest) {
    double inside = rs_clamp(coordinate, 0.0, samples - 1.0);
    int32_t cell = inside < samples - 2.0 ? (int32_t)inside : samples - 2;
    *rest = inside - cell;
    return cell;
}

/* Between the four samples around a point of the grid frame. */
static void blend_samples(const rs_height_grid *grid, const float *rgb, rs_vec3 point, double out[3]) {
    double u, v;
    int32_t ix = cell_of((point.x + 0.5 * grid->x_size) / grid->dx, grid->x_samples, &u);
    int32_t iy = cell_of((point.y + 0.5 * grid->y_size) / grid->dy, grid->y_samples, &v);
    const float *near = &rgb[3 * ((int64_t)iy * grid->x_samples + ix)], *far = near + 3 * (int64_t)grid->x_samples;
    for (int k = 0; k < 3; k++)
        out[k] = (1.0 - v) * ((1.0 - u) * (double)near[k] + u * (double)near[3 + k]) +
                 v * ((1.0 - u) * (double)far[k] + u * (double)far[3 + k]);
}

/* ---- images ---- */

/* The pixel before a place 0..1 of a line of pixels that repeats itself, the one after it, and the rest of the way. */
static void pixels_around(double place, int32_t count, int32_t *before, int32_t *after, double *rest) {
    double at = (place - floor(place)) * count - 0.5, whole = floor(at);
    *rest = at - whole;
    *before = ((int32_t)whole + count) % count;
    *after = (*before + 1) % count;
}

static void image_at(const rs_texture *image, const float *shares, double u, double v, double rgb[3]) {
    int32_t left, right, above, below;
    double across, down;
    pixels_around(u, image->width, &left, &right, &across);
    pixels_around(1.0 - v, image->height, &above, &below, &down);
    const uint8_t *upper = &image->rgb[3 * (int64_t)above * image->width], *lower = &image->rgb[3 * (int64_t)below * image->width];
    for (int k = 0; k < 3; k++) {
        double top = (1.0 - across) * (double)shares[upper[3 * left + k]] + across * (double)shares[upper[3 * right + k]];
        double bottom = (1.0 - across) * (double)shares[lower[3 * left + k]] + across * (double)shares[lower[3 * right + k]];
        rgb[k] = (1.0 - down) * top + down * bottom;
    }
}

static void texture_at(const rs_texture *image, const float *shares, const rs_tri_mesh *mesh, int64_t triangle, rs_vec3 point,
                       double rgb[3]) {
    rs_vec3 share = rs_triangle_shares(mesh, triangle, point);
    const float *uv = &image->uv[6 * (int64_t)mesh->given[triangle]];
    double u = share.x * (double)uv[0] + share.y * (double)uv[2] + share.z * (double)uv[4];
    double v = share.x * (double)uv[1] + share.y * (double)uv[3] + share.z * (double)uv[5];
    image_at(image, shares, u, v, rgb);
}

void rs_color_at(const rs_colors *colors, const rs_ray_target *target, int64_t feature, rs_vec3 point, double rgb[3]) {
    const rs_color_rows *rows = &colors->of_body[target->body];
    const rs_looks *looks = colors->looks;
    const rs_shape *shape = target->shape;
    if (shape->type == RS_SHAPE_HEIGHTMAP && rows->count > 1) {
        blend_samples(shape->grid, &looks->rgb[3 * rows->first], rs_transform_inv_point(&target->pose, point), rgb);
        return;
    }
    int64_t row = rows->first + target->number;
    if (looks->image != NULL && looks->image[row] >= 0 && shape->type == RS_SHAPE_MESH) {
        const rs_texture *image = &looks->textures[looks->image[row]];
        texture_at(image, looks->shares, shape->mesh, feature, rs_transform_inv_point(&target->pose, point), rgb);
        return;
    }
    for (int k = 0; k < 3; k++)
        rgb[k] = (double)looks->rgb[3 * row + k];
}
