// Runs the rows of the op table (op_case.h) as programs: each row whose node has an emitter must become a program with
// the row's outputs, and plugins must compute the row's values.
#include "pjrt/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/text/strings.h"
#include "executor/clusters/host_substitute.h"
#include "executor/evaluate.h"
#include "graph/model/handles.h"
#include "graph/model/node.h"
#include "op_case.h"
#include "pjrt/client.h"
#include "pjrt/emitter.h"
#include "pjrt/testing/test_plugins.h"
#include "pjrt/topology.h"
#include "pjrt/whole_buffers.h"
#include "tensorbraid/ops.h"

namespace tensorbraid::pjrt {
namespace {

StatusOr<std::vector<Tensor>> ComputeOnHost(const Node& node, const std::vector<Tensor>& inputs) {
  std::vector<std::pair<Output, Tensor>> feeds;
  for (size_t i = 0; i < inputs.size(); ++i) feeds.emplace_back(node.inputs()[i], inputs[i]);
  std::vector<Output> fetches;
  for (int i = 0; i < node.num_outputs(); ++i) fetches.push_back(OutputOf(const_cast<Node*>(&node), i));
  return Evaluate(fetches, feeds);
}

// NaNs have no place in an order. The kernel of the CPU then gives what the steps of TensorFlow's algorithm give.
bool OrdersNans(const OpCase& c) {
  if (!c.op.starts_with("TopK")) return false;
  const Tensor& t = c.inputs[0].tensors[0];
  const auto has_nan = [&]<typename T>() {
    return std::ranges::any_of(t.data<T>(), [](T x) { return std::isnan(static_cast<float>(x)); });
  };
  switch (t.dtype()) {
    case kFloat16:
      return has_nan.operator()<Float16>();
    case kBfloat16:
      return has_nan.operator()<Bfloat16>();
    case kFloat32:
      return has_nan.operator()<float>();
    case kFloat64:
      return has_nan.operator()<double>();
    default:
      return false;
  }
}

// A row as a part of a program.
struct Row {
  OpCase expected;
  std::shared_ptr<Graph> graph;
  const Node* node = nullptr;
  std::vector<ProgramArgument> arguments;
  std::vector<Tensor> values;  // of the arguments
};

// Makes a row's node; no node if the graph refuses it or it has no emitter.
Row RowOf(const OpCase& c) {
  Row row;
  row.expected = c;
  row.graph = std::make_shared<Graph>();
  Graph& g = *row.graph;
  const OpDef* def = OpRegistry::Global().Find(c.op);
  std::vector<Output> inputs;
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    const bool is_variable = std::count(c.variables.begin(), c.variables.end(), static_cast<int>(i)) > 0;
    for (const Tensor& t : c.inputs[i].tensors) {
      if (!stablehlo::HasType(t.dtype())) return row;
      if (is_variable) {
        inputs.push_back(NodeBuilder(g, def->inputs[i].is_ref ? "VariableV2" : "VarHandleOp")
                             .Attr("dtype", t.dtype())
                             .Attr("shape", Shape::Unknown())
                             .Output());
      } else {
        inputs.push_back(Placeholder(g, t.dtype()));
      }
      row.arguments.push_back(
          {.tensors = {inputs.back()}, .dtype = t.dtype(), .shape = t.shape(), .is_variable = is_variable});
      row.values.push_back(t);
    }
  }
  const Operation op = AddCase(g, c, inputs);
  if (!g.status().ok()) return row;
  const auto emitter = EmitterRegistry::Global().Find(*NodeOf(op));
  if (!emitter.ok()) return row;
  row.node = NodeOf(op);
  for (const int i : StaticInputs(**emitter, *row.node)) {
    row.arguments[i].constant = std::make_shared<const Tensor>(row.values[i]);
  }
  return row;
}

// A row with the values that the kernels of the CPU give, for an op that the table does not have.
Row RowOf(const std::string& op, const std::map<std::string, AttrValue>& attrs,
          const std::vector<OpCase::Input>& inputs) {
  OpCase c;
  c.where = "fused ops";
  c.op = op;
  c.attrs = attrs;
  c.inputs = inputs;
  Row row = RowOf(c);
  EXPECT_NE(row.node, nullptr) << op << ": " << row.graph->status();
  if (row.node == nullptr) return row;
  const auto outputs = ComputeOnHost(*row.node, row.values);
  EXPECT_TRUE(outputs.ok()) << outputs.status();
  if (outputs.ok()) row.expected.outputs = *outputs;
  return row;
}

// Numbers without a pattern, from -2 to 2.
OpCase::Input Numbers(const Shape& shape) {
  static uint32_t state = 1;
  Tensor t(kFloat32, shape);
  for (float& x : t.mutable_data<float>()) {
    state = state * 1664525 + 1013904223;
    x = static_cast<float>(state >> 8) * 0x1p-22F - 2;
  }
  return {.tensors = {t}};
}

// The ops that the optimizer's passes make have no rows.
std::vector<Row> FusedRows() {
  using Strings = std::vector<std::string>;
  const auto list = [](std::vector<OpCase::Input> inputs) {
    OpCase::Input joined;
    joined.is_list = true;
    for (const OpCase::Input& in : inputs) joined.tensors.push_back(in.tensors[0]);
    return joined;
  };
  const auto image = Numbers({2, 4, 4, 16});
  const auto variance = OpCase::Input{{Tensor::Of<float>({16}, std::vector<float>(16, 1.5F))}};
  std::vector<Row> rows;
  for (const Strings& fused : {Strings{"BiasAdd"}, Strings{"BiasAdd", "Relu"}}) {
    rows.push_back(RowOf("_FusedMatMul", {{"fused_ops", fused}, {"transpose_b", true}},
                         {Numbers({3, 5}), Numbers({4, 5}), list({Numbers({4})})}));
    rows.push_back(RowOf(
        "_FusedConv2D",
        {{"fused_ops", fused}, {"strides", std::vector<int64_t>{1, 2, 1, 1}}, {"padding", "SAME"}, {"num_args", 1}},
        {Numbers({2, 5, 6, 3}), Numbers({3, 2, 3, 4}), list({Numbers({4})}), list({})}));
  }
  rows.push_back(
      RowOf("_SumOfMatMuls", {}, {list({Numbers({2, 3}), Numbers({2, 5})}), list({Numbers({3, 4}), Numbers({5, 4})})}));
  const std::map<std::string, AttrValue> pool = {
      {"ksize", std::vector<int64_t>{1, 2, 2, 1}}, {"strides", std::vector<int64_t>{1, 2, 2, 1}}, {"padding", "VALID"}};
  rows.push_back(RowOf("_MaxPoolReluGrad", pool, {image, Numbers({2, 2, 2, 16}), Numbers({2, 2, 2, 16})}));
  for (const int64_t size : {1, 2}) {
    const auto pooled = Numbers({2, 4 / size, 4 / size, 16});
    for (const bool training : {true, false}) {
      const std::map<std::string, AttrValue> attrs = {{"ksize", std::vector<int64_t>{1, size, size, 1}},
                                                      {"is_training", training}};
      const auto average = training ? Numbers({0}) : Numbers({16});
      rows.push_back(RowOf("_FusedBatchNormRelu", attrs,
                           {image, Numbers({16}), Numbers({16}), average, training ? Numbers({0}) : variance}));
      rows.push_back(RowOf("_FusedBatchNormReluGrad", attrs,
                           {pooled, image, Numbers({16}), Numbers({16}), variance, Numbers({}), Numbers({16})}));
    }
  }
  return rows;
}

const std::vector<Row>& AllRows() {
  static const auto* const rows = [] {
    std::string error;
    auto* all = new std::vector<Row>(FusedRows());
    for (const OpCase& c : LoadCases(&error)) {
      const auto [begin, end] = EmitterRegistry::Global().emitters().equal_range(c.op);
      if (begin == end) continue;
      Row row = RowOf(c);
      if (row.node != nullptr) all->push_back(std::move(row));
    }
    EXPECT_EQ(error, "");
    return all;
  }();
  return *rows;
}

StatusOr<ProgramText> ProgramOf(std::span<const Row> rows) {
  std::vector<const Node*> nodes;
  std::vector<ProgramArgument> arguments;
  std::vector<Output> wanted;
  for (const Row& row : rows) {
    nodes.push_back(row.node);
    arguments.insert(arguments.end(), row.arguments.begin(), row.arguments.end());
    for (int i = 0; i < row.node->num_outputs(); ++i) wanted.push_back(OutputOf(const_cast<Node*>(row.node), i));
  }
  return EmitProgram(nodes, arguments, wanted, ComputeOnHost);
}

// What a program of rows gives: the wanted outputs (invalid: a reference), the values of all arguments afterwards, and
// the error of an element.
struct Results {
  std::vector<Tensor> outputs, arguments;
  Status error;
};

StatusOr<Results> Run(Client& client, const ProgramText& program, std::span<const Row> rows) {
  Results results;
  for (const Row& row : rows) {
    results.arguments.insert(results.arguments.end(), row.values.begin(), row.values.end());
  }
  std::vector<Tensor> computed(program.num_results);
  if (program.num_results > 0) {
    CompileOptions options{.name = "rows", .arguments = {}, .donated = {}};
    std::vector<Tensor> on_device;
    std::vector<const Tensor*> arguments;
    for (const int number : program.parameters) {
      const Tensor& value = results.arguments[number];
      options.arguments.push_back({value.dtype(), value.shape()});
      TF_ASSIGN_OR_RETURN(Tensor copy, ToDevice(client, value));
      on_device.push_back(std::move(copy));
    }
    for (const auto& constant : program.constants) {
      options.arguments.push_back({constant->dtype(), constant->shape()});
      TF_ASSIGN_OR_RETURN(Tensor copy, ToDevice(client, *constant));
      on_device.push_back(std::move(copy));
    }
    for (const auto& update : program.updates) {
      if (update.aliased >= 0) options.donated.push_back(update.aliased);
    }
    std::sort(options.donated.begin(), options.donated.end());
    for (const Tensor& t : on_device) arguments.push_back(&t);
    TF_ASSIGN_OR_RETURN(const auto compiled, client.Compile(program.text, options));
    TF_ASSIGN_OR_RETURN(const Program::Results run, compiled->Run(arguments, {}, 0));
    for (size_t i = 0; i < computed.size(); ++i) {
      const ArrayType& type = compiled->outputs()[i];
      TF_ASSIGN_OR_RETURN(computed[i], ToHost(*run.outputs[i], type.dtype, type.shape));
    }
  }
  if (program.error_word >= 0) results.error = program.checks.ErrorOf(computed[program.error_word].data<int64_t>());
  for (size_t k = 0; k < program.updates.size(); ++k) results.arguments[program.updates[k].argument] = computed[k];
  for (const ProgramText::Result& result : program.results) {
    results.outputs.push_back(result.constant != nullptr ? *result.constant
                              : result.result >= 0       ? computed[result.result]
                                                         : Tensor());
  }
  return results;
}

// Runs the rows in one program. If that fails, runs each half, so that the row that fails is named.
void Check(Client& client, std::span<const Row> rows) {
  const auto halve = [&] {
    Check(client, rows.first(rows.size() / 2));
    Check(client, rows.subspan(rows.size() / 2));
  };
  const auto program = ProgramOf(rows);
  const auto results = program.ok() ? Run(client, *program, rows) : program.status();
  const Status status = results.ok() ? results->error : results.status();
  if (!status.ok()) {
    if (rows.size() > 1) return halve();
    ADD_FAILURE() << rows[0].expected.where << " " << rows[0].expected.op << ": " << status;
    return;
  }
  size_t output = 0, argument = 0;
  for (const Row& row : rows) {
    SCOPED_TRACE(StrCat(row.expected.where, " ", row.expected.op));
    const OpCase& c = row.expected;
    for (const Tensor& wanted : c.outputs) {
      const Tensor& got = results->outputs[output++];
      if (!got.is_valid()) continue;
      EXPECT_EQ(Difference(got, wanted, c.tolerance), "");
    }
    for (size_t v = 0; v < c.variables.size(); ++v) {
      EXPECT_EQ(Difference(results->arguments[argument + c.variables[v]], c.values[v], c.tolerance), "")
          << "variable " << v;
    }
    argument += row.arguments.size();
  }
}

// Rows become programs with outputs of the right dtypes and shapes; rows that must fail do so when the program is made,
// or have a check of elements.
TEST(OpPrograms, AreMadeOfRows) {
  ASSERT_GT(AllRows().size(), 3000U);
  for (const Row& row : AllRows()) {
    SCOPED_TRACE(StrCat(row.expected.where, " ", row.expected.op));
    const auto program = ProgramOf({&row, 1});
    const bool must_fail = !row.expected.error.empty();
    if (must_fail && program.ok()) {
      EXPECT_FALSE(program->checks.empty());
      continue;
    }
    EXPECT_EQ(program.ok(), !must_fail) << program.status();
    if (!program.ok()) continue;
    for (size_t i = 0; i < row.expected.outputs.size(); ++i) {
      const ProgramText::Result& result = program->results[i];
      if (result.variable >= 0) continue;
      EXPECT_EQ(result.dtype, row.expected.outputs[i].dtype());
      EXPECT_EQ(result.shape, row.expected.outputs[i].shape());
    }
  }
}

// TENSORBRAID_TEST_OPS="FFT,IFFT" leaves the rows of these ops only.
std::vector<Row> OfChosenOps(std::vector<Row> rows) {
  const char* const text = std::getenv("TENSORBRAID_TEST_OPS");
  if (text == nullptr) return rows;
  const std::vector<std::string> ops = StrSplit(text, ',');
  std::erase_if(rows, [&](const Row& row) { return std::ranges::find(ops, row.expected.op) == ops.end(); });
  EXPECT_FALSE(rows.empty()) << "TENSORBRAID_TEST_OPS is '" << text << "', but no row of these ops has an emitter";
  return rows;
}

// The op and its dtypes, each an attribute: "Cast DstT=int32 SrcT=float".
std::string OpAndTypes(const Node& node) {
  std::string text = node.type();
  for (const auto& [name, value] : node.attrs()) {
    if (const auto* type = value.get<DType>()) text += StrCat(" ", name, "=", DTypeName(*type));
    const auto* types = value.get<std::vector<DType>>();
    if (types == nullptr) continue;
    text += StrCat(" ", name, "=");
    for (const DType type : *types) text += StrCat(DTypeName(type), ",");
  }
  return text;
}

// One row of each op and dtypes of its tensors, without those of static inputs.
std::vector<Row> RowsOfEachType() {
  std::vector<Row> rows;
  std::set<std::string> seen;
  for (const Row& row : OfChosenOps(AllRows())) {
    if (!row.expected.error.empty()) continue;
    std::string key = row.expected.op;
    for (const ProgramArgument& argument : row.arguments) {
      if (argument.constant == nullptr) key += StrCat(" ", DTypeName(argument.dtype));
    }
    for (int i = 0; i < row.node->num_outputs(); ++i) key += StrCat(",", DTypeName(row.node->output_type(i)));
    if (seen.insert(key).second) rows.push_back(row);
  }
  return rows;
}

// Converts as the kernel of the CPU does.
Tensor Converted(const Tensor& t, DType dtype) {
  if (t.dtype() == dtype) return t;
  Graph g;
  const Output cast = NodeBuilder(g, "Cast").Input(Const(g, t)).Attr("DstT", dtype).Output();
  const auto converted = Evaluate({cast}, {});
  return converted.ok() ? (*converted)[0] : Tensor();
}

// The row's node with other dtypes: those of the attributes `attrs` become `dtype`. No node if that is not possible.
// The row has no expected values.
Row InOtherType(const Row& row, const std::set<std::string>& attrs, DType dtype) {
  OpCase c = row.expected;
  const OpDef* const def = OpRegistry::Global().Find(c.op);
  const DType before = row.node->attr<DType>(*attrs.begin());
  for (const std::string& attr : attrs) {
    if (c.attrs.contains(attr)) c.attrs[attr] = dtype;
  }
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    for (Tensor& t : c.inputs[i].tensors) {
      const bool by_handle = def->inputs[i].type == DType::kResource && t.dtype() == before;
      if (!by_handle && !attrs.contains(def->inputs[i].type_attr)) continue;
      t = Converted(t, dtype);
      if (!t.is_valid()) return {};
    }
  }
  return RowOf(c);
}

