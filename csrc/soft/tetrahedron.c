#include "tetrahedron.h"

/* The two constraints at a shape: how far they are violated, and in which direction each corner changes them. */
typedef struct {
    double value[2];
    rs_vec3 gradient[2][4];
    int count; /* 1: volume alone */
} constraints;

void rs_tetrahedron_columns(const rs_soft_tetrahedron *t, const rs_quad *x, rs_vec3 f[3]) {
    rs_vec3 origin = x[t->index[0]].xyz;
    f[0] = f[1] = f[2] = rs_v3_zero();
    for (int k = 0; k < 3; k++) {
        rs_vec3 edge = rs_sub(x[t->index[k + 1]].xyz, origin);
        for (int c = 0; c < 3; c++)
            f[c] = rs_madd(f[c], t->inverse_rest.m[3 * k + c], edge);
    }
}

static double determinant(const rs_vec3 f[3]) { return rs_dot(f[0], rs_cross(f[1], f[2])); }

static double size2(const rs_vec3 f[3]) { return rs_norm2(f[0]) + rs_norm2(f[1]) + rs_norm2(f[2]); }

/* J at which the volume spring pulls as much as the shear spring pushes at rest. */
static double resting(const rs_soft_tetrahedron *t) { return 1.0 + t->shear / t->volume; }

static void spread(const rs_soft_tetrahedron *t, const rs_vec3 matrix[3], double scale, rs_vec3 out[4]) {
    out[0] = rs_v3_zero();
    for (int k = 0; k < 3; k++) {
        const double *b = &t->inverse_rest.m[3 * k];
        out[k + 1] = rs_scale(scale, rs_madd(rs_madd(rs_scale(b[0], matrix[0]), b[1], matrix[1]), b[2], matrix[2]));
        out[0] = rs_sub(out[0], out[k + 1]);
    }
}

static constraints evaluate(const rs_soft_tetrahedron *t, const rs_quad *x) {
    rs_vec3 f[3];
    rs_tetrahedron_columns(t, x, f);
    rs_vec3 cofactors[3] = {rs_cross(f[1], f[2]), rs_cross(f[2], f[0]), rs_cross(f[0], f[1])};
    constraints c = {.count = 1};
    c.value[0] = determinant(f) - resting(t);
    spread(t, cofactors, 1.0, c.gradient[0]);
    double size = sqrt(size2(f));
    if (t->shear > 0.0 && size > 1e-150) {
        c.count = 2;
        c.value[1] = size;
        spread(t, f, 1.0 / size, c.gradient[1]);
    }
    return c;
}

static double mobility(const rs_soft_tetrahedron *t, const rs_quad *v, const rs_vec3 *a, const rs_vec3 *b) {
    double sum = 0.0;
    for (int k = 0; k < 4; k++)
        sum += v[t->index[k]].rest * rs_dot(a[k], b[k]);
    return sum;
}

static void push(const rs_soft_tetrahedron *t, const constraints *c, const double change[2], rs_quad *x, const rs_quad *v) {
    for (int k = 0; k < 4; k++) {
        rs_vec3 sum = rs_scale(change[0], c->gradient[0][k]);
        if (c->count == 2)
            sum = rs_madd(sum, change[1], c->gradient[1][k]);
        x[t->index[k]].xyz = rs_madd(x[t->index[k]].xyz, v[t->index[k]].rest, sum);
    }
}

bool rs_tetrahedron_make(rs_soft_tetrahedron *out, const rs_quad *x, const int32_t index[4], double volume, double shear) {
    *out = (rs_soft_tetrahedron){.volume = volume, .shear = shear};
    memcpy(out->index, index, sizeof out->index);
    rs_vec3 e[3];
    for (int turn = 0; turn < 2; turn++) {
        for (int k = 0; k < 3; k++)
            e[k] = rs_sub(x[out->index[k + 1]].xyz, x[out->index[0]].xyz);
        out->size = determinant(e) / 6.0;
        if (out->size > 0.0)
            break;
        int32_t third = out->index[2];
        out->index[2] = out->index[3];
        out->index[3] = third;
    }
    if (!(out->size > 0.0))
        return false;
    rs_vec3 rows[3] = {rs_cross(e[1], e[2]), rs_cross(e[2], e[0]), rs_cross(e[0], e[1])};
    for (int k = 0; k < 3; k++)
        rs_v3_store(&out->inverse_rest.m[3 * k], rs_scale(1.0 / (6.0 * out->size), rows[k]));
    return true;
}

void rs_tetrahedron_begin(rs_soft_tetrahedron *t, const rs_quad *start, rs_quad *x, const rs_quad *v, double h2, double share) {
    constraints c = evaluate(t, start);
    const double stiffness[2] = {t->volume, t->shear};
    t->impulse[0] = t->impulse[1] = 0.0;
    for (int k = 0; k < c.count; k++)
        if (share * mobility(t, v, c.gradient[k], c.gradient[k]) * h2 * stiffness[k] * t->size > 1.0)
            return;
    for (int k = 0; k < c.count; k++)
        t->impulse[k] = -c.value[k] * stiffness[k] * t->size * h2;
    push(t, &c, t->impulse, x, v);
}

void rs_tetrahedron_solve(rs_soft_tetrahedron *t, rs_quad *x, const rs_quad *v, double h2) {
    constraints c = evaluate(t, x);
    double change[2] = {0.0, 0.0};
    double alpha = 1.0 / (t->volume * t->size * h2), a = mobility(t, v, c.gradient[0], c.gradient[0]) + alpha;
    double r = -(c.value[0] + alpha * t->impulse[0]);
    if (c.count == 1) {
        change[0] = r / a;
    } else {
        double beta = 1.0 / (t->shear * t->size * h2), b = mobility(t, v, c.gradient[1], c.gradient[1]) + beta;
        double mixed = mobility(t, v, c.gradient[0], c.gradient[1]), s = -(c.value[1] + beta * t->impulse[1]);
        double scale = 1.0 / (a * b - mixed * mixed);
        change[0] = scale * (b * r - mixed * s);
        change[1] = scale * (a * s - mixed * r);
    }
    t->impulse[0] += change[0];
    t->impulse[1] += change[1];
    push(t, &c, change, x, v);
}

/* The energy without its value at rest, which would swamp it: shear / 2 * (|F|^2 - 3) - shear * (J - 1) +
 * volume / 2 * (J - 1)^2. */
double rs_tetrahedron_energy(const rs_soft_tetrahedron *t, const rs_quad *x) {
    rs_vec3 f[3];
    rs_tetrahedron_columns(t, x, f);
    double more = determinant(f) - 1.0;
    return t->size * (0.5 * t->shear * (size2(f) - 3.0) - t->shear * more + 0.5 * t->volume * more * more);
}

void rs_tetrahedron_add_stiffness(const rs_soft_tetrahedron *t, double *sums) {
    rs_vec3 gradient[4], identity[3] = {rs_v3(1, 0, 0), rs_v3(0, 1, 0), rs_v3(0, 0, 1)};
    spread(t, identity, 1.0, gradient);
    for (int k = 0; k < 4; k++)
        sums[t->index[k]] += rs_norm2(gradient[k]) * t->size * (t->volume + t->shear);
}
