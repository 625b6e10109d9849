/* What all rows of an island have in common, however their velocities lie in memory: the law that a row obeys, its
 * impulse, and how far it is from obeying. The policy of solve_island.c and the Newton steps of newton.c work on this
 * alone; rows_body.c and rows_tree.c know how impulses change velocities. */
#ifndef RS_CONTACT_ROW_H
#define RS_CONTACT_ROW_H

#include <stdbool.h>

#include "../base/simd4.h"
#include "coulomb.h"

typedef enum {
    RS_ROW_CONTACT, /* 3 impulses (t1, t2, n) under Coulomb's law */
    RS_ROW_AXIS,    /* 1 impulse, the third, between two bounds: joint limit, brake, motor, wire, rod */
    RS_ROW_POINT,   /* 3 impulses without bounds: pin */
    RS_ROW_TURN     /* 3 moments (t1, t2, n) that the load of a contact limits: rolling and spinning friction */
} rs_row_kind;

/* What a row is doing. */
typedef enum { RS_ROW_OPEN, RS_ROW_HELD, RS_ROW_SLIDING } rs_row_state;

/* The beginning of every row. "Error" is what a row wants to be zero: velocity minus aim plus softness * impulse. */
typedef struct rs_law {
    rs_quad impulse;
    rs_quad former;      /* impulse after the sweep before */
    rs_quad aim;         /* relative velocity that is wanted; the normal one of a contact may be exceeded [m/s] */
    double mu;           /* CONTACT; TURN: of rolling */
    double spin_mu;      /* TURN: of spinning */
    const struct rs_law *bearer; /* TURN: the contact whose load limits it */
    double lower, upper; /* AXIS: bounds of the impulse */
    double softness;     /* [1/kg] */
    double inverse_mass; /* largest diagonal of the effective inverse mass, with the softness [1/kg] */
    double normal_inverse_mass; /* that of the third axis [1/kg] */
    bool powered;        /* gives energy by right: motor, spring, tension that a user set */
    bool rebounds;       /* stiff wire, pin of what touches something: its aim counts as work */
    bool beside_wire;    /* a stiff wire acts in the island, all along the step: so does the row */
    rs_vec3 start;       /* beside a wire: relative velocity at the beginning of the step [m/s] */
    rs_row_kind kind;
    rs_quad error;       /* at the last look */
    rs_quad free_error;  /* without any impulse */
    rs_quad best;        /* impulse of the best solution so far */
    rs_quad step;        /* change of the impulse: to be taken, or the last one taken */
    double push;         /* speed of the motion that removes overlap [m/s], or brings a joint back [rad/s, m/s] */
    double push_impulse; /* of that motion */
} rs_law;

/* What the row does, going by its impulse and its error. A contact without impulse that comes apart no faster than `touching`
 * [m/s] may take a share of the load, if that is not negative, and one that slips no faster is held, though its friction be at the
 * limit. `direction`: of the friction of a sliding contact, unit. */
rs_row_state rs_law_state(const rs_law *law, double touching, double direction[2]);
/* Energy that the impulse gives: it acts on the mean of the velocities before and after. For joints against the motion that they
 * aim at, which follows the curve of their path or corrects it. A stiff wire acts all along the step, and so does what holds against
 * it: work counts from the beginning of the step there, for others than the wire only if that is less. */
double rs_law_work(const rs_law *law);
/* The same per impulse if that did not change any velocity: what work counts from [m/s]. */
rs_vec3 rs_law_before(const rs_law *law);
/* Whether the aim, of a row that bears a load, gives back what the load takes. */
bool rs_law_bounces(const rs_law *law);

/* ---- rolling and spinning friction: rows of kind TURN ---- */

/* Which of its moments are at their limits. */
typedef struct {
    bool rolls, spins;
} rs_turning;

/* What a row does that asks for the moments, under a load. */
rs_turning rs_turn_state(const rs_law *law, double load, rs_vec3 moments);

/* ---- what a row asks for ---- */

/* Normal impulse that bears the row. */
static inline double rs_turn_load(const rs_law *law) { return rs_max(0.0, law->bearer->impulse.xyz.z); }
/* The nearest moments that a load allows: rolling friction holds within a disc, spinning friction within an interval. */
static inline rs_vec3 rs_turn_allowed(const rs_law *law, double load, rs_vec3 p) {
    double limit = law->mu * load, size2 = p.x * p.x + p.y * p.y;
    double scale = size2 > limit * limit ? limit / sqrt(size2) : 1.0;
    return rs_v3(scale * p.x, scale * p.y, rs_clamp(p.z, -law->spin_mu * load, law->spin_mu * load));
}

/* The impulse that the error asks for, not yet inside its bounds: p - error / g, where friction also pays for the lift
 * that its cone would otherwise give to sliding contacts (De Saxce and Feng 1998). */
