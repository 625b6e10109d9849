/* The way of a tendon around a sphere or cylinder. */
#include "tendons.h"

/* Lengths and sines that count as zero. */
static const double TINY = 1e-15;
static const double FULL_TURN = 6.283185307179586477;

/* A point of the plane in which a tendon goes around a circle about the origin. */
typedef struct {
    double x, y;
} point2;

static double dot2(point2 a, point2 b) { return a.x * b.x + a.y * b.y; }
static double cross2(point2 a, point2 b) { return a.x * b.y - a.y * b.x; }
static double norm2(point2 a) { return sqrt(dot2(a, a)); }
static point2 sub2(point2 a, point2 b) { return (point2){a.x - b.x, a.y - b.y}; }
static point2 add2(point2 a, point2 b) { return (point2){a.x + b.x, a.y + b.y}; }
static point2 scale2(double s, point2 a) { return (point2){s * a.x, s * a.y}; }
static point2 unit2(point2 a) {
    double length = norm2(a);
    return length > TINY ? scale2(1.0 / length, a) : (point2){1.0, 0.0};
}

typedef struct {
    point2 from, to;
    double length;
} way2;

/* The point of the line between two others that is nearest to the origin. */
static point2 nearest(point2 a, point2 b) {
    point2 way = sub2(b, a);
    double at = -dot2(way, a) / dot2(way, way);
    return add2(a, scale2(rs_clamp(at, 0.0, 1.0), way));
}

/* Where the tangent from a point touches the circle; `turn` is +1 or -1 for one side or the other. */
static point2 touching(point2 p, double radius, double turn) {
    double square = dot2(p, p), reach = sqrt(square - radius * radius);
    return (point2){(p.x * radius * radius + turn * radius * p.y * reach) / square,
                    (p.y * radius * radius - turn * radius * p.x * reach) / square};
}

/* Whether the way by which two points see each other over the shorter arc leaves a third one on the other side of the
 * circle: its opposite lies between them. */
static bool is_opposite(point2 from, point2 to, point2 side) {
    double sense = cross2(from, to);
    return cross2(side, from) * sense > 0.0 && cross2(to, side) * sense > 0.0;
}

/* Over the shorter arc, where the circle is in the way; or over the longer one, when it has to pass a point on that side. */
static bool around_circle(double radius, point2 from, point2 to, const point2 *side, way2 *out) {
    double r2 = radius * radius;
    if (dot2(from, from) <= r2 || dot2(to, to) <= r2 || dot2(sub2(to, from), sub2(to, from)) < TINY)
        return false;
    bool longer = side != NULL && is_opposite(from, to, *side);
    point2 closest = nearest(from, to);
    if (!longer && dot2(closest, closest) > r2)
        return false;
    double turn = (cross2(from, to) > 0.0) == longer ? 1.0 : -1.0;
    point2 on = touching(from, radius, turn), off = touching(to, radius, -turn);
    double sense = cross2(on, off), angle = atan2(fabs(sense), dot2(on, off));
    if (turn * sense > 0.0)
        angle = FULL_TURN - angle;
    *out = (way2){on, off, radius * angle};
    return true;
}

/* A tendon that has to pass inside the circle touches it from inside, in one point, where it is thrown back as light is:
 * with z the sine of the angle to the radius there, asin(A z) + asin(B z) - 2 asin(z) + (angle between both ends) = 0. */
static double mismatch(double a, double b, double between, double z) {
    return asin(a * z) + asin(b * z) - 2.0 * asin(z) + between;
}

static bool inside_circle(double radius, point2 from, point2 to, way2 *out) {
    double far_from = norm2(from), far_to = norm2(to);
    if (far_from <= radius || far_to <= radius || radius < TINY)
        return false;
    point2 way = sub2(to, from);
    if (dot2(way, way) > TINY) {
        double at = -dot2(way, from) / dot2(way, way);
        point2 closest = add2(from, scale2(at, way));
        if (at > 0.0 && at < 1.0 && norm2(closest) <= radius)
            return false;
    }
    point2 middle = scale2(radius, unit2(add2(from, to)));
    *out = (way2){middle, middle, 0.0};
    double a = radius / far_from, b = radius / far_to, cosine = dot2(from, to) / (far_from * far_to);
    if (cosine < -1.0 + TINY)
        return false;
    if (cosine > 1.0 - TINY)
        return true;
    double between = acos(cosine), low = 0.0, high = 1.0 - 1e-7;
    if (mismatch(a, b, between, high) > 0.0)
        return true;
    for (int n = 0; n < 60; n++) { /* it falls with z */
        double z = 0.5 * (low + high);
        *(mismatch(a, b, between, z) > 0.0 ? &low : &high) = z;
    }
    double z = 0.5 * (low + high);
    bool left = cross2(from, to) > 0.0;
    point2 start = unit2(left ? from : to);
    double turn = asin(z) - asin((left ? a : b) * z), c = cos(turn), s = sin(turn);
    out->from = out->to = scale2(radius, (point2){c * start.x - s * start.y, s * start.x + c * start.y});
    return true;
}

bool rs_tendon_wrap(bool sphere, double radius, rs_vec3 from, rs_vec3 to, const rs_vec3 *side, rs_wrap *out) {
    if (rs_norm(from) < TINY || rs_norm(to) < TINY)
        return false;
    rs_vec3 x = rs_v3(1, 0, 0), y = rs_v3(0, 1, 0); /* axes of the plane */
    if (sphere) {
        x = rs_normalize_or(from, x);
        rs_vec3 normal = rs_cross(from, to);
        if (rs_norm(normal) < TINY) { /* any plane through both */
            rs_vec3 other = fabs(x.x) <= fabs(x.y) && fabs(x.x) <= fabs(x.z) ? rs_v3(1, 0, 0)
                            : fabs(x.y) <= fabs(x.z)                         ? rs_v3(0, 1, 0)
                                                                             : rs_v3(0, 0, 1);
            normal = rs_cross(x, other);
        }
        y = rs_cross(rs_normalize_or(normal, rs_v3(0, 0, 1)), x);
    }
    point2 start = {rs_dot(from, x), rs_dot(from, y)}, end = {rs_dot(to, x), rs_dot(to, y)}, towards;
    if (side != NULL)
        towards = scale2(radius, unit2((point2){rs_dot(*side, x), rs_dot(*side, y)}));
    way2 way;
    bool inside = side != NULL && rs_norm(*side) < radius;
    bool led = inside ? inside_circle(radius, start, end, &way)
                      : around_circle(radius, start, end, side != NULL ? &towards : NULL, &way);
    if (!led)
        return false;
    *out = (rs_wrap){rs_madd(rs_scale(way.from.x, x), way.from.y, y), rs_madd(rs_scale(way.to.x, x), way.to.y, y), way.length};
    if (!sphere) { /* it climbs evenly along the cylinder */
        double before = norm2(sub2(way.from, start)), behind = norm2(sub2(way.to, end)), total = before + way.length + behind;
        double slope = (to.z - from.z) / total;
        out->from.z = from.z + slope * before;
        out->to.z = from.z + slope * (before + way.length);
        out->length = sqrt(way.length * way.length + (out->to.z - out->from.z) * (out->to.z - out->from.z));
    }
    return true;
}
