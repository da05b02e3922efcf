// What all metrics share: the name scope, the operands as tensors, and the local variables.
#ifndef TENSORBRAID_LAYERS_METRIC_CALL_H_
#define TENSORBRAID_LAYERS_METRIC_CALL_H_

#include <optional>
#include <string>
#include <vector>

#include "graph/model/user_lines.h"
#include "tensorbraid/graph/variable.h"
#include "tensorbraid/layers/metrics.h"

namespace tensorbraid::metrics {

// One call of a metric. Opens its name scope, for as long as the object lives.
class MetricCall {
 public:
  MetricCall(const char* metric, const char* default_name, const std::vector<Operand>& operands,
             const std::optional<Operand>& weights, const std::string& name);

  // False after a mistake: the metric then returns invalid Outputs.
  bool ok() const;
  Graph& graph() const { return *graph_; }
  const Output& in(size_t i) const { return in_[i]; }
  bool has_weights() const { return weights_.valid(); }
  const Output& weights() const { return weights_; }
  // The weights as float32, spread over the shape of `values`. REQUIRES: has_weights().
  Output WeightsLike(const Output& values) const;
  // `values` times the weights, if there are any.
  Output Weighted(const Output& values) const;
  // Records a mistake and returns false unless the first two operands may have the same shape. Removes a last dimension
  // of size 1 if one of them has one more dimension.
  bool MatchShapes();

  // A local variable, or a global one that the workers share, that begins with zeros.
  Variable Sum(const std::string& name, const Shape& shape, DType dtype = kFloat32, bool shared = false) const;
  // Adds to such a variable, and returns its new value.
  Output Add(const Variable& sum, const Output& value) const;
  Metric Mistake(const std::string& message) const;

 private:
  const char* const metric_;
  Graph* graph_ = nullptr;
  SourceLine line_;
  std::optional<ScopedLocation> at_;
  std::optional<ScopeGuard> scope_;
  std::vector<Output> in_;
  Output weights_;
};

}  // namespace tensorbraid::metrics

#endif  // TENSORBRAID_LAYERS_METRIC_CALL_H_