static inline rs_vec3 rs_law_asked(const rs_law *law) {
    rs_vec3 error = law->error.xyz;
    if (law->kind == RS_ROW_CONTACT)
        error.z += law->mu * sqrt(error.x * error.x + error.y * error.y);
    return rs_madd(law->impulse.xyz, -1.0 / law->inverse_mass, error);
}
/* The nearest impulse that the law allows. */
static inline rs_vec3 rs_law_allowed(const rs_law *law, rs_vec3 impulse) {
    switch (law->kind) {
    case RS_ROW_CONTACT: return rs_coulomb_shrink(impulse, law->mu);
    case RS_ROW_AXIS: return rs_v3(0.0, 0.0, rs_clamp(impulse.z, law->lower, law->upper));
    case RS_ROW_TURN: return rs_turn_allowed(law, rs_turn_load(law), impulse);
    default: return impulse;
    }
}
/* A contact without impulse that comes apart, as most of them do. */
static inline bool rs_law_is_left_open(const rs_law *law) {
    rs_vec3 p = law->impulse.xyz;
    return law->kind == RS_ROW_CONTACT && law->error.xyz.z >= 0.0 && p.x == 0.0 && p.y == 0.0 && p.z == 0.0;
}
/* Distance from obeying the law, in the unit of its velocity: inverse mass times the distance from the impulse to
 * the one that its error asks for (natural map, with De Saxce's correction for friction). */
static inline double rs_law_residual(const rs_law *law) {
    if (rs_law_is_left_open(law))
        return 0.0;
    if (law->kind == RS_ROW_POINT)
        return rs_norm(law->error.xyz);
    if (law->kind == RS_ROW_AXIS) {
        double p = law->impulse.xyz.z, wanted = p - law->error.xyz.z / law->inverse_mass;
        return law->inverse_mass * fabs(p - rs_clamp(wanted, law->lower, law->upper));
    }
    rs_vec3 wanted = rs_law_asked(law);
    rs_vec3 nearest = law->kind == RS_ROW_TURN ? rs_law_allowed(law, wanted) : rs_coulomb_project(wanted, law->mu);
    return law->inverse_mass * rs_norm(rs_sub(law->impulse.xyz, nearest));
}

/* ---- layouts ---- */

/* What one side of a row has to do with the velocities of an object: columns[k] are the velocities of the three axes per unit
 * of the object's velocity index[k]; the fourth numbers are zero. */
typedef struct {
    int32_t object; /* number within the island, or -1: nothing that impulses move */
    int32_t size;
    int32_t *index;
    rs_quad *columns;
} rs_side_jacobian;

/* Of one sweep over all rows. */
typedef struct {
    double largest; /* largest change of an impulse, as a change of velocity [m/s] */
    double ascent;  /* velocity error along the momentum: positive when the momentum goes the wrong way */
} rs_sweep_result;

typedef struct rs_rows rs_rows;

/* How the velocities of an island lie in memory. */
typedef struct {
    /* Velocities as they are without impulses; impulses stay as they are. */
    void (*release)(rs_rows *rows);
    /* Finds the error of every row. */
    void (*look)(rs_rows *rows);
    /* Takes a share of the step of every row: impulses and velocities. */
    void (*apply)(rs_rows *rows, double share);
    /* Solves each row in turn against the present velocities; begins with `momentum` times the last change of the
     * impulses. With `quiet` not negative all rows, and those that changed by more than that [m/s] are busy; otherwise only
     * the busy ones. */
    rs_sweep_result (*sweep)(rs_rows *rows, double momentum, bool backward, double quiet);
    /* Position correction: the push-out motion is none; one sweep over its rows. */
    void (*clear_push)(rs_rows *rows);
    void (*sweep_push)(rs_rows *rows);
    /* Number of velocities of an object, and its inertia: a zeroed matrix as in base/band.h. */
    int32_t (*object_size)(const rs_rows *rows, int32_t object);
    void (*inertia)(const rs_rows *rows, int32_t object, double *out);
    /* Fills both sides; their arrays have room for the velocities of the objects. */
    void (*jacobian)(const rs_rows *rows, int64_t row, rs_side_jacobian sides[2]);
    int32_t first_sweeps; /* before costlier methods: as many as pay */
    bool of_single_bodies; /* their rows are swept several at a time */
} rs_row_layout;

/* The rows of one island; a layout's own struct begins with it. */
struct rs_rows {
    const rs_row_layout *layout;
    char *first;
    size_t stride;
    int64_t count;
    int32_t object_count;
};

static inline rs_law *rs_rows_law(const rs_rows *rows, int64_t k) {
    return (rs_law *)(void *)(rows->first + (size_t)k * rows->stride);
}

static inline int64_t rs_rows_index(const rs_rows *rows, const rs_law *law) {
    return ((const char *)law - rows->first) / (int64_t)rows->stride;
}

#endif
