// Serializes the branches and loops of a graph, in TensorFlow's format.
#ifndef TENSORBRAID_TRAIN_CHECKPOINTS_FLOW_COLLECTIONS_H_
#define TENSORBRAID_TRAIN_CHECKPOINTS_FLOW_COLLECTIONS_H_

#include <map>
#include <string>
#include <vector>

#include "tensorbraid/graph/graph.h"

namespace tensorbraid {

// The collections "cond_context" and "while_context" of a MetaGraphDef, from which TensorFlow computes the gradients of
// conditionals and loops: serialized CondContextDefs and WhileContextDefs. Each has the contexts inside it. A
// collection that would be empty is left out.
std::map<std::string, std::vector<std::string>> FlowCollections(const Graph& graph);

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRAIN_CHECKPOINTS_FLOW_COLLECTIONS_H_
