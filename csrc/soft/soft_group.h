/* Soft objects that may touch each other: they take the substeps of a step together. */
#ifndef RS_SOFT_SOFT_GROUP_H
#define RS_SOFT_SOFT_GROUP_H

#include "soft_pairs.h"

typedef struct {
    rs_partners partners;
    rs_soft_pairs pairs;
    rs_array members;  /* rs_soft * */
    rs_array ids;      /* int32_t per member: its body */
    rs_array filters;  /* rs_soft_filter per member */
    rs_array shares;   /* rs_pair6 per partner: its impulse so far; then per member and partner: what the member did */
    rs_array states;   /* rs_status per member, after the step: RS_DIVERGED: it was stopped */
} rs_soft_group;

rs_soft_group rs_soft_group_make(void);
void rs_soft_group_free(rs_soft_group *group);
rs_status rs_soft_group_add(rs_soft_group *group, rs_soft *soft, int32_t body);
/* One step of the world for all members. */
rs_status rs_soft_group_step(rs_soft_group *group, const rs_soft_scene *scene);

/* soft_energy.c: at the end of a substep: what overlaps parts without getting faster, and contacts have brought no energy. */
void rs_soft_group_part(rs_soft_group *group, const rs_soft_scene *scene, bool with_pairs, double h);

#endif
