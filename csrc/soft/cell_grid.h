/* Points sorted into the cells of a regular grid, to find those near each other. */
#ifndef RS_SOFT_CELL_GRID_H
#define RS_SOFT_CELL_GRID_H

#include "../base/memory.h"
#include "../base/simd4.h"
#include "../model/shape.h"

/* Axes along which space repeats. */
typedef struct {
    bool periodic[3];
    rs_vec3 min, max; /* [m]; of periodic axes only */
} rs_domain;

typedef struct {
    rs_vec3 origin;
    rs_vec3 inverse_size; /* of a cell [1/m] */
    int32_t cells[3];
    bool periodic[3];
    RS_ARRAY(int32_t) starts;  /* per cell and one more: where its points begin in `items` */
    RS_ARRAY(int32_t) items;   /* points, by cell, then by index */
    RS_ARRAY(int32_t) cell_of; /* per point */
} rs_cell_grid;

void rs_cell_grid_free(rs_cell_grid *grid);

/* Sorts points, the first three numbers of each quad, into cells at least `size` wide [m]. Points far from the others are
 * taken for such at the border: two points closer than `size` are always in the same cell or in neighbouring ones. */
rs_status rs_cell_grid_build(rs_cell_grid *grid, const rs_quad *points, int64_t count, double size, const rs_domain *domain);

/* Cells along each axis that a box touches, both ends included. */
void rs_cell_grid_range(const rs_cell_grid *grid, const rs_aabb *box, int32_t first[3], int32_t last[3]);

static inline int32_t rs_cell_index(const rs_cell_grid *grid, int32_t x, int32_t y, int32_t z) {
    return (z * grid->cells[1] + y) * grid->cells[0] + x;
}

/* The points of the up to 27 cells around a point, in runs along x that lie side by side in memory. */
typedef struct {
    int32_t first, last; /* places in `items`, the last one not included */
} rs_cell_run;
enum { RS_MAX_CELL_RUNS = 27 };
/* Number of runs. */
int rs_cell_grid_around(const rs_cell_grid *grid, int32_t cell, rs_cell_run out[RS_MAX_CELL_RUNS]);

#endif
