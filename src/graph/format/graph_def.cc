// Reads and writes GraphDefs.
#include <google/protobuf/arena.h>
#include <google/protobuf/text_format.h>

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "core/text/strings.h"
#include "core/values/repeated_tensor.h"
#include "graph/control_flow/control_flow.h"
#include "graph/format/attr_proto.h"
#include "graph/format/graph.pb.h"
#include "graph/format/missing_ops.h"
#include "graph/format/tensor_proto.h"
#include "graph/format/text_proto.h"
#include "graph/functions/function.h"
#include "graph/model/graph_impl.h"
#include "graph/model/node.h"
#include "graph/model/subgraph.h"

namespace tensorbraid {
namespace {

// The producer version to write, which is the one that TensorFlow 2 writes. TensorFlow refuses a graph that requires a
// newer consumer, but not one of an older producer.
constexpr int kGraphVersion = 1395;

void GraphToProto(const GraphImpl& graph, proto::GraphDef* out) {
  out->mutable_versions()->set_producer(kGraphVersion);
  if (!graph.functions()->empty()) graph.functions()->ToProto(out->mutable_library());
  for (const auto& node : graph.nodes()) {
    proto::NodeDef* def = out->add_node();
    def->set_name(node->name());
    def->set_op(node->type());
    def->set_device(node->device());
    for (const Output& input : node->inputs()) {
      def->add_input(input.index() == 0 ? NodeOf(input)->name() : input.name());
    }
    for (const Node* c : node->control_inputs()) def->add_input("^" + c->name());
    for (const auto& [name, value] : node->attrs()) ToProto(value, &(*def->mutable_attr())[name]);
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

// When a client differentiates an If, Case or While, it adds outputs to the node. If the session already has the node,
// the session's node lacks these outputs. The message is then TensorFlow's, which says how to avoid the error.
Status NoSuchOutput(const proto::NodeDef& def, const InputName& in, const Node& from) {
  const bool has_functions =
      from.type().ends_with("If") || from.type().ends_with("While") || from.type().ends_with("Case");
  if (!has_functions) {
    return InvalidArgument("node '", def.name(), "' reads output ", in.index, " of '", in.node, "', which has ",
                           from.num_outputs(), " outputs");
  }
  return InvalidArgument("node '", def.name(), "': Connecting to invalid output ", in.index, " of source node ",
                         in.node, " which has ", from.num_outputs(),
                         " outputs. Try using tf.compat.v1.experimental.output_all_intermediates(True).");
}

// Adds the nodes in an order in which every node comes after its inputs, except for back edges.
class Importer {
 public:
  Importer(const proto::GraphDef& def, GraphImpl* graph) : def_(def), graph_(graph) {}

  Status Run(std::vector<Node*>* added) {
    for (int i = 0; i < def_.node_size(); ++i) {
      if (!index_.emplace(def_.node(i).name(), i).second) {
        return InvalidArgument("two nodes are named '", def_.node(i).name(), "'");
      }
      if (def_.node(i).name().empty()) return InvalidArgument("a node of op '", def_.node(i).op(), "' has no name");
      if (graph_->Find(def_.node(i).name()) != nullptr) {
        return InvalidArgument("the graph already has a node named '", def_.node(i).name(), "'");
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
        if (IsBack(it->second, i) && !in.is_control) continue;
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
    if (done < def_.node_size()) return DescribeCycle(waiting_for);
    for (const auto& [merge, input, from] : back_edges_) {
      Node* node = graph_->Find(from.node);
      if (from.index != 0) return InvalidArgument("'", from.node, "' has no output ", from.index);
      TF_RETURN_IF_ERROR(graph_->CloseLoop(merge, input, OutputOf(node, 0)));
    }
    return OkStatus();
  }

 private:
  bool IsBack(int from, int to) const {
    return FlowKindOf(def_.node(from).op()) == FlowKind::kNextIteration &&
           FlowKindOf(def_.node(to).op()) == FlowKind::kMerge;
  }

  // Names the nodes on a cycle. Every node that could not be added waits for another such node, so following these
  // inputs leads to a cycle.
  Status DescribeCycle(const std::vector<int>& waiting_for) const {
    int at = static_cast<int>(std::find_if(waiting_for.begin(), waiting_for.end(), [](int n) { return n > 0; }) -
                              waiting_for.begin());
    std::vector<int> path;
    std::vector<bool> seen(waiting_for.size(), false);
    while (!seen[at]) {
      seen[at] = true;
      path.push_back(at);
      for (const std::string& input : def_.node(at).input()) {
        const auto in = ParseInput(input);
        const auto it = in.ok() ? index_.find(std::string(in->node)) : index_.end();
        if (it == index_.end() || waiting_for[it->second] == 0 || (IsBack(it->second, at) && !in->is_control)) continue;
        at = it->second;
        break;
      }
    }
    constexpr size_t kMaxNamed = 10;
    std::vector<std::string> names;
    for (auto it = std::find(path.begin(), path.end(), at); it != path.end() && names.size() < kMaxNamed; ++it) {
      names.push_back(StrCat("'", def_.node(*it).name(), "'"));
    }
    return InvalidArgument("the graph has a cycle through ", StrJoin(names, ", "),
                           "; only a NextIteration that goes to a Merge may close one");
  }

  StatusOr<Node*> Add(const proto::NodeDef& def) {
    NodeSpec spec{.name = def.name(),
                  .op = def.op(),
                  .inputs = {},
                  .controls = {},
                  .attrs = {},
                  .device = def.device(),
                  .line = std::nullopt,
                  .defer_shape_errors = true};
    const OpDef* op = graph_->FindOp(def.op());
    for (const auto& [name, value] : def.attr()) {
      const AttrDef* declared = op == nullptr ? nullptr : op->FindAttr(name);
      auto attr = FromProto(value, declared == nullptr ? "" : declared->type);
      if (!attr.ok()) return Annotate(attr.status(), StrCat("node '", def.name(), "', attribute '", name, "'"));
      spec.attrs.emplace(name, *std::move(attr));
    }
    // In GraphDefs with an older producer, a placeholder of unknown shape has the shape of a scalar.
    constexpr int kFirstWithUnknownShapes = 24;
    if (const auto shape = spec.attrs.find("shape"); def.op() == "Placeholder" && shape != spec.attrs.end() &&
                                                     def_.versions().producer() < kFirstWithUnknownShapes) {
      const Shape* given = shape->second.get<Shape>();
      if (given != nullptr && given->is_scalar()) shape->second = AttrValue(Shape::Unknown());
    }
    std::vector<std::pair<int, InputName>> back;  // back edges: inputs that are added later
    for (const std::string& input : def.input()) {
      TF_ASSIGN_OR_RETURN(const InputName in, ParseInput(input));
      Node* from = graph_->Find(in.node);
      if (from == nullptr) {
        back.emplace_back(static_cast<int>(spec.inputs.size()), in);
        spec.inputs.emplace_back();
      } else if (in.is_control) {
        spec.controls.push_back(from);
      } else if (in.index >= from->num_outputs()) {
        return NoSuchOutput(def, in, *from);
      } else {
        spec.inputs.push_back(OutputOf(from, in.index));
      }
    }
    TF_ASSIGN_OR_RETURN(Node * node, graph_->AddNode(std::move(spec)));
    if (FlowKindOf(*node) != FlowKind::kNone) graph_->set_has_imported_flow(true);
    for (const auto& [input, from] : back) back_edges_.emplace_back(node, input, from);
    return node;
  }

  const proto::GraphDef& def_;
  GraphImpl* graph_;
  std::vector<std::tuple<Node*, int, InputName>> back_edges_;  // the names point into def_
  absl::flat_hash_map<std::string, int> index_;
};

// Adds the functions of a GraphDef to the graph's library.
Status AddLibrary(const proto::FunctionDefLibrary& library, GraphImpl* graph) {
  if (library.function_size() == 0 && library.gradient_size() == 0) return OkStatus();
  auto functions = std::make_shared<FunctionLibrary>(*graph->functions());
  for (const auto& def : library.function()) {
    TF_ASSIGN_OR_RETURN(auto function, Function::FromProto(def));
    TF_RETURN_IF_ERROR(functions->Add(std::move(function)));
  }
  for (const auto& g : library.gradient()) {
    TF_RETURN_IF_ERROR(functions->AddGradient(g.function_name(), g.gradient_func()));
  }
  graph->set_functions(std::move(functions));
  return OkStatus();
}

// Refuses a GraphDef whose constants need much more memory than the GraphDef itself (see kMaxRepeatedBytes). This is
// possible because a constant may give one value that fills the whole tensor.
Status CheckRepeatedBytes(const proto::GraphDef& def) {
  int64_t total = 0;
  const auto add = [&](const proto::TensorProto& tensor) {
    total += std::min(RepeatedBytes(tensor), kMaxRepeatedBytes);
  };
  for (const auto& node : def.node()) {
    for (const auto& [name, value] : node.attr()) {
      if (value.has_tensor()) add(value.tensor());
      for (const auto& tensor : value.list().tensor()) add(tensor);
    }
    if (total <= kMaxRepeatedBytes) continue;
    return ResourceExhausted("the constants of the graph, up to node '", node.name(),
                             "', repeat values to fill more than ", kMaxRepeatedBytes, " bytes");
  }
  return OkStatus();
}

Status Import(const proto::GraphDef& def, Graph* graph, bool check_ops) {
  TF_RETURN_IF_ERROR(CheckRepeatedBytes(def));
  GraphImpl& impl = ImplOf(*graph);
  const GraphLock lock(impl);
  TF_RETURN_IF_ERROR(impl.CheckMayChange());
  const size_t before = impl.nodes().size();
  const auto functions = impl.functions();
  std::vector<Node*> added;
  Status status = AddLibrary(def.library(), &impl);
  if (status.ok() && check_ops) status = CheckOpsExist(def, *impl.functions());
  if (status.ok()) status = Importer(def, &impl).Run(&added);
  if (!status.ok()) {
    impl.RemoveFrom(before);
    impl.set_functions(functions);
  }
  return status;
}

}  // namespace

Status ImportProto(const proto::GraphDef& def, Graph* graph) { return Import(def, graph, /*check_ops=*/false); }

void GraphImpl::RemoveFrom(size_t count) {
  while (nodes_.size() > count) {
    by_name_.erase(nodes_.back()->name());
    Release(*nodes_.back());
    nodes_.pop_back();
  }
}

namespace {

constexpr size_t kMaxGraphDefBytes = (size_t{1} << 31) - 1;

// Another thread may be building a loop.
Status CheckLoopsFinished(const GraphImpl& graph) {
  for (const auto& node : graph.nodes()) TF_RETURN_IF_ERROR(CheckLoopFinished(*node));
  return OkStatus();
}

// Refuses constants that are too large for a GraphDef before they are copied into one.
Status CheckConstantsFit(const GraphImpl& graph) {
  size_t total = 0, largest = 0;
  const Node* largest_node = nullptr;
  for (const auto& node : graph.nodes()) {
    const AttrValue* attr = node->type() == "Const" ? node->FindAttr("value") : nullptr;
    const Tensor* value = attr == nullptr ? nullptr : attr->get<Tensor>();
    if (value == nullptr || RepeatedElement(*value) != nullptr) continue;
    total += value->num_bytes();
    if (value->num_bytes() <= largest) continue;
    largest = value->num_bytes();
    largest_node = node.get();
  }
  if (total <= kMaxGraphDefBytes) return OkStatus();
  return InvalidArgument("the constants of the graph have ", total, " bytes, and a GraphDef can hold ",
                         kMaxGraphDefBytes, "; the largest is ", largest_node->Describe(), " of ", largest,
                         " bytes: feed its value to a placeholder instead");
}

}  // namespace

StatusOr<std::string> Graph::ToGraphDef() const {
  const GraphLock lock(*this);
  TF_RETURN_IF_ERROR(status());
  TF_RETURN_IF_ERROR(CheckLoopsFinished(*impl_));
  TF_RETURN_IF_ERROR(CheckConstantsFit(*impl_));
  google::protobuf::Arena arena;
  auto* def = google::protobuf::Arena::CreateMessage<proto::GraphDef>(&arena);
  GraphToProto(*impl_, def);
  std::string bytes;
  if (def->ByteSizeLong() > kMaxGraphDefBytes || !def->SerializeToString(&bytes)) {
    return InvalidArgument("the graph has ", def->ByteSizeLong(), " bytes, and a GraphDef can hold ",
                           kMaxGraphDefBytes);
  }
  return bytes;
}

StatusOr<std::string> Graph::ToGraphDefText() const {
  const GraphLock lock(*this);
  TF_RETURN_IF_ERROR(status());
  TF_RETURN_IF_ERROR(CheckLoopsFinished(*impl_));
  proto::GraphDef def;
  GraphToProto(*impl_, &def);
  std::string text;
  if (!google::protobuf::TextFormat::PrintToString(def, &text)) return Internal("cannot print the graph");
  return text;
}

Status Graph::ImportGraphDef(std::string_view graph_def) {
  google::protobuf::Arena arena;
  auto* def = google::protobuf::Arena::CreateMessage<proto::GraphDef>(&arena);
  if (graph_def.size() > kMaxGraphDefBytes ||
      !def->ParseFromArray(graph_def.data(), static_cast<int>(graph_def.size()))) {
    return InvalidArgument("these ", graph_def.size(), " bytes are not a GraphDef");
  }
  return Import(*def, this, /*check_ops=*/true);
}

Status Graph::ImportGraphDefText(std::string_view graph_def_text) {
  proto::GraphDef def;
  TF_RETURN_IF_ERROR(ParseTextProto(graph_def_text, "a GraphDef", &def));
  return Import(def, this, /*check_ops=*/true);
}

}  // namespace tensorbraid
