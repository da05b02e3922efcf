// Implements NodeBuilder, and applies the open scopes of the graph to a new node.
#include <algorithm>
#include <cctype>

#include "core/text/device_name.h"
#include "core/text/strings.h"
#include "graph/functions/function_scope.h"
#include "graph/model/graph_impl.h"
#include "graph/model/mistakes.h"
#include "graph/model/node.h"
#include "graph/model/operand_error.h"
#include "graph/model/user_lines.h"

namespace tensorbraid {

NodeBuilder::NodeBuilder(Graph& graph, std::string op, std::source_location loc)
    : graph_(graph), op_(std::move(op)), loc_(loc) {}

NodeBuilder& NodeBuilder::Name(std::string name) {
  name_ = std::move(name);
  return *this;
}
NodeBuilder& NodeBuilder::Input(tensorbraid::Output input) {
  inputs_.push_back({{input}, /*is_list=*/false});
  return *this;
}
NodeBuilder& NodeBuilder::InputList(std::vector<tensorbraid::Output> inputs) {
  inputs_.push_back({std::move(inputs), /*is_list=*/true});
  return *this;
}
NodeBuilder& NodeBuilder::Attr(std::string name, AttrValue value) {
  attrs_.insert_or_assign(std::move(name), std::move(value));
  return *this;
}
NodeBuilder& NodeBuilder::Control(Operation op) {
  controls_.push_back(op);
  return *this;
}
NodeBuilder& NodeBuilder::Device(std::string device) {
  device_ = std::move(device);
  return *this;
}
NodeBuilder& NodeBuilder::ColocateWith(Operation op) {
  colocations_.push_back(op);
  return *this;
}
Operation NodeBuilder::Finish() { return ImplOf(graph_).Add(*this); }
tensorbraid::Output NodeBuilder::Output() { return Finish().output(0); }

std::string GraphImpl::UniqueName(const std::string& name) {
  const GraphLock lock(*this);
  const std::vector<std::string>& scopes = here().name_scopes;
  const std::string prefix = scopes.empty() || scopes.back().empty() ? "" : scopes.back() + "/";
  const auto lower = [](std::string s) {
    std::transform(s.begin(), s.end(), s.begin(), [](unsigned char c) { return std::tolower(c); });
    return s;
  };
  // As in TensorFlow, names are compared without case, and numbering continues from the last number used. One node may
  // have the same name as a scope.
  const bool is_scope = name.ends_with('/');
  std::string full = is_scope ? name.substr(0, name.size() - 1) : prefix + name;
  if (is_scope && !by_name_.contains(full)) return full;
  int& uses = name_uses_[lower(full)];
  std::string unique = full;
  if (uses > 0 || by_name_.contains(full)) {
    int n = std::max(uses, 1);
    do {
      unique = full + "_" + std::to_string(n++);
    } while (name_uses_.contains(lower(unique)) || by_name_.contains(unique));
    uses = n;
    name_uses_[lower(unique)] = 1;
  } else {
    uses = 1;
  }
  return unique;
}

std::string GraphImpl::DeviceFor(const Node& node) const {
  // Goes from the innermost scope outwards; each scope fills in the parts that are still open.
  const auto own = DeviceName::Parse(node.device());
  DeviceName device = own.ok() ? *own : DeviceName();
  // A copy of the node, because device functions get a handle of it before the node itself has its device.
  const auto seen = std::make_shared<Node>(node);
  const std::vector<DeviceScope>& scopes = here().device_scopes;
  for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope) {
    if (scope->reset) break;
    std::string name = scope->name;
    if (scope->function) {
      seen->set_device(device.ToString());
      name = scope->function(OperationOf(seen.get()));
    }
    const auto parsed = DeviceName::Parse(name);
    if (!parsed.ok()) {
      graph()->AddError(Annotate(parsed.status(), StrCat("device function, called for ", node.Describe())));
      continue;
    }
    device = device.MergedOver(*parsed);
  }
  Release(*seen);
  return device.ToString();
}

