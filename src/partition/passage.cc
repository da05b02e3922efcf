#include "partition/passage.h"

#include "core/text/strings.h"
#include "graph/model/graph_impl.h"

namespace tensorbraid {

std::string FirstCpuOf(const std::string& task) { return StrCat(task, "/device:CPU:0"); }

Status AddSend(const GraphParts& parts, const Passage& passage, const Output& tensor, std::vector<Node*> controls,
               const std::string& device) {
  return ImplOf(*parts.at(passage.from))
      .AddNode({.name = StrCat("_send_", passage.edge),
                .op = "_Send",
                .inputs = {tensor},
                .controls = std::move(controls),
                .attrs = {{"edge", passage.edge}, {"peer", passage.to}, {"bytes", passage.bytes}},
                .device = device})
      .status();
}

StatusOr<Node*> AddRecv(const GraphParts& parts, const Passage& passage, DType dtype, const Shape& shape,
                        bool conditional, const std::string& name, std::vector<Node*> drivers,
                        const std::string& device) {
  return ImplOf(*parts.at(passage.to))
      .AddNode({.name = StrCat("_recv_", passage.edge),
                .op = "_Recv",
                .inputs = {},
                .controls = std::move(drivers),
                .attrs = {{"T", dtype},
                          {"edge", passage.edge},
                          {"peer", passage.from},
                          {"bytes", passage.bytes},
                          {"shape", shape},
                          {"may_be_dead", conditional},
                          {"_tensor", name}},
                .device = device});
}

}  // namespace tensorbraid
