// Tests the public classes Dataset and Iterator in sessions.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tensorbraid/data/dataset.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/image.h"
#include "tensorbraid/ops/math.h"
#include "tensorbraid/session/session.h"

namespace tensorbraid::data {
namespace {

using absl::StatusCode;
using Int64s = std::vector<int64_t>;

Dataset FirstNumbers(Graph& g, int64_t n) { return Dataset::Range(g, 0, n); }
Tensors Twice(const Tensors& e) { return {e[0] * Operand(Tensor::Scalar(int64_t{2}))}; }

// The int64 numbers of tensor `i` of all elements; a batch gives several.
Int64s All(const Dataset& dataset, int i = 0) {
  if (!dataset.valid()) return {};
  Graph& g = *dataset.graph();
  const auto iterator = Iterator::Initializable(dataset);
  const Tensors next = iterator.GetNext();
  EXPECT_TRUE(g.status().ok()) << g.status();
  auto session = Session::Create(g).value();
  const Status began = session->Run({iterator.initializer()}).status();
  EXPECT_TRUE(began.ok()) << began;
  Int64s numbers;
  while (began.ok()) {
    const auto r = session->Run({next[i]});
    if (!r.ok()) {
      EXPECT_EQ(r.status().code(), StatusCode::kOutOfRange) << r.status();
      break;
    }
    for (const int64_t n : (*r)[0].data<int64_t>()) numbers.push_back(n);
  }
  return numbers;
}

class Folder {
 public:
  Folder()
      : path_(testing::TempDir() + testing::UnitTest::GetInstance()->current_test_info()->name() + "_" +
              std::to_string(getpid())) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string Write(const std::string& name, const std::string& content) const {
    const std::string file = path_ + "/" + name;
    std::filesystem::create_directories(std::filesystem::path(file).parent_path());
    std::ofstream(file, std::ios::binary) << content;
    return file;
  }
  const std::string& path() const { return path_; }

