/* Batches: members do as a lone world does, whatever the threads; resets, errors, memory. */
#include "../../../csrc/base/thread_pool.h"
#include "../../../csrc/include/raisim_engine.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "../check.h"
#include "../random.h"

static rs_status step(rs_batch *batch, int64_t n) {
    int64_t done;
    return rs_batch_step(batch, n, 1e300, 0, &done);
}

enum { MEMBERS = 9, BODIES = 6 };

typedef struct {
    rs_world *world;
    rs_object_id robot, ball;
} scene;

/* A ground, a few boxes, a ball and a robot of two links. */
static scene make_scene(void)
{
    scene s = {0};
    CHECK(rs_world_create(&s.world) == RS_OK);
    rs_body_def def;
    rs_shape_def shape = {.type = RS_SHAPE_HALF_SPACE, .dim = {0.1, 0.2, 0.15}, .quaternion = {1, 0, 0, 0}};
    rs_default_body_def(&def);
    def.shape_count = 1;
    def.shapes = &shape;
    def.properties.body_type = RS_BODY_STATIC;
    CHECK(rs_body_create(s.world, &def, &s.ball) == RS_OK);
    def.properties.body_type = RS_BODY_DYNAMIC;
    for (int k = 0; k < BODIES; k++) {
        shape.type = k == BODIES - 1 ? RS_SHAPE_SPHERE : RS_SHAPE_BOX;
        const double position[3] = {0.03 * k, 0.02 * k, 0.2 + 0.3 * k};
        memcpy(def.state.position, position, sizeof position);
        CHECK(rs_body_create(s.world, &def, &s.ball) == RS_OK);
    }
    rs_link_def links[2];
    rs_default_link_def(&links[0]);
    rs_default_link_def(&links[1]);
    links[0].joint_type = RS_JOINT_FLOATING;
    links[1].joint_type = RS_JOINT_REVOLUTE;
    links[1].parent = 0;
    const double joint[3] = {0.3, 0, 0}, inertia[6] = {0.01, 0.02, 0.03, 0, 0, 0};
    memcpy(links[1].joint_position, joint, sizeof joint);
    for (int k = 0; k < 2; k++) {
        links[k].mass = 1.0;
        memcpy(links[k].inertia, inertia, sizeof inertia);
    }
    rs_link_shape_def shapes[2] = {{.link = 0, .collision_group = 1, .collision_mask = UINT64_MAX},
                                   {.link = 1, .collision_group = 1, .collision_mask = UINT64_MAX}};
    shape.type = RS_SHAPE_BOX;
    shapes[0].shape = shapes[1].shape = shape;
    rs_articulation_def robot = {.link_count = 2, .links = links, .shape_count = 2, .shapes = shapes};
    CHECK(rs_articulation_create(s.world, &robot, &s.robot) == RS_OK);
    const double q[8] = {1.0, 0, 0.5, 1, 0, 0, 0, 0.2};
    CHECK(rs_articulation_write(s.world, s.robot, RS_FIELD_COORDINATE, q, 8) == RS_OK);
    return s;
}

static rs_channel_view add_channel(rs_batch *batch, int32_t kind, rs_object_id object, int32_t field)
{
    static const int32_t links[2] = {0, 1};
    rs_channel_def def;
    rs_channel_view view = {0};
    rs_default_channel_def(&def);
    def.kind = kind;
    def.object = object;
    def.field = field;
    def.links = links;
    def.link_count = 2;
    CHECK(rs_batch_add_channel(batch, &def, &view) == RS_OK);
    return view;
}

/* A force that depends on member and time. */
static double push(int64_t member, int time) { return 2.0 * sin(0.7 * (double)member + 0.3 * time); }

