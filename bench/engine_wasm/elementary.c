/* log(1 + x) and exp(x) - 1 as the GNU C library has them: by the methods of FDLIBM (K. C. Ng, 1993), with polynomials
   summed in pairs. Their bits follow from the order of operations, so it is kept. mathematics.py puts `fma` in. */
#include <math.h>
#include <stdint.h>
#include <string.h>

static const double LN2_HIGH = 0x1.62e42feep-1, LN2_LOW = 0x1.a39ef35793c76p-33;

static uint32_t high_word(double x) {
    uint64_t bits;
    memcpy(&bits, &x, 8);
    return bits >> 32;
}
static double with_high_word(double x, uint32_t high) {
    uint64_t bits;
    memcpy(&bits, &x, 8);
    bits = (bits & 0xffffffff) | (uint64_t)high << 32;
    memcpy(&x, &bits, 8);
    return x;
}

/* A product that is rounded before it goes into a sum: GCC takes this one out of both branches that follow it. */
static double rounded_product(double x, double y) {
#pragma clang fp contract(off)
    return x * y;
}

/* 1 + x = 2^k (1 + f), and log(1 + f) = f - f^2 / 2 + s (f^2 / 2 + R(s^2)) with s = f / (2 + f). */
double gnu_log1p(double x) {
    int32_t high = high_word(x), size = high & 0x7fffffff, k = 1;
    uint32_t fraction = 1;
    double f = 0, c = 0;
    if (high < 0x3FDA827A) { /* x < sqrt 2 - 1 */
        if (size >= 0x3ff00000) return x == -1.0 ? -INFINITY : NAN;
        if (size < 0x3e200000) return size < 0x3c900000 ? x : x - x * x * 0.5;
        if (high > 0 || high <= (int32_t)0xbfd2bec3) k = 0, f = x; /* x > 1 / sqrt 2 - 1 */
    } else if (high >= 0x7ff00000)
        return x + x;
    if (k) {
        double u = high < 0x43400000 ? 1.0 + x : x;
        k = (int32_t)(high_word(u) >> 20) - 1023;
        if (high < 0x43400000) c = (k > 0 ? 1.0 - (u - x) : x - (u - 1.0)) / u; /* what 1 + x was rounded by */
        fraction = high_word(u) & 0x000fffff;
        if (fraction < 0x6a09e) {
            u = with_high_word(u, fraction | 0x3ff00000);
        } else {
            k += 1;
            u = with_high_word(u, fraction | 0x3fe00000);
            fraction = (0x00100000 - fraction) >> 2;
        }
        f = u - 1.0;
    }
    double half = 0.5 * f * f;
    if (fraction == 0) { /* |f| < 2^-20 */
        if (f == 0.0) return k == 0 ? 0.0 : k * LN2_HIGH + (c + k * LN2_LOW);
        double R = half * (1.0 - 0.66666666666666666 * f);
        return k == 0 ? f - R : k * LN2_HIGH - ((R - (k * LN2_LOW + c)) - f);
    }
    double s = f / (2.0 + f), z = s * s, z2 = z * z, z4 = z2 * z2, z6 = z4 * z2;
    double R1 = z * 0x1.5555555555593p-1, R2 = 0x1.999999997fa04p-2 + z * 0x1.2492494229359p-2;
    double R3 = 0x1.c71c51d8e78afp-3 + z * 0x1.7466496cb03dep-3, R4 = 0x1.39a09d078c69fp-3 + z * 0x1.2f112df3e5244p-3;
    double R = R1 + z2 * R2 + z4 * R3 + z6 * R4;
    double part = rounded_product(s, half + R);
    if (k == 0) return f - (half - part);
    return k * LN2_HIGH - ((half - (part + (k * LN2_LOW + c))) - f);
}

/* x = k ln 2 + r, and exp(r) - 1 from a rational approximation in r^2; then scaled by 2^k. */
double gnu_expm1(double x) {
    uint32_t high = high_word(x), negative = high & 0x80000000;
    double c = 0, t;
    int32_t k = 0;
    high &= 0x7fffffff;
    if (high >= 0x4043687A) { /* |x| >= 56 ln 2 */
        if (high >= 0x40862E42) {
            if (high >= 0x7ff00000) return isnan(x) ? x + x : negative ? -1.0 : x;
            if (x > 7.09782712893383973096e+02) return INFINITY;
        }
        if (negative) return 1.0e-300 - 1.0;
    }
    if (high > 0x3fd62e42) { /* |x| > ln 2 / 2 */
        double above, below;
        if (high < 0x3FF0A2B2) {
            k = negative ? -1 : 1;
            above = negative ? x + LN2_HIGH : x - LN2_HIGH;
            below = negative ? -LN2_LOW : LN2_LOW;
        } else {
            k = (int32_t)(1.44269504088896338700e+00 * x + (negative ? -0.5 : 0.5));
            t = k;
            above = x - t * LN2_HIGH;
            below = t * LN2_LOW;
        }
        x = above - below;
        c = (above - x) - below;
    } else if (high < 0x3c900000)
        return x;
    double half = 0.5 * x, h = x * half, h2 = h * h, h4 = h2 * h2;
    double R1 = 1.0 + h * -3.33333333333331316428e-02;
    double R2 = 1.58730158725481460165e-03 + h * -7.93650757867487942473e-05;
    double R3 = 4.00821782732936239552e-06 + h * -2.01099218183624371326e-07;
    double r = R1 + h2 * R2 + h4 * R3, e;
    t = 3.0 - r * half;
    e = h * ((r - t) / (6.0 - x * t));
    if (k == 0) return x - (x * e - h);
    e = (x * (e - c) - c) - h;
    if (k == -1) return 0.5 * (x - e) - 0.5;
    if (k == 1) return x < -0.25 ? -2.0 * (e - (x + 0.5)) : 1.0 + 2.0 * (x - e);
    double y;
    if (k <= -2 || k > 56) {
        y = 1.0 - (e - x);
        return with_high_word(y, high_word(y) + (k << 20)) - 1.0;
    }
    if (k < 20) {
        t = with_high_word(1.0, 0x3ff00000 - (0x200000 >> k)); /* 1 - 2^-k */
        y = t - (e - x);
    } else {
        t = with_high_word(0.0, (0x3ff - k) << 20); /* 2^-k */
        y = x - (e + t);
        y += 1.0;
    }
    return with_high_word(y, high_word(y) + (k << 20));
}

/* For a test. */
double gnu_fused(double x, double y, double z) { return gnu_fma(x, y, z); }
