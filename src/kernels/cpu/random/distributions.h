// Random distributions: element n of a tensor is a function of the random stream (philox.h) and n, and equals
// TensorFlow's value.
//
// Elements come in groups of a fixed size. Each group has its own blocks of the stream, so values do not depend on the
// thread that draws them.
#ifndef TENSORBRAID_KERNELS_CPU_RANDOM_DISTRIBUTIONS_H_
#define TENSORBRAID_KERNELS_CPU_RANDOM_DISTRIBUTIONS_H_

#include <algorithm>
#include <atomic>
#include <cmath>
#include <span>
#include <type_traits>
#include <utility>

#include "core/system/env.h"
#include "core/text/strings.h"
#include "core/threads/mutex.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/random/philox.h"
#include "kernels/cpu/random/random_shape.h"
#include "runtime/kernel/kernel_state.h"
#include "runtime/kernel/random_stream.h"

namespace tensorbraid::cpu {

// The generator of one node: its stream, and the number of blocks used so far. Thread-safe. It lives as long as the
// kernel, so a later run of the node continues the stream if it uses the same kernel object.
class Generator final : public KernelState, public RandomStream {
 public:
  static constexpr uint64_t kBlocksPerOutput = 256;
  explicit Generator(const KernelConstruction& c)
      : initial_(InitialSeeds(c.attr<int64_t>("seed"), c.attr<int64_t>("seed2"))), seeds_(initial_) {}

  Philox philox() const {
    MutexLock lock(mu_);
    return Philox(seeds_.first, seeds_.second);
  }
  // Reserves `blocks` consecutive blocks for the caller and returns the index of the first. Thread-safe.
  uint64_t Reserve(uint64_t blocks) { return next_.fetch_add(blocks, std::memory_order_relaxed); }
  // Reserves enough blocks for `n` elements of any distribution. TensorFlow advances its generator by the same number
  // per run.
  uint64_t ReserveOutputs(int64_t n) { return Reserve(static_cast<uint64_t>(n) * kBlocksPerOutput); }

  Place TakeElements(int64_t n) override {
    const uint64_t first = ReserveOutputs(n);
    MutexLock lock(mu_);
    return {.key = seeds_.first, .low = first, .high = seeds_.second};
  }

  // The seeds, which may have been drawn at random, and the number of used blocks.
  Tensor Save() const override {
    MutexLock lock(mu_);
    return Tensor::Vector<int64_t>({static_cast<int64_t>(seeds_.first), static_cast<int64_t>(seeds_.second),
                                    static_cast<int64_t>(next_.load(std::memory_order_relaxed))});
  }
  // Restores what Save returned. An empty vector restores the initial state.
  Status Restore(const Tensor& state) override {
    const int64_t size = state.dtype() == kInt64 && state.shape().rank() == 1 ? state.num_elements() : -1;
    if (size != 0 && size != kStateSize) {
      return InvalidArgument("the state of a random generator must be an int64 vector of ", kStateSize,
                             " elements, got ", state.dtype(), state.shape());
    }
    MutexLock lock(mu_);
    const auto from = state.data<int64_t>();
    seeds_ = size == 0 ? initial_ : Seeds(from[0], from[1]);
    next_.store(size == 0 ? 0 : static_cast<uint64_t>(from[2]), std::memory_order_relaxed);
    return OkStatus();
  }
  static constexpr int64_t kStateSize = 3;

 private:
  using Seeds = std::pair<uint64_t, uint64_t>;
  static Seeds InitialSeeds(int64_t seed, int64_t seed2) {
    if (seed != 0 || seed2 != 0) return Seeds(seed, seed2);
    return {RandomSeed(), RandomSeed()};
  }

