// Hashes of strings: schemas and shape rules.
#include "core/text/strings.h"
#include "graph/model/node.h"

namespace tensorbraid {
namespace {

Status FingerprintShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(const Shape data, c.WithRankAtLeast(0, 1));
  TF_RETURN_IF_ERROR(c.WithRank(1, 0));
  const Tensor method = c.input_value(1);
  if (method.is_valid() && method.scalar<std::string>() != "farmhash64") {
    return InvalidArgument("unknown method '", method.scalar<std::string>(),
                           "'; the only known method is 'farmhash64'");
  }
  c.set_output(0, Shape({data.has_rank() ? data.dim(0) : Shape::kUnknownDim, 8}));
  return OkStatus();
}

}  // namespace

void RegisterStringHashOps(OpRegistry& r) {
  r.Add(Op("StringToHashBucket")
            .Input("string_tensor: string")
            .Output("output: int64")
            .Attr("num_buckets: int >= 1")
            .Shape(UnchangedShape)
            .NotDifferentiable());
  r.Add(Op("StringToHashBucketFast")
            .Input("input: string")
            .Output("output: int64")
            .Attr("num_buckets: int >= 1")
            .Shape(UnchangedShape)
            .NotDifferentiable());
  r.Add(Op("StringToHashBucketStrong")
            .Input("input: string")
            .Output("output: int64")
            .Attr("num_buckets: int >= 1")
            .Attr("key: list(int)")
            .Shape(UnchangedShape)
            .NotDifferentiable());
  r.Add(Op("Fingerprint")
            .Input("data: T")
            .Input("method: string")
            .Output("fingerprint: uint8")
            .Attr("T: type")
            .Shape(FingerprintShape)
            .NotDifferentiable());
}

}  // namespace tensorbraid
