// Implements ShapeContext and the shape rules that many ops share (op_registry.h).
#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "core/text/strings.h"
#include "graph/model/node.h"
#include "graph/model/op_registry.h"

namespace tensorbraid {
namespace {

// Returns the value of a tensor that is the same in every step, or an invalid tensor if it is not known.
Tensor ConstantValue(Output output) {
  const Node* node = NodeOf(output);
  if (node->type() == "Const") return node->attr<Tensor>("value");
  if (node->type() == "Shape" || node->type() == "Size" || node->type() == "Rank") {
    const Shape& shape = node->inputs()[0].shape();
    if (!shape.has_rank() || (node->type() != "Rank" && !shape.is_fully_defined())) return {};
    std::vector<int64_t> values(shape.dims().begin(), shape.dims().end());
    Shape result({shape.rank()});
    if (node->type() == "Size") values = {shape.num_elements()};
    if (node->type() == "Rank") values = {shape.rank()};
    if (node->type() != "Shape") result = Shape();
    if (node->output_type(0) == kInt64) return Tensor::Of<int64_t>(result, values);
    const bool fits = std::all_of(values.begin(), values.end(), [](int64_t value) {
      return value <= std::numeric_limits<int32_t>::max();  // else the node fails in the step
    });
    if (!fits) return {};
    return Tensor::Of<int32_t>(result, std::vector<int32_t>(values.begin(), values.end()));
  }
  return {};
}

StatusOr<std::vector<int64_t>> Integers(const Tensor& t) {
  std::vector<int64_t> v;
  if (t.dtype() == kInt32) {
    for (int32_t i : t.data<int32_t>()) v.push_back(i);
  } else if (t.dtype() == kInt64) {
    for (int64_t i : t.data<int64_t>()) v.push_back(i);
  } else {
    return InvalidArgument("a shape must be int32 or int64, not ", t.dtype());
  }
  return v;
}

// `left` is how many nodes may still be looked at: a graph can reach one node by many ways.
StatusOr<Shape> AsShape(Output vector, int& left);

// Returns the tensor outside of loops and branches whose value enters them as `tensor`.
Output OutsideLoops(Output tensor, int& left) {
  for (; left > 0; --left) {
    const Node* node = NodeOf(tensor);
    if (node->type() != "Enter" && node->type() != "Switch") break;
    tensor = node->inputs()[0];
  }
  return tensor;
}

// Returns the dimensions that a StridedSlice takes of a shape: one if it makes a scalar. Nothing if they depend on the
// step.
std::optional<std::vector<int64_t>> SlicedDims(const Node& slice, int& left) {
  if (slice.attr<int64_t>("ellipsis_mask") != 0 || slice.attr<int64_t>("new_axis_mask") != 0) return std::nullopt;
  const StatusOr<Shape> shape = AsShape(slice.inputs()[0], left);
  if (!shape.ok() || !shape->has_rank()) return std::nullopt;
  int64_t bounds[3];  // begin, end, stride
  for (int i = 0; i < 3; ++i) {
    const Tensor t = ConstantValue(slice.inputs()[i + 1]);
    if (!t.is_valid() || t.num_elements() != 1) return std::nullopt;
    const auto v = Integers(t);
    if (!v.ok()) return std::nullopt;
    bounds[i] = (*v)[0];
  }
  auto [begin, end, stride] = bounds;
  const int64_t rank = shape->rank();
  if (begin < 0) begin += rank;
  if (end < 0) end += rank;
  if ((slice.attr<int64_t>("shrink_axis_mask") & 1) != 0) {
    if (begin < 0 || begin >= rank) return std::nullopt;
    return std::vector<int64_t>{shape->dim(static_cast<int>(begin))};
  }
  if (stride == 0) return std::nullopt;
  stride = std::clamp(stride, -rank - 1, rank + 1);  // no sum below overflows
  const int64_t first = stride > 0 ? 0 : -1, last = stride > 0 ? rank : rank - 1;
  begin = (slice.attr<int64_t>("begin_mask") & 1) != 0 ? (stride > 0 ? first : last) : std::clamp(begin, first, last);
  end = (slice.attr<int64_t>("end_mask") & 1) != 0 ? (stride > 0 ? last : first) : std::clamp(end, first, last);
  std::vector<int64_t> dims;
  for (int64_t i = begin; stride > 0 ? i < end : i > end; i += stride) {
    dims.push_back(shape->dim(static_cast<int>(i)));
  }
  return dims;
}

// Returns the value of one element of a shape vector, or -1 if it is not known.
int64_t DimensionValue(Output scalar, int& left) {
  scalar = OutsideLoops(scalar, left);
  const Node* node = NodeOf(scalar);
  if (node->type() == "StridedSlice") {
    if (const auto dims = SlicedDims(*node, left); dims && dims->size() == 1) return dims->front();
  }
  const Tensor t = ConstantValue(scalar);
  if (t.is_valid() && t.num_elements() == 1) {
    if (const auto v = Integers(t); v.ok()) return (*v)[0];
  }
  return Shape::kUnknownDim;
}

// Returns the shape that the value of a vector describes, as far as it is known.
StatusOr<Shape> AsShape(Output vector, int& left) {
  if (--left < 0) return Shape::Unknown();
  vector = OutsideLoops(vector, left);
  const Node* node = NodeOf(vector);
  if (const Tensor t = ConstantValue(vector); t.is_valid()) {
    if (t.shape().rank() > 1) return InvalidArgument("a shape must be a vector, got ", t.shape());
    TF_ASSIGN_OR_RETURN(const std::vector<int64_t> dims, Integers(t));
    for (int64_t d : dims) {
      if (d < -1) return InvalidArgument("a shape cannot have a dimension of size ", d);
    }
    return Shape(dims);
  }
  if (node->type() == "Shape") return node->inputs()[0].shape();
  if (node->type() == "Pack") {
    Shape s;
    for (const Output& o : node->inputs()) s.AddDim(DimensionValue(o, left));
    return s;
  }
  if (node->type() == "ConcatV2") {
    Shape s;
    for (size_t i = 0; i + 1 < node->inputs().size(); ++i) {  // the last input is the axis
      TF_ASSIGN_OR_RETURN(const Shape part, AsShape(node->inputs()[i], left));
      if (!part.has_rank()) return Shape::Unknown();
      for (int64_t d : part.dims()) s.AddDim(d);
    }
    return s;
  }
  if (node->type() == "StridedSlice") {
    if (const auto dims = SlicedDims(*node, left)) return Shape(*dims);
  }
  const Shape& of_vector = vector.shape();
  if (of_vector.has_rank() && of_vector.rank() == 1 && of_vector.dim(0) >= 0) {
    return Shape::UnknownOfRank(static_cast<int>(of_vector.dim(0)));
  }
  return Shape::Unknown();
}

StatusOr<Shape> AsShape(Output vector) {
  int left = 1000;
  return AsShape(vector, left);
}

// Returns the VarHandleOp that a resource handle comes from, or the _FedVariable in its place, or null.
const Node* HandleNode(Output handle) {
  const Node* node = NodeOf(handle);
  while (node->type() == "Identity" || node->type() == "Enter" || node->type() == "Switch") {
    node = NodeOf(node->inputs()[0]);
  }
  return node->type() == "VarHandleOp" || node->type() == "_FedVariable" ? node : nullptr;
}

}  // namespace

int ShapeContext::num_inputs() const { return static_cast<int>(node_.inputs().size()); }
const Shape& ShapeContext::input(int i) const { return node_.inputs()[i].shape(); }
DType ShapeContext::input_dtype(int i) const { return BaseType(node_.input_type(i)); }
Tensor ShapeContext::input_value(int i) const { return ConstantValue(node_.inputs()[i]); }
StatusOr<Shape> ShapeContext::input_as_shape(int i) const { return AsShape(node_.inputs()[i]); }

Shape ShapeContext::input_handle_shape(int i) const {
  const Node* handle = HandleNode(node_.inputs()[i]);
  return handle == nullptr ? Shape::Unknown() : handle->attr<class Shape>("shape");
}

DType ShapeContext::input_handle_dtype(int i) const {
  const Node* handle = HandleNode(node_.inputs()[i]);
  return handle == nullptr ? DType::kInvalid : handle->attr<DType>("dtype");
}

StatusOr<Shape> ShapeContext::WithRank(int input, int rank) const {
  const Shape& s = this->input(input);
  if (!s.has_rank()) return Shape::UnknownOfRank(rank);
  if (s.rank() != rank) return InvalidArgument("input ", input, " must have rank ", rank, ", got shape ", s);
  return s;
}

StatusOr<Shape> ShapeContext::WithRankAtLeast(int input, int rank) const {
  const Shape& s = this->input(input);
  if (s.has_rank() && s.rank() < rank) {
    return InvalidArgument("input ", input, " must have rank ", rank, " or more, got shape ", s);
  }
  return s;
}

Status UnchangedShape(ShapeContext& c) {
  c.set_output(0, c.input(0));
  return OkStatus();
}

Status ScalarShape(ShapeContext& c) {
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, Shape());
  return OkStatus();
}

