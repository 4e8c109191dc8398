// XLA's scalar arithmetic in C and CUDA. Integers wrap around. Shifts by the width or more give 0 or the sign. Division
// by zero is defined. The maximum or minimum of a number and NaN is NaN. Compile without contraction.

#ifdef __CUDACC__
#define FN static __device__ __forceinline__
#define BUILTIN(name) name
#else
#define FN static inline __attribute__((always_inline, unused))
#ifndef BUILTIN
#define BUILTIN(name) __builtin_##name
#endif
#endif
#ifdef __cplusplus
namespace envcore_native {
#else
#define bool _Bool
#define true 1
#define false 0
#endif
typedef signed char int8;
typedef unsigned char uint8;
typedef short int16;
typedef unsigned short uint16;
typedef int int32;
typedef unsigned int uint32;
typedef float float32;

FN uint32 word_of(float32 a) {
  uint32 result;
  BUILTIN(memcpy)(&result, &a, 4);
  return result;
}
FN float32 float_of(uint32 a) {
  float32 result;
  BUILTIN(memcpy)(&result, &a, 4);
  return result;
}
FN int32 bits_in(uint32 a) {
#ifdef __CUDACC__
  return __popc(a);
#else
  return __builtin_popcount(a);
#endif
}

#define OF_INTEGERS(T, IS_SIGNED) \
  FN T op_max_##T(T a, T b) { return a > b ? a : b; } \
  FN T op_min_##T(T a, T b) { return a < b ? a : b; } \
  FN T op_div_##T(T a, T b) { \
    return b == 0 ? (T)-1 : IS_SIGNED && b == (T)-1 ? (T)(0u - (uint32)a) : (T)(a / b); \
  } \
  FN T op_rem_##T(T a, T b) { return b == 0 ? a : IS_SIGNED && b == (T)-1 ? (T)0 : (T)(a % b); } \
  FN bool op_is_wide_##T(T by) { return (uint32)by >= 8 * sizeof(T); } \
  FN T op_shift_left_##T(T a, T by) { return op_is_wide_##T(by) ? (T)0 : (T)((uint32)a << by); } \
  FN T op_shift_right_logical_##T(T a, T by) { \
    return op_is_wide_##T(by) ? (T)0 : (T)(((uint32)a & 0xffffffffu >> (32 - 8 * sizeof(T))) >> by); \
  } \
  FN T op_shift_right_arithmetic_##T(T a, T by) { \
    const int32 rest = 32 - 8 * (int32)sizeof(T), with_sign = (int32)((uint32)a << rest) >> rest; \
    return (T)(with_sign >> (op_is_wide_##T(by) ? 31 : (int32)by)); \
  } \
  FN T op_abs_##T(T a) { return IS_SIGNED && a <= 0 ? (T)(0u - (uint32)a) : a; } \
  FN T op_sign_##T(T a) { return (T)((a > 0) - (IS_SIGNED && a < (T)1 && a != 0)); } \
  FN T op_population_count_##T(T a) { return (T)bits_in((uint32)a & 0xffffffffu >> (32 - 8 * sizeof(T))); } \
  FN T op_truncate_##T(float32 a) { \
    const float32 end = IS_SIGNED ? 0x1p-1f * LIMIT(T) : LIMIT(T), start = IS_SIGNED ? -end : 0.0f; \
    const T least = IS_SIGNED ? (T)(1u << (8 * sizeof(T) - 1)) : (T)0, most = (T)~least; \
    const T inside = (T)(a >= start && a < end ? a : 0.0f); /* NaN becomes 0 */ \
    return a >= end ? most : a < start ? least : inside; \
  }
#define LIMIT(T) (sizeof(T) == 4 ? 0x1p32f : sizeof(T) == 2 ? 0x1p16f : 0x1p8f)
OF_INTEGERS(int8, true)
OF_INTEGERS(uint8, false)
OF_INTEGERS(int16, true)
OF_INTEGERS(uint16, false)
OF_INTEGERS(int32, true)
OF_INTEGERS(uint32, false)
FN bool op_max_bool(bool a, bool b) { return a | b; }
FN bool op_min_bool(bool a, bool b) { return a & b; }

