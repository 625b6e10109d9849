/* The pairs of colliders found for articulated systems, lazily placed and found in advance, against the double loop over
 * all colliders. */
#include "../../../csrc/world/tree_colliders.h"

#include <string.h>

#include "../../../csrc/world/placement.h"
#include "../check.h"
#include "../random.h"

enum { LINKS = 7, STEPS = 400 };

static rs_shape_def shape_of(int k)
{
    rs_shape_def shape = {.quaternion = {1, 0, 0, 0}, .position = {0.05, -0.02 * k, 0.1}};
    shape.type = k % 3 == 0 ? RS_SHAPE_SPHERE : k % 3 == 1 ? RS_SHAPE_BOX : RS_SHAPE_CYLINDER;
    const double dim[3] = {k % 3 == 1 ? 0.1 : 0.06, k % 3 == 1 ? 0.14 : 0.25, 0.2};
    memcpy(shape.dim, dim, sizeof dim);
    return shape;
}

/* A branching tree with every kind of joint and two shapes on each link, moving at `speed`. */
static rs_object_id add_tree(rs_world *world, rs_vec3 position, double speed, uint64_t *random)
{
    static const int32_t parents[LINKS] = {-1, 0, 1, 2, 0, 4, 4};
    static const rs_joint_type types[LINKS] = {RS_JOINT_FLOATING, RS_JOINT_REVOLUTE, RS_JOINT_SPHERICAL, RS_JOINT_REVOLUTE,
                                               RS_JOINT_PRISMATIC, RS_JOINT_REVOLUTE, RS_JOINT_SPHERICAL};
    rs_link_def links[LINKS];
    rs_link_shape_def shapes[2 * LINKS];
    for (int k = 0; k < LINKS; k++) {
        rs_default_link_def(&links[k]);
        links[k].parent = parents[k];
        links[k].joint_type = types[k];
        links[k].mass = 1.0;
        links[k].inertia[0] = links[k].inertia[1] = links[k].inertia[2] = 0.01;
        links[k].spring_mount[0] = types[k] == RS_JOINT_SPHERICAL ? 1.0 : 0.0;
        if (k > 0)
            rs_v3_store(links[k].joint_position, random_vector(random, 0.3));
        for (int s = 0; s < 2; s++)
            shapes[2 * k + s] = (rs_link_shape_def){k, shape_of(k + s), 1, UINT64_MAX};
    }
    rs_articulation_def def = {.link_count = LINKS, .links = links, .shape_count = 2 * LINKS, .shapes = shapes};
    rs_object_id id = 0;
    CHECK(rs_articulation_create(world, &def, &id) == RS_OK);
    rs_body *body;
    rs_articulation *a = rs_world_articulation(world, id, &body);
    rs_v3_store(a->q, position);
    for (int32_t k = 0; k < a->u_count; k++)
        a->u[k] = random_between(random, -speed, speed);
    return id;
}

static void place_all(rs_world *world)
{
    rs_collider *colliders = world->data.colliders.items;
    for (int64_t c = 0; c < world->data.colliders.count; c++) {
        const rs_articulation *a = world->data.bodies.items[colliders[c].body].articulation;
        if (a == NULL)
            continue;
        const rs_link_motion *m = &a->motion[colliders[c].link];
        rs_vec3 com = rs_m3_mulv(&m->rot, a->links[colliders[c].link].com);
        rs_carrier_motion by = {{m->rot, m->pos}, rs_add(m->pos, com), rs_link_point_velocity(a, colliders[c].link, com), m->w, world->data.dt};
        rs_place_collider(&colliders[c], &by, &world->data);
    }
}

static bool expected(const rs_world *world, const rs_collider *a, const rs_collider *b)
{
    const rs_articulation *own = world->data.bodies.items[a->body].articulation;
    bool allowed = a->body != b->body || own->self_contacts[a->link * own->link_count + b->link] > 0;
    return allowed && rs_colliders_may_meet(a, b) && rs_aabb_overlap(&a->box, &b->box);
}

/* Checks the pairs of this step; counts those within a system and those between two of them. */
static void check_pairs(rs_world *world, int64_t *within, int64_t *between)
{
    const rs_collider *colliders = world->data.colliders.items;
    const rs_pair *pairs = world->pairs.items;
    int64_t next = 0;
    place_all(world);
    for (int32_t i = 0; i < world->data.colliders.count; i++)
        for (int32_t j = i + 1; j < world->data.colliders.count; j++) {
            if (!expected(world, &colliders[i], &colliders[j]))
                continue;
            CHECK(next < world->pairs.count && pairs[next].a == i && pairs[next].b == j);
            next++;
            *(colliders[i].body == colliders[j].body ? within : between) += 1;
        }
    CHECK(next == world->pairs.count);
}

