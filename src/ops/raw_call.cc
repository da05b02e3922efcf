// Implements the calls of the functions of raw_ops, which are generated (src/cli/raw_ops).
#include "core/text/logging.h"
#include "graph/model/mistakes.h"
#include "graph/model/node.h"
#include "graph/model/op_registry.h"
#include "tensorbraid/raw_ops/call.h"

namespace tensorbraid::raw_ops::internal {
namespace {

const OpDef& DefinitionOf(const char* op) {
  const OpDef* def = OpRegistry::Global().Find(op);
  TB_CHECK(def != nullptr);  // the headers belong to this version of the library
  return *def;
}

}  // namespace

Output Outputs::Next() {
  ++argument_;
  return operation_.output(output_++);
}

std::vector<Output> Outputs::NextList() {
  std::vector<Output> list;
  for (int64_t i = 0; i < lengths_[argument_]; ++i) list.push_back(operation_.output(output_++));
  ++argument_;
  return list;
}

Call::Call(const char* op, const std::string& name, std::initializer_list<Argument> arguments, std::source_location loc)
    : op_(op), name_(name), arguments_(arguments), loc_(loc) {
  for (const Argument& argument : arguments_) {
    if (argument.operand_ == nullptr) continue;
    loc_ = argument.operand_->location();
    break;
  }
}

Call::Call(Graph& graph, const char* op, const std::string& name, std::initializer_list<Argument> arguments,
           std::source_location loc)
    : graph_(&graph), op_(op), name_(name), arguments_(arguments), loc_(loc) {}

Call& Call::Attr(const char* name, AttrValue value) {
  attrs_.insert_or_assign(name, std::move(value));
  return *this;
}

Call& Call::Attr(const char* name, const std::vector<AttrValue::Function>& functions) {
  std::vector<std::shared_ptr<const AttrValue::Function>> shared;
  for (const auto& function : functions) shared.push_back(std::make_shared<const AttrValue::Function>(function));
  return Attr(name, AttrValue(std::move(shared)));
}

Graph* Call::FindGraph() const {
  if (graph_ != nullptr) return graph_;
  bool has_invalid = false, has_value = false;
  const auto graph_of = [&](const Output& tensor) {
    if (!tensor.valid()) has_invalid = true;
    return tensor.graph(loc_);
  };
  for (const Argument& argument : arguments_) {
    Graph* graph = nullptr;
    if (argument.operand_ != nullptr) {
      graph = argument.operand_->graph();
      has_value = true;
      if (!argument.operand_->is_number() && argument.operand_->dtype() == DType::kInvalid) has_invalid = true;
    } else if (argument.tensor_ != nullptr) {
      graph = graph_of(*argument.tensor_);
    } else {
      for (size_t i = 0; i < argument.tensors_->size() && graph == nullptr; ++i)
        graph = graph_of((*argument.tensors_)[i]);
    }
    if (graph != nullptr) return graph;
  }
  // The mistake that made an input invalid has been reported already.
  if (!has_invalid) LogMistake(op_, loc_, has_value ? "no operand belongs to a graph" : kEmptyList);
  return nullptr;
}

DType Call::TypeFromArguments(const std::string& attr) const {
  const OpDef& def = DefinitionOf(op_);
  for (size_t i = 0; i < arguments_.size(); ++i) {
    if (def.inputs[i].type_attr != attr) continue;
    const Argument& argument = arguments_[i];
    DType type = DType::kInvalid;
    if (argument.operand_ != nullptr) {
      type = argument.operand_->dtype();
    } else if (argument.tensor_ != nullptr) {
      type = argument.tensor_->dtype();
    } else if (!argument.tensors_->empty()) {
      type = argument.tensors_->front().dtype();
    }
    if (type != DType::kInvalid) return BaseType(type);
  }
  return DType::kInvalid;
}

// The dtype of a number whose type is the attribute `attr`; kInvalid if nothing decides it.
DType Call::NumberType(const std::string& attr) const {
  if (const auto it = attrs_.find(attr); it != attrs_.end()) {
    const DType* type = it->second.get<DType>();
    return type == nullptr ? DType::kInvalid : *type;
  }
  if (const DType type = TypeFromArguments(attr); type != DType::kInvalid) return type;
  if (const auto it = number_types_.find(attr); it != number_types_.end()) return it->second;
  const AttrDef* def = DefinitionOf(op_).FindAttr(attr);
  if (def == nullptr || !def->default_value) return DType::kInvalid;
  const DType* type = def->default_value->get<DType>();
  return type == nullptr ? DType::kInvalid : *type;
}

// The length of the lists whose number or types are the attribute `attr`.
int64_t Call::LengthOf(const std::string& attr) const {
  const OpDef& def = DefinitionOf(op_);
  for (size_t i = 0; i < arguments_.size(); ++i) {
    if (def.inputs[i].number_attr != attr && def.inputs[i].type_list_attr != attr) continue;
    if (arguments_[i].tensors_ != nullptr) return static_cast<int64_t>(arguments_[i].tensors_->size());
  }
  const auto it = attrs_.find(attr);
  if (it == attrs_.end()) return 0;
  if (const int64_t* number = it->second.get<int64_t>()) return *number;
  const auto* types = it->second.get<std::vector<DType>>();
  return types == nullptr ? 0 : static_cast<int64_t>(types->size());
}

Operation Call::Finish() {
  Graph* graph = FindGraph();
  if (graph == nullptr) return {};
  const OpDef& def = DefinitionOf(op_);
  NodeBuilder builder(*graph, op_, loc_);
  builder.Name(name_);
  for (size_t i = 0; i < arguments_.size(); ++i) {
    const Argument& argument = arguments_[i];
    const ArgDef& arg = def.inputs[i];
    if (argument.tensors_ != nullptr) {
      builder.InputList(*argument.tensors_);
    } else if (argument.tensor_ != nullptr) {
      builder.Input(*argument.tensor_);
    } else {
      const DType type = arg.type != DType::kInvalid ? arg.type : NumberType(arg.type_attr);
      const Output tensor = argument.operand_->ToOutput(*graph, type);
      if (tensor.valid()) number_types_.emplace(arg.type_attr, BaseType(tensor.dtype()));
      builder.Input(tensor);
    }
  }
  for (auto& [name, value] : attrs_) builder.Attr(name, std::move(value));
  return builder.Finish();
}

Output Call::One() { return Finish().output(0); }

Outputs Call::All() {
  Outputs outputs;
  for (const ArgDef& arg : DefinitionOf(op_).outputs) {
    const std::string& attr = arg.number_attr.empty() ? arg.type_list_attr : arg.number_attr;
    outputs.lengths_.push_back(attr.empty() ? 1 : LengthOf(attr));
  }
  outputs.operation_ = Finish();
  return outputs;
}

}  // namespace tensorbraid::raw_ops::internal
