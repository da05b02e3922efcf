// Tests datasets, iterators and variants in sessions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/testing/test_cluster.h"
#include "core/text/strings.h"
#include "graph/model/node.h"
#include "io/file_testutil.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/data_flow.h"
#include "tensorbraid/session/session.h"

namespace tensorbraid {
namespace {

using absl::StatusCode;

const std::vector<DType> kInt64s = {kInt64};

Output Int64(Graph& g, int64_t value) { return Operand(Tensor::Scalar(value)).ToOutput(g); }

// Adds a node of a dataset or iterator op, which has the attributes output_types and output_shapes. The elements are
// int64.
Output DatasetNode(Graph& g, const std::string& op, const std::vector<Output>& inputs,
                   const std::map<std::string, AttrValue>& attrs = {}) {
  NodeBuilder b(g, op);
  for (const Output& o : inputs) b.Input(o);
  b.Attr("output_types", kInt64s).Attr("output_shapes", std::vector<Shape>{Shape::Unknown()});
  for (const auto& [name, value] : attrs) b.Attr(name, value);
  return b.Output();
}

Output Range(Graph& g, int64_t n) { return DatasetNode(g, "RangeDataset", {Int64(g, 0), Int64(g, n), Int64(g, 1)}); }

struct IteratorOps {
  Operation initialize;
  Output next;
};

IteratorOps Iterate(Graph& g, Output dataset) {
  const Output iterator = DatasetNode(g, "IteratorV2", {}, {{"shared_name", ""}, {"container", ""}});
  return {.initialize = NodeBuilder(g, "MakeIterator").Input(dataset).Input(iterator).Finish(),
          .next = DatasetNode(g, "IteratorGetNext", {iterator})};
}

TEST(DatasetTest, ElementsComeInOrderAndTheEndIsOutOfRange) {
  Graph g;
  auto it = Iterate(
      g, DatasetNode(g, "SkipDataset", {DatasetNode(g, "RepeatDataset", {Range(g, 3), Int64(g, 2)}), Int64(g, 1)}));
  auto session = Session::Create(g);
  ASSERT_TRUE(session.ok()) << session.status();
  EXPECT_EQ((*session)->Run({it.next}).status().code(), StatusCode::kFailedPrecondition);
  for (int round = 0; round < 2; ++round) {
    ASSERT_TRUE((*session)->Run({it.initialize}).ok());
    for (const int64_t want : {1, 2, 0, 1, 2}) {
      const auto r = (*session)->Run({it.next});
      ASSERT_TRUE(r.ok()) << r.status();
      EXPECT_EQ((*r)[0].scalar<int64_t>(), want);
    }
    EXPECT_EQ((*session)->Run({it.next}).status().code(), StatusCode::kOutOfRange);
    EXPECT_EQ((*session)->Run({it.next}).status().code(), StatusCode::kOutOfRange);
  }
}

TEST(DatasetTest, ADatabaseIsRefusedWithTheReason) {
  Graph g;
  const Output text = Operand(Tensor::Scalar("sqlite")).ToOutput(g);
  auto it = Iterate(g, DatasetNode(g, "SqlDataset", {text, text, text}));
  const Status status = Session::Create(g).value()->Run({it.initialize}).status();
  EXPECT_EQ(status.code(), StatusCode::kUnimplemented);
  EXPECT_NE(status.message().find("needs a library for databases"), std::string::npos) << status;
}

TEST(DatasetTest, SessionsDoNotShareAnIteratorWithoutASharedName) {
  TestCluster cluster(0, 1);
  Graph g;
  auto it = Iterate(g, Range(g, 3));
  auto one = Session::Create(g, {.target = cluster.worker_target()}).value();
  auto two = Session::Create(g, {.target = cluster.worker_target()}).value();
  ASSERT_TRUE(one->Run({it.initialize}).ok());
  EXPECT_EQ(two->Run({it.next}).status().code(), StatusCode::kFailedPrecondition);
}

TEST(DatasetTest, TooDeeplyNestedDatasetsAreRefused) {
  Graph g;
  Output dataset = Range(g, 3);
  for (int i = 0; i < 5000; ++i) dataset = DatasetNode(g, "TakeDataset", {dataset, Int64(g, -1)});
  auto it = Iterate(g, dataset);
  auto session = Session::Create(g).value();
  EXPECT_EQ(session->Run({it.initialize}).status().code(), StatusCode::kInvalidArgument);
}

// The numbers that an iterator gives until its end, or `most` of them.
std::vector<int64_t> Rest(Session& session, const Output& next, int most = 100) {
  std::vector<int64_t> numbers;
  for (int i = 0; i < most; ++i) {
    const auto r = session.Run({next});
    if (!r.ok()) {
      EXPECT_EQ(r.status().code(), StatusCode::kOutOfRange) << r.status();
      break;
    }
    for (const int64_t n : (*r)[0].data<int64_t>()) numbers.push_back(n);
  }
  return numbers;
}

TEST(DatasetTest, AnIteratorContinuesWhereAnotherOneWasSaved) {
  Graph g;
  const auto shuffled = [&](const Output& input, int64_t size) {
    return DatasetNode(g, "ShuffleDataset", {input, Int64(g, size), Int64(g, 0), Int64(g, 0)});
  };
  const Output no = Operand(Tensor::Scalar(false)).ToOutput(g);
  std::vector<std::function<Output()>> pipelines = {
      [&] { return Range(g, 9); },
      [&] { return shuffled(Range(g, 9), 4); },
      [&] {
        return DatasetNode(g, "RepeatDataset", {shuffled(Range(g, 4), 3), Int64(g, 3)});
      },
      [&] {
        return DatasetNode(g, "PrefetchDataset", {shuffled(Range(g, 9), 4), Int64(g, 3)});
      },
      [&] {
        return DatasetNode(g, "BatchDatasetV2",
                           {DatasetNode(g, "SkipDataset", {Range(g, 11), Int64(g, 1)}), Int64(g, 2), no});
      },
      [&] {
        return DatasetNode(g, "RebatchDataset",
                           {DatasetNode(g, "BatchDatasetV2", {Range(g, 11), Int64(g, 4), no}), Int64(g, 3)});
      },
      [&] {
        return DatasetNode(g, "SleepDataset", {Range(g, 9), Int64(g, 0)});
      },
      [&] {
        return DatasetNode(g, "ConcatenateDataset", {Range(g, 3), Range(g, 5)});
      },
      [&] {
        return DatasetNode(
            g, "RepeatDataset",
            {DatasetNode(g, "CacheDataset", {Range(g, 4), Operand(Tensor::Scalar(std::string())).ToOutput(g)}),
             Int64(g, 2)});
      },
  };
  for (size_t p = 0; p < pipelines.size(); ++p) {
    // Each of the two iterators has its own dataset, with unseeded shuffles. So the second one can give the elements of
    // the first one only if it gets them from the saved state.
    const Output handle = DatasetNode(g, "IteratorV2", {}, {{"shared_name", ""}, {"container", ""}});
    const Operation initialize = NodeBuilder(g, "MakeIterator").Input(pipelines[p]()).Input(handle).Finish();
    const Output next = DatasetNode(g, "IteratorGetNext", {handle});
    const Output other = DatasetNode(g, "IteratorV2", {}, {{"shared_name", ""}, {"container", ""}});
    NodeBuilder(g, "MakeIterator").Input(pipelines[p]()).Input(other).Finish();
    const Output other_next = DatasetNode(g, "IteratorGetNext", {other});
    const Output state = NodeBuilder(g, "SerializeIterator").Input(handle).Output();
    const Operation restore = NodeBuilder(g, "DeserializeIterator").Input(other).Input(state).Finish();
    auto session = Session::Create(g);
    ASSERT_TRUE(session.ok()) << session.status();
    for (const int before : {0, 1, 3, 6}) {
      ASSERT_TRUE((*session)->Run({initialize}).ok());
      Rest(**session, next, before);
      const auto restored = (*session)->Run({restore});
      ASSERT_TRUE(restored.ok()) << restored.status();
      EXPECT_EQ(Rest(**session, other_next), Rest(**session, next)) << "pipeline " << p << " after " << before;
    }
  }
}

TEST(DatasetTest, AStateOfAnotherPipelineIsRefused) {
  Graph g;
  const auto iterate = [&](const Output& dataset, Output* handle) {
    *handle = DatasetNode(g, "IteratorV2", {}, {{"shared_name", ""}, {"container", ""}});
    const Operation initialize = NodeBuilder(g, "MakeIterator").Input(dataset).Input(*handle).Finish();
    return IteratorOps{initialize, DatasetNode(g, "IteratorGetNext", {*handle})};
  };
  Output from, to;
  const IteratorOps one = iterate(Range(g, 5), &from);
  const IteratorOps two = iterate(DatasetNode(g, "TakeDataset", {Range(g, 5), Int64(g, 4)}), &to);
  const Output state = NodeBuilder(g, "SerializeIterator").Input(from).Output();
  const Operation restore = NodeBuilder(g, "DeserializeIterator").Input(to).Input(state).Finish();
  auto session = Session::Create(g).value();
  EXPECT_EQ(session->Run({restore}).status().code(), StatusCode::kFailedPrecondition) << "nothing to save";
  ASSERT_TRUE(session->Run({one.initialize}).ok());
  const Status refused = session->Run({restore}).status();
  EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(refused.message().find("RangeDataset"), std::string::npos) << refused;
  EXPECT_EQ(Rest(*session, two.next), (std::vector<int64_t>{0, 1, 2, 3})) << "the iterator is as it was";
}

// Adds a node of a dataset op whose elements are strings, by default scalars.
Output Strings(Graph& g, const std::string& op, const std::vector<Output>& inputs,
               std::map<std::string, AttrValue> attrs = {}) {
  attrs["output_types"] = std::vector<DType>{kString};
  attrs.try_emplace("output_shapes", std::vector<Shape>{Shape()});
  return DatasetNode(g, op, inputs, attrs);
}

const std::map<std::string, AttrValue> kVectors = {{"output_shapes", std::vector<Shape>{{-1}}}};

TEST(DatasetTest, LinesOfAFileAreShuffledRepeatedPrefetchedAndBatched) {
  const TempDir directory;
  const std::string path = directory.path() + "/lines";
  std::string text;
  std::vector<std::string> expected;
  for (int line = 0; line < 21; ++line) {
    text += StrCat("line ", line, line % 2 == 0 ? ", which is longer than a short string\n" : "\n");
    if (line > 0)
      expected.insert(expected.end(), 2, text.substr(text.rfind("line"), text.size() - text.rfind("line") - 1));
  }
  directory.Write("lines", text);
  Graph g;
  const auto pipeline = [&] {
    const Output empty = Operand(Tensor::Scalar(std::string())).ToOutput(g);
    const Output lines = NodeBuilder(g, "TextLineDataset")
                             .Input(Operand(Tensor::Scalar(path)).ToOutput(g))
                             .Input(empty)
                             .Input(Int64(g, 0))
                             .Output();
    const Output first = Strings(
        g, "ShuffleDataset", {Strings(g, "SkipDataset", {lines, Int64(g, 1)}), Int64(g, 7), Int64(g, 0), Int64(g, 0)});
    const Output twice =
        Strings(g, "PrefetchDataset", {Strings(g, "RepeatDataset", {first, Int64(g, 2)}), Int64(g, 3)});
    return Strings(g, "BatchDatasetV2", {twice, Int64(g, 6), Operand(Tensor::Scalar(false)).ToOutput(g)}, kVectors);
  };
  const auto iterate = [&](const Output& dataset, Output* handle) {
    *handle = Strings(g, "IteratorV2", {}, {{"shared_name", ""}, {"container", ""}, *kVectors.begin()});
    const Operation initialize = NodeBuilder(g, "MakeIterator").Input(dataset).Input(*handle).Finish();
    return IteratorOps{initialize, Strings(g, "IteratorGetNext", {*handle}, kVectors)};
  };
  Output from, to;
  const IteratorOps one = iterate(pipeline(), &from), two = iterate(pipeline(), &to);
  const Output state = NodeBuilder(g, "SerializeIterator").Input(from).Output();
  const Operation restore = NodeBuilder(g, "DeserializeIterator").Input(to).Input(state).Finish();
  auto session = Session::Create(g).value();
  const auto rest = [&](const Output& next, std::vector<std::string> read = {}) {
    for (auto r = session->Run({next}); r.ok(); r = session->Run({next})) {
      for (const std::string& line : (*r)[0].data<std::string>()) read.push_back(line);
    }
    return read;
  };
  ASSERT_TRUE(session->Run({one.initialize}).ok());
  const auto begun = session->Run({one.next});
  ASSERT_TRUE(begun.ok()) << begun.status();
  const std::vector<std::string> begin((*begun)[0].data<std::string>().begin(), (*begun)[0].data<std::string>().end());
  EXPECT_EQ(begin.size(), 6u);
  const auto restored = session->Run({restore});
  ASSERT_TRUE(restored.ok()) << restored.status();
  const auto continued = rest(two.next, begin);
  EXPECT_EQ(rest(one.next, begin), continued);
  EXPECT_THAT(continued, testing::UnorderedElementsAreArray(expected));
}

// A function f(x, queue) that dequeues an element of the queue, and a dataset that maps ten numbers by f. Type 9 is
// int64, type 20 is resource.
constexpr const char* kMapOverQueue = R"(
  library { function { signature { name: 'f' is_stateful: true input_arg { name: 'x' type: 9 }
      input_arg { name: 'queue' type: 20 } output_arg { name: 'y' type: 9 } }
    node_def { name: 'take' op: 'QueueDequeueV2' input: 'queue'
      attr { key: 'component_types' value { list { type: 9 } } } attr { key: 'timeout_ms' value { i: -1 } } }
    ret { key: 'y' value: 'take:components:0' } } }
  node { name: 'queue' op: 'FIFOQueueV2' attr { key: 'component_types' value { list { type: 9 } } }
    attr { key: 'shapes' value { list { shape { } } } } attr { key: 'capacity' value { i: 10 } }
    attr { key: 'container' value { s: '' } } attr { key: 'shared_name' value { s: '' } } }
  node { name: 'start' op: 'Const' attr { key: 'dtype' value { type: 9 } }
    attr { key: 'value' value { tensor { dtype: 9 tensor_shape { } int64_val: 0 } } } }
  node { name: 'stop' op: 'Const' attr { key: 'dtype' value { type: 9 } }
    attr { key: 'value' value { tensor { dtype: 9 tensor_shape { } int64_val: 10 } } } }
  node { name: 'step' op: 'Const' attr { key: 'dtype' value { type: 9 } }
    attr { key: 'value' value { tensor { dtype: 9 tensor_shape { } int64_val: 1 } } } }
  node { name: 'range' op: 'RangeDataset' input: 'start' input: 'stop' input: 'step'
    attr { key: 'output_types' value { list { type: 9 } } } attr { key: 'output_shapes' value { list { shape { } } } } }
  node { name: 'map' op: 'MapDataset' input: 'range' input: 'queue' attr { key: 'f' value { func { name: 'f' } } }
    attr { key: 'Targuments' value { list { type: 20 } } }
    attr { key: 'output_types' value { list { type: 9 } } } attr { key: 'output_shapes' value { list { shape { } } } } }
)";

TEST(DatasetTest, AStepStopsWaitingForAnElementAtItsDeadline) {
  for (const bool prefetch : {false, true}) {
    Graph g;
    const Status imported = g.ImportGraphDefText(kMapOverQueue);
    ASSERT_TRUE(imported.ok()) << imported;
    Output dataset = g.FindOutput("map:0").value();
    if (prefetch) dataset = DatasetNode(g, "PrefetchDataset", {dataset, Int64(g, 2)});
    auto it = Iterate(g, dataset);
    const Operation put =
        NodeBuilder(g, "QueueEnqueueV2").Input(g.FindOutput("queue:0").value()).InputList({Int64(g, 42)}).Finish();
    auto session = Session::Create(g);
    ASSERT_TRUE(session.ok()) << session.status();
    ASSERT_TRUE((*session)->Run({it.initialize}).ok());
    const auto late = (*session)->Run({it.next}, {}, {.timeout = std::chrono::milliseconds(50)});
    EXPECT_EQ(late.status().code(), StatusCode::kDeadlineExceeded) << late.status();
    ASSERT_TRUE((*session)->Run({put}).ok());
    const auto r = (*session)->Run({it.next}, {}, {.timeout = std::chrono::seconds(30)});
    ASSERT_TRUE(r.ok()) << r.status();
    EXPECT_EQ((*r)[0].scalar<int64_t>(), 42);
  }  // the destructor of the session must also return if a prefetch still waits, although no step does
}

TEST(DatasetTest, AFunctionIsSentToTheTaskThatRunsIt) {
  TestCluster cluster(1, 1);
  Graph g;
  const Status imported = g.ImportGraphDefText(kMapOverQueue);
  ASSERT_TRUE(imported.ok()) << imported;
  for (const Operation& op : g.operations()) NodeOf(op)->set_device("/job:ps/task:0");
  auto device = g.Device("/job:ps/task:0");
  auto it = Iterate(g, g.FindOutput("map:0").value());
  const Operation put =
      NodeBuilder(g, "QueueEnqueueV2").Input(g.FindOutput("queue:0").value()).InputList({Int64(g, 7)}).Finish();
  auto session = Session::Create(g, {.target = cluster.worker_target()}).value();
  ASSERT_TRUE(session->Run({it.initialize}).ok());
  ASSERT_TRUE(session->Run({put}).ok());
  const auto r = session->Run({it.next});
  ASSERT_TRUE(r.ok()) << r.status();
  EXPECT_EQ((*r)[0].scalar<int64_t>(), 7);
}

TEST(VariantTest, ListsGrowShrinkAndCrossTasks) {
  TestCluster cluster(1, 1);
  Graph g;
  const auto i32 = [&](std::vector<int32_t> v) { return Operand(Tensor::Vector(v)).ToOutput(g); };
  Output list;
  {
    auto device = g.Device("/job:ps/task:0");
    list = NodeBuilder(g, "EmptyTensorList")
               .Input(i32({2}))
               .Input(Operand(Tensor::Scalar(int32_t{-1})).ToOutput(g))
               .Attr("element_dtype", kFloat32)
               .Output();
    for (float f : {1.0f, 2.0f}) {
      list = NodeBuilder(g, "TensorListPushBack")
                 .Input(list)
                 .Input(Operand(Tensor::Vector<float>({f, -f})).ToOutput(g))
                 .Output();
    }
  }
  Output stacked, popped;
  {
    auto device = g.Device("/job:worker/task:0");
    stacked = NodeBuilder(g, "TensorListStack").Input(list).Input(i32({2})).Attr("element_dtype", kFloat32).Output();
    popped = NodeBuilder(g, "TensorListPopBack")
                 .Input(list)
                 .Input(i32({2}))
                 .Attr("element_dtype", kFloat32)
                 .Finish()
                 .output(1);
  }
  auto session = Session::Create(g, {.target = cluster.worker_target()}).value();
  const auto r = session->Run({stacked, popped});
  ASSERT_TRUE(r.ok()) << r.status();
  EXPECT_EQ((*r)[0].shape(), Shape({2, 2}));
  EXPECT_EQ((*r)[0].data<float>()[3], -2.0f);
  EXPECT_EQ((*r)[1].data<float>()[0], 2.0f);
}

}  // namespace
}  // namespace tensorbraid
