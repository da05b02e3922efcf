// Diagonals and bands of matrices: schemas, shape rules, gradients.
#include <algorithm>

#include "core/text/strings.h"
#include "graph/model/node.h"
#include "ops/builder.h"
#include "ops/linalg/matrix_diagonal.h"
#include "tensorbraid/ops/math.h"

namespace tensorbraid {
namespace {

constexpr int64_t kUnknownSize = Shape::kUnknownDim;
constexpr const char* kAlign = "align: {'LEFT_RIGHT', 'RIGHT_LEFT', 'LEFT_LEFT', 'RIGHT_RIGHT'} = 'RIGHT_LEFT'";

// The diagonals from `lower` to `upper`, which an input selects. If the op does not have this input, they are the main
// diagonal. `known` is false if the value of the input is not known while building the graph.
struct DiagonalRange {
  bool known = true;
  int64_t lower = 0;
  int64_t upper = 0;
};
StatusOr<DiagonalRange> RangeOf(ShapeContext& c, int input) {
  DiagonalRange r;
  if (input >= c.num_inputs()) return r;
  if (c.input(input).has_rank() && c.input(input).rank() > 1) {
    return InvalidArgument("k must be a scalar or a vector, got shape ", c.input(input));
  }
  const Tensor k = c.input_value(input);
  r.known = k.is_valid();
  if (!r.known) return r;
  const auto values = k.data<int32_t>();
  if (values.empty() || values.size() > 2) {
    return InvalidArgument("k must be a scalar or have one or two elements, got shape ", k.shape());
  }
  r.lower = values[0];
  r.upper = values[values.size() - 1];
  if (r.lower > r.upper) return InvalidArgument("k must be in ascending order, got ", r.lower, " and ", r.upper);
  return r;
}

// The value of a scalar input, or `otherwise` if the op does not have the input. Returns -2 if the value is not known
// while building the graph, because -1 is a value that the input may have.
int64_t ScalarOr(ShapeContext& c, int input, int64_t otherwise) {
  if (input >= c.num_inputs()) return otherwise;
  const Tensor t = c.input_value(input);
  if (!t.is_valid() || t.num_elements() != 1) return kUnknownSize - 1;
  return t.scalar<int32_t>();
}

Status MatrixDiagShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(const Shape in, c.WithRankAtLeast(0, 1));
  TF_ASSIGN_OR_RETURN(const DiagonalRange k, RangeOf(c, 1));
  if (!in.has_rank() || !k.known) return OkStatus();
  // The number of dimensions of the input that belong to one matrix.
  const int own = k.lower == k.upper ? 1 : 2;
  TF_RETURN_IF_ERROR(c.WithRankAtLeast(0, own).status());
  const int64_t longest = in.dim(in.rank() - 1);
  int64_t rows = ScalarOr(c, 2, -1), columns = ScalarOr(c, 3, -1);
  if (longest < 0 || rows < -1 || columns < -1) {
    rows = columns = kUnknownSize;
  } else {
    TF_RETURN_IF_ERROR(FitDiagonals(longest, k.lower, k.upper, &rows, &columns));
  }
  Shape out(in.dims().first(in.rank() - own));
  out.AddDim(rows);
  out.AddDim(columns);
  c.set_output(0, std::move(out));
  return OkStatus();
}

// The shape of diagonals k of matrices of shape `in`, as far as it is known.
StatusOr<Shape> DiagonalsOf(const Shape& in, const DiagonalRange& k) {
  if (!in.has_rank() || !k.known) return Shape::Unknown();
  Shape out(in.dims().first(in.rank() - 2));
  if (k.lower != k.upper) out.AddDim(k.upper - k.lower + 1);
  const int64_t rows = in.dim(in.rank() - 2), columns = in.dim(in.rank() - 1);
  int64_t longest = kUnknownSize;
  if (rows >= 0 && columns >= 0) {
    for (int64_t d : {k.lower, k.upper}) {
      if (d != 0 && (d <= -rows || d >= columns)) {
        return InvalidArgument("diagonal ", d, " is out of range for matrices of ", rows, " rows and ", columns,
                               " columns");
      }
    }
    longest = std::min(rows + std::min<int64_t>(k.upper, 0), columns - std::max<int64_t>(k.lower, 0));
  }
  out.AddDim(longest);
  return out;
}

Status MatrixDiagPartShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(const Shape in, c.WithRankAtLeast(0, 2));
  TF_ASSIGN_OR_RETURN(const DiagonalRange k, RangeOf(c, 1));
  TF_ASSIGN_OR_RETURN(Shape out, DiagonalsOf(in, k));
  c.set_output(0, std::move(out));
  return OkStatus();
}

