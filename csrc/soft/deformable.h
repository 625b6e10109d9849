/* Cloth and other deformable objects: particles held together by constraints with compliance (XPBD, small substeps).
 *
 * A substep moves the particles freely, then Gauss and Seidel's way over the constraints; impulses of the substep before
 * are where they start, so that at rest every constraint is stretched as its compliance says, however few iterations there
 * are. Contacts act on velocities, both ways: momentum is kept. */
#ifndef RS_SOFT_DEFORMABLE_H
#define RS_SOFT_DEFORMABLE_H

#include "../collision/manifold.h"
#include "grains.h"
#include "tetrahedron.h"

/* Two particles and their distance at rest. */
typedef struct {
    int32_t a, b;
    double rest, compliance; /* [m], [m/N] */
    double impulse;          /* of the last substep, times its length [N s^2] */
} rs_soft_strut;
RS_ARRAY_OF(rs_soft_strut);

/* A triangle and what is beside it: |sum of weight * place| is how much they are bent, in one of three ways. */
typedef struct {
    int32_t index[RS_HINGE_POINTS];
    double weight[RS_HINGE_POINTS];
    double rest, compliance;
    double impulse;
} rs_soft_hinge;
RS_ARRAY_OF(rs_soft_hinge);

/* A particle or triangle that may touch a shape in this step, and what the contact did in the last substep. */
typedef struct {
    int32_t feature; /* particle, or number of particles + triangle */
    int32_t shape, collider;
    double push;     /* impulse along the normal [N s] */
    rs_vec3 slide;   /* and across it, of friction */
} rs_soft_candidate;
RS_ARRAY_OF(rs_soft_candidate);

/* A contact in a substep. */
typedef struct {
    int32_t candidate, partner, count;
    int32_t particle[3];
    double weight[3];      /* of the particles where they touch; together 1 */
    rs_vec3 point, normal; /* towards the particles */
    double wanted;         /* least speed along the normal [m/s] */
    double lift;           /* how far this substep pushes the particles out of an overlap [m] */
    rs_vec3 before;        /* velocity against the partner before the impulses of this substep */
    double friction;
    double inverse_mass;   /* of the particles together [1/kg] */
    double mobility;       /* of both sides along the normal [1/kg] */
    double push;
    rs_vec3 slide;
} rs_soft_row;
RS_ARRAY_OF(rs_soft_row);

/* A particle that is pinned to a body or link. */
typedef struct {
    int32_t particle, body, link;
    int32_t partner;       /* in this step */
    rs_vec3 local;         /* where, in the frame of the body or link [m] */
    rs_vec3 impulse;       /* on the particle in the last substep [N s] */
    rs_vec3 place, wanted; /* of this substep: world frame; velocity of the particle against the body */
} rs_soft_tie;
RS_ARRAY_OF(rs_soft_tie);

/* Particles that constraints hold together, none of them pinned to the world; of the present substep. */
typedef struct {
    double mass;
    rs_vec3 centre, drift; /* of mass, and its velocity */
    rs_sym3 inertia;
    double motion;         /* sum of mass * speed^2 against the drift */
    rs_vec3 spin;          /* angular momentum about the centre, then angular velocity */
    rs_vec3 lift;          /* out of overlaps with bodies, on average [m] */
    int32_t overlaps;
    rs_vec3 turn; /* what the constraints changed of its angular momentum, times the substep; then the turn that undoes it */
    rs_vec3 impulse; /* of contacts and pins [N s] */
} rs_soft_piece;
RS_ARRAY_OF(rs_soft_piece);