// Rows of the op of `def` for dtypes that it has and the table has not, made from rows of the table. `seen` has what
// OpAndTypes says of all rows, and gets the new ones.
void AddOtherTypes(const EmitterDef& def, std::span<const Row* const> known, std::set<std::string>* seen,
                   std::vector<Row>* rows) {
  std::map<std::string, DTypeSet> have;
  for (const Row* row : known) {
    for (const auto& [name, value] : row->node->attrs()) {
      if (const auto* type = value.get<DType>()) have[name].Insert(BaseType(*type));
    }
  }
  for (const TypeConstraint& constraint : def.types) {
    const std::string attr(constraint.attr);
    for (const DType dtype : constraint.types.ToVector()) {
      if (have[attr].Contains(dtype)) continue;
      for (const Row* row : known) {
        // The other attributes with the same dtype become the new one, too, if it does not go without.
        const DType before = row->node->attr<DType>(attr);
        std::set<std::string> equal;
        for (const auto& [name, value] : row->node->attrs()) {
          if (const auto* type = value.get<DType>(); type != nullptr && *type == before) equal.insert(name);
        }
        Row made = InOtherType(*row, {attr}, dtype);
        if (made.node == nullptr) made = InOtherType(*row, equal, dtype);
        if (made.node == nullptr || !ProgramOf({&made, 1}).ok()) continue;
        if (seen->insert(OpAndTypes(*made.node)).second) rows->push_back(std::move(made));
        have[attr].Insert(dtype);
        break;
      }
    }
  }
}

