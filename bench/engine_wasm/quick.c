/* log(x) as in Arm's routine, but with products that are rounded before they go into sums. Only where this could change
   the result, gnu_log_exact decides, which rounds as the GNU C library does. mathematics.py puts `fma` into that one.

   Both routines add a small number to a large one at the end. `margin` bounds how far the two small numbers are apart.
   Close to 1, each is rounded fewer than eight times, to 2^-53 of r^3, of lo or of the product that lo contains. Elsewhere
   the reduced arguments are off by at most 2^-62 and 2^-62 + 2^-66, and all roundings together by less than 2^-66 more. If
   the sum is the same with the margin added and subtracted, both routines return it (A. Ziv's test). */
#include <math.h>
#include <stdint.h>
#undef __FP_FAST_FMA
#define gnu_logs quick_logs
#include "log_data.c"

double gnu_log_exact(double x);

static uint64_t bits_of(double x) { return ((union { double f; uint64_t i; }){x}).i; }
static double from_bits(uint64_t i) { return ((union { uint64_t i; double f; }){i}).f; }

double gnu_log(double x) {
#pragma clang fp contract(off)
    const double *A = quick_logs.poly, *B = quick_logs.poly1;
    uint64_t ix = bits_of(x);
    double hi, small, margin;
    if (ix - bits_of(1.0 - 0x1p-4) < bits_of(1.0 + 0x1.09p-4) - bits_of(1.0 - 0x1p-4)) {
        double r = x - 1.0, r2 = r * r, r3 = r * r2, w = r * 0x1p27;
        double high = r + w - w, low = r - high;
        w = high * high * B[0];
        hi = r + w;
        double lo = r - hi + w + B[0] * low * (high + r);
        double P = B[7] + r * B[8] + r2 * B[9] + r3 * B[10];
        P = B[1] + r * B[2] + r2 * B[3] + r3 * (B[4] + r * B[5] + r2 * B[6] + r3 * P);
        small = r3 * P + lo;
        margin = 0x1p-50 * (fabs(r3) + fabs(lo) + 0x1p-20 * r2);
    } else if (ix - 0x0010000000000000 < 0x7fe0000000000000) { /* normal and positive */
        uint64_t tmp = ix - 0x3fe6000000000000;
        int i = tmp >> (52 - LOG_TABLE_BITS) & ((1 << LOG_TABLE_BITS) - 1);
        double k = (int64_t)tmp >> 52, z = from_bits(ix - (tmp & 0xfffULL << 52));
        double r = (z - quick_logs.tab2[i].chi - quick_logs.tab2[i].clo) * quick_logs.tab[i].invc;
        double w = k * quick_logs.ln2hi + quick_logs.tab[i].logc, r2 = r * r;
        hi = w + r;
        small = w - hi + r + k * quick_logs.ln2lo;
        small += r2 * A[0] + r * r2 * (A[1] + r * A[2] + r2 * (A[3] + r * A[4]));
        margin = 0x1.1p-61;
    } else
        return gnu_log_exact(x);
    double below = hi + (small - margin), above = hi + (small + margin);
    return __builtin_expect(below == above, 1) ? below : gnu_log_exact(x);
}
