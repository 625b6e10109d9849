/* Shapes and the geometry they share. */
#include "world.h"

rs_asset_entry *rs_world_asset(rs_world *world, rs_asset_id id) {
    rs_asset_entry *entries = world->data.assets.items;
    uint32_t place = (uint32_t)id;
    if (id != 0 && place < world->data.assets.count && entries[place].id == id)
        return &entries[place];
    rs_fail(RS_UNKNOWN_OBJECT, "asset %llu does not exist", (unsigned long long)id);
    return NULL;
}

void rs_world_asset_release(rs_world *world, rs_asset_id id) {
    rs_asset_entry *entry = id != 0 ? rs_world_asset(world, id) : NULL;
    if (entry == NULL || --entry->users > 0)
        return;
    rs_asset_drop(entry->asset);
    *entry = (rs_asset_entry){0};
}

rs_status rs_asset_release(rs_world *world, rs_asset_id asset) {
    rs_world_enter(world);
    rs_status status = rs_world_asset(world, asset) != NULL ? RS_OK : RS_UNKNOWN_OBJECT;
    if (status == RS_OK)
        rs_world_asset_release(world, asset);
    return rs_world_leave(world, status);
}

rs_status rs_world_list_asset(rs_world *world, rs_asset *asset, rs_asset_id *out) {
    if (asset == NULL)
        return RS_OUT_OF_MEMORY;
    rs_world_enter(world);
    int64_t place = 0;
    while (place < world->data.assets.count && RS_ITEM(world->data.assets, place)->id != 0)
        place++;
    if (place == world->data.assets.count && rs_array_push(&world->data.assets) == NULL) {
        rs_asset_drop(asset);
        return rs_world_leave(world, RS_OUT_OF_MEMORY);
    }
    *out = ((uint64_t)world->next_asset++ << 32) | (uint32_t)place;
    world->geometry_number++;
    world->data.assets.items[place] = (rs_asset_entry){*out, asset, 1};
    return rs_world_leave(world, RS_OK);
}

rs_status rs_asset_add(rs_world *world, rs_asset *asset, rs_asset_id *out) {
    rs_asset_hold(asset);
    return rs_world_list_asset(world, asset, out);
}

void rs_asset_destroy(rs_asset *asset) { rs_asset_drop(asset); }

rs_status rs_asset_create_convex(int64_t point_count, const double *xyz, rs_asset **out) {
    rs_convex *convex = NULL;
    rs_status status = rs_convex_new(point_count, xyz, &convex);
    if (status != RS_OK)
        return status;
    *out = rs_asset_new(RS_SHAPE_CONVEX, convex, NULL, NULL);
    return *out != NULL ? RS_OK : RS_OUT_OF_MEMORY;
}

rs_status rs_asset_create_mesh(int64_t vertex_count, const double *xyz, int64_t triangle_count, const int32_t *indices,
                               rs_asset **out) {
    rs_tri_mesh *mesh = NULL;
    rs_status status = rs_tri_mesh_new(vertex_count, xyz, triangle_count, indices, &mesh);
    if (status != RS_OK)
        return status;
    *out = rs_asset_new(RS_SHAPE_MESH, NULL, mesh, NULL);
    return *out != NULL ? RS_OK : RS_OUT_OF_MEMORY;
}

rs_status rs_mesh_distances(int64_t vertex_count, const double *xyz, int64_t triangle_count, const int32_t *indices,
                            int64_t count, const double *points, double *out) {
    rs_tri_mesh *mesh = NULL;
    rs_status status = rs_tri_mesh_new(vertex_count, xyz, triangle_count, indices, &mesh);
    if (status == RS_OK && !mesh->solid)
        status = rs_fail(RS_INVALID_VALUE, "the mesh is not closed: some of its edges do not belong to exactly two triangles, "
                                           "or it encloses no volume");
    for (int64_t k = 0; status == RS_OK && k < count; k++) {
        rs_mesh_nearest nearest;
        if (!rs_tri_mesh_nearest(mesh, rs_v3_load(&points[3 * k]), INFINITY, &nearest))
            status = rs_fail(RS_INVALID_VALUE, "point %lld is not finite", (long long)k);
        else
            out[k] = nearest.inside ? -nearest.distance : nearest.distance;
    }
    rs_tri_mesh_free(mesh);
    return status;
}

