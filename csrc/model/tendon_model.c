/* Tendons as constants of a robot: which joints change their lengths. */
#include "tree_model.h"
#include "../base/limits.h"

#include <string.h>

/* What a joint has to do with a tendon. */
enum { PASSED = 1, MOVES = 2 }; /* the way to the base leads over it; it changes the length */

/* ---- which joints change the length ---- */

static bool is_end(const rs_route_def *r) { return r->kind != RS_ROUTE_PULLEY; }

/* A joint moves a routed tendon when it carries some of the links that the tendon comes by, but not all. Before that,
 * marks[i] counts how many of them are on link i; returns how many there are. */
static int32_t count_ends(const rs_articulation_def *def, const rs_tendon_def *t, int32_t *marks) {
    int32_t total = 0;
    memset(marks, 0, sizeof *marks * (size_t)def->link_count);
    for (int32_t k = 0; k < t->route_count; k++) {
        if (!is_end(&t->routes[k]))
            continue;
        total++;
        for (int32_t i = t->routes[k].link; i >= 0; i = def->links[i].parent)
            marks[i]++;
    }
    return total;
}

static void mark_moving(const rs_articulation_def *def, const rs_tendon_def *t, int32_t *marks) {
    if (t->kind == RS_TENDON_ROUTED || t->kind == RS_TENDON_FRAMES) {
        int32_t total = count_ends(def, t, marks);
        for (int32_t i = 0; i < def->link_count; i++)
            marks[i] = marks[i] > 0 && marks[i] < total ? MOVES : 0;
        return;
    }
    for (int32_t k = 0; k < t->term_count && t->kind == RS_TENDON_FIXED; k++)
        marks[t->terms[k].link] = MOVES;
}

/* Marks all joints of a tendon. */
static void mark(const rs_articulation_def *def, int32_t tendon, int32_t *marks, int32_t *work) {
    const rs_tendon_def *t = &def->tendons[tendon];
    memset(marks, 0, sizeof *marks * (size_t)def->link_count);
    mark_moving(def, t, marks);
    for (int n = 0; n < 2 && t->kind == RS_TENDON_CURVE; n++) {
        memset(work, 0, sizeof *work * (size_t)def->link_count);
        mark_moving(def, &def->tendons[t->of[n]], work);
        for (int32_t i = 0; i < def->link_count; i++)
            marks[i] |= work[i];
    }
    for (int32_t i = def->link_count - 1; i > 0; i--)
        if (marks[i] != 0)
            marks[def->links[i].parent] |= PASSED;
}

/* ---- checks ---- */

static bool is_link(const rs_articulation_def *def, int32_t link) { return link >= -1 && link < def->link_count; }

static bool has_one_coordinate(const rs_articulation_def *def, int32_t link) {
    return link >= 0 && link < def->link_count && rs_joint_velocity_count(def->links[link].joint_type) == 1;
}

static rs_status check_route(const rs_articulation_def *def, int32_t k, const rs_route_def *r) {
    bool known = r->kind >= RS_ROUTE_POINT && r->kind <= RS_ROUTE_PULLEY && is_link(def, r->link) && is_link(def, r->side_link);
    bool sized = r->kind == RS_ROUTE_POINT || (r->size > 0.0 && rs_is_carried(r->size));
    if (!known || !sized || !rs_all_carried(r->position, 3) || !rs_all_carried(r->rotation, 9) || !rs_all_carried(r->side, 3))
        return rs_fail(RS_INVALID_VALUE, "tendon %d comes by something of kind %d on link %d with size %g; expected a link of "
                                         "the robot or -1, finite places and a size greater than 0", k, r->kind, r->link,
                       r->size);
    return RS_OK;
}

/* Round things lie between two points, which a pulley does not part. */
static bool is_led_properly(const rs_tendon_def *t) {
    for (int32_t k = 0; k < t->route_count; k++) {
        bool round = t->routes[k].kind == RS_ROUTE_SPHERE || t->routes[k].kind == RS_ROUTE_CYLINDER;
        if (round && (k == 0 || k + 1 == t->route_count || t->routes[k - 1].kind != RS_ROUTE_POINT ||
                      t->routes[k + 1].kind != RS_ROUTE_POINT))
            return false;
    }
    return t->kind != RS_TENDON_FRAMES ||
           (t->route_count == 2 && t->routes[0].kind == RS_ROUTE_POINT && t->routes[1].kind == RS_ROUTE_POINT);
}

