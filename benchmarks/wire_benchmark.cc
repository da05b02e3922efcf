// Measures how fast tensors are encoded for the wire and decoded on one core, in GB/s of float32 values, compared with
// memcpy.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "kernels/cpu/wire/codec.h"

namespace tensorbraid {
namespace {

using Clock = std::chrono::steady_clock;

// The speed of the fastest run.
template <typename Run>
double GbPerSecond(int64_t values, int64_t repeats, const Run& run) {
  double best = 1e9;
  for (int64_t i = 0; i < repeats; ++i) {
    const auto begin = Clock::now();
    run();
    best = std::min(best, std::chrono::duration<double>(Clock::now() - begin).count());
  }
  return 4e-9 * static_cast<double>(values) / best;  // a value has 4 bytes
}

void Measure(int64_t n, int64_t repeats) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> x(n), residual(n), y(n);
  for (float& v : x) v = normal(random);
  std::printf("%lld values: memcpy %.1f GB/s\n", static_cast<long long>(n),
              GbPerSecond(n, repeats, [&] { std::memcpy(y.data(), x.data(), 4 * n); }));
  for (const Wire wire : {Wire::kFloat16, Wire::kBFloat16, Wire::kInt8, Wire::kOneBit, Wire::kTopK}) {
    std::vector<uint8_t> bytes(cpu::WireBytes(wire, {n}));
    const auto encode = [&](float* kept) {
      return GbPerSecond(n, repeats, [&] {
        const cpu::WireEncoder encoder(wire, Shape({n}), x.data(), kept, bytes.data());
        encoder.Encode(0, encoder.blocks());
      });
    };
    const double plain = encode(nullptr);
    const double with_feedback = cpu::HasErrorFeedback(wire) ? encode(residual.data()) : 0;
    const cpu::WireHeader header = cpu::ReadWireHeader(bytes).value();
    const int64_t blocks = (n + cpu::kWireBlock - 1) / cpu::kWireBlock;
    const double decode = GbPerSecond(n, repeats, [&] {
      if (!cpu::DecodeWire(header, bytes, 0, blocks, y.data()).ok()) std::abort();
    });
    std::printf("  %-9s encode %5.1f", std::string(WireName(wire)).c_str(), plain);
    if (with_feedback > 0) std::printf(", with error feedback %5.1f", with_feedback);
    std::printf(", decode %5.1f GB/s\n", decode);
  }
}

}  // namespace
}  // namespace tensorbraid

int main(int argc, char** argv) {
  const int64_t repeats = argc > 1 ? std::max(1L, std::strtol(argv[1], nullptr, 10)) : 30;
  for (const int64_t n : {int64_t{1} << 16, int64_t{1} << 22}) tensorbraid::Measure(n, repeats);
  return 0;
}
