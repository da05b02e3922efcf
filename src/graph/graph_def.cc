// GraphDef in and out.
#include <google/protobuf/arena.h>
#include <google/protobuf/text_format.h>

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "core/strings.h"
#include "graph/graph.pb.h"
#include "graph/node.h"
#include "graph/tensor_proto.h"

namespace tensorbraid {
namespace {

// The graph version that TensorFlow 2 writes; it refuses graphs whose consumers are too new for it, not older ones.
constexpr int kGraphVersion = 1395;

void AttrToProto(const AttrValue& value, proto::AttrValue* out) {
  std::visit(
      [&](const auto& v) {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, std::string>) out->set_s(v);
        if constexpr (std::is_same_v<T, int64_t>) out->set_i(v);
        if constexpr (std::is_same_v<T, float>) out->set_f(v);
        if constexpr (std::is_same_v<T, bool>) out->set_b(v);
        if constexpr (std::is_same_v<T, DType>) out->set_type(static_cast<int32_t>(v));
        if constexpr (std::is_same_v<T, Shape>) ToProto(v, out->mutable_shape());
        if constexpr (std::is_same_v<T, Tensor>) ToProto(v, out->mutable_tensor());
        if constexpr (std::is_same_v<T, std::shared_ptr<const AttrValue::Function>>) {
          out->mutable_func()->set_name(v->name);
          for (const auto& [name, attr] : v->attrs) AttrToProto(attr, &(*out->mutable_func()->mutable_attr())[name]);
        }
        auto* list = [&]() -> proto::AttrValue::ListValue* {
          if constexpr (requires { typename T::value_type; } && !std::is_same_v<T, std::string>)
            return out->mutable_list();
          return nullptr;
        }();
        if constexpr (std::is_same_v<T, std::vector<std::string>>)
          for (const auto& s : v) list->add_s(s);
        if constexpr (std::is_same_v<T, std::vector<int64_t>>)
          for (int64_t i : v) list->add_i(i);
        if constexpr (std::is_same_v<T, std::vector<float>>)
          for (float f : v) list->add_f(f);
        if constexpr (std::is_same_v<T, std::vector<bool>>)
          for (bool b : v) list->add_b(b);
        if constexpr (std::is_same_v<T, std::vector<DType>>)
          for (DType t : v) list->add_type(static_cast<int32_t>(t));
        if constexpr (std::is_same_v<T, std::vector<Shape>>)
          for (const auto& s : v) ToProto(s, list->add_shape());
        if constexpr (std::is_same_v<T, std::vector<Tensor>>)
          for (const auto& t : v) ToProto(t, list->add_tensor());
        (void)list;
      },
      value.value());
}

// `wanted` is the attribute's declared type, which decides what an empty list is a list of.
StatusOr<AttrValue> AttrFromProto(const proto::AttrValue& p, std::string_view wanted, int depth = 0) {
  if (depth > 8) return InvalidArgument("function attributes are nested too deeply");
  const auto type = [](int32_t number) -> StatusOr<DType> {
    if (!IsKnownDType(number)) return InvalidArgument("unknown dtype ", number);
    return DType(number);
  };
  switch (p.value_case()) {
    case proto::AttrValue::kS:
      return AttrValue(p.s());
    case proto::AttrValue::kI:
      return AttrValue(static_cast<int64_t>(p.i()));
    case proto::AttrValue::kF:
      return AttrValue(p.f());
    case proto::AttrValue::kB:
      return AttrValue(p.b());
    case proto::AttrValue::kType: {
      TF_ASSIGN_OR_RETURN(const DType t, type(p.type()));
      return AttrValue(t);
    }
    case proto::AttrValue::kShape: {
      TF_ASSIGN_OR_RETURN(Shape s, FromProto(p.shape()));
      return AttrValue(std::move(s));
    }
    case proto::AttrValue::kTensor: {
      TF_ASSIGN_OR_RETURN(Tensor t, FromProto(p.tensor()));
      return AttrValue(std::move(t));
    }
    case proto::AttrValue::kFunc: {
      AttrValue::Function f{p.func().name(), {}};
      for (const auto& [name, attr] : p.func().attr()) {
        TF_ASSIGN_OR_RETURN(AttrValue v, AttrFromProto(attr, "", depth + 1));
        f.attrs.emplace(name, std::move(v));
      }
      return AttrValue(std::move(f));
    }
    case proto::AttrValue::kList: {
      const auto& l = p.list();
      if (l.s_size() > 0 || wanted == "list(string)")
        return AttrValue(std::vector<std::string>(l.s().begin(), l.s().end()));
      if (l.i_size() > 0 || wanted == "list(int)") return AttrValue(std::vector<int64_t>(l.i().begin(), l.i().end()));
      if (l.f_size() > 0 || wanted == "list(float)") return AttrValue(std::vector<float>(l.f().begin(), l.f().end()));
      if (l.b_size() > 0 || wanted == "list(bool)") return AttrValue(std::vector<bool>(l.b().begin(), l.b().end()));
      if (l.shape_size() > 0 || wanted == "list(shape)") {
        std::vector<Shape> shapes;
        for (const auto& s : l.shape()) {
          TF_ASSIGN_OR_RETURN(Shape shape, FromProto(s));
          shapes.push_back(std::move(shape));
        }
        return AttrValue(std::move(shapes));
      }
      if (l.tensor_size() > 0 || wanted == "list(tensor)") {
        std::vector<Tensor> tensors;
        for (const auto& t : l.tensor()) {
          TF_ASSIGN_OR_RETURN(Tensor tensor, FromProto(t));
          tensors.push_back(std::move(tensor));
        }
        return AttrValue(std::move(tensors));
      }
      if (l.func_size() > 0) return Unimplemented("attributes that are lists of functions");
      std::vector<DType> types;
      for (int32_t t : l.type()) {
        TF_ASSIGN_OR_RETURN(const DType dtype, type(t));
        types.push_back(dtype);
      }
      return AttrValue(std::move(types));
    }
    default:
      return InvalidArgument("the attribute has no value");
  }
}

void GraphToProto(const GraphImpl& graph, proto::GraphDef* out) {
  out->mutable_versions()->set_producer(kGraphVersion);
  for (const auto& node : graph.nodes()) {
    proto::NodeDef* def = out->add_node();
    def->set_name(node->name());
    def->set_op(node->type());
    def->set_device(node->device());
    for (const Output& input : node->inputs()) {
      def->add_input(input.index() == 0 ? input.node()->name() : input.name());
    }
    for (const Node* c : node->control_inputs()) def->add_input("^" + c->name());
    for (const auto& [name, value] : node->attrs()) AttrToProto(value, &(*def->mutable_attr())[name]);
  }
}

struct InputName {
  std::string_view node;
  int index = 0;
  bool is_control = false;
};

StatusOr<InputName> ParseInput(std::string_view text) {
  InputName in;
  if (text.starts_with("^")) {
    in.node = text.substr(1);
    in.is_control = true;
    return in;
  }
  in.node = text;
  if (const size_t colon = text.rfind(':'); colon != std::string_view::npos) {
    in.node = text.substr(0, colon);
    const std::string_view digits = text.substr(colon + 1);
    if (digits.empty() || digits.size() > 6) return InvalidArgument("'", text, "' does not name an input");
    for (char c : digits) {
      if (c < '0' || c > '9') return InvalidArgument("'", text, "' does not name an input");
      in.index = in.index * 10 + (c - '0');
    }
  }
  return in;
}

// Adds the nodes in an order in which every node comes after its inputs.
class Importer {
 public:
  Importer(const proto::GraphDef& def, GraphImpl* graph) : def_(def), graph_(graph) {}

