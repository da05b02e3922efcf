// Keeps the variable scopes that a thread has opened in a graph, and the variables made in the scopes of all threads.
#ifndef TENSORBRAID_VARIABLES_VARIABLE_SCOPES_H_
#define TENSORBRAID_VARIABLES_VARIABLE_SCOPES_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "graph/model/user_lines.h"
#include "tensorbraid/graph/variable.h"
#include "tensorbraid/variables/partitioned_variable.h"
#include "tensorbraid/variables/variable_scope.h"

namespace tensorbraid {

// An extension of GraphImpl for each thread.
struct VariableScopes {
  // An open scope, with what it inherits from the enclosing ones.
  struct Scope {
    std::string name;  // full: "encoder/layer"
    Reuse::Mode reuse = Reuse::kInherit;
    Initializer initializer;
    Regularizer regularizer;
    Partitioner partitioner;
    DType dtype = DType::kInvalid;
    std::optional<SourceLine> reuse_line;  // where the reuse was requested, if it was
  };

  std::vector<Scope> open;
  // How often each scope, keyed by full name, was opened since its enclosing scope was opened last.
  std::map<std::string, int> uses;
};

// An extension of GraphImpl, guarded by the lock of the graph.
struct VariablesByName {
  // Keyed by full name. A variable that is not partitioned is stored as a PartitionedVariable with one part.
  std::map<std::string, PartitionedVariable> variables;
};

// The variable that was made with this full name; not valid if there is none.
PartitionedVariable VariableByName(Graph& graph, const std::string& full_name);

// A name inside of the variable scope that is open.
std::string InVariableScope(const Graph& graph, const std::string& name);

}  // namespace tensorbraid

#endif  // TENSORBRAID_VARIABLES_VARIABLE_SCOPES_H_
