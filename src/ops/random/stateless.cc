// Random tensors that are a function of a seed, and generators whose state is in a variable: schemas and shape rules.
#include "graph/model/node.h"
#include "ops/random/shapes.h"

namespace tensorbraid {
namespace {

// The outputs are the key, the counter and, for some ops, the algorithm of a counter-based generator.
Status KeyCounterShape(ShapeContext& c) {
  c.set_output(0, {1});
  c.set_output(1, {2});
  if (c.num_outputs() > 2) c.set_output(2, {});
  return OkStatus();
}

Status StateShape(ShapeContext& c) {
  c.set_output(0, {Shape::kUnknownDim});
  return OkStatus();
}

}  // namespace

void RegisterRandomStatelessOps(OpRegistry& r) {
  for (const char* op : {"StatelessRandomUniform", "StatelessRandomNormal", "StatelessTruncatedNormal"}) {
    r.Add(Op(op)
              .Input("shape: T")
              .Input("seed: Tseed")
              .Output("output: dtype")
              .Attr("dtype: {half, bfloat16, float, double} = DT_FLOAT")
              .Attr("T: {int32, int64} = DT_INT32")
              .Attr("Tseed: {int32, int64} = DT_INT64")
              .Shape(ShapeFromInput)
              .NotDifferentiable());
  }
  for (const char* op : {"StatelessRandomUniformV2", "StatelessRandomNormalV2", "StatelessTruncatedNormalV2"}) {
    r.Add(Op(op)
              .Input("shape: Tshape")
              .Input("key: uint64")
              .Input("counter: uint64")
              .Input("alg: int32")
              .Output("output: dtype")
              .Attr("dtype: {half, bfloat16, float, double} = DT_FLOAT")
              .Attr("Tshape: {int32, int64} = DT_INT32")
              .Shape(ShapeFromInput)
              .NotDifferentiable());
  }
  r.Add(Op("StatelessRandomUniformInt")
            .Input("shape: T")
            .Input("seed: Tseed")
            .Input("minval: dtype")
            .Input("maxval: dtype")
            .Output("output: dtype")
            .Attr("dtype: {int32, int64}")
            .Attr("T: {int32, int64}")
            .Attr("Tseed: {int32, int64} = DT_INT64")
            .Shape(ShapeFromInput)
            .NotDifferentiable());
  r.Add(Op("StatelessRandomUniformIntV2")
            .Input("shape: Tshape")
            .Input("key: uint64")
            .Input("counter: uint64")
            .Input("alg: int32")
            .Input("minval: dtype")
            .Input("maxval: dtype")
            .Output("output: dtype")
            .Attr("dtype: {int32, int64, uint32, uint64}")
            .Attr("Tshape: {int32, int64} = DT_INT32")
            .Shape(ShapeFromInput)
            .NotDifferentiable());
  r.Add(Op("StatelessRandomUniformFullInt")
            .Input("shape: T")
            .Input("seed: Tseed")
            .Output("output: dtype")
            .Attr("dtype: {int32, int64, uint32, uint64} = DT_UINT64")
            .Attr("T: {int32, int64} = DT_INT32")
            .Attr("Tseed: {int32, int64, uint32, uint64} = DT_INT64")
            .Shape(ShapeFromInput)
            .NotDifferentiable());
  r.Add(Op("StatelessRandomUniformFullIntV2")
            .Input("shape: Tshape")
            .Input("key: uint64")
            .Input("counter: uint64")
            .Input("alg: int32")
            .Output("output: dtype")
            .Attr("dtype: {int32, int64, uint32, uint64} = DT_UINT64")
            .Attr("Tshape: {int32, int64} = DT_INT32")
            .Shape(ShapeFromInput)
            .NotDifferentiable());
  r.Add(Op("StatelessRandomGetKeyCounter")
            .Input("seed: Tseed")
            .Output("key: uint64")
            .Output("counter: uint64")
            .Attr("Tseed: {int32, int64} = DT_INT64")
            .Shape(KeyCounterShape)
            .NotDifferentiable());
  r.Add(Op("StatelessRandomGetKeyCounterAlg")
            .Input("seed: Tseed")
            .Output("key: uint64")
            .Output("counter: uint64")
            .Output("alg: int32")
            .Attr("Tseed: {int32, int64} = DT_INT64")
            .Shape(KeyCounterShape)
            .NotDifferentiable());
  r.Add(Op("StatelessRandomGetAlg").Output("alg: int32").Stateful().Shape(ScalarShape).NotDifferentiable());
  r.Add(Op("NonDeterministicInts")
            .Input("shape: shape_dtype")
            .Output("output: dtype")
            .Attr("dtype: type = DT_INT64")
            .Attr("shape_dtype: type = DT_INT64")
            .Stateful()
            .Shape(ShapeFromInput)
            .NotDifferentiable());
  r.Add(Op("RngReadAndSkip")
            .Input("resource: resource")
            .Input("alg: int32")
            .Input("delta: uint64")
            .Output("value: int64")
            .Stateful()
            .Shape(StateShape)
            .NotDifferentiable());
  r.Add(Op("RngSkip")
            .Input("resource: resource")
            .Input("algorithm: int64")
            .Input("delta: int64")
            .Stateful()
            .Shape(NoOutputs)
            .NotDifferentiable());
}

}  // namespace tensorbraid
