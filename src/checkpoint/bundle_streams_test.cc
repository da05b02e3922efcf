#include "checkpoint/bundle_streams.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "checkpoint/bundle_reader.h"
#include "checkpoint/bundle_writer.h"
#include "io/file_testutil.h"

namespace tensorbraid {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class BundleStreamsTest : public testing::Test {
 protected:
  static Status Append(BundleStreams& streams, int file, const std::vector<float>& values) {
    return streams.Append(file, {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)});
  }
  static std::vector<float> Read(const std::string& prefix, const std::string& name) {
    const auto reader = BundleReader::Open(prefix);
    if (!reader.ok()) return {-1};
    const auto tensor = (*reader)->Read(name);
    if (!tensor.ok()) return {-2};
    return {tensor->data<float>().begin(), tensor->data<float>().end()};
  }
  TempDir dir_;
  const std::string prefix_ = dir_.path() + "/model";
};

TEST_F(BundleStreamsTest, TensorsGrowAtTheSameTime) {
  auto streams = BundleStreams::Create(prefix_, 3).value();
  for (float i = 0; i < 3; ++i) {
    ASSERT_TRUE(Append(*streams, 0, {i}).ok());
    ASSERT_TRUE(Append(*streams, 1, {i, i + 10}).ok());
  }
  ASSERT_TRUE(streams->End(1, "wide", kFloat32, Shape({3, 2})).ok());
  ASSERT_TRUE(streams->End(0, "narrow", kFloat32, Shape({3})).ok());
  ASSERT_TRUE(streams->Add(1, "small", Tensor::Vector<float>({7})).ok());
  ASSERT_TRUE(streams->AddAgain("again", "wide").ok());
  ASSERT_TRUE(streams->End(2, "empty", kFloat32, Shape({0, 4})).ok());
  EXPECT_FALSE(BundleReader::Open(prefix_).ok());
  ASSERT_TRUE(streams->Finish().ok());
  EXPECT_THAT(Read(prefix_, "wide"), ElementsAre(0, 10, 1, 11, 2, 12));
  EXPECT_THAT(Read(prefix_, "again"), ElementsAre(0, 10, 1, 11, 2, 12));
  EXPECT_THAT(Read(prefix_, "narrow"), ElementsAre(0, 1, 2));
  EXPECT_THAT(Read(prefix_, "small"), ElementsAre(7));
  EXPECT_THAT(Read(prefix_, "empty"), ElementsAre());
  EXPECT_EQ(BundleReader::Open(prefix_).value()->Find("wide")->shape, Shape({3, 2}));
  // It can be merged with others.
  auto other = BundleWriter::Create(dir_.path() + "/other").value();
  ASSERT_TRUE(other->Add("whole", Tensor::Vector<float>({1})).ok());
  ASSERT_TRUE(other->Finish().ok());
  ASSERT_TRUE(MergeBundles({dir_.path() + "/other", prefix_}, dir_.path() + "/merged").ok());
  EXPECT_THAT(Read(dir_.path() + "/merged", "again"), ElementsAre(0, 10, 1, 11, 2, 12));
  EXPECT_THAT(Read(dir_.path() + "/merged", "whole"), ElementsAre(1));
}

TEST_F(BundleStreamsTest, TensorsWithFewBytesShareAFile) {
  for (const bool large : {false, true}) {
    auto streams = BundleStreams::Create(prefix_, 4).value();
    std::vector<float> many(size_t{1} << 18, 7);
    ASSERT_TRUE(Append(*streams, 0, {1, 2}).ok());
    if (large) {
      ASSERT_TRUE(Append(*streams, 1, many).ok());
    }
    ASSERT_TRUE(Append(*streams, 1, {3}).ok());
    ASSERT_TRUE(Append(*streams, 3, {4, 5}).ok());
    many.push_back(3);
    const int64_t size = large ? static_cast<int64_t>(many.size()) : 1;
    ASSERT_TRUE(streams->End(0, "a", kFloat32, Shape({2})).ok());
    ASSERT_TRUE(streams->End(1, "b", kFloat32, Shape({size})).ok());
    ASSERT_TRUE(streams->End(2, "c", kFloat32, Shape({0})).ok());
    ASSERT_TRUE(streams->End(3, "d", kFloat32, Shape({2})).ok());
    ASSERT_TRUE(streams->Add(3, "e", Tensor::Vector<float>({6})).ok());
    ASSERT_TRUE(streams->Finish().ok());
    EXPECT_THAT(Read(prefix_, "a"), ElementsAre(1, 2));
    EXPECT_EQ(Read(prefix_, "b"), large ? many : std::vector<float>{3});
    EXPECT_THAT(Read(prefix_, "c"), ElementsAre());
    EXPECT_THAT(Read(prefix_, "d"), ElementsAre(4, 5));
    EXPECT_THAT(Read(prefix_, "e"), ElementsAre(6));
  }
  // The second one has a file more, so that the first one was whole until the end.
  EXPECT_EQ(MatchingPaths(prefix_ + ".data*")->size(), 2u);
}

TEST_F(BundleStreamsTest, MistakesLeaveNoFile) {
  {
    auto streams = BundleStreams::Create(prefix_, 1).value();
    ASSERT_TRUE(Append(*streams, 0, {1, 2}).ok());
    EXPECT_THAT(std::string(streams->End(0, "t", kFloat32, Shape({3})).message()), HasSubstr("8 bytes were written"));
    ASSERT_TRUE(streams->End(0, "t", kFloat32, Shape({2})).ok());
    EXPECT_THAT(std::string(streams->Add(0, "t", Tensor::Scalar(1.0f)).message()), HasSubstr("already has"));
    EXPECT_TRUE(absl::IsNotFound(streams->AddAgain("u", "v")));
  }
  EXPECT_TRUE(MatchingPaths(dir_.path() + "/*")->empty());
}

}  // namespace
}  // namespace tensorbraid
