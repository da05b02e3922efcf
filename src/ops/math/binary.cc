// Functions of two operands: schemas and gradients.
#include "graph/model/node.h"
#include "ops/builder.h"
#include "ops/math/gradients.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {
namespace {

struct Pair {
  Output x;
  Output y;
};

// Makes a GradientFn of a function that computes the gradients of the op's inputs x and y from the inputs, the op's
// output z and the output's gradient g. The gradients have the output's shape; they are then reduced to the shapes of
// the inputs.
template <Pair (*gradient)(Output x, Output y, Output z, Output g)>
Status BroadcastGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const Output x = NodeOf(op)->inputs()[0];
  const Output y = NodeOf(op)->inputs()[1];
  const Pair p = gradient(x, y, op.output(0), grads[0]);
  SumToOperands(x, y, p.x, p.y, input_grads);
  return OkStatus();
}

Pair AddGrad(Output, Output, Output, Output g) { return {g, g}; }
Pair SubGrad(Output, Output, Output, Output g) { return {g, Neg(g)}; }
Pair MulGrad(Output x, Output y, Output, Output g) { return {g * Conjugated(y), Conjugated(x) * g}; }

Pair DivGrad(Output, Output y, Output z, Output g) {
  const Output gx = g / Conjugated(y);
  return {gx, Neg(gx * Conjugated(z))};
}

Pair DivNoNanGrad(Output, Output y, Output z, Output g) {
  const Output gx = DivNoNan(g, Conjugated(y));
  return {gx, Neg(gx * Conjugated(z))};
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
  // Where x is 0 or a negative real number, 0 is used for its logarithm. Log gets 1 instead of such an x. Otherwise a
  // gradient of this gradient would be NaN where x is 0, because it divides 0 by the input of Log.
  const Output cx = Conjugated(x), cy = Conjugated(y);
  const Output has_log = IsComplex(cx.dtype()) ? NotEqual(cx, 0.0) : Greater(cx, 0.0);
  const Output log = Select(has_log, Log(Select(has_log, cx, 1.0)), 0.0);
  return {g * cy * Pow(cx, cy - 1.0), g * Conjugated(z) * log};
}

constexpr const char* kNumbers =
    "T: {bfloat16, half, float, double, uint8, int8, uint16, int16, int32, uint32, uint64, int64, complex64, "
    "complex128}";

Output IsNonzero(Output x) { return Cast(NotEqual(x, 0.0), x.dtype()); }

OperandGrads Atan2Grad(Output y, Output x, Output g) {
  const Output r = g / (Square(x) + Square(y));
  return {x * r, Neg(y * r)};
}

OperandGrads MulNoNanGrad(Output x, Output y, Output g) { return {Node2("MulNoNan", g, y), Node2("MulNoNan", x, g)}; }

OperandGrads XdivyGrad(Output x, Output y, Output g) {
  return {Node2("Xdivy", IsNonzero(x), y) * g, Node2("Xdivy", Neg(x), Square(y)) * g};
}

OperandGrads XlogyGrad(Output x, Output y, Output g) {
  return {Node2("Xlogy", IsNonzero(x), y) * g, Node2("Xdivy", x, y) * g};
}

OperandGrads Xlog1pyGrad(Output x, Output y, Output g) {
  return {Node2("Xlog1py", IsNonzero(x), y) * g, Node2("Xdivy", x, y + 1.0) * g};
}

OperandGrads NextAfterGrad(Output, Output, Output g) { return {g, Node1("ZerosLike", g)}; }

}  // namespace

void RegisterMathBinaryOps(OpRegistry& r) {
  struct Row {
    const char* name;
    const char* types;
    GradientFn gradient;
  };
  for (const Row& row : std::initializer_list<Row>{
           {"Add",
            "T: {bfloat16, half, float, double, uint8, int8, int16, int32, int64, complex64, complex128, string}",
            BroadcastGradient<AddGrad>},
           {"AddV2", kNumbers, BroadcastGradient<AddGrad>},
           {"Sub", kNumbers, BroadcastGradient<SubGrad>},
           {"Mul", kNumbers, BroadcastGradient<MulGrad>},
           {"Div", kNumbers, BroadcastGradient<DivGrad>},
           {"RealDiv", kNumbers, BroadcastGradient<DivGrad>},
           {"DivNoNan", "T: {half, float, bfloat16, double, complex64, complex128}", BroadcastGradient<DivNoNanGrad>},
           {"FloorMod", "T: {int8, int16, int32, int64, uint8, uint16, uint32, uint64, bfloat16, half, float, double}",
            BroadcastGradient<FloorModGrad>},
           {"Pow", "T: {bfloat16, float, half, double, int8, int16, int32, int64, complex64, complex128}",
            BroadcastGradient<PowGrad>},
           {"SquaredDifference", "T: {bfloat16, half, float, double, int32, int64, complex64, complex128}",
            BroadcastGradient<SquaredDifferenceGrad>},
           {"Maximum", "T: {bfloat16, half, float, double, int8, uint8, int16, uint16, int32, uint32, int64, uint64}",
            BroadcastGradient<MaximumGrad>},
           {"Minimum", "T: {bfloat16, half, float, double, int8, uint8, int16, uint16, int32, uint32, int64, uint64}",
            BroadcastGradient<MinimumGrad>},
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
  for (const Row& row : std::initializer_list<Row>{
           {"MulNoNan", kFloatsAndComplex, OperandGradient<MulNoNanGrad>},
           {"Xdivy", kFloatsAndComplex, OperandGradient<XdivyGrad>},
           {"Xlogy", kFloatsAndComplex, OperandGradient<XlogyGrad>},
           {"Xlog1py", kFloatsAndComplex, OperandGradient<Xlog1pyGrad>},
           {"TruncateMod", "T: {int32, int64, bfloat16, half, float, double}", nullptr},
       }) {
    r.Add(Op(row.name)
              .Input("x: T")
              .Input("y: T")
              .Output("z: T")
              .Attr(row.types)
              .Shape(BroadcastShape)
              .Gradient(row.gradient));
  }
  // The remaining ops name their operands differently.
  const auto add = [&r](const char* name, const char* x, const char* y, const char* types, GradientFn gradient) {
    r.Add(Op(name).Input(x).Input(y).Output("z: T").Attr(types).Shape(BroadcastShape).Gradient(gradient));
  };
  add("Atan2", "y: T", "x: T", kRealFloats, OperandGradient<Atan2Grad>);
  r.Add(Op("NextAfter")
            .Input("x1: T")
            .Input("x2: T")
            .Output("output: T")
            .Attr("T: {double, float} = DT_FLOAT")
            .Shape(BroadcastShape)
            .Gradient(OperandGradient<NextAfterGrad>));
}

}  // namespace tensorbraid