FN float32 positive(float32 a, float32 b) { return float_of(word_of(a) & word_of(b)); }
FN float32 op_max_float32(float32 a, float32 b) { return a == b ? positive(a, b) : a != a || a > b ? a : b; }
FN float32 op_min_float32(float32 a, float32 b) { return a == b ? -positive(-a, -b) : a != a || a < b ? a : b; }
FN float32 op_div_float32(float32 a, float32 b) { return a / b; }
FN float32 op_rem_float32(float32 a, float32 b) { return BUILTIN(fmodf)(a, b); }
FN float32 op_abs_float32(float32 a) { return BUILTIN(fabsf)(a); }
FN float32 op_sign_float32(float32 a) { return a > 0 ? 1.0f : a < 0 ? -1.0f : a; }
FN float32 op_floor(float32 a) { return BUILTIN(floorf)(a); }
FN float32 op_ceil(float32 a) { return BUILTIN(ceilf)(a); }
FN float32 op_round_even(float32 a) { return BUILTIN(rintf)(a); }
FN float32 op_round_away(float32 a) { return BUILTIN(roundf)(a); }
FN float32 op_sqrt(float32 a) { return BUILTIN(sqrtf)(a); }
FN float32 op_rsqrt(float32 a) { return 1.0f / BUILTIN(sqrtf)(a); }
FN float32 op_exp(float32 a) { return BUILTIN(expf)(a); }
FN float32 op_log(float32 a) { return BUILTIN(logf)(a); }
#ifdef __CUDACC__
FN float32 op_expm1(float32 a) { return expm1f(a); }
FN float32 op_log1p(float32 a) { return log1pf(a); }
#else  // Warp's CPU compiler has no expm1f and log1pf.
FN bool is_tiny(float32 a) { return a < 1e-8f && a > -1e-8f; }
FN float32 op_expm1(float32 a) { return is_tiny(a) ? a : (float32)(BUILTIN(exp)((double)a) - 1); }
FN float32 op_log1p(float32 a) { return is_tiny(a) ? a : (float32)BUILTIN(log)(1 + (double)a); }
#endif
FN float32 op_sin(float32 a) { return BUILTIN(sinf)(a); }
FN float32 op_cos(float32 a) { return BUILTIN(cosf)(a); }
FN float32 op_tan(float32 a) { return BUILTIN(tanf)(a); }
FN float32 op_tanh(float32 a) { return BUILTIN(tanhf)(a); }
FN float32 op_logistic(float32 a) { return 1.0f / (1.0f + op_exp(-a)); }
FN float32 op_pow(float32 a, float32 b) { return BUILTIN(powf)(a, b); }
FN float32 op_atan2(float32 a, float32 b) { return BUILTIN(atan2f)(a, b); }
FN float32 op_atan(float32 a) { return BUILTIN(atan2f)(a, 1.0f); }
// Giles' polynomials (2010), as XLA evaluates them.
FN float32 op_erf_inv(float32 x) {
  const float32 small[] = {2.81022636e-08f, 3.43273939e-07f, -3.5233877e-06f, -4.39150654e-06f, 0.00021858087f,
                           -0.00125372503f, -0.00417768164f, 0.246640727f, 1.50140941f};
  const float32 large[] = {-0.000200214257f, 0.000100950558f, 0.00134934322f, -0.00367342844f, 0.00573950773f,
                           -0.0076224613f, 0.00943887047f, 1.00167406f, 2.83297682f};
  float32 w = -op_log1p(-x * x), p;
  const bool is_small = w < 5;
  w = is_small ? w - 2.5f : BUILTIN(sqrtf)(w) - 3.0f;
  p = is_small ? small[0] : large[0];
  for (int32 i = 1; i < 9; ++i) p = (is_small ? small[i] : large[i]) + p * w;
  return BUILTIN(fabsf)(x) == 1 ? x * (float32)1e39 : p * x;
}
FN bool op_is_finite(float32 a) { return a - a == 0; }
