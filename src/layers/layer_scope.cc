#include "layers/layer_scope.h"

#include "graph/model/graph_impl.h"

namespace tensorbraid::layers {

std::string ListText(const std::vector<int64_t>& values) {
  std::vector<std::string> texts;
  for (const int64_t v : values) texts.push_back(StrCat(v));
  return StrCat("{", StrJoin(texts, ", "), "}");
}

LayerScope::LayerScope(const char* layer, const char* default_name, const Operand& x, const std::string& name)
    : layer_(layer), graph_(GraphOf(layer, {&x})), line_(x.location()) {
  if (graph_ == nullptr) return;
  line_ = ImplOf(*graph_).UserLine(line_);
  at_.emplace(*graph_, line_);
  x_ = x.ToOutput(*graph_);
  if (!x_.valid()) return;
  scope_.emplace(name.empty() ? graph_->VariableScope(default_name, {.unique = true}) : graph_->VariableScope(name));
}

int LayerScope::Dim(int64_t dim) const {
  const Shape& shape = x_.shape();
  if (!shape.has_rank()) {
    Mistake("the rank of the input must be known");
    return -1;
  }
  const int64_t from_start = dim < 0 ? dim + shape.rank() : dim;
  if (from_start >= 0 && from_start < shape.rank()) return static_cast<int>(from_start);
  Mistake("the input has shape ", shape, " and no dimension ", dim);
  return -1;
}

int64_t LayerScope::KnownSize(int64_t dim) const {
  const int d = Dim(dim);
  if (d < 0) return -1;
  const int64_t size = x_.shape().dim(d);
  if (size < 0) Mistake("the size of dimension ", dim, " of the input must be known; the shape is ", x_.shape());
  return size;
}

bool LayerScope::CheckTraining(const Training& training) const {
  if (!training.is_given()) {
    Mistake("say whether the layer trains: .training = true, .training = false or a bool scalar that is fed");
    return false;
  }
  if (!training.is_tensor()) return true;
  const Output& flag = training.tensor();
  if (flag.valid() && flag.dtype() == kBool && flag.shape().IsCompatibleWith({})) return true;
  Mistake("training must be true, false or a bool scalar, got ", flag.dtype(), flag.shape());
  return false;
}

PartitionedVariable LayerScope::Weight(const std::string& name, const Shape& shape, DType dtype, bool trainable,
                                       const Initializer& initializer, const Initializer& fallback,
                                       const Regularizer& regularizer) const {
  return GetPartitionedVariable(*graph_, name, shape, /*partitioner=*/nullptr,
                                {.initializer = initializer ? initializer : fallback,
                                 .regularizer = regularizer,
                                 .dtype = dtype,
                                 .trainable = trainable});
}

Variable LayerScope::State(const std::string& name, const Shape& shape, DType dtype,
                           const Initializer& initializer) const {
  return GetVariable(*graph_, name, shape,
                     {.initializer = initializer, .regularizer = NoRegularizer(), .dtype = dtype, .trainable = false});
}

}  // namespace tensorbraid::layers