// Rows of ops that have none in the table, most of them because no table can tell their values.
const std::vector<Row>& RowsWithoutValues() {
  static const auto* const rows = [] {
    auto* all = new std::vector<Row>;
    const auto add = [&](const char* op, const std::map<std::string, AttrValue>& attrs,
                         const std::vector<OpCase::Input>& inputs) {
      OpCase c;
      c.where = "no values";
      c.op = op;
      c.attrs = attrs;
      c.inputs = inputs;
      all->push_back(RowOf(c));
      EXPECT_NE(all->back().node, nullptr) << op;
    };
    const OpCase::Input shape = {.tensors = {Tensor::Of<int32_t>({2}, {2, 3})}};
    for (const char* op : {"Empty", "RandomStandardNormal", "RandomUniform", "TruncatedNormal"}) {
      add(op, {{"dtype", kFloat32}}, {shape});
    }
    add("RandomUniformInt", {}, {shape, {.tensors = {Tensor::Scalar(2)}}, {.tensors = {Tensor::Scalar(9)}}});
    add("GuaranteeConst", {}, {Numbers({2, 3})});
    add("CheckNumericsV2", {{"message", "x"}}, {Numbers({2, 3})});
    return all;
  }();
  return *rows;
}

// A row of each op and dtype that has an emitter, without values where the table has no such row: each value of each
// attribute that is a dtype, and all combinations of them that the table has, such as all pairs of Cast. `missing`, if
// not null, gets what has no row: "Identity T=resource".
std::vector<Row> RowsOfAllTypes(std::vector<std::string>* missing) {
  std::vector<Row> rows;
  std::map<std::string, std::vector<const Row*>> known;
  std::set<std::string> seen;
  for (const auto* all : {&AllRows(), &RowsWithoutValues()}) {
    for (const Row& row : *all) {
      if (!row.expected.error.empty()) continue;
      known[row.expected.op].push_back(&row);
      if (seen.insert(OpAndTypes(*row.node)).second) rows.push_back(row);
    }
  }
  for (const auto& [op, def] : EmitterRegistry::Global().emitters()) {
    AddOtherTypes(def, known[op], &seen, &rows);
  }
  if (missing == nullptr) return rows;
  std::map<std::pair<std::string, std::string>, DTypeSet> have;  // by op and attribute
  for (const Row& row : rows) {
    for (const auto& [name, value] : row.node->attrs()) {
      if (const auto* type = value.get<DType>()) have[{row.expected.op, name}].Insert(BaseType(*type));
    }
  }
  for (const auto& [op, def] : EmitterRegistry::Global().emitters()) {
    for (const auto& [attr, types] : def.types) {
      const auto& allowed = OpRegistry::Global().Find(op)->FindAttr(attr)->allowed_types;
      for (const DType dtype : types.ToVector()) {
        if (!allowed.empty() && std::ranges::find(allowed, dtype) == allowed.end()) continue;
        if (!have[{op, std::string(attr)}].Contains(dtype)) {
          missing->push_back(StrCat(op, " ", attr, "=", DTypeName(dtype)));
        }
      }
    }
  }
  return rows;
}

