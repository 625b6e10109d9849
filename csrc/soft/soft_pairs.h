/* Soft objects against each other and themselves.
 *
 * Vertices meet triangles, edges meet edges, grains meet triangles. Pairs near each other are listed; in every substep those
 * that come close become rows among the constraints, as contacts with bodies do: impulses act on both sides alike. A pair
 * remembers the side that it is on, so that cloth that was pressed too far finds its way back. */
#ifndef RS_SOFT_SOFT_PAIRS_H
#define RS_SOFT_SOFT_PAIRS_H

#include "soft.h"

typedef enum {
    RS_VERTEX_ON_TRIANGLE, /* a vertex of the first, a triangle of the second */
    RS_TRIANGLE_ON_VERTEX,
    RS_EDGE_ON_EDGE,       /* edges count three for each triangle */
    RS_GRAIN_ON_TRIANGLE,
    RS_TRIANGLE_ON_GRAIN
} rs_meeting_kind;

/* A row: the contact of a pair in a substep. */
typedef struct {
    int32_t owner, meeting; /* member, and which of its meetings */
    int32_t member[2];      /* first and second side */
    int32_t count[2];       /* particles of each side */
    int32_t particle[2][3];
    double weight[2][3];    /* together 1 on each side */
    rs_vec3 normal;         /* unit, towards the first */
    double arm[2];          /* radius of a grain, else 0 [m] */
    double wanted;          /* least speed along the normal [m/s] */
    double lift;            /* how far this substep parts them where they are too near [m] */
    rs_vec3 before;         /* velocity of the first against the second before the impulses of this substep */
    double friction;
    double along, across;   /* mobility of both sides along and across the normal [1/kg] */
    double push;
    rs_vec3 slide;
} rs_pair_row;
RS_ARRAY_OF(rs_pair_row);

/* A triangle or a grain that may meet others. */
typedef struct {
    int32_t member, index;
    rs_aabb box;
} rs_pair_item;
RS_ARRAY_OF(rs_pair_item);

/* Scratch of a step. */
typedef struct {
    RS_ARRAY(rs_pair_item) items;
    RS_ARRAY(rs_quad) centres;
    rs_cell_grid grid;
    RS_ARRAY(int32_t) table; /* former meetings by their key */
    RS_ARRAY(rs_pair_row) rows;
    double skin;       /* pairs this far beyond touching are listed [m] */
    double listed;     /* `moved` when they were listed */
    double moved;      /* the most that particles moved against each other in this step [m] */
} rs_soft_pairs;

void rs_soft_pairs_free(rs_soft_pairs *pairs);

/* Whether two objects collide by their filters, and are of kinds that do. */
bool rs_soft_pair_allowed(const rs_soft *a, const rs_soft *b);

/* Lists what is near at the beginning of a step, for substeps of length h; what pairs remember is kept. */
rs_status rs_soft_pairs_begin_step(rs_soft_pairs *pairs, rs_soft *const *members, const int32_t *ids, int32_t count, double h);
/* Lists it anew where particles will have moved too far by the end of the substep. */
rs_status rs_soft_pairs_refresh(rs_soft_pairs *pairs, rs_soft *const *members, const int32_t *ids, int32_t count, double h);
/* Rows of a substep, after free motion, and what they did in the one before. */
rs_status rs_soft_pairs_begin(rs_soft_pairs *pairs, const rs_soft_scene *scene, rs_soft *const *members, const int32_t *ids,
                              int32_t count, double h);
void rs_soft_pairs_solve(rs_soft_pairs *pairs, rs_soft *const *members, double h);
/* What the rows did is where the next substep starts. */
void rs_soft_pairs_end(rs_soft_pairs *pairs, rs_soft *const *members);
/* What the impulses of the rows did to both sides, after the substep [J]. */
double rs_soft_pairs_work(const rs_soft_pairs *pairs, rs_soft *const *members);
/* Parts what is too near, without velocity. */
void rs_soft_pairs_lift(const rs_soft_pairs *pairs, rs_soft *const *members);

#endif
