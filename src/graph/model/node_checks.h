// The checks of a new node that need its op, its name and its inputs only. GraphImpl::MakeNode adds those that need the
// graph or the whole node.
#ifndef TENSORBRAID_GRAPH_MODEL_NODE_CHECKS_H_
#define TENSORBRAID_GRAPH_MODEL_NODE_CHECKS_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "graph/model/op_registry.h"
#include "tensorbraid/graph/graph.h"

namespace tensorbraid {

// TensorFlow's rule for node names: letters, digits, '.', '_', '-', '/', '\' and, as in newer versions, '>'.
bool IsValidNodeName(std::string_view name);

// Infers the attributes that follow from the inputs, adds the defaults of those that are missing, and checks all of
// them and the inputs. Appends the declared types of the inputs (of all arguments, flattened) and of the outputs.
// InvalidArgument, without the name of the node, names the attribute or input that is wrong.
Status CheckTypes(const OpDef& op, const std::vector<Output>& inputs, std::map<std::string, AttrValue>* attrs,
                  std::vector<DType>* input_types, std::vector<DType>* output_types);

}  // namespace tensorbraid

#endif  // TENSORBRAID_GRAPH_MODEL_NODE_CHECKS_H_