static rs_status check_curve(const rs_articulation_def *def, int32_t k) {
    const rs_tendon_def *t = &def->tendons[k];
    for (int n = 0; n < 2; n++)
        if (t->of[n] < 0 || t->of[n] >= k || def->tendons[t->of[n]].kind == RS_TENDON_CURVE)
            return rs_fail(RS_INVALID_VALUE, "tendon %d is a curve over tendon %d; expected one before it that is no curve", k,
                           t->of[n]);
    if (!rs_all_carried(t->reference, 2) || !rs_all_carried(t->curve, 5))
        return rs_fail(RS_INVALID_VALUE, "tendon %d: expected finite references and coefficients", k);
    return RS_OK;
}

static rs_status check_way(const rs_articulation_def *def, int32_t k) {
    const rs_tendon_def *t = &def->tendons[k];
    if (t->kind < RS_TENDON_FIXED || t->kind > RS_TENDON_CURVE || t->term_count < 0 || t->route_count < 0)
        return rs_fail(RS_INVALID_VALUE, "tendon %d: unknown kind, or a count below 0", k);
    for (int32_t i = 0; i < t->term_count; i++)
        if (!has_one_coordinate(def, t->terms[i].link) || !rs_is_carried(t->terms[i].coefficient))
            return rs_fail(RS_INVALID_VALUE, "tendon %d has the joint of link %d with coefficient %g; expected a revolute or "
                                             "prismatic one and a finite number", k, t->terms[i].link,
                           t->terms[i].coefficient);
    for (int32_t i = 0; i < t->route_count; i++) {
        rs_status status = check_route(def, k, &t->routes[i]);
        if (status != RS_OK)
            return status;
    }
    if (!is_led_properly(t) || !rs_all_carried(t->gear, 6))
        return rs_fail(RS_INVALID_VALUE, "tendon %d: expected round things between two points, frames in pairs and finite "
                                         "coefficients", k);
    return t->kind == RS_TENDON_CURVE ? check_curve(def, k) : RS_OK;
}

static rs_status check_forces(int32_t k, const rs_tendon_def *t) {
    const double passive[3] = {t->stiffness, t->damping, t->friction};
    for (int i = 0; i < 3; i++)
        if (!(passive[i] >= 0.0 && rs_is_carried(passive[i])))
            return rs_fail(RS_INVALID_VALUE, "tendon %d: expected stiffness, damping and friction of at least 0", k);
    if (!(t->lower <= t->upper) || !(t->rest_lower <= t->rest_upper) || !rs_is_carried(t->rest_lower) ||
        !rs_is_carried(t->rest_upper))
        return rs_fail(RS_INVALID_VALUE, "tendon %d: expected lower <= upper and finite lengths of rest", k);
    return RS_OK;
}

static rs_status check_drive(const rs_articulation_def *def, int32_t k) {
    const rs_drive_def *d = &def->drives[k];
    bool known = d->tendon >= 0 && d->tendon < def->tendon_count && d->dynamics >= RS_DYNAMICS_NONE &&
                 d->dynamics <= RS_DYNAMICS_MUSCLE && d->gain_law >= RS_LAW_CONSTANT && d->gain_law <= RS_LAW_MUSCLE &&
                 d->bias_law >= RS_LAW_CONSTANT && d->bias_law <= RS_LAW_MUSCLE;
    if (!known)
        return rs_fail(RS_INVALID_VALUE, "drive %d: expected known laws and tendon 0 to %d", k, def->tendon_count - 1);
    bool finite = rs_is_carried(d->gear) && rs_all_carried(d->dynamics_numbers, 3) && rs_all_carried(d->gain, 9) &&
                  rs_all_carried(d->bias, 9) && rs_all_carried(d->length_range, 2) && rs_is_carried(d->strength);
    if (!finite || !(d->control_range[0] <= d->control_range[1]) || !(d->activation_range[0] <= d->activation_range[1]) ||
        !(d->force_range[0] <= d->force_range[1]))
        return rs_fail(RS_INVALID_VALUE, "drive %d: expected finite numbers and ranges in order", k);
    return RS_OK;
}

/* ---- counting and filling ---- */

