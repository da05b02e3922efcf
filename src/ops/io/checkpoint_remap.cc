// Ops that load a matrix from a checkpoint and rearrange its rows for another vocabulary: schemas and shape rules.
#include "core/text/strings.h"
#include "graph/model/node.h"

namespace tensorbraid {
namespace {

// Output 0 has the old ID of each of the num_new_vocab new words; output 1 is the number of words found.
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

}  // namespace

void RegisterIoCheckpointRemapOps(OpRegistry& r) {
  r.Add(Op("GenerateVocabRemapping")
            .Input("new_vocab_file: string")
            .Input("old_vocab_file: string")
            .Output("remapping: int64")
            .Output("num_present: int32")
            .Attr("new_vocab_offset: int >= 0")
            .Attr("num_new_vocab: int >= 0")
            .Attr("old_vocab_size: int >= -1 = -1")
            .Impure()
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
}

}  // namespace tensorbraid
