#include "pjrt/emitter.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/text/source_file.h"
#include "core/text/strings.h"
#include "graph/model/node_status.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid::pjrt {
namespace {

// Compares bytes, so 0 and -0 differ.
bool HasEqualElements(const Tensor& t) {
  const auto* const bytes = static_cast<const char*>(t.raw_data());
  const size_t element = DTypeSize(t.dtype());
  return std::memcmp(bytes, bytes + element, t.num_bytes() - element) == 0;
}

Tensor FirstElement(const Tensor& t) {
  Tensor first(t.dtype(), {});
  std::memcpy(first.inplace_raw_data(), t.raw_data(), DTypeSize(t.dtype()));
  return first;
}

}  // namespace

// Writes one program. Holds the tensors of its edges and the present values of its variables.
class ProgramEmitter {
 public:
  ProgramEmitter(const std::vector<ProgramArgument>& arguments, const HostCompute& host,
                 const EmitterRegistry& registry, int num_streams)
      : arguments_(arguments), host_(host), registry_(registry), parameter_of_(arguments.size(), -1) {
    for (size_t a = 0; a < arguments.size(); ++a) AddArgument(static_cast<int>(a));
    if (num_streams > 0) streams_parameter_ = builder_.Parameter(kUint64, {num_streams, 3});
  }

  Status Emit(const Node& node) {
    std::vector<ProgramValue*> inputs;
    for (size_t i = 0; i < node.inputs().size(); ++i) {
      const auto it = values_.find(KeyOf(node.inputs()[i]));
      if (it == values_.end()) {
        return Internal("input ", i, ", '", node.inputs()[i].name(), "', is neither an argument of the program nor ",
                        "computed by an earlier node");
      }
      inputs.push_back(&it->second);
    }
    std::vector<ProgramValue> outputs(node.num_outputs());
    const StatusOr<const EmitterDef*> def = registry_.Find(node);
    const bool has_emitter = def.ok() && (*def)->emit != nullptr;
    if (CanRunOnHost(node, inputs) && (!has_emitter || (!inputs.empty() && HasSmallOutputs(node)))) {
      TF_RETURN_IF_ERROR(RunOnHost(node, inputs, outputs));
    } else {
      TF_RETURN_IF_ERROR(def.status());
      EmitContext context(*this, node, inputs, outputs);
      if (!has_emitter) {
        for (int i = 0; i < context.num_inputs(); ++i) TF_RETURN_IF_ERROR(context.static_input(i).status());
        return Internal("the host does not compute this op");
      }
      TF_RETURN_IF_ERROR((*def)->emit(context));
    }
    for (int i = 0; i < node.num_outputs(); ++i) {
      values_.insert_or_assign({&node, i}, std::move(outputs[i]));
    }
    return OkStatus();
  }

  // The tensor of an edge in the program.
  StatusOr<stablehlo::Value> Use(ProgramValue& v) {
    if (v.variable >= 0) return ReadVariable(v.variable);
    if (!v.value.valid() && v.constant != nullptr) {
      if (!stablehlo::HasType(v.constant->dtype())) {
        return InvalidArgument("a tensor of dtype ", v.constant->dtype(), " cannot be in a program");
      }
      v.value = ConstantOf(v.constant);
    }
    if (!v.value.valid()) return Internal("a tensor of the program has not been computed");
    if (v.value.id < static_cast<int>(arguments_.size())) UseArgument(v.value.id);
    return v.value;
  }

