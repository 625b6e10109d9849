/* Life of a world, and its settings. */
#include "tree_colliders.h"
#include "threads.h"

#include <string.h>

static const double DEFAULT_TIME_STEP = 0.005; /* [s] */

#define ADDRESS(type, name) &data->name.any,
#define FREE_IN_WORLD(type, name) rs_array_free(&world->name);

void rs_world_data_arrays(rs_world_data *data, rs_any_array *out[RS_DATA_ARRAY_COUNT]) {
    rs_any_array *all[RS_DATA_ARRAY_COUNT] = {RS_WORLD_ARRAYS(ADDRESS) &data->materials.names.any, &data->materials.entries.any};
    memcpy(out, all, sizeof all);
}

/* ---- defaults ---- */

void rs_default_solver_settings(rs_solver_settings *settings) {
    *settings = (rs_solver_settings){.erp = 1.5, .erp2 = 0.0, .max_iterations = 150, .threshold = 1e-8};
}

void rs_default_contact_settings(rs_contact_settings *settings) {
    *settings = (rs_contact_settings){
        .gjk_max_iterations = 32, .gjk_tolerance = 1e-6, .epa_max_iterations = 64, .epa_tolerance = 1e-4,
        .max_contacts_per_pair = 8, .swept_ccd_speculative_margin = 1e-4, .broadphase = RS_BROADPHASE_SAP_3_AXIS,
        .mbp_world_min = {-100, -100, -100}, .mbp_world_max = {100, 100, 100}, .mbp_cell_size = {1, 1, 1},
        .mbp_padding = 0.5, .mbp_max_cells_per_axis = 128, .mbp_max_cells_per_object = 64};
}

void rs_default_sleep_settings(rs_sleep_settings *settings) {
    *settings = (rs_sleep_settings){.enabled = 1, .linear_threshold = 0.002, .angular_threshold = 0.01, .quiet_steps = 2};
}

static rs_status make_data(rs_world_data *data) {
    *data = (rs_world_data){.dt = DEFAULT_TIME_STEP, .gravity = {0.0, 0.0, -9.81}, .free_slot = RS_NONE,
                            .free_body = RS_NONE, .free_collider = RS_NONE};
    rs_default_solver_settings(&data->solver);
    rs_default_contact_settings(&data->contact);
    rs_default_sleep_settings(&data->sleep);
    return rs_materials_make(&data->materials);
}

rs_status rs_world_create(rs_world **out) {
    rs_world *world = rs_alloc(sizeof *world);
    if (world == NULL)
        return RS_OUT_OF_MEMORY;
    static _Atomic uint64_t made;
    world->number = atomic_fetch_add(&made, 1) + 1;
    world->next_serial = 1;
    world->next_asset = 1;
    world->version = 1;
    world->diverged_slot = RS_NONE;
    rs_world_make_mutex(world);
    rs_status status = make_data(&world->data);
    RS_THEN(status, rs_world_set_threads(world, 1));
    if (status != RS_OK) {
        rs_world_destroy(world);
        return status;
    }
    *out = world;
    return RS_OK;
}

void rs_world_destroy(rs_world *world) {
    if (world == NULL)
        return;
    rs_world_data_free(&world->data);
    rs_broad_phase_free(&world->broad_phase);
    rs_tree_colliders_free(&world->trees);
    RS_SCRATCH_ARRAYS(FREE_IN_WORLD)
    rs_hidden_search_free(&world->hidden_search);
    rs_islands_free(&world->islands);
    rs_soft_group_free(&world->soft_group);
    rs_array_free(&world->soft_leaders);
    rs_world_drop_threads(world);
    rs_array_free(&world->narrow_parts);
    rs_ray_scene_free(&world->ray_scene);
    rs_world_free_mutex(world);
    rs_free(world);
}

