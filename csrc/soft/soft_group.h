/* Soft objects that may touch each other: they take the substeps of a step together. */
#ifndef RS_SOFT_SOFT_GROUP_H
#define RS_SOFT_SOFT_GROUP_H

#include "soft_pairs.h"

typedef rs_soft *rs_soft_ref;
RS_ARRAY_OF(rs_soft_ref);
RS_ARRAY_OF(rs_status);

typedef struct {
    rs_partners partners;
    rs_soft_pairs pairs;
    RS_ARRAY(rs_soft_ref) members;
    RS_ARRAY(int32_t) ids; /* per member: its body */
    RS_ARRAY(rs_soft_filter) filters; /* per member */
    RS_ARRAY(rs_pair6) shares; /* per partner: its impulse so far; then per member and partner: what the member did */
    RS_ARRAY(rs_status) states; /* per member, after the step: RS_DIVERGED: it was stopped */
    double refused_substeps; /* what grains asked for that were stopped because it is too much, or 0 */
} rs_soft_group;

void rs_soft_group_free(rs_soft_group *group);
rs_status rs_soft_group_add(rs_soft_group *group, rs_soft *soft, int32_t body);
/* One step of the world for all members. */
rs_status rs_soft_group_step(rs_soft_group *group, const rs_soft_scene *scene);

/* soft_energy.c: at the end of a substep: what overlaps parts without getting faster, and contacts have brought no energy, once
 * those with bodies have taken back the share that is returned. */
double rs_soft_group_part(rs_soft_group *group, const rs_soft_scene *scene, bool with_pairs, double h);

#endif
