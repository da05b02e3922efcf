// Programs as text: what EmitProgram writes, without a plugin.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/text/strings.h"
#include "executor/evaluate.h"
#include "graph/model/handles.h"
#include "graph/model/node.h"
#include "graph/model/node_status.h"
#include "pjrt/emitter.h"
#include "runtime/kernel/kernel.h"
#include "tensorbraid/tensorbraid.h"

namespace tensorbraid::pjrt {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;

ProgramArgument TensorArgument(const Output& tensor, const Shape& shape) {
  return {.tensors = {tensor}, .dtype = tensor.dtype(), .shape = shape};
}
ProgramArgument VariableArgument(const Output& handle, const Shape& shape, bool has_value = true) {
  return {.tensors = {handle}, .dtype = kFloat32, .shape = shape, .is_variable = true, .has_value = has_value};
}

TEST(EmitProgram, WritesGenericText) {
  Graph g;
  const Output x = Placeholder(g, kFloat32), y = Placeholder(g, kFloat32);
  const Output product = MatMul(x, y), sum = Add(product, y);
  const auto program =
      EmitProgram({NodeOf(product), NodeOf(sum)}, {TensorArgument(x, {2, 2}), TensorArgument(y, {2, 2})}, {sum});
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_EQ(program->text, R"(module @program {
func.func public @main(%0: tensor<2x2xf32>, %1: tensor<2x2xf32>) -> (tensor<2x2xf32>) {
%2 = "stablehlo.dot_general"(%0, %1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
%3 = "stablehlo.add"(%2, %1) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
"func.return"(%3) : (tensor<2x2xf32>) -> ()
}
}
)");
  EXPECT_THAT(program->parameters, ElementsAre(0, 1));
  ASSERT_EQ(program->results.size(), 1U);
  EXPECT_EQ(program->results[0].result, 0);
  EXPECT_EQ(program->results[0].shape, Shape({2, 2}));
}

TEST(EmitProgram, NamesOfNodesDoNotCount) {
  std::vector<std::string> texts;
  for (const char* name : {"a", "b"}) {
    Graph g;
    const auto scope = g.NameScope(name);
    const Output x = Placeholder(g, kFloat32), y = Add(x, x);
    const auto program = EmitProgram({NodeOf(y)}, {TensorArgument(x, {3})}, {y});
    ASSERT_TRUE(program.ok()) << program.status();
    texts.push_back(program->text);
  }
  EXPECT_EQ(texts[0], texts[1]);
}

// Programs that differ in the values of large constants only have one text.
TEST(EmitProgram, LargeConstantsAreParameters) {
  std::vector<std::string> texts;
  for (const float first : {1.0f, 2.0f}) {
    Graph g;
    Tensor numbers(kFloat32, {300}), small(kFloat32, {256}), equal(kFloat32, {300});
    for (Tensor* t : {&numbers, &small}) {
      for (int64_t i = 0; i < t->num_elements(); ++i) t->mutable_data<float>()[i] = static_cast<float>(i);
    }
    numbers.mutable_data<float>()[0] = first;
    for (float& number : equal.mutable_data<float>()) number = 7;
    const Output x = Placeholder(g, kFloat32), y = Placeholder(g, kFloat32);
    const Output large = Const(g, numbers), same = Identity(large), little = Const(g, small), sevens = Const(g, equal);
    const Output sum = Add(Add(Add(x, large), same), sevens), other = Add(y, little);
    const auto program =
        EmitProgram({NodeOf(large), NodeOf(same), NodeOf(little), NodeOf(sevens),
                     NodeOf(sum.op().input(0).op().input(0)), NodeOf(sum.op().input(0)), NodeOf(sum), NodeOf(other)},
                    {TensorArgument(x, {300}), TensorArgument(y, {256})}, {sum, other});
    ASSERT_TRUE(program.ok()) << program.status();
    EXPECT_THAT(program->parameters, ElementsAre(0, 1));
    ASSERT_EQ(program->constants.size(), 1U);
    EXPECT_EQ(program->constants[0]->data<float>()[0], first);
    EXPECT_THAT(program->text, HasSubstr("@main(%0: tensor<300xf32>, %1: tensor<256xf32>, %2: tensor<300xf32>)"));
    EXPECT_THAT(program->text, HasSubstr("dense<\"0x0000E040\"> : tensor<f32>"));
    texts.push_back(program->text);
  }
  EXPECT_EQ(texts[0], texts[1]);
}

TEST(EmitProgram, AnUpdatedVariableTakesOverItsMemory) {
  Graph g;
  const Output handle = NodeBuilder(g, "VarHandleOp").Attr("dtype", kFloat32).Attr("shape", Shape({2})).Output();
  const Output delta = Placeholder(g, kFloat32);
  const Operation update =
      NodeBuilder(g, "AssignAddVariableOp").Input(handle).Input(delta).Attr("dtype", kFloat32).Finish();
  const Output read = NodeBuilder(g, "ReadVariableOp").Input(handle).Attr("dtype", kFloat32).Output();
  const auto program =
      EmitProgram({NodeOf(update), NodeOf(read)}, {TensorArgument(delta, {2}), VariableArgument(handle, {2})}, {read});
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_THAT(program->text, HasSubstr("%1: tensor<2xf32> {tf.aliasing_output = 0 : i32}"));
  ASSERT_EQ(program->updates.size(), 1U);
  EXPECT_EQ(program->updates[0].argument, 1);
  EXPECT_EQ(program->parameters[program->updates[0].aliased], 1);
  EXPECT_EQ(program->num_results, 2);
  EXPECT_EQ(program->results[0].result, 1);
}

// All streams of random numbers are one parameter, the last one.
TEST(EmitProgram, RandomNumbersComeFromStreams) {
  Graph g;
  const Output x = Placeholder(g, kFloat32), sizes = Const(g, Tensor::Vector<int32_t>({2, 3}));
  const auto numbers = [&] { return NodeBuilder(g, "RandomUniform").Input(sizes).Attr("dtype", kFloat32).Output(); };
  const Output a = numbers(), b = numbers(), sum = Add(Add(a, b), x);
  const Output first = NodeOf(sum)->inputs()[0];
  const auto program = EmitProgram({NodeOf(sizes), NodeOf(a), NodeOf(b), NodeOf(first), NodeOf(sum)},
                                   {TensorArgument(x, {2, 3})}, {sum});
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_THAT(program->text, HasSubstr("@main(%0: tensor<2x3xf32>, %1: tensor<2x3xui64>)"));
  EXPECT_THAT(program->parameters, ElementsAre(0));
  ASSERT_EQ(program->streams.size(), 2U);
  EXPECT_EQ(program->streams[1].node, NodeOf(b));
  EXPECT_EQ(program->streams[1].elements, 6);
  EXPECT_EQ(program->StreamsType().shape, Shape({2, 3}));
}

TEST(StableHlo, OpsHaveSeveralResults) {
  stablehlo::Builder b;
  const stablehlo::Value x = b.Parameter(kFloat32, {4}), i = b.Iota(kInt32, {4}, 0);
  const auto sorted =
      b.Sort({x, i}, 0, [&](const stablehlo::Value& u, const stablehlo::Value& v) { return b.Compare("GT", u, v); });
  EXPECT_THAT(b.Module({x}, {sorted[1]}), HasSubstr(R"(:2 = "stablehlo.sort"(%0, %1))"));
  EXPECT_THAT(b.Module({x}, {sorted[1]}), HasSubstr(R"("func.return"(%7#1) : (tensor<4xi32>))"));
}

// The read before the update has the old value, the read after it the new one.
TEST(EmitProgram, AReferenceIsReadAtThePlaceOfItsReader) {
  Graph g;
  const Output v = NodeBuilder(g, "VariableV2").Attr("dtype", kFloat32).Attr("shape", Shape({2})).Output();
  const Output before = Add(v, v);
  const Output updated = NodeBuilder(g, "AssignAdd").Input(v).Input(Const(g, Tensor::Vector<float>({1, 2}))).Output();
  const Output same = Identity(updated), after = Add(same, same);
  const Node* delta = NodeOf(NodeOf(updated)->inputs()[1]);
  const auto program = EmitProgram({NodeOf(before), delta, NodeOf(updated), NodeOf(same), NodeOf(after)},
                                   {VariableArgument(v, {2})}, {before, after, updated});
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_THAT(program->text, HasSubstr("%1 = \"stablehlo.add\"(%0, %0)"));
  EXPECT_THAT(program->text, HasSubstr("%3 = \"stablehlo.add\"(%0, %2)"));
  EXPECT_THAT(program->text, HasSubstr("%4 = \"stablehlo.add\"(%3, %3)"));
  EXPECT_THAT(program->text, HasSubstr("\"func.return\"(%3, %1, %4)"));
  EXPECT_EQ(program->results[2].variable, 0);
}

TEST(EmitProgram, AVariableWithoutValueGetsOneByAssignment) {
  Graph g;
  const Output handle = NodeBuilder(g, "VarHandleOp").Attr("dtype", kFloat32).Attr("shape", Shape({2})).Output();
  const Output value = Placeholder(g, kFloat32);
  const Operation assign =
      NodeBuilder(g, "AssignVariableOp").Input(handle).Input(value).Attr("dtype", kFloat32).Finish();
  const Output read = NodeBuilder(g, "ReadVariableOp").Input(handle).Attr("dtype", kFloat32).Output();
  const std::vector<ProgramArgument> arguments = {TensorArgument(value, {2}),
                                                  VariableArgument(handle, {}, /*has_value=*/false)};
  const auto program = EmitProgram({NodeOf(assign), NodeOf(read)}, arguments, {read});
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_EQ(program->updates[0].aliased, -1);
  EXPECT_EQ(program->updates[0].shape, Shape({2}));
  EXPECT_THAT(program->parameters, ElementsAre(0));

  const auto too_early = EmitProgram({NodeOf(read), NodeOf(assign)}, arguments, {read});
  EXPECT_TRUE(absl::IsFailedPrecondition(too_early.status())) << too_early.status();
  EXPECT_THAT(too_early.status().ToString(), HasSubstr("VarHandleOp"));
}

TEST(EmitProgram, ErrorsNameTheNode) {
  Graph g;
  const Output x = Placeholder(g, kFloat32), y = MatMul(x, x);
  const auto program = EmitProgram({NodeOf(y)}, {TensorArgument(x, {2, 3})}, {y});
  EXPECT_TRUE(absl::IsInvalidArgument(program.status())) << program.status();
  EXPECT_THAT(program.status().ToString(), HasSubstr("MatMul 'MatMul'"));
}

TEST(EmitProgram, WhatIsKnownIsComputedByTheHost) {
  Graph g;
  const Output a = Const(g, Tensor::Scalar(7)), b = Const(g, Tensor::Scalar(2));
  const Output quotient = NodeBuilder(g, "FloorDiv").Input(a).Input(b).Output();
  const std::vector<const Node*> nodes = {NodeOf(a), NodeOf(b), NodeOf(quotient)};
  EXPECT_EQ(EmitProgram(nodes, {}, {quotient})->num_results, 2);  // and the error word
  const Output range = NodeBuilder(g, "Range").Input(a).Input(b).Input(b).Output();
  EXPECT_TRUE(absl::IsInternal(EmitProgram({NodeOf(a), NodeOf(b), NodeOf(range)}, {}, {range}).status()));
  const HostCompute host = [](const Node& node, const std::vector<Tensor>& inputs) {
    std::vector<std::pair<Output, Tensor>> feeds;
    for (size_t i = 0; i < inputs.size(); ++i) feeds.emplace_back(node.inputs()[i], inputs[i]);
    return Evaluate({OutputOf(const_cast<Node*>(&node), 0)}, feeds);
  };
  const auto program = EmitProgram(nodes, {}, {quotient}, host);
  ASSERT_TRUE(program.ok()) << program.status();
  ASSERT_NE(program->results[0].constant, nullptr);
  EXPECT_EQ(program->results[0].constant->scalar<int32_t>(), 3);
  EXPECT_EQ(program->num_results, 0);
}

// The program tells which check has failed, and its variables keep their values.
TEST(EmitProgram, AFailedCheckIsAnErrorOfItsNode) {
  Graph g;
  const Output v = NodeBuilder(g, "VariableV2").Attr("dtype", kFloat32).Attr("shape", Shape({3})).Output();
  const Output fresh = NodeBuilder(g, "VariableV2").Attr("dtype", kFloat32).Attr("shape", Shape({2})).Output();
  const Output indices = Placeholder(g, kInt32), divisor = Placeholder(g, kInt32);
  const Output rows = NodeBuilder(g, "Gather").Name("rows").Input(v).Input(indices).Output();
  const Output quotient = NodeBuilder(g, "FloorDiv").Name("quotient").Input(indices).Input(divisor).Output();
  const Output add = NodeBuilder(g, "AssignAdd").Input(v).Input(v).Output();
  const Output assign = NodeBuilder(g, "Assign").Input(fresh).Input(rows).Output();
  const auto program = EmitProgram({NodeOf(rows), NodeOf(quotient), NodeOf(add), NodeOf(assign)},
                                   {VariableArgument(v, {3}), VariableArgument(fresh, {}, /*has_value=*/false),
                                    TensorArgument(indices, {2}), TensorArgument(divisor, {})},
                                   {rows, quotient});
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_EQ(program->error_word, 4);
  EXPECT_EQ(program->num_results, 5);
  ASSERT_EQ(program->updates.size(), 2U);
  EXPECT_EQ(program->updates[0].argument, 0);
  EXPECT_EQ(program->updates[0].aliased, 0);
  EXPECT_EQ(program->updates[1].argument, 1);
  EXPECT_EQ(program->updates[1].aliased, -1);
  // The old value of v if a check has failed.
  EXPECT_THAT(program->text, testing::ContainsRegex("\"stablehlo.select\"\\(%[0-9]+, %0, %[0-9]+\\)"));

  EXPECT_EQ(program->checks.word_size(), 3);
  const auto error_of = [&](std::vector<int64_t> word) { return program->checks.ErrorOf(word); };
  EXPECT_TRUE(error_of({0, 0, 0}).ok());
  EXPECT_EQ(error_of({1, 1, 7}).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(error_of({1, 1, 7}).ToString(), HasSubstr("Gather 'rows'"));
  EXPECT_THAT(error_of({1, 1, 7}).ToString(), HasSubstr("indices[1] = 7 is not in [0, 3)"));
  EXPECT_EQ(NodeNameOf(error_of({2, 0, 0})), "quotient");
  EXPECT_THAT(error_of({2, 0, 0}).ToString(), HasSubstr("Integer division by zero"));
  EXPECT_TRUE(absl::IsInternal(error_of({3, 0, 0})));
}

// Its variables have kept their values, so it must not look like a success.
TEST(EmitProgram, AFailedCheckWithoutAnErrorIsAnInternalError) {
  Graph g;
  const Output x = Placeholder(g, kBool), y = NodeBuilder(g, "LogicalNot").Name("inverse").Input(x).Output();
  EmitterRegistry registry;
  registry.Add("LogicalNot", {}, [](EmitContext& ctx) -> Status {
    TF_ASSIGN_OR_RETURN(const stablehlo::Value in, ctx.input(0));
    ctx.fail_if(in, {}, [](std::span<const int64_t>) { return OkStatus(); });
    ctx.set_output(0, in);
    return OkStatus();
  });
  const auto program = EmitProgram({NodeOf(y)}, {TensorArgument(x, {})}, {y}, nullptr, registry);
  ASSERT_TRUE(program.ok()) << program.status();
  const std::vector<int64_t> word = {1};
  const Status error = program->checks.ErrorOf(word);
  EXPECT_TRUE(absl::IsInternal(error)) << error;
  EXPECT_EQ(NodeNameOf(error), "inverse");
}

// So the plugin can update the table in place.
TEST(EmitProgram, RowsAreUpdatedWithoutASelectionOfTheWholeVariable) {
  Graph g;
  const Output table = NodeBuilder(g, "VariableV2").Attr("dtype", kFloat32).Attr("shape", Shape({500, 3})).Output();
  const Output indices = Placeholder(g, kInt32), rows = Placeholder(g, kFloat32);
  const auto scatter = [&] { return NodeBuilder(g, "ScatterAdd").Input(table).Input(indices).Input(rows).Output(); };
  const Output first = scatter(), second = scatter();
  const Output whole = NodeBuilder(g, "AssignAdd").Input(table).Input(table).Output();
  const auto text_of = [&](const std::vector<const Node*>& nodes) {
    return EmitProgram(nodes,
                       {VariableArgument(table, {500, 3}),
                        TensorArgument(indices, {2}),
                        {.tensors = {rows}, .dtype = kFloat32, .shape = Shape({2, 3})}},
                       {})
        .value()
        .text;
  };
  const std::string whole_selected = "\"stablehlo.select\"[^\n]*-> tensor<500x3xf32>";
  EXPECT_THAT(text_of({NodeOf(first)}), testing::Not(testing::ContainsRegex(whole_selected)));
  EXPECT_THAT(text_of({NodeOf(first), NodeOf(second)}), testing::Not(testing::ContainsRegex(whole_selected)));
  EXPECT_THAT(text_of({NodeOf(first), NodeOf(whole)}), testing::ContainsRegex(whole_selected));
}

TEST(EmitProgram, ProgramsWithoutChecksHaveNoErrorWord) {
  Graph g;
  const Output x = Placeholder(g, kInt32), y = Add(x, x);
  const auto program = EmitProgram({NodeOf(y)}, {TensorArgument(x, {3})}, {y});
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_TRUE(program->checks.empty());
  EXPECT_EQ(program->error_word, -1);
  EXPECT_EQ(program->num_results, 1);
}

TEST(Emitters, GiveReasons) {
  Graph g;
  const Output x = Const(g, Tensor::Scalar(std::complex<float>(7)));
  const auto find = [](const Output& output) {
    return EmitterRegistry::Global().Find(*NodeOf(output)).status().ToString();
  };
  EXPECT_THAT(find(NodeBuilder(g, "Exp").Input(x).Output()), HasSubstr("Exp has no emitter for T = complex64"));
  EXPECT_THAT(find(NodeBuilder(g, "VarHandleOp").Attr("dtype", kFloat32).Attr("shape", Shape()).Output()),
              HasSubstr("VarHandleOp has no emitter"));
  EXPECT_THAT(find(NodeBuilder(g, "Where").Input(Const(g, Tensor::Vector<float>({0, 1}))).Output()),
              EndsWith("Where has no emitter: the shape of its output depends on the elements of its inputs"));
}

// The family and the name of a file: "math/binary.cc" for "ops/math/binary.cc" and for "kernels/pjrt/math/binary.cc".
std::string FamilyAndFile(std::string_view file) {
  const std::vector<std::string> path = StrSplit(file, '/');
  return StrCat(path.at(path.size() - 2), "/", path.back());
}

TEST(Emitters, AreInTheFilesThatSchemasName) {
  for (const auto& [op, def] : EmitterRegistry::Global().emitters()) {
    const OpDef* schema = OpRegistry::Global().Find(op);
    ASSERT_NE(schema, nullptr) << op;
    EXPECT_TRUE(def.file.starts_with("kernels/pjrt/")) << op << ": " << def.file;
    EXPECT_EQ(FamilyAndFile(schema->file), FamilyAndFile(def.file)) << op;
    for (const auto& [attr, types] : def.types) {
      EXPECT_NE(schema->FindAttr(std::string(attr)), nullptr) << op << " has no " << attr;
    }
    for (const std::string& name : def.static_inputs) {
      const bool exists = std::ranges::any_of(schema->inputs, [&](const ArgDef& arg) { return arg.name == name; });
      EXPECT_TRUE(exists) << op << " has no input " << name;
    }
    // What the host computes is known.
    EXPECT_TRUE(def.emit != nullptr || def.static_inputs.size() == schema->inputs.size()) << op;
  }
}

// A constant as text, whose bytes plugins read.
TEST(StableHlo, ConstantsAreExact) {
  stablehlo::Builder b;
  b.Constant(Tensor::Vector<float>({1, -0.0F}));
  b.Constant(Tensor::Of<bool>({2, 1}, {true, false}));
  b.Constant(Tensor(kInt32, {0, 2}));
  b.Splat(kFloat16, 1.5, {3});
  b.Lowest(kInt8);
  b.Highest(kFloat32);
  EXPECT_EQ(b.Module({}, {}), R"(module @program {
func.func public @main() -> () {
%0 = "stablehlo.constant"() <{value = dense<"0x0000803F00000080"> : tensor<2xf32>}> : () -> tensor<2xf32>
%1 = "stablehlo.constant"() <{value = dense<[[true], [false]]> : tensor<2x1xi1>}> : () -> tensor<2x1xi1>
%2 = "stablehlo.constant"() <{value = dense<> : tensor<0x2xi32>}> : () -> tensor<0x2xi32>
%3 = "stablehlo.constant"() <{value = dense<"0x003E"> : tensor<f16>}> : () -> tensor<f16>
%4 = "stablehlo.broadcast_in_dim"(%3) <{broadcast_dimensions = array<i64>}> : (tensor<f16>) -> tensor<3xf16>
%5 = "stablehlo.constant"() <{value = dense<"0x80"> : tensor<i8>}> : () -> tensor<i8>
%6 = "stablehlo.constant"() <{value = dense<"0x0000807F"> : tensor<f32>}> : () -> tensor<f32>
"func.return"() : () -> ()
}
}
)");
}

}  // namespace
}  // namespace tensorbraid::pjrt
