#include "executor/clusters/host_comparison.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "core/system/env.h"
#include "core/text/logging.h"
#include "core/text/strings.h"
#include "executor/clusters/known_tensors.h"
#include "executor/clusters/on_host_kernel.h"
#include "executor/clusters/tensor_difference.h"
#include "pjrt/client.h"
#include "pjrt/device_buffer.h"
#include "pjrt/program_cache.h"
#include "pjrt/stablehlo.h"
#include "runtime/kernel/kernel_state.h"

namespace tensorbraid {
namespace {

constexpr double kUsualTolerance = 1e-3;

// Whether a program can return the tensor, so that it can be compared.
bool IsComparable(const Tensor& t) {
  return t.is_valid() && IsPlain(t.dtype()) && stablehlo::HasType(t.dtype()) && t.dtype() != DType::kResource;
}

}  // namespace

Tensor StreamsTensor(const pjrt::ProgramText& text, const std::vector<RandomStream::Place>& places) {
  const auto [dtype, shape] = text.StreamsType();
  Tensor tensor(dtype, shape);
  auto to = tensor.mutable_data<uint64_t>().begin();
  for (const RandomStream::Place& place : places) {
    for (const uint64_t word : {place.key, place.low, place.high}) *to++ = word;
  }
  return tensor;
}

// What the host has computed.
struct HostComparison::HostValues {
  std::map<std::pair<const Node*, int>, Tensor> tensors;  // of arguments and nodes, by node and output
  std::vector<Tensor> variables;                          // their values after the run; not valid: none