TEST(OpPrograms, HaveARowOfEachOpAndDtype) {
  std::vector<std::string> missing;
  const std::vector<Row> rows = RowsOfAllTypes(&missing);
  EXPECT_GT(rows.size(), 2800U);
  EXPECT_EQ(std::ranges::count(rows, "Cast", [](const Row& row) { return row.expected.op; }), 15 * 15);
  // A program has constants without a node, and handles are no tensors.
  std::erase_if(missing, [](const std::string& m) { return m.starts_with("Const ") || m.ends_with("=resource"); });
  EXPECT_THAT(missing, testing::IsEmpty());
}

// Compiles the rows as one program; if that fails, each half.
void CheckCompiles(const Topology& card, std::span<const Row> rows) {
  const auto program = ProgramOf(rows);
  if (program.ok() && program->num_results == 0) return;  // known without a program
  const Status status = program.ok() ? card.Compile(program->text, "rows").status() : program.status();
  if (status.ok()) return;
  if (rows.size() == 1) {
    ADD_FAILURE() << rows[0].expected.where << " " << rows[0].expected.op << ": " << status;
    return;
  }
  CheckCompiles(card, rows.first(rows.size() / 2));
  CheckCompiles(card, rows.subspan(rows.size() / 2));
}

// Every `parts`th element, from `number` (counted from 1) on.
struct Part {
  size_t number = 1, parts = 1;
};
// TENSORBRAID_TEST_PART="2/6" is the second of six parts of the rows; "types", or nothing, stands for all.
Part PartFromEnvironment() {
  const char* const text = std::getenv("TENSORBRAID_TEST_PART");
  Part part;
  if (text == nullptr || std::string_view(text) == "types") return part;
  if (std::sscanf(text, "%zu/%zu", &part.number, &part.parts) != 2 || part.number < 1 || part.number > part.parts) {
    ADD_FAILURE() << "TENSORBRAID_TEST_PART is '" << text << "', not 'types' or a part such as 2/6";
    return {};
  }
  return part;
}
std::vector<Row> PartOf(const std::vector<Row>& rows) {
  const Part part = PartFromEnvironment();
  std::vector<Row> chosen;
  for (size_t i = part.number - 1; i < rows.size(); i += part.parts) chosen.push_back(rows[i]);
  return chosen;
}

