/* x y + z with one rounding, where the target has no instruction for it. mathematics.py puts it before the routines.

   The product and the sum are taken with what they are rounded by (T. J. Dekker, 1971), so the result is s + t, rounded
   once, where t is one sum of two numbers: it is off by at most half a unit of its last place. Where t moved by more
   than that to either side gives the same result, it is the right one (A. Ziv's test). Else, and for numbers whose
   products could overflow or lose their last bits, the C library decides, which counts with integers. */
#include <math.h>

__attribute__((noinline, cold)) static double counted(double x, double y, double z) { return fma(x, y, z); }

__attribute__((used, always_inline)) static double gnu_fma(double x, double y, double z) {
#pragma clang fp contract(off)
    const double LARGE = 0x1p400, HALVES = 0x1p27 + 1.0;
    double p = x * y;
    if (!(fabs(x) < LARGE && fabs(y) < LARGE && fabs(z) < LARGE && fabs(p) > 1.0 / LARGE))
        return x == 0.0 || y == 0.0 ? p + z : counted(x, y, z);
    double xc = x * HALVES, yc = y * HALVES;
    double xh = xc - (xc - x), yh = yc - (yc - y), xl = x - xh, yl = y - yh;
    double e = ((xh * yh - p) + xh * yl + xl * yh) + xl * yl;
    double s = p + z, b = s - p, t = ((p - (s - b)) + (z - b)) + e;
    double low = s + t * (1.0 - 0x1p-50), high = s + t * (1.0 + 0x1p-50);
    return __builtin_expect(low == high, 1) ? low : counted(x, y, z);
}