static void members_do_as_lone_worlds_whatever_the_threads(void)
{
    for (int32_t threads = 1; threads <= 3; threads++) {
        scene s = make_scene();
        rs_batch *batch = NULL;
        CHECK(rs_batch_create(s.world, MEMBERS, threads, &batch) == RS_OK);
        rs_channel_view force = add_channel(batch, RS_CHANNEL_FIELD, s.robot, RS_FIELD_FEED_FORWARD);
        rs_channel_view q = add_channel(batch, RS_CHANNEL_FIELD, s.robot, RS_FIELD_COORDINATE);
        for (int t = 0; t < 40; t++) {
            for (int64_t m = 0; m < MEMBERS; m++)
                ((double *)force.data)[m * force.width + 6] = push(m, t);
            CHECK(step(batch, 3) == RS_OK);
        }
        for (int64_t m = 0; m < MEMBERS; m++) {
            scene lone = make_scene();
            double tau[7] = {0}, expected[8];
            for (int t = 0; t < 40; t++) {
                tau[6] = push(m, t);
                CHECK(rs_articulation_write(lone.world, lone.robot, RS_FIELD_FEED_FORWARD, tau, 7) == RS_OK);
                CHECK(rs_world_step(lone.world, 3) == RS_OK);
            }
            CHECK(rs_world_state_hash(lone.world) == rs_world_state_hash(rs_batch_member(batch, m)));
            CHECK(rs_articulation_read(lone.world, lone.robot, RS_FIELD_COORDINATE, expected, 8) == RS_OK);
            CHECK(memcmp(expected, (double *)q.data + m * q.width, sizeof expected) == 0);
            CHECK(rs_world_validate(rs_batch_member(batch, m)) == RS_OK);
            rs_world_destroy(lone.world);
        }
        rs_batch_destroy(batch);
        rs_world_destroy(s.world);
        CHECK(rs_memory_bytes() == 0);
    }
}

static void a_reset_member_goes_on_as_a_new_one(void)
{
    scene s = make_scene();
    rs_batch *batch = NULL;
    CHECK(rs_world_step(s.world, 70) == RS_OK); /* the start has contacts and sleepers */
    CHECK(rs_batch_create(s.world, 4, 2, &batch) == RS_OK);
    CHECK(step(batch, 50) == RS_OK);
    uint64_t expected = rs_world_state_hash(rs_batch_member(batch, 0));
    CHECK(step(batch, 100) == RS_OK);
    const int64_t some[2] = {3, 1}, twice[2] = {1, 1}, beyond[1] = {4};
    CHECK(rs_batch_reset(batch, 2, some, NULL) == RS_OK);
    CHECK(step(batch, 50) == RS_OK);
    CHECK(rs_world_state_hash(rs_batch_member(batch, 1)) == expected);
    CHECK(rs_world_state_hash(rs_batch_member(batch, 3)) == expected);
    CHECK(rs_world_state_hash(rs_batch_member(batch, 0)) != expected);
    CHECK(rs_batch_reset(batch, 2, twice, NULL) == RS_INVALID_VALUE);
    CHECK(rs_batch_reset(batch, 1, beyond, NULL) == RS_INVALID_VALUE);
    rs_batch_destroy(batch);
    rs_world_destroy(s.world);
    CHECK(rs_memory_bytes() == 0);
}

static void a_refused_row_names_its_member_and_nothing_is_stepped(void)
{
    scene s = make_scene();
    rs_batch *batch = NULL;
    CHECK(rs_batch_create(s.world, MEMBERS, 2, &batch) == RS_OK);
    rs_channel_view mass = add_channel(batch, RS_CHANNEL_MASS, s.robot, 0);
    ((double *)mass.data)[2 * 5 + 1] = -1.0;
    ((double *)mass.data)[2 * 7 + 1] = -1.0;
    CHECK(step(batch, 1) == RS_INVALID_VALUE);
    CHECK(strncmp(rs_error_text(), "member 5: link 1", 16) == 0);
    for (int64_t m = 0; m < MEMBERS; m++)
        CHECK(rs_world_step_count(rs_batch_member(batch, m)) == 0);
    ((double *)mass.data)[2 * 5 + 1] = ((double *)mass.data)[2 * 7 + 1] = 2.0;
    CHECK(step(batch, 1) == RS_OK);
    rs_link_def link;
    CHECK(rs_articulation_get_link(rs_batch_member(batch, 5), s.robot, 1, &link) == RS_OK);
    CHECK(link.mass == 2.0);
    rs_batch_destroy(batch);
    rs_world_destroy(s.world);
}