Operation GraphImpl::Add(NodeBuilder& b) {
  const GraphLock lock(*this);
  const ThreadState& scopes = here();
  for (const auto& input : b.inputs_) {
    if (GraphImpl* const body = BodyInside(*this, input.outputs)) return body->Add(b);
  }
  const SourceLine line = UserLine(b.loc_);
  // Describes the node in messages that come before it has its final name.
  const auto describe = [&] {
    std::string name = b.name_.empty() ? b.op_ : b.name_;
    if (name.ends_with('/')) {
      name.pop_back();
    } else if (!name_scope().empty()) {
      name = StrCat(name_scope(), "/", name);
    }
    return StrCat(b.op_, " '", name, "' (", LocationText(line), ")");
  };
  NodeSpec spec{.name = "",
                .op = b.op_,
                .inputs = {},
                .controls = {},
                .attrs = std::move(b.attrs_),
                .device = b.device_,
                .line = line};
  const auto named = [&b] { return b.name_.empty() ? b.op_ : StrCat(b.op_, " '", b.name_, "'"); };
  for (const auto& input : b.inputs_) {
    for (const Output& o : input.outputs) {
      if (!o.valid()) {
        if (Status first = TakeThreadStatus(); !first.ok()) {
          AddThreadError(first.ErasePayload(kNeedsOpName) ? Annotate(first, named()) : first);
        }
        // The graph keeps only its first error. So this has no effect if the error that made the input invalid is
        // recorded already.
        graph()->AddError(InvalidArgument(describe(), ": input ", spec.inputs.size(),
                                          " is not valid: it belongs to no graph", TakeLoggedMistake()));
        return {};
      }
      auto usable = UsableIn(*this, o);
      if (!usable.ok()) {
        graph()->AddError(Annotate(usable.status(), StrCat(describe(), ": input ", spec.inputs.size())));
        return {};
      }
      spec.inputs.push_back(*std::move(usable));
    }
  }
  // The lengths and types of list arguments are attributes.
  if (const OpDef* op = OpRegistry::Global().Find(b.op_)) {
    if (b.inputs_.size() != op->inputs.size()) {
      graph()->AddError(
          InvalidArgument(describe(), " takes ", op->inputs.size(), " arguments, got ", b.inputs_.size()));
      return {};
    }
    for (size_t i = 0; i < op->inputs.size(); ++i) {
      const ArgDef& arg = op->inputs[i];
      const auto& outputs = b.inputs_[i].outputs;
      if (!arg.number_attr.empty()) spec.attrs.insert_or_assign(arg.number_attr, static_cast<int64_t>(outputs.size()));
      if (!arg.type_list_attr.empty()) {
        std::vector<DType> types;
        for (const Output& o : outputs) types.push_back(o.dtype());
        spec.attrs.insert_or_assign(arg.type_list_attr, std::move(types));
      }
    }
  }
  if (!scopes.container_scopes.empty()) {
    const OpDef* const op = FindOp(b.op_);
    if (op != nullptr && op->FindAttr("container") != nullptr) {
      AttrValue& container = spec.attrs.try_emplace("container", "").first->second;
      const auto* const own = container.get<std::string>();
      if (own != nullptr && own->empty()) container = scopes.container_scopes.back();
    }
  }
  for (const Operation& c : b.controls_) {
    if (!c.valid()) {
      graph()->AddError(InvalidArgument(describe(), ": one of its control inputs is not valid"));
      continue;
    }
    if (const Status owned = CheckOwns(c); !owned.ok()) {
      graph()->AddError(Annotate(owned, StrCat(describe(), ": a control input")));
      return {};
    }
    spec.controls.push_back(NodeOf(c));
  }
  if (b.name_.ends_with("/")) {
    spec.name = b.name_.substr(0, b.name_.size() - 1);
  } else {
    spec.name = UniqueName(b.name_.empty() ? b.op_ : b.name_);
  }
  if (const Status entered = EnterFlowContext(&spec); !entered.ok()) {
    graph()->AddError(Annotate(entered, describe()));
    return {};
  }
  std::vector<std::string> colocation;
  const auto colocate = [&](const Node& with) {
    const auto already = with.colocated_with();
    if (already.empty()) {
      colocation.push_back("loc:@" + with.name());
    } else {
      for (const std::string& name : already) colocation.push_back("loc:@" + name);
    }
    if (spec.device.empty()) spec.device = with.device();
  };
  for (const Operation& op : b.colocations_) {
    if (!op.valid()) continue;
    if (const Status owned = CheckOwns(op); !owned.ok()) {
      graph()->AddError(Annotate(owned, StrCat(describe(), ": the operation to colocate with")));
      return {};
    }
    colocate(*NodeOf(op));
  }
  if (b.colocations_.empty() && !scopes.colocation_scopes.empty() && scopes.colocation_scopes.back() != nullptr) {
    colocate(*scopes.colocation_scopes.back());
  }
  const bool colocated = !colocation.empty();
  if (colocated) {
    std::sort(colocation.begin(), colocation.end());
    colocation.erase(std::unique(colocation.begin(), colocation.end()), colocation.end());
    spec.attrs.insert_or_assign("_class", std::move(colocation));
  }
  auto node = AddNode(std::move(spec));
  if (!node.ok()) {
    graph()->AddError(node.status());
    return {};
  }
  // A colocated node follows the node that it is colocated with, whatever device scopes are open. Device functions of
  // the library look the node up, so it is in the graph already; the lock keeps other threads from seeing it without
  // its device.
  if (!colocated && !scopes.device_scopes.empty()) (*node)->set_device(DeviceFor(**node));
  return OperationOf(*node);
}

}  // namespace tensorbraid