rs_status rs_asset_create_heightmap(int32_t x_samples, int32_t y_samples, double x_size, double y_size, const double *heights,
                                    rs_asset **out) {
    rs_height_grid *grid = NULL;
    rs_status status = rs_height_grid_new(x_samples, y_samples, x_size, y_size, heights, &grid);
    if (status != RS_OK)
        return status;
    *out = rs_asset_new(RS_SHAPE_HEIGHTMAP, NULL, NULL, grid);
    return *out != NULL ? RS_OK : RS_OUT_OF_MEMORY;
}

/* ---- shapes ---- */

rs_status rs_world_make_shape(rs_world *world, const rs_shape_def *def, rs_shape *out) {
    if (def->type < 0 || def->type >= RS_SHAPE_TYPE_COUNT)
        return rs_fail(RS_INVALID_VALUE, "shape type %d is unknown", def->type);
    if (!rs_shape_has_asset((rs_shape_type)def->type))
        return rs_shape_make((rs_shape_type)def->type, def->dim, out);
    *out = (rs_shape){.type = (rs_shape_type)def->type};
    const rs_asset_entry *entry = rs_world_asset(world, def->asset);
    if (entry == NULL)
        return RS_UNKNOWN_OBJECT;
    if (entry->asset->type != out->type)
        return rs_fail(RS_WRONG_TYPE, "asset %llu has type %d; expected %d", (unsigned long long)def->asset,
                       (int)entry->asset->type, def->type);
    out->convex = entry->asset->convex;
    out->mesh = entry->asset->mesh;
    out->grid = entry->asset->grid;
    return RS_OK;
}

/* ---- tools ---- */

static rs_status shape_at_pose(rs_world *world, const rs_shape_def *def, rs_shape *shape, rs_transform *pose) {
    rs_status status = rs_check_finite("position", def->position, 3);
    RS_THEN(status, rs_check_finite("quaternion", def->quaternion, 4));
    if (status == RS_OK && rs_quat_norm(rs_quat_load(def->quaternion)) < 1e-6)
        status = rs_fail(RS_INVALID_VALUE, "quaternion is zero; expected a rotation");
    RS_THEN(status, rs_world_make_shape(world, def, shape));
    if (status == RS_OK)
        *pose = rs_transform_make(rs_v3_load(def->position), rs_quat_normalize(rs_quat_load(def->quaternion)));
    return status;
}

rs_status rs_world_collide_shapes(rs_world *world, const rs_shape_def *a, const rs_shape_def *b, double margin,
                                  rs_contact_point *out, int32_t *count) {
    rs_world_enter(world);
    rs_shape shape_a, shape_b;
    rs_transform pose_a, pose_b;
    rs_status status = rs_check_finite("margin", &margin, 1);
    RS_THEN(status, shape_at_pose(world, a, &shape_a, &pose_a));
    RS_THEN(status, shape_at_pose(world, b, &shape_b, &pose_b));
    if (status != RS_OK)
        return rs_world_leave(world, status);
    rs_collide_settings settings = rs_collide_settings_of(&world->data.contact, margin);
    rs_manifold manifold;
    manifold.count = 0;
    rs_collide(&shape_a, &pose_a, &shape_b, &pose_b, &settings, &manifold);
    for (int k = 0; k < manifold.count; k++) {
        rs_v3_store(out[k].position, manifold.points[k].position);
        rs_v3_store(out[k].normal, manifold.points[k].normal);
        out[k].gap = manifold.points[k].gap;
    }
    *count = manifold.count;
    return rs_world_leave(world, RS_OK);
}
