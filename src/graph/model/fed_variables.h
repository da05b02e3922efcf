// Steps that feed variables: every read of a fed variable gives the fed value
// (docs/design/0019-reference-variables.md).
#ifndef TENSORBRAID_GRAPH_MODEL_FED_VARIABLES_H_
#define TENSORBRAID_GRAPH_MODEL_FED_VARIABLES_H_

#include <memory>

#include "tensorbraid/core/status.h"
#include "tensorbraid/graph/graph.h"
#include "tensorbraid/graph/library_function.h"

namespace tensorbraid {

// A variable is fed by feeding its handle, the output of its VarHandleOp, with a value of the variable's dtype and
// shape. ExtractSubgraph then puts a _FedVariable, which takes the value, in the place of the VarHandleOp.
// ReplaceFedVariables removes these nodes again, when no functions are left that could take a handle as an argument.

// The tensor that a step feeds if the program feeds `tensor`: the handle of the variable if `tensor` is its shared read
// (Variable::value()), otherwise `tensor` itself.
Output FedTensorOf(const Output& tensor);

// The dtype and shape of the values that can be fed to `tensor`: those of the variable for the handle of a variable,
// those of the tensor for others.
TensorSpec FedSpecOf(const Output& tensor);

// Adds the node that stands for the handle of a variable that is fed with `value`. `handle` is the variable's handle
// in the original graph.
StatusOr<Output> AddFedVariable(const Output& handle, const Output& value, Graph* graph);

// Returns a copy of `graph`, a graph without function calls, in which the values of its _FedVariable nodes flow where
// the handles did: through control flow, to the reads, which become ops on values (ReadVariableOp an Identity,
// ResourceGather a Gather, and so on). A read keeps its name, device, control inputs and place in a branch or loop.
// Returns null if the graph has no _FedVariable.
//
// InvalidArgument, naming the variable and the node, if a node updates a fed variable, asks whether it is initialized,
// or takes its handle for anything else than reading.
StatusOr<std::unique_ptr<Graph>> ReplaceFedVariables(const Graph& graph);

// The error of a step that feeds the reference variable (or other reference) `fed` and runs `node`, which needs the
// reference itself.
Status FedReferenceIsNeeded(const Output& fed, const Node& node);

}  // namespace tensorbraid

#endif  // TENSORBRAID_GRAPH_MODEL_FED_VARIABLES_H_
