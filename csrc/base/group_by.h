/* Things in groups: where those of each group begin, and which they are, in their order. */
#ifndef RS_BASE_GROUP_BY_H
#define RS_BASE_GROUP_BY_H

#include <stdint.h>
#include <string.h>

/* Thing i belongs to group_of[i]. The things of group g become items[starts[g]] to items[starts[g + 1] - 1]; `starts` has room
 * for groups + 1. */
static inline void rs_group_by(const int32_t *group_of, int64_t count, int64_t groups, int32_t *starts, int32_t *items) {
    memset(starts, 0, sizeof *starts * (size_t)(groups + 1));
    for (int64_t i = 0; i < count; i++)
        starts[group_of[i] + 1]++;
    for (int64_t g = 0; g < groups; g++)
        starts[g + 1] += starts[g];
    for (int64_t i = count - 1; i >= 0; i--) /* from behind, so that the starts become the beginnings */
        items[--starts[group_of[i] + 1]] = (int32_t)i;
    for (int64_t g = 0; g < groups; g++)
        starts[g] = starts[g + 1];
    starts[groups] = (int32_t)count;
}

#endif
