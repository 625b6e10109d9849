/* An object made of particles: one kind or the other. */
#ifndef RS_SOFT_SOFT_H
#define RS_SOFT_SOFT_H

#include "deformable.h"

/* What an object did to a body or link in the last step. */
typedef struct {
    int32_t body, link;
    rs_pair6 impulse; /* its moment about the centre of mass of a body, the origin of a link [N s, N m s] */
} rs_soft_impulse;
RS_ARRAY_OF(rs_soft_impulse);

/* Features of two soft objects, or of one, that are near each other. */
typedef struct {
    int32_t other;         /* body of the second; of one object its own */
    int32_t member;        /* the same among the objects that step together; scratch */
    int32_t kind;          /* rs_meeting_kind */
    int32_t first, second; /* which feature of each */
    rs_vec3 normal;        /* unit, from the second to the first while they are near: it tells which side is which; else zero */
    double keep;           /* how far apart they keep: farther than they ever were only as their thickness allows [m] */
    double push;           /* impulse along the normal in the last substep [N s] */
    rs_vec3 slide;         /* and across it */
    double clear;          /* they cannot touch before particles moved so far in this step [m]; scratch */
} rs_soft_meeting;
RS_ARRAY_OF(rs_soft_meeting);

typedef struct rs_soft {
    rs_grains *grains;         /* either this */
    rs_deformable *deformable; /* or this */
    uint64_t group, mask;
    int32_t contact_material;
    RS_ARRAY(rs_soft_impulse) impulses; /* last step */
    RS_ARRAY(rs_soft_meeting) meetings, meetings_before; /* with objects after this one, and with itself; scratch */
    rs_aabb box; /* of all particles, with their radii, at the end of the last step */
    double speed; /* of the fastest [m/s] */
    bool slower; /* than in the step before */
    double margin; /* others this far away are near [m] */
    int32_t calm_steps; /* consecutive steps in which nothing moved */
} rs_soft;

rs_soft *rs_soft_new(void);
void rs_soft_free(rs_soft *soft);
rs_soft *rs_soft_clone(const rs_soft *source);
int64_t rs_soft_count(const rs_soft *soft);
/* Places and velocities of the particles. */
rs_quad *rs_soft_positions(const rs_soft *soft);
rs_quad *rs_soft_velocities(const rs_soft *soft);
/* Particles were placed anew: what is known of their contacts is out of date. */
void rs_soft_forget(rs_soft *soft);

/* Whether all numbers are finite and not too large to calculate with. */
bool rs_soft_is_carried(const rs_soft *soft);

/* Measures box and speed: after particles were placed. */
void rs_soft_measure(rs_soft *soft);
/* After a step: counts whether everything is slower than `still` and gets no faster. */
void rs_soft_count_calm(rs_soft *soft, double still);
/* Velocities are zero. */
void rs_soft_rest(rs_soft *soft);

rs_soft_sums rs_soft_sum(const rs_soft *soft, rs_vec3 gravity);
/* FNV-1a over the state, going on from `hash`. */
uint64_t rs_soft_hash(const rs_soft *soft, uint64_t hash);

#endif