  Status Run(std::vector<Node*>* added) {
    for (int i = 0; i < def_.node_size(); ++i) {
      if (!index_.emplace(def_.node(i).name(), i).second) {
        return InvalidArgument("two nodes are named '", def_.node(i).name(), "'");
      }
    }
    std::vector<int> waiting_for(def_.node_size(), 0);
    std::vector<std::vector<int>> consumers(def_.node_size());
    std::vector<int> ready;
    for (int i = 0; i < def_.node_size(); ++i) {
      for (const std::string& input : def_.node(i).input()) {
        TF_ASSIGN_OR_RETURN(const InputName in, ParseInput(input));
        const auto it = index_.find(std::string(in.node));
        if (it == index_.end()) {
          if (graph_->Find(in.node) != nullptr) continue;
          return InvalidArgument("node '", def_.node(i).name(), "' takes '", input, "', which does not exist");
        }
        ++waiting_for[i];
        consumers[it->second].push_back(i);
      }
    }
    for (int i = def_.node_size() - 1; i >= 0; --i) {
      if (waiting_for[i] == 0) ready.push_back(i);
    }
    int done = 0;
    while (!ready.empty()) {
      const int i = ready.back();
      ready.pop_back();
      TF_ASSIGN_OR_RETURN(Node * node, Add(def_.node(i)));
      added->push_back(node);
      ++done;
      for (int c : consumers[i]) {
        if (--waiting_for[c] == 0) ready.push_back(c);
      }
    }
    if (done < def_.node_size()) {
      const auto stuck = std::find_if(waiting_for.begin(), waiting_for.end(), [](int n) { return n > 0; });
      return InvalidArgument("the graph has a cycle through node '",
                             def_.node(static_cast<int>(stuck - waiting_for.begin())).name(), "'");
    }
    return OkStatus();
  }

