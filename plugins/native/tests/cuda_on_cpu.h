// What generated CUDA needs to be played on a CPU, by a thread for each of a block's.
#include <cmath>
#include <cstring>
#include <pthread.h>
#include <thread>
#include <vector>
#define __CUDACC__
#define __align__(n) __attribute__((aligned(n)))
#define __device__
#define __forceinline__ inline
#define __restrict__ __restrict
#define __shared__ static  // blocks are played one after another
#define __popc __builtin_popcount
using namespace std;

struct uint2 { unsigned x, y; };
struct __align__(16) uint4 { unsigned x, y, z, w; };
struct float4 { float x, y, z, w; };
static uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
static uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
template <class T> T __ldg(const T* from) { return *from; }

static thread_local struct { unsigned x; } threadIdx;
static pthread_barrier_t block_barrier, warp_barriers[32];
static void __syncthreads() { pthread_barrier_wait(&block_barrier); }
static void __syncwarp() { pthread_barrier_wait(&warp_barriers[threadIdx.x / 32]); }

template <class Function> void launch(int threads, int block, Function play) {
  pthread_barrier_init(&block_barrier, 0, block);
  for (int warp = 0; warp < block / 32; ++warp) pthread_barrier_init(&warp_barriers[warp], 0, 32);
  for (int first = 0; first < threads; first += block) {
    vector<thread> all;
    for (int i = 0; i < block; ++i)
      all.emplace_back([=] {
        threadIdx.x = i;
        play(first + i);
      });
    for (auto& each : all) each.join();
  }
}
