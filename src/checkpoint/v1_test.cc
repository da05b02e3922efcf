#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "checkpoint/checkpoint_testutil.h"
#include "checkpoint/files.h"
#include "checkpoint/v1_checkpoint.h"
#include "core/testing/values_of.h"
#include "core/text/strings.h"
#include "io/file_testutil.h"
#include "tensorbraid/checkpoint/checkpoint.h"

namespace tensorbraid {
namespace {

const std::vector<DType> kDtypes = {
    kFloat16, kFloat32,          kFloat64,          kInt8, kInt16, kInt32, kInt64, kUint8, kUint16,
    kBool,    DType::kComplex64, DType::kComplex128};

TEST(V1Checkpoint, TensorFlowsFilesAreRead) {
  auto reader = V1Reader::Open(kTestdata + "/v1").value();
  for (const DType dtype : kDtypes) {
    const std::string name = "dtypes/" + DTypeName(dtype);
    EXPECT_EQ(reader->Find(name)->dtype, dtype);
    const auto tensor = reader->ReadSlice(name, TensorSlice(2));
    ASSERT_TRUE(tensor.ok()) << tensor.status();
    EXPECT_EQ(tensor->shape(), Shape({2, 3}));
  }
  EXPECT_EQ(ValuesOf<float>(RestoreV1(*reader, "dtypes/float32", "", kFloat32).value()),
            (std::vector<float>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(ValuesOf<std::string>(RestoreV1(*reader, "strings", "", kString).value()),
            (std::vector<std::string>{"a", "", std::string("\0\xff", 2)}));
  EXPECT_EQ(RestoreV1(*reader, "scalar", "", kFloat32)->scalar<float>(), 2.5f);
  auto slices = V1Reader::Open(kTestdata + "/v1_slice?").value();
  EXPECT_EQ(ValuesOf<float>(RestoreV1(*slices, "by_row", "4 3 0,2:1,2", kFloat32).value()),
            (std::vector<float>{1, 2, 4, 5}));
}

TEST(V1Checkpoint, IsReadLikeOneOfVersionTwo) {
  const TempDir dir;
  const std::string path = dir.path() + "/vgg_16.ckpt";
  EXPECT_FALSE(CheckpointExists(path));
  EXPECT_FALSE(CheckpointExists(dir.path())) << "a directory is no checkpoint";
  ASSERT_TRUE(WriteFileAtomically(path, ReadWholeFile(kTestdata + "/v1").value()).ok());
  EXPECT_TRUE(CheckpointExists(path));
  const auto reader = CheckpointReader::Open(path);
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_EQ((*reader)->tensors().size(), kDtypes.size() + 2);
  EXPECT_TRUE((*reader)->HasTensor("scalar"));
  EXPECT_FALSE((*reader)->HasTensor("other"));
  EXPECT_EQ(ValuesOf<float>((*reader)->GetTensor("dtypes/float32").value()), (std::vector<float>{0, 1, 2, 3, 4, 5}));
  EXPECT_TRUE(absl::IsNotFound((*reader)->GetTensor("other").status()));
  ASSERT_TRUE(UpdateCheckpointState(dir.path(), {.model_checkpoint_path = path}).ok());
  EXPECT_EQ(LatestCheckpoint(dir.path() + "/").value(), path);
  EXPECT_TRUE(RemoveCheckpoint(path).ok());
  EXPECT_FALSE(CheckpointExists(path));
}

TEST(V1Checkpoint, OurFilesAreTensorFlowsByteForByte) {
  const TempDir dir;
  auto reader = V1Reader::Open(kTestdata + "/v1").value();
  V1Writer writer(dir.path() + "/v1");
  std::vector<std::string> names = {"strings", "scalar"};
  for (const DType dtype : kDtypes) names.push_back("dtypes/" + DTypeName(dtype));
  for (const std::string& name : names) {
    const V1Reader::Info info = reader->Find(name).value();
    const TensorSlice all(info.shape.rank());
    ASSERT_TRUE(writer.Add(name, info.shape, all, reader->ReadSlice(name, all).value()).ok());
  }
  ASSERT_TRUE(writer.Finish().ok());
  EXPECT_EQ(ReadWholeFile(dir.path() + "/v1").value(), ReadWholeFile(kTestdata + "/v1").value());
  auto again = V1Reader::Open(dir.path() + "/v1").value();
  for (const std::string& name : names) {
    const TensorSlice all(again->Find(name)->shape.rank());
    EXPECT_EQ(again->ReadSlice(name, all)->ToString(), reader->ReadSlice(name, all)->ToString());
  }
}

TEST(V1Checkpoint, InvalidUsesAreErrors) {
  const TempDir dir;
  const Tensor one = Tensor::Of<float>({2, 2}, {1, 2, 3, 4});
  V1Writer writer(dir.path() + "/m");
  EXPECT_TRUE(writer.Add("a", {4, 2}, Slice("0,2:-"), one).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(writer.Add("a", {4, 2}, Slice("1,2:-"), one))) << "overlap";
  EXPECT_TRUE(absl::IsInvalidArgument(writer.Add("a", {5, 2}, Slice("2,2:-"), one))) << "of another full shape";
  EXPECT_TRUE(absl::IsInvalidArgument(writer.Add("", {2, 2}, TensorSlice(2), one)));
  EXPECT_TRUE(absl::IsInvalidArgument(writer.Add("u", {1}, TensorSlice(1), Tensor::Vector<uint64_t>({1}))));
  EXPECT_TRUE(absl::IsUnimplemented(writer.Add("b", {1}, TensorSlice(1), Tensor(kBfloat16, {1}))));
  ASSERT_TRUE(writer.Finish().ok());
  EXPECT_TRUE(absl::IsNotFound(V1Reader::Open(dir.path() + "/none").status()));
  EXPECT_TRUE(absl::IsNotFound(V1Writer(dir.path() + "/no/m").Finish()));
  auto reader = V1Reader::Open(dir.path() + "/m").value();
  EXPECT_TRUE(absl::IsNotFound(RestoreV1(*reader, "b", "", kFloat32).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(RestoreV1(*reader, "a", "", kInt32).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(RestoreV1(*reader, "a", "", kFloat32).status())) << "half of it is missing";
  EXPECT_TRUE(absl::IsInvalidArgument(RestoreV1(*reader, "a", "3 2 0,1:-", kFloat32).status()));
}

TEST(V1Checkpoint, DamagedFilesAreDataLoss) {
  const TempDir dir;
  const std::string good = ReadWholeFile(kTestdata + "/v1").value();
  for (size_t i = 0; i < good.size(); i += 7) {
    std::string bad = good;
    bad[i] ^= 0x20;
    const auto reader = V1Reader::Open(dir.Write("bad", bad));
    const Status status = reader.ok() ? RestoreV1(**reader, "strings", "", kString).status() : reader.status();
    EXPECT_TRUE(status.ok() || absl::IsDataLoss(status)) << status;
  }
  EXPECT_TRUE(absl::IsDataLoss(V1Reader::Open(dir.Write("short", "nothing")).status()));
}

}  // namespace
}  // namespace tensorbraid