  StatusOr<stablehlo::Value> ReadVariable(int variable) {
    const stablehlo::Value& value = variables_[variable].value;
    if (!value.valid()) {
      TF_RETURN_IF_ERROR(arguments_[variable].loss);
      return FailedPrecondition(
          "the variable '",
          arguments_[variable].tensors.empty() ? std::string() : arguments_[variable].tensors[0].op().name(),
          "' has no value; run its initializer first");
    }
    if (value.id < static_cast<int>(arguments_.size())) UseArgument(value.id);
    return value;
  }
  bool HasValue(int variable) const { return variables_[variable].value.valid(); }
  void UpdateVariable(int number, const stablehlo::Value& value, EmitContext::GuardedUpdate guarded) {
    Variable& variable = variables_[number];
    if (variable.updated && variable.guarded == nullptr) {
      guarded = nullptr;
    } else if (variable.updated && guarded != nullptr) {
      guarded = [first = variable.guarded, second = std::move(guarded)](const stablehlo::Value& before,
                                                                        const stablehlo::Value& failed) {
        return second(first(before, failed), failed);
      };
    }
    variable = {.value = value, .updated = true, .guarded = std::move(guarded)};
  }
  // The dtype and shape of an edge's tensor.
  StatusOr<std::pair<DType, Shape>> Describe(const ProgramValue& v) {
    if (v.constant != nullptr) return std::pair(v.constant->dtype(), v.constant->shape());
    if (v.variable < 0) return std::pair(v.value.dtype, v.value.shape);
    TF_ASSIGN_OR_RETURN(const stablehlo::Value value, ReadVariable(v.variable));
    return std::pair(value.dtype, value.shape);
  }
  stablehlo::Builder& builder() { return builder_; }
  ErrorWord& error_word() { return error_word_; }
  void AddHostCheck(ProgramText::HostCheck check) { host_checks_.push_back(std::move(check)); }

  stablehlo::Value TakeStream(const Node& node, int64_t elements) {
    const auto row = static_cast<int64_t>(streams_.size());
    streams_.push_back({&node, elements});
    return builder_.Reshape(builder_.Slice(streams_parameter_, {row, 0}, {row + 1, 3}, {1, 1}), {3});
  }

  StatusOr<ProgramText> Finish(const std::vector<Output>& wanted) {
    ProgramText program;
    std::vector<stablehlo::Value> results;
    program.checks = error_word_.checks();
    program.host_checks = host_checks_;
    if (!program.checks.empty()) KeepOldValuesAfterErrors();
    for (size_t a = 0; a < arguments_.size(); ++a) {
      if (!variables_[a].updated) continue;
      const stablehlo::Value& value = variables_[a].value;
      if (value.id < static_cast<int>(arguments_.size())) UseArgument(value.id);
      program.updates.push_back({static_cast<int>(a), value.dtype, value.shape, -1});
      results.push_back(value);
    }
    for (const Output& output : wanted) {
      const auto it = values_.find(KeyOf(output));
      if (it == values_.end()) return Internal("no node of the program computes '", output.name(), "'");
      ProgramValue& v = it->second;
      ProgramText::Result& result = program.results.emplace_back();
      if (v.variable >= 0) {
        result.variable = v.variable;
        continue;
      }
      TF_ASSIGN_OR_RETURN(const auto description, Describe(v));
      result.dtype = description.first;
      result.shape = description.second;
      result.constant = v.constant;
      if (v.constant != nullptr) continue;
      TF_ASSIGN_OR_RETURN(const stablehlo::Value value, Use(v));
      result.result = static_cast<int>(results.size());
      results.push_back(value);
    }
    if (!program.checks.empty()) {
      program.error_word = static_cast<int>(results.size());
      results.push_back(error_word_.Word());
    }
    program.num_results = static_cast<int>(results.size());

    std::vector<stablehlo::Value> parameters;
    for (const int argument : used_) {
      program.parameters.push_back(argument);
      parameters.push_back(Placeholder(argument));
    }
    program.constants = constants_;
    parameters.insert(parameters.end(), constant_parameters_.begin(), constant_parameters_.end());
    program.streams = streams_;
    if (streams_parameter_.valid()) parameters.push_back(streams_parameter_);
    std::vector<std::pair<int, int>> aliases;
    for (size_t k = 0; k < program.updates.size(); ++k) {
      ProgramText::Update& update = program.updates[k];
      const int parameter = parameter_of_[update.argument];
      if (parameter < 0 || !HasOldValueLike(update.argument, {.dtype = update.dtype, .shape = update.shape})) continue;
      update.aliased = parameter;
      aliases.emplace_back(parameter, static_cast<int>(k));
    }
    program.text = builder_.Module(parameters, results, aliases);
    return program;
  }

