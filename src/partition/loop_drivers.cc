#include "partition/loop_drivers.h"

#include "core/text/strings.h"
#include "graph/model/graph_impl.h"

namespace tensorbraid {

StatusOr<Node*> LoopDrivers::BeginOn(Graph* part, const std::string& task, const std::string& device,
                                     const FrameAssignment& frames, int frame) {
  // Go from the innermost loop outwards to the first one that has a driver, then create the missing drivers inwards.
  std::vector<int> missing;
  Node* outer = nullptr;
  for (int f = frame; f > 0; f = frames.frames[f].parent) {
    const auto it = merges_.find({f, task});
    if (it != merges_.end()) {
      outer = it->second;
      break;
    }
    missing.push_back(f);
  }
  for (auto f = missing.rbegin(); f != missing.rend(); ++f) {
    const std::string name = StrCat("_loop_", drivers_.size());
    const auto add = [&](NodeSpec spec) {
      spec.device = device;
      return ImplOf(*part).AddNode(std::move(spec));
    };
    std::vector<Node*> after;
    if (outer != nullptr) after.push_back(outer);
    TF_ASSIGN_OR_RETURN(Node * start, add({.name = StrCat(name, "/start"),
                                           .op = "Const",
                                           .inputs = {},
                                           .controls = after,
                                           .attrs = {{"dtype", kBool}, {"value", Tensor(kBool, {0})}},
                                           .device = ""}));
    const int64_t parallel = frames.frames[*f].parallel_iterations;
    TF_ASSIGN_OR_RETURN(Node * enter,
                        add({.name = StrCat(name, "/enter"),
                             .op = "Enter",
                             .inputs = {OutputOf(start, 0)},
                             .controls = {},
                             .attrs = {{"frame_name", frames.frames[*f].name}, {"parallel_iterations", parallel}},
                             .device = ""}));
    TF_ASSIGN_OR_RETURN(outer, add({.name = StrCat(name, "/merge"),
                                    .op = "Merge",
                                    .inputs = {OutputOf(enter, 0), Output()},
                                    .controls = {},
                                    .attrs = {{"N", int64_t{2}}, {"T", kBool}},
                                    .device = ""}));
    merges_[{*f, task}] = outer;
    drivers_.push_back({.frame = *f, .task = task, .device = device, .merge = outer});
  }
  return outer;
}

Status LoopDrivers::Close(Graph* part, const LoopDriver& driver, Output condition) {
  const std::string& merge = driver.merge->name();
  const std::string name = merge.substr(0, merge.size() - std::string_view("/merge").size());
  const auto add = [&](const char* op, std::vector<Output> inputs) {
    return ImplOf(*part).AddNode({.name = StrCat(name, "/", op),
                                  .op = op,
                                  .inputs = std::move(inputs),
                                  .controls = {},
                                  .attrs = {},
                                  .device = driver.device});
  };
  TF_ASSIGN_OR_RETURN(Node * taken, add("Switch", {OutputOf(driver.merge, 0), condition}));
  // Output 1 is live if `condition` is true.
  TF_ASSIGN_OR_RETURN(Node * next, add("NextIteration", {OutputOf(taken, 1)}));
  return ImplOf(*part).CloseLoop(driver.merge, /*input=*/1, OutputOf(next, 0));
}

}  // namespace tensorbraid