Status MatrixSetDiagShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(const Shape in, c.WithRankAtLeast(0, 2));
  TF_RETURN_IF_ERROR(c.WithRankAtLeast(1, 1).status());
  TF_ASSIGN_OR_RETURN(const DiagonalRange k, RangeOf(c, 2));
  TF_ASSIGN_OR_RETURN(const Shape wanted, DiagonalsOf(in, k));
  if (!wanted.IsCompatibleWith(c.input(1))) {
    return InvalidArgument("diagonal must have shape ", wanted, ", got ", c.input(1));
  }
  return UnchangedShape(c);
}

Status BandPartShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(c.WithRankAtLeast(0, 2).status());
  return UnchangedShape(c);
}

Status DiagShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(const Shape in, c.WithRankAtLeast(0, 1));
  if (!in.has_rank()) return OkStatus();
  Shape out = in;
  for (int64_t d : in.dims()) out.AddDim(d);
  c.set_output(0, std::move(out));
  return OkStatus();
}

Status DiagPartShape(ShapeContext& c) {
  const Shape& in = c.input(0);
  if (!in.has_rank()) return OkStatus();
  if (in.rank() < 2 || in.rank() % 2 != 0) {
    return InvalidArgument("input must have an even rank, got shape ", in);
  }
  const Shape first(in.dims().first(in.rank() / 2)), second(in.dims().last(in.rank() / 2));
  auto merged = first.MergeWith(second);
  if (!merged.ok()) return InvalidArgument("both halves of the shape must be the same, got ", in);
  c.set_output(0, *std::move(merged));
  return OkStatus();
}

// Adds the op `name`, in the same version as `op`, with these inputs. Versions 2 and 3 have an input k for the
// diagonals, and version 3 has an attribute `align`.
Output SameVersion(const Operation& op, const std::string& name, const std::vector<Output>& inputs) {
  const bool aligned = op.type().ends_with("V3");
  NodeBuilder builder(*op.graph(), name + (aligned ? "V3" : op.type().ends_with("V2") ? "V2" : ""));
  for (const Output& input : inputs) builder.Input(input);
  if (aligned) builder.Attr("align", NodeOf(op)->attr<std::string>("align"));
  return builder.Output();
}

// Takes from `matrices` the diagonals that `op` sets: the diagonals k, or the main diagonal if k is invalid.
Output SameDiagonals(const Operation& op, Output matrices, Output k) {
  if (!k.valid()) return SameVersion(op, "MatrixDiagPart", {matrices});
  const Output padding = Operand(0.0).ToOutput(*op.graph(), matrices.dtype());
  return SameVersion(op, "MatrixDiagPart", {matrices, k, padding});
}

Status MatrixDiagGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const auto& in = NodeOf(op)->inputs();
  (*input_grads)[0] = SameDiagonals(op, grads[0], in.size() > 1 ? in[1] : Output());
  return OkStatus();
}

Status MatrixDiagPartGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const auto& in = NodeOf(op)->inputs();
  std::vector<Output> inputs = {Node1("ZerosLike", in[0]), grads[0]};
  if (in.size() > 1) inputs.push_back(in[1]);
  (*input_grads)[0] = SameVersion(op, "MatrixSetDiag", inputs);
  return OkStatus();
}

Status MatrixSetDiagGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const auto& in = NodeOf(op)->inputs();
  std::vector<Output> inputs = {grads[0], Node1("ZerosLike", in[1])};
  if (in.size() > 2) inputs.push_back(in[2]);
  (*input_grads)[0] = SameVersion(op, "MatrixSetDiag", inputs);
  (*input_grads)[1] = SameDiagonals(op, grads[0], in.size() > 2 ? in[2] : Output());
  return OkStatus();
}