static void a_member_that_diverges_is_marked_and_starts_again(void)
{
    scene s = make_scene();
    rs_batch *batch = NULL;
    CHECK(rs_batch_create(s.world, 3, 2, &batch) == RS_OK);
    rs_channel_view force = add_channel(batch, RS_CHANNEL_FIELD, s.robot, RS_FIELD_FEED_FORWARD);
    rs_channel_view time = add_channel(batch, RS_CHANNEL_TIME, 0, 0);
    ((double *)force.data)[force.width + 6] = 1e49;
    int marked = 0;
    for (int k = 0; k < 20 && marked == 0; k++) {
        CHECK(step(batch, 1) == RS_OK);
        marked = rs_batch_diverged(batch)[1];
    }
    CHECK(marked == 1);
    CHECK(rs_batch_diverged(batch)[0] == 0 && rs_batch_diverged(batch)[2] == 0);
    CHECK(((double *)time.data)[1] == 0.0 && ((double *)time.data)[0] > 0.0);
    CHECK(((double *)force.data)[force.width + 6] == 0.0);
    CHECK(step(batch, 5) == RS_OK);
    CHECK(rs_batch_diverged(batch)[1] == 0);
    rs_batch_destroy(batch);
    rs_world_destroy(s.world);
}

static void a_warm_batch_allocates_nothing(void)
{
    scene s = make_scene();
    rs_batch *batch = NULL;
    CHECK(rs_batch_create(s.world, 4, 1, &batch) == RS_OK);
    add_channel(batch, RS_CHANNEL_LINK_POSE, s.robot, 0);
    add_channel(batch, RS_CHANNEL_LINK_FORCE, s.robot, 0);
    for (int k = 0; k < 100; k++)
        CHECK(step(batch, 4) == RS_OK);
    size_t before = rs_memory_bytes();
    for (int k = 0; k < 20; k++) {
        CHECK(step(batch, 4) == RS_OK);
        CHECK(rs_memory_bytes() == before);
    }
    rs_batch_destroy(batch);
    rs_world_destroy(s.world);
}

static void count_item(void *context, int32_t worker, int64_t item)
{
    (void)worker;
    atomic_fetch_add((atomic_llong *)context, item + 1);
}

static void a_pool_makes_every_item_once(void)
{
    for (int32_t threads = 1; threads <= 4; threads++) {
        rs_thread_pool *pool = NULL;
        CHECK(rs_pool_new(threads, &pool) == RS_OK);
        for (int64_t count = 0; count < 200; count += 13) {
            atomic_llong sum = 0;
            rs_pool_run(pool, count, count_item, &sum);
            CHECK(atomic_load(&sum) == count * (count + 1) / 2);
        }
        rs_pool_free(pool);
    }
    CHECK(rs_memory_bytes() == 0);
}

static void *step_batch(void *batch) {
    for (int k = 0; k < 20; k++)
        CHECK(step(batch, 2) == RS_OK);
    return NULL;
}

static void *reset_batch(void *batch) {
    const int64_t some[2] = {1, MEMBERS - 1}, twice[2] = {1, 1};
    for (int k = 0; k < 20; k++) {
        CHECK(rs_batch_reset(batch, 2, some, NULL) == RS_OK);
        CHECK(rs_batch_reset(batch, 2, twice, NULL) == RS_INVALID_VALUE);
        CHECK(rs_batch_refresh(batch, 0, NULL) == RS_OK);
    }
    return NULL;
}

static void *add_channels(void *batch) {
    for (int k = 0; k < 20; k++)
        add_channel(batch, RS_CHANNEL_TIME, 0, 0);
    return NULL;
}

static void calls_of_several_threads_wait_for_one_another(void)
{
    scene s = make_scene();
    rs_batch *batch = NULL;
    CHECK(rs_batch_create(s.world, MEMBERS, 2, &batch) == RS_OK);
    void *(*work[4])(void *) = {step_batch, reset_batch, add_channels, step_batch};
    pthread_t threads[4];
    for (int k = 0; k < 4; k++)
        CHECK(pthread_create(&threads[k], NULL, work[k], batch) == 0);
    for (int k = 0; k < 4; k++)
        pthread_join(threads[k], NULL);
    CHECK(rs_world_step_count(rs_batch_member(batch, 0)) == 80);
    for (int64_t m = 0; m < MEMBERS; m++)
        CHECK(rs_world_validate(rs_batch_member(batch, m)) == RS_OK);
    rs_batch_destroy(batch);
    rs_world_destroy(s.world);
    CHECK(rs_memory_bytes() == 0);
}

int main(void)
{
    RUN(a_pool_makes_every_item_once);
    RUN(members_do_as_lone_worlds_whatever_the_threads);
    RUN(a_reset_member_goes_on_as_a_new_one);
    RUN(a_refused_row_names_its_member_and_nothing_is_stepped);
    RUN(a_member_that_diverges_is_marked_and_starts_again);
    RUN(a_warm_batch_allocates_nothing);
    RUN(calls_of_several_threads_wait_for_one_another);
    return CHECK_RESULT();
}
