#include "core/values/joined_tensors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "core/memory/allocator.h"

namespace tensorbraid {
namespace {

std::vector<Tensor> SomeTensors() {
  return {Tensor::Vector<int64_t>({1, -2, int64_t{1} << 62}), Tensor::Of<float>({2, 2}, {1.5f, -0.0f, 3, 4}),
          Tensor::Scalar(7.5), Tensor(kFloat32, {0, 16}), Tensor::Vector<bool>({true, false, true})};
}

size_t SizeOf(const JoinedBytes& bytes) {
  size_t size = 0;
  for (const auto& piece : bytes.pieces) size += piece.size();
  return size;
}

// The same bytes in one buffer, cut into pieces of `piece` bytes, as a network delivers them.
JoinedBytes InOneBuffer(const JoinedBytes& bytes, size_t piece) {
  JoinedBytes whole{.owner = AllocateBuffer(SizeOf(bytes)), .pieces = {}};
  auto* out = static_cast<std::byte*>(whole.owner->data());
  for (const auto& from : bytes.pieces) out = std::ranges::copy(from, out).out;
  const std::span<const std::byte> all(static_cast<const std::byte*>(whole.owner->data()), whole.owner->size());
  for (size_t at = 0; at < all.size(); at += piece) {
    whole.pieces.push_back(all.subspan(at, std::min(piece, all.size() - at)));
  }
  return whole;
}

void ExpectEqual(const JoinedTensors& joined, const std::vector<Tensor>& tensors) {
  ASSERT_EQ(joined.size(), tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    const auto taken = joined.Take(static_cast<int64_t>(i));
    ASSERT_TRUE(taken.ok()) << taken.status();
    EXPECT_EQ(taken->dtype(), tensors[i].dtype());
    EXPECT_EQ(taken->shape(), tensors[i].shape());
    if (taken->num_bytes() == 0) continue;
    EXPECT_EQ(std::memcmp(taken->raw_data(), tensors[i].raw_data(), tensors[i].num_bytes()), 0) << i;
  }
}

TEST(JoinedTensorsTest, EachTensorComesOutAsItWas) {
  const std::vector<Tensor> tensors = SomeTensors();
  const JoinedTensors joined(tensors);
  ExpectEqual(joined, tensors);
  const JoinedBytes bytes = joined.Encode().value();
  std::vector<JoinedPart> parts;
  for (const Tensor& tensor : tensors) {
    parts.push_back({.bytes = static_cast<int64_t>(tensor.num_bytes()), .rank = tensor.shape().rank()});
  }
  EXPECT_EQ(BytesOfJoined(parts), static_cast<int64_t>(SizeOf(bytes)));
  EXPECT_TRUE(JoinedTensors::Begins(bytes.pieces[0]));
  ExpectEqual(*JoinedTensors::Decode(bytes).value(), tensors);
  for (const size_t piece : {size_t{1}, size_t{7}, size_t{64}, size_t{100}, size_t{1} << 20}) {
    ExpectEqual(*JoinedTensors::Decode(InOneBuffer(bytes, piece)).value(), tensors);
  }
  const Status beyond = joined.Take(std::ssize(tensors)).status();
  EXPECT_TRUE(absl::IsInvalidArgument(beyond)) << beyond;
  EXPECT_FALSE(joined.Take(-1).ok());
}

TEST(JoinedTensorsTest, ElementsAreNotCopied) {
  const std::vector<Tensor> tensors = SomeTensors();
  const JoinedBytes bytes = JoinedTensors(tensors).Encode().value();
  const auto there = JoinedTensors::Decode(bytes).value();
  EXPECT_EQ(there->Take(1)->raw_data(), tensors[1].raw_data());
  // The bytes may belong to another process, which may change them, so integers are copied.
  EXPECT_NE(there->Take(0)->raw_data(), tensors[0].raw_data());
  const JoinedBytes whole = InOneBuffer(bytes, SizeOf(bytes));
  const auto arrived = JoinedTensors::Decode(whole).value();
  const auto* const begin = static_cast<const char*>(whole.owner->data());
  for (const int64_t i : {0, 1, 2}) {
    const auto* const at = static_cast<const char*>(arrived->Take(i)->raw_data());
    EXPECT_TRUE(at > begin && at < begin + whole.owner->size()) << i;
  }
}

TEST(JoinedTensorsTest, TensorsKeepTheBytesAlive) {
  Tensor taken;
  {
    const JoinedBytes bytes = JoinedTensors(SomeTensors()).Encode().value();
    taken = JoinedTensors::Decode(InOneBuffer(bytes, SizeOf(bytes))).value()->Take(1).value();
  }
  EXPECT_EQ(taken.data<float>()[0], 1.5f);
  EXPECT_FALSE(taken.buffer()->writable());
}

TEST(JoinedTensorsTest, DamagedBytesAreErrorsOrTensorsInsideOfThem) {
  const JoinedBytes bytes = JoinedTensors(SomeTensors()).Encode().value();
  const size_t words = SizeOf(bytes) / sizeof(int64_t);
  std::mt19937_64 random(3);
  int errors = 0;
  for (int round = 0; round < 20000; ++round) {
    const JoinedBytes damaged = InOneBuffer(bytes, 1 + random() % SizeOf(bytes));
    const uint64_t shift = random() % 64;
    const uint64_t word = random() >> shift;
    std::memcpy(static_cast<char*>(damaged.owner->data()) + random() % words * sizeof word, &word, sizeof word);
    const auto joined = JoinedTensors::Decode(damaged);
    if (!joined.ok()) {
      ++errors;
      EXPECT_TRUE(absl::IsInvalidArgument(joined.status())) << joined.status();
      continue;
    }
    for (size_t i = 0; i < (*joined)->size(); ++i) {
      EXPECT_LE((*joined)->Take(static_cast<int64_t>(i)).value().num_bytes(), SizeOf(bytes));
    }
  }
  EXPECT_GT(errors, 100);
  for (const size_t size : {0, 8, 15, 16, 40}) {
    JoinedBytes cut = InOneBuffer(bytes, size == 0 ? 1 : size);
    cut.pieces.resize(size == 0 ? 0 : 1);
    EXPECT_FALSE(JoinedTensors::Decode(cut).ok()) << size;
  }
}

}  // namespace
}  // namespace tensorbraid