  const Seeds initial_;
  mutable Mutex mu_;
  Seeds seeds_ TB_GUARDED_BY(mu_);
  std::atomic<uint64_t> next_{0};
};

// Computes two normally distributed numbers from two uniform ones (Box-Muller transform). As in TensorFlow, the angle
// is a product in double precision, also for float: a rounded 2 pi would change the last bits of the results.
template <typename A>
void Normal(A u, A v, A* out) {
  const A radius = std::sqrt(A(-2) * std::log(std::max(u, A(1e-7))));
  const A angle = static_cast<A>(2 * 3.14159265358979323846 * static_cast<double>(v));
  out[0] = std::sin(angle) * radius;
  out[1] = std::cos(angle) * radius;
}

// Each distribution below draws a group of kGroup elements from kBlocks consecutive blocks of the stream.
template <typename T>
struct Uniform {
  static constexpr int kGroup = std::is_same_v<T, double> ? 2 : 4;
  static constexpr int kBlocks = 1;
  static void Draw(const Philox& p, uint64_t at, T* out) {
    const Philox::Block b = p.At(at);
    if constexpr (std::is_same_v<T, double>) {
      for (int i = 0; i < 2; ++i) out[i] = UnitDouble(b[2 * i], b[2 * i + 1]);
    } else if constexpr (std::is_same_v<T, Float16>) {
      // Use no more bits than the mantissa holds, so that rounding never gives 1.
      for (int i = 0; i < 4; ++i) out[i] = T((b[i] & 0x3ff) / 1024.0f);
    } else if constexpr (std::is_same_v<T, Bfloat16>) {
      for (int i = 0; i < 4; ++i) out[i] = T((b[i] & 0x7f) / 128.0f);
    } else {
      for (int i = 0; i < 4; ++i) out[i] = UnitFloat(b[i]);
    }
  }
};

template <typename T>
struct StandardNormal {
  static constexpr int kGroup = Uniform<T>::kGroup;
  static constexpr int kBlocks = 1;
  static void Draw(const Philox& p, uint64_t at, T* out) {
    const Philox::Block b = p.At(at);
    if constexpr (std::is_same_v<T, double>) {
      Normal(UnitDouble(b[0], b[1]), UnitDouble(b[2], b[3]), out);
    } else {
      float values[4];
      Normal(UnitFloat(b[0]), UnitFloat(b[1]), values);
      Normal(UnitFloat(b[2]), UnitFloat(b[3]), values + 2);
      for (int i = 0; i < 4; ++i) out[i] = static_cast<T>(values[i]);
    }
  }
};

template <typename T>
struct Truncated {
  static constexpr int kGroup = Uniform<T>::kGroup;
  // A draw is kept with probability 0.954, so these blocks practically always suffice for a group.
  static constexpr int kBlocks = 64 * kGroup;
  static void Draw(const Philox& p, uint64_t at, T* out) {
    using Wide = std::conditional_t<std::is_same_v<T, double>, double, float>;
    constexpr int kEach = Uniform<Wide>::kGroup;
    int filled = 0;
    for (int block = 0; block < kBlocks && filled < kGroup; ++block) {
      Wide values[kEach];
      StandardNormal<Wide>::Draw(p, at + block, values);
      for (int i = 0; i < kEach && filled < kGroup; ++i) {
        if (std::abs(values[i]) < Wide(2)) out[filled++] = static_cast<T>(values[i]);
      }
    }
    while (filled < kGroup) out[filled++] = T(0);
  }
};

// Integers in [low, low + range), computed as a remainder. If range is 0, any integer.
template <typename T>
struct UniformInt {
  static constexpr int kGroup = sizeof(T) == 8 ? 2 : 4;
  static constexpr int kBlocks = 1;
  using U = std::make_unsigned_t<T>;
  U low = 0, range = 0;

  void Draw(const Philox& p, uint64_t at, T* out) const {
    const Philox::Block b = p.At(at);
    for (int i = 0; i < kGroup; ++i) {
      U bits;
      if constexpr (sizeof(T) == 8) {
        bits = uint64_t{b[2 * i + 1]} << 32 | b[2 * i];
      } else {
        bits = b[i];
      }
      out[i] = static_cast<T>(range == 0 ? bits : low + bits % range);
    }
  }
};

// Fills `out` with elements of the distribution, drawn from block `first` of the stream on.
template <typename D, typename T>
void Fill(KernelContext& ctx, const Philox& philox, uint64_t first, std::span<T> out, const D& distribution = D()) {
  const int64_t n = static_cast<int64_t>(out.size());
  const int64_t groups = (n + D::kGroup - 1) / D::kGroup;
  Parallel(ctx, groups, 15.0 * D::kGroup, [&](int64_t begin, int64_t end) {
    for (int64_t g = begin; g < end; ++g) {
      const uint64_t at = first + static_cast<uint64_t>(g) * D::kBlocks;
      const int64_t from = g * D::kGroup;
      if (from + D::kGroup <= n) {
        distribution.Draw(philox, at, out.data() + from);
      } else {
        T last[D::kGroup];
        distribution.Draw(philox, at, last);
        std::copy(last, last + (n - from), out.data() + from);
      }
    }
  });
}

}  // namespace tensorbraid::cpu

#endif  // TENSORBRAID_KERNELS_CPU_RANDOM_DISTRIBUTIONS_H_
