#include "tensorbraid/graph/host_function.h"

#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "core/system/env.h"
#include "core/text/strings.h"
#include "core/threads/mutex.h"
#include "graph/functions/function_scope.h"
#include "graph/functions/host_function_registry.h"
#include "graph/model/graph_impl.h"
#include "graph/model/user_lines.h"

namespace tensorbraid {
namespace {

// An extension of GraphImpl: the functions that the graph keeps.
struct KeptHostFunctions {
  std::vector<std::shared_ptr<const HostFunction>> functions;
};

struct Registry {
  // Tells this process's tokens from those of others: a node may run on another task.
  const uint64_t process = RandomSeed();
  Mutex mu;
  uint64_t next TB_GUARDED_BY(mu) = 0;
  absl::flat_hash_map<std::string, std::weak_ptr<const HostFunction>> functions TB_GUARDED_BY(mu);
};

Registry& TheRegistry() {
  static Registry* const registry = new Registry;
  return *registry;
}

}  // namespace

std::string AddHostFunction(Graph& graph, HostFunction function) {
  Registry& registry = TheRegistry();
  std::string token;
  {
    MutexLock lock(registry.mu);
    token = StrCat("host_function_", registry.process, "_", registry.next++);
  }
  // Forgets the token with the function.
  const std::shared_ptr<const HostFunction> kept(new HostFunction(std::move(function)), [token](const HostFunction* p) {
    {
      MutexLock lock(TheRegistry().mu);
      TheRegistry().functions.erase(token);
    }
    delete p;
  });
  {
    MutexLock lock(registry.mu);
    registry.functions.emplace(token, kept);
  }
  GraphImpl* outermost = &ImplOf(graph);
  while (GraphImpl* const outer = outermost->extension<FunctionScope>().outer) outermost = outer;
  const GraphLock lock(*outermost);
  outermost->extension<KeptHostFunctions>().functions.push_back(kept);
  return token;
}

std::shared_ptr<const HostFunction> FindHostFunction(const std::string& token) {
  Registry& registry = TheRegistry();
  MutexLock lock(registry.mu);
  const auto it = registry.functions.find(token);
  return it == registry.functions.end() ? nullptr : it->second.lock();
}

Operation CallHostFunction(Graph& graph, HostFunction function, const std::vector<Operand>& inputs,
                           const std::vector<DType>& dtypes, const HostFunctionOptions& options,
                           std::source_location loc) {
  const ScopedLocation at(graph, loc);
  std::vector<Output> values;
  std::vector<DType> types;
  for (const Operand& input : inputs) {
    values.push_back(input.ToOutput(graph));
    if (!values.back().valid()) return {};
    types.push_back(BaseType(values.back().dtype()));
  }
  NodeBuilder builder(graph, options.stateful ? "PyFunc" : "PyFuncStateless");
  if (!options.name.empty()) builder.Name(options.name);
  builder.InputList(values).Attr("token", AddHostFunction(graph, std::move(function)));
  return builder.Attr("Tin", types).Attr("Tout", dtypes).Finish();
}

}  // namespace tensorbraid
