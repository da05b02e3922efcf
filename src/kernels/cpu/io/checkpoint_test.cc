// Tests the checkpoint ops as nodes of a graph. The tests in src/checkpoint cover the contents of files.
#include "tensorbraid/checkpoint/checkpoint.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "executor/evaluate.h"
#include "io/file_testutil.h"
#include "tensorbraid/graph/graph.h"

namespace tensorbraid {
namespace {

Tensor Strings(const std::vector<std::string>& v) { return Tensor::Vector(v); }

class CheckpointOpsTest : public testing::Test {
 protected:
  Output C(const Tensor& t) { return NodeBuilder(g_, "Const").Attr("value", t).Attr("dtype", t.dtype()).Output(); }
  std::string Path(const std::string& name) const { return dir_.path() + "/" + name; }
  Status Save(const Tensor& prefix, const std::vector<std::string>& names, const std::vector<std::string>& slices,
              const std::vector<Tensor>& tensors) {
    std::vector<Output> outputs;
    std::vector<DType> dtypes;
    for (const Tensor& t : tensors) {
      outputs.push_back(C(t));
      dtypes.push_back(t.dtype());
    }
    const Operation op = NodeBuilder(g_, "SaveV2")
                             .Input(C(prefix))
                             .Input(C(Strings(names)))
                             .Input(C(Strings(slices)))
                             .InputList(outputs)
                             .Attr("dtypes", dtypes)
                             .Finish();
    if (!g_.status().ok()) return g_.status();
    return Evaluate({}, {}, {.targets = {op}}).status();
  }
  Status Save(const std::string& prefix, const std::vector<std::string>& names, const std::vector<std::string>& slices,
              const std::vector<Tensor>& tensors) {
    return Save(Tensor::Scalar(Path(prefix)), names, slices, tensors);
  }
  StatusOr<std::vector<Tensor>> Restore(const std::string& prefix, const std::vector<std::string>& names,
                                        const std::vector<std::string>& slices, const std::vector<DType>& dtypes) {
    const Operation op = NodeBuilder(g_, "RestoreV2")
                             .Input(C(Tensor::Scalar(Path(prefix))))
                             .Input(C(Strings(names)))
                             .Input(C(Strings(slices)))
                             .Attr("dtypes", dtypes)
                             .Finish();
    TF_RETURN_IF_ERROR(g_.status());
    std::vector<Output> outputs;
    for (size_t i = 0; i < dtypes.size(); ++i) outputs.push_back(op.output(static_cast<int>(i)));
    return Evaluate(outputs);
  }
  Status Merge(const std::vector<std::string>& prefixes, const std::string& destination, bool allow_missing = false) {
    std::vector<std::string> paths;
    for (const auto& p : prefixes) paths.push_back(Path(p));
    const Operation op = NodeBuilder(g_, "MergeV2Checkpoints")
                             .Input(C(Strings(paths)))
                             .Input(C(Tensor::Scalar(Path(destination))))
                             .Attr("allow_missing_files", allow_missing)
                             .Finish();
    return Evaluate({}, {}, {.targets = {op}}).status();
  }

  Graph g_;
  TempDir dir_;
};

TEST_F(CheckpointOpsTest, RestoreReturnsSavedTensors) {
  // "4 2 2,2:-" is the part of a [4, 2] matrix that has 2 rows from row 2 on, and all columns.
  ASSERT_TRUE(Save("m", {"b", "a"}, {"", "4 2 2,2:-"},
                   {Tensor::Vector<int64_t>({1, 2}), Tensor::Of<float>({2, 2}, {5, 6, 7, 8})})
                  .ok());
  const auto read = Restore("m", {"a", "b"}, {"4 2 3,1:-", ""}, {kFloat32, kInt64});
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ((*read)[0].shape(), Shape({1, 2}));
  EXPECT_EQ((*read)[0].data<float>()[1], 8.0f);
  EXPECT_EQ((*read)[1].data<int64_t>()[1], 2);
}

TEST_F(CheckpointOpsTest, ErrorsHaveTensorFlowsCodes) {
  const Tensor one = Tensor::Of<float>({2, 2}, {5, 6, 7, 8});
  EXPECT_TRUE(absl::IsNotFound(Save("no/such/m", {"a"}, {""}, {one})));
  EXPECT_TRUE(absl::IsInvalidArgument(Save("m", {"a", "a"}, {"", ""}, {one, one})));
  EXPECT_TRUE(absl::IsInvalidArgument(Save("m", {"a"}, {"x 2 0,2:-"}, {one})));
  EXPECT_TRUE(absl::IsInternal(Save("m", {"a"}, {"4 2 0,2"}, {one})));
  ASSERT_TRUE(Save("m", {"a"}, {""}, {one}).ok());
  EXPECT_TRUE(absl::IsNotFound(Restore("m", {"b"}, {""}, {kFloat32}).status()));
  EXPECT_TRUE(absl::IsNotFound(Restore("none", {"a"}, {""}, {kFloat32}).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(Restore("m", {"a"}, {""}, {kInt32}).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(Restore("m", {"a"}, {"3 2 0,1:-"}, {kFloat32}).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(Merge({"none"}, "merged")));
}

TEST_F(CheckpointOpsTest, MergingRemovesTheDirectoriesOfTheParts) {
  ASSERT_TRUE(Save("temp/part-0", {"a"}, {"2 0,1"}, {Tensor::Vector<float>({1})}).ok());
  ASSERT_TRUE(Save("temp/part-1", {"a"}, {"2 1,1"}, {Tensor::Vector<float>({2})}).ok());
  ASSERT_TRUE(Merge({"temp/part-0", "temp/part-1"}, "m").ok());
  EXPECT_FALSE(std::filesystem::exists(Path("temp")));
  const auto read = Restore("m", {"a"}, {""}, {kFloat32});
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ((*read)[0].data<float>()[1], 2.0f);
}

TEST_F(CheckpointOpsTest, ListsOfTheWrongLengthAreRefusedWhileBuilding) {
  EXPECT_TRUE(absl::IsInvalidArgument(Save("m", {"a"}, {"", ""}, {Tensor::Scalar(1.0f)})));
}

TEST_F(CheckpointOpsTest, ThePrefixMustBeAScalar) {
  EXPECT_TRUE(absl::IsInvalidArgument(Save(Strings({"m"}), {"a"}, {""}, {Tensor::Scalar(1.0f)})));
}

TEST_F(CheckpointOpsTest, ACheckpointWithoutANameIsRefused) {
  for (const std::string& prefix : {std::string(), Path(""), Path("directory/")}) {
    const Status saved = Save(Tensor::Scalar(prefix), {"a"}, {""}, {Tensor::Scalar(1.0f)});
    EXPECT_TRUE(absl::IsInvalidArgument(saved)) << saved;
  }
  const Status restored = Restore("", {"a"}, {""}, {kFloat32}).status();
  EXPECT_TRUE(absl::IsInvalidArgument(restored)) << restored;
  EXPECT_TRUE(std::filesystem::is_empty(dir_.path()));
}

}  // namespace
}  // namespace tensorbraid
