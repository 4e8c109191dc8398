// Assigns environments to threads and stores the results of steps.

#ifdef __CUDACC__
#define TABLE static __device__ const __align__(16)
#define STAGE \
  __shared__ uint4 staged[BLOCK / 32 * 288]; \
  uint32* const stage = (uint32*)staged + threadIdx.x / 32 * 32 * 36; \
  const int lane = threadIdx.x % 32, first = thread / 32 * 32; \
  const int n = first + lane < count ? first + lane : count - 1, rows = count - first < 32 ? count - first : 32;
#else
#define TABLE static const
#define STAGE \
  if (thread >= count) return; \
  const int n = thread, first = n, rows = 1; \
  uint32* const stage = nullptr;
#endif

// A row of an array. A thread puts the SIZE elements in order, and they are stored in units of up to 16 bytes.
template <typename T, int SIZE> struct Row {
  T* to;  // the row of the warp's first environment
  int n, rows;
  uint32* stage;
  alignas(16) uint32 unit[4];
};
#define ROW(T, SIZE, name) \
  Row<T, SIZE> name = {all_##name + ((size_t)t * count + first) * SIZE, n - first, rows, stage, {0, 0, 0, 0}};

FN void store(uint32* to, const uint32* unit, int words) {
#ifdef __CUDACC__
  if (words == 4) *(uint4*)to = *(const uint4*)unit;
  if (words == 2) *(uint2*)to = *(const uint2*)unit;
  if (words == 1) *to = *unit;
#else
  BUILTIN(memcpy)(to, unit, 4 * words);
#endif
}

// Rows longer than 16 bytes go through shared memory, 128 bytes of each of the warp's 32 rows at a time, so that lanes
// write whole sectors. The last rows of the last warp may have no environment.
template <typename T, int SIZE> FN void put(Row<T, SIZE>& row, int i, T value) {
  const int bytes = SIZE * sizeof(T), words = bytes / 4, width = words % 4 == 0 ? 4 : words % 2 == 0 ? 2 : 1;
  const int begin = i * sizeof(T), end = begin + sizeof(T), word = begin / 4;
  if (bytes % 4) {
    row.to[row.n * SIZE + i] = value;
    return;
  }
  uint32 bits = 0;
  BUILTIN(memcpy)(&bits, &value, sizeof(T));
  row.unit[word % width] = begin % 4 ? row.unit[word % width] | bits << begin % 4 * 8 : bits;
  if (end % (4 * width)) return;
  const int from = word / width * width;
#ifdef __CUDACC__
  if (words > 4) {
    store(row.stage + threadIdx.x % 32 * 36 + from % 32, row.unit, width);
    if (end % 128 && end != bytes) return;
    const int lane = threadIdx.x % 32, column = lane * width % 32, start = word / 32 * 32;
    __syncwarp();
    for (int each = lane * width / 32; each < row.rows; each += width)
      if (column <= word - start)
        store((uint32*)row.to + (size_t)each * words + start + column, row.stage + each * 36 + column, width);
    __syncwarp();
    return;
  }
#endif
  store((uint32*)(row.to + row.n * SIZE) + from, row.unit, width);
}