static rs_status count_all(rs_tree_model *counts, const rs_articulation_def *def, int32_t *marks) {
    for (int32_t k = 0; k < def->tendon_count; k++) {
        rs_status status = check_way(def, k);
        RS_THEN(status, check_forces(k, &def->tendons[k]));
        if (status != RS_OK)
            return status;
        counts->term_count += def->tendons[k].term_count;
        counts->route_count += def->tendons[k].route_count;
        mark(def, k, marks, &marks[def->link_count]);
        for (int32_t i = 0; i < def->link_count; i++) {
            counts->tendon_dof_count += marks[i] & MOVES ? rs_joint_velocity_count(def->links[i].joint_type) : 0;
            counts->tendon_link_count += marks[i] != 0;
        }
    }
    for (int32_t k = 0; k < def->drive_count; k++) {
        rs_status status = check_drive(def, k);
        if (status != RS_OK)
            return status;
    }
    return RS_OK;
}

/* Room for two marks per link, or NULL. */
static int32_t *new_marks(const rs_articulation_def *def) {
    return rs_alloc(2 * sizeof(int32_t) * (size_t)def->link_count);
}

rs_status rs_tendon_model_count(rs_tree_model *counts, const rs_articulation_def *def) {
    if (def->tendon_count < 0 || def->drive_count < 0)
        return rs_fail(RS_INVALID_VALUE, "there are %d tendons and %d drives; expected 0 or more", def->tendon_count,
                       def->drive_count);
    counts->tendon_count = def->tendon_count;
    counts->drive_count = def->drive_count;
    if (def->tendon_count == 0)
        return def->drive_count == 0 ? RS_OK : check_drive(def, 0);
    int32_t *marks = new_marks(def);
    rs_status status = marks != NULL ? count_all(counts, def, marks) : RS_OUT_OF_MEMORY;
    rs_free(marks);
    return status;
}

static void fill_way(rs_tree_model *m, const rs_tendon_def *t, rs_tendon *out) {
    for (int32_t k = 0; k < t->term_count; k++)
        m->terms[out->term_first + k] = t->terms[k];
    for (int32_t k = 0; k < t->route_count; k++) {
        const rs_route_def *r = &t->routes[k];
        rs_route *route = &m->routes[out->route_first + k];
        *route = (rs_route){.kind = (rs_route_kind)r->kind, .link = r->link, .side_link = r->side_link,
                            .has_side = r->has_side != 0, .position = rs_v3_load(r->position), .side = rs_v3_load(r->side),
                            .size = r->size};
        memcpy(route->rotation.m, r->rotation, sizeof route->rotation.m);
    }
}

/* From the last link to the base. */
static void fill_joints(rs_tree_model *m, const int32_t *marks, rs_tendon *out) {
    for (int32_t i = m->link_count - 1; i >= 0; i--) {
        if (marks[i] != 0)
            m->tendon_links[out->link_first + out->link_count++] = i;
        for (int32_t k = 0; k < m->links[i].u_count && (marks[i] & MOVES); k++)
            m->tendon_dofs[out->dof_first + out->dof_count++] = m->links[i].u_first + k;
    }
}

rs_status rs_tendon_model_fill(rs_tree_model *m, const rs_articulation_def *def) {
    int32_t *marks = def->tendon_count > 0 ? new_marks(def) : NULL;
    if (def->tendon_count > 0 && marks == NULL)
        return RS_OUT_OF_MEMORY;
    rs_tendon last = {0};
    for (int32_t k = 0; k < def->tendon_count; k++) {
        const rs_tendon_def *t = &def->tendons[k];
        rs_tendon *out = &m->tendons[k];
        *out = (rs_tendon){.kind = (rs_tendon_kind)t->kind, .term_first = last.term_first + last.term_count,
                           .term_count = t->term_count, .route_first = last.route_first + last.route_count,
                           .route_count = t->route_count, .dof_first = last.dof_first + last.dof_count,
                           .link_first = last.link_first + last.link_count, .flags = t->flags, .of = {t->of[0], t->of[1]},
                           .stiffness = t->stiffness, .damping = t->damping, .rest_lower = t->rest_lower,
                           .rest_upper = t->rest_upper, .friction = t->friction, .lower = t->lower, .upper = t->upper};
        memcpy(out->gear, t->gear, sizeof out->gear);
        memcpy(out->reference, t->reference, sizeof out->reference);
        memcpy(out->curve, t->curve, sizeof out->curve);
        mark(def, k, marks, &marks[def->link_count]);
        fill_way(m, t, out);
        fill_joints(m, marks, out);
        last = *out;
    }
    for (int32_t k = 0; k < def->drive_count; k++)
        m->drives[k] = def->drives[k];
    rs_free(marks);
    return RS_OK;
}

