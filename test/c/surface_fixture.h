/* Meshes and heightmaps shared by the tests of triangle surfaces. */
#ifndef RAISIM_TEST_SURFACE_FIXTURE_H
#define RAISIM_TEST_SURFACE_FIXTURE_H

#include <stdlib.h>

#include "../../csrc/model/height_grid.h"
#include "../../csrc/model/tri_mesh.h"
#include "collide_fixture.h"

/* A reproducible number in [lo, hi). */
static inline double random_in(uint64_t *state, double lo, double hi)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return lo + (hi - lo) * (double)(*state >> 11) / 9007199254740992.0;
}

static inline rs_transform random_pose(uint64_t *state, double reach)
{
    rs_quat q = {random_in(state, -1, 1), random_in(state, -1, 1), random_in(state, -1, 1), random_in(state, -1, 1)};
    rs_vec3 p = rs_v3(random_in(state, -reach, reach), random_in(state, -reach, reach), random_in(state, -reach, reach));
    return rs_transform_make(p, rs_quat_normalize(q));
}

static inline rs_tri_mesh *mesh_of(int64_t vertices, const double *xyz, int64_t triangles, const int32_t *indices)
{
    rs_tri_mesh *mesh = NULL;
    CHECK(rs_tri_mesh_new(vertices, xyz, triangles, indices, &mesh) == RS_OK);
    return mesh;
}

static const int32_t BOX_TRIANGLES[36] = {0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
                                          2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5};

/* A closed box of full lengths x, y, z about the origin. */
static inline rs_tri_mesh *box_mesh(double x, double y, double z)
{
    double xyz[24];
    for (int i = 0; i < 8; i++) {
        xyz[3 * i] = (i & 1 ? 0.5 : -0.5) * x;
        xyz[3 * i + 1] = (i & 2 ? 0.5 : -0.5) * y;
        xyz[3 * i + 2] = (i & 4 ? 0.5 : -0.5) * z;
    }
    return mesh_of(8, xyz, 12, BOX_TRIANGLES);
}

/* An open sheet over [-size/2, size/2]^2 with `cells` cells a side and the given heights, or flat without. */
static inline rs_tri_mesh *sheet_mesh(int32_t cells, double size, const double *heights)
{
    int32_t n = cells + 1;
    double *xyz = malloc((size_t)(3 * n * n) * sizeof *xyz);
    int32_t *indices = malloc((size_t)(6 * cells * cells) * sizeof *indices), *next = indices;
    for (int32_t i = 0; i < n * n; i++) {
        xyz[3 * i] = -0.5 * size + size * (i % n) / cells;
        xyz[3 * i + 1] = -0.5 * size + size * (i / n) / cells;
        xyz[3 * i + 2] = heights ? heights[i] : 0.0;
    }
    for (int32_t y = 0; y < cells; y++)
        for (int32_t x = 0; x < cells; x++) {
            int32_t a = y * n + x, corners[6] = {a, a + 1, a + n + 1, a, a + n + 1, a + n};
            for (int k = 0; k < 6; k++)
                *next++ = corners[k];
        }
    rs_tri_mesh *mesh = mesh_of((int64_t)n * n, xyz, 2 * (int64_t)cells * cells, indices);
    free(xyz);
    free(indices);
    return mesh;
}

static inline rs_height_grid *grid_of(int32_t cells, double size, const double *heights)
{
    int32_t n = cells + 1;
    double *flat = calloc((size_t)(n * n), sizeof *flat);
    rs_height_grid *grid = NULL;
    CHECK(rs_height_grid_new(n, n, size, size, heights ? heights : flat, &grid) == RS_OK);
    free(flat);
    return grid;
}

static inline rs_shape shape_of_mesh(const rs_tri_mesh *mesh)
{
    return (rs_shape){.type = RS_SHAPE_MESH, .mesh = mesh};
}
static inline rs_shape shape_of_grid(const rs_height_grid *grid)
{
    return (rs_shape){.type = RS_SHAPE_HEIGHTMAP, .grid = grid};
}

/* One of each shape with a support function except the hull, all different in every direction that can differ. */
enum { CONVEX_SHAPES = 5 };
static inline rs_shape convex_shape(int i)
{
    switch (i) {
    case 0: return sphere_of(0.3);
    case 1: return box_of(0.6, 0.4, 0.3);
    case 2: return round_of(RS_SHAPE_CYLINDER, 0.25, 0.5);
    case 3: return round_of(RS_SHAPE_CONE, 0.3, 0.6);
    default: return round_of(RS_SHAPE_CAPSULE, 0.2, 0.5);
    }
}

static inline rs_manifold_point deepest_point(const rs_manifold *m)
{
    rs_manifold_point best = m->points[0];
    for (int i = 1; i < m->count; i++)
        if (m->points[i].gap < best.gap)
            best = m->points[i];
    return best;
}

static inline void check_sound(const rs_manifold *m, double margin)
{
    CHECK(m->count >= 0 && m->count <= RS_MAX_MANIFOLD);
    for (int i = 0; i < m->count; i++) {
        CHECK(rs_v3_finite(m->points[i].position));
        CHECK_NEAR(rs_norm(m->points[i].normal), 1.0, 1e-9);
        CHECK(m->points[i].gap < margin);
    }
}

/* What is found of triangles is as sound as what is found of a solid, and as far apart; true where the shapes touch, no deeper
 * than `deep`: beyond that the shortest ways out differ. */
static inline bool check_like_solid(const rs_manifold *found, const rs_manifold *solid, double margin, double deep)
{
    check_sound(found, margin);
    if (!CHECK((solid->count > 0) == (found->count > 0)) || found->count == 0)
        return false;
    if (least_gap(solid) < -deep) {
        CHECK(least_gap(found) < 0.0);
        return false;
    }
    CHECK_NEAR(least_gap(found), least_gap(solid), 1e-6);
    return true;
}

#endif
