/* What diverges stops alone, numbers beyond double precision's reach are refused, threads and time limits. */
#include "../../../csrc/base/math3d.h"
#include "../../../csrc/include/raisim_engine.h"

#include <pthread.h>
#include <string.h>

#include "../check.h"

static rs_object_id add_ball(rs_world *world, double mass, rs_vec3 position, rs_status expected)
{
    rs_shape_def shape = {.type = RS_SHAPE_SPHERE, .dim = {0.5}, .quaternion = {1, 0, 0, 0}};
    rs_body_def def;
    rs_default_body_def(&def);
    def.properties.mass = mass;
    def.shape_count = 1;
    def.shapes = &shape;
    rs_v3_store(def.state.position, position);
    rs_object_id id = 0;
    CHECK(rs_body_create(world, &def, &id) == expected);
    return id;
}

static rs_vec3 position_of(rs_world *world, rs_object_id id)
{
    rs_body_state state;
    CHECK(rs_body_get_state(world, id, &state) == RS_OK);
    CHECK(rs_v3_finite(rs_v3_load(state.linear_velocity)) && rs_v3_finite(rs_v3_load(state.angular_velocity)));
    return rs_v3_load(state.position);
}

static void masses_beyond_the_reach_of_doubles_are_refused(void)
{
    rs_world *world = NULL;
    CHECK(rs_world_create(&world) == RS_OK);
    const double masses[] = {1e-320, 1e-41, 1e41, 1e308, 0.0, -1.0, NAN, INFINITY};
    for (size_t k = 0; k < sizeof masses / sizeof *masses; k++)
        add_ball(world, masses[k], rs_v3_zero(), RS_INVALID_VALUE);
    CHECK(rs_world_object_count(world) == 0);
    add_ball(world, 1e-40, rs_v3_zero(), RS_OK);
    add_ball(world, 1e40, rs_v3_zero(), RS_OK);
    rs_world_destroy(world);
}

static void what_diverges_stops_at_its_last_pose_and_its_neighbours_go_on(void)
{
    rs_world *world = NULL;
    CHECK(rs_world_create(&world) == RS_OK);
    rs_object_id lost = add_ball(world, 1e-30, rs_v3(0, 0, 0), RS_OK);
    rs_object_id above = add_ball(world, 1.0, rs_v3(0, 0, 0.99), RS_OK);
    rs_object_id far = add_ball(world, 1.0, rs_v3(50, 0, 0), RS_OK);
    const double force[3] = {1e50, 0, 0}, point[3] = {0, 1, 0};
    CHECK(rs_body_add_force(world, lost, force, point) == RS_OK);
    CHECK(rs_world_step(world, 1) == RS_DIVERGED);
    CHECK_NEAR(position_of(world, lost).x, 0.0, 1e-9);
    CHECK(rs_world_step(world, 100) == RS_OK);
    CHECK(rs_v3_finite(position_of(world, lost)));
    CHECK(rs_v3_finite(position_of(world, above)));
    CHECK(position_of(world, far).z < -0.5);
    CHECK(rs_world_validate(world) == RS_OK);
    rs_world_destroy(world);
}

static void steps_end_when_the_time_is_over(void)
{
    rs_world *world = NULL;
    CHECK(rs_world_create(&world) == RS_OK);
    int64_t done = -1;
    CHECK(rs_world_step_within(world, 5, INFINITY, &done) == RS_OK && done == 5);
    CHECK(rs_world_step_within(world, 5, 0.0, &done) == RS_OK && done == 1);
    CHECK(rs_world_step_within(world, 0, 1.0, &done) == RS_OK && done == 0);
    CHECK(rs_world_step_within(world, -1, 1.0, &done) == RS_INVALID_VALUE && done == 0);
    CHECK(rs_world_step_count(world) == 6);
    rs_world_destroy(world);
}

static void *lock_and_leave(void *world)
{
    CHECK(rs_world_lock(world) == RS_OK);
    CHECK(rs_world_lock(world) == RS_OK);
    return NULL;
}

static void a_thread_that_ends_does_not_keep_the_world(void)
{
    rs_world *world = NULL;
    CHECK(rs_world_create(&world) == RS_OK);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, lock_and_leave, world) == 0);
    pthread_join(thread, NULL);
    CHECK(rs_world_step(world, 1) == RS_OK);
    CHECK(rs_world_unlock(world) == RS_WRONG_STATE);
    CHECK(rs_world_lock(world) == RS_OK);
    rs_world_destroy(world); /* locked by this thread */
}

static void material_names_are_copies(void)
{
    rs_world *world = NULL;
    CHECK(rs_world_create(&world) == RS_OK);
    int32_t first;
    char name[64], text[32];
    CHECK(rs_material_index(world, "steel", &first) == RS_OK);
    for (int k = 0; k < 1000; k++) {
        int32_t index;
        snprintf(text, sizeof text, "material %d", k);
        CHECK(rs_material_index(world, text, &index) == RS_OK);
    }
    CHECK(rs_material_get_name(world, first, name) == RS_OK && strcmp(name, "steel") == 0);
    CHECK(rs_material_get_name(world, -1, name) == RS_INVALID_VALUE);
    CHECK(rs_material_get_name(world, 5000, name) == RS_INVALID_VALUE);
    rs_world_destroy(world);
}

int main(void)
{
    RUN(masses_beyond_the_reach_of_doubles_are_refused);
    RUN(what_diverges_stops_at_its_last_pose_and_its_neighbours_go_on);
    RUN(steps_end_when_the_time_is_over);
    RUN(a_thread_that_ends_does_not_keep_the_world);
    RUN(material_names_are_copies);
    return CHECK_RESULT();
}
