// Functions of two operands, broadcast: schemas and gradients.
#include "core/strings.h"
#include "graph/node.h"
#include "ops/builder.h"
#include "tensorbraid/math_ops.h"

namespace tensorbraid {
namespace {

struct Pair {
  Output x;
  Output y;
};

// A gradient from the op's inputs x and y, its output z and the output's gradient g. The results have the output's
// shape and are summed to those of the inputs.
template <Pair (*gradient)(Output x, Output y, Output z, Output g)>
Status Gradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const Output x = op.node()->inputs()[0];
  const Output y = op.node()->inputs()[1];
  const Pair p = gradient(x, y, op.output(0), grads[0]);
  SumToOperands(x, y, p.x, p.y, input_grads);
  return OkStatus();
}

Pair AddGrad(Output, Output, Output, Output g) { return {g, g}; }
Pair SubGrad(Output, Output, Output, Output g) { return {g, Neg(g)}; }
Pair MulGrad(Output x, Output y, Output, Output g) { return {g * y, x * g}; }
Pair DivGrad(Output, Output y, Output z, Output g) {
  const Output gx = g / y;
  return {gx, Neg(gx * z)};
}
Pair DivNoNanGrad(Output, Output y, Output z, Output g) {
  const Output gx = DivNoNan(g, y);
  return {gx, Neg(gx * z)};
}
Pair FloorModGrad(Output x, Output y, Output, Output g) { return {g, Neg(g * FloorDiv(x, y))}; }
Pair SquaredDifferenceGrad(Output x, Output y, Output, Output g) {
  const Output gx = 2.0 * g * (x - y);
  return {gx, Neg(gx)};
}
Pair MaximumGrad(Output x, Output y, Output, Output g) {
  const Output first = GreaterEqual(x, y);
  return {Select(first, g, 0.0), Select(first, 0.0, g)};
}
Pair MinimumGrad(Output x, Output y, Output, Output g) {
  const Output first = LessEqual(x, y);
  return {Select(first, g, 0.0), Select(first, 0.0, g)};
}
Pair PowGrad(Output x, Output y, Output z, Output g) {
  // The logarithm of anything else than a positive number is not wanted, and must not be computed: NaN * 0 is NaN.
  const Output positive = Greater(x, 0.0);
  const Output log = Select(positive, Log(Select(positive, x, 1.0)), 0.0);
  return {g * y * Pow(x, y - 1.0), g * z * log};
}

constexpr const char* kNumbers =
    "T: {bfloat16, half, float, double, uint8, int8, uint16, int16, int32, uint32, uint64, int64, complex64, "
    "complex128}";

}  // namespace

void RegisterBinaryOps(OpRegistry& r) {
  struct Row {
    const char* name;
    const char* types;
    GradientFn gradient;
  };
  for (const Row& row : std::initializer_list<Row>{
           {"Add",
            "T: {bfloat16, half, float, double, uint8, int8, int16, int32, int64, complex64, complex128, string}",
            Gradient<AddGrad>},
           {"AddV2", kNumbers, Gradient<AddGrad>},
           {"Sub", kNumbers, Gradient<SubGrad>},
           {"Mul", kNumbers, Gradient<MulGrad>},
           {"Div", kNumbers, Gradient<DivGrad>},
           {"RealDiv", kNumbers, Gradient<DivGrad>},
           {"DivNoNan", "T: {half, float, bfloat16, double, complex64, complex128}", Gradient<DivNoNanGrad>},
           {"FloorMod", "T: {int8, int16, int32, int64, uint8, uint16, uint32, uint64, bfloat16, half, float, double}",
            Gradient<FloorModGrad>},
           {"Pow", "T: {bfloat16, float, half, double, int8, int16, int32, int64, complex64, complex128}",
            Gradient<PowGrad>},
           {"SquaredDifference", "T: {bfloat16, half, float, double, int32, int64, complex64, complex128}",
            Gradient<SquaredDifferenceGrad>},
           {"Maximum", "T: {bfloat16, half, float, double, int8, uint8, int16, uint16, int32, uint32, int64, uint64}",
            Gradient<MaximumGrad>},
           {"Minimum", "T: {bfloat16, half, float, double, int8, uint8, int16, uint16, int32, uint32, int64, uint64}",
            Gradient<MinimumGrad>},
       }) {
    r.Add(Op(row.name)
              .Input("x: T")
              .Input("y: T")
              .Output("z: T")
              .Attr(row.types)
              .Shape(BroadcastShape)
              .Gradient(row.gradient));
  }
  for (const char* op : {"FloorDiv", "TruncateDiv"}) {
    r.Add(Op(op).Input("x: T").Input("y: T").Output("z: T").Attr(kNumbers).Shape(BroadcastShape).NotDifferentiable());
  }
  r.Add(Op("Mod")
            .Input("x: T")
            .Input("y: T")
            .Output("z: T")
            .Attr("T: {int32, int64, half, bfloat16, float, double}")
            .Shape(BroadcastShape)
            .NotDifferentiable());
  for (const char* name : {"Less", "LessEqual", "Greater", "GreaterEqual"}) {
    r.Add(Op(name)
              .Input("x: T")
              .Input("y: T")
              .Output("z: bool")
              .Attr("T: realnumbertype")
              .Shape(BroadcastShape)
              .NotDifferentiable());
  }
  const auto equality_shape = [](ShapeContext& c) -> Status {
    // Without the check of shapes, operands that do not fit are simply unequal: nothing is known of the result.
    return c.attr<bool>("incompatible_shape_error") ? BroadcastShape(c) : UnknownShape(c);
  };
  for (const char* name : {"Equal", "NotEqual"}) {
    r.Add(Op(name)
              .Input("x: T")
              .Input("y: T")
              .Output("z: bool")
              .Attr("T: type")
              .Attr("incompatible_shape_error: bool = true")
              .Shape(equality_shape)
              .NotDifferentiable());
  }
  for (const char* name : {"LogicalAnd", "LogicalOr"}) {
    r.Add(Op(name).Input("x: bool").Input("y: bool").Output("z: bool").Shape(BroadcastShape).NotDifferentiable());
  }
}

}  // namespace tensorbraid
