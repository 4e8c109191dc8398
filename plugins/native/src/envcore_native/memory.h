// Which environment a thread plays, what it stores, and what the threads of a block share. On a GPU, WARPS warps play the
// same 32 environments, and the first of them stores what is returned; on a CPU there is one thread for each.

FN uint32 pack(uint8 a, uint8 b, uint8 c, uint8 d) {
  return a | (uint32)b << 8 | (uint32)c << 16 | (uint32)d << 24;
}
FN void store(void* to, uint32 a) { *(uint32*)to = a; }
#ifdef __CUDACC__
FN void store(void* to, uint32 a, uint32 b) { *(uint2*)to = make_uint2(a, b); }
FN void store(void* to, uint32 a, uint32 b, uint32 c, uint32 d) { *(uint4*)to = make_uint4(a, b, c, d); }
#else
FN void store(void* to, uint32 a, uint32 b) { uint32 row[] = {a, b}; BUILTIN(memcpy)(to, row, sizeof row); }
FN void store(void* to, uint32 a, uint32 b, uint32 c, uint32 d) {
  uint32 row[] = {a, b, c, d};
  BUILTIN(memcpy)(to, row, sizeof row);
}
#endif

#ifdef __CUDACC__
#define TABLE static __device__ const __align__(16)
#define SYNC_BLOCK __syncthreads();
#define WARP ((int)(threadIdx.x / 32 % WARPS))
#define LANES (BLOCK / WARPS)
#define LANE ((int)(threadIdx.x / (32 * WARPS) * 32 + threadIdx.x % 32))
#define IS_SHARE(part) (WARPS == 1 || WARP == part % WARPS)
#define KEEP if (WARP == 0)
#define UNITS(words) __shared__ uint32 units[words * LANES];
#define ADD_PRODUCT(sum, a, b) fmaf(a, b, sum)
#else
#undef WARPS
#define WARPS 1
#define TABLE static const
#define SYNC_BLOCK
#define WARP 0
#define LANES 1
#define IS_SHARE(part) true
#define KEEP
#define LANE 0
#define UNITS(words) uint32 units[words];
#define ADD_PRODUCT(sum, a, b) (sum + a * b)
#endif

// Rows that are longer than 16 bytes go through shared memory, 128 bytes of each of a warp's 32 rows at a time, so that
// its lanes write whole sectors. The last rows of a warp may be those of no environment.
#define DIRECT(leaf, place, words, word) ((uint32*)leaf + (size_t)(place) * words + word)
#ifdef __CUDACC__
template <int UNIT> struct Words { typedef uint32 type; };
template <> struct Words<2> { typedef uint2 type; };
template <> struct Words<4> { typedef uint4 type; };
template <int UNIT> FN void flush(uint32* to, const uint32* stage, int rows, int stride, int count) {
  __syncwarp();
  const int lane = threadIdx.x % 32, column = lane * UNIT % 32;
  for (int row = lane * UNIT / 32; row < rows; row += UNIT)
    if (column < count)
      *(typename Words<UNIT>::type*)(to + (size_t)row * stride + column) =
          *(const typename Words<UNIT>::type*)(stage + row * 36 + column);
  __syncwarp();
}
#define STAGE \
  __shared__ uint4 staged[LANES / 32 * 288]; \
  uint32* const stage = (uint32*)staged + LANE / 32 * 32 * 36; \
  const int lane = threadIdx.x % 32, first = thread / (32 * WARPS) * 32; \
  const int n = first + lane < count ? first + lane : count - 1, rows = count - first < 32 ? count - first : 32;
#define ROW(leaf, place, words, word) (stage + threadIdx.x % 32 * 36 + word % 32)
#define FLUSH(unit, leaf, place, words, start, count) \
  flush<unit>(DIRECT(leaf, place, words, start), stage, rows, words, count)
#else
#define STAGE \
  if (thread >= count) return; \
  const int n = thread;
#define ROW DIRECT
#define FLUSH(unit, leaf, place, words, start, count)
#endif

// A layer of a network: `out` = `in` times weights, where the weight of an input and an output is at input * OF_INPUT +
// output * OF_OUTPUT. The warps take turns with tiles of outputs, whose sums are in registers; all threads of a warp read
// the same weight. Sums are in the order of the inputs.
#ifdef __CUDACC__
FN void load_weights(float* to, const float* from) {
  const float4 four = __ldg((const float4*)from);
  to[0] = four.x, to[1] = four.y, to[2] = four.z, to[3] = four.w;
}
#else
FN void load_weights(float* to, const float* from) {
  for (int i = 0; i < 4; ++i) to[i] = from[i];
}
#endif
template <int INPUTS, int OUTPUTS, int OF_INPUT, int OF_OUTPUT, bool BY_FOUR, class T>
FN void product(float* out, const T* in, const float* __restrict__ weights) {
  constexpr int share = (OUTPUTS + WARPS - 1) / WARPS, tile = share < 4 ? share : share < 16 ? (share + 3) / 4 * 4 : 16;
  for (int start = WARP * tile; start < OUTPUTS; start += WARPS * tile) {
    float sums[tile] = {}, weight[tile];
#pragma unroll 4
    for (int k = 0; k < INPUTS; ++k) {
      for (int i = 0; i < tile; i += BY_FOUR ? 4 : 1) {
        const int output = OUTPUTS % tile == 0 || start + i < OUTPUTS ? start + i : 0;
        if (BY_FOUR) load_weights(weight + i, weights + k * OF_INPUT + output);
        else weight[i] = weights[k * OF_INPUT + output * OF_OUTPUT];
      }
      for (int i = 0; i < tile; ++i) sums[i] = ADD_PRODUCT(sums[i], (float)in[k * LANES], weight[i]);
    }
    for (int i = 0; i < tile; ++i)
      if (start + i < OUTPUTS) out[(start + i) * LANES] = sums[i];
  }
}