  const Tensor* Find(const Output& output) const {
    const auto at = tensors.find({NodeOf(output), output.index()});
    return at == tensors.end() ? nullptr : &at->second;
  }
};

std::unique_ptr<HostComparison> HostComparison::FromEnvironment(std::shared_ptr<const ClusterBody> body,
                                                                pjrt::PjrtDevice& device) {
  const char* const file = std::getenv(kCompareVariable);
  if (file == nullptr || *file == '\0') return nullptr;
  const char* const text = std::getenv(kToleranceVariable);
  const double tolerance = text == nullptr ? kUsualTolerance : std::strtod(text, nullptr);
  return std::unique_ptr<HostComparison>(new HostComparison(file, tolerance, std::move(body), device));
}

HostComparison::HostComparison(std::string file, double tolerance, std::shared_ptr<const ClusterBody> body,
                               pjrt::PjrtDevice& device)
    : file_(std::move(file)), tolerance_(tolerance), body_(std::move(body)), device_(device) {}

void HostComparison::Compare(const KernelContext& ctx, const Executable& executable, const RunRecord& record,
                             const std::vector<RefPtr<VariableResource>>& variables,
                             const std::vector<int>& variable_of) {
  MutexLock lock(mu_);
  if (has_ended_) return;
  if (!has_begun_) {
    has_begun_ = true;
    if (const Status made = CreateSubstitute(); !made.ok()) {
      has_ended_ = true;
      return Report(StrCat("skipped ", NameOf(*body_), ": ", made.message()));
    }
    Report(StrCat("compared ", NameOf(*body_)));
  }
  StatusOr<Finding> found = Finding();
  const auto host = ComputeOnHost(ctx, executable.text, record, variables, variable_of);
  if (host.ok()) {
    found = FindDifference(ctx, executable, record, variable_of, *host);
    if (found.ok() && !found->text.empty()) {
      auto node = FindNode(found->text, record, variable_of, *host);
      if (!node.ok()) node = Finding{StrCat(found->text, ". The node was not found: ", node.status().message())};
      found = std::move(node);
    }
  } else {
    found = Finding{StrCat("the host fails where the device does not: ", host.status().message())};
  }
  if (!found.ok()) found = Finding{StrCat("the device's values cannot be read: ", found.status().message())};
  if (found->text.empty()) return;
  has_ended_ = !found->may_be_rounding || ++roundings_ == kMostRoundings;
  if (found->may_be_rounding && roundings_ > 1) return;
  const std::string text = StrCat("in ", NameOf(*body_), " on ", body_->nodes.back()->device(), ", ", found->text);
  TB_LOG(Warning, "accelerators") << "the device differs from the CPU: " << text;
  Report(StrCat(found->may_be_rounding ? "rounding " : "differs ", text));
}

Status HostComparison::CreateSubstitute() {
  TF_ASSIGN_OR_RETURN(substitute_, HostSubstitute::Create(body_, [this](const Node& node) TB_NO_THREAD_SAFETY_ANALYSIS {
                        auto kernel = MakeKernelOfHost(node);
                        if (kernel.ok()) drawing_[&node] = *kernel;
                        return kernel;
                      }));
  return OkStatus();
}

StatusOr<HostComparison::HostValues> HostComparison::ComputeOnHost(
    const KernelContext& ctx, const pjrt::ProgramText& text, const RunRecord& record,
    const std::vector<RefPtr<VariableResource>>& variables, const std::vector<int>& variable_of) {
  for (size_t i = 0; i < text.streams.size(); ++i) {
    auto* const stateful = dynamic_cast<StatefulKernel*>(drawing_.at(text.streams[i].node).get());
    if (stateful == nullptr || stateful->state() == nullptr) return Internal("a random op has no state");
    const auto& [key, low, high] = record.places[i];
    TF_RETURN_IF_ERROR(stateful->state()->Restore(
        Tensor::Vector<int64_t>({static_cast<int64_t>(key), static_cast<int64_t>(high), static_cast<int64_t>(low)})));
  }
  HostValues host;
  std::vector<Tensor> arguments(body_->arguments.size()), values(variables.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (variable_of[i] >= 0) {
      values[variable_of[i]] = record.arguments[i];
      continue;
    }
    arguments[i] = record.arguments[i];
    if (body_->arguments[i].kind == ClusterBody::Kind::kTensor) {
      TF_ASSIGN_OR_RETURN(arguments[i], CopyTo(HostAllocator(), record.arguments[i], device_));
    }
    const Output& tensor = body_->arguments[i].tensor;
    host.tensors[{NodeOf(tensor), tensor.index()}] = arguments[i];
  }
  TF_ASSIGN_OR_RETURN(const auto on_host, PrivateVariables::Create(variables, values, device_));
  TF_RETURN_IF_ERROR(substitute_->Replay(ctx, arguments, *on_host, variable_of,
                                         [&host](const Node& node, const std::vector<Entry>& outputs) {
                                           for (size_t i = 0; i < outputs.size(); ++i) {
                                             if (!IsComparable(outputs[i].value)) continue;
                                             host.tensors[{&node, static_cast<int>(i)}] = outputs[i].value;
                                           }
                                         }));
  host.variables.resize(variables.size());
  for (size_t i = 0; i < variables.size(); ++i) {
    VariableResource& variable = on_host->on_host(i);
    if (!variable.is_initialized()) continue;
    TF_ASSIGN_OR_RETURN(host.variables[i], variable.Read());
  }
  return host;
}

StatusOr<HostComparison::Finding> HostComparison::FindDifference(const KernelContext& ctx, const Executable& executable,
                                                                 const RunRecord& record,
                                                                 const std::vector<int>& variable_of,
                                                                 const HostValues& host) const {
  for (int i = 0; i < ctx.num_outputs(); ++i) {
    const Tensor* const expected = host.Find(body_->results[i]);
    if (expected == nullptr || !IsComparable(ctx.output(i))) continue;
    TF_ASSIGN_OR_RETURN(const Tensor actual, CopyTo(HostAllocator(), ctx.output(i), device_));
    const std::string difference = DifferenceOf(actual, *expected, tolerance_);
    if (difference.empty()) continue;
    return Finding{StrCat("the result '", body_->results[i].name(), "' differs: ", difference)};
  }
  for (size_t k = 0; k < record.updates.size(); ++k) {
    const int argument = executable.text.updates[k].argument;
    const Tensor& expected = host.variables[variable_of[argument]];
    if (!IsComparable(expected)) continue;
    TF_ASSIGN_OR_RETURN(const Tensor actual, CopyTo(HostAllocator(), record.updates[k], device_));
    const std::string difference = DifferenceOf(actual, expected, tolerance_);
    if (difference.empty()) continue;
    // The last node that changes the variable, by the handle or reference that it has from outside.
    const Node* changes = nullptr;
    std::set<const Node*> carriers;
    for (size_t i = 0; i < variable_of.size(); ++i) {
      if (variable_of[i] == variable_of[argument]) carriers.insert(NodeOf(body_->arguments[i].tensor));
    }
    for (const Node* node : body_->nodes) {
      for (const Output& input : node->inputs()) {
        if (!carriers.contains(NodeOf(input))) continue;
        if (ChangesVariable(*node)) changes = node;
        if (node->num_outputs() > 0 && IsRef(node->output_type(0))) carriers.insert(node);
      }
    }
    return Finding{StrCat("the variable '", NodeOf(body_->arguments[argument].tensor)->name(), "' differs after ",
                          changes == nullptr ? std::string("its update") : changes->Describe(), ": ", difference)};
  }
  return Finding();
}

StatusOr<HostComparison::Finding> HostComparison::FindNode(const std::string& seen, const RunRecord& record,
                                                           const std::vector<int>& variable_of,
                                                           const HostValues& host) const {
  std::vector<pjrt::ProgramArgument> arguments(body_->arguments.size());
  std::map<int, size_t> first;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const size_t at = variable_of[i] < 0 ? i : first.try_emplace(variable_of[i], i).first->second;
    pjrt::ProgramArgument& argument = arguments[at];
    argument.tensors.push_back(body_->arguments[i].tensor);
    if (at != i) continue;
    const Tensor& value = record.arguments[i];
    argument.is_variable = variable_of[i] >= 0;
    argument.has_value = value.is_valid();
    if (argument.has_value) argument.dtype = value.dtype();
    if (argument.has_value) argument.shape = value.shape();
    if (ClusterBody::IsOnHost(body_->arguments[i].kind)) argument.constant = std::make_shared<Tensor>(value);
  }
  std::vector<Output> wanted;
  for (const Node* node : body_->nodes) {
    for (int i = 0; i < node->num_outputs(); ++i) {
      if (node->type() != "Const" && host.tensors.contains({node, i})) {
        wanted.push_back(OutputOf(const_cast<Node*>(node), i));
      }
    }
  }
  TF_ASSIGN_OR_RETURN(const std::vector<Tensor> values,
                      RunOnDevice(body_->nodes, arguments, record.arguments, wanted, record.places));
  std::string first_text;
  int alike_alone = 0;
  for (size_t i = 0; i < wanted.size() && alike_alone < kMostAlone; ++i) {
    if (!values[i].is_valid()) continue;
    const std::string difference = DifferenceOf(values[i], *host.Find(wanted[i]), tolerance_);
    if (difference.empty()) continue;
    const Node& node = *NodeOf(wanted[i]);
    const std::string text = StrCat(node.Describe(), ": in output ", wanted[i].index(), ", ", difference);
    const StatusOr<std::string> alone = DifferenceAlone(node, host);
    if (!alone.ok()) return Finding{StrCat("the first node that differs is ", text)};
    if (!alone->empty()) {
      return Finding{StrCat("the first node that differs is ", text,
                            ". It differs also in a program of its own, with the inputs of the CPU")};
    }
    if (alike_alone++ == 0) first_text = text;
  }
  if (alike_alone == 0) return Finding{StrCat(seen, ". The value of no node differs")};
  const std::string nodes =
      alike_alone == 1 ? std::string("this node") : StrCat("each of the first ", alike_alone, " such nodes");
  return Finding{.text = StrCat("values differ from ", first_text, ". But ", nodes,
                                " has the CPU's value in a program of its own, with the inputs of the CPU: a "
                                "difference in the last digits may have grown"),
                 .may_be_rounding = true};
}