/* ---- models that were read ---- */

static rs_route_def route_def_of(const rs_route *r) {
    rs_route_def def = {.kind = (int32_t)r->kind, .link = r->link, .size = r->size, .has_side = r->has_side, .side_link = r->side_link};
    rs_v3_store(def.position, r->position);
    rs_v3_store(def.side, r->side);
    memcpy(def.rotation, r->rotation.m, sizeof def.rotation);
    return def;
}

static rs_tendon_def tendon_def_of(const rs_tendon *t, const rs_tendon_term *terms, const rs_route_def *routes) {
    rs_tendon_def def = {.kind = (int32_t)t->kind, .term_count = t->term_count, .terms = terms, .route_count = t->route_count,
                         .routes = routes, .flags = t->flags, .of = {t->of[0], t->of[1]}, .stiffness = t->stiffness,
                         .damping = t->damping, .rest_lower = t->rest_lower, .rest_upper = t->rest_upper,
                         .friction = t->friction, .lower = t->lower, .upper = t->upper};
    memcpy(def.gear, t->gear, sizeof def.gear);
    memcpy(def.reference, t->reference, sizeof def.reference);
    memcpy(def.curve, t->curve, sizeof def.curve);
    return def;
}

/* The tendons as they were given; false: they have other terms or routes than the model. */
static bool define_tendons(const rs_tree_model *m, rs_tendon_def *tendons, const rs_route_def *routes) {
    int32_t terms = 0, route = 0;
    for (int32_t k = 0; k < m->tendon_count; k++) {
        const rs_tendon *t = &m->tendons[k];
        if (t->term_count < 0 || t->term_count > m->term_count - terms || t->route_count < 0 ||
            t->route_count > m->route_count - route)
            return false;
        tendons[k] = tendon_def_of(t, m->terms + terms, routes + route);
        terms += t->term_count;
        route += t->route_count;
    }
    return terms == m->term_count && route == m->route_count;
}

/* Checks and fills as for a new model: it must have the very parts that were counted when it was stored. */
static rs_status fill_again(rs_tree_model *m, const rs_articulation_def *def) {
    rs_tree_model counts = {.link_count = m->link_count};
    rs_status status = rs_tendon_model_count(&counts, def);
    if (status != RS_OK)
        return status;
    if (counts.tendon_dof_count != m->tendon_dof_count || counts.tendon_link_count != m->tendon_link_count)
        return rs_fail(RS_INVALID_VALUE, "the tendons of a robot come by other joints than they count");
    return rs_tendon_model_fill(m, def);
}

rs_status rs_tendon_model_complete(rs_tree_model *m) {
    RS_ARRAY(rs_link_def) links = {0};
    RS_ARRAY(rs_tendon_def) tendons = {0};
    RS_ARRAY(rs_route_def) routes = {0};
    rs_status status = RS_OK;
    if (rs_array_resize(&links, m->link_count) != RS_OK || rs_array_resize(&tendons, m->tendon_count) != RS_OK ||
        rs_array_resize(&routes, m->route_count) != RS_OK)
        status = RS_OUT_OF_MEMORY;
    for (int32_t i = 0; i < m->link_count && status == RS_OK; i++)
        links.items[i] = (rs_link_def){.parent = m->links[i].parent, .joint_type = (int32_t)m->links[i].type};
    for (int32_t k = 0; k < m->route_count && status == RS_OK; k++)
        routes.items[k] = route_def_of(&m->routes[k]);
    if (status == RS_OK && !define_tendons(m, tendons.items, routes.items))
        status = rs_fail(RS_INVALID_VALUE, "the tendons of a robot have other parts than they count");
    const rs_articulation_def def = {.link_count = m->link_count, .links = links.items, .tendon_count = m->tendon_count,
                                     .tendons = tendons.items, .drive_count = m->drive_count, .drives = m->drives};
    RS_THEN(status, fill_again(m, &def));
    rs_array_free(&links);
    rs_array_free(&tendons);
    rs_array_free(&routes);
    return status;
}
