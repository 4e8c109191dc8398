// XLA's arithmetic for scalars. Integers wrap around, shifts by the width or more give 0 or the sign, a division by
// zero has a result, and the larger or smaller of a number and NaN is NaN. Compile without contraction.

#ifdef __CUDACC__
#define FN static __device__ __forceinline__
#define KERNEL extern "C" __global__ void
#define TABLE static __device__ const
#else
#include <math.h>
#include <string.h>
#define FN static inline
#define KERNEL extern "C" void
#define TABLE static const
#endif

typedef signed char int8;
typedef unsigned char uint8;
typedef short int16;
typedef unsigned short uint16;
typedef int int32;
typedef unsigned int uint32;
typedef long long int64;
typedef unsigned long long uint64;
typedef float float32;

template <class T> struct Unsigned { typedef T type; };
template <> struct Unsigned<int8> { typedef uint32 type; };
template <> struct Unsigned<uint8> { typedef uint32 type; };
template <> struct Unsigned<int16> { typedef uint32 type; };
template <> struct Unsigned<uint16> { typedef uint32 type; };
template <> struct Unsigned<int32> { typedef uint32 type; };
template <> struct Unsigned<int64> { typedef uint64 type; };
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
FN float op_rem(float a, float b) { return fmodf(a, b); }

template <class T> FN T op_and(T a, T b) { return (T)(a & b); }
template <class T> FN T op_or(T a, T b) { return (T)(a | b); }
template <class T> FN T op_xor(T a, T b) { return (T)(a ^ b); }
template <class T> FN T op_not(T a) { return (T)~a; }
FN bool op_not(bool a) { return !a; }

template <class T> FN bool is_wide(T by) { return WRAP(by) >= 8 * sizeof(T); }
template <class T> FN T op_shift_left(T a, T by) { return is_wide(by) ? 0 : (T)(WRAP(a) << by); }
template <class T> FN T op_shift_right_logical(T a, T by) {
  typename Unsigned<T>::type mask = (typename Unsigned<T>::type)-1 >> 8 * (sizeof(mask) - sizeof(T));
  return is_wide(by) ? 0 : (T)((WRAP(a) & mask) >> by);
}
template <class T> FN T op_shift_right_arithmetic(T a, T by) {
  return (T)(a >> (is_wide(by) ? (T)(8 * sizeof(T) - 1) : by));
}

template <class T> FN bool op_eq(T a, T b) { return a == b; }
template <class T> FN bool op_ne(T a, T b) { return a != b; }
template <class T> FN bool op_lt(T a, T b) { return a < b; }
template <class T> FN bool op_le(T a, T b) { return a <= b; }
template <class T> FN bool op_gt(T a, T b) { return a > b; }
template <class T> FN bool op_ge(T a, T b) { return a >= b; }
template <class T> FN T op_max(T a, T b) { return a != a || a > b ? a : b; }
template <class T> FN T op_min(T a, T b) { return a != a || a < b ? a : b; }
template <class T> FN T op_select(bool which, T no, T yes) { return which ? yes : no; }

template <class T> FN T op_abs(T a) { return a < 0 ? op_neg(a) : a; }
FN float op_abs(float a) { return fabsf(a); }
template <class T> FN T op_sign(T a) { return (T)((a > 0) - (a < 0)); }
FN float op_sign(float a) { return a > 0 ? 1.0f : a < 0 ? -1.0f : a; }

FN float op_floor(float a) { return floorf(a); }
FN float op_ceil(float a) { return ceilf(a); }
FN float op_round_even(float a) { return rintf(a); }
FN float op_round_away(float a) { return roundf(a); }
FN float op_sqrt(float a) { return sqrtf(a); }
FN float op_rsqrt(float a) { return 1.0f / sqrtf(a); }
FN float op_exp(float a) { return expf(a); }
FN float op_expm1(float a) { return expm1f(a); }
FN float op_log(float a) { return logf(a); }
FN float op_log1p(float a) { return log1pf(a); }
FN float op_sin(float a) { return sinf(a); }
FN float op_cos(float a) { return cosf(a); }
FN float op_tan(float a) { return tanf(a); }
FN float op_tanh(float a) { return tanhf(a); }
FN float op_pow(float a, float b) { return powf(a, b); }
FN float op_atan2(float a, float b) { return atan2f(a, b); }
FN bool op_is_finite(float a) { return a - a == 0; }

template <class T> FN T op_population_count(T a) {
#ifdef __CUDACC__
  return (T)__popcll((uint64)a);
#else
  return (T)__builtin_popcountll((uint64)a);
#endif
}
FN uint32 op_population_count(uint32 a) {
#ifdef __CUDACC__
  return __popc(a);
#else
  return __builtin_popcount(a);
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
template <class To, class From> FN To op_bitcast(From a) {
  To result;
  memcpy(&result, &a, sizeof(To));
  return result;
}

FN uint32 pack(uint8 a, uint8 b, uint8 c, uint8 d) {
  return a | (uint32)b << 8 | (uint32)c << 16 | (uint32)d << 24;
}
FN void store(void* to, uint32 a) { *(uint32*)to = a; }
#ifdef __CUDACC__
FN void store(void* to, uint32 a, uint32 b) { *(uint2*)to = make_uint2(a, b); }
FN void store(void* to, uint32 a, uint32 b, uint32 c, uint32 d) { *(uint4*)to = make_uint4(a, b, c, d); }
#define FOR_EACH_ENVIRONMENT(n, count) \
  for (int n = blockIdx.x * blockDim.x + threadIdx.x; n < count; n += gridDim.x * blockDim.x)
#else
FN void store(void* to, uint32 a, uint32 b) { uint32 row[] = {a, b}; memcpy(to, row, sizeof row); }
FN void store(void* to, uint32 a, uint32 b, uint32 c, uint32 d) {
  uint32 row[] = {a, b, c, d};
  memcpy(to, row, sizeof row);
}
#define FOR_EACH_ENVIRONMENT(n, count) for (int n = 0; n < count; ++n)
#endif

// Rows that are longer than 16 bytes go through shared memory where STAGED is defined: 128 bytes of each of a warp's 32
// rows at a time, so that its lanes write whole sectors. A warp needs 4,608 bytes of dynamic shared memory.
#define DIRECT(leaf, place, words, word) ((uint32*)leaf + (size_t)(place) * words + word)
#if defined(__CUDACC__) && defined(STAGED)
extern __shared__ uint4 staged[];
template <int UNIT> struct Words { typedef uint32 type; };
template <> struct Words<2> { typedef uint2 type; };
template <> struct Words<4> { typedef uint4 type; };
template <int UNIT> FN void flush(uint32* to, const uint32* stage, int stride, int count) {
  __syncwarp();
  const int lane = threadIdx.x % 32, column = lane * UNIT % 32;
  for (int row = lane * UNIT / 32; row < 32; row += UNIT)
    if (column < count)
      *(typename Words<UNIT>::type*)(to + (size_t)row * stride + column) =
          *(const typename Words<UNIT>::type*)(stage + row * 36 + column);
  __syncwarp();
}
#define STAGE uint32* const stage = (uint32*)staged + threadIdx.x / 32 * 32 * 36;
#define ROW(leaf, place, words, word) (stage + threadIdx.x % 32 * 36 + word % 32)
#define FLUSH(unit, leaf, place, words, start, count) \
  flush<unit>(DIRECT(leaf, (place) - (int)(threadIdx.x % 32), words, start), stage, words, count)
#else
#define STAGE
#define ROW DIRECT
#define FLUSH(unit, leaf, place, words, start, count)
#endif
