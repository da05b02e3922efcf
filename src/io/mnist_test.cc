#include "tensorbraid/data/mnist.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "io/file_testutil.h"

namespace tensorbraid::data {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Writes `n` training images and 2 test images. Every pixel of image i has the value i, and its label is i % 10.
class MnistTest : public ::testing::Test {
 protected:
  static std::string Images(int n) {
    std::string pixels;
    for (int i = 0; i < n; ++i) pixels.append(Mnist::kPixels, static_cast<char>(i));
    return Idx({static_cast<uint32_t>(n), 28, 28}, pixels);
  }
  static std::string Labels(int n) {
    std::string labels;
    for (int i = 0; i < n; ++i) labels += static_cast<char>(i % 10);
    return Idx({static_cast<uint32_t>(n)}, labels);
  }
  void WriteSet(int n) {
    dir_.Write("train-images-idx3-ubyte.gz", Gzip(Images(n)));
    dir_.Write("train-labels-idx1-ubyte", Labels(n));
    dir_.Write("t10k-images-idx3-ubyte", Images(2));
    dir_.Write("t10k-labels-idx1-ubyte.gz", Gzip(Labels(2)));
  }
  Mnist Load(uint64_t seed = 1) {
    auto mnist = Mnist::Load(dir_.path(), {.seed = seed});
    EXPECT_TRUE(mnist.ok()) << mnist.status();
    return *mnist;
  }
  // The number of the image in each row of a batch.
  static std::vector<int> Ids(const Mnist::Batch& batch) {
    std::vector<int> ids;
    for (int64_t i = 0; i < batch.images.shape().dim(0); ++i) {
      ids.push_back(static_cast<int>(batch.images.data<float>()[static_cast<size_t>(i * Mnist::kPixels)] * 255 + 0.5f));
    }
    return ids;
  }

  TempDir dir_;
};

TEST_F(MnistTest, BatchesHoldScaledImagesWithTheirLabels) {
  WriteSet(200);
  Mnist mnist = Load();
  EXPECT_EQ(mnist.num_train(), 200);
  const Mnist::Batch batch = mnist.NextBatch(7);
  EXPECT_EQ(batch.images.shape(), Shape({7, 784}));
  EXPECT_EQ(batch.images.dtype(), kFloat32);
  EXPECT_EQ(batch.labels.shape(), Shape({7}));
  const std::vector<int> ids = Ids(batch);
  for (size_t i = 0; i < 7; ++i) {
    EXPECT_EQ(batch.labels.data<int64_t>()[i], ids[i] % 10);
    for (size_t p = 0; p < 784; ++p) ASSERT_FLOAT_EQ(batch.images.data<float>()[i * 784 + p], ids[i] / 255.0f);
  }
}

TEST_F(MnistTest, EachExampleComesOncePerEpochAcrossBatches) {
  WriteSet(10);
  Mnist mnist = Load();
  std::map<int, int> seen;
  for (int i = 0; i < 10; ++i) {
    for (int id : Ids(mnist.NextBatch(3))) ++seen[id];
  }
  EXPECT_EQ(mnist.epoch(), 3);
  EXPECT_EQ(seen.size(), 10u);
  for (const auto& [id, count] : seen) EXPECT_EQ(count, 3) << id;
}

TEST_F(MnistTest, BatchMayBeLargerThanTheSet) {
  WriteSet(4);
  EXPECT_EQ(Load().NextBatch(9).labels.num_elements(), 9);
}

TEST_F(MnistTest, SeedDeterminesTheOrder) {
  WriteSet(200);
  Mnist a = Load(1), b = Load(1), c = Load(2);
  const auto order = Ids(a.NextBatch(200));
  EXPECT_EQ(order, Ids(b.NextBatch(200)));
  EXPECT_NE(order, Ids(c.NextBatch(200)));
  EXPECT_NE(order, Ids(a.NextBatch(200))) << "the second epoch has the same order as the first";
  EXPECT_FALSE(std::is_sorted(order.begin(), order.end()));
}

TEST_F(MnistTest, CopiesAreIndependent) {
  WriteSet(200);
  Mnist a = Load();
  Mnist b = a;
  EXPECT_EQ(Ids(a.NextBatch(50)), Ids(b.NextBatch(50)));
}

TEST_F(MnistTest, TestSetKeepsItsOrder) {
  WriteSet(3);
  const Mnist mnist = Load();
  EXPECT_EQ(mnist.test_images().shape(), Shape({2, 784}));
  EXPECT_FLOAT_EQ(mnist.test_images().data<float>()[784], 1 / 255.0f);
  EXPECT_THAT(mnist.test_labels().data<int64_t>(), ElementsAre(0, 1));
}

TEST_F(MnistTest, MissingFileIsNamed) {
  WriteSet(3);
  std::filesystem::remove(dir_.path() + "/t10k-labels-idx1-ubyte.gz");
  const Status status = Mnist::Load(dir_.path()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(status.message(), AllOf(HasSubstr("t10k-labels-idx1-ubyte"), HasSubstr(dir_.path())));
}

TEST_F(MnistTest, InconsistentFilesAreDataLoss) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"train-labels-idx1-ubyte", Labels(2)},
      {"train-labels-idx1-ubyte", Idx({3}, {1, 10, 2})},
      {"train-labels-idx1-ubyte", Images(3)},
      {"t10k-images-idx3-ubyte", Labels(2)},
      {"t10k-images-idx3-ubyte", Idx({2, 2, 2}, "abcdefgh")},
      {"t10k-images-idx3-ubyte", Images(2).substr(0, 1000)},
  };
  for (const auto& [name, bytes] : cases) {
    WriteSet(3);
    dir_.Write(name, bytes);
    const Status status = Mnist::Load(dir_.path()).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << name << " " << status;
    EXPECT_THAT(status.message(), HasSubstr(name));
  }
  WriteSet(0);
  EXPECT_EQ(Mnist::Load(dir_.path()).status().code(), absl::StatusCode::kDataLoss);
}

TEST_F(MnistTest, TheShippedSubsetLoads) {
  auto mnist = Mnist::Load(std::string(TENSORBRAID_EXAMPLE_DATA) + "/mnist");
  ASSERT_TRUE(mnist.ok()) << mnist.status();
  EXPECT_EQ(mnist->num_train(), 10000);
  EXPECT_EQ(mnist->num_test(), 10000);
  std::vector<int> count(10);
  for (int64_t label : mnist->test_labels().data<int64_t>()) ++count[static_cast<size_t>(label)];
  // How often each digit occurs in MNIST's test set.
  EXPECT_THAT(count, ElementsAre(980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009));
}

TEST(OneHot, MarksTheLabelOfEachRow) {
  auto result = OneHot(Tensor::Vector<int64_t>({2, 0}), 3);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->shape(), Shape({2, 3}));
  EXPECT_THAT(result->data<float>(), ElementsAre(0, 0, 1, 1, 0, 0));
}

TEST(OneHot, RefusesInvalidArguments) {
  EXPECT_THAT(OneHot(Tensor::Vector<int64_t>({0, 3}), 3).status().message(), HasSubstr("label 3 at 1"));
  EXPECT_FALSE(OneHot(Tensor::Vector<int64_t>({-1}), 3).ok());
  EXPECT_FALSE(OneHot(Tensor::Vector<int32_t>({1}), 3).ok());
  EXPECT_FALSE(OneHot(Tensor::Scalar<int64_t>(1), 3).ok());
  EXPECT_FALSE(OneHot(Tensor::Vector<int64_t>({}), 0).ok());
}

}  // namespace
}  // namespace tensorbraid::data