// Several ops may have the same program, such as the updates of a variable by reference and by handle.
std::vector<Row> WithDifferentPrograms(const std::vector<Row>& rows) {
  std::vector<Row> different;
  std::set<std::string> texts;
  for (const Row& row : rows) {
    const auto program = ProgramOf({&row, 1});
    if (!program.ok() || (program->num_results > 0 && texts.insert(program->text).second)) different.push_back(row);
  }
  return different;
}

// For a card that this machine does not have (tests/accelerators), so nothing runs.
TEST(OpPrograms, AreCompiledForACard) {
  const char* const compiler = std::getenv("TENSORBRAID_TEST_COMPILER");
  if (compiler == nullptr) GTEST_SKIP() << "TENSORBRAID_TEST_COMPILER names no plugin";
  const char* const card = std::getenv("TENSORBRAID_TEST_CARD");
  const auto topology =
      Topology::Create(*Plugin::Load(compiler).value(), DescribeCard(card == nullptr ? "h100" : card).value());
  ASSERT_TRUE(topology.ok()) << topology.status();
  constexpr size_t kRowsPerProgram = 48;
  const std::vector<Row> rows = PartOf(WithDifferentPrograms(OfChosenOps(RowsOfAllTypes(nullptr))));
  std::printf("%zu rows, one of each op and dtype, but for those with the program of another row\n", rows.size());
  for (size_t i = 0; i < rows.size(); i += kRowsPerProgram) {
    CheckCompiles(**topology, std::span(rows).subspan(i, std::min(kRowsPerProgram, rows.size() - i)));
  }
}

