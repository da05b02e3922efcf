// Random ops with state. The host keeps the state of the node's stream, as for the kernel of the CPU, and each run of a
// program gets its place in the stream.
#include "kernels/cpu/random/random_shape.h"
#include "kernels/pjrt/dtypes.h"
#include "kernels/pjrt/random/draw.h"

namespace tensorbraid::pjrt {
namespace {

Stream StreamOfNode(EmitContext& ctx, const Shape& shape) {
  const Expr place(ctx.builder(), ctx.stream(shape.num_elements()));
  return {ElementOf(place, 0), ElementOf(place, 1), ElementOf(place, 2)};
}

void AddStateful(EmitterRegistry& r, std::string_view op, Distribution numbers,
                 std::source_location location = std::source_location::current()) {
  const EmitFn emit = [numbers](EmitContext& ctx) -> Status {
    TF_ASSIGN_OR_RETURN(const Tensor sizes, ctx.static_input(0));
    TF_ASSIGN_OR_RETURN(const Shape shape, cpu::RandomShapeFrom(sizes));
    ctx.set_output(0, numbers(StreamOfNode(ctx, shape), ctx.node().output_type(0), shape).value());
    return OkStatus();
  };
  EmitterDef& def = r.Add(op, {{"dtype", kFloats}}, emit, location);
  def.static_inputs = {"shape"};
  def.draws = true;
}

Status EmitUniformInt(EmitContext& ctx) {
  TF_ASSIGN_OR_RETURN(const Tensor sizes, ctx.static_input(0));
  TF_ASSIGN_OR_RETURN(const Shape shape, cpu::RandomShapeFrom(sizes));
  const Stream stream = StreamOfNode(ctx, shape);
  TF_ASSIGN_OR_RETURN(const Expr numbers, IntegersBetween(ctx, stream, shape, 1));
  ctx.set_output(0, numbers.value());
  return OkStatus();
}

}  // namespace

void RegisterRandomEmitters(EmitterRegistry& r) {
  AddStateful(r, "RandomUniform", UniformNumbers);
  AddStateful(r, "RandomStandardNormal", NormalNumbers);
  AddStateful(r, "TruncatedNormal", TruncatedNormalNumbers);
  EmitterDef& def = r.Add("RandomUniformInt", {}, EmitUniformInt);
  def.static_inputs = {"shape", "minval", "maxval"};
  def.draws = true;
}

}  // namespace tensorbraid::pjrt
