// Variable scopes: names and defaults for the variables of a model, and the sharing of variables between its parts.
//
//   auto scope = g.VariableScope("encoder", {.regularizer = L2Regularizer(1e-4)});
//   Variable w = GetVariable(g, "weights", {784, 100});           // "encoder/weights"
//   ...
//   auto again = g.VariableScope("encoder", {.reuse = true});      // in another block
//   Variable same = GetVariable(g, "weights", {784, 100});        // the same variable
//
// Names, reuse and inheritance are those of tf.compat.v1.variable_scope and get_variable. Scopes are guards, like
// Graph::NameScope.
#ifndef TENSORBRAID_VARIABLES_VARIABLE_SCOPE_H_
#define TENSORBRAID_VARIABLES_VARIABLE_SCOPE_H_

#include <concepts>
#include <functional>
#include <optional>
#include <source_location>
#include <string>

#include "tensorbraid/graph/graph.h"
#include "tensorbraid/graph/variable.h"
#include "tensorbraid/variables/partitioned_variable.h"

namespace tensorbraid {

// l1 * sum(|x|) + l2 * sum(x²), as in tf.keras.regularizers. Terms with a factor of 0 are left out.
Regularizer L1Regularizer(double l1);
Regularizer L2Regularizer(double l2);
Regularizer L1L2Regularizer(double l1, double l2);
// No penalty, even in a scope that has a regularizer.
Regularizer NoRegularizer();

// Whether GetVariable makes or shares variables in a scope. Written as `.reuse = true` or `.reuse = kAutoReuse`.
class Reuse {
 public:
  enum Mode { kInherit, kMustExist, kAuto };
  // The same as the enclosing scope. At the top level, every variable is new and must not exist yet.
  constexpr Reuse() = default;
  constexpr Reuse(Mode mode) : mode_(mode) {}  // NOLINT: converts
  // True: every variable must exist already, and is shared. False: the same as Reuse(), since an inner scope cannot end
  // the sharing.
  template <std::same_as<bool> Bool>
  constexpr Reuse(Bool reuse) : mode_(reuse ? kMustExist : kInherit) {}  // NOLINT: converts
  constexpr Mode mode() const { return mode_; }

 private:
  Mode mode_ = kInherit;
};
// Makes variables that do not exist and shares those that do.
inline constexpr Reuse kAutoReuse = Reuse::kAuto;

// Members that are left out are inherited from the enclosing scope.
struct VariableScopeOptions {
  Reuse reuse = {};
  Initializer initializer = nullptr;
  Regularizer regularizer = nullptr;
  // For GetPartitionedVariable, and so for the variables of layers. GetVariable does not use it.
  Partitioner partitioner = nullptr;
  DType dtype = DType::kInvalid;
  // Makes the scope's name unique in the enclosing scope: "cell", "cell_1", ... The count starts again each time the
  // enclosing scope is opened, so that a model that is built again with `reuse` finds its variables.
  bool unique = false;
  // Whether a name scope of the same name is opened too. False: only the names of variables get the prefix.
  bool name_scope = true;
};

struct GetVariableOptions {
  // Null: the scope's initializer; if it has none, GlorotUniform for floating dtypes and zeros for others.
  Initializer initializer = nullptr;
  // Null: the scope's regularizer, if it has one.
  Regularizer regularizer = nullptr;
  // kInvalid: the scope's dtype; if it has none, float32.
  DType dtype = DType::kInvalid;
  bool trainable = true;
  bool local = false;  // see VariableOptions
};

// Makes the variable "scope/name" or returns the existing one, as the open variable scopes say; name scopes have no
// effect on its name. It is a mistake if the variable exists and the scope does not reuse, if it does not exist and the
// scope must reuse, if shape or dtype differ from those of the existing variable, or if the existing variable is
// partitioned. The message names the line of this call and the line that made the variable. Options other than the
// dtype have no effect on a variable that exists.
Variable GetVariable(Graph& graph, const std::string& name, const Shape& shape, const GetVariableOptions& options = {},
                     std::source_location loc = std::source_location::current());

// As GetVariable, but makes the variable in parts: "scope/name/part_0", "scope/name/part_1", ..., each with the
// options. `partitioner` gives their number; null: the scope's partitioner. If the scope has none either, or if the
// variable is a scalar, it is made in one piece as by GetVariable, and is the only part of the result. A variable that
// exists is returned in the parts that it has; the partitioner is not called. The mistakes of PartitionedVariable's
// constructor are recorded too. Source: tf.compat.v1.get_variable with a partitioner.
PartitionedVariable GetPartitionedVariable(Graph& graph, const std::string& name, const Shape& shape,
                                           const Partitioner& partitioner = nullptr,
                                           const GetVariableOptions& options = {},
                                           std::source_location loc = std::source_location::current());

// The full name of the open variable scope: "encoder/layer"; "" at the top level.
std::string VariableScopeName(const Graph& graph);

}  // namespace tensorbraid

#endif  // TENSORBRAID_VARIABLES_VARIABLE_SCOPE_H_