Status UnknownShape(ShapeContext& c) { return OkStatus(); }
Status NoOutputs(ShapeContext& c) { return OkStatus(); }

StatusOr<Shape> BroadcastShapes(const Shape& a, const Shape& b) {
  if (!a.has_rank() || !b.has_rank()) return Shape::Unknown();
  const int rank = std::max(a.rank(), b.rank());
  Shape out = Shape::UnknownOfRank(rank);
  for (int i = 0; i < rank; ++i) {
    const int ia = i - (rank - a.rank());
    const int ib = i - (rank - b.rank());
    const int64_t da = ia < 0 ? 1 : a.dim(ia);
    const int64_t db = ib < 0 ? 1 : b.dim(ib);
    if (da == 1) {
      out.set_dim(i, db);
    } else if (db == 1 || da == db) {
      out.set_dim(i, da);
    } else if (da >= 0 && db >= 0) {
      return InvalidArgument("shapes ", a, " and ", b, " cannot be broadcast together: ", da, " against ", db);
    } else {
      out.set_dim(i, std::max(da, db));  // the unknown dimension must be 1 or equal to the known one
    }
  }
  return out;
}

Status BroadcastShape(ShapeContext& c) {
  TF_ASSIGN_OR_RETURN(Shape s, BroadcastShapes(c.input(0), c.input(1)));
  c.set_output(0, std::move(s));
  return OkStatus();
}

}  // namespace tensorbraid