// Of random ops and of nodes that use variables, an error: their programs would need more than their inputs.
StatusOr<std::string> HostComparison::DifferenceAlone(const Node& node, const HostValues& host) const {
  TF_ASSIGN_OR_RETURN(const pjrt::EmitterDef* def, pjrt::EmitterRegistry::Global().Find(node));
  if (def->draws) return Unimplemented("a random op");
  const std::vector<int> known = pjrt::StaticInputs(*def, node);
  std::vector<pjrt::ProgramArgument> arguments;
  std::vector<Tensor> values;
  std::set<std::pair<const Node*, int>> seen;
  for (int i = 0; i < static_cast<int>(node.inputs().size()); ++i) {
    const Output& input = node.inputs()[i];
    const Tensor* const value = host.Find(input);
    if (value == nullptr || IsRef(node.input_type(i))) return Unimplemented("a variable");
    if (!seen.insert({NodeOf(input), input.index()}).second) continue;
    pjrt::ProgramArgument& argument = arguments.emplace_back();
    argument.tensors = {input};
    argument.dtype = value->dtype();
    argument.shape = value->shape();
    if (std::ranges::find(known, i) != known.end()) argument.constant = std::make_shared<const Tensor>(*value);
    values.push_back(*value);
  }
  std::vector<Output> wanted;
  for (int i = 0; i < node.num_outputs(); ++i) {
    if (host.tensors.contains({&node, i})) wanted.push_back(OutputOf(const_cast<Node*>(&node), i));
  }
  TF_ASSIGN_OR_RETURN(const std::vector<Tensor> results, RunOnDevice({&node}, arguments, values, wanted, {}));
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (!results[i].is_valid()) continue;
    std::string difference = DifferenceOf(results[i], *host.Find(wanted[i]), tolerance_);
    if (!difference.empty()) return difference;
  }
  return std::string();
}

