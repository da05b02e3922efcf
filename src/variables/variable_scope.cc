#include "tensorbraid/variables/variable_scope.h"

#include "core/text/strings.h"
#include "graph/model/graph_impl.h"
#include "graph/model/node.h"
#include "graph/model/user_lines.h"
#include "tensorbraid/ops/math.h"
#include "variables/variable_scopes.h"

namespace tensorbraid {
namespace {

// The variable scope "name" inside of `parent`.
std::string Inside(const std::string& parent, const std::string& name) {
  return parent.empty() ? name : StrCat(parent, "/", name);
}

// The first of "name", "name_1", ... that has not been used since `parent` was opened.
std::string UniqueScopeName(const VariableScopes& scopes, const std::string& parent, const std::string& name) {
  const auto used = [&](const std::string& candidate) {
    const auto it = scopes.uses.find(Inside(parent, candidate));
    return it != scopes.uses.end() && it->second > 0;
  };
  if (!used(name)) return name;
  for (int i = 1;; ++i) {
    if (std::string numbered = StrCat(name, "_", i); !used(numbered)) return numbered;
  }
}

// Forgets the uses of the scopes inside of `name`.
void CloseInnerScopes(VariableScopes& scopes, const std::string& name) {
  for (auto& [scope, count] : scopes.uses) {
    if (name.empty() || scope.starts_with(name + "/")) count = 0;
  }
}

std::string WhereMade(const PartitionedVariable& variable) {
  const std::string location = NodeOf(variable.parts()[0].handle())->location();
  return location.empty() ? "" : StrCat("; it was made at ", location);
}

// A type of its own, so that a variable without a loss is not read for it.
struct NoLoss {
  Output operator()(const Output& /*value*/) const { return {}; }
};

void Regularize(Graph& graph, const Variable& variable, const Regularizer& regularizer) {
  if (regularizer.target<NoLoss>() != nullptr) return;
  auto place = graph.ColocateWith(variable.handle().op());
  auto no_dependencies = graph.ControlDependencies(std::vector<Operation>());
  auto inside = graph.NameScope(variable.name() + "/Regularizer/");
  if (const Output loss = regularizer(variable.value()); loss.valid()) {
    graph.AddToCollection("regularization_losses", loss);
  }
}

}  // namespace

ScopeGuard Graph::VariableScope(const std::string& name, std::source_location loc) {
  return VariableScope(name, VariableScopeOptions{}, loc);
}

ScopeGuard Graph::VariableScope(const std::string& name, const VariableScopeOptions& options,
                                std::source_location loc) {
  GraphImpl& impl = *impl_;
  VariableScopes& scopes = impl.thread_extension<VariableScopes>();
  const SourceLine line = impl.UserLine(loc);
  VariableScopes::Scope scope = scopes.open.empty() ? VariableScopes::Scope() : scopes.open.back();
  // As in TensorFlow, closing an absolute scope restores the uses that were recorded before it was opened.
  const bool absolute = name.empty() || name.ends_with("/");
  std::string name_scope;
  if (absolute) {
    if (!name.empty()) scope.name = name.substr(0, name.size() - 1);
    if (options.unique) {
      AddError(InvalidArgument("VariableScope '", name, "' (", LocationText(line),
                               "): a scope that is opened again cannot have a unique name"));
    }
    name_scope = scope.name.substr(scope.name.rfind('/') + 1);
  } else {
    name_scope = options.unique ? UniqueScopeName(scopes, scope.name, name) : name;
    scope.name = Inside(scope.name, name_scope);
  }
  if (options.reuse.mode() != Reuse::kInherit) {
    scope.reuse = options.reuse.mode();
    scope.reuse_line = line;
  }
  if (options.initializer) scope.initializer = options.initializer;
  if (options.regularizer) scope.regularizer = options.regularizer;
  if (options.partitioner) scope.partitioner = options.partitioner;
  if (options.dtype != DType::kInvalid) scope.dtype = options.dtype;

  ++scopes.uses[scope.name];
  std::map<std::string, int> uses_before;
  if (absolute) uses_before = scopes.uses;
  // "" at the top level opens no name scope.
  const bool stays = name_scope.empty() || !options.name_scope;
  impl.here().name_scopes.push_back(stays ? impl.name_scope() : impl.UniqueName(name_scope));
  scopes.open.push_back(std::move(scope));
  return impl.GuardOf([absolute, uses_before = std::move(uses_before)](GraphImpl::ThreadState& thread) mutable {
    VariableScopes& closing = GraphImpl::In<VariableScopes>(thread.extensions);
    if (absolute) {
      closing.uses = std::move(uses_before);
    } else {
      CloseInnerScopes(closing, closing.open.back().name);
    }
    closing.open.pop_back();
    thread.name_scopes.pop_back();
  });
}

std::string VariableScopeName(const Graph& graph) {
  const VariableScopes& scopes = ImplOf(graph).thread_extension<VariableScopes>();
  return scopes.open.empty() ? "" : scopes.open.back().name;
}

PartitionedVariable VariableByName(Graph& graph, const std::string& full_name) {
  const GraphLock lock(graph);
  const auto& variables = ImplOf(graph).extension<VariablesByName>().variables;
  const auto it = variables.find(full_name);
  return it == variables.end() ? PartitionedVariable() : it->second;
}

std::string InVariableScope(const Graph& graph, const std::string& name) {
  return Inside(VariableScopeName(graph), name);
}

namespace {

enum class Pieces { kOne, kParts };

// Makes or shares a variable. With kOne, the variable must not be partitioned. With kParts, it may be; if the
// partitioner is null, the scope's partitioner is used.
PartitionedVariable MakeOrShare(Graph& graph, const std::string& name, const Shape& shape, Pieces pieces,
                                Partitioner partitioner, const GetVariableOptions& options, std::source_location loc) {
  const ScopedLocation at(graph, loc);
  const SourceLine line = ImplOf(graph).UserLine(loc);
  const VariableScopes& scopes = ImplOf(graph).thread_extension<VariableScopes>();
  const VariableScopes::Scope scope = scopes.open.empty() ? VariableScopes::Scope() : scopes.open.back();
  const std::string full_name = Inside(scope.name, name);
  DType dtype = options.dtype;
  if (dtype == DType::kInvalid) dtype = scope.dtype != DType::kInvalid ? scope.dtype : kFloat32;
  const auto mistake = [&](const std::string& message) {
    graph.AddError(InvalidArgument("variable '", full_name, "' (", LocationText(line), ") ", message));
    return PartitionedVariable();
  };
  if (name.empty()) return mistake("must have a name");

  if (const PartitionedVariable existing = VariableByName(graph, full_name); existing.valid()) {
    if (scope.reuse == Reuse::kInherit) {
      return mistake(
          StrCat("exists already", WhereMade(existing), "; to share it, open the variable scope with reuse"));
    }
    if (!existing.shape().IsCompatibleWith(shape)) {
      return mistake(StrCat("cannot be shared: it has shape ", existing.shape(), ", but shape ", shape, " is requested",
                            WhereMade(existing)));
    }
    if (existing.dtype() != dtype) {
      return mistake(StrCat("cannot be shared: it has dtype ", existing.dtype(), ", but ", dtype, " is requested",
                            WhereMade(existing)));
    }
    if (pieces == Pieces::kOne && existing.parts()[0].part_of() != nullptr) {
      return mistake(StrCat("is partitioned; share it with GetPartitionedVariable", WhereMade(existing)));
    }
    return existing;
  }
  if (scope.reuse == Reuse::kMustExist) {
    return mistake(
        StrCat("does not exist, but the variable scope opened at ", LocationText(*scope.reuse_line),
               " reuses variables; make it first, or open the scope with the automatic reuse, which makes it"));
  }

  Initializer initializer = options.initializer ? options.initializer : scope.initializer;
  if (!initializer) initializer = IsFloating(dtype) || IsComplex(dtype) ? GlorotUniform() : Zeros();
  if (pieces == Pieces::kParts && !partitioner) partitioner = scope.partitioner;
  auto top = graph.NameScope("");
  const VariableOptions variable = {
      .name = full_name, .dtype = dtype, .trainable = options.trainable, .local = options.local};
  const bool is_scalar = shape.has_rank() && shape.rank() == 0;
  const PartitionedVariable made = partitioner && !is_scalar
                                       ? PartitionedVariable(graph, shape, initializer, partitioner, variable, loc)
                                       : PartitionedVariable(Variable(graph, shape, initializer, variable, loc));
  if (!made.valid()) return {};
  {
    const GraphLock lock(graph);
    ImplOf(graph).extension<VariablesByName>().variables[full_name] = made;
  }
  if (const Regularizer& regularizer = options.regularizer ? options.regularizer : scope.regularizer) {
    for (const Variable& part : made.parts()) Regularize(graph, part, regularizer);
  }
  return made;
}

}  // namespace

Variable GetVariable(Graph& graph, const std::string& name, const Shape& shape, const GetVariableOptions& options,
                     std::source_location loc) {
  const PartitionedVariable whole = MakeOrShare(graph, name, shape, Pieces::kOne, nullptr, options, loc);
  return whole.valid() ? whole.parts()[0] : Variable();
}

PartitionedVariable GetPartitionedVariable(Graph& graph, const std::string& name, const Shape& shape,
                                           const Partitioner& partitioner, const GetVariableOptions& options,
                                           std::source_location loc) {
  return MakeOrShare(graph, name, shape, Pieces::kParts, partitioner, options, loc);
}

Regularizer L1L2Regularizer(double l1, double l2) {
  return [l1, l2](const Output& value) {
    Output loss;
    if (l1 != 0) loss = ReduceSum(Abs(value)) * l1;
    if (l2 != 0) {
      const Output squares = ReduceSum(Square(value)) * l2;
      loss = loss.valid() ? loss + squares : squares;
    }
    return loss;
  };
}

Regularizer L1Regularizer(double l1) { return L1L2Regularizer(l1, 0); }
Regularizer L2Regularizer(double l2) { return L1L2Regularizer(0, l2); }
Regularizer NoRegularizer() { return NoLoss(); }

}  // namespace tensorbraid
