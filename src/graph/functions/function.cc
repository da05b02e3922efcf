#include "graph/functions/function.h"

#include "core/text/strings.h"
#include "graph/model/graph_impl.h"

namespace tensorbraid {
namespace {

// Adds the names of the functions in the value of an attribute, also of those in the attributes of such a function.
void AddReferences(const AttrValue& value, std::set<std::string>* names) {
  const auto add = [&](const AttrValue::Function& f) {
    names->insert(f.name);
    for (const auto& [name, attr] : f.attrs) AddReferences(attr, names);
  };
  if (const auto* f = value.get<std::shared_ptr<const AttrValue::Function>>()) add(**f);
  if (const auto* list = value.get<std::vector<std::shared_ptr<const AttrValue::Function>>>()) {
    for (const auto& f : *list) add(*f);
  }
}

}  // namespace

bool IsExecutorOp(std::string_view op) { return op == "_Arg" || op == "_Retval" || op == "_Send" || op == "_Recv"; }

std::set<std::string> References(const Node& node) {
  std::set<std::string> names = {node.type()};
  for (const auto& [name, value] : node.attrs()) AddReferences(value, &names);
  return names;
}

const Function* FunctionLibrary::Find(std::string_view name) const {
  const auto it = functions_.find(name);
  return it == functions_.end() ? nullptr : it->second.get();
}

const OpDef* FunctionLibrary::FindOp(std::string_view name) const {
  if (const OpDef* op = OpRegistry::Global().Find(name)) return op;
  const Function* function = Find(name);
  return function == nullptr ? nullptr : &function->signature();
}

Status FunctionLibrary::Add(std::shared_ptr<const Function> function) {
  const std::string name = function->name();
  if (OpRegistry::Global().Find(name) != nullptr) {
    return InvalidArgument("cannot add function '", name, "': an op of that name already exists");
  }
  const auto [it, added] = functions_.emplace(name, function);
  if (!added && it->second->definition() != function->definition()) {
    return InvalidArgument("cannot add function '", name, "': a different function of that name already exists");
  }
  return OkStatus();
}

Status FunctionLibrary::AddGradient(const std::string& function, const std::string& gradient) {
  const auto [it, added] = gradients_.emplace(function, gradient);
  if (!added && it->second != gradient) {
    return InvalidArgument("cannot make '", gradient, "' the gradient of function '", function,
                           "': its gradient is already '", it->second, "'");
  }
  return OkStatus();
}

const std::string* FunctionLibrary::FindGradient(const std::string& function) const {
  const auto it = gradients_.find(function);
  return it == gradients_.end() ? nullptr : &it->second;
}

FunctionLibrary FunctionLibrary::ReachableFrom(const GraphImpl& graph) const {
  FunctionLibrary reached;
  if (functions_.empty()) return reached;
  std::vector<std::string> next;
  for (const auto& node : graph.nodes()) {
    for (const std::string& name : References(*node)) next.push_back(name);
  }
  while (!next.empty()) {
    const std::string name = std::move(next.back());
    next.pop_back();
    const auto it = functions_.find(name);
    if (it == functions_.end() || !reached.functions_.emplace(name, it->second).second) continue;
    next.insert(next.end(), it->second->references().begin(), it->second->references().end());
    if (const std::string* gradient = FindGradient(name)) {
      reached.gradients_.emplace(name, *gradient);
      next.push_back(*gradient);
    }
  }
  return reached;
}

Status FunctionLibrary::CheckNotRecursive(const GraphImpl& graph) const {
  if (functions_.empty()) return OkStatus();
  // kOpen: the function is on the stack. kDone: neither it nor a function that it calls, directly or not, is recursive.
  enum class Mark { kOpen, kDone };
  std::map<std::string, Mark> marks;
  struct Call {
    const Function* function;
    std::set<std::string>::const_iterator next;
  };
  // An explicit stack, because calls may be nested too deeply for recursion.
  std::vector<Call> stack;
  const auto enter = [&](const std::string& name) -> Status {
    const Function* function = Find(name);
    if (function == nullptr) return OkStatus();
    const auto [it, added] = marks.emplace(name, Mark::kOpen);
    if (added) {
      stack.push_back({function, function->references().begin()});
      return OkStatus();
    }
    if (it->second == Mark::kDone) return OkStatus();
    std::string path;
    for (const Call& call : stack) {
      if (path.empty() && call.function != function) continue;
      path += StrCat("'", call.function->name(), "' -> ");
    }
    return InvalidArgument("function '", name, "' calls itself (", path, "'", name,
                           "'); recursive functions are not supported");
  };
  for (const auto& node : graph.nodes()) {
    for (const std::string& name : References(*node)) {
      TF_RETURN_IF_ERROR(enter(name));
      while (!stack.empty()) {
        Call& top = stack.back();
        if (top.next == top.function->references().end()) {
          marks[top.function->name()] = Mark::kDone;
          stack.pop_back();
        } else {
          TF_RETURN_IF_ERROR(enter(*top.next++));
        }
      }
    }
  }
  return OkStatus();
}

}  // namespace tensorbraid
