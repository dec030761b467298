/* FN(add) is g1_add or g2_add. */
#define CAT_(a, b) a##b
#define CAT(a, b)  CAT_(a, b)
#define FN(name)   CAT(CAT(GROUP, _), name)