 private:
  const std::string path_;
};

TEST(InputPipelineTest, SourcesGiveTheirElements) {
  Graph g;
  const Dataset slices = Dataset::FromTensorSlices(
      g, {Tensor::Of<int64_t>({2, 2}, {1, 2, 3, 4}), Tensor::Vector<std::string>({"a", "b"})});
  ASSERT_EQ(slices.element().size(), 2u);
  EXPECT_EQ(slices.element()[0].shape, Shape({2}));
  EXPECT_EQ(slices.element()[1].dtype, kString);
  EXPECT_EQ(All(slices), (Int64s{1, 2, 3, 4}));
  EXPECT_EQ(All(Dataset::FromTensors(g, {Tensor::Vector<int64_t>({5, 6})})), (Int64s{5, 6}));
  EXPECT_EQ(All(Dataset::Range(g, 2, 9, 3)), (Int64s{2, 5, 8}));
}

TEST(InputPipelineTest, FunctionsOfElements) {
  Graph g;
  const Output added = Operand(Tensor::Scalar<int64_t>(100)).ToOutput(g);
  const Dataset numbers = FirstNumbers(g, 4);
  EXPECT_EQ(All(numbers.Map([&](const Tensors& e) { return Tensors{added + e[0]}; })), (Int64s{100, 101, 102, 103}));
  EXPECT_EQ(All(numbers.ParallelMap(Twice, 3)), (Int64s{0, 2, 4, 6}));
  EXPECT_EQ(All(numbers.Filter([](const Tensors& e) { return Greater(e[0], 1); })), (Int64s{2, 3}));
  const auto up_to = [](const Tensors& e) { return Dataset::Range(*e[0].graph(), 0, e[0]); };
  EXPECT_EQ(All(numbers.FlatMap(up_to)), (Int64s{0, 0, 1, 0, 1, 2}));
  const auto three = [](const Tensors& e) { return Dataset::FromTensors(*e[0].graph(), {e[0]}).Repeat(3); };
  EXPECT_EQ(All(numbers.Interleave(three, {.cycle_length = 2, .block_length = 2})),
            (Int64s{0, 0, 1, 1, 0, 1, 2, 2, 3, 3, 2, 3}));
  EXPECT_EQ(All(numbers.Interleave(three, {.cycle_length = 2, .block_length = 2, .num_parallel_calls = 2})),
            (Int64s{0, 0, 1, 1, 0, 1, 2, 2, 3, 3, 2, 3}));
}

TEST(InputPipelineTest, FunctionsNest) {
  Graph g;
  const Dataset nested = FirstNumbers(g, 3).FlatMap([&](const Tensors& outer) {
    return FirstNumbers(*outer[0].graph(), 2).Map([&](const Tensors& inner) {
      return Tensors{outer[0] * Operand(Tensor::Scalar(int64_t{10})) + inner[0]};
    });
  });
  EXPECT_EQ(All(nested), (Int64s{0, 1, 10, 11, 20, 21}));
}

TEST(InputPipelineTest, AFunctionMayGiveADatasetOfTheOuterGraphAFunctionOfItsOwn) {
  Graph g;
  const Dataset numbers = FirstNumbers(g, 2);
  const Dataset sums = FirstNumbers(g, 3).FlatMap([&](const Tensors& outer) {
    return numbers.Map([&](const Tensors& inner) { return Tensors{outer[0] + inner[0]}; });
  });
  EXPECT_EQ(All(sums), (Int64s{0, 1, 1, 2, 2, 3}));
}

TEST(InputPipelineTest, OrderAndNumberOfElements) {
  Graph g;
  const Dataset numbers = FirstNumbers(g, 5);
  EXPECT_EQ(All(numbers.Skip(1).Take(2).Repeat(2)), (Int64s{1, 2, 1, 2}));
  EXPECT_EQ(All(numbers.Shard(2, 1)), (Int64s{1, 3}));
  EXPECT_EQ(All(numbers.Take(1).Concatenate(numbers.Skip(4))), (Int64s{0, 4}));
  const Dataset zipped = Dataset::Zip({numbers, numbers.Skip(2)});
  EXPECT_EQ(zipped.element().size(), 2u);
  EXPECT_EQ(All(zipped, 1), (Int64s{2, 3, 4}));
  EXPECT_EQ(All(numbers.Cache().Prefetch(2)), (Int64s{0, 1, 2, 3, 4}));
}

TEST(InputPipelineTest, AShuffledOrderIsThatOfTheSeed) {
  // tf.data.Dataset.range(10).shuffle(4, seed=7), seen with TensorFlow 2.21.
  const Int64s wanted = {0, 4, 2, 3, 5, 6, 1, 8, 7, 9};
  for (int i = 0; i < 2; ++i) {
    Graph g;
    EXPECT_EQ(All(FirstNumbers(g, 10).Shuffle(4, {.seed = 7})), wanted);
  }
}

TEST(InputPipelineTest, BatchesAndTheirShapes) {
  Graph g;
  const Dataset numbers = FirstNumbers(g, 5);
  EXPECT_EQ(numbers.Batch(2).element()[0].shape, Shape({-1}));
  EXPECT_EQ(All(numbers.Batch(2)), (Int64s{0, 1, 2, 3, 4}));
  EXPECT_EQ(numbers.Batch(2, true).element()[0].shape, Shape({2}));
  EXPECT_EQ(All(numbers.Batch(2, true)), (Int64s{0, 1, 2, 3}));
  EXPECT_EQ(All(numbers.Batch(2).Unbatch()), (Int64s{0, 1, 2, 3, 4}));
  const Dataset rows = numbers.Map([](const Tensors& e) {
    return Tensors{NodeBuilder(*e[0].graph(), "Fill")
                       .Input(NodeBuilder(*e[0].graph(), "ExpandDims")
                                  .Input(e[0])
                                  .Input(Operand(0).ToOutput(*e[0].graph(), kInt32))
                                  .Output())
                       .Input(e[0])
                       .Output()};
  });
  EXPECT_EQ(All(rows.PaddedBatch(3, {Shape({-1})}, {.padding_values = {-1}})),
            (Int64s{-1, -1, 1, -1, 2, 2, 3, 3, 3, -1, 4, 4, 4, 4}));
  const auto length = [](const Tensors& e) {
    return NodeBuilder(*e[0].graph(), "Size").Input(e[0]).Attr("out_type", kInt64).Output();
  };
  // Lengths below 2: batches of 2; others: batches of 3.
  EXPECT_EQ(All(rows.BucketByLength(length, {2}, {2, 3}, {.padded_shapes = {Shape({-1})}})),
            (Int64s{0, 1, 2, 2, 0, 0, 3, 3, 3, 0, 4, 4, 4, 4}));
}

TEST(InputPipelineTest, FilesAreRead) {
  const Folder folder;
  Graph g;
  const std::string lines = folder.Write("lines", "10\n20\n");
  const auto to_number = [](const Tensors& e) {
    return Tensors{NodeBuilder(*e[0].graph(), "StringToNumber").Input(e[0]).Attr("out_type", kInt64).Output()};
  };
  EXPECT_EQ(All(Dataset::TextLines(g, Tensor::Scalar(lines)).Map(to_number)), (Int64s{10, 20}));
  const std::string records = folder.Write("records", "H123456");
  EXPECT_EQ(All(Dataset::FixedLengthRecords(g, Tensor::Scalar(records), 3, {.header_bytes = 1}).Map(to_number)),
            (Int64s{123, 456}));
  const std::string csv = folder.Write("csv", "x,y\n1,2\n3,\n");
  EXPECT_EQ(All(Dataset::Csv(g, Tensor::Scalar(csv), {Tensor::Scalar(int64_t{0}), Tensor::Scalar(int64_t{7})},
                             {.header = true}),
                1),
            (Int64s{2, 7}));
  const std::string idx = folder.Write("idx", std::string({0, 0, 8, 1, 0, 0, 0, 2, 4, 9}));
  const auto widen = [](const Tensors& e) { return Tensors{Cast(e[0], kInt64)}; };
  EXPECT_EQ(All(Dataset::IdxFiles(g, Tensor::Scalar(idx), {}).Map(widen)), (Int64s{4, 9}));
}

TEST(InputPipelineTest, AFolderOfImagesIsReadWithItsLabels) {
  const Folder folder;
  Graph files;
  // One grey pixel in each image: its value is 10 times the label.
  const std::vector<std::string> classes = {"zero", "one", "two"};
  for (size_t label = 0; label < classes.size(); ++label) {
    const Tensor pixel = Tensor::Of<uint8_t>({1, 1, 1}, {static_cast<uint8_t>(10 * label)});
    const Output png = image::EncodePng(Operand(pixel).ToOutput(files));
    const auto r = Session::Create(files).value()->Run({png});
    ASSERT_TRUE(r.ok()) << r.status();
    folder.Write(classes[label] + "/a.png", (*r)[0].scalar<std::string>());
  }
  Graph g;
  const Dataset images =
      Dataset::FilesOfClasses(g, folder.path(), classes)
          .Shuffle(10, {.seed = 1})
          .ParallelMap(
              [](const Tensors& e) {
                const Output content = NodeBuilder(*e[0].graph(), "ReadFile").Input(e[0]).Output();
                const Output pixels = image::DecodePng(content, {.channels = 1});
                return Tensors{Cast(Reshape(pixels, Shape()), kInt64) - e[1] * Operand(Tensor::Scalar(int64_t{10})),
                               e[1]};
              },
              2);
  EXPECT_EQ(All(images, 0), (Int64s{0, 0, 0}));
  Int64s labels = All(images, 1);
  std::sort(labels.begin(), labels.end());
  EXPECT_EQ(labels, (Int64s{0, 1, 2}));
}

TEST(InputPipelineTest, NoMatchingFileFailsTheStep) {
  const Folder folder;
  Graph g;
  const auto iterator = Iterator::Initializable(Dataset::ListFiles(g, Tensor::Scalar(folder.path() + "/*.none")));
  const Status status = Session::Create(g).value()->Run({iterator.initializer()}).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << status;
  EXPECT_NE(status.message().find("No files matched"), absl::string_view::npos) << status;
}

TEST(InputPipelineTest, AOneShotIteratorNeedsNoInitializer) {
  Graph g;
  const Tensors next = Iterator::OneShot(FirstNumbers(g, 2).Map(Twice)).GetNext();
  ASSERT_TRUE(g.status().ok()) << g.status();
  auto session = Session::Create(g).value();
  for (const int64_t wanted : {0, 2}) EXPECT_EQ((*session->Run({next[0]}))[0].scalar<int64_t>(), wanted);
  EXPECT_EQ(session->Run({next[0]}).status().code(), StatusCode::kOutOfRange);
}

TEST(InputPipelineTest, AOneShotIteratorRefusesPlaceholders) {
  Graph g;
  Iterator::OneShot(Dataset::FromTensors(g, {Placeholder(g, kFloat32, {})}));
  EXPECT_EQ(g.status().code(), StatusCode::kInvalidArgument);
  EXPECT_NE(g.status().message().find("placeholder"), absl::string_view::npos) << g.status();
}

TEST(InputPipelineTest, OneIteratorServesSeveralDatasets) {
  Graph g;
  const Dataset one = FirstNumbers(g, 2), two = FirstNumbers(g, 3).Skip(2);
  const auto iterator = Iterator::FromStructure(g, one.element());
  const Operation begin_one = iterator.MakeInitializer(one), begin_two = iterator.MakeInitializer(two);
  const Tensors next = iterator.GetNext();
  ASSERT_TRUE(g.status().ok()) << g.status();
  auto session = Session::Create(g).value();
  const auto first = [&](const Operation& begin) {
    EXPECT_TRUE(session->Run({begin}).ok());
    return (*session->Run({next[0]}))[0].scalar<int64_t>();
  };
  EXPECT_EQ(first(begin_one), 0);
  EXPECT_EQ(first(begin_two), 2);
  EXPECT_EQ(first(begin_one), 0);
  iterator.MakeInitializer(Dataset::FromTensors(g, {1.0f}));
  EXPECT_NE(g.status().message().find("int64[]"), absl::string_view::npos) << g.status();
}

TEST(InputPipelineTest, AHandleChoosesTheIterator) {
  Graph g;
  const auto one = Iterator::OneShot(FirstNumbers(g, 2)), two = Iterator::OneShot(FirstNumbers(g, 9).Skip(7));
  const Output handle = Placeholder(g, kString, {});
  const Tensors next = Iterator::FromStringHandle(handle, one.element()).GetNext();
  const Output handle_one = one.StringHandle(), handle_two = two.StringHandle();
  ASSERT_TRUE(g.status().ok()) << g.status();
  auto session = Session::Create(g).value();
  const auto handles = session->Run({handle_one, handle_two});
  ASSERT_TRUE(handles.ok()) << handles.status();
  const auto take = [&](int i) {
    const auto r = session->Run({next[0]}, {{handle, (*handles)[i]}});
    EXPECT_TRUE(r.ok()) << r.status();
    return r.ok() ? (*r)[0].scalar<int64_t>() : -1;
  };
  EXPECT_EQ((Int64s{take(0), take(1), take(0), take(1)}), (Int64s{0, 7, 1, 8}));
}

TEST(InputPipelineTest, MistakesNameTheFunctionAndTheElements) {
  const auto message = [](const std::function<void(Graph&)>& build) {
    Graph g;
    build(g);
    EXPECT_EQ(g.status().code(), StatusCode::kInvalidArgument) << g.status();
    return std::string(g.status().message());
  };
  EXPECT_NE(message([](Graph& g) { Dataset::FromTensorSlices(g, {1.0f}); }).find("a scalar has no slices"),
            std::string::npos);
  EXPECT_NE(message([](Graph& g) {
              FirstNumbers(g, 3).Filter([](const Tensors& e) { return e[0]; });
            }).find("must return (bool[]), but returns (int64[])"),
            std::string::npos);
  EXPECT_NE(message([](Graph& g) {
              FirstNumbers(g, 3).Concatenate(Dataset::FromTensors(g, {1.0f}));
            }).find("(int64[]) and (float32[])"),
            std::string::npos);
  EXPECT_NE(message([](Graph& g) {
              FirstNumbers(g, 3).Map([](const Tensors&) { return Tensors{Output()}; });
            }).find("function 'map'"),
            std::string::npos);
}

}  // namespace
}  // namespace tensorbraid::data
