#include "partition/joined_sends.h"

#include "core/text/strings.h"
#include "graph/model/graph_impl.h"

namespace tensorbraid {

Passage JoinedSends::PassageOf(size_t group) const {
  const JoinedGroup& of = edges_.groups()[group];
  return {.edge = joins_[group].edge, .from = of.from, .to = of.to, .bytes = of.bytes};
}

StatusOr<Node*> JoinedSends::Add(const GraphParts& parts, int group, const Output& tensor, int64_t* next_edge) {
  const auto number = static_cast<size_t>(group);
  const JoinedGroup& of = edges_.groups()[number];
  Join& join = joins_[number];
  const std::string device = FirstCpuOf(of.to);
  if (join.recv == nullptr) {
    join.edge = (*next_edge)++;
    const std::string name = StrCat(of.tensors[0].name(), " and ", of.tensors.size() - 1, " more");
    TF_ASSIGN_OR_RETURN(join.recv,
                        AddRecv(parts, PassageOf(number), DType::kVariant, Shape(), of.conditional, name, {}, device));
  }
  const auto index = static_cast<int64_t>(join.tensors.size());
  join.tensors.push_back(tensor);
  return ImplOf(*parts.at(of.to))
      .AddNode({.name = StrCat("_take_joined_", join.edge, "_", index),
                .op = "_TakeJoined",
                .inputs = {OutputOf(join.recv, 0)},
                .controls = {},
                .attrs = {{"T", tensor.dtype()}, {"index", index}, {"shape", tensor.shape()}},
                .device = device});
}

Status JoinedSends::Finish(const GraphParts& parts) const {
  for (size_t group = 0; group < joins_.size(); ++group) {
    const Join& join = joins_[group];
    if (join.recv == nullptr) continue;
    const Passage passage = PassageOf(group);
    const std::string device = FirstCpuOf(passage.from);
    std::vector<DType> dtypes;
    for (const Output& tensor : join.tensors) dtypes.push_back(tensor.dtype());
    TF_ASSIGN_OR_RETURN(Node * joined, ImplOf(*parts.at(passage.from))
                                           .AddNode({.name = StrCat("_join_", join.edge),
                                                     .op = "_JoinTensors",
                                                     .inputs = join.tensors,
                                                     .controls = {},
                                                     .attrs = {{"T", dtypes}},
                                                     .device = device}));
    TF_RETURN_IF_ERROR(AddSend(parts, passage, OutputOf(joined, 0), {}, device));
  }
  return OkStatus();
}

}  // namespace tensorbraid
