// Saving and restoring tensors.
#include "checkpoint/tensor_slice.h"
#include "core/strings.h"
#include "graph/node.h"
#include "ops/register.h"

namespace tensorbraid {
namespace {

Status AllScalars(ShapeContext& c) {
  for (int i = 0; i < c.num_inputs(); ++i) TF_RETURN_IF_ERROR(c.WithRank(i, 0).status());
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, {});
  return OkStatus();
}

// A prefix, then names and slices: vectors with an element for each tensor.
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

// A file name, then `lists` vectors with an element for each tensor.
Status SaveV1Shape(ShapeContext& c, int lists) {
  TF_RETURN_IF_ERROR(c.WithRank(0, 0).status());
  const int num_tensors = c.num_inputs() - 1 - lists;
  for (int i = 1; i <= lists; ++i) {
    TF_ASSIGN_OR_RETURN(const Shape list, c.WithRank(i, 1));
    if (list.dim(0) != Shape::kUnknownDim && list.dim(0) != num_tensors) {
      return InvalidArgument("input ", i, " must have an element for each of the ", num_tensors, " tensors, got shape ",
                             list);
    }
  }
  return OkStatus();
}
Status SaveAllShape(ShapeContext& c) { return SaveV1Shape(c, 1); }
Status SaveSlicesShape(ShapeContext& c) { return SaveV1Shape(c, 2); }

Status RestoreOneShape(ShapeContext& c) {
  for (int i = 0; i < c.num_inputs(); ++i) TF_RETURN_IF_ERROR(c.WithRank(i, 0).status());
  c.set_output(0, Shape::Unknown());
  const Tensor slice = c.num_inputs() > 2 ? c.input_value(2) : Tensor();
  if (!slice.is_valid() || slice.scalar<std::string>().empty()) return OkStatus();
  TF_ASSIGN_OR_RETURN(auto parsed, ParseShapeAndSlice(slice.scalar<std::string>()));
  c.set_output(0, std::move(parsed.slice_shape));
  return OkStatus();
}

// A new ID for each element: a vector of so many.
Status VocabRemappingShape(ShapeContext& c) {
  for (int i : {0, 1}) TF_RETURN_IF_ERROR(c.WithRank(i, 0).status());
  c.set_output(0, {c.attr<int64_t>("num_new_vocab")});
  c.set_output(1, {});
  return OkStatus();
}

Status RemappedMatrixShape(ShapeContext& c) {
  const int64_t num_rows = c.attr<int64_t>("num_rows");
  TF_ASSIGN_OR_RETURN(const Shape rows, c.WithRank(2, 1));
  if (!rows.IsCompatibleWith(Shape({num_rows}))) {
    return InvalidArgument("row_remapping must have num_rows = ", num_rows, " elements, got shape ", rows);
  }
  TF_RETURN_IF_ERROR(c.WithRank(3, 1).status());
  c.set_output(0, {num_rows, c.attr<int64_t>("num_cols")});
  return OkStatus();
}

Status SaveShape(ShapeContext& c) { return CheckLists(c, c.num_inputs() - 3); }

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

Status MergeShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(c.WithRank(0, 1).status());
  return c.WithRank(1, 0).status();
}

}  // namespace

void RegisterCheckpointOps(OpRegistry& r) {
  r.Add(Op("SaveV2")
            .Input("prefix: string")
            .Input("tensor_names: string")
            .Input("shape_and_slices: string")
            .Input("tensors: dtypes")
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
            .Shape(MergeShape)
            .NotDifferentiable());
  r.Add(Op("Save")
            .Input("filename: string")
            .Input("tensor_names: string")
            .Input("data: T")
            .Attr("T: list(type) >= 1")
            .Stateful()
            .Shape(SaveAllShape)
            .NotDifferentiable());
  r.Add(Op("SaveSlices")
            .Input("filename: string")
            .Input("tensor_names: string")
            .Input("shapes_and_slices: string")
            .Input("data: T")
            .Attr("T: list(type) >= 1")
            .Stateful()
            .Shape(SaveSlicesShape)
            .NotDifferentiable());
  r.Add(Op("Restore")
            .Input("file_pattern: string")
            .Input("tensor_name: string")
            .Output("tensor: dt")
            .Attr("dt: type")
            .Attr("preferred_shard: int = -1")
            .Stateful()
            .Shape(RestoreOneShape)
            .NotDifferentiable());
  r.Add(Op("RestoreSlice")
            .Input("file_pattern: string")
            .Input("tensor_name: string")
            .Input("shape_and_slice: string")
            .Output("tensor: dt")
            .Attr("dt: type")
            .Attr("preferred_shard: int = -1")
            .Stateful()
            .Shape(RestoreOneShape)
            .NotDifferentiable());
  r.Add(Op("GenerateVocabRemapping")
            .Input("new_vocab_file: string")
            .Input("old_vocab_file: string")
            .Output("remapping: int64")
            .Output("num_present: int32")
            .Attr("new_vocab_offset: int >= 0")
            .Attr("num_new_vocab: int >= 0")
            .Attr("old_vocab_size: int >= -1 = -1")
            .Shape(VocabRemappingShape)
            .NotDifferentiable());
  r.Add(Op("LoadAndRemapMatrix")
            .Input("ckpt_path: string")
            .Input("old_tensor_name: string")
            .Input("row_remapping: int64")
            .Input("col_remapping: int64")
            .Input("initializing_values: float")
            .Output("output_matrix: float")
            .Attr("num_rows: int >= 0")
            .Attr("num_cols: int >= 1")
            .Attr("max_rows_in_memory: int = -1")
            .Stateful()
            .Shape(RemappedMatrixShape)
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
