#include "tensorbraid/graph/graph.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "core/memory/allocator.h"
#include "core/text/strings.h"
#include "core/values/repeated_tensor.h"
#include "graph/format/graph.pb.h"
#include "graph/format/tensor_proto.h"
#include "graph/model/graph_impl.h"
#include "graph/model/node.h"
#include "graph/model/subgraph.h"
#include "tensorbraid/graph/variable.h"
#include "tensorbraid/ops/array.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {
namespace {

using absl::StatusCode;

bool Contains(const Status& s, std::string_view text) {
  return std::string(s.message()).find(text) != std::string::npos;
}

TEST(GraphTest, NamesAreMadeUniqueAsInTensorFlow) {
  Graph g;
  EXPECT_EQ(NoOp(g, "a").name(), "a");
  EXPECT_EQ(NoOp(g, "a").name(), "a_1");
  EXPECT_EQ(NoOp(g, "A").name(), "A_2");  // names that differ only in case count as equal
  {
    auto scope = g.NameScope("tower");
    EXPECT_EQ(NoOp(g, "a").name(), "tower/a");
    auto inner = g.NameScope("inner");
    EXPECT_EQ(NoOp(g, "a").name(), "tower/inner/a");
  }
  {
    auto scope = g.NameScope("tower");
    EXPECT_EQ(NoOp(g, "a").name(), "tower_1/a");
  }
  auto again = g.NameScope("tower/");
  EXPECT_EQ(NoOp(g, "b").name(), "tower/b");
}

TEST(GraphTest, AnAttributeWithoutAValueIsRefusedAndNamed) {
  Graph g;
  NodeBuilder(g, "Const").Attr("value", Tensor::Scalar(1.0f)).Attr("dtype", AttrValue()).Finish();
  EXPECT_TRUE(Contains(g.status(), "attribute 'dtype' must be a type, but has no value")) << g.status();
}

TEST(GraphTest, MessagesShowListsOfAttributes) {
  EXPECT_EQ(AttrValue(std::vector<int64_t>{1, 0, -1, 1}).ToString(), "[1, 0, -1, 1]");
  EXPECT_EQ(AttrValue(std::vector<int64_t>(100, 7)).ToString(), "[7, 7, 7, 7, 7, 7, 7, 7, ... (100 in all)]");
  EXPECT_EQ(AttrValue(std::vector<std::string>{"a", "b"}).ToString(), "['a', 'b']");
  EXPECT_EQ(AttrValue(std::vector<bool>{true, false}).ToString(), "[true, false]");
  EXPECT_EQ(AttrValue(std::vector<Shape>{{2, -1}, Shape::Unknown()}).ToString(), "[[2,?], <unknown>]");
  EXPECT_EQ(AttrValue(std::vector<DType>()).ToString(), "[]");
  Graph g;
  const Output x = Placeholder(g, kFloat32, {1, 4, 4, 1}), f = Placeholder(g, kFloat32, {2, 2, 1, 1});
  NodeBuilder(g, "Conv2D")
      .Input(x)
      .Input(f)
      .Attr("strides", std::vector<int64_t>{1, 0, 0, 1})
      .Attr("padding", "SAME")
      .Finish();
  EXPECT_TRUE(Contains(g.status(), "'strides' must be positive, got [1, 0, 0, 1]")) << g.status();
}

TEST(GraphTest, NodesWithStateAreInTheContainerOfTheInnermostScope) {
  Graph g;
  const auto container = [&g](const char* name, const char* own = nullptr) {
    NodeBuilder builder(g, "VarHandleOp");
    builder.Name(name).Attr("dtype", kFloat32).Attr("shape", Shape({}));
    if (own != nullptr) builder.Attr("container", std::string(own));
    return NodeOf(builder.Finish())->attr<std::string>("container");
  };
  EXPECT_EQ(container("before"), "");
  {
    auto outer = g.Container("outer");
    EXPECT_EQ(container("a"), "outer");
    EXPECT_EQ(container("b", "own"), "own");
    EXPECT_EQ(container("c", ""), "outer");
    {
      auto inner = g.Container("");
      EXPECT_EQ(container("d"), "");
    }
    EXPECT_EQ(container("e"), "outer");
    EXPECT_TRUE(Const(g, Tensor::Scalar(1.0F)).valid()) << "an op without a container";
  }
  EXPECT_EQ(container("after"), "");
  EXPECT_TRUE(g.status().ok()) << g.status();
}

TEST(GraphTest, DeviceScopesMergePartByPart) {
  Graph g;
  auto job = g.Device("/job:ps/task:1");
  EXPECT_EQ(NoOp(g).device(), "/job:ps/task:1");
  {
    auto cpu = g.Device("/device:CPU:2");
    EXPECT_EQ(NoOp(g).device(), "/job:ps/task:1/device:CPU:2");
    auto task = g.Device("/task:0");
    EXPECT_EQ(NoOp(g).device(), "/job:ps/task:0/device:CPU:2");
    auto none = g.NoDevice();
    EXPECT_EQ(NoOp(g).device(), "");
  }
  EXPECT_EQ(NoOp(g).device(), "/job:ps/task:1");
}

TEST(GraphTest, DeviceFunctionsAreCalledForEachNodeAndSeeInnerScopes) {
  Graph g;
  std::vector<std::string> seen;
  auto device = g.Device([&](const Operation& op) {
    seen.push_back(op.type() + op.device());
    return std::string("/job:worker/device:CPU:0");
  });
  auto inner = g.Device("/device:CPU:1");
  EXPECT_EQ(NoOp(g).device(), "/job:worker/device:CPU:1");
  EXPECT_EQ(seen, std::vector<std::string>{"NoOp/device:CPU:1"});
}

TEST(GraphTest, ControlScopesAddEdgesAndAnEmptyScopeDropsThem) {
  Graph g;
  const Operation a = NoOp(g, "a");
  auto control = g.ControlDependencies({a});
  const Operation b = NoOp(g, "b");
  ASSERT_EQ(NodeOf(b)->control_inputs().size(), 1u);
  auto none = g.ControlDependencies(std::vector<Operation>{});
  EXPECT_TRUE(NodeOf(NoOp(g, "c"))->control_inputs().empty());
}

TEST(GraphTest, TheFirstErrorIsKeptWithOpShapesAndLocation) {
  Graph g;
  auto a = Placeholder(g, kFloat32, {2, 3}, "a");
  auto b = Placeholder(g, kFloat32, {4, 5}, "b");
  auto bad = MatMul(a, b);
  EXPECT_FALSE(bad.valid());
  auto worse = bad + 1.0;  // invalid without a new error
  EXPECT_FALSE(worse.valid());
  EXPECT_EQ(g.status().code(), absl::StatusCode::kInvalidArgument);
  for (const char* part : {"MatMul", "[2,3]", "[4,5]", "graph_test.cc:"}) {
    EXPECT_TRUE(Contains(g.status(), part)) << part << " in " << g.status();
  }
}

TEST(GraphTest, NodesAndErrorsNameTheLineOfALocationScope) {
  Graph g;
  Output x;
  {
    const ScopeGuard at = g.Location(std::string("scripts/") + "train.py", 7);
    const ScopeGuard inner = g.Location("library.py", 1);  // has no effect: the user's line is the outer one
    x = Placeholder(g, kFloat32, {2, 3}, "x");
    MatMul(x, x);
  }
  EXPECT_EQ(NodeOf(x)->location(), "train.py:7");
  EXPECT_TRUE(Contains(g.status(), "MatMul 'MatMul' (train.py:7)")) << g.status();
  EXPECT_TRUE(NodeOf(x + 1.0f)->location().starts_with("graph_test.cc:"));
}

TEST(GraphTest, BuildingGoesOnAfterAnErrorThatWasTaken) {
  Graph g;
  const Output x = Placeholder(g, kFloat32, {2, 3}, "x");
  MatMul(x, x);
  EXPECT_EQ(g.TakeStatus().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(g.status().ok());
  EXPECT_TRUE(g.TakeStatus().ok());
  EXPECT_TRUE((x + 1.0f).valid());
}

TEST(GraphTest, TellsTheOpenNameScope) {
  Graph g;
  EXPECT_EQ(g.name_scope(), "");
  const ScopeGuard outer = g.NameScope("tower");
  const ScopeGuard inner = g.NameScope("conv");
  EXPECT_EQ(g.name_scope(), "tower/conv");
}

TEST(GraphTest, ErrorsInOpsAndInputsSuggestTheLikelyFixOrNameTheConflict) {
  {
    Graph g;
    NodeBuilder(g, "MatMull").Finish();
    EXPECT_TRUE(Contains(g.status(), "did you mean 'MatMul'")) << g.status();
  }
  {
    Graph g;
    auto a = Placeholder(g, kFloat32, {2, 2});
    NodeBuilder(g, "MatMul").Input(a).Input(a).Attr("transpose_x", true).Finish();
    EXPECT_TRUE(Contains(g.status(), "did you mean 'transpose_a'")) << g.status();
  }
  {
    Graph g;
    auto a = Placeholder(g, kFloat32, {2});
    auto b = Placeholder(g, kFloat64, {2});
    (void)(a + b);
    EXPECT_TRUE(Contains(g.status(), "float64") && Contains(g.status(), "float32")) << g.status();
  }
  {
    Graph g, other;
    auto a = Placeholder(g, kFloat32, {2});
    auto b = Placeholder(other, kFloat32, {2});
    (void)(a + b);
    EXPECT_TRUE(Contains(g.status(), "another graph")) << g.status();
  }
}

TEST(GraphTest, AFinalizedGraphHasNoFurtherGradients) {
  Graph g;
  const Output x = Placeholder(g, kFloat32, {}, "x");
  const Output y = Square(x);
  g.Finalize("it was taken over by the test");
  const auto gradients = Gradients({y}, {x});
  EXPECT_TRUE(absl::IsFailedPrecondition(gradients.status())) << gradients.status();
}

TEST(GraphTest, AFinalizedGraphRefusesNodesAndGivesTheReason) {
  Graph g;
  g.Finalize("it was taken over by the test");
  EXPECT_FALSE(NoOp(g).valid());
  EXPECT_TRUE(Contains(g.status(), "taken over by the test"));
  const Status imported = g.ImportGraphDefText("node { name: 'a' op: 'NoOp' }");
  EXPECT_TRUE(absl::IsFailedPrecondition(imported) && Contains(imported, "taken over by the test")) << imported;
}

TEST(GraphTest, NumbersTakeTheDtypeOfTheOtherOperand) {
  Graph g;
  auto x = Placeholder(g, kFloat64, {2});
  EXPECT_EQ((2 * x).dtype(), kFloat64);
  auto i = Placeholder(g, kInt64, {2});
  EXPECT_EQ((i + 1).dtype(), kInt64);
  EXPECT_TRUE(g.status().ok()) << g.status();
  (void)(i + 1.5);
  EXPECT_EQ(g.status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(GraphTest, ANumberThatDoesNotFitTheOtherOperandsDtypeIsAnError) {
  const auto mistake = [](DType dtype, const auto& number) {
    Graph g;
    const Output y = Placeholder(g, dtype, {}, "x") * number;
    EXPECT_EQ(y.valid(), g.status().ok());
    return g.status();
  };
  EXPECT_TRUE(mistake(kInt32, 2147483647).ok());
  EXPECT_TRUE(mistake(kInt8, -128).ok());
  EXPECT_TRUE(mistake(kUint64, ~uint64_t{0}).ok());
  EXPECT_TRUE(mistake(kFloat32, 16777217).ok()) << "is rounded";
  const Status wraps = mistake(kInt32, 3000000000);
  EXPECT_EQ(wraps.code(), StatusCode::kInvalidArgument) << wraps;
  for (const char* part : {"Mul: the number 3000000000 ", "graph_test.cc:", "does not fit int32", "2147483647"}) {
    EXPECT_TRUE(Contains(wraps, part)) << part << " in " << wraps;
  }
  EXPECT_TRUE(Contains(mistake(kInt8, 300), "300"));
  EXPECT_TRUE(Contains(mistake(kUint8, -1), "-1"));
  EXPECT_TRUE(Contains(mistake(kInt64, ~uint64_t{0}), "18446744073709551615"));
  EXPECT_TRUE(Contains(mistake(kInt64, 1.5), "1.5"));
  EXPECT_TRUE(Contains(mistake(kFloat16, 1e6), "infinite"));
  EXPECT_TRUE(Contains(mistake(kFloat32, 1e300), "infinite"));
  EXPECT_TRUE(Contains(mistake(kBool, 2), "bool"));
}

TEST(GraphTest, UsingAnInvalidHandleIsAnErrorThatNamesTheOp) {
  const auto expect_mistake = [](const Graph& g, const std::string& op) {
    EXPECT_EQ(g.status().code(), StatusCode::kInvalidArgument) << op;
    EXPECT_TRUE(Contains(g.status(), op)) << g.status();
    EXPECT_TRUE(Contains(g.status(), "not valid")) << g.status();
  };
  {
    Graph g;
    EXPECT_FALSE((Placeholder(g, kFloat32, {}, "x") + Variable{}).valid());
    expect_mistake(g, "AddV2");
    EXPECT_TRUE(Contains(g.status(), "graph_test.cc:")) << g.status();
  }
  {
    Graph g;
    const Output nowhere = Square(Output{});
    EXPECT_FALSE(nowhere.valid());
    EXPECT_FALSE(MatMul(Placeholder(g, kFloat32, {2, 2}, "x"), nowhere).valid());
    expect_mistake(g, "MatMul");
  }
  {
    Graph g;
    EXPECT_FALSE(Group(g, {NoOp(g), Operation{}}, "both").valid());
    expect_mistake(g, "both");
  }
  {
    Graph g;
    NodeBuilder(g, "NoOp").Name("after").Control(Operation{}).Finish();
    expect_mistake(g, "after");
  }
  {
    Graph g;
    auto after = g.ControlDependencies({Operation{}});
    expect_mistake(g, "ControlDependencies");
  }
}

TEST(GraphTest, FindSuggestsTheNearestName) {
  Graph g;
  Placeholder(g, kFloat32, {2}, "images");
  EXPECT_TRUE(g.FindOutput("images:0").ok());
  EXPECT_TRUE(Contains(g.FindOutput("image:0").status(), "did you mean 'images'"));
  EXPECT_EQ(g.FindOutput("images").status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(g.FindOutput("images:1").status().code(), absl::StatusCode::kNotFound);
}

TEST(GraphDefTest, AGraphSurvivesExportAndImport) {
  Graph g;
  {
    auto device = g.Device("/job:ps/task:0");
    auto x = Placeholder(g, kFloat32, {-1, 3}, "x");
    auto c = Operand(Tensor::Of<float>({3, 2}, {1, 2, 3, 4, 5, 6})).ToOutput(g);
    auto control = g.ControlDependencies({NoOp(g, "first")});
    MatMul(x, c);
  }
  ASSERT_TRUE(g.status().ok()) << g.status();
  const std::string text = g.ToGraphDefText().value();
  Graph from_text, from_bytes;
  ASSERT_TRUE(from_text.ImportGraphDefText(text).ok());
  EXPECT_EQ(from_text.ToGraphDefText().value(), text);
  ASSERT_TRUE(from_bytes.ImportGraphDef(g.ToGraphDef().value()).ok());
  EXPECT_EQ(from_bytes.ToGraphDefText().value(), text);
}

TEST(GraphDefTest, BadInputIsRefusedAndAddsNothing) {
  const auto import = [](const char* text) {
    Graph g;
    const Status s = g.ImportGraphDefText(text);
    EXPECT_TRUE(g.operations().empty());
    return s;
  };
  EXPECT_EQ(import("nonsense").code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(Contains(import("node {name: 'a' op: 'NoOp'} node {name: 'a' op: 'NoOp'}"), "'a'"));
  EXPECT_TRUE(
      Contains(import("node {name: 'a' op: 'NoOp' input: '^b'} node {name: 'b' op: 'NoOp' input: '^a'}"), "cycle"));
  EXPECT_TRUE(Contains(import("node {name: 'a' op: 'Frobnicate'}"), "Frobnicate"));
  EXPECT_TRUE(Contains(import("node {name: 'a' op: 'NoOp' input: '^gone'}"), "gone"));
  EXPECT_FALSE(import("node {name: 'ok' op: 'NoOp'} node {name: 'x' op: 'Placeholder'}").ok());
  Graph g;
  // A node whose length is much larger than the rest of the text.
  EXPECT_FALSE(g.ImportGraphDef(std::string("\x0a\xff\xff\xff\x7f", 5)).ok());
}

TEST(GraphDefTest, TextOfNewerTensorFlowIsRead) {
  // Written by TensorFlow 2.21: the nodes of the dataset have full types, and the library has fields for its arguments.
  std::ifstream file(GRAPH_TESTDATA "/tensorflow_2_21.pbtxt");
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  ASSERT_TRUE(text.find("experimental_type") != std::string::npos);
  ASSERT_TRUE(text.find("arg_attr") != std::string::npos);
  Graph g;
  const Status s = g.ImportGraphDefText(text);
  EXPECT_TRUE(s.ok()) << s;
  EXPECT_TRUE(g.FindOperation("train").ok());
}

TEST(GraphDefTest, MistakesInTextAreNamedWithTheirPlace) {
  const auto import = [](const char* text) { return Graph().ImportGraphDefText(text); };
  EXPECT_TRUE(Contains(import("node { name: 'a'\n  op: NoOp }"), "line 2, column 7"));
  EXPECT_TRUE(Contains(import("node { name: 'a' experimental_type { args {"), "line 1, column 44"));
  EXPECT_TRUE(
      Contains(import("node { name: 'c' op: 'Const' attr { key: 'dtype' value { type: DT_NONE } } }"), "DT_NONE"));
}

TEST(GraphDefTest, ScalarPlaceholdersOfOldGraphsHaveUnknownShape) {
  const auto shape = [](int producer) {
    Graph g;
    const Status s = g.ImportGraphDefText(
        StrCat("node { name: 'p' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } }",
               " attr { key: 'shape' value { shape { } } } } versions { producer: ", producer, " }"));
    EXPECT_TRUE(s.ok()) << s;
    return s.ok() ? OutputOf(ImplOf(g).Find("p"), 0).shape() : Shape();
  };
  EXPECT_FALSE(shape(21).has_rank());
  EXPECT_TRUE(shape(24).is_scalar());
}

TEST(SubgraphTest, ASubgraphHasTheNodesThatAreNeededUpToTheFeeds) {
  Graph g;
  auto x = Placeholder(g, kFloat32, {2}, "x");
  auto y = Neg(x, "y");
  auto z = Exp(y, "z");
  Log(z, "unused");
  auto part = ExtractSubgraph(g, {y}, {z}, {});
  ASSERT_TRUE(part.ok()) << part.status();
  std::vector<std::string> types;
  for (const Operation& op : (*part)->operations()) types.push_back(op.type());
  EXPECT_EQ(types, (std::vector<std::string>{"_Arg", "Exp", "_Retval"}));
  EXPECT_TRUE(Contains(ExtractSubgraph(g, {}, {z}, {}).status(), "'x'"));
}

TEST(SubgraphTest, AReferenceThatAnOpWritesCannotBeFed) {
  Graph g;
  const Output v = NodeBuilder(g, "VariableV2").Name("v").Attr("dtype", kFloat32).Attr("shape", Shape()).Output();
  const Output assign = NodeBuilder(g, "Assign").Input(v).Input(Const(g, Tensor::Scalar(1.0F))).Output();
  const Output read = Identity(v, "read");
  ASSERT_TRUE(g.status().ok()) << g.status();
  EXPECT_TRUE(absl::IsInvalidArgument(ExtractSubgraph(g, {v}, {assign}, {}).status()));
  EXPECT_TRUE(ExtractSubgraph(g, {v}, {read}, {}).ok());
}

TEST(GradientsTest, AGradientIsASumOverAllUsesAndInvalidForAnIndependentTensor) {
  Graph g;
  auto x = Placeholder(g, kFloat32, {}, "x");
  auto other = Placeholder(g, kFloat32, {}, "other");
  auto y = x * x + x;
  auto grads = Gradients({y}, {x, other});
  ASSERT_TRUE(grads.ok()) << grads.status();
  EXPECT_TRUE((*grads)[0].valid());
  EXPECT_FALSE((*grads)[1].valid());
  EXPECT_EQ((*grads)[0].shape(), Shape());
}

TEST(GradientsTest, NoGradientPassesThroughAStoppedTensor) {
  Graph g;
  const Output x = Placeholder(g, kFloat32, {}, "x");
  const Output y = Square(x);
  const Output z = Exp(y) + x;
  const auto stopped = Gradients({z}, {x, y}, {}, {.stop_gradients = {y}});
  ASSERT_TRUE(stopped.ok()) << stopped.status();
  EXPECT_EQ((*stopped)[0].name(), "gradients/grad_ys:0") << "only the path that is not stopped";
  EXPECT_EQ(Gradients({x}, {x}, {}, {.name = "own"}).value()[0].name(), "own/grad_ys:0");
  EXPECT_TRUE((*stopped)[1].valid());
  EXPECT_FALSE(Gradients({y}, {x}, {}, {.stop_gradients = {y}}).value()[0].valid());
  EXPECT_TRUE(Gradients({x}, {x}, {}, {.stop_gradients = {x}}).value()[0].valid());

  Graph other;
  const Status s = Gradients({z}, {x}, {}, {.stop_gradients = {Placeholder(other, kFloat32, {})}}).status();
  EXPECT_NE(s.message().find("different graphs"), absl::string_view::npos) << s;
}

TEST(GradientsTest, TheSumOfATensorsGradientsIsOnItsDeviceIfOneOfThemIs) {
  Graph g;
  const auto on = [&g](int device) { return g.Device(StrCat("/device:CPU:", device)); };
  const Output x = Placeholder(g, kFloat32, {2});
  Output y, near, far;
  {
    auto device = on(0);
    y = Square(x);
    near = Square(y);
  }
  {
    auto device = on(1);
    far = Square(y);  // the last op, so its gradient is the first term
  }
  ASSERT_TRUE(Gradients({near, far}, {x}).ok());
  int sums = 0;
  for (const auto& node : ImplOf(g).nodes()) {
    if (node->type() != "AddN") continue;
    ++sums;
    EXPECT_EQ(node->device(), y.op().device());
  }
  EXPECT_EQ(sums, 1);
}

TEST(GradientsTest, AnOpWithoutGradientIsAnError) {
  Graph g;
  auto x = Placeholder(g, kFloat32, {2}, "x");
  auto y = PreventGradient(x, "because of the test");
  const Status s = Gradients({y}, {x}).status();
  EXPECT_FALSE(s.ok());
}

// The edge from 'next' to 'merge' closes a cycle, which only a NextIteration may do.
constexpr const char* kLoopDef = R"(
node { name: 'zero' op: 'Const' attr { key: 'dtype' value { type: DT_FLOAT } }
       attr { key: 'value' value { tensor { dtype: DT_FLOAT tensor_shape {} float_val: 0 } } } }
node { name: 'enter' op: 'Enter' input: 'zero' attr { key: 'T' value { type: DT_FLOAT } }
       attr { key: 'frame_name' value { s: 'loop' } } }
node { name: 'merge' op: 'Merge' input: 'enter' input: 'next' attr { key: 'T' value { type: DT_FLOAT } }
       attr { key: 'N' value { i: 2 } } }
node { name: 'body' op: 'Identity' input: 'merge' attr { key: 'T' value { type: DT_FLOAT } } }
node { name: 'next' op: '$NEXT' input: 'body' attr { key: 'T' value { type: DT_FLOAT } } }
)";

std::string LoopDef(const std::string& next) {
  std::string def = kLoopDef;
  def.replace(def.find("$NEXT"), 5, next);
  return def;
}

// Type 7 is DT_STRING, type 6 is DT_INT8.
TEST(GraphDefTest, RefusesAConstantWhoseValueHasAnotherDtype) {
  Graph g;
  const Status s = g.ImportGraphDefText(
      "node { name: 'c' op: 'Const' attr { key: 'dtype' value { type: 7 } } "
      "attr { key: 'value' value { tensor { dtype: 6 tensor_shape {} int_val: 1 } } } }");
  EXPECT_EQ(s.code(), absl::StatusCode::kInvalidArgument) << s;
  EXPECT_NE(s.message().find("int8, not string"), absl::string_view::npos) << s;
}

TEST(GraphDefTest, AConstantThatRepeatsOneValueStaysSmall) {
  Graph g;
  ASSERT_TRUE(g.ImportGraphDefText("node { name: 'c' op: 'Const' attr { key: 'dtype' value { type: DT_FLOAT } } attr { "
                                   "key: 'value' value { tensor { dtype: DT_FLOAT tensor_shape { dim { size: 300000000 "
                                   "} } float_val: 1.5 } } } }")
                  .ok());
  const int64_t before = GetAllocatorStats().bytes_in_use;
  const auto def = g.ToGraphDef();
  ASSERT_TRUE(def.ok()) << def.status();
  EXPECT_LT(def->size(), 500u);
  Graph copy;
  ASSERT_TRUE(copy.ImportGraphDef(*def).ok());
  const auto value = NodeOf(*copy.FindOperation("c"))->attr<Tensor>("value");
  ASSERT_EQ(value.shape(), Shape({300000000}));
  EXPECT_EQ(value.data<float>()[0], 1.5f);
  EXPECT_EQ(value.data<float>()[299999999], 1.5f);
  EXPECT_LT(GetAllocatorStats().bytes_in_use - before, 64 << 20);
}

TEST(GraphDefTest, RepeatedValuesOfAllDtypesAreReadAsTheyWereWritten) {
  const Shape shape({3 << 20});
  for (int number = 1; number < 30; ++number) {
    if (!IsKnownDType(number) || !IsPlain(DType(number))) continue;
    const DType dtype{number};
    // Bytes that are a number other than 0 in every dtype.
    std::vector<std::byte> element(DTypeSize(dtype), std::byte{1});
    const auto tensor = RepeatedTensor(dtype, shape, element.data());
    ASSERT_TRUE(tensor.ok()) << DTypeName(dtype);
    proto::TensorProto proto;
    ToProto(*tensor, &proto);
    EXPECT_TRUE(proto.tensor_content().empty()) << DTypeName(dtype);
    const auto read = FromProto(proto);
    ASSERT_TRUE(read.ok()) << DTypeName(dtype) << read.status();
    ASSERT_EQ(read->shape(), shape);
    EXPECT_EQ(std::memcmp(read->raw_data(), tensor->raw_data(), read->num_bytes()), 0) << DTypeName(dtype);
  }
}

TEST(GraphDefTest, ConstantsThatAreTooLargeAreRefusedWithTheNameOfTheLargest) {
  Graph g;
  const Tensor gigabyte(kFloat32, {1 << 28});  // its memory is never touched
  for (const char* name : {"a", "b"}) Const(g, gigabyte, name);
  Const(g, Tensor::Scalar(1.0f), "small");
  const Status s = g.ToGraphDef().status();
  EXPECT_EQ(s.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(s.message().find("Const 'a'"), absl::string_view::npos) << s;
}

// Type 10 is DT_BOOL.
TEST(GraphDefTest, BoolsAreZeroOrOneWhateverTheirBytesAre) {
  Graph g;
  ASSERT_TRUE(g.ImportGraphDefText("node { name: 'c' op: 'Const' attr { key: 'dtype' value { type: 10 } } attr { key: "
                                   "'value' value { tensor { dtype: 10 tensor_shape {} tensor_content: 'x' } } } }")
                  .ok());
  const Tensor value = ImplOf(g).Find("c")->attr<Tensor>("value");
  EXPECT_EQ(*static_cast<const unsigned char*>(value.raw_data()), 1);
}

TEST(GraphDefTest, ABackEdgeMayCloseACycle) {
  Graph g;
  ASSERT_TRUE(g.ImportGraphDefText(LoopDef("NextIteration")).ok());
  EXPECT_EQ(ImplOf(g).Find("merge")->inputs()[1].name(), "next:0");
  Graph again;
  const Status s = again.ImportGraphDef(g.ToGraphDef().value());
  ASSERT_TRUE(s.ok()) << s;
  EXPECT_EQ(again.ToGraphDefText().value(), g.ToGraphDefText().value());
}

TEST(GraphDefTest, RefusesOtherCyclesAndNamesTheirNodes) {
  Graph g;
  const Status s = g.ImportGraphDefText(LoopDef("Identity"));
  EXPECT_EQ(s.code(), absl::StatusCode::kInvalidArgument);
  for (const char* name : {"'merge'", "'body'", "'next'"}) {
    EXPECT_NE(s.message().find(name), absl::string_view::npos) << s;
  }
  EXPECT_EQ(s.message().find("'enter'"), absl::string_view::npos) << s;
  EXPECT_TRUE(g.operations().empty());
}

TEST(GraphDefTest, RefusesABackEdgeOfAnotherDtype) {
  Graph g;
  std::string def = LoopDef("NextIteration");
  // The body turns floats into integers.
  const std::string body = "op: 'Identity' input: 'merge' attr { key: 'T' value { type: DT_FLOAT } }";
  def.replace(def.find(body), body.size(),
              "op: 'Cast' input: 'merge' attr { key: 'SrcT' value { type: DT_FLOAT } } "
              "attr { key: 'DstT' value { type: DT_INT32 } }");
  const std::string next = "input: 'body' attr { key: 'T' value { type: DT_FLOAT } }";
  def.replace(def.find(next), next.size(), "input: 'body' attr { key: 'T' value { type: DT_INT32 } }");
  const Status s = g.ImportGraphDefText(def);
  EXPECT_EQ(s.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(s.message().find("'merge'"), absl::string_view::npos) << s;
  EXPECT_TRUE(g.operations().empty());
}

}  // namespace
}  // namespace tensorbraid
