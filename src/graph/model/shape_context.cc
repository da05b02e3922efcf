// Implements ShapeContext and the shape rules that many ops share (op_registry.h).
#include <algorithm>
#include <limits>

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

// Returns the value of one element of a shape vector, or -1 if it is not known.
int64_t DimensionValue(Output scalar) {
  const Tensor t = ConstantValue(scalar);
  if (t.is_valid() && t.num_elements() == 1) {
    if (const auto v = Integers(t); v.ok()) return (*v)[0];
  }
  return Shape::kUnknownDim;
}

// Returns the shape that the value of a vector describes, as far as it is known.
StatusOr<Shape> AsShape(Output vector) {
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
    for (const Output& o : node->inputs()) s.AddDim(DimensionValue(o));
    return s;
  }
  if (node->type() == "ConcatV2") {
    Shape s;
    for (size_t i = 0; i + 1 < node->inputs().size(); ++i) {  // the last input is the axis
      TF_ASSIGN_OR_RETURN(const Shape part, AsShape(node->inputs()[i]));
      if (!part.has_rank()) return Shape::Unknown();
      for (int64_t d : part.dims()) s.AddDim(d);
    }
    return s;
  }
  const Shape& of_vector = vector.shape();
  if (of_vector.has_rank() && of_vector.rank() == 1 && of_vector.dim(0) >= 0) {
    return Shape::UnknownOfRank(static_cast<int>(of_vector.dim(0)));
  }
  return Shape::Unknown();
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
