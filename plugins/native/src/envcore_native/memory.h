// Which environment a thread plays, and how it stores what a step returns.

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
#else
#define TABLE static const
#define SYNC_BLOCK
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
  __shared__ uint4 staged[BLOCK / 32 * 288]; \
  uint32* const stage = (uint32*)staged + threadIdx.x / 32 * 32 * 36; \
  const int lane = threadIdx.x % 32, first = thread / 32 * 32; \
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
