#include "executor/clusters/out_of_memory.h"

#include <algorithm>
#include <string>
#include <vector>

#include "core/text/strings.h"
#include "core/text/text_table.h"
#include "graph/model/graph_impl.h"
#include "graph/model/node_status.h"

namespace tensorbraid {
namespace {

constexpr size_t kMostNamed = 5;

std::string Size(int64_t bytes) { return SizeText(static_cast<double>(bytes)); }

// "'w' float32[1024,1024] (4.2 MB), 'x' ...".
std::string LargestArguments(const ClusterBody& body, const pjrt::ProgramText& text,
                             const std::vector<pjrt::ArrayType>& types) {
  std::vector<size_t> order;  // of parameters
  for (size_t k = 0; k < text.parameters.size(); ++k) order.push_back(k);
  const auto bytes = [&](size_t k) {
    return types[k].shape.num_elements() * static_cast<int64_t>(DTypeSize(types[k].dtype));
  };
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return bytes(a) > bytes(b); });
  order.resize(std::min(order.size(), kMostNamed));
  std::vector<std::string> names;
  for (const size_t k : order) {
    const Output& tensor = body.arguments[static_cast<size_t>(text.parameters[k])].tensor;
    names.push_back(StrCat("'", tensor.op().name(), "' ", types[k].dtype, types[k].shape, " (", Size(bytes(k)), ")"));
  }
  return StrJoin(names, ", ");
}

}  // namespace

Status WithMemory(const Status& error, const ClusterBody& body, const Executable& executable,
                  pjrt::PjrtDevice& device) {
  if (error.code() != absl::StatusCode::kResourceExhausted) return error;
  std::string text(error.message());
  if (executable.memory.has_value()) {
    text += StrCat(". The program needs ", Size(executable.memory->temporaries), " of temporary memory and ",
                   Size(executable.memory->outputs - executable.memory->aliased), " for new results");
  }
  text += StrCat(". All tensors on ", device.name(), " take ", Size(device.allocator().stats().bytes_in_use));
  if (!executable.text.parameters.empty()) {
    text += StrCat("; the largest ones that the program uses are ",
                   LargestArguments(body, executable.text, executable.program->arguments()));
  }
  return ResourceExhausted(text, ". Smaller batches need less");
}

}  // namespace tensorbraid
