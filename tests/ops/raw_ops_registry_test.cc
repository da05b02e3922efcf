// Calls the function of raw_ops for every op, and compares its node with the one that NodeBuilder makes from the same
// inputs and attributes.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "graph/model/node.h"
#include "graph/model/op_registry.h"
#include "tensorbraid/raw_ops.h"

namespace tensorbraid {
namespace {

using Functions = std::vector<AttrValue::Function>;

// The values with which an op is called: a tensor or a list for each input, and a value for each attribute.
class RawValues {
 public:
  explicit RawValues(const OpDef& op) : op_(op) {}

  // Finds values that the op accepts: the default for each attribute that has one.
  bool Find();
  // Gives the attribute another value that the op accepts together with the other values. Without such a value, returns
  // false and changes nothing.
  bool Vary(const AttrDef& attr);
  // Adds the node with NodeBuilder. Returns an invalid operation if the op refuses the values.
  Operation Build(Graph& g) const;

  // What the calls use.
  void Begin(Graph* g) {
    graph_ = g;
    outputs_.clear();
  }
  Graph& graph() const { return *graph_; }
  std::string name() const { return "raw"; }
  Output One(const std::string& input) const { return List(input).at(0); }
  std::vector<Output> List(const std::string& input) const { return InputsIn(*graph_).at(input); }
  template <typename T>
  T Attr(const std::string& attr) const {
    if constexpr (std::is_same_v<T, Functions>) {
      Functions functions;
      for (const auto& f : *attrs_.at(attr).get<std::vector<std::shared_ptr<const AttrValue::Function>>>()) {
        functions.push_back(*f);
      }
      return functions;
    } else if constexpr (std::is_same_v<T, AttrValue::Function>) {
      return **attrs_.at(attr).get<std::shared_ptr<const AttrValue::Function>>();
    } else {
      return *attrs_.at(attr).get<T>();
    }
  }
  void SetResult(const Operation& operation) { result_ = operation; }
  void SetResult(const Output& output) {
    result_ = output.op();
    outputs_ = {output};
  }
  template <typename... Results>
  void SetResult(const Operation& operation, const Results&... results) {
    result_ = operation;
    (Append(results), ...);
  }
  const Operation& result() const { return result_; }
  const std::vector<Output>& outputs() const { return outputs_; }

 private:
  void Append(const Output& output) { outputs_.push_back(output); }
  void Append(const std::vector<Output>& list) { outputs_.insert(outputs_.end(), list.begin(), list.end()); }

  bool Accepts() const {
    Graph g;
    return Build(g).valid() && g.status().ok();
  }
  bool FindRequired(size_t i);
  std::vector<AttrValue> Candidates(const AttrDef& attr) const;
  DType TypeOf(const ArgDef& arg, size_t i) const;
  std::map<std::string, std::vector<Output>> InputsIn(Graph& g) const;

