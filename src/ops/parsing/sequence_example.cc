// Ops that parse tf.train.SequenceExample messages: schemas and shape rules.
#include "core/text/strings.h"
#include "graph/model/node.h"
#include "ops/parsing/shapes.h"

namespace tensorbraid {
namespace {

// Sets the shapes of all outputs. `batch` is the shape of the input with the serialized messages. `has_lengths`: the op
// has outputs for the lengths of dense feature lists. `has_ragged`: the op has outputs for ragged features.
Status SequenceShape(ShapeContext& c, const Shape& batch, bool has_lengths, bool has_ragged) {
  const auto& context = c.attr<std::vector<Shape>>("context_dense_shapes");
  const auto& lists = c.attr<std::vector<Shape>>("feature_list_dense_shapes");
  if (context.size() != LengthOfList(c, "Tcontext_dense") ||
      lists.size() != LengthOfList(c, "feature_list_dense_types")) {
    return InvalidArgument("there must be as many dense shapes as dense types");
  }
  OutputShapes out(c);
  out.AddSparse(LengthOfList(c, "context_sparse_types"), RankOfSparseColumn(batch, 1));
  out.AddDense(batch, context);
  // Row splits are a vector for a batch of messages, and a scalar for a single message.
  const Shape splits = !batch.has_rank() ? Shape::Unknown() : batch.rank() == 0 ? Shape() : Shape({-1});
  if (has_ragged) {
    out.Add(LengthOfList(c, "context_ragged_value_types"), Shape({-1}));
    out.Add(LengthOfList(c, "context_ragged_value_types"), splits);
  }
  out.AddSparse(LengthOfList(c, "feature_list_sparse_types"), RankOfSparseColumn(batch, 2));
  out.AddDense(batch, lists, {Shape::kUnknownDim});
  if (has_lengths) out.Add(lists.size(), batch);
  if (has_ragged) {
    const size_t ragged = LengthOfList(c, "feature_list_ragged_value_types");
    out.Add(ragged, Shape({-1}));
    out.Add(ragged, splits);
    out.Add(ragged, Shape({-1}));
  }
  return OkStatus();
}

Status SingleSequenceShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(c.WithRank(0, 0));
  return SequenceShape(c, /*batch=*/Shape(), /*has_lengths=*/false, /*has_ragged=*/false);
}

Status BatchSequenceShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(const Shape batch, c.WithRank(0, 1));
  return SequenceShape(c, batch, /*has_lengths=*/true, /*has_ragged=*/false);
}

Status SequenceV2Shape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(CheckAtMostVector(c, 0));
  return SequenceShape(c, c.input(0), /*has_lengths=*/true, /*has_ragged=*/true);
}

// Adds the outputs, and the attributes that all of these ops have.
Op WithSequenceOutputs(Op op, bool has_ragged, bool has_lengths) {
  op.Output("context_sparse_indices: Ncontext_sparse * int64")
      .Output("context_sparse_values: context_sparse_types")
      .Output("context_sparse_shapes: Ncontext_sparse * int64")
      .Output("context_dense_values: Tcontext_dense");
  if (has_ragged) {
    op.Output("context_ragged_values: context_ragged_value_types")
        .Output("context_ragged_row_splits: context_ragged_split_types");
  }
  op.Output("feature_list_sparse_indices: Nfeature_list_sparse * int64")
      .Output("feature_list_sparse_values: feature_list_sparse_types")
      .Output("feature_list_sparse_shapes: Nfeature_list_sparse * int64")
      .Output("feature_list_dense_values: feature_list_dense_types");
  if (has_lengths) op.Output("feature_list_dense_lengths: Nfeature_list_dense * int64");
  if (has_ragged) {
    op.Output("feature_list_ragged_values: feature_list_ragged_value_types")
        .Output("feature_list_ragged_outer_splits: feature_list_ragged_split_types")
        .Output("feature_list_ragged_inner_splits: feature_list_ragged_split_types")
        .Attr("context_ragged_value_types: list({float, int64, string}) >= 0 = []")
        .Attr("context_ragged_split_types: list({int32, int64}) >= 0 = []")
        .Attr("feature_list_ragged_value_types: list({float, int64, string}) >= 0 = []")
        .Attr("feature_list_ragged_split_types: list({int32, int64}) >= 0 = []");
  }
  op.Attr("Ncontext_sparse: int >= 0 = 0")
      .Attr("Nfeature_list_sparse: int >= 0 = 0")
      .Attr("Nfeature_list_dense: int >= 0 = 0")
      .Attr("context_sparse_types: list({float, int64, string}) >= 0 = []")
      .Attr("Tcontext_dense: list({float, int64, string}) >= 0 = []")
      .Attr("feature_list_dense_types: list({float, int64, string}) >= 0 = []")
      .Attr("context_dense_shapes: list(shape) >= 0 = []")
      .Attr("feature_list_sparse_types: list({float, int64, string}) >= 0 = []")
      .Attr("feature_list_dense_shapes: list(shape) >= 0 = []")
      .NotDifferentiable();
  return op;
}

}  // namespace

void RegisterParsingSequenceExampleOps(OpRegistry& r) {
  r.Add(WithSequenceOutputs(Op("ParseSingleSequenceExample")
                                .Input("serialized: string")
                                .Input("feature_list_dense_missing_assumed_empty: string")
                                .Input("context_sparse_keys: Ncontext_sparse * string")
                                .Input("context_dense_keys: Ncontext_dense * string")
                                .Input("feature_list_sparse_keys: Nfeature_list_sparse * string")
                                .Input("feature_list_dense_keys: Nfeature_list_dense * string")
                                .Input("context_dense_defaults: Tcontext_dense")
                                .Input("debug_name: string")
                                .Attr("Ncontext_dense: int >= 0 = 0")
                                .Shape(SingleSequenceShape),
                            /*has_ragged=*/false, /*has_lengths=*/false));
  r.Add(WithSequenceOutputs(Op("ParseSequenceExample")
                                .Input("serialized: string")
                                .Input("debug_name: string")
                                .Input("context_dense_defaults: Tcontext_dense")
                                .Attr("feature_list_dense_missing_assumed_empty: list(string) >= 0")
                                .Attr("context_sparse_keys: list(string) >= 0")
                                .Attr("context_dense_keys: list(string) >= 0")
                                .Attr("feature_list_sparse_keys: list(string) >= 0")
                                .Attr("feature_list_dense_keys: list(string) >= 0")
                                .Attr("Ncontext_dense: int >= 0 = 0")
                                .Shape(BatchSequenceShape),
                            /*has_ragged=*/false, /*has_lengths=*/true));
  r.Add(WithSequenceOutputs(Op("ParseSequenceExampleV2")
                                .Input("serialized: string")
                                .Input("debug_name: string")
                                .Input("context_sparse_keys: string")
                                .Input("context_dense_keys: string")
                                .Input("context_ragged_keys: string")
                                .Input("feature_list_sparse_keys: string")
                                .Input("feature_list_dense_keys: string")
                                .Input("feature_list_ragged_keys: string")
                                .Input("feature_list_dense_missing_assumed_empty: bool")
                                .Input("context_dense_defaults: Tcontext_dense")
                                .Shape(SequenceV2Shape),
                            /*has_ragged=*/true, /*has_lengths=*/true));
}

}  // namespace tensorbraid
