/* The constants of a tree are shared by its copies until one of them is changed. */
#include "../articulation_fixture.h"

static void copies_share_the_model_and_keep_the_state(void)
{
    size_t before = rs_memory_bytes();
    rs_articulation *a = mixed_tree(true);
    size_t whole = rs_memory_bytes() - before;
    rs_articulation *b = rs_articulation_clone(a), *packed = rs_articulation_pack(a), *c = rs_articulation_clone(packed);
    CHECK(b->model == a->model && packed->model == a->model && c->links == a->links);
    CHECK(rs_memory_bytes() - before < 3 * whole);
    CHECK(packed->motion == NULL && packed->kept_bytes < packed->bytes);
    CHECK(memcmp(a->q, c->q, sizeof(double) * (size_t)a->q_count) == 0);
    CHECK(memcmp(a->u, c->u, sizeof(double) * (size_t)a->u_count) == 0);
    rs_articulation_free(a);
    rs_kinematics_place(c, c->q, c->u); /* the model outlives the first that had it */
    CHECK(isfinite(rs_norm(c->motion[7].pos)));
    rs_articulation_free(packed);
    rs_articulation_free(b);
    rs_articulation_free(c);
    CHECK(rs_memory_bytes() == before);
}

static void a_changed_model_is_the_own_of_who_changed_it(void)
{
    rs_articulation *a = mixed_tree(false), *b = rs_articulation_clone(a);
    rs_link_def def = fixture_link(0, RS_JOINT_REVOLUTE);
    def.mass = 7.0;
    const rs_tree_model *shared = a->model;
    rs_tree_model_set_link(rs_articulation_own_model(b), 1, &def);
    CHECK(a->model == shared && b->model != shared);
    CHECK(a->links[1].mass == 1.5 && b->links[1].mass == 7.0);
    CHECK(b->links[1].parent == 0 && b->links[1].u_first == a->links[1].u_first);
    CHECK(rs_articulation_own_model(b) == b->model && b->links == b->model->links);
    CHECK(rs_articulation_own_model(a) == shared); /* nobody else has it any more */
    rs_articulation_free(a);
    rs_articulation_free(b);
}

int main(void)
{
    RUN(copies_share_the_model_and_keep_the_state);
    RUN(a_changed_model_is_the_own_of_who_changed_it);
    return CHECK_RESULT();
}
