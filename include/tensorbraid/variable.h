// Variables: tensors that live on between steps, on one device.
#ifndef TENSORBRAID_VARIABLE_H_
#define TENSORBRAID_VARIABLE_H_

#include <functional>
#include <memory>
#include <source_location>
#include <string>

#include "tensorbraid/graph.h"

namespace tensorbraid {

// Makes the graph's tensor that a variable starts with.
using Initializer = std::function<Output(Graph& graph, const Shape& shape, DType dtype)>;

Initializer Zeros();
Initializer Ones();
Initializer Constant(double value);
Initializer Constant(Tensor value);  // its shape and dtype must be the variable's
// `seed` 0 takes the graph's (Graph::SetRandomSeed).
Initializer RandomUniform(double low = -0.05, double high = 0.05, int64_t seed = 0);
Initializer RandomNormal(double mean = 0.0, double stddev = 1.0, int64_t seed = 0);
Initializer TruncatedNormal(double mean = 0.0, double stddev = 1.0, int64_t seed = 0);
// Uniform in ±sqrt(6 / (fan_in + fan_out)). Source: Glorot and Bengio, 2010.
Initializer GlorotUniform(int64_t seed = 0);

struct VariableOptions {
  std::string name = "Variable";
  DType dtype = kFloat32;
  bool trainable = true;
  // In the collections "global_variables" (default) or "local_variables": local ones belong to this worker and are
  // initialised by it.
  bool local = false;
};

// A resource variable: VarHandleOp, its initialiser, and reads of it, all on the variable's device. A handle: copies
// name the same variable.
class Variable {
 public:
  Variable() = default;
  // `shape` must be fully known.
  Variable(Graph& graph, const Shape& shape, const Initializer& initializer, VariableOptions options = {},
           std::source_location loc = std::source_location::current());

  bool valid() const { return state_ != nullptr; }
  const std::string& name() const;  // of the handle: "weights"
  DType dtype() const;
  const Shape& shape() const;
  bool trainable() const;
  bool local() const;
  Output handle() const;          // the resource
  Operation initializer() const;  // assigns the initial value
  Output initial_value() const;
  Output is_initialized() const;  // a bool scalar
  // The value: within a control dependency scope a fresh read that obeys it, elsewhere one read shared by all.
  Output value() const;
  // A read of its own, at this point of the control dependencies.
  Output Read() const;
  Graph* graph() const;

  // Each gives the operation that updates the variable. The returned op runs when it is fetched or depended upon.
  Operation Assign(const Operand& value) const;
  Operation AssignAdd(const Operand& delta) const;
  Operation AssignSub(const Operand& delta) const;

  friend bool operator==(const Variable& a, const Variable& b) { return a.state_ == b.state_; }

 private:
  struct State;
  std::shared_ptr<State> state_;  // shared by the copies of this handle
};

// Initialises every variable of the list, or all global ones of the graph.
Operation GlobalVariablesInitializer(Graph& graph);
Operation LocalVariablesInitializer(Graph& graph);
Operation VariablesInitializer(Graph& graph, const std::vector<Variable>& variables, const std::string& name = "init");
// A string vector with the names of those that are not initialised.
// Source: tf.report_uninitialized_variables.
Output ReportUninitializedVariables(Graph& graph, const std::vector<Variable>& variables);

// The int64 scalar "global_step" of the graph, made if there is none.
Variable GetOrCreateGlobalStep(Graph& graph);
// Invalid if the graph has none.
Variable GetGlobalStep(const Graph& graph);

}  // namespace tensorbraid

#endif  // TENSORBRAID_VARIABLE_H_