typedef struct rs_deformable {
    rs_deformable_settings settings;
    RS_ARRAY(rs_quad) x;     /* place, collision radius; 0: inside, where nothing touches it */
    RS_ARRAY(rs_quad) v;     /* velocity, inverse mass; 0: pinned */
    RS_ARRAY(double) masses; /* [kg] */
    RS_ARRAY(rs_soft_strut) struts;
    RS_ARRAY(rs_soft_hinge) hinges;
    RS_ARRAY(rs_soft_tetrahedron) tetrahedra;
    RS_ARRAY(int32_t) triangles; /* three each */
    RS_ARRAY(rs_soft_tie) ties; /* by particle */
    double substep;     /* length of the last one [s] */
    double own_substep; /* of the longest that it would take alone: edges without compliance are as stiff as that can follow */
    RS_ARRAY(int32_t) parts; /* where each part of the struts begins, the hinges, the tetrahedra; empty: to be divided */
    RS_ARRAY(rs_quad) x_before, x_start; /* scratch: at the beginning of the step and of the substep */
    RS_ARRAY(rs_soft_candidate) candidates, candidates_before; /* by feature, then by collider */
    RS_ARRAY(rs_soft_row) rows;
    RS_ARRAY(int32_t) tied;     /* per particle while there are ties: the body that it is pinned to, or RS_NONE */
    RS_ARRAY(int32_t) touching; /* per particle: a shape that it touches in this substep, or RS_NONE */
    RS_ARRAY(uint8_t) owned; /* per triangle: corners (bits 0 to 2) and edges (3 to 5, from each corner to the next) that it
                         * answers for; as many as triangles, or not made yet */
    RS_ARRAY(int32_t) around;  /* scratch */
    int32_t sweeps;            /* scratch of a substep: how many were made */
    bool settled;              /* the last one changed hardly anything */
    double lift_speed;         /* of the fastest piece that left an overlap in this step [m/s] */
    bool bends_softly;         /* one sweep is enough for all hinges */
    double kinetic;            /* energy as the substep began, with what the air and gravity did [J] */
    rs_vec3 half_kick;         /* half of what gravity adds to velocities in a substep [m/s] */
    rs_vec3 momentum;          /* of pieces as the substep began, likewise [N s] */
    double elastic;            /* energy of springs as the substep began [J]; NAN: not known */
    RS_ARRAY(rs_quad) x_swept; /* before a sweep over the constraints */
    RS_ARRAY(int32_t) piece;   /* per particle: its piece, or RS_NONE */
    RS_ARRAY(rs_soft_piece) pieces;
    RS_ARRAY(double) slim; /* per particle: how thick it is against its own object [m] */
} rs_deformable;

rs_deformable *rs_deformable_new(void);
void rs_deformable_free(rs_deformable *d);
rs_deformable *rs_deformable_clone(const rs_deformable *source);
/* Adds a hinge that rests as it is bent now. */
rs_status rs_deformable_hinge(rs_deformable *d, const int32_t index[RS_HINGE_POINTS], const double weight[RS_HINGE_POINTS],
                              double compliance);
rs_aabb rs_deformable_bounds(const rs_deformable *d, double *speed);
rs_soft_sums rs_deformable_sum(const rs_deformable *d, rs_vec3 gravity);
/* Energy of springs, and of height above where the substep began [J]. */
double rs_deformable_stored_energy(const rs_deformable *d, rs_vec3 gravity);
/* What constraints and contacts brought to its motion, and to its springs, in the substep [J]. */
double rs_deformable_gain_of_motion(const rs_deformable *d);
double rs_deformable_gain_of_springs(rs_deformable *d);
/* What half of the velocities that gravity added would have brought, had contacts not taken them from its pieces [J]. */
double rs_deformable_held(const rs_deformable *d);
/* A step of the world in parts. How many substeps it takes at least; what it may touch, with substeps of length h. */
rs_status rs_deformable_begin_step(rs_deformable *d, const rs_soft_scene *scene, double *substeps);
rs_status rs_deformable_plan(rs_deformable *d, const rs_soft_scene *scene, rs_partners *partners, double h);
/* A substep: free motion and what the one before found; one sweep over all constraints, `alone`: no soft object touches it;
 * velocities. */
rs_status rs_deformable_begin_substep(rs_deformable *d, const rs_soft_scene *scene, rs_partners *partners, double h);
void rs_deformable_iterate(rs_deformable *d, const rs_soft_scene *scene, rs_partners *partners, double h, bool alone);
void rs_deformable_end_substep(rs_deformable *d, double h, bool alone);
/* It rests where it was when the step began. */
void rs_deformable_stop(rs_deformable *d);

/* constraint_order.c: puts constraints in an order in which threads can solve parts of them at once; whoever adds or removes
 * some empties `parts`. */
rs_status rs_deformable_divide(rs_deformable *d);
/* Particles are divided into slabs, constraints into twice as many parts, which are solved in phases. */
enum { RS_PART_PHASES = 4, RS_MOST_SLABS = 16, RS_MOST_PARTS = 2 * RS_MOST_SLABS };
int32_t rs_deformable_slabs(const rs_deformable *d);
typedef struct {
    int32_t number;
    int32_t strut, strut_end, hinge, hinge_end, tetrahedron, tetrahedron_end;
} rs_soft_part;
typedef void (*rs_part_work)(void *context, const rs_soft_part *part);
/* Works on all parts, phase after phase: parts of a phase have no particle in common. */
void rs_deformable_each_part(const rs_deformable *d, rs_thread_pool *pool, rs_part_work work, void *context);

