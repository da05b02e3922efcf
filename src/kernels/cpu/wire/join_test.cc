#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "core/text/strings.h"
#include "kernels/cpu/wire/joined_tensors.h"
#include "tensorbraid/tensorbraid.h"

namespace tensorbraid::cpu {
namespace {

// The result of a _JoinTensors.
Tensor Join(const std::vector<Tensor>& tensors) {
  Graph g;
  std::vector<Output> inputs;
  for (const Tensor& tensor : tensors) inputs.push_back(Const(g, tensor));
  const Output joined = NodeBuilder(g, "_JoinTensors").InputList(inputs).Output();
  EXPECT_TRUE(g.status().ok()) << g.status();
  return Session::Create(g).value()->Run({joined}).value()[0];
}

std::vector<Tensor> SomeTensors() {
  return {Tensor::Vector<int64_t>({1, -2, int64_t{1} << 62}), Tensor::Of<float>({2, 2}, {1.5f, -0.0f, 3, 4}),
          Tensor::Scalar(7.5), Tensor(kFloat32, {0, 16}), Tensor::Vector<bool>({true, false, true})};
}

TEST(JoinedTensorsTest, EachTensorComesOutAsItWas) {
  const std::vector<Tensor> tensors = SomeTensors();
  const Tensor joined = Join(tensors);
  EXPECT_EQ(joined.num_bytes() % kTensorAlignment, 0u);
  std::vector<JoinedPart> parts;
  for (const Tensor& tensor : tensors) {
    parts.push_back({.bytes = static_cast<int64_t>(tensor.num_bytes()), .rank = tensor.shape().rank()});
  }
  EXPECT_EQ(JoinedBytes(parts), static_cast<int64_t>(joined.num_bytes()));
  for (size_t i = 0; i < tensors.size(); ++i) {
    const auto taken = TakeJoined(joined, static_cast<int64_t>(i));
    ASSERT_TRUE(taken.ok()) << taken.status();
    EXPECT_EQ(taken->dtype(), tensors[i].dtype());
    EXPECT_EQ(taken->shape(), tensors[i].shape());
    EXPECT_EQ(std::memcmp(taken->raw_data(), tensors[i].raw_data(), tensors[i].num_bytes()), 0) << i;
  }
  EXPECT_EQ(TakeJoined(joined, 1)->buffer().get(), joined.buffer().get()) << "floats are not copied";
  const Status beyond = TakeJoined(joined, std::ssize(tensors)).status();
  EXPECT_TRUE(absl::IsInvalidArgument(beyond)) << beyond;
}

TEST(JoinedTensorsTest, DamagedBytesAreErrorsOrTensorsInsideOfThem) {
  const Tensor joined = Join(SomeTensors());
  const auto words = static_cast<int64_t>(joined.num_bytes() / sizeof(int64_t));
  std::mt19937_64 random(3);
  int errors = 0;
  for (int round = 0; round < 20000; ++round) {
    Tensor damaged(kFloat32, joined.shape());
    auto* const bytes = reinterpret_cast<char*>(damaged.inplace_data<float>().data());
    std::memcpy(bytes, joined.raw_data(), joined.num_bytes());
    const auto at = static_cast<int64_t>(random() % static_cast<uint64_t>(words)) * 8;
    const uint64_t shift = random() % 64;
    const uint64_t word = random() >> shift;
    std::memcpy(bytes + at, &word, sizeof word);
    const auto taken = TakeJoined(damaged, static_cast<int64_t>(random() % 6));
    if (!taken.ok()) {
      ++errors;
      EXPECT_TRUE(absl::IsInvalidArgument(taken.status())) << taken.status();
      continue;
    }
    EXPECT_LE(taken->num_bytes(), joined.num_bytes());
  }
  EXPECT_GT(errors, 100);
  EXPECT_FALSE(TakeJoined(Tensor(kFloat32, {0}), 0).ok());
  EXPECT_FALSE(TakeJoined(Tensor(kFloat32, {2, 8}), 0).ok());
}

}  // namespace
}  // namespace tensorbraid::cpu