StatusOr<std::vector<Tensor>> HostComparison::RunOnDevice(const std::vector<const Node*>& nodes,
                                                          const std::vector<pjrt::ProgramArgument>& arguments,
                                                          const std::vector<Tensor>& values,
                                                          const std::vector<Output>& wanted,
                                                          const std::vector<RandomStream::Place>& places) const {
  TF_ASSIGN_OR_RETURN(ProgramSource source,
                      SourceOf(StrCat("a program that looks for the node that differs, of ", nodes.size(), " nodes"),
                               nodes, arguments, wanted));
  TF_ASSIGN_OR_RETURN(pjrt::Client* const client, device_.client());
  const std::vector<int> kept = source.options.donated;  // nothing is consumed
  TF_ASSIGN_OR_RETURN(const std::shared_ptr<pjrt::Program> program,
                      ProgramCache::Of(*client).Wait(std::move(source.text), std::move(source.options)));
  std::vector<Tensor> on_device;
  const auto add = [&](const Tensor& tensor) -> Status {
    on_device.push_back(tensor);
    if (tensor.buffer()->allocator() == &device_.allocator()) return OkStatus();
    TF_ASSIGN_OR_RETURN(on_device.back(), ToDevice(tensor, device_, [](const Status&) {}));
    return OkStatus();
  };
  for (const int argument : source.program.parameters) TF_RETURN_IF_ERROR(add(values[argument]));
  for (const auto& constant : source.program.constants) TF_RETURN_IF_ERROR(add(*constant));
  if (!source.program.streams.empty()) TF_RETURN_IF_ERROR(add(StreamsTensor(source.program, places)));
  std::vector<const Tensor*> inputs;
  for (const Tensor& tensor : on_device) inputs.push_back(&tensor);
  TF_ASSIGN_OR_RETURN(pjrt::Program::Results results, program->Run(inputs, kept, device_.index()));
  std::vector<Tensor> tensors;
  for (const auto& result : source.program.results) {
    Tensor& tensor = tensors.emplace_back();
    if (result.constant != nullptr) tensor = *result.constant;
    if (result.result < 0) continue;
    TF_ASSIGN_OR_RETURN(const Tensor output, NewTensor(result.dtype, result.shape, device_.allocator()));
    TF_ASSIGN_OR_RETURN(pjrt::DeviceBuffer* const buffer, pjrt::DeviceBuffer::Of(output));
    buffer->Set(results.outputs[result.result]);
    TF_ASSIGN_OR_RETURN(tensor, CopyTo(HostAllocator(), output, device_));
  }
  return tensors;
}

void HostComparison::Report(const std::string& line) const {
  std::string text = line;
  std::ranges::replace(text, '\n', ' ');
  text += '\n';
  auto file = Env::Default().OpenWritable(file_, Env::WriteMode::kAppend);
  const Status written = file.ok() ? (*file)->Append(text) : file.status();
  if (written.ok()) return;
  TB_LOG(Warning, "accelerators") << kCompareVariable << ": '" << file_ << "' cannot be written (" << written
                                  << "): " << line;
}

}  // namespace tensorbraid
