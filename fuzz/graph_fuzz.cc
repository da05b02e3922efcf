// Imports untrusted GraphDefs and runs those that are valid in a session of this process: they are pruned, expanded,
// placed, folded and executed, with limits on time and memory.
#include <cstdint>
#include <string_view>
#include <vector>

#include "bounds.h"
#include "core/memory/allocator.h"
#include "graph/format/graph.pb.h"
#include "proto_mutator.h"
#include "tensorbraid/graph/graph.h"
#include "tensorbraid/session/session.h"

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  tensorbraid::proto::GraphDef graph;
  std::mt19937 random(seed);
  if (!graph.ParseFromArray(data, static_cast<int>(size))) return size;
  tensorbraid::MutateMessage(&graph, random);
  const size_t bytes = graph.ByteSizeLong();
  if (bytes > max_size) return size;
  graph.SerializeToArray(data, static_cast<int>(bytes));
  return bytes;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tensorbraid;  // NOLINT: the target is the program
  SetAllocatorLimit(kMemoryLimit);
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  Graph graph;
  if (!graph.ImportGraphDef(bytes).ok()) return 0;
  const auto again = graph.ToGraphDef();
  Graph copy;
  // An imported graph can be exported, and another task can import the result.
  if (!again.ok() || !copy.ImportGraphDef(*again).ok()) std::abort();
  const std::vector<Operation> ops = graph.operations();
  if (ops.empty() || MayTouchFiles(bytes)) return 0;
  auto session = Session::Create(graph, {.inter_op_parallelism_threads = 1, .operation_timeout = kStepTimeout});
  if (!session.ok()) return 0;
  const Operation& last = ops.back();
  for (int i = 0; i < last.num_outputs() && i < 4; ++i) (void)(*session)->Run({Fetch(last.output(i))});
  (void)(*session)->Run(std::vector<Fetch>(ops.begin(), ops.end()));
  return 0;
}