Status DiagGradient(const Operation&, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  (*input_grads)[0] = Node1("DiagPart", grads[0]);
  return OkStatus();
}
Status DiagPartGradient(const Operation&, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  (*input_grads)[0] = Node1("Diag", grads[0]);
  return OkStatus();
}
Status BandPartGradient(const Operation& op, const std::vector<Output>& grads, std::vector<Output>* input_grads) {
  const auto& in = NodeOf(op)->inputs();
  (*input_grads)[0] = NodeBuilder(*op.graph(), "MatrixBandPart").Input(grads[0]).Input(in[1]).Input(in[2]).Output();
  return OkStatus();
}

}  // namespace

Status FitDiagonals(int64_t longest, int64_t lower, int64_t upper, int64_t* rows, int64_t* columns) {
  const int64_t least_rows = longest - std::min<int64_t>(upper, 0);
  const int64_t least_columns = longest + std::max<int64_t>(lower, 0);
  if (*rows == -1 && *columns == -1) {
    *rows = *columns = std::max(least_rows, least_columns);
  } else if (*rows == -1) {
    *rows = least_rows;
  } else if (*columns == -1) {
    *columns = least_columns;
  }
  if (*rows < least_rows || *columns < least_columns || (*rows != least_rows && *columns != least_columns)) {
    return InvalidArgument("matrices of ", *rows, " rows and ", *columns, " columns do not have diagonals of length ",
                           longest);
  }
  return OkStatus();
}

void RegisterLinalgDiagonalOps(OpRegistry& r) {
  r.Add(Op("MatrixDiag")
            .Input("diagonal: T")
            .Output("output: T")
            .Attr("T: type")
            .Shape(MatrixDiagShape)
            .Gradient(MatrixDiagGradient));
  r.Add(Op("MatrixDiagPart")
            .Input("input: T")
            .Output("diagonal: T")
            .Attr("T: type")
            .Shape(MatrixDiagPartShape)
            .Gradient(MatrixDiagPartGradient));
  r.Add(Op("MatrixSetDiag")
            .Input("input: T")
            .Input("diagonal: T")
            .Output("output: T")
            .Attr("T: type")
            .Shape(MatrixSetDiagShape)
            .Gradient(MatrixSetDiagGradient));
  for (const bool aligned : {false, true}) {
    const std::string version = aligned ? "V3" : "V2";
    const auto add = [&](Op op) {
      if (aligned) op.Attr(kAlign);
      r.Add(op);
    };
    add(Op("MatrixDiag" + version)
            .Input("diagonal: T")
            .Input("k: int32")
            .Input("num_rows: int32")
            .Input("num_cols: int32")
            .Input("padding_value: T")
            .Output("output: T")
            .Attr("T: type")
            .Shape(MatrixDiagShape)
            .Gradient(MatrixDiagGradient));
    add(Op("MatrixDiagPart" + version)
            .Input("input: T")
            .Input("k: int32")
            .Input("padding_value: T")
            .Output("diagonal: T")
            .Attr("T: type")
            .Shape(MatrixDiagPartShape)
            .Gradient(MatrixDiagPartGradient));
    add(Op("MatrixSetDiag" + version)
            .Input("input: T")
            .Input("diagonal: T")
            .Input("k: int32")
            .Output("output: T")
            .Attr("T: type")
            .Shape(MatrixSetDiagShape)
            .Gradient(MatrixSetDiagGradient));
  }
  r.Add(Op("MatrixBandPart")
            .Input("input: T")
            .Input("num_lower: Tindex")
            .Input("num_upper: Tindex")
            .Output("band: T")
            .Attr("T: type")
            .Attr("Tindex: {int32, int64} = DT_INT64")
            .Shape(BandPartShape)
            .Gradient(BandPartGradient));
  constexpr const char* kDiagTypes = "T: {bfloat16, half, float, double, int32, int64, complex64, complex128}";
  r.Add(Op("Diag").Input("diagonal: T").Output("output: T").Attr(kDiagTypes).Shape(DiagShape).Gradient(DiagGradient));
  r.Add(Op("DiagPart")
            .Input("input: T")
            .Output("diagonal: T")
            .Attr(kDiagTypes)
            .Shape(DiagPartShape)
            .Gradient(DiagPartGradient));
}

}  // namespace tensorbraid