static void check_motion(double speed, bool swept, bool reused_expected)
{
    rs_world *world = NULL;
    uint64_t random = 77;
    CHECK(rs_world_create(&world) == RS_OK);
    rs_world_set_time_step(world, 0.002);
    rs_contact_settings settings;
    rs_world_get_contact_settings(world, &settings);
    settings.swept_ccd_enabled = swept;
    CHECK(rs_world_set_contact_settings(world, &settings) == RS_OK);
    add_tree(world, rs_v3(0, 0, 0), speed, &random);
    add_tree(world, rs_v3(0.6, 0.1, 0.2), 2.0 * speed, &random);
    add_tree(world, rs_v3(-0.5, 0.7, 0.0), 0.0, &random);
    int64_t within = 0, between = 0, reused = 0;
    for (int step = 0; step < STEPS; step++) {
        CHECK(rs_world_integrate1(world) == RS_OK);
        check_pairs(world, &within, &between);
        for (int64_t t = 0; t < world->trees.count; t++)
            reused += world->trees.items[t].age > 0;
        CHECK(rs_world_integrate2(world) == RS_OK);
    }
    CHECK(within > 100 && between > 100);
    CHECK((reused > 0) == reused_expected);
    rs_world_destroy(world);
}

static void pairs_of_systems_are_those_of_the_double_loop(void)
{
    check_motion(0.02, false, true);
    check_motion(0.5, false, true);
    check_motion(8.0, false, true); /* the third system rests at first */
}

static void swept_detection_looks_farther(void) { check_motion(3.0, true, false); }

static void allowing_a_pair_of_links_is_noticed(void)
{
    rs_world *world = NULL;
    uint64_t random = 77;
    CHECK(rs_world_create(&world) == RS_OK);
    rs_object_id id = add_tree(world, rs_v3_zero(), 0.0, &random);
    int64_t counts[3] = {0, 0, 0}, none = 0;
    for (int k = 0; k < 3; k++) {
        for (int32_t i = 0; i < LINKS; i++)
            for (int32_t j = 0; j < i; j++)
                CHECK(rs_articulation_set_self_contacts(world, id, i, j, k == 1 ? 4 : 0) == RS_OK);
        CHECK(rs_world_integrate1(world) == RS_OK);
        check_pairs(world, &counts[k], &none);
        CHECK(rs_world_integrate2(world) == RS_OK);
    }
    CHECK(counts[0] == 0 && counts[1] > 0 && counts[2] == 0);
    rs_world_destroy(world);
}

/* Farthest corner of the collider's box from the centre of mass of its link. */
static double farthest(const rs_world *world, const rs_collider *collider)
{
    const rs_articulation *a = RS_ITEM(world->data.bodies, collider->body)->articulation;
    rs_aabb box = rs_shape_aabb(&collider->shape, &collider->local);
    rs_vec3 com = a->links[collider->link].com;
    return rs_norm(rs_v3_max(rs_v3_abs(rs_sub(box.min, com)), rs_v3_abs(rs_sub(box.max, com))));
}

static void colliders_are_measured_from_the_mass_of_their_link(void)
{
    uint64_t random = 5;
    rs_world *world;
    CHECK(rs_world_create(&world) == RS_OK);
    rs_object_id id = add_tree(world, rs_v3(0, 0, 1), 1.0, &random);
    for (int32_t link = 0; link < LINKS; link++) {
        rs_link_def def;
        CHECK(rs_articulation_get_link(world, id, link, &def) == RS_OK);
        def.com[0] = 0.3 + 0.1 * link;
        CHECK(rs_articulation_set_link(world, id, link, &def) == RS_OK);
    }
    rs_shape_def shape = shape_of(1);
    shape.position[1] = 0.4;
    CHECK(rs_object_set_shape(world, id, 4, &shape) == RS_OK);
    for (int64_t c = 0; c < world->data.colliders.count; c++) {
        const rs_collider *collider = RS_ITEM(world->data.colliders, c);
        CHECK_NEAR(collider->radius, farthest(world, collider), 1e-12);
    }
    rs_world_destroy(world);
}

int main(void)
{
    RUN(pairs_of_systems_are_those_of_the_double_loop);
    RUN(swept_detection_looks_farther);
    RUN(allowing_a_pair_of_links_is_noticed);
    RUN(colliders_are_measured_from_the_mass_of_their_link);
    return CHECK_RESULT();
}