/* deformable_spin.c: the angular momentum of pieces that nothing holds; pieces are found once in a step. */
rs_status rs_deformable_find_pieces(rs_deformable *d);
void rs_deformable_begin_spin(rs_deformable *d);
void rs_deformable_before_sweep(rs_deformable *d);
void rs_deformable_after_sweep(rs_deformable *d);
/* An impulse on a particle counts for its piece. */
void rs_deformable_note_impulse(rs_deformable *d, int32_t particle, double weight, rs_vec3 impulse);
/* Velocities follow from places at the end of a substep of length h; what pieces lost as these were rounded they get back. */
void rs_deformable_find_velocities(rs_deformable *d, double h);
/* At the end of a substep of length h: velocities get back what is missing. */
void rs_deformable_end_spin(rs_deformable *d, double h);
/* Twice the kinetic energy of what particles move against the rigid motion of their piece (`keep_spin`: its spin, too), or
 * against the world where that is pinned [J]; and that motion scaled: momentum stays. */
double rs_deformable_inner_motion(rs_deformable *d, bool keep_spin);
void rs_deformable_scale_inner_motion(rs_deformable *d, double scale);
/* Places between those as the substep began (share 0), moved with their piece but not turned, and those in x_swept (1). */
void rs_deformable_go_back(rs_deformable *d, double share);

/* deformable_tear.c: after a step: what is stretched beyond settings.tear_strain comes apart; particles, edges and triangles
 * may get more. */
rs_status rs_deformable_tear(rs_deformable *d);

/* deformable_features.c: which features each triangle answers for; made once. */
rs_status rs_deformable_own_features(rs_deformable *d);

/* deformable_faces.c: where a triangle, rounded by the collision radius, meets a shape between its corners; at most `room`
 * contacts closer than the margin [m]. Corners collide as balls. */
typedef struct {
    rs_vec3 point, normal; /* midway between the surfaces; unit, towards the triangle */
    double gap;            /* [m] */
    double weight[3];      /* of the corners */
} rs_face_contact;
enum { RS_MAX_FACE_CONTACTS = 4 };
int rs_face_contacts(const rs_vec3 corners[3], double radius, bool closed, const rs_near_shape *near,
                     const rs_collide_settings *settings, rs_face_contact out[RS_MAX_FACE_CONTACTS]);

/* Change of the velocity of a point between particles per unit impulse there [1/kg], or more where that would move a
 * particle more than twice as far as the point: near a particle that is pinned, the others have hardly a lever. */
static inline double rs_soft_point_inverse_mass(const double *weight, const double *inverse_mass, int count) {
    double sum = 0.0, most = 0.0;
    for (int k = 0; k < count; k++) {
        sum += weight[k] * weight[k] * inverse_mass[k];
        most = rs_max(most, weight[k] * inverse_mass[k]);
    }
    return rs_max(sum, 0.5 * most);
}

/* deformable_contacts.c: pairs that may meet in this step; contacts of a substep of length h that begins at x_start with the
 * velocities v; what they do at the beginning of it and in one of Gauss and Seidel's sweeps over them. */
rs_status rs_deformable_list_candidates(rs_deformable *d, const rs_partners *partners, double reach);
rs_status rs_deformable_list_rows(rs_deformable *d, const rs_soft_scene *scene, rs_partners *partners, double h);
void rs_deformable_begin_rows(rs_deformable *d, rs_partners *partners, double h);
void rs_deformable_solve_rows(rs_deformable *d, rs_partners *partners, double h);
void rs_deformable_keep_rows(rs_deformable *d);
/* What their impulses and those of the pins did to both sides, after the substep [J]. */
double rs_deformable_contact_work(const rs_deformable *d, const rs_partners *partners);
/* Their impulses times the velocities after the substep [J]. */
double rs_deformable_contact_power(const rs_deformable *d, const rs_partners *partners);
/* Takes a share of their impulses back from both sides; pieces, within which nothing moves any more, feel that as a whole. */
void rs_deformable_return_contacts(rs_deformable *d, rs_partners *partners, double share);
/* Out of overlaps, without velocity: pieces as a whole, which bends no springs; then what still overlaps. */
void rs_deformable_lift_pieces(rs_deformable *d, double h);
void rs_deformable_lift_rows(rs_deformable *d);

/* deformable_ties.c: pins to bodies, likewise; first the partners of this step are found. */
rs_status rs_deformable_find_ties(rs_deformable *d, const rs_soft_scene *scene, rs_partners *partners);
void rs_deformable_begin_ties(rs_deformable *d, rs_partners *partners, double h);
void rs_deformable_solve_ties(rs_deformable *d, rs_partners *partners, double h);

#endif