 private:
  StatusOr<Node*> Add(const proto::NodeDef& def) {
    NodeSpec spec{.name = def.name(),
                  .op = def.op(),
                  .inputs = {},
                  .controls = {},
                  .attrs = {},
                  .device = def.device(),
                  .loc = {},
                  .has_location = false,
                  .defer_shape_errors = true};
    const OpDef* op = OpRegistry::Global().Find(def.op());
    for (const auto& [name, value] : def.attr()) {
      const AttrDef* declared = op == nullptr ? nullptr : op->FindAttr(name);
      auto attr = AttrFromProto(value, declared == nullptr ? "" : declared->type);
      if (!attr.ok()) return Annotate(attr.status(), StrCat("node '", def.name(), "', attribute '", name, "'"));
      spec.attrs.emplace(name, *std::move(attr));
    }
    for (const std::string& input : def.input()) {
      TF_ASSIGN_OR_RETURN(const InputName in, ParseInput(input));
      Node* from = graph_->Find(in.node);
      if (in.is_control) {
        spec.controls.push_back(from);
      } else if (in.index >= from->num_outputs()) {
        return InvalidArgument("node '", def.name(), "' takes '", input, "', but '", in.node, "' has ",
                               from->num_outputs(), " outputs");
      } else {
        spec.inputs.emplace_back(from, in.index);
      }
    }
    return graph_->AddNode(std::move(spec));
  }

  const proto::GraphDef& def_;
  GraphImpl* graph_;
  absl::flat_hash_map<std::string, int> index_;
};

Status Import(const proto::GraphDef& def, Graph* graph) {
  const size_t before = graph->impl().nodes().size();
  std::vector<Node*> added;
  const Status status = Importer(def, &graph->impl()).Run(&added);
  if (!status.ok()) graph->impl().RemoveFrom(before);
  return status;
}

}  // namespace

void GraphImpl::RemoveFrom(size_t count) {
  while (nodes_.size() > count) {
    by_name_.erase(nodes_.back()->name());
    nodes_.pop_back();
  }
}

StatusOr<std::string> Graph::ToGraphDef() const {
  TF_RETURN_IF_ERROR(status());
  google::protobuf::Arena arena;
  auto* def = google::protobuf::Arena::CreateMessage<proto::GraphDef>(&arena);
  GraphToProto(impl(), def);
  std::string bytes;
  if (def->ByteSizeLong() > (size_t{1} << 31) - 1 || !def->SerializeToString(&bytes)) {
    return InvalidArgument("the graph's constants exceed the 2 GiB that a GraphDef can hold");
  }
  return bytes;
}

StatusOr<std::string> Graph::ToGraphDefText() const {
  TF_RETURN_IF_ERROR(status());
  proto::GraphDef def;
  GraphToProto(impl(), &def);
  std::string text;
  if (!google::protobuf::TextFormat::PrintToString(def, &text)) return Internal("cannot print the graph");
  return text;
}

Status Graph::ImportGraphDef(std::string_view graph_def) {
  google::protobuf::Arena arena;
  auto* def = google::protobuf::Arena::CreateMessage<proto::GraphDef>(&arena);
  if (graph_def.size() > (size_t{1} << 31) - 1 ||
      !def->ParseFromArray(graph_def.data(), static_cast<int>(graph_def.size()))) {
    return InvalidArgument("these ", graph_def.size(), " bytes are not a GraphDef");
  }
  return Import(*def, this);
}

Status Graph::ImportGraphDefText(std::string_view graph_def_text) {
  proto::GraphDef def;
  if (!google::protobuf::TextFormat::ParseFromString(std::string(graph_def_text), &def)) {
    return InvalidArgument("the text is not a GraphDef");
  }
  return Import(def, this);
}

}  // namespace tensorbraid