// So the host can take the place of every program, and nothing waits for the compiler again and again
// (executor/clusters/host_substitute.h).
TEST(OpPrograms, TheCpuHasASynchronousKernelForEveryRow) {
  ASSERT_FALSE(AllRows().empty());
  for (const Row& row : AllRows()) {
    const auto kernel = MakeKernelOfHost(*row.node);
    ASSERT_TRUE(kernel.ok()) << row.node->Describe() << ": " << kernel.status();
    EXPECT_EQ(dynamic_cast<AsyncKernel*>(kernel->get()), nullptr) << row.node->Describe();
  }
}

// compiled_ops.txt has the ops that TensorFlow compiles for accelerators, kernels/pjrt/host_ops.cc the reasons.
TEST(OpPrograms, AnOpWithoutAnEmitterHasAReason) {
  std::ifstream file(StrCat(TENSORBRAID_OP_REFERENCES, "/../compiled_ops.txt"));
  ASSERT_TRUE(file.is_open());
  const auto& reasons = EmitterRegistry::Global().host_ops();
  size_t ops = 0, on_host = 0;
  for (std::string op; std::getline(file, op);) {
    if (op.starts_with("#")) continue;
    ++ops;
    EXPECT_NE(OpRegistry::Global().Find(op), nullptr) << op;
    const bool has_reason = reasons.contains(op);
    on_host += has_reason ? 1 : 0;
    const bool runs = MovesWholeBuffers(op) || EmitterRegistry::Global().emitters().contains(op);
    EXPECT_TRUE(has_reason || runs) << op << " needs an emitter, or a reason why it has none";
    EXPECT_FALSE(has_reason && runs) << op << " runs on accelerators, so its reason is out of date";
  }
  EXPECT_GT(ops, 400);
  EXPECT_EQ(on_host, reasons.size()) << "a reason for an op that TensorFlow does not compile";
}

