/* Wires: two points of two bodies whose distance is held, pulled or sprung along the line between them.
 *
 * Speeds along a wire count positive when it gets shorter, impulses when they pull its ends together. A wire that only
 * resists being compressed is the same thing with both signs turned. */
#ifndef RS_CONTACT_WIRE_H
#define RS_CONTACT_WIRE_H

#include "../dynamics/carrier.h"
#include "../dynamics/contact_response.h"
#include "contact.h"

typedef struct {
    uint32_t serial; /* wires are kept in ascending order of it */
    int32_t body[2];
    int32_t link[2];   /* 0 for single bodies */
    rs_vec3 point[2];  /* body or link frame [m] */
    rs_wire_properties properties;

    /* written by the island stage */
    int32_t island;    /* RS_NONE while asleep, or when nothing that it holds can move */
    rs_vec3 middle[2]; /* the two points at the midpoint, world frame */
    rs_vec3 grip[2];   /* where the wire acts, world frame: there, but for springs, see spring.c */
    rs_vec3 normal;    /* from the first point to the second, unit; kept while they coincide; once `turned` that in which it pulls */
    double stretch;    /* distance at the midpoint minus length [m] */

    bool turned;       /* `normal` is the direction at the mean of the step, see rs_wire_turn */
    double out;        /* `reeled` at the beginning of the step, or, when that is not known, how far the ends were apart there */
    double reeled;     /* stiff: length that is out, which follows a shortened one at a bounded speed [m]; 0: not known yet */
    double impulse;    /* of the last solve, positive when it pulls [N s]; kept to start the next one */
    double former;     /* that of the solve before [N s] */
    rs_vec3 begin;     /* springs: from the first point to the second at the beginning of the step [m] */
    rs_vec3 end;       /* and at its end, as last solved */
    rs_vec3 sideways;  /* across the wire, on its first end, along rs_tangents(normal), while it has not turned [N s] */
} rs_wire;
RS_ARRAY_OF(rs_wire);


/* Points, direction and stretch at the midpoint. */
void rs_wire_place(rs_wire *wire, const rs_body *bodies);

/* After a solve: whether a stiff wire pulls other than it did when its rows were made. */
bool rs_wire_tightened(const rs_wire *wire);
/* After a solve with a row across the wire: from now on its direction in this step is the one in which it pulled, that at the
 * mean of the step. False when that is the one it had. */
bool rs_wire_turn(rs_wire *wire);

/* What a wire asks of the solver in this step. */
typedef struct {
    rs_impulse_bounds bounds;
    double target;   /* speed of the row to reach [m/s] */
    double start;    /* the speed that the work of a stiff wire counts from [m/s] */
    double push;     /* the target for the motion that removes stretch and leaves no velocity behind [m/s] */
    double softness; /* [1/kg] */
    double impulse;  /* start value [N s] */
} rs_wire_law;
/* Also reels a stiff wire in. `relative`: velocity of the first end against the second at the beginning of the step, world frame [m/s].
 * `inverse_mass`: of the two ends together along the wire [1/kg]. */
rs_wire_law rs_wire_law_of(rs_wire *wire, rs_vec3 relative, double inverse_mass, double dt, double erp);
/* A taut wire pulls its ends back into line, the harder the tighter it is. Seen at the midpoint alone that would be a spring
 * without any damping, and a heavy load on a light rope would shake it to pieces. The wire's direction is therefore taken at
 * the mean of the step: a row across the wire with this softness, which aims at the velocity at the beginning. Returns
 * INFINITY where nothing pulls. [1/kg] */
double rs_wire_sideways_softness(const rs_wire *wire, double dt);
/* +1: impulses of the row pull and its speed is the shortening; -1: they push, and it is the lengthening. */
double rs_wire_sign(const rs_wire *wire);

/* How far a stiff wire whose ends are so far apart is out of the length that is out; a slack one 0 [m]. */
double rs_wire_excess(const rs_wire *wire, double distance);

/* Of the row's impulse. */
rs_impulse_bounds rs_wire_bounds(const rs_wire *wire);

/* Tension that goes with a stretch, for springs and user-set tensions; for stiff wires that of the last solve [N]. */
double rs_wire_tension(const rs_wire *wire, double stretch, double dt);

/* ---- spring.c: compliant wires that are solved with everything else ---- */

bool rs_wire_is_spring(const rs_wire *wire);
/* One end of a spring. */
typedef struct {
    const rs_body *body; /* a single body that impulses move; NULL: another, whose points are taken to go straight */
    rs_vec3 v, w;        /* the body's velocities: of its centre of mass, and angular */
} rs_spring_end;
/* Before the first solve, with the velocities at the beginning of the step. `straight`: velocity of the first end against the
 * second, of those ends that go straight [m/s]. */
void rs_spring_begin(rs_wire *wire, const rs_spring_end ends[2], rs_vec3 straight, double dt);
/* After a solve, with the velocities that it led to: `work` is what the spring's impulse gave [J]. True when that is not what the
 * spring lost: then once more, with the given share of what has changed. */
bool rs_spring_follow(rs_wire *wire, const rs_spring_end ends[2], rs_vec3 straight, double work, double share, double dt);
/* `speed` of the row at the beginning of the step [m/s]. */
rs_wire_law rs_spring_law(const rs_wire *wire, double speed, double inverse_mass, double dt);

#endif