 private:
  using Key = std::pair<const Node*, int>;
  static Key KeyOf(const Output& output) { return {NodeOf(output), output.index()}; }

  // A value in the program for an argument. Its id is the argument's number.
  stablehlo::Value Placeholder(int argument) const {
    return {argument, arguments_[argument].dtype, arguments_[argument].shape};
  }
  void UseArgument(int argument) {
    if (parameter_of_[argument] >= 0) return;
    parameter_of_[argument] = static_cast<int>(used_.size());
    used_.push_back(argument);
  }

  // The elements of the tensor in the program: written into it, or a parameter.
  stablehlo::Value ConstantOf(const std::shared_ptr<const Tensor>& constant) {
    if (constant->num_bytes() <= kMostBytesInText) return builder_.Constant(*constant);
    if (HasEqualElements(*constant)) {
      return builder_.BroadcastTo(builder_.Constant(FirstElement(*constant)), constant->shape());
    }
    for (size_t i = 0; i < constants_.size(); ++i) {
      const bool is_same_type =
          constants_[i]->dtype() == constant->dtype() && constants_[i]->shape() == constant->shape();
      if (is_same_type && constants_[i]->raw_data() == constant->raw_data()) return constant_parameters_[i];
    }
    constants_.push_back(constant);
    return constant_parameters_.emplace_back(builder_.Parameter(constant->dtype(), constant->shape()));
  }

  void AddArgument(int number) {
    const ProgramArgument& argument = arguments_[number];
    const stablehlo::Value value = builder_.Parameter(argument.dtype, argument.shape);
    Variable& variable = variables_.emplace_back();
    ProgramValue edge;
    if (argument.is_variable) {
      edge.variable = number;
      if (argument.has_value) variable.value = value;
    } else if (argument.constant != nullptr) {
      edge.constant = argument.constant;
    } else {
      edge.value = value;
      if (argument.is_on_host) edge.on_host = number;
    }
    for (const Output& tensor : argument.tensors) values_[KeyOf(tensor)] = edge;
  }

  // Whether the variable has a value when the program starts, of the dtype and shape of `value`.
  bool HasOldValueLike(int variable, const stablehlo::Value& value) const {
    const ProgramArgument& argument = arguments_[variable];
    return argument.has_value && argument.dtype == value.dtype && argument.shape == value.shape;
  }

  // Lets each variable that is updated have its old value at the end if a check fails.
  void KeepOldValuesAfterErrors() {
    const stablehlo::Value failed = error_word_.Failed();
    for (size_t a = 0; a < arguments_.size(); ++a) {
      const auto number = static_cast<int>(a);
      Variable& variable = variables_[a];
      if (!variable.updated || !HasOldValueLike(number, variable.value)) continue;
      UseArgument(number);
      const stablehlo::Value old = Placeholder(number);
      variable.value =
          variable.guarded != nullptr ? variable.guarded(old, failed) : builder_.Select(failed, old, variable.value);
    }
  }

  // Whether the host can compute the node: all that it depends on is known.
  bool CanRunOnHost(const Node& node, const std::vector<ProgramValue*>& inputs) const {
    if (host_ == nullptr || !node.op().is_pure() || node.num_outputs() == 0) return false;
    for (const ProgramValue* input : inputs) {
      if (input->constant == nullptr) return false;
    }
    return true;
  }

  // Whether the outputs are so small that constants may take the place of the ops that compute them.
  static bool HasSmallOutputs(const Node& node) {
    constexpr int64_t kMostElements = 256;
    for (int i = 0; i < node.num_outputs(); ++i) {
      const Shape& shape = node.output_shape(i);
      const DType dtype = node.output_type(i);
      // Integers of unknown number are sizes and indices.
      const bool is_index = (dtype == kInt32 || dtype == kInt64) && shape.has_rank() && shape.rank() <= 1;
      if (shape.is_fully_defined() ? shape.num_elements() > kMostElements : !is_index) return false;
    }
    return true;
  }

