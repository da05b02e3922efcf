// Does what all layers have in common: opens the scope, makes variables, and reports mistakes.
#ifndef TENSORBRAID_LAYERS_LAYER_SCOPE_H_
#define TENSORBRAID_LAYERS_LAYER_SCOPE_H_

#include <optional>
#include <string>
#include <vector>

#include "core/text/strings.h"
#include "graph/model/user_lines.h"
#include "ops/builder.h"
#include "tensorbraid/layers/layers.h"

namespace tensorbraid::layers {

// Formats values for messages: "{3, 3}".
std::string ListText(const std::vector<int64_t>& values);

// One call of a layer. Opens the layer's variable scope, for as long as the object lives.
class LayerScope {
 public:
  // `layer` is the public function, for messages; `default_name` names the scope if the user gives no name.
  LayerScope(const char* layer, const char* default_name, const Operand& x, const std::string& name);

  // False after a mistake: the layer then returns an invalid Output.
  bool ok() const { return x_.valid() && graph_->status().ok(); }
  Graph& graph() const { return *graph_; }
  const Output& x() const { return x_; }
  // Resolves a dimension that may be negative. Records a mistake and returns -1 if x does not have it.
  int Dim(int64_t dim) const;
  // The size of a dimension of x. Records a mistake and returns -1 if it is not known or x does not have it.
  int64_t KnownSize(int64_t dim) const;
  // Records a mistake and returns false unless `training` is fixed or a bool scalar.
  bool CheckTraining(const Training& training) const;

  // The layer's variable "name", partitioned if the scope has a partitioner. The variable is initialised by
  // `initializer`, or by `fallback` if `initializer` is null. If both are null, GetPartitionedVariable chooses the
  // initializer.
  PartitionedVariable Weight(const std::string& name, const Shape& shape, DType dtype, bool trainable,
                             const Initializer& initializer, const Initializer& fallback,
                             const Regularizer& regularizer) const;
  // Like Weight, for a variable that keeps state: it is not trained, not regularised and not partitioned.
  Variable State(const std::string& name, const Shape& shape, DType dtype, const Initializer& initializer) const;

  // Records the mistake "Dense 'encoder/dense' (model.cc:12): message" and returns an invalid Output.
  template <typename... Parts>
  Output Mistake(const Parts&... parts) const {
    if (graph_ != nullptr) {
      graph_->AddError(
          InvalidArgument(layer_, " '", VariableScopeName(*graph_), "' (", LocationText(line_), "): ", parts...));
    }
    return {};
  }

 private:
  const char* const layer_;
  Graph* graph_ = nullptr;
  Output x_;
  SourceLine line_;
  std::optional<ScopedLocation> at_;
  std::optional<ScopeGuard> scope_;
};

}  // namespace tensorbraid::layers

#endif  // TENSORBRAID_LAYERS_LAYER_SCOPE_H_