rs_status rs_world_create_successor(rs_world *world, uint32_t count, rs_world **out) {
    rs_world_enter(world);
    uint32_t left = UINT32_MAX - world->next_serial;
    if (count > left)
        return rs_world_leave(world, rs_fail(RS_INVALID_VALUE, "count is %u; there are %u ids left", count, left));
    rs_status status = rs_world_create(out);
    if (status == RS_OK) {
        (*out)->predecessor = world->number;
        (*out)->next_serial = world->next_serial;
        (*out)->end_of_ids = world->next_serial += count;
    }
    return rs_world_leave(world, status);
}

static uint32_t larger(uint32_t a, uint32_t b) {
    return a > b ? a : b;
}

static rs_status check_successor(const rs_world *successor) {
    if (successor->next_serial > successor->end_of_ids)
        return rs_fail(RS_INVALID_VALUE, "the successor has had more objects and wires than it was made for");
    return successor->half_way ? rs_fail(RS_WRONG_STATE, "the successor is between integrate1 and integrate2") : RS_OK;
}

static void exchange_data(rs_world *world, rs_world *successor) {
    rs_world_data before = world->data;
    world->data = successor->data;
    successor->data = before;
    uint64_t number = before.configuration_number > world->data.configuration_number
                          ? before.configuration_number : world->data.configuration_number;
    rs_world *both[] = {world, successor};
    for (int k = 0; k < 2; k++) {
        rs_world *one = both[k];
        one->data.configuration_number = number + 1; /* what readers cached is out of date */
        one->next_asset = larger(world->next_asset, successor->next_asset);
        one->next_serial = larger(world->next_serial, successor->next_serial);
        one->half_way = false;
        one->colliders_changed = true;
        one->version++;
        one->geometry_number++;
    }
}

/* A world is entered before its successor, and nothing else before a world: no two threads wait for each other. */
rs_status rs_world_succeed(rs_world *world, rs_world *successor) {
    rs_world_enter(world);
    if (atomic_load(&successor->predecessor) != world->number)
        return rs_world_leave(world, rs_fail(RS_INVALID_VALUE, "the other world was not made to succeed this one, or has done so"));
    rs_world_enter(successor);
    rs_status status = check_successor(successor);
    if (status == RS_OK) {
        exchange_data(world, successor);
        successor->predecessor = 0;
    }
    rs_world_leave(successor, RS_OK);
    return rs_world_leave(world, status);
}

/* ---- argument checks ---- */

rs_status rs_check_finite(const char *name, const double *values, int count) {
    for (int i = 0; i < count; i++)
        if (!rs_is_carried(values[i])) {
            const char *expected = isfinite(values[i]) ? "a number between -1e50 and 1e50" : "a finite number";
            return count == 1 ? rs_fail(RS_INVALID_VALUE, "%s is %g; expected %s", name, values[i], expected)
                              : rs_fail(RS_INVALID_VALUE, "%s[%d] is %g; expected %s", name, i, values[i], expected);
        }
    return RS_OK;
}

rs_status rs_check_finite_pair(const char *name_a, const double a[3], const char *name_b, const double b[3]) {
    rs_status status = rs_check_finite(name_a, a, 3);
    return status == RS_OK ? rs_check_finite(name_b, b, 3) : status;
}

rs_status rs_check_positive(const char *name, double value) {
    if (value >= RS_LEAST && value <= RS_GREATEST)
        return RS_OK;
    return rs_fail(RS_INVALID_VALUE, "%s is %g; expected a finite number greater than 0%s", name, value,
                   value > 0.0 && isfinite(value) ? ", between 1e-50 and 1e50" : "");
}

rs_status rs_check_not_negative(const char *name, double value) {
    if (value >= 0.0 && value <= RS_GREATEST)
        return RS_OK;
    return rs_fail(RS_INVALID_VALUE, "%s is %g; expected a finite number, at least 0%s", name, value,
                   value > 0.0 && isfinite(value) ? " and at most 1e50" : "");
}

