/* Bounding boxes, mass properties and support points of the shapes against integrals and sampled surfaces. */
#include "../../../csrc/model/convex.h"
#include "../collide_fixture.h"

static const double PI = 3.14159265358979323846;

/* Points of the surface of a round shape whose outline (radius over height) runs through the given corners. */
static rs_aabb sampled_box(const double (*outline)[2], int corners, const rs_transform *pose)
{
    rs_aabb box = {rs_v3(INFINITY, INFINITY, INFINITY), rs_v3(-INFINITY, -INFINITY, -INFINITY)};
    for (int i = 0; i < corners; i++)
        for (int k = 0; k < 20000; k++) {
            double phi = 2.0 * PI * k / 20000.0;
            rs_vec3 p = rs_v3(outline[i][0] * cos(phi), outline[i][0] * sin(phi), outline[i][1]);
            p = rs_transform_point(pose, p);
            box.min = rs_v3_min(box.min, p);
            box.max = rs_v3_max(box.max, p);
        }
    return box;
}

static void check_box(rs_aabb box, rs_aabb expected, double tolerance)
{
    CHECK_VECTOR(box.min, expected.min.x, expected.min.y, expected.min.z, tolerance);
    CHECK_VECTOR(box.max, expected.max.x, expected.max.y, expected.max.z, tolerance);
}

static void boxes_of_round_shapes_are_tight(void)
{
    rs_transform pose = turned(at(0.3, -1.2, 2.0), 0.7, -1.1, 0.4);
    rs_shape cylinder = round_of(RS_SHAPE_CYLINDER, 0.4, 1.3), cone = round_of(RS_SHAPE_CONE, 0.7, 1.6);
    const double ends[2][2] = {{0.4, -0.65}, {0.4, 0.65}}, corners[2][2] = {{0.7, -0.4}, {0.0, 1.2}};
    check_box(rs_shape_aabb(&cylinder, &pose), sampled_box(ends, 2, &pose), 1e-7);
    check_box(rs_shape_aabb(&cone, &pose), sampled_box(corners, 2, &pose), 1e-7);
}

static void box_of_a_capsule_is_its_segment_grown(void)
{
    rs_transform pose = turned(at(1.0, 2.0, 3.0), 0.0, 0.5 * PI, 0.0); /* axis along x */
    rs_shape capsule = round_of(RS_SHAPE_CAPSULE, 0.25, 2.0);
    check_box(rs_shape_aabb(&capsule, &pose), (rs_aabb){{-0.25, 1.75, 2.75}, {2.25, 2.25, 3.25}}, 1e-12);
}

static void box_of_a_turned_box_holds_all_corners_and_touches_one_per_side(void)
{
    rs_transform pose = turned(at(-1.0, 0.5, 0.0), 0.2, 0.9, -1.4);
    rs_shape box = box_of(1.0, 0.6, 0.2);
    rs_aabb expected = {rs_v3(INFINITY, INFINITY, INFINITY), rs_v3(-INFINITY, -INFINITY, -INFINITY)};
    for (int i = 0; i < 8; i++) {
        rs_vec3 corner = rs_v3(i & 1 ? 0.5 : -0.5, i & 2 ? 0.3 : -0.3, i & 4 ? 0.1 : -0.1);
        corner = rs_transform_point(&pose, corner);
        expected.min = rs_v3_min(expected.min, corner);
        expected.max = rs_v3_max(expected.max, corner);
    }
    check_box(rs_shape_aabb(&box, &pose), expected, 1e-12);
}

static void half_spaces_are_bounded_only_along_an_axis(void)
{
    rs_shape ground = half_space();
    rs_transform level = at(0, 0, 0.7), tilted = turned(level, 0.1, 0.0, 0.0);
    rs_aabb box = rs_shape_aabb(&ground, &level);
    CHECK(box.max.z == 0.7 && box.min.z == -INFINITY && box.max.x == INFINITY && box.min.y == -INFINITY);
    CHECK(rs_shape_aabb(&ground, &tilted).max.z == INFINITY);
}

/* Integrals over discs of radius r(z): volume, height of the centroid, moments about it for unit mass. */
static void integrate_round(double (*radius)(double), double low, double high, double out[4])
{
    const int n = 200000;
    double dz = (high - low) / n, v = 0, vz = 0, vzz = 0, across = 0, along = 0;
    for (int i = 0; i < n; i++) {
        double z = low + (i + 0.5) * dz, r = radius(z), slice = PI * r * r * dz;
        v += slice;
        vz += slice * z;
        vzz += slice * z * z;
        across += slice * r * r / 4.0;
        along += slice * r * r / 2.0;
    }
    double g = vz / v;
    out[0] = v;
    out[1] = g;
    out[2] = across / v + vzz / v - g * g;
    out[3] = along / v;
}

