// Reads and writes FunctionDefs, and instantiates the body of a function from its definition.
#include <google/protobuf/arena.h>

#include "absl/container/flat_hash_map.h"
#include "core/text/strings.h"
#include "graph/format/attr_proto.h"
#include "graph/format/deterministic_bytes.h"
#include "graph/format/graph.pb.h"
#include "graph/functions/function.h"
#include "graph/model/graph_impl.h"

namespace tensorbraid {
namespace {

using AttrMap = google::protobuf::Map<std::string, proto::AttrValue>;

void AddReferences(const proto::AttrValue& value, std::set<std::string>* names) {
  const auto add = [&](const proto::NameAttrList& f) {
    names->insert(f.name());
    for (const auto& [name, attr] : f.attr()) AddReferences(attr, names);
  };
  if (value.value_case() == proto::AttrValue::kFunc) add(value.func());
  if (value.value_case() == proto::AttrValue::kList) {
    for (const auto& f : value.list().func()) add(f);
  }
}

StatusOr<ArgDef> ArgFromProto(const proto::OpDef::ArgDef& p, const OpDef& op) {
  ArgDef arg{.name = p.name(),
             .type = DType::kInvalid,
             .type_attr = p.type_attr(),
             .number_attr = p.number_attr(),
             .type_list_attr = p.type_list_attr(),
             .is_ref = p.is_ref()};
  if (!arg.type_list_attr.empty()) {
    arg.type_attr.clear();
    arg.number_attr.clear();
  }
  const auto check = [&](const std::string& attr, const char* type) -> Status {
    const AttrDef* def = attr.empty() ? nullptr : op.FindAttr(attr);
    if (attr.empty() || (def != nullptr && def->type == type)) return OkStatus();
    return InvalidArgument("argument '", arg.name, "' refers to attribute '", attr,
                           "', which does not exist or is not of type ", type);
  };
  TF_RETURN_IF_ERROR(check(arg.type_attr, "type"));
  TF_RETURN_IF_ERROR(check(arg.number_attr, "int"));
  TF_RETURN_IF_ERROR(check(arg.type_list_attr, "list(type)"));
  if (arg.type_attr.empty() && arg.type_list_attr.empty()) {
    if (!IsKnownDType(p.type())) return InvalidArgument("argument '", arg.name, "' has unknown dtype ", p.type());
    arg.type = DType(p.type());
    if (IsRef(arg.type)) {
      arg.type = BaseType(arg.type);
      arg.is_ref = true;
    }
  }
  return arg;
}

StatusOr<OpDef> SignatureFromProto(const proto::OpDef& p) {
  OpDef op;
  op.name = p.name();
  op.is_stateful = p.is_stateful();
  if (op.name.empty()) return InvalidArgument("a function has no name");
  for (const auto& a : p.attr()) {
    AttrDef attr{.name = a.name(),
                 .type = a.type(),
                 .default_value = std::nullopt,
                 .allowed_types = {},
                 .allowed_strings = {},
                 .minimum = std::nullopt};
    if (op.FindAttr(attr.name) != nullptr) return InvalidArgument("attribute '", attr.name, "' is declared twice");
    if (a.has_minimum()) attr.minimum = a.minimum();
    if (a.has_default_value()) {
      TF_ASSIGN_OR_RETURN(attr.default_value, FromProto(a.default_value(), a.type()));
    }
    for (int32_t t : a.allowed_values().list().type()) {
      if (IsKnownDType(t)) attr.allowed_types.push_back(DType(t));
    }
    op.attrs.push_back(std::move(attr));
  }
  std::set<std::string> names;
  for (const auto& a : p.input_arg()) {
    TF_ASSIGN_OR_RETURN(ArgDef arg, ArgFromProto(a, op));
    if (!names.insert(arg.name).second) return InvalidArgument("argument '", arg.name, "' is declared twice");
    op.inputs.push_back(std::move(arg));
  }
  for (const auto& a : p.output_arg()) {
    TF_ASSIGN_OR_RETURN(ArgDef arg, ArgFromProto(a, op));
    op.outputs.push_back(std::move(arg));
  }
  return op;
}

// Turns a FunctionDef into a GraphDef and imports it.
class Instantiation {
 public:
  Instantiation(const proto::FunctionDef& def, const OpDef& signature, const FunctionLibrary& library)
      : def_(def), signature_(signature), library_(library) {}