static rs_status check_range(const char *name, int32_t value, int32_t low, int32_t high) {
    if (value >= low && value <= high)
        return RS_OK;
    return rs_fail(RS_INVALID_VALUE, "%s is %d; expected %d to %d", name, value, low, high);
}

/* ---- what the world keeps, as it is ---- */

#define RETURN_KEPT(type, function, kept)                                                                            \
    type function(rs_world *world) {                                                                                 \
        rs_world_enter_to_read(world);                                                                               \
        type value = world->kept;                                                                                    \
        rs_world_leave(world, RS_OK);                                                                                \
        return value;                                                                                                \
    }
#define COPY_KEPT(type, function, kept)                                                                              \
    void function(rs_world *world, type *out) {                                                                      \
        rs_world_enter_to_read(world);                                                                               \
        *out = world->kept;                                                                                          \
        rs_world_leave(world, RS_OK);                                                                                \
    }

RETURN_KEPT(double, rs_world_time_step, data.dt)
RETURN_KEPT(double, rs_world_time, data.time)
RETURN_KEPT(uint64_t, rs_world_step_count, data.step_count)
RETURN_KEPT(uint64_t, rs_world_configuration_number, data.configuration_number)
RETURN_KEPT(uint64_t, rs_world_change_count, changes)
RETURN_KEPT(uint64_t, rs_world_geometry_number, geometry_number)
RETURN_KEPT(int64_t, rs_material_pair_count, data.materials.entries.count)
RETURN_KEPT(int64_t, rs_world_object_count, data.list.count)
RETURN_KEPT(int64_t, rs_world_wire_count, data.wires.count)
RETURN_KEPT(int32_t, rs_world_threads, threads)
COPY_KEPT(rs_solver_settings, rs_world_get_solver_settings, data.solver)
COPY_KEPT(rs_contact_settings, rs_world_get_contact_settings, data.contact)
COPY_KEPT(rs_sleep_settings, rs_world_get_sleep_settings, data.sleep)
COPY_KEPT(rs_fluid, rs_world_get_fluid, data.fluid)
COPY_KEPT(rs_material_pair, rs_material_get_default, data.materials.fallback)
COPY_KEPT(rs_profile, rs_world_get_profile, profile)
COPY_KEPT(rs_step_stats, rs_world_get_step_stats, stats)

/* ---- settings ---- */

rs_status rs_world_set_time_step(rs_world *world, double dt) {
    rs_status status = rs_check_positive("time step", dt);
    if (status != RS_OK)
        return status;
    rs_world_enter(world);
    bool other = dt != world->data.dt;
    world->data.dt = dt;
    world->changed |= other;
    return rs_world_leave(world, other ? rs_world_wake_all(world) : RS_OK);
}

rs_status rs_world_set_gravity(rs_world *world, const double gravity[3]) {
    rs_status status = rs_check_finite("gravity", gravity, 3);
    if (status != RS_OK)
        return status;
    rs_world_enter(world);
    world->data.gravity = rs_v3_load(gravity);
    return rs_world_leave(world, rs_world_wake_all(world));
}

void rs_world_get_gravity(rs_world *world, double out[3]) {
    rs_world_enter_to_read(world);
    rs_v3_store(out, world->data.gravity);
    rs_world_leave(world, RS_OK);
}

rs_status rs_check_fluid(const rs_fluid *fluid) {
    rs_status status = rs_check_not_negative("density", fluid->density);
    RS_THEN(status, rs_check_not_negative("viscosity", fluid->viscosity));
    RS_THEN(status, rs_check_finite("wind", fluid->wind, 3));
    return status;
}

rs_status rs_world_set_fluid(rs_world *world, const rs_fluid *fluid) {
    rs_status status = rs_check_fluid(fluid);
    if (status != RS_OK)
        return status;
    rs_world_enter(world);
    world->data.fluid = *fluid;
    return rs_world_leave(world, rs_world_wake_all(world));
}

