// The public functions of the math op family.
#include "graph/model/mistakes.h"
#include "graph/model/node.h"
#include "graph/model/user_lines.h"
#include "ops/builder.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {

#define TB_BINARY(function, op) \
  Output function(const Operand& x, const Operand& y, const std::string& name) { return BinaryOp(op, x, y, name); }
TB_BINARY(Add, "AddV2")
TB_BINARY(Sub, "Sub")
TB_BINARY(Mul, "Mul")
TB_BINARY(DivNoNan, "DivNoNan")
TB_BINARY(FloorDiv, "FloorDiv")
TB_BINARY(FloorMod, "FloorMod")
TB_BINARY(Pow, "Pow")
TB_BINARY(SquaredDifference, "SquaredDifference")
TB_BINARY(Maximum, "Maximum")
TB_BINARY(Minimum, "Minimum")
TB_BINARY(Equal, "Equal")
TB_BINARY(NotEqual, "NotEqual")
TB_BINARY(Less, "Less")
TB_BINARY(LessEqual, "LessEqual")
TB_BINARY(Greater, "Greater")
TB_BINARY(GreaterEqual, "GreaterEqual")
TB_BINARY(LogicalAnd, "LogicalAnd")
TB_BINARY(LogicalOr, "LogicalOr")
#undef TB_BINARY

#define TB_UNARY(function) \
  Output function(const Operand& x, const std::string& name) { return UnaryOp(#function, x, name); }
TB_UNARY(Neg)
TB_UNARY(Abs)
TB_UNARY(Sign)
TB_UNARY(Reciprocal)
TB_UNARY(Square)
TB_UNARY(Sqrt)
TB_UNARY(Rsqrt)
TB_UNARY(Exp)
TB_UNARY(Expm1)
TB_UNARY(Log)
TB_UNARY(Log1p)
TB_UNARY(Sin)
TB_UNARY(Cos)
TB_UNARY(Tanh)
TB_UNARY(Sigmoid)
TB_UNARY(Floor)
TB_UNARY(Ceil)
TB_UNARY(Round)
TB_UNARY(IsNan)
TB_UNARY(IsInf)
TB_UNARY(IsFinite)
TB_UNARY(LogicalNot)
#undef TB_UNARY

Output Div(const Operand& x, const Operand& y, const std::string& name) {
  const DType dtype = x.is_number() ? y.dtype() : x.dtype();
  return BinaryOp(IsInteger(dtype) ? "TruncateDiv" : "RealDiv", x, y, name);
}

Output operator+(const Operand& x, const Operand& y) { return Add(x, y); }
Output operator-(const Operand& x, const Operand& y) { return Sub(x, y); }
Output operator*(const Operand& x, const Operand& y) { return Mul(x, y); }
Output operator/(const Operand& x, const Operand& y) { return Div(x, y); }
Output operator-(const Operand& x) { return Neg(x); }
Output operator%(const Operand& x, const Operand& y) { return FloorMod(x, y); }
Output operator<(const Operand& x, const Operand& y) { return Less(x, y); }
Output operator<=(const Operand& x, const Operand& y) { return LessEqual(x, y); }
Output operator>(const Operand& x, const Operand& y) { return Greater(x, y); }
Output operator>=(const Operand& x, const Operand& y) { return GreaterEqual(x, y); }

Output Select(const Operand& condition, const Operand& t, const Operand& e, const std::string& name) {
  Graph* graph = GraphOf("SelectV2", {&condition, &t, &e});
  if (graph == nullptr) return {};
  const Output c = condition.ToOutput(*graph, kBool);
  const Output then_value = t.ToOutput(*graph, e.dtype());
  const Output else_value = e.ToOutput(*graph, t.dtype());
  return NodeBuilder(*graph, "SelectV2", condition.location())
      .Name(name)
      .Input(c)
      .Input(then_value)
      .Input(else_value)
      .Output();
}

Output Cast(const Operand& x, DType dtype, const std::string& name) {
  Graph* graph = GraphOf("Cast", {&x});
  if (graph == nullptr) return {};
  const Output in = x.ToOutput(*graph, dtype);
  if (in.dtype() == dtype) return in;
  return NodeBuilder(*graph, "Cast", x.location()).Name(name).Input(in).Attr("DstT", dtype).Output();
}

Output AddN(const std::vector<Output>& values, const std::string& name, std::source_location loc) {
  for (const Output& value : values) {
    if (value.valid()) return NodeBuilder(*value.graph(loc), "AddN", loc).Name(name).InputList(values).Output();
  }
  if (values.empty()) LogMistake("AddN", loc, kEmptyList);
  return {};
}

Output Einsum(const std::string& equation, const std::vector<Operand>& inputs, const std::string& name,
              std::source_location loc) {
  Graph* graph = GraphOf("Einsum", inputs, loc);
  if (graph == nullptr) return {};
  const ScopedLocation at(*graph, inputs[0].location());
  DType dtype = DType::kInvalid;
  for (const Operand& input : inputs) {
    if (dtype == DType::kInvalid) dtype = input.dtype();
  }
  std::vector<Output> tensors;
  for (const Operand& input : inputs) tensors.push_back(input.ToOutput(*graph, dtype));
  return NodeBuilder(*graph, "Einsum").Name(name).InputList(tensors).Attr("equation", equation).Output();
}

Output MatMul(const Operand& a, const Operand& b, const MatMulOptions& options) {
  Graph* graph = GraphOf("MatMul", {&a, &b});
  if (graph == nullptr) return {};
  const Output x = a.ToOutput(*graph, b.dtype());
  const Output y = b.ToOutput(*graph, a.dtype());
  return NodeBuilder(*graph, "MatMul", a.location())
      .Name(options.name)
      .Input(x)
      .Input(y)
      .Attr("transpose_a", options.transpose_a)
      .Attr("transpose_b", options.transpose_b)
      .Output();
}

Output BatchMatMul(const Operand& x, const Operand& y, const BatchMatMulOptions& options) {
  Graph* graph = GraphOf("BatchMatMulV2", {&x, &y});
  if (graph == nullptr) return {};
  const Output a = x.ToOutput(*graph, y.dtype());
  const Output b = y.ToOutput(*graph, x.dtype());
  return NodeBuilder(*graph, "BatchMatMulV2", x.location())
      .Name(options.name)
      .Input(a)
      .Input(b)
      .Attr("adj_x", options.adj_x)
      .Attr("adj_y", options.adj_y)
      .Output();
}

Output Range(Graph& graph, const Operand& start, const Operand& limit, const Operand& delta, const std::string& name) {
  const ScopedLocation at(graph, start.location());
  DType dtype = DType::kInvalid;
  for (const Operand* operand : {&start, &limit, &delta}) {
    if (!operand->is_number() && dtype == DType::kInvalid) dtype = operand->dtype();
  }
  const Output from = start.ToOutput(graph, dtype);
  if (dtype == DType::kInvalid) dtype = from.dtype();
  const Output to = limit.ToOutput(graph, dtype);
  const Output step = delta.ToOutput(graph, dtype);
  return NodeBuilder(graph, "Range", start.location()).Name(name).Input(from).Input(to).Input(step).Output();
}

}  // namespace tensorbraid
