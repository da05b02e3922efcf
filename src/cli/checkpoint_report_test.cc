#include "cli/checkpoint_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "checkpoint/bundle_writer.h"
#include "io/file_testutil.h"
#include "tensorbraid/checkpoint/checkpoint.h"

namespace tensorbraid {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class CheckpointReportTest : public testing::Test {
 protected:
  std::string Write(const std::string& name, const std::map<std::string, Tensor>& tensors) {
    const std::string prefix = dir_.path() + "/" + name;
    auto writer = BundleWriter::Create(prefix).value();
    for (const auto& [key, value] : tensors) EXPECT_TRUE(writer->Add(key, value).ok());
    EXPECT_TRUE(writer->Finish().ok());
    return prefix;
  }
  TempDir dir_;
};

TEST_F(CheckpointReportTest, ListsNamesTypesAndSizes) {
  const auto prefix = Write("m", {{"weights", Tensor(DType::kFloat32, Shape({784, 10}))},
                                  {"global_step", Tensor::Scalar(int64_t{7})},
                                  {"words", Tensor::Scalar(std::string("abc"))}});
  EXPECT_EQ(DescribeCheckpoint(prefix).value(), prefix +
                                                    ": 3 tensors, 31.4 kB\n"
                                                    "global_step  int64[]          8 B\n"
                                                    "weights      float32[784,10]  31.4 kB\n"
                                                    "words        string[]         1 string\n");
}

TEST_F(CheckpointReportTest, ShowsTheFirstElementsAndTheRangeOfATensor) {
  const auto prefix = Write("m", {{"w", Tensor::Vector<float>({1, 2, NAN, 6})}});
  // Only two elements are shown. The range and the mean are those of the finite elements.
  EXPECT_THAT(DescribeTensor(prefix, "w", /*max_elements=*/2).value(),
              AllOf(HasSubstr("min 1, max 6, mean 3, 1 elements are NaN or infinite"), HasSubstr("float32[4] [1 2"),
                    Not(HasSubstr("6]"))));
  const Status missing = DescribeTensor(prefix, "v", /*max_elements=*/2).status();
  EXPECT_TRUE(absl::IsNotFound(missing));
  EXPECT_THAT(missing.message(), HasSubstr("has no tensor 'v'"));
}

TEST_F(CheckpointReportTest, ComparesTwoCheckpoints) {
  const auto a = Write("a", {{"same", Tensor::Scalar(1.0f)},
                             {"moved", Tensor::Vector<float>({1, 2, 3})},
                             {"grown", Tensor(DType::kFloat32, Shape({2}))},
                             {"old", Tensor::Scalar(int32_t{1})}});
  const auto b = Write("b", {{"same", Tensor::Scalar(1.0f)},
                             {"moved", Tensor::Vector<float>({1, 2.5, 3.25})},
                             {"grown", Tensor(DType::kFloat32, Shape({4}))},
                             {"young", Tensor::Scalar(int32_t{1})}});
  const auto comparison = CompareCheckpoints(a, b).value();
  EXPECT_FALSE(comparison.equal);
  EXPECT_EQ(comparison.text, "grown: float32[2] in " + a + ", float32[4] in " + b +
                                 "\n"
                                 "moved: 2 of 3 elements differ, by at most 0.5 (element 1: 2 and 2.5)\n"
                                 "old: only in " +
                                 a + "\nyoung: only in " + b + "\n1 tensor is equal, bit for bit\n");
  EXPECT_TRUE(CompareCheckpoints(a, a)->equal);
}

TEST_F(CheckpointReportTest, NaNIsTheLargestDifference) {
  const auto a = Write("a", {{"w", Tensor::Vector<float>({1, 2, 3})}});
  const auto b = Write("b", {{"w", Tensor::Vector<float>({5, NAN, 9})}});
  // The finite differences are 4 and 6, of elements 0 and 2.
  EXPECT_THAT(CompareCheckpoints(a, b)->text, HasSubstr("w: element 1 is 2 in one and nan in the other"));
}

TEST_F(CheckpointReportTest, FindsTheCheckpointThatAUserMeans) {
  const auto prefix = Write("m-1", {{"w", Tensor::Scalar(1.0f)}});
  EXPECT_EQ(ResolveCheckpoint(prefix).value(), prefix);
  EXPECT_EQ(ResolveCheckpoint(prefix + ".index").value(), prefix);
  EXPECT_EQ(ResolveCheckpoint(prefix + ".data-00000-of-00001").value(), prefix);
  const Status unnamed = ResolveCheckpoint(dir_.path()).status();
  EXPECT_TRUE(absl::IsNotFound(unnamed));
  EXPECT_THAT(unnamed.message(), AllOf(HasSubstr("has no file 'checkpoint'"), HasSubstr("has m-1")));
  ASSERT_TRUE(UpdateCheckpointState(dir_.path(), {.model_checkpoint_path = prefix}).ok());
  EXPECT_EQ(ResolveCheckpoint(dir_.path()).value(), prefix);
  const Status wrong = ResolveCheckpoint(dir_.path() + "/m-2").status();
  EXPECT_TRUE(absl::IsNotFound(wrong));
  EXPECT_THAT(wrong.message(), HasSubstr("has m-1"));
}

}  // namespace
}  // namespace tensorbraid
