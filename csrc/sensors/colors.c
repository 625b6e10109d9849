#include "colors.h"

#include "../model/height_grid.h"

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

void rs_color_at(const rs_colors *colors, const rs_ray_target *target, rs_vec3 point, double rgb[3]) {
    const rs_color_rows *rows = &colors->of_body[target->body];
    const float *first = &colors->rgb[3 * rows->first];
    if (target->shape->type == RS_SHAPE_HEIGHTMAP && rows->count > 1) {
        blend_samples(target->shape->grid, first, rs_transform_inv_point(&target->pose, point), rgb);
        return;
    }
    for (int k = 0; k < 3; k++)
        rgb[k] = (double)first[3 * target->number + k];
}
