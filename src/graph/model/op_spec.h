// Reads the specifications of inputs, outputs and attributes in op definitions: "x: T", "T: {float, double} = float".
#ifndef TENSORBRAID_GRAPH_MODEL_OP_SPEC_H_
#define TENSORBRAID_GRAPH_MODEL_OP_SPEC_H_

#include <string_view>

#include "graph/model/op_registry.h"

namespace tensorbraid {

// Adds what `spec` describes to the definition. InvalidArgument, with the specification, if it has another syntax or
// its name is taken.
Status AddInput(std::string_view spec, OpDef* op);
Status AddOutput(std::string_view spec, OpDef* op);
Status AddAttr(std::string_view spec, OpDef* op);
// Resolves the attributes that inputs and outputs refer to, once all of them are known. InvalidArgument if one does not
// exist or has the wrong type.
Status ResolveArguments(OpDef* op);

}  // namespace tensorbraid

#endif  // TENSORBRAID_GRAPH_MODEL_OP_SPEC_H_
