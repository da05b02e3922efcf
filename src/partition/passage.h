// The _Send and the _Recv of a tensor that goes from one task to another.
#ifndef TENSORBRAID_PARTITION_PASSAGE_H_
#define TENSORBRAID_PARTITION_PASSAGE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "graph/model/node.h"
#include "tensorbraid/graph/graph.h"

namespace tensorbraid {

// What a _Send and its _Recv have in common.
struct Passage {
  int64_t edge;          // its number, unique among all parts
  std::string from, to;  // tasks
  int64_t bytes;         // of the tensor; -1 if it is not known
};

// The parts of a graph, by task.
using GraphParts = std::map<std::string, std::unique_ptr<Graph>>;

std::string FirstCpuOf(const std::string& task);

Status AddSend(const GraphParts& parts, const Passage& passage, const Output& tensor, std::vector<Node*> controls,
               const std::string& device);
// `name` is the one that traces show, and `conditional` whether the tensor may be dead.
StatusOr<Node*> AddRecv(const GraphParts& parts, const Passage& passage, DType dtype, const Shape& shape,
                        bool conditional, const std::string& name, std::vector<Node*> drivers,
                        const std::string& device);

}  // namespace tensorbraid

#endif  // TENSORBRAID_PARTITION_PASSAGE_H_
