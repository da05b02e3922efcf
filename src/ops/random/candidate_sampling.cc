// Ops that sample candidate classes, and ComputeAccidentalHits: schemas and shape rules.
#include "graph/model/node.h"
#include "ops/builder.h"

namespace tensorbraid {
namespace {

Status CandidatesShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(Shape classes, c.WithRank(0, 2));
  const Shape sampled({c.attr<int64_t>("num_sampled")});
  c.set_output(0, sampled);
  c.set_output(1, std::move(classes));
  c.set_output(2, sampled);
  return OkStatus();
}

Status AccidentalHitsShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(c.WithRank(0, 2).status());
  TF_RETURN_IF_ERROR(c.WithRank(1, 1).status());
  for (int i = 0; i < 3; ++i) c.set_output(i, {Shape::kUnknownDim});
  return OkStatus();
}

}  // namespace

void RegisterRandomCandidateSamplingOps(OpRegistry& r) {
  for (const char* op : {"UniformCandidateSampler", "LogUniformCandidateSampler", "LearnedUnigramCandidateSampler",
                         "ThreadUnsafeUnigramCandidateSampler"}) {
    r.Add(Op(op)
              .Input("true_classes: int64")
              .Output("sampled_candidates: int64")
              .Output("true_expected_count: float")
              .Output("sampled_expected_count: float")
              .Attr("num_true: int >= 1")
              .Attr("num_sampled: int >= 1")
              .Attr("unique: bool")
              .Attr("range_max: int >= 1")
              .Attr("seed: int = 0")
              .Attr("seed2: int = 0")
              .Stateful()
              .Shape(CandidatesShape)
              .NotDifferentiable());
  }
  r.Add(Op("FixedUnigramCandidateSampler")
            .Input("true_classes: int64")
            .Output("sampled_candidates: int64")
            .Output("true_expected_count: float")
            .Output("sampled_expected_count: float")
            .Attr("num_true: int >= 1")
            .Attr("num_sampled: int >= 1")
            .Attr("unique: bool")
            .Attr("range_max: int >= 1")
            .Attr("vocab_file: string = ''")
            .Attr("distortion: float = 1")
            .Attr("num_reserved_ids: int = 0")
            .Attr("num_shards: int >= 1 = 1")
            .Attr("shard: int >= 0 = 0")
            .Attr("unigrams: list(float) = []")
            .Attr("seed: int = 0")
            .Attr("seed2: int = 0")
            .Stateful()
            .Shape(CandidatesShape)
            .NotDifferentiable());
  r.Add(Op("AllCandidateSampler")
            .Input("true_classes: int64")
            .Output("sampled_candidates: int64")
            .Output("true_expected_count: float")
            .Output("sampled_expected_count: float")
            .Attr("num_true: int >= 1")
            .Attr("num_sampled: int >= 1")
            .Attr("unique: bool")
            .Attr("seed: int = 0")
            .Attr("seed2: int = 0")
            .Stateful()
            .Shape(CandidatesShape)
            .NotDifferentiable());
  r.Add(Op("ComputeAccidentalHits")
            .Input("true_classes: int64")
            .Input("sampled_candidates: int64")
            .Output("indices: int32")
            .Output("ids: int64")
            .Output("weights: float")
            .Attr("num_true: int")
            .Attr("seed: int = 0")
            .Attr("seed2: int = 0")
            .Shape(AccidentalHitsShape)
            .NotDifferentiable());
}

}  // namespace tensorbraid