rs_status rs_world_set_time(rs_world *world, double time) {
    rs_status status = rs_check_finite("time", &time, 1);
    if (status != RS_OK)
        return status;
    rs_world_enter(world);
    world->data.time = time;
    world->data.time_lost = 0.0;
    return rs_world_leave(world, RS_OK);
}

rs_status rs_world_touch(rs_world *world) {
    rs_world_enter(world);
    return rs_world_leave(world, RS_OK);
}

rs_status rs_check_solver_settings(const rs_solver_settings *settings) {
    rs_status status = rs_check_not_negative("erp", settings->erp);
    RS_THEN(status, rs_check_not_negative("erp2", settings->erp2));
    RS_THEN(status, check_range("max iterations", settings->max_iterations, 1, INT32_MAX));
    return status == RS_OK ? rs_check_not_negative("threshold", settings->threshold) : status;
}

rs_status rs_world_set_solver_settings(rs_world *world, const rs_solver_settings *settings) {
    rs_status status = rs_check_solver_settings(settings);
    if (status != RS_OK)
        return status;
    rs_world_enter(world);
    world->data.solver = *settings;
    if (settings->fixed_order)
        world->data.sweep_backward = false;
    return rs_world_leave(world, rs_world_wake_all(world));
}

rs_status rs_check_contact_settings(const rs_contact_settings *s) {
    rs_status status = check_range("gjk max iterations", s->gjk_max_iterations, 1, 10000);
    RS_THEN(status, rs_check_positive("gjk tolerance", s->gjk_tolerance));
    RS_THEN(status, check_range("epa max iterations", s->epa_max_iterations, 1, 10000));
    RS_THEN(status, rs_check_positive("epa tolerance", s->epa_tolerance));
    RS_THEN(status, check_range("max contacts per pair", s->max_contacts_per_pair, 1, RS_MAX_MANIFOLD));
    RS_THEN(status, rs_check_not_negative("swept ccd min speed", s->swept_ccd_min_speed));
    RS_THEN(status, rs_check_not_negative("swept ccd speculative margin", s->swept_ccd_speculative_margin));
    RS_THEN(status, check_range("broadphase type", s->broadphase, RS_BROADPHASE_NONE, RS_BROADPHASE_MULTI_BOX_PRUNE));
    RS_THEN(status, rs_check_not_negative("mbp padding", s->mbp_padding));
    RS_THEN(status, check_range("mbp max cells per axis", s->mbp_max_cells_per_axis, 1, 1024));
    RS_THEN(status, check_range("mbp max cells per object", s->mbp_max_cells_per_object, 1, 1 << 20));
    for (int axis = 0; axis < 3 && status == RS_OK; axis++) {
        status = rs_check_positive("mbp cell size", s->mbp_cell_size[axis]);
        RS_THEN(status, rs_check_finite_pair("mbp world min", s->mbp_world_min, "mbp world max", s->mbp_world_max));
        if (status == RS_OK && !(s->mbp_world_min[axis] < s->mbp_world_max[axis]))
            status = rs_fail(RS_INVALID_VALUE, "mbp world min[%d] is %g, max is %g; expected min < max", axis,
                             s->mbp_world_min[axis], s->mbp_world_max[axis]);
    }
    return status;
}

rs_status rs_world_set_contact_settings(rs_world *world, const rs_contact_settings *settings) {
    rs_status status = rs_check_contact_settings(settings);
    if (status != RS_OK)
        return status;
    rs_world_enter(world);
    world->data.contact = *settings;
    world->colliders_changed = world->changed = true;
    return rs_world_leave(world, rs_world_wake_all(world));
}

rs_status rs_check_sleep_settings(const rs_sleep_settings *settings) {
    rs_status status = rs_check_not_negative("linear threshold", settings->linear_threshold);
    RS_THEN(status, rs_check_not_negative("angular threshold", settings->angular_threshold));
    return status == RS_OK ? check_range("quiet steps", settings->quiet_steps, 1, INT32_MAX) : status;
}

