// Tests that random ops draw the numbers of the CPU on XLA_CPU:0. The environment variable
// TENSORBRAID_ACCELERATOR_PLUGIN names the plugin.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/text/strings.h"
#include "executor/clusters/host_substitute.h"
#include "graph/model/handles.h"
#include "pjrt/emitter.h"
#include "tensorbraid/tensorbraid.h"
#include "two_devices.h"

namespace tensorbraid {
namespace {

// Nodes that draw random numbers on a device, with several distributions and dtypes.
struct RandomNodes {
  // Another number of columns needs other programs.
  RandomNodes(const std::string& device_name, int64_t columns) : columns(columns) {
    auto device = graph.Device(device_name);
    x = Placeholder(graph, kFloat32, {-1, columns}, "x");
    const Output sizes = ShapeOf(x);
    for (const DType dtype : {kFloat16, kFloat32, kFloat64}) {
      for (const char* op : {"RandomUniform", "RandomStandardNormal", "TruncatedNormal"}) {
        numbers.push_back(Draw(op).Input(sizes).Attr("dtype", dtype).Output());
      }
    }
    numbers.push_back(Draw("RandomUniformInt")
                          .Input(sizes)
                          .Input(Const(graph, Tensor::Scalar<int32_t>(-5)))
                          .Input(Const(graph, Tensor::Scalar<int32_t>(1000)))
                          .Output());
    numbers.push_back(Draw("RandomUniformInt")
                          .Input(sizes)
                          .Input(Const(graph, Tensor::Scalar<int64_t>(std::numeric_limits<int64_t>::min())))
                          .Input(Const(graph, Tensor::Scalar<int64_t>(std::numeric_limits<int64_t>::max())))
                          .Output());
    for (const Output& n : numbers) {
      auto beside = graph.ColocateWith(n.op());
      states.push_back(NodeBuilder(graph, "_ReadRandomState").Attr("node", n.op().name()).Output());
    }
  }
  NodeBuilder Draw(const char* op) {
    return std::move(NodeBuilder(graph, op).Attr("seed", int64_t{7}).Attr("seed2", int64_t(numbers.size() + 1)));
  }

  // What each node gives in steps of different sizes, then the states of all nodes.
  std::vector<Tensor> Run() {
    EXPECT_TRUE(graph.status().ok()) << graph.status();
    const auto session = Session::Create(graph, kTwoDevices).value();
    std::vector<Tensor> results;
    for (int64_t rows : {3, 0, 3, 200}) {
      auto values = session->Run({numbers.begin(), numbers.end()}, {{x, Tensor(kFloat32, {rows, columns})}});
      EXPECT_TRUE(values.ok()) << values.status();
      if (values.ok()) results.insert(results.end(), values->begin(), values->end());
    }
    auto values = session->Run({states.begin(), states.end()});
    EXPECT_TRUE(values.ok()) << values.status();
    if (values.ok()) results.insert(results.end(), values->begin(), values->end());
    return results;
  }

  const int64_t columns;
  Graph graph;
  Output x;
  std::vector<Output> numbers, states;
};

// The difference of two elements in units of the last place of the numbers near 1 (absolute below 1).
template <typename T>
double LargestDifference(const Tensor& a, const Tensor& b, double epsilon) {
  double largest = 0;
  for (int64_t i = 0; i < a.num_elements(); ++i) {
    using Wide = std::conditional_t<std::is_same_v<T, double>, double, float>;
    const double x = static_cast<Wide>(a.data<T>()[i]), y = static_cast<Wide>(b.data<T>()[i]);
    largest = std::max(largest, std::abs(x - y) / std::max(1.0, std::abs(x)) / epsilon);
  }
  return largest;
}

// Expects the numbers of the CPU from nodes on a device. Uniform numbers, integers and states have the same bits.
// Normal numbers may differ in the last places if programs have computed them.
void ExpectNumbersOfTheCpu(RandomNodes& on_device, bool exactly) {
  RandomNodes on_cpu("/device:CPU:0", on_device.columns);
  for (const Output& n : on_device.numbers) {
    const auto emitter = pjrt::EmitterRegistry::Global().Find(*NodeOf(n));
    ASSERT_TRUE(emitter.ok()) << emitter.status();
    EXPECT_TRUE((*emitter)->draws);
  }
  const std::vector<Tensor> values = on_device.Run(), expected = on_cpu.Run();
  ASSERT_EQ(values.size(), expected.size());
  for (size_t i = 0; i < values.size(); ++i) {
    const Tensor &a = values[i], &b = expected[i];
    ASSERT_EQ(a.dtype(), b.dtype()) << i;
    ASSERT_EQ(a.shape(), b.shape()) << i;
    const size_t node = i % on_device.numbers.size();
    SCOPED_TRACE(StrCat("result ", i, ", ", on_device.numbers[node].op().name(), " ", a.dtype(), a.shape()));
    const bool is_normal = !exactly && node < 9 && node % 3 != 0 && a.dtype() != kInt64;
    if (!is_normal) {
      EXPECT_EQ(std::memcmp(a.raw_data(), b.raw_data(), a.num_bytes()), 0);
    } else if (a.dtype() == kFloat16) {
      EXPECT_LE(LargestDifference<Float16>(a, b, 0x1p-10), 1);
    } else if (a.dtype() == kFloat32) {
      EXPECT_LE(LargestDifference<float>(a, b, 0x1p-23), 4);
    } else {
      EXPECT_LE(LargestDifference<double>(a, b, 0x1p-52), 4);
    }
  }
}

TEST(RandomNumbersTest, AreThoseOfTheCpu) {
  setenv(kHostSubstituteVariable, "never", 1);
  RandomNodes on_device("/device:XLA_CPU:0", 7);
  ExpectNumbersOfTheCpu(on_device, /*exactly=*/false);
  unsetenv(kHostSubstituteVariable);
}

// Steps on the host draw from the streams from which programs draw.
TEST(RandomNumbersTest, AreThoseOfTheCpuWhereverAStepRuns) {
  RandomNodes on_device("/device:XLA_CPU:0", 5);
  ExpectNumbersOfTheCpu(on_device, /*exactly=*/false);
  setenv(kHostSubstituteVariable, "always", 1);
  ExpectNumbersOfTheCpu(on_device, /*exactly=*/true);
  unsetenv(kHostSubstituteVariable);
}

}  // namespace
}  // namespace tensorbraid
