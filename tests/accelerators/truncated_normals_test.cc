// Tests which numbers a truncated normal distribution takes on a device, XLA_CPU:0. It takes the normal numbers between
// -2 and 2, and a device's numbers may differ from the CPU's in their last bits. So near these limits, the device
// may take a number that the CPU leaves, or leave one that it takes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "executor/clusters/host_substitute.h"
#include "tensorbraid/tensorbraid.h"
#include "two_devices.h"

namespace tensorbraid {
namespace {

constexpr int64_t kSeed = 7, kSecondSeed = 1;
constexpr int kGroup = 4;  // the numbers that are made of a block of the generator

// The blocks with normal numbers within 4 * 2^-23 of a limit, of the first 2^28 blocks, which make 2^30 numbers.
constexpr int64_t kBlocksAtLimits[] = {
    187187,    1072185,   9142718,   9700745,   9710841,   10643969,  11230965,  11392943,  11703100,  12366485,
    16576738,  21943806,  26875093,  27161390,  28503787,  29937869,  30312919,  33609544,  33918431,  35270366,
    35832995,  39746613,  40110507,  41056676,  44294882,  50692583,  52631775,  54673430,  58064825,  59320566,
    60953589,  66062766,  70484467,  72236673,  72424553,  76404346,  76454692,  77763447,  90132463,  91129707,
    92021462,  95124493,  97174496,  100272547, 102887591, 103826348, 103949827, 104456088, 107415400, 114265474,
    122401494, 131181575, 132410634, 135946317, 136833039, 138249083, 139444074, 140071607, 140172810, 145696593,
    146615772, 146972556, 152627859, 159662839, 165482258, 169424694, 173980520, 174993336, 175831331, 177956831,
    179372334, 179700355, 180917165, 182450010, 183470582, 188194729, 188584283, 191096839, 194313771, 198990708,
    205420976, 205794212, 209515104, 213298910, 214996668, 217030916, 217219030, 217820698, 222614833, 223146359,
    224820172, 230927033, 236861503, 237518251, 242567814, 243097409, 251132512, 256168764, 256818249, 262082790,
    263416998, 263686866, 264538602, 264865123, 267042674, 267654962, 268244284};

// A node that draws numbers from any place of its stream.
class Drawn {
 public:
  Drawn(const char* op, const char* device_name, int64_t count) {
    auto device = graph_.Device(device_name);
    numbers_ = NodeBuilder(graph_, op)
                   .Input(Const(graph_, Tensor::Vector<int64_t>({count})))
                   .Attr("dtype", kFloat32)
                   .Attr("seed", kSeed)
                   .Attr("seed2", kSecondSeed)
                   .Output();
    place_ = Placeholder(graph_, kInt64, {3}, "place");
    auto beside = graph_.ColocateWith(numbers_.op());
    set_ = NodeBuilder(graph_, "_SetRandomState").Input(place_).Attr("node", numbers_.op().name()).Finish();
    session_ = Session::Create(graph_, kTwoDevices).value();
  }

  Tensor From(int64_t block) {
    const Tensor place = Tensor::Vector<int64_t>({kSeed, kSecondSeed, block});
    const Status set = session_->Run({set_}, {{place_, place}}).status();
    EXPECT_TRUE(set.ok()) << set;
    return session_->Run({numbers_}).value()[0];
  }

 private:
  Graph graph_;
  Output numbers_, place_;
  Operation set_;
  std::unique_ptr<Session> session_;
};

// How far a number is from the next limit, in units of 2^-23.
double FromLimit(float number) { return std::abs(std::abs(double{number}) - 2) / 0x1p-23; }

class TruncatedNormalsTest : public testing::Test {
 protected:
  TruncatedNormalsTest() { setenv(kHostSubstituteVariable, "never", 1); }
  ~TruncatedNormalsTest() override { unsetenv(kHostSubstituteVariable); }
};

TEST_F(TruncatedNormalsTest, TheFirstNumbersHaveNoOtherBlocksAtTheLimits) {
  constexpr int64_t kNumbers = 1 << 23;
  const Tensor first = Drawn("RandomStandardNormal", "/device:CPU:0", kNumbers).From(0);
  size_t found = 0;
  for (int64_t i = 0; i < kNumbers; ++i) {
    if (FromLimit(first.data<float>()[i]) > 4) continue;
    EXPECT_EQ(i / kGroup, kBlocksAtLimits[found++]);
  }
  EXPECT_GT(found, 0U);
  EXPECT_GE(kBlocksAtLimits[found], kNumbers / kGroup);
}

TEST_F(TruncatedNormalsTest, FewNumbersAreTakenOnOneSideOnly) {
  // Two groups of numbers, of which the first one begins with the block.
  Drawn on_cpu("TruncatedNormal", "/device:CPU:0", 2 * kGroup);
  Drawn on_device("TruncatedNormal", "/device:XLA_CPU:0", 2 * kGroup);
  int taken_once = 0, changed = 0;
  for (const int64_t block : kBlocksAtLimits) {
    const Tensor a = on_cpu.From(block), b = on_device.From(block);
    int differ = 0;
    for (int i = 0; i < 2 * kGroup; ++i) {
      const float x = a.data<float>()[i], y = b.data<float>()[i];
      if (std::abs(x - y) <= 4 * 0x1p-23 * std::max(1.0f, std::abs(x))) continue;
      EXPECT_LT(i, kGroup) << "block " << block << ": " << x << " and " << y;
      ++differ;
    }
    taken_once += differ > 0 ? 1 : 0;
    changed += differ;
  }
  std::printf("of 2^30 normal numbers, %d are taken on one side only, which changes %d truncated numbers\n", taken_once,
              changed);
  EXPECT_LE(taken_once, 8);  // the plugins that compute on the CPU: 1
}

}  // namespace
}  // namespace tensorbraid