rs_status rs_world_set_sleep_settings(rs_world *world, const rs_sleep_settings *settings) {
    rs_status status = rs_check_sleep_settings(settings);
    if (status != RS_OK)
        return status;
    rs_world_enter(world);
    world->data.sleep = *settings;
    return rs_world_leave(world, settings->enabled ? RS_OK : rs_world_wake_all(world));
}

rs_status rs_world_wake_all(rs_world *world) {
    rs_world_enter(world);
    rs_body *bodies = world->data.bodies.items;
    for (int64_t i = 0; i < world->data.bodies.count; i++)
        rs_world_rouse(world, &bodies[i]);
    return rs_world_leave(world, RS_OK);
}

/* ---- materials ---- */

rs_status rs_material_index(rs_world *world, const char *name, int32_t *out) {
    rs_world_enter(world);
    return rs_world_leave(world, rs_materials_index(&world->data.materials, name, out));
}

static rs_status check_material(const rs_world *world, int32_t index) {
    if (index >= 0 && index < world->data.materials.names.count)
        return RS_OK;
    return rs_fail(RS_INVALID_VALUE, "material index %d is not registered; there are %lld", index,
                   (long long)world->data.materials.names.count);
}

rs_status rs_material_get_name(rs_world *world, int32_t index, char *out) {
    rs_world_enter_to_read(world);
    rs_status status = check_material(world, index);
    if (status == RS_OK)
        memcpy(out, RS_ITEM(world->data.materials.names, index)->text, RS_MATERIAL_NAME_SIZE);
    return rs_world_leave(world, status);
}

rs_status rs_material_set_pair(rs_world *world, int32_t a, int32_t b, const rs_material_pair *pair) {
    rs_world_enter(world);
    rs_status status = check_material(world, a);
    RS_THEN(status, check_material(world, b));
    RS_THEN(status, rs_material_pair_valid(pair));
    RS_THEN(status, rs_materials_set(&world->data.materials, a, b, pair));
    if (status == RS_OK)
        rs_world_wake_all(world);
    return rs_world_leave(world, status);
}

rs_status rs_material_set_default(rs_world *world, const rs_material_pair *pair) {
    rs_status status = rs_material_pair_valid(pair);
    if (status != RS_OK)
        return status;
    rs_world_enter(world);
    world->data.materials.fallback = *pair;
    return rs_world_leave(world, rs_world_wake_all(world));
}

rs_status rs_material_get_pair(rs_world *world, int32_t a, int32_t b, rs_material_pair *out) {
    rs_world_enter_to_read(world);
    rs_status status = check_material(world, a);
    RS_THEN(status, check_material(world, b));
    if (status == RS_OK)
        *out = *rs_materials_find(&world->data.materials, a, b);
    return rs_world_leave(world, status);
}

rs_status rs_material_pair_at(rs_world *world, int64_t number, int32_t *a, int32_t *b, rs_material_pair *out) {
    rs_world_enter_to_read(world);
    const RS_ARRAY(rs_material_entry) *entries = &world->data.materials.entries;
    if (number < 0 || number >= entries->count)
        return rs_world_leave(world, rs_fail(RS_INVALID_VALUE, "material pair %lld does not exist; there are %lld",
                                             (long long)number, (long long)entries->count));
    const rs_material_entry *entry = RS_ITEM(*entries, number);
    *a = (int32_t)(entry->key >> 32);
    *b = (int32_t)(uint32_t)entry->key;
    *out = entry->properties;
    return rs_world_leave(world, RS_OK);
}

rs_status rs_material_clear(rs_world *world) {
    rs_world_enter(world);
    rs_materials_clear(&world->data.materials);
    return rs_world_leave(world, rs_world_wake_all(world));
}

/* ---- reports ---- */

rs_status rs_world_set_profiling(rs_world *world, int32_t enabled) {
    rs_world_enter_to_read(world);
    world->profiling = enabled != 0;
    world->profile = (rs_profile){0};
    return rs_world_leave(world, RS_OK);
}
