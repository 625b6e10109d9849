/* Growable arrays; with the address sanitizer also what may be touched of them. */
#include "../../../csrc/base/memory.h"
#include "../check.h"

#if defined(RS_DEBUG) && defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#define GUARDED true
#else
#define GUARDED false
#define __asan_address_is_poisoned(address) ((void)(address), 0)
#endif

/* How many items may be touched. */
static int64_t open_items(const RS_ARRAY(double) *array)
{
    int64_t count = 0;
    while (count < array->capacity && !__asan_address_is_poisoned(&array->items[count]))
        count++;
    return count;
}

static void items_keep_their_values_as_the_array_grows(void)
{
    RS_ARRAY(double) array = {0};
    for (int k = 0; k < 1000; k++) {
        double *item = rs_array_push(&array);
        CHECK(item != NULL && *item == 0.0);
        *item = k;
    }
    CHECK(array.count == 1000 && array.capacity >= 1000);
    for (int k = 0; k < 1000; k++)
        CHECK(*RS_ITEM(array, k) == k);
    rs_array_free(&array);
}

static void only_items_that_are_there_may_be_touched(void)
{
    RS_ARRAY(double) array = {0};
    for (int k = 1; k <= 40; k++) {
        CHECK(rs_array_push(&array) != NULL);
        CHECK(open_items(&array) == (GUARDED ? k : array.capacity));
    }
    for (int64_t count = 30; count > 0; count -= 7) {
        CHECK(rs_array_resize(&array, count) == RS_OK);
        CHECK(open_items(&array) == (GUARDED ? count : array.capacity));
    }
    CHECK(rs_array_reserve(&array, 12) == RS_OK); /* room to write, before it is counted */
    CHECK(open_items(&array) == (GUARDED ? 12 : array.capacity));
    CHECK(rs_array_reserve(&array, 500) == RS_OK);
    CHECK(open_items(&array) == (GUARDED ? 500 : array.capacity));
    RS_ARRAY(double) copy = {0};
    CHECK(rs_array_resize(&array, 9) == RS_OK && rs_array_copy(&copy, &array) == RS_OK);
    CHECK(open_items(&copy) == (GUARDED ? 9 : copy.capacity));
    rs_array_free(&copy);
    rs_array_free(&array);
}

int main(void)
{
    RUN(items_keep_their_values_as_the_array_grows);
    RUN(only_items_that_are_there_may_be_touched);
    return CHECK_RESULT();
}
