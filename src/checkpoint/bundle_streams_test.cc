#include "checkpoint/bundle_streams.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "checkpoint/bundle_reader.h"
#include "checkpoint/bundle_writer.h"
#include "core/testing/faulty_files.h"
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

TEST_F(BundleStreamsTest, ATensorIsReadInPieces) {
  std::vector<float> many((size_t{9} << 20) / sizeof(float) + 5);  // past the page cache, from an uneven place
  for (size_t i = 0; i < many.size(); ++i) many[i] = static_cast<float>(i % 1013);
  auto streams = BundleStreams::Create(prefix_, 1).value();
  ASSERT_TRUE(streams->Add(0, "before", Tensor::Vector<float>({1, 2, 3})).ok());
  ASSERT_TRUE(Append(*streams, 0, many).ok());
  ASSERT_TRUE(streams->End(0, "many", kFloat32, Shape({static_cast<int64_t>(many.size())})).ok());
  ASSERT_TRUE(streams->Add(0, "empty", Tensor(kFloat32, {0})).ok());
  ASSERT_TRUE(streams->AddAgain("again", "many").ok());
  ASSERT_TRUE(streams->Finish().ok());
  // Reads a tensor in pieces of growing sizes.
  const auto read = [](BundleReader& reader, const std::string& name) -> StatusOr<std::vector<float>> {
    TF_ASSIGN_OR_RETURN(const auto stream, reader.Stream(name));
    std::vector<float> values(stream->left() / sizeof(float));
    size_t at = 0;
    for (size_t piece = 1; stream->left() > 0; piece = piece * 3 + 1) {
      const size_t n = std::min(piece, values.size() - at);
      TF_RETURN_IF_ERROR(stream->Read(n * sizeof(float), values.data() + at));
      at += n;
    }
    return values;
  };
  const auto reader = BundleReader::Open(prefix_).value();
  EXPECT_TRUE(*read(*reader, "many") == many);
  EXPECT_THAT(*read(*reader, "before"), ElementsAre(1, 2, 3));
  EXPECT_THAT(*read(*reader, "empty"), ElementsAre());
  EXPECT_TRUE(absl::IsNotFound(reader->Stream("other").status()));
  EXPECT_TRUE(*reader->ShareBytes("again", "many"));
  EXPECT_FALSE(*reader->ShareBytes("before", "many"));
  // A wrong byte is found at the end.
  const std::string data = BundleDataName(prefix_, 0, 1);
  std::string bytes = ReadWholeFile(data).value();
  bytes[bytes.size() / 2] ^= 4;
  ASSERT_TRUE(WriteFileAtomically(data, bytes).ok());
  const auto damaged = read(*BundleReader::Open(prefix_).value(), "many");
  EXPECT_EQ(damaged.status().code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(damaged.status().message()), HasSubstr("is damaged: tensor 'many' has a wrong checksum"));
  EXPECT_THAT(*read(*BundleReader::Open(prefix_).value(), "before"), ElementsAre(1, 2, 3));
}

TEST_F(BundleStreamsTest, AThreadWritesTheSameBytesAndReportsItsErrors) {
  const std::vector<float> piece(100'003, 1.5f);
  // 20 MB, in two files of several blocks.
  const auto write = [&](const std::string& prefix) -> Status {
    TF_ASSIGN_OR_RETURN(const auto streams, BundleStreams::Create(prefix, 3, /*has_thread=*/true));
    for (int i = 0; i < 25; ++i) {
      TF_RETURN_IF_ERROR(Append(*streams, 0, piece));
      TF_RETURN_IF_ERROR(Append(*streams, 2, piece));
    }
    const Shape shape({25 * static_cast<int64_t>(piece.size())});
    TF_RETURN_IF_ERROR(streams->End(0, "a", kFloat32, shape));
    TF_RETURN_IF_ERROR(streams->End(2, "b", kFloat32, shape));
    TF_RETURN_IF_ERROR(streams->Add(1, "few", Tensor::Vector<float>({1, 2})));
    return streams->Finish();
  };
  ASSERT_TRUE(write(prefix_).ok());
  std::vector<float> all;
  for (int i = 0; i < 25; ++i) all.insert(all.end(), piece.begin(), piece.end());
  EXPECT_TRUE(Read(prefix_, "a") == all);
  EXPECT_TRUE(Read(prefix_, "b") == all);
  EXPECT_THAT(Read(prefix_, "few"), ElementsAre(1, 2));
  // Each change of the file system fails once.
  FaultyFiles files;
  const ScopedEnv env(&files);
  int n = 1;
  for (bool failed = true; failed; ++n) {
    files.FailAt(FaultyFiles::Fault::kIoError, n);
    const Status status = write("/model");
    failed = files.fired();
    files.Repair();
    const bool whole = Read("/model", "a") == all && Read("/model", "b") == all;
    EXPECT_TRUE(whole || !status.ok()) << n;
    if (!whole) {
      EXPECT_TRUE(files.Files().empty()) << n << ": " << files.Files()[0];
    }
  }
  EXPECT_GT(n, 15);
}

}  // namespace
}  // namespace tensorbraid