static double cone_radius(double z) { return 0.7 * (1.2 - z) / 1.6; }
static double cylinder_radius(double z)
{
    (void)z;
    return 0.4;
}
static double capsule_radius(double z)
{
    double beyond = fmax(0.0, fabs(z) - 0.45);
    return sqrt(fmax(0.0, 0.3 * 0.3 - beyond * beyond));
}
static double sphere_radius(double z) { return sqrt(fmax(0.0, 0.8 * 0.8 - z * z)); }

static void check_mass(rs_shape shape, double (*radius)(double), double low, double high)
{
    double expected[4], volume;
    rs_vec3 centroid;
    rs_sym3 inertia;
    integrate_round(radius, low, high, expected);
    CHECK(rs_shape_mass_properties(&shape, &volume, &centroid, &inertia));
    CHECK_NEAR(volume, expected[0], 1e-6);
    CHECK_VECTOR(centroid, 0, 0, expected[1], 1e-6);
    CHECK_NEAR(inertia.xx, expected[2], 1e-6);
    CHECK_NEAR(inertia.yy, expected[2], 1e-6);
    CHECK_NEAR(inertia.zz, expected[3], 1e-6);
    CHECK(inertia.xy == 0 && inertia.xz == 0 && inertia.yz == 0);
}

static void mass_properties_equal_the_integrals(void)
{
    check_mass(sphere_of(0.8), sphere_radius, -0.8, 0.8);
    check_mass(round_of(RS_SHAPE_CYLINDER, 0.4, 1.3), cylinder_radius, -0.65, 0.65);
    check_mass(round_of(RS_SHAPE_CONE, 0.7, 1.6), cone_radius, -0.4, 1.2);
    check_mass(round_of(RS_SHAPE_CAPSULE, 0.3, 0.9), capsule_radius, -0.75, 0.75);
}

static void only_solids_have_mass(void)
{
    double volume;
    rs_vec3 centroid;
    rs_sym3 inertia;
    rs_shape ground = half_space();
    CHECK(!rs_shape_mass_properties(&ground, &volume, &centroid, &inertia));
    CHECK(!rs_shape_is_convex(RS_SHAPE_HALF_SPACE) && !rs_shape_is_convex(RS_SHAPE_MESH));
    CHECK(rs_shape_is_convex(RS_SHAPE_CONE) && rs_shape_is_convex(RS_SHAPE_CONVEX));
}

static void support_points_reach_the_farthest(void)
{
    rs_shape cone = round_of(RS_SHAPE_CONE, 0.7, 1.6), capsule = round_of(RS_SHAPE_CAPSULE, 0.3, 0.9);
    CHECK_VECTOR(rs_shape_support(&cone, rs_v3(0.1, 0, 1)), 0, 0, 1.2, 1e-15);
    CHECK_VECTOR(rs_shape_support(&cone, rs_v3(3, 4, 0)), 0.42, 0.56, -0.4, 1e-15);
    CHECK_VECTOR(rs_shape_support(&capsule, rs_v3(0, 2, -1e-9)), 0, 0.3, -0.45, 1e-9);
    rs_shape cylinder = round_of(RS_SHAPE_CYLINDER, 0.4, 1.3);
    CHECK_VECTOR(rs_shape_support(&cylinder, rs_v3(0, -1, 2)), 0, -0.4, 0.65, 1e-15);
    rs_vec3 any = rs_shape_support(&cylinder, rs_v3(0, 0, -1)); /* straight down: some point of the lower cap */
    CHECK_NEAR(any.z, -0.65, 1e-15);
}

int main(void)
{
    RUN(boxes_of_round_shapes_are_tight);
    RUN(box_of_a_capsule_is_its_segment_grown);
    RUN(box_of_a_turned_box_holds_all_corners_and_touches_one_per_side);
    RUN(half_spaces_are_bounded_only_along_an_axis);
    RUN(mass_properties_equal_the_integrals);
    RUN(only_solids_have_mass);
    RUN(support_points_reach_the_farthest);
    return CHECK_RESULT();
}
