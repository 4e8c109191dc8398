// The C library functions in WebAssembly: instructions where they exist, JavaScript functions elsewhere.
#define BUILTIN(name) wasm_##name
#define OF_MATH(name) __attribute__((import_module("Math"), import_name(#name))) double math_##name(double);
OF_MATH(sin) OF_MATH(cos) OF_MATH(tan) OF_MATH(tanh) OF_MATH(exp) OF_MATH(log)
__attribute__((import_module("Math"), import_name("pow"))) double math_pow(double, double);
__attribute__((import_module("Math"), import_name("atan2"))) double math_atan2(double, double);
__attribute__((import_module("js"), import_name("fmod"))) double math_fmod(double, double);

#define wasm_memcpy __builtin_memcpy
#define wasm_fabsf __builtin_fabsf
#define wasm_floorf __builtin_floorf
#define wasm_ceilf __builtin_ceilf
#define wasm_rintf __builtin_rintf
#define wasm_sqrtf __builtin_sqrtf
#define wasm_exp math_exp
#define wasm_log math_log
#define wasm_sinf(a) ((float)math_sin(a))
#define wasm_cosf(a) ((float)math_cos(a))
#define wasm_tanf(a) ((float)math_tan(a))
#define wasm_tanhf(a) ((float)math_tanh(a))
#define wasm_expf(a) ((float)math_exp(a))
#define wasm_logf(a) ((float)math_log(a))
#define wasm_powf(a, b) ((float)math_pow(a, b))
#define wasm_atan2f(a, b) ((float)math_atan2(a, b))
#define wasm_fmodf(a, b) ((float)math_fmod(a, b))
static inline float wasm_roundf(float a) {
  const float whole = __builtin_truncf(a);
  return __builtin_fabsf(a - whole) < 0.5f ? whole : whole + __builtin_copysignf(1.0f, a);
}
