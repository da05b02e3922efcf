// Ops that save and restore tensors: schemas and shape rules.
#include "checkpoint/tensor_slice.h"
#include "core/text/strings.h"
#include "graph/model/node.h"
#include "ops/io/restore_shape.h"

namespace tensorbraid {
namespace {

Status AllScalars(ShapeContext& c) {
  for (int i = 0; i < c.num_inputs(); ++i) TF_RETURN_IF_ERROR(c.WithRank(i, 0).status());
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, {});
  return OkStatus();
}

// Checks inputs 0 to 2: the prefix is a scalar; the names and the slices are vectors with one element per tensor.
Status CheckLists(ShapeContext& c, int num_tensors) {
  TF_RETURN_IF_ERROR(c.WithRank(0, 0).status());
  for (int i : {1, 2}) {
    TF_ASSIGN_OR_RETURN(const Shape list, c.WithRank(i, 1));
    if (list.dim(0) != Shape::kUnknownDim && list.dim(0) != num_tensors) {
      return InvalidArgument("input ", i, " must have an element for each of the ", num_tensors, " tensors, got shape ",
                             list);
    }
  }
  return OkStatus();
}

// The inputs after the first three are the tensors.
Status SaveShape(ShapeContext& c) { return CheckLists(c, c.num_inputs() - 3); }

Status MergeCheckpointsShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(c.WithRank(0, 1).status());
  return c.WithRank(1, 0).status();
}

}  // namespace

Status RestoreShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(CheckLists(c, c.num_outputs()));
  const Tensor slices = c.input_value(2);
  for (int i = 0; i < c.num_outputs(); ++i) {
    c.set_output(i, Shape::Unknown());
    if (!slices.is_valid() || slices.data<std::string>()[i].empty()) continue;
    TF_ASSIGN_OR_RETURN(auto parsed, ParseShapeAndSlice(slices.data<std::string>()[i]));
    c.set_output(i, std::move(parsed.slice_shape));
  }
  return OkStatus();
}

void RegisterIoCheckpointOps(OpRegistry& r) {
  r.Add(Op("SaveV2")
            .Input("prefix: string")
            .Input("tensor_names: string")
            .Input("shape_and_slices: string")
            .Input("tensors: dtypes")
            .Attr("dtypes: list(type) >= 1")
            .Stateful()
            .Shape(SaveShape)
            .NotDifferentiable());
  // executor/passes/save_variables.cc replaces SaveV2 by this op. An entry of `variables` may be a resource handle or a
  // reference; the kernel reads its variable just before it writes the value.
  r.Add(Op("_SaveVariables")
            .Input("prefix: string")
            .Input("tensor_names: string")
            .Input("shape_and_slices: string")
            .Input("variables: Tvariables")
            .Attr("Tvariables: list(type) >= 1")
            .Attr("dtypes: list(type) >= 1")
            .Stateful()
            .Shape(SaveShape)
            .NotDifferentiable());
  r.Add(Op("RestoreV2")
            .Input("prefix: string")
            .Input("tensor_names: string")
            .Input("shape_and_slices: string")
            .Output("tensors: dtypes")
            .Attr("dtypes: list(type) >= 1")
            .Stateful()
            .Shape(RestoreShape)
            .NotDifferentiable());
  r.Add(Op("MergeV2Checkpoints")
            .Input("checkpoint_prefixes: string")
            .Input("destination_prefix: string")
            .Attr("delete_old_dirs: bool = true")
            .Attr("allow_missing_files: bool = false")
            .Stateful()
            .Shape(MergeCheckpointsShape)
            .NotDifferentiable());
  r.Add(Op("ShardedFilename")
            .Input("basename: string")
            .Input("shard: int32")
            .Input("num_shards: int32")
            .Output("filename: string")
            .Shape(AllScalars)
            .NotDifferentiable());
  r.Add(Op("ShardedFilespec")
            .Input("basename: string")
            .Input("num_shards: int32")
            .Output("filename: string")
            .Shape(AllScalars)
            .NotDifferentiable());
}

}  // namespace tensorbraid
