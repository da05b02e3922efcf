// Serializes the graph that a Saver writes beside a checkpoint, in TensorFlow's format (MetaGraphDef).
#ifndef TENSORBRAID_TRAIN_CHECKPOINTS_META_GRAPH_H_
#define TENSORBRAID_TRAIN_CHECKPOINTS_META_GRAPH_H_

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "tensorbraid/graph/graph.h"

namespace tensorbraid {

// What TensorFlow needs in order to save and restore with the graph's own operations.
struct MetaGraphSaver {
  std::string filename;  // the tensor to feed with the path, to save or to restore
  std::string save;      // the tensor to fetch, to save
  std::string restore;   // the operation to run, to restore
  int max_to_keep;
  bool sharded;
  std::chrono::milliseconds keep_every;
};

// Returns a serialized MetaGraphDef with the graph, the collections of its variables, the saver, and further
// collections, which are names of operations and tensors. InvalidArgument if the graph is too large for the format.
StatusOr<std::string> SerializeMetaGraph(const Graph& graph, const MetaGraphSaver& saver,
                                         const std::map<std::string, std::vector<std::string>>& collections = {});

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRAIN_CHECKPOINTS_META_GRAPH_H_
