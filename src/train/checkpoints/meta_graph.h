// Serializes the graph that a Saver writes beside a checkpoint, in TensorFlow's format (MetaGraphDef).
#ifndef TENSORBRAID_TRAIN_CHECKPOINTS_META_GRAPH_H_
#define TENSORBRAID_TRAIN_CHECKPOINTS_META_GRAPH_H_

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "tensorbraid/graph/graph.h"
#include "tensorbraid/graph/variable.h"
#include "tensorbraid/train/coordinator.h"

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

// The serialized VariableDef of a variable: the names of its nodes.
std::string VariableDefOf(const Variable& variable);
// The serialized QueueRunnerDef of a queue runner.
std::string QueueRunnerDefOf(const QueueRunner& runner);

// The collections of a MetaGraphDef that the graph itself does not have.
struct MetaGraphCollections {
  std::map<std::string, std::vector<std::string>> names;    // of operations and tensors
  std::map<std::string, std::vector<QueueRunner>> runners;  // the queue runners
  // Serialized CollectionDefs. A collection of variables that is among them replaces that of the graph.
  std::map<std::string, std::string> defs;
};

// Returns a serialized MetaGraphDef with the graph, the collections of its variables, branches and loops, the saver,
// and further collections. InvalidArgument if the graph is too large for the format, or a CollectionDef is not one.
StatusOr<std::string> SerializeMetaGraph(const Graph& graph, const MetaGraphSaver& saver,
                                         const MetaGraphCollections& collections = {});

}  // namespace tensorbraid

#endif  // TENSORBRAID_TRAIN_CHECKPOINTS_META_GRAPH_H_
