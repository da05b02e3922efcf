// Parsing: serialized examples, tensors, lines and raw bytes to tensors.
#include "core/strings.h"
#include "graph/node.h"
#include "ops/register.h"

namespace tensorbraid {
namespace {

// The shapes of outputs in the order of the op's arguments.
class OutputShapes {
 public:
  explicit OutputShapes(ShapeContext& c) : c_(c) {}
  void Add(size_t count, const Shape& shape) {
    for (size_t i = 0; i < count && next_ < c_.num_outputs(); ++i) c_.set_output(next_++, shape);
  }
  // [batch,] + each of the shapes; a batch of unknown rank tells nothing. `more` comes in between.
  void AddDense(const Shape& batch, const std::vector<Shape>& shapes, std::initializer_list<int64_t> more = {}) {
    for (const Shape& dense : shapes) {
      if (!batch.has_rank() || !dense.has_rank()) {
        Add(1, Shape::Unknown());
        continue;
      }
      Shape shape = batch;
      for (int64_t d : more) shape.AddDim(d);
      for (int64_t d : dense.dims()) shape.AddDim(d);
      Add(1, shape);
    }
  }
  // Indices, values and shapes of sparse columns of this rank, unknown if negative.
  void AddSparse(size_t count, int rank) {
    Add(count, Shape({-1, rank < 0 ? Shape::kUnknownDim : rank}));
    Add(count, Shape({-1}));
    Add(count, Shape({rank < 0 ? Shape::kUnknownDim : rank}));
  }

 private:
  ShapeContext& c_;
  int next_ = 0;
};

Status CheckDenseShapes(const std::vector<Shape>& shapes, size_t count) {
  if (shapes.size() != count) return InvalidArgument("there are ", shapes.size(), " shapes for ", count, " columns");
  for (const Shape& s : shapes) {
    bool known = s.has_rank();
    for (int i = 1; known && i < s.rank(); ++i) known = s.dim(i) >= 0;
    if (!known) return InvalidArgument("only the first size of a dense shape may be unknown, got ", s);
  }
  return OkStatus();
}

size_t CountOf(ShapeContext& c, std::string_view list_of_types) {
  return c.attr<std::vector<DType>>(list_of_types).size();
}

Status AtMostVector(ShapeContext& c, int input) {
  if (c.input(input).has_rank() && c.input(input).rank() > 1) {
    return InvalidArgument("input ", input, " must be a scalar or a vector, got shape ", c.input(input));
  }
  return OkStatus();
}

// Of sparse columns: one for the batch, if there is one, and `own`.
int SparseRank(const Shape& batch, int own) { return batch.has_rank() ? batch.rank() + own : -1; }

Status ParseExampleShape(ShapeContext& c) {
  const auto& dense = c.attr<std::vector<Shape>>("dense_shapes");
  TF_RETURN_IF_ERROR(CheckDenseShapes(dense, CountOf(c, "Tdense")));
  const bool is_v2 = c.node().FindAttr("ragged_value_types") != nullptr;
  if (is_v2) {
    TF_RETURN_IF_ERROR(AtMostVector(c, 0));
  } else {
    TF_RETURN_IF_ERROR(c.WithRank(0, 1));
  }
  const Shape batch = is_v2 ? c.input(0) : *c.WithRank(0, 1);
  OutputShapes out(c);
  out.AddSparse(CountOf(c, "sparse_types"), SparseRank(batch, 1));
  out.AddDense(batch, dense);
  if (!is_v2) return OkStatus();
  const size_t ragged = CountOf(c, "ragged_value_types");
  if (CountOf(c, "ragged_split_types") != ragged) {
    return InvalidArgument("ragged_value_types and ragged_split_types must be equally long");
  }
  out.Add(ragged, Shape({-1}));
  out.Add(ragged, Shape({-1}));
  return OkStatus();
}

Status ParseSingleExampleShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(c.WithRank(0, 0));
  const auto& dense = c.attr<std::vector<Shape>>("dense_shapes");
  TF_RETURN_IF_ERROR(CheckDenseShapes(dense, CountOf(c, "Tdense")));
  OutputShapes out(c);
  out.AddSparse(CountOf(c, "sparse_types"), 1);
  out.AddDense(Shape(), dense);
  return OkStatus();
}

// `has_lengths`: of dense feature lists.
Status SequenceShape(ShapeContext& c, const Shape& batch, bool has_lengths, bool has_ragged) {
  const auto& context = c.attr<std::vector<Shape>>("context_dense_shapes");
  const auto& lists = c.attr<std::vector<Shape>>("feature_list_dense_shapes");
  if (context.size() != CountOf(c, "Tcontext_dense") || lists.size() != CountOf(c, "feature_list_dense_types")) {
    return InvalidArgument("there must be as many dense shapes as dense types");
  }
  OutputShapes out(c);
  out.AddSparse(CountOf(c, "context_sparse_types"), SparseRank(batch, 1));
  out.AddDense(batch, context);
  // Row splits have no rank of their own: those of one example are scalars.
  const Shape splits = !batch.has_rank() ? Shape::Unknown() : batch.rank() == 0 ? Shape() : Shape({-1});
  if (has_ragged) {
    out.Add(CountOf(c, "context_ragged_value_types"), Shape({-1}));
    out.Add(CountOf(c, "context_ragged_value_types"), splits);
  }
  out.AddSparse(CountOf(c, "feature_list_sparse_types"), SparseRank(batch, 2));
  out.AddDense(batch, lists, {Shape::kUnknownDim});
  if (has_lengths) out.Add(lists.size(), batch);
  if (has_ragged) {
    const size_t ragged = CountOf(c, "feature_list_ragged_value_types");
    out.Add(ragged, Shape({-1}));
    out.Add(ragged, splits);
    out.Add(ragged, Shape({-1}));
  }
  return OkStatus();
}

Status SingleSequenceShape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(c.WithRank(0, 0));
  return SequenceShape(c, Shape(), false, false);
}
Status BatchSequenceShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(const Shape batch, c.WithRank(0, 1));
  return SequenceShape(c, batch, true, false);
}
Status SequenceV2Shape(ShapeContext& c) {
  TF_RETURN_IF_ERROR(AtMostVector(c, 0));
  return SequenceShape(c, c.input(0), true, true);
}