  const OpDef& op_;
  std::map<std::string, AttrValue> attrs_;
  Graph* graph_ = nullptr;
  Operation result_;
  std::vector<Output> outputs_;
};

// Values of the attribute's type, of which an op may accept some.
std::vector<AttrValue> RawValues::Candidates(const AttrDef& attr) const {
  const size_t length = static_cast<size_t>(std::max<int64_t>(attr.minimum.value_or(1), 1));
  const AttrValue::Function function{.name = "Callee", .attrs = {}}, other_function{.name = "Other", .attrs = {}};
  const auto shared = [](const AttrValue::Function& f) { return std::make_shared<const AttrValue::Function>(f); };
  std::vector<DType> types = {kFloat32, kInt32, kInt64, kString, kBool, DType::kQuint8};
  if (!attr.allowed_types.empty()) types = attr.allowed_types;
  std::vector<AttrValue> values;
  if (attr.type == "string") {
    for (const std::string& s : attr.allowed_strings) values.emplace_back(s);
    // Names, equations, formats and serialized messages.
    if (values.empty())
      values = {"some", "ij,jk->ik", "a->a", "%d", "UTF-8", "linear", "min", "NCHW", "SAME", "SUM", ""};
  } else if (attr.type == "int") {
    for (const int64_t i : {2, 3, 1, 0, 4, 16, -1}) values.emplace_back(i);
  } else if (attr.type == "float") {
    for (const float f : {0.25f, 2.0f, 1.0f}) values.emplace_back(f);
  } else if (attr.type == "bool") {
    values = {true, false};
  } else if (attr.type == "type") {
    for (const DType t : types) values.emplace_back(t);
  } else if (attr.type == "shape") {
    values = {Shape({2, 3}), Shape({}), Shape::Unknown(), Shape({3}), Shape({2})};
  } else if (attr.type == "tensor") {
    values = {Tensor::Vector<uint8_t>({7, 8}), Tensor::Scalar(2.0f), Tensor::Scalar(int64_t{2})};
  } else if (attr.type == "func") {
    values = {function, other_function};
  } else if (attr.type == "list(string)") {
    values = {std::vector<std::string>(length, "x"), std::vector<std::string>{"x", "y"}, std::vector<std::string>{}};
  } else if (attr.type == "list(int)") {
    for (const size_t n : {length, size_t{1}, size_t{2}, size_t{3}, size_t{4}, size_t{5}}) {
      values.emplace_back(std::vector<int64_t>(n, 1));
      std::vector<int64_t> inner(n, 1);
      for (size_t i = 1; i + 1 < n; ++i) inner[i] = 2;
      values.emplace_back(inner);
    }
    for (const auto& ints : {std::vector<int64_t>{0, 0, 1, 1}, {1, 1, 2, 2}}) values.emplace_back(ints);
    values.emplace_back(std::vector<int64_t>{});
  } else if (attr.type == "list(float)") {
    values = {std::vector<float>(length, 0.5f), std::vector<float>{1, 2, 3}, std::vector<float>{1, 2, 3, 4}};
  } else if (attr.type == "list(type)") {
    for (const DType t : types) values.emplace_back(std::vector<DType>(length, t));
    for (const DType t : types) values.emplace_back(std::vector<DType>(2, t));
    values.emplace_back(std::vector<DType>{});
  } else if (attr.type == "list(shape)") {
    for (const size_t n : {length, size_t{2}, size_t{0}}) values.emplace_back(std::vector<Shape>(n, Shape({2})));
  } else if (attr.type == "list(func)") {
    using Shared = std::vector<std::shared_ptr<const AttrValue::Function>>;
    values = {Shared{shared(function), shared(function)}, Shared{shared(function), shared(other_function)}};
  }
  return values;
}

DType RawValues::TypeOf(const ArgDef& arg, size_t i) const {
  DType type = arg.type;
  if (!arg.type_attr.empty()) type = *attrs_.at(arg.type_attr).get<DType>();
  if (!arg.type_list_attr.empty()) type = attrs_.at(arg.type_list_attr).get<std::vector<DType>>()->at(i);
  return type;
}

// Placeholders for the inputs, by the names of the arguments. They have the same names in every graph.
std::map<std::string, std::vector<Output>> RawValues::InputsIn(Graph& g) const {
  std::map<std::string, std::vector<Output>> inputs;
  for (const ArgDef& arg : op_.inputs) {
    int64_t length = 1;
    if (!arg.number_attr.empty()) length = *attrs_.at(arg.number_attr).get<int64_t>();
    if (!arg.type_list_attr.empty()) {
      length = static_cast<int64_t>(attrs_.at(arg.type_list_attr).get<std::vector<DType>>()->size());
    }
    std::vector<Output>& tensors = inputs[arg.name];
    for (int64_t i = 0; i < length; ++i) {
      const std::string name = "input_" + arg.name + "_" + std::to_string(i);
      if (const auto made = g.FindOutput(name + ":0"); made.ok()) {
        tensors.push_back(*made);
        continue;
      }
      const DType type = TypeOf(arg, static_cast<size_t>(i));
      tensors.push_back(NodeBuilder(g, arg.is_ref ? "VariableV2" : "Placeholder")
                            .Name(name)
                            .Attr("dtype", type)
                            .Attr("shape", Shape::Unknown())
                            .Output());
    }
  }
  return inputs;
}

Operation RawValues::Build(Graph& g) const {
  const auto inputs = InputsIn(g);
  NodeBuilder builder(g, op_.name);
  builder.Name(name());
  for (const ArgDef& arg : op_.inputs) {
    if (arg.number_attr.empty() && arg.type_list_attr.empty()) {
      builder.Input(inputs.at(arg.name)[0]);
    } else {
      builder.InputList(inputs.at(arg.name));
    }
  }
  for (const auto& [attr, value] : attrs_) builder.Attr(attr, value);
  return builder.Finish();
}

// Chooses values for the attributes without default from number i on.
bool RawValues::FindRequired(size_t i) {
  if (i == op_.attrs.size()) return Accepts();
  const AttrDef& attr = op_.attrs[i];
  if (attr.default_value) return FindRequired(i + 1);
  for (const AttrValue& value : Candidates(attr)) {
    attrs_[attr.name] = value;
    if (FindRequired(i + 1)) return true;
  }
  return false;
}

bool RawValues::Find() {
  for (const AttrDef& attr : op_.attrs) {
    if (attr.default_value) attrs_[attr.name] = *attr.default_value;
  }
  return FindRequired(0);
}

bool RawValues::Vary(const AttrDef& attr) {
  const AttrValue kept = attrs_[attr.name];
  for (const AttrValue& value : Candidates(attr)) {
    if (value.ToString() == kept.ToString()) continue;
    attrs_[attr.name] = value;
    if (Accepts()) return true;
  }
  attrs_[attr.name] = kept;
  return false;
}

struct RawCall {
  const char* op;
  void (*call)(RawValues& v);
};

const RawCall kCalls[] = {
#include "raw_ops_calls.inc"
};

// Compares the nodes that the function and NodeBuilder make of the values.
void Compare(const OpDef& op, const RawCall& row, RawValues values) {
  Graph built, raw;
  values.Build(built);
  values.Begin(&raw);
  // The inputs come first, in the order of the definition, as in the other graph.
  for (const ArgDef& arg : op.inputs) values.List(arg.name);
  row.call(values);
  ASSERT_TRUE(raw.status().ok()) << raw.status();
  EXPECT_EQ(*raw.ToGraphDefText(), *built.ToGraphDefText());
  ASSERT_TRUE(values.result().valid());
  EXPECT_EQ(values.result().type(), row.op);
  if (op.outputs.empty()) return;
  ASSERT_EQ(static_cast<int>(values.outputs().size()), values.result().num_outputs());
  for (int i = 0; i < values.result().num_outputs(); ++i) EXPECT_EQ(values.outputs()[i], values.result().output(i));
}

// Each attribute has another value once while the others keep theirs, so that attributes which are exchanged show.
TEST(RawOpsRegistry, EachFunctionAddsTheNodeThatNodeBuilderAdds) {
  int attrs = 0, unvaried = 0;
  for (const RawCall& row : kCalls) {
    SCOPED_TRACE(row.op);
    const OpDef* op = OpRegistry::Global().Find(row.op);
    ASSERT_NE(op, nullptr);
    RawValues values(*op);
    if (!values.Find()) {
      Graph g;
      values.Build(g);
      ADD_FAILURE() << "no values for its attributes were found: " << g.status();
      continue;
    }
    Compare(*op, row, values);
    for (const AttrDef& attr : op->attrs) {
      SCOPED_TRACE(attr.name);
      if (attr.allowed_types.size() == 1) continue;  // there is no other value
      RawValues other = values;
      ++attrs;
      if (other.Vary(attr)) {
        Compare(*op, row, other);
      } else {
        ++unvaried;
      }
    }
  }
  // Some attributes, such as explicit paddings, have other values only together with others.
  EXPECT_LT(unvaried * 50, attrs) << unvaried << " of " << attrs;
}

}  // namespace
}  // namespace tensorbraid
