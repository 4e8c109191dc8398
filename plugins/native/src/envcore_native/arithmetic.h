// XLA's arithmetic for scalars. Integers wrap around, shifts by the width or more give 0 or the sign, a division by
// zero has a result, and the larger or smaller of a number and NaN is NaN. Compile without contraction.

#ifdef __CUDACC__
#define FN static __device__ __forceinline__
#define BUILTIN(name) name
#else
#define FN static inline
#define BUILTIN(name) __builtin_##name
#endif

namespace envcore_native {
typedef signed char int8;
typedef unsigned char uint8;
typedef short int16;
typedef unsigned short uint16;
typedef int int32;
typedef unsigned int uint32;
typedef long long int64;
typedef unsigned long long uint64;
typedef float float32;

template <class To, class From> FN To op_bitcast(From a) {
  To result;
  BUILTIN(memcpy)(&result, &a, sizeof(To));
  return result;
}

template <class T> struct Unsigned { typedef T type; };
template <> struct Unsigned<int8> { typedef uint32 type; };
template <> struct Unsigned<uint8> { typedef uint32 type; };
template <> struct Unsigned<int16> { typedef uint32 type; };
template <> struct Unsigned<uint16> { typedef uint32 type; };
template <> struct Unsigned<int32> { typedef uint32 type; };
#define WRAP(x) ((typename Unsigned<T>::type)(x))

template <class T> FN T op_add(T a, T b) { return (T)(WRAP(a) + WRAP(b)); }
template <class T> FN T op_sub(T a, T b) { return (T)(WRAP(a) - WRAP(b)); }
template <class T> FN T op_mul(T a, T b) { return (T)(WRAP(a) * WRAP(b)); }
template <class T> FN T op_neg(T a) { return (T)(WRAP(0) - WRAP(a)); }
FN float op_neg(float a) { return -a; }

template <class T> FN T op_div(T a, T b) {
  if (b == 0) return (T)-1;
  return (T)-1 < 0 && b == (T)-1 ? op_neg(a) : (T)(a / b);
}
FN float op_div(float a, float b) { return a / b; }
template <class T> FN T op_rem(T a, T b) {
  if (b == 0) return a;
  return (T)-1 < 0 && b == (T)-1 ? 0 : (T)(a % b);
}
FN float op_rem(float a, float b) { return BUILTIN(fmodf)(a, b); }

template <class T> FN T op_and(T a, T b) { return (T)(a & b); }
template <class T> FN T op_or(T a, T b) { return (T)(a | b); }
template <class T> FN T op_xor(T a, T b) { return (T)(a ^ b); }
template <class T> FN T op_not(T a) { return (T)~a; }
FN bool op_not(bool a) { return !a; }

template <class T> FN bool is_wide(T by) { return WRAP(by) >= 8 * sizeof(T); }
template <class T> FN T op_shift_left(T a, T by) { return is_wide(by) ? 0 : (T)(WRAP(a) << by); }
template <class T> FN T op_shift_right_logical(T a, T by) {
  const uint32 word = WRAP(a) & (uint32)-1 >> (32 - 8 * sizeof(T));
  return is_wide(by) ? 0 : (T)(word >> by);
}
template <class T> FN T op_shift_right_arithmetic(T a, T by) {
  const int rest = 32 - 8 * sizeof(T), signed_a = (int)(WRAP(a) << rest) >> rest;
  return (T)(signed_a >> (is_wide(by) ? 31 : (int)by));
}

template <class T> FN bool op_eq(T a, T b) { return a == b; }
template <class T> FN bool op_ne(T a, T b) { return a != b; }
template <class T> FN bool op_lt(T a, T b) { return a < b; }
template <class T> FN bool op_le(T a, T b) { return a <= b; }
template <class T> FN bool op_gt(T a, T b) { return a > b; }
template <class T> FN bool op_ge(T a, T b) { return a >= b; }
// For sorting, where NaN is last, and for the first of the largest or smallest, where it is either.
template <class T> FN bool op_before(T a, T b) { return a < b || (a == a && b != b); }
template <class T> FN bool op_level(T a, T b) { return a == b || (a != a && b != b); }
template <class T> FN bool op_above(T a, T b) { return a > b || (a != a && b == b); }
template <class T> FN bool op_below(T a, T b) { return a < b || (a != a && b == b); }
FN float positive(float a, float b) { return op_bitcast<float>(op_bitcast<uint32>(a) & op_bitcast<uint32>(b)); }
template <class T> FN T op_max(T a, T b) { return a > b ? a : b; }
template <class T> FN T op_min(T a, T b) { return a < b ? a : b; }
FN float op_max(float a, float b) { return a == b ? positive(a, b) : a != a || a > b ? a : b; }
FN float op_min(float a, float b) { return a == b ? -positive(-a, -b) : a != a || a < b ? a : b; }
template <class T> FN T op_select(bool which, T no, T yes) { return which ? yes : no; }

template <class T> FN T op_abs(T a) { return a < 0 ? op_neg(a) : a; }
FN float op_abs(float a) { return BUILTIN(fabsf)(a); }
template <class T> FN T op_sign(T a) { return (T)((a > 0) - (a < 0)); }
FN float op_sign(float a) { return a > 0 ? 1.0f : a < 0 ? -1.0f : a; }

FN float op_floor(float a) { return BUILTIN(floorf)(a); }
FN float op_ceil(float a) { return BUILTIN(ceilf)(a); }
FN float op_round_even(float a) { return BUILTIN(rintf)(a); }
FN float op_round_away(float a) { return BUILTIN(roundf)(a); }
FN float op_sqrt(float a) { return BUILTIN(sqrtf)(a); }
FN float op_rsqrt(float a) { return 1.0f / BUILTIN(sqrtf)(a); }
FN float op_exp(float a) { return BUILTIN(expf)(a); }
FN float op_log(float a) { return BUILTIN(logf)(a); }
#ifdef __CUDACC__
FN float op_expm1(float a) { return expm1f(a); }
FN float op_log1p(float a) { return log1pf(a); }
#else  // Warp's compiler for a CPU does not know expm1f and log1pf.
FN bool is_tiny(float a) { return a < 1e-8f && a > -1e-8f; }
FN float op_expm1(float a) { return is_tiny(a) ? a : (float)(__builtin_exp((double)a) - 1); }
FN float op_log1p(float a) { return is_tiny(a) ? a : (float)__builtin_log(1 + (double)a); }
#endif
FN float op_sin(float a) { return BUILTIN(sinf)(a); }
FN float op_cos(float a) { return BUILTIN(cosf)(a); }
FN float op_tan(float a) { return BUILTIN(tanf)(a); }
FN float op_tanh(float a) { return BUILTIN(tanhf)(a); }
FN float op_logistic(float a) { return 1.0f / (1.0f + op_exp(-a)); }
FN float op_pow(float a, float b) { return BUILTIN(powf)(a, b); }
FN float op_atan2(float a, float b) { return BUILTIN(atan2f)(a, b); }
// Giles' polynomials (2010), as XLA evaluates them.
FN float op_erf_inv(float x) {
  const float small[] = {2.81022636e-08f, 3.43273939e-07f, -3.5233877e-06f, -4.39150654e-06f, 0.00021858087f,
                         -0.00125372503f, -0.00417768164f, 0.246640727f, 1.50140941f};
  const float large[] = {-0.000200214257f, 0.000100950558f, 0.00134934322f, -0.00367342844f, 0.00573950773f,
                         -0.0076224613f, 0.00943887047f, 1.00167406f, 2.83297682f};
  float w = -op_log1p(-x * x), p;
  const bool is_small = w < 5;
  w = is_small ? w - 2.5f : BUILTIN(sqrtf)(w) - 3.0f;
  p = is_small ? small[0] : large[0];
  for (int i = 1; i < 9; ++i) p = (is_small ? small[i] : large[i]) + p * w;
  return BUILTIN(fabsf)(x) == 1 ? x * (float)1e39 : p * x;
}
FN bool op_is_finite(float a) { return a - a == 0; }

template <class T> FN T op_population_count(T a) {
  const uint32 word = WRAP(a) & (uint32)-1 >> (32 - 8 * sizeof(T));
#ifdef __CUDACC__
  return (T)__popc(word);
#else
  return (T)__builtin_popcount(word);
#endif
}

template <class To, class From> FN To op_convert(From a) { return (To)a; }
template <class To> FN To op_truncate(float a) {
  const bool has_sign = (To)-1 < 0;
  const uint64 end = (uint64)1 << (8 * sizeof(To) - has_sign);
  if (a != a) return 0;
  if (a >= (float)end) return (To)(end - 1);
  if (a < (has_sign ? -(float)end : 0.0f)) return has_sign ? (To)end : 0;
  return (To)a;
}