Status ScalarInputUnknownOutput(ShapeContext& c) { return c.WithRank(0, 0).status(); }

// As many more elements for each string as it has bytes.
Status DecodedShape(ShapeContext& c) {
  if (!c.input(0).has_rank()) return OkStatus();
  Shape shape = c.input(0);
  shape.AddDim(Shape::kUnknownDim);
  c.set_output(0, shape);
  return OkStatus();
}

Status DecodeCsvShape(ShapeContext& c) {
  for (int i = 1; i < c.num_inputs(); ++i) {
    TF_RETURN_IF_ERROR(AtMostVector(c, i));
    if (c.input(i).has_rank() && c.input(i).rank() == 1 && c.input(i).dim(0) > 1) {
      return InvalidArgument("record_defaults[", i - 1, "] must have at most one element, got shape ", c.input(i));
    }
  }
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, c.input(0));
  return OkStatus();
}

void RegisterExampleOps(OpRegistry& r) {
  r.Add(Op("ParseExample")
            .Input("serialized: string")
            .Input("names: string")
            .Input("sparse_keys: Nsparse * string")
            .Input("dense_keys: Ndense * string")
            .Input("dense_defaults: Tdense")
            .Output("sparse_indices: Nsparse * int64")
            .Output("sparse_values: sparse_types")
            .Output("sparse_shapes: Nsparse * int64")
            .Output("dense_values: Tdense")
            .Attr("Nsparse: int >= 0")
            .Attr("Ndense: int >= 0")
            .Attr("sparse_types: list({float, int64, string}) >= 0")
            .Attr("Tdense: list({float, int64, string}) >= 0")
            .Attr("dense_shapes: list(shape) >= 0")
            .Shape(ParseExampleShape)
            .NotDifferentiable());
  r.Add(Op("ParseExampleV2")
            .Input("serialized: string")
            .Input("names: string")
            .Input("sparse_keys: string")
            .Input("dense_keys: string")
            .Input("ragged_keys: string")
            .Input("dense_defaults: Tdense")
            .Output("sparse_indices: num_sparse * int64")
            .Output("sparse_values: sparse_types")
            .Output("sparse_shapes: num_sparse * int64")
            .Output("dense_values: Tdense")
            .Output("ragged_values: ragged_value_types")
            .Output("ragged_row_splits: ragged_split_types")
            .Attr("Tdense: list({float, int64, string}) >= 0")
            .Attr("num_sparse: int >= 0")
            .Attr("sparse_types: list({float, int64, string}) >= 0")
            .Attr("ragged_value_types: list({float, int64, string}) >= 0")
            .Attr("ragged_split_types: list({int32, int64}) >= 0")
            .Attr("dense_shapes: list(shape) >= 0")
            .Shape(ParseExampleShape)
            .NotDifferentiable());
  r.Add(Op("ParseSingleExample")
            .Input("serialized: string")
            .Input("dense_defaults: Tdense")
            .Output("sparse_indices: num_sparse * int64")
            .Output("sparse_values: sparse_types")
            .Output("sparse_shapes: num_sparse * int64")
            .Output("dense_values: Tdense")
            .Attr("num_sparse: int >= 0")
            .Attr("sparse_keys: list(string) >= 0")
            .Attr("dense_keys: list(string) >= 0")
            .Attr("sparse_types: list({float, int64, string}) >= 0")
            .Attr("Tdense: list({float, int64, string}) >= 0")
            .Attr("dense_shapes: list(shape) >= 0")
            .Shape(ParseSingleExampleShape)
            .NotDifferentiable());
}

