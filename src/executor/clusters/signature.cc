#include "executor/clusters/signature.h"

#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "pjrt/device_buffer.h"

namespace tensorbraid {
namespace {

using Kind = ClusterBody::Kind;

// The size of a matrix in a signature.
constexpr size_t kUsualSignature = 2 * sizeof(int) + sizeof(DType) + 2 * sizeof(int64_t);

template <typename T>
void Append(const T& value, std::string& bytes) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

// `variable` is the number of the variable, -1 if it is none; `dtype` is kInvalid if it has no value. `value` is null
// unless a program is made for the value.
void AppendArgument(int variable, DType dtype, const Shape& shape, const Tensor* value, std::string& bytes) {
  Append(variable, bytes);
  Append(dtype, bytes);
  if (dtype == DType::kInvalid) return;
  Append(shape.rank(), bytes);
  for (const int64_t dim : shape.dims()) Append(dim, bytes);
  if (value != nullptr) bytes.append(static_cast<const char*>(value->raw_data()), value->num_bytes());
}

}  // namespace

const Tensor& ValueOf(size_t i, const ClusterRun& run, const LockedVariables& locked) {
  return run.variable_of[i] >= 0 ? locked.value(run.variable_of[i]) : run.ctx.input(static_cast<int>(i));
}

bool HasValue(size_t i, const ClusterRun& run, const LockedVariables& locked) {
  const Tensor& value = ValueOf(i, run, locked);
  return value.is_valid() && (run.variable_of[i] < 0 || pjrt::WhyLost(value).ok());
}

std::string SignatureOf(const ClusterBody& body, const ClusterRun& run, const LockedVariables& locked) {
  std::string bytes;
  bytes.reserve(body.arguments.size() * kUsualSignature);
  for (size_t i = 0; i < body.arguments.size(); ++i) {
    const Tensor& value = ValueOf(i, run, locked);
    const bool has_value = HasValue(i, run, locked);
    const bool is_static = body.arguments[i].kind == Kind::kStatic;
    AppendArgument(run.variable_of[i], has_value ? value.dtype() : DType::kInvalid, value.shape(),
                   is_static ? &value : nullptr, bytes);
  }
  return bytes;
}

std::string SignatureOf(const ClusterBody& body, const std::vector<pjrt::ProgramArgument>& arguments) {
  std::map<std::pair<const Node*, int>, const pjrt::ProgramArgument*> argument_of;
  for (const pjrt::ProgramArgument& argument : arguments) {
    for (const Output& tensor : argument.tensors) argument_of[{NodeOf(tensor), tensor.index()}] = &argument;
  }
  std::map<const pjrt::ProgramArgument*, int> variables;
  std::string bytes;
  for (const auto& [tensor, kind] : body.arguments) {
    const pjrt::ProgramArgument& argument = *argument_of.at({NodeOf(tensor), tensor.index()});
    const int variable =
        argument.is_variable ? variables.try_emplace(&argument, static_cast<int>(variables.size())).first->second : -1;
    AppendArgument(variable, argument.has_value ? argument.dtype : DType::kInvalid, argument.shape,
                   kind == Kind::kStatic ? argument.constant.get() : nullptr, bytes);
  }
  return bytes;
}

std::vector<pjrt::ProgramArgument> ArgumentsOf(const ClusterBody& body, const ClusterRun& run,
                                               const LockedVariables& locked) {
  std::vector<pjrt::ProgramArgument> arguments(body.arguments.size());
  std::map<int, size_t> first;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const int variable = run.variable_of[i];
    const size_t at = variable < 0 ? i : first.try_emplace(variable, i).first->second;
    pjrt::ProgramArgument& argument = arguments[at];
    argument.tensors.push_back(body.arguments[i].tensor);
    if (at != i) continue;
    const Tensor& value = ValueOf(i, run, locked);
    argument.is_variable = variable >= 0;
    argument.has_value = HasValue(i, run, locked);
    if (value.is_valid()) argument.loss = pjrt::WhyLost(value);
    argument.dtype = variable >= 0 ? run.variables[variable]->dtype() : value.dtype();
    if (argument.has_value) argument.shape = value.shape();
    if (body.arguments[i].kind == Kind::kStatic) argument.constant = std::make_shared<const Tensor>(value);
    argument.is_on_host = body.arguments[i].kind == Kind::kFromHost;
  }
  return arguments;
}

}  // namespace tensorbraid