  Status RunOnHost(const Node& node, const std::vector<ProgramValue*>& inputs, std::vector<ProgramValue>& outputs) {
    std::vector<Tensor> tensors;
    for (const ProgramValue* input : inputs) tensors.push_back(*input->constant);
    TF_ASSIGN_OR_RETURN(std::vector<Tensor> results, host_(node, tensors));
    if (results.size() != outputs.size()) return Internal("the host computed ", results.size(), " outputs");
    for (size_t i = 0; i < results.size(); ++i) {
      outputs[i].constant = std::make_shared<const Tensor>(std::move(results[i]));
    }
    return OkStatus();
  }

  struct Variable {
    stablehlo::Value value;  // not valid: the variable has no value
    bool updated = false;
    EmitContext::GuardedUpdate guarded = nullptr;  // all updates so far; null: one of them has none
  };

  const std::vector<ProgramArgument>& arguments_;
  const HostCompute& host_;
  const EmitterRegistry& registry_;
  stablehlo::Builder builder_;
  ErrorWord error_word_{builder_};
  std::map<Key, ProgramValue> values_;
  std::vector<Variable> variables_;  // one for each argument; unused if the argument is no variable
  std::vector<int> parameter_of_;    // for each argument: the number of its parameter, -1 if it has none
  std::vector<int> used_;            // the arguments that are parameters, in this order
  std::vector<std::shared_ptr<const Tensor>> constants_;  // that are parameters
  std::vector<stablehlo::Value> constant_parameters_;
  stablehlo::Value streams_parameter_;
  std::vector<ProgramText::Stream> streams_;
  std::vector<ProgramText::HostCheck> host_checks_;
};

stablehlo::Builder& EmitContext::builder() const { return program_.builder(); }

StatusOr<stablehlo::Value> EmitContext::input(int i) const { return program_.Use(*inputs_[i]); }

StatusOr<DType> EmitContext::input_dtype(int i) const {
  TF_ASSIGN_OR_RETURN(const auto description, program_.Describe(*inputs_[i]));
  return description.first;
}

StatusOr<Shape> EmitContext::input_shape(int i) const {
  TF_ASSIGN_OR_RETURN(const auto description, program_.Describe(*inputs_[i]));
  return description.second;
}

StatusOr<Tensor> EmitContext::static_input(int i) const {
  if (inputs_[i]->constant != nullptr) return *inputs_[i]->constant;
  return InvalidArgument("input ", i, ", '", node_.inputs()[i].name(),
                         "', must be known when the program is compiled, but is computed on the device");
}

StatusOr<std::vector<int64_t>> EmitContext::static_integers(int i) const {
  TF_ASSIGN_OR_RETURN(const Tensor t, static_input(i));
  if (t.dtype() == kInt64) return std::vector<int64_t>(t.data<int64_t>().begin(), t.data<int64_t>().end());
  if (t.dtype() == kInt32) return std::vector<int64_t>(t.data<int32_t>().begin(), t.data<int32_t>().end());
  return InvalidArgument("input ", i, " must be int32 or int64, is ", t.dtype());
}

stablehlo::Value EmitContext::stream(int64_t elements) { return program_.TakeStream(node_, elements); }

StatusOr<stablehlo::Value> EmitContext::variable(int i) const {
  if (!is_variable(i)) return InvalidArgument("input ", i, " must be a variable, not a tensor");
  return program_.ReadVariable(inputs_[i]->variable);
}

bool EmitContext::variable_has_value(int i) const { return is_variable(i) && program_.HasValue(inputs_[i]->variable); }

Status EmitContext::update_variable(int i, const stablehlo::Value& value, GuardedUpdate guarded) {
  if (!is_variable(i)) return InvalidArgument("input ", i, " must be a variable, not a tensor");
  program_.UpdateVariable(inputs_[i]->variable, value, std::move(guarded));
  return OkStatus();
}