  StatusOr<FunctionBody> Run(const std::map<std::string, AttrValue>& attrs,
                             const std::shared_ptr<const FunctionLibrary>& library) {
    for (const AttrDef& a : signature_.attrs) {
      const auto it = attrs.find(a.name);
      if (it != attrs.end()) {
        ToProto(it->second, &attrs_[a.name]);
      } else if (a.default_value) {
        ToProto(*a.default_value, &attrs_[a.name]);
      } else {
        return InvalidArgument("attribute '", a.name, "' (", a.type, ") is missing");
      }
    }
    TF_RETURN_IF_ERROR(AddArgs());
    TF_RETURN_IF_ERROR(AddNodes());
    FunctionBody body;
    body.graph = std::make_unique<Graph>();
    ImplOf(*body.graph).set_functions(library);
    TF_RETURN_IF_ERROR(ImportProto(graph_, body.graph.get()));
    const GraphImpl& impl = ImplOf(*body.graph);
    for (const std::string& name : arg_names_) body.args.push_back(impl.Find(name));
    TF_RETURN_IF_ERROR(Returns(&body));
    for (const auto& [name, node] : def_.control_ret()) {
      Node* const found = impl.Find(node);
      if (found == nullptr) return InvalidArgument("control output '", name, "' is '", node, "', which does not exist");
      body.control_returns.push_back(found);
    }
    return body;
  }

 private:
  // Consecutive outputs of one node of the body.
  struct Outputs {
    std::string node;
    int first = 0;
    int count = 1;
  };

  StatusOr<const proto::AttrValue*> Attr(const AttrMap& attrs, const OpDef& op, const std::string& name) {
    const auto it = attrs.find(name);
    if (it != attrs.end()) return &it->second;
    const AttrDef* def = op.FindAttr(name);
    if (def == nullptr || !def->default_value) return InvalidArgument("attribute '", name, "' is missing");
    proto::AttrValue& value = defaults_[op.name + "." + name];
    ToProto(*def->default_value, &value);
    return &value;
  }

  // Returns the number of tensors of an argument, which may be a list.
  StatusOr<int> Count(const ArgDef& arg, const OpDef& op, const AttrMap& attrs) {
    constexpr int64_t kMax = 1 << 20;
    int64_t count = 1;
    if (!arg.number_attr.empty()) {
      TF_ASSIGN_OR_RETURN(const auto* value, Attr(attrs, op, arg.number_attr));
      count = value->i();
    }
    if (!arg.type_list_attr.empty()) {
      TF_ASSIGN_OR_RETURN(const auto* value, Attr(attrs, op, arg.type_list_attr));
      count = value->list().type_size();
    }
    if (count < 0 || count > kMax) {
      return InvalidArgument("argument '", arg.name, "' has a list length of ", count, "; expected 0 to ", kMax);
    }
    return static_cast<int>(count);
  }

  // Records which tensors of the graph a name in the body stands for: "arg", "arg:k" or "node:output".
  void Define(const std::string& name, const Outputs& outputs) { tensors_[name] = outputs; }

  Status AddArgs() {
    for (const ArgDef& arg : signature_.inputs) {
      TF_ASSIGN_OR_RETURN(const int count, Count(arg, signature_, attrs_));
      const bool is_list = !arg.number_attr.empty() || !arg.type_list_attr.empty();
      for (int k = 0; k < count; ++k) {
        proto::DataType type = static_cast<proto::DataType>(arg.type);
        if (!arg.type_attr.empty()) type = attrs_.at(arg.type_attr).type();
        if (!arg.type_list_attr.empty()) type = attrs_.at(arg.type_list_attr).list().type(k);
        const size_t index = arg_names_.size();
        proto::NodeDef* node = graph_.add_node();
        node->set_name(is_list ? StrCat(arg.name, "/_", k) : arg.name);
        node->set_op("_Arg");
        auto& attr = *node->mutable_attr();
        attr["T"].set_type(type);
        attr["index"].set_i(static_cast<int64_t>(index));
        ToProto(Shape::Unknown(), attr["shape"].mutable_shape());
        arg_names_.push_back(node->name());
        Define(is_list ? StrCat(arg.name, ":", k) : arg.name, {.node = node->name(), .first = 0, .count = 1});
        if (!is_list) Define(arg.name + ":0", {.node = node->name(), .first = 0, .count = 1});
      }
      if (is_list) lists_[arg.name] = count;
    }
    return OkStatus();
  }

