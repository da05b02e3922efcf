#include "graph/format/missing_ops.h"

#include <map>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_set.h"
#include "core/text/strings.h"
#include "graph/format/graph.pb.h"

namespace tensorbraid {
namespace {

// Transports carry about 4 KB of an error message, but a graph may have any number of ops with names of any length.
constexpr size_t kMaxMessageBytes = 3000;
constexpr size_t kMaxNameBytes = 200;

std::string Quoted(std::string_view name) {
  if (name.size() <= kMaxNameBytes) return StrCat("'", name, "'");
  return StrCat("'", name.substr(0, kMaxNameBytes), "...'");
}

// What to use instead of the ops of libraries for GPUs, which scripts of TensorFlow 1 use. "" for other ops.
std::string_view Instead(std::string_view op) {
  if (op.starts_with("Nccl") || op.starts_with("_Nccl")) {
    return "there are no ops of NCCL: add the tensors of several devices with AddN";
  }
  if (op.starts_with("CudnnRNN")) {
    return "there are no layers of cuDNN: CudnnCompatibleLSTMCell and CudnnCompatibleGRUCell of tf.contrib.cudnn_rnn "
           "compute the same";
  }
  return "";
}

class Search {
 public:
  explicit Search(const FunctionLibrary& library) : library_(library) {}

  void Visit(const proto::GraphDef& def) {
    for (const auto& node : def.node()) {
      if (library_.FindOp(node.op()) == nullptr) Miss(node.op(), node.name(), "");
      Reach(node.op());
      if (library_.empty()) continue;
      for (const std::string& name : References(node)) Reach(name);
    }
    while (!next_.empty()) {
      const Function* function = next_.back();
      next_.pop_back();
      for (const auto& [op, node] : function->ops()) {
        if (library_.FindOp(op) == nullptr) Miss(op, node, function->name());
      }
      for (const std::string& name : function->references()) Reach(name);
      if (const std::string* gradient = library_.FindGradient(function->name())) Reach(*gradient);
    }
  }

  Status Result() const {
    if (missing_.empty()) return OkStatus();
    const std::vector<std::string> known = OpRegistry::Global().names();
    size_t listed = 0;
    std::string list;
    for (const auto& [op, use] : missing_) {
      if (list.size() > kMaxMessageBytes) continue;
      list += StrCat("\n  ", Quoted(op), ": node ", Quoted(use.node));
      if (!use.function.empty()) list += StrCat(" of function ", Quoted(use.function));
      if (use.others > 0) list += StrCat(" and ", use.others, " more");
      const std::string_view instead = Instead(op);
      if (!instead.empty()) list += StrCat("; ", instead);
      const std::string nearest = !instead.empty() || op.size() > kMaxNameBytes ? "" : NearestWord(op, known);
      if (!nearest.empty()) list += StrCat("; did you mean '", nearest, "'?");
      ++listed;
    }
    if (listed < missing_.size()) list += StrCat("\n  and ", missing_.size() - listed, " other ops");
    if (list.size() <= kMaxMessageBytes) {
      list += "\nA server has ops of your own if it was started with --load=LIBRARY (docs/custom_ops.md).";
    }
    const std::string what = missing_.size() == 1 ? "an op" : StrCat(missing_.size(), " ops");
    return NotFound("the graph uses ", what, " that this build does not have:", list);
  }

 private:
  struct Use {
    std::string node;
    std::string function;
    size_t others = 0;
  };

  void Miss(const std::string& op, const std::string& node, const std::string& function) {
    const auto [it, added] = missing_.try_emplace(op, Use{.node = node, .function = function});
    if (!added) ++it->second.others;
  }

  void Reach(const std::string& name) {
    const Function* function = library_.Find(name);
    if (function != nullptr && reached_.insert(function).second) next_.push_back(function);
  }

  const FunctionLibrary& library_;
  std::map<std::string, Use> missing_;
  absl::flat_hash_set<const Function*> reached_;
  std::vector<const Function*> next_;
};

}  // namespace

Status CheckOpsExist(const proto::GraphDef& def, const FunctionLibrary& library) {
  Search search(library);
  search.Visit(def);
  return search.Result();
}

}  // namespace tensorbraid