void EmitContext::fail_if(const stablehlo::Value& condition, std::vector<stablehlo::Value> numbers, CheckError error) {
  program_.error_word().FailIf(node_, condition, std::move(numbers), std::move(error));
}

void EmitContext::fail_where(const stablehlo::Value& bad, const std::vector<stablehlo::Value>& values,
                             CheckError error) {
  program_.error_word().FailWhere(node_, bad, values, std::move(error));
}

Status EmitContext::check_on_host(int i, std::function<Status(const Tensor&)> check) {
  if (inputs_[i]->on_host < 0) {
    return InvalidArgument("input ", i, ", '", node_.inputs()[i].name(),
                           "', must be known when the program is compiled, or in host memory before each run");
  }
  program_.AddHostCheck({&node_, inputs_[i]->on_host, std::move(check)});
  return OkStatus();
}

EmitterDef& EmitterRegistry::Add(std::string_view op, const TypeConstraints& types, EmitFn emit,
                                 std::source_location location) {
  std::string name(op);
  EmitterDef def{.op = name, .types = types, .emit = std::move(emit), .file = SourceFile(location)};
  return emitters_.emplace(std::move(name), std::move(def))->second;
}

void EmitterRegistry::LeaveToHost(std::string_view op, std::string_view reason) { host_ops_.emplace(op, reason); }

StatusOr<const EmitterDef*> EmitterRegistry::Find(const Node& node) const {
  const auto [begin, end] = emitters_.equal_range(node.type());
  if (begin == end) {
    const auto reason = host_ops_.find(node.type());
    return NotFound(node.type(), " has no emitter", reason == host_ops_.end() ? "" : StrCat(": ", reason->second));
  }
  std::string reasons;
  for (auto it = begin; it != end; ++it) {
    std::string reason;
    for (const auto& [attr, types] : it->second.types) {
      const AttrValue* value = node.FindAttr(attr);
      const DType* type = value == nullptr ? nullptr : value->get<DType>();
      if (type == nullptr || !types.Contains(BaseType(*type))) {
        reason = StrCat("has no emitter for ", attr, " = ", type == nullptr ? "?" : DTypeName(*type));
        break;
      }
    }
    if (reason.empty() && it->second.refuse != nullptr) reason = it->second.refuse(node);
    if (reason.empty()) return &it->second;
    reasons += StrCat(reasons.empty() ? "" : "; ", reason);
  }
  return NotFound(node.type(), " ", reasons);
}

std::vector<int> StaticInputs(const EmitterDef& def, const Node& node) {
  std::vector<int> inputs;
  for (size_t arg = 0; arg < node.op().inputs.size(); ++arg) {
    for (const std::string& name : def.static_inputs) {
      if (node.op().inputs[arg].name != name) continue;
      const auto [first, last] = node.InputRange(static_cast<int>(arg));
      for (int i = first; i < last; ++i) inputs.push_back(i);
    }
  }
  for (int i = 0; i < static_cast<int>(node.inputs().size()); ++i) {
    if (BaseType(node.input_type(i)) == DType::kString) inputs.push_back(i);
  }
  return inputs;
}

StatusOr<ProgramText> EmitProgram(const std::vector<const Node*>& nodes, const std::vector<ProgramArgument>& arguments,
                                  const std::vector<Output>& wanted, const HostCompute& host,
                                  const EmitterRegistry& registry) {
  const auto num_streams = std::ranges::count_if(nodes, [&](const Node* node) {
    const auto def = registry.Find(*node);
    return def.ok() && (*def)->draws;
  });
  ProgramEmitter program(arguments, host, registry, static_cast<int>(num_streams));
  for (const Node* node : nodes) {
    if (const Status status = program.Emit(*node); !status.ok()) return AtNode(status, *node);
  }
  return program.Finish(wanted);
}

}  // namespace tensorbraid::pjrt