class OpProgramsTest : public testing::TestWithParam<std::string> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(OpProgramsTest);
INSTANTIATE_TEST_SUITE_P(All, OpProgramsTest, testing::ValuesIn(CpuPlugins()), PluginName);

// TENSORBRAID_TEST_PART="types" is one row of each op and dtype.
TEST_P(OpProgramsTest, ComputeWhatTheKernelsCompute) {
  constexpr size_t kRowsPerProgram = 48;
  const char* const part = std::getenv("TENSORBRAID_TEST_PART");
  std::vector<Row> rows =
      part != nullptr && part == std::string_view("types") ? RowsOfEachType() : PartOf(OfChosenOps(AllRows()));
  std::erase_if(rows, [](const Row& row) { return !row.expected.error.empty() || OrdersNans(row.expected); });
  RecordProperty("rows", static_cast<int>(rows.size()));
  for (size_t i = 0; i < rows.size(); i += kRowsPerProgram) {
    Check(ClientOf(GetParam()), std::span(rows).subspan(i, std::min(kRowsPerProgram, rows.size() - i)));
  }
}

// The errors of elements have the code and the text of the CPU's kernels, and leave variables alone.
TEST_P(OpProgramsTest, FailAsTheKernelsFail) {
  int failures = 0;
  for (const Row& row : OfChosenOps(AllRows())) {
    if (row.expected.error.empty()) continue;
    const auto program = ProgramOf({&row, 1});
    if (!program.ok()) continue;
    SCOPED_TRACE(StrCat(row.expected.where, " ", row.expected.op));
    const auto results = pjrt::Run(ClientOf(GetParam()), *program, {&row, 1});
    ASSERT_TRUE(results.ok()) << results.status();
    EXPECT_EQ(absl::StatusCodeToString(results->error.code()), row.expected.error) << results->error;
    ++failures;
    if (!row.expected.variables.empty()) continue;
    const Status on_host = ComputeOnHost(*row.node, row.values).status();
    EXPECT_EQ(on_host.message(), results->error.message());
  }
  EXPECT_GE(failures, std::getenv("TENSORBRAID_TEST_OPS") == nullptr ? 10 : 0);
}

}  // namespace
}  // namespace tensorbraid::pjrt