// What all ops of sequence examples have besides keys.
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

void RegisterSequenceParsingOps(OpRegistry& r) {
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
                            false, false));
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
                            false, true));
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
                            true, true));
}

void RegisterDecodeOps(OpRegistry& r) {
  r.Add(Op("ParseTensor")
            .Input("serialized: string")
            .Output("output: out_type")
            .Attr("out_type: type")
            .Shape(ScalarInputUnknownOutput)
            .NotDifferentiable());
  r.Add(Op("SerializeTensor")
            .Input("tensor: T")
            .Output("serialized: string")
            .Attr("T: type")
            .Shape(ScalarShape)
            .NotDifferentiable());
  r.Add(Op("DecodeRaw")
            .Input("bytes: string")
            .Output("output: out_type")
            .Attr("out_type: {half, float, double, int32, uint16, uint8, int16, int8, int64, complex64, complex128, "
                  "bool, bfloat16}")
            .Attr("little_endian: bool = true")
            .Shape(DecodedShape)
            .NotDifferentiable());
  r.Add(Op("DecodePaddedRaw")
            .Input("input_bytes: string")
            .Input("fixed_length: int32")
            .Output("output: out_type")
            .Attr("out_type: {half, float, double, int32, uint16, uint8, int16, int8, int64, bfloat16}")
            .Attr("little_endian: bool = true")
            .Shape(DecodedShape)
            .NotDifferentiable());
  r.Add(Op("DecodeCompressed")
            .Input("bytes: string")
            .Output("output: string")
            .Attr("compression_type: string = ''")
            .Shape(UnchangedShape)
            .NotDifferentiable());
  r.Add(Op("DecodeJSONExample")
            .Input("json_examples: string")
            .Output("binary_examples: string")
            .Shape(UnchangedShape)
            .NotDifferentiable());
  r.Add(Op("DecodeCSV")
            .Input("records: string")
            .Input("record_defaults: OUT_TYPE")
            .Output("output: OUT_TYPE")
            .Attr("OUT_TYPE: list({float, double, int32, int64, string}) >= 1")
            .Attr("field_delim: string = ','")
            .Attr("use_quote_delim: bool = true")
            .Attr("na_value: string = ''")
            .Attr("select_cols: list(int) = []")
            .Shape(DecodeCsvShape)
            .NotDifferentiable());
}

}  // namespace

void RegisterParsingOps(OpRegistry& r) {
  RegisterExampleOps(r);
  RegisterSequenceParsingOps(r);
  RegisterDecodeOps(r);
}

}  // namespace tensorbraid