  // Replaces the placeholders in an attribute of the body by the attributes of the function.
  Status Substitute(proto::AttrValue* value) const {
    if (value->value_case() == proto::AttrValue::kPlaceholder) {
      const auto it = attrs_.find(value->placeholder());
      if (it == attrs_.end()) return InvalidArgument("the function has no attribute '", value->placeholder(), "'");
      const proto::AttrValue given = it->second;
      *value = given;
    } else if (value->value_case() == proto::AttrValue::kFunc) {
      for (auto& [name, attr] : *value->mutable_func()->mutable_attr()) TF_RETURN_IF_ERROR(Substitute(&attr));
    } else if (value->value_case() == proto::AttrValue::kList) {
      for (auto& f : *value->mutable_list()->mutable_func()) {
        for (auto& [name, attr] : *f.mutable_attr()) TF_RETURN_IF_ERROR(Substitute(&attr));
      }
    }
    return OkStatus();
  }

  Status AddNodes() {
    for (const proto::NodeDef& from : def_.node_def()) {
      proto::NodeDef* node = graph_.add_node();
      *node = from;
      node->clear_input();
      const auto annotate = [&](const Status& s) { return Annotate(s, StrCat("node '", from.name(), "'")); };
      for (auto& [name, attr] : *node->mutable_attr()) {
        if (const Status s = Substitute(&attr); !s.ok()) return annotate(s);
      }
      const OpDef* op = library_.FindOp(from.op());
      if (op == nullptr) return annotate(NotFound("op or function '", from.op(), "' does not exist"));
      int first = 0;
      for (const ArgDef& arg : op->outputs) {
        const auto count = Count(arg, *op, node->attr());
        if (!count.ok()) return annotate(count.status());
        Define(StrCat(from.name(), ":", arg.name), {.node = from.name(), .first = first, .count = *count});
        first += *count;
      }
    }
    const int args = static_cast<int>(arg_names_.size());
    for (int i = 0; i < def_.node_def_size(); ++i) {
      proto::NodeDef* node = graph_.mutable_node(args + i);
      for (const std::string& input : def_.node_def(i).input()) {
        if (input.starts_with("^")) {
          node->add_input(input);
          continue;
        }
        const auto outputs = Resolve(input);
        if (!outputs.ok()) return Annotate(outputs.status(), StrCat("node '", node->name(), "'"));
        for (const std::string& name : *outputs) node->add_input(name);
      }
    }
    return OkStatus();
  }

  // Returns the tensors that "arg", "arg:k", "node:output" or "node:output:k" stands for, as "node:k" of the graph.
  StatusOr<std::vector<std::string>> Resolve(const std::string& name) const {
    std::vector<std::string> names;
    if (const auto list = lists_.find(name); list != lists_.end()) {
      for (int k = 0; k < list->second; ++k) names.push_back(arg_tensor(StrCat(name, ":", k)));
      return names;
    }
    if (const auto it = tensors_.find(name); it != tensors_.end()) {
      for (int k = 0; k < it->second.count; ++k) names.push_back(StrCat(it->second.node, ":", it->second.first + k));
      return names;
    }
    const size_t colon = name.rfind(':');
    const auto it = colon == std::string::npos ? tensors_.end() : tensors_.find(name.substr(0, colon));
    const std::string digits = colon == std::string::npos ? "" : name.substr(colon + 1);
    if (it == tensors_.end() || digits.empty() || digits.size() > 7 ||
        digits.find_first_not_of("0123456789") != std::string::npos) {
      return InvalidArgument("'", name, "' does not name a tensor of the function");
    }
    const int k = std::stoi(digits);
    if (k >= it->second.count) {
      return InvalidArgument("'", name, "' does not exist: '", it->first, "' has ", it->second.count, " tensors");
    }
    names.push_back(StrCat(it->second.node, ":", it->second.first + k));
    return names;
  }
  std::string arg_tensor(const std::string& name) const { return tensors_.at(name).node + ":0"; }

  Status Returns(FunctionBody* body) {
    for (const ArgDef& arg : signature_.outputs) {
      const auto it = def_.ret().find(arg.name);
      if (it == def_.ret().end()) return InvalidArgument("output '", arg.name, "' has no value in 'ret'");
      TF_ASSIGN_OR_RETURN(const std::vector<std::string> names, Resolve(it->second));
      TF_ASSIGN_OR_RETURN(const int count, Count(arg, signature_, attrs_));
      if (static_cast<int>(names.size()) != count) {
        return InvalidArgument("output '", arg.name, "' must be ", count, " tensors, but '", it->second, "' is ",
                               names.size());
      }
      for (int k = 0; k < count; ++k) {
        TF_ASSIGN_OR_RETURN(const Output output, body->graph->FindOutput(names[k]));
        DType type = arg.type;
        if (!arg.type_attr.empty()) type = DType(attrs_.at(arg.type_attr).type());
        if (!arg.type_list_attr.empty()) type = DType(attrs_.at(arg.type_list_attr).list().type(k));
        if (output.dtype() != BaseType(type)) {
          return InvalidArgument("output '", arg.name, "' must be ", type, ", but '", names[k], "' is ",
                                 output.dtype());
        }
        body->returns.push_back(output);
      }
    }
    return OkStatus();
  }

  const proto::FunctionDef& def_;
  const OpDef& signature_;
  const FunctionLibrary& library_;
  AttrMap attrs_;  // the attributes of the function
  std::map<std::string, proto::AttrValue> defaults_;
  proto::GraphDef graph_;
  std::vector<std::string> arg_names_;
  absl::flat_hash_map<std::string, Outputs> tensors_;  // see Define
  absl::flat_hash_map<std::string, int> lists_;        // the lengths of the arguments that are lists
};

}  // namespace

std::set<std::string> References(const proto::NodeDef& node) {
  std::set<std::string> names = {node.op()};
  for (const auto& [name, value] : node.attr()) AddReferences(value, &names);
  return names;
}

StatusOr<std::shared_ptr<const Function>> Function::FromProto(const proto::FunctionDef& def) {
  auto function = std::shared_ptr<Function>(new Function);
  auto signature = SignatureFromProto(def.signature());
  if (!signature.ok()) return Annotate(signature.status(), StrCat("function '", def.signature().name(), "'"));
  function->signature_ = *std::move(signature);
  function->definition_ = DeterministicBytes(def);
  for (const auto& node : def.node_def()) {
    if (IsExecutorOp(node.op())) {
      return InvalidArgument("function '", function->name(), "': node '", node.name(), "' has the op '", node.op(),
                             "', which is reserved for the executor");
    }
    function->references_.merge(References(node));
    function->ops_.try_emplace(node.op(), node.name());
  }
  return function;
}

StatusOr<FunctionBody> Function::Instantiate(const std::map<std::string, AttrValue>& attrs,
                                             const std::shared_ptr<const FunctionLibrary>& library) const {
  google::protobuf::Arena arena;
  auto* def = google::protobuf::Arena::CreateMessage<proto::FunctionDef>(&arena);
  if (!def->ParseFromString(definition_)) {
    return Internal("cannot parse the stored definition of function '", name(), "'");
  }
  auto body = Instantiation(*def, signature_, *library).Run(attrs, library);
  if (!body.ok()) return Annotate(body.status(), StrCat("function '", name(), "'"));
  return body;
}

void FunctionLibrary::ToProto(proto::FunctionDefLibrary* out) const {
  for (const auto& [name, function] : functions_) out->add_function()->ParseFromString(function->definition());
  for (const auto& [function, gradient] : gradients_) {
    auto* g = out->add_gradient();
    g->set_function_name(function);
    g->set_gradient_func(gradient);
  }
}

}  // namespace tensorbraid
