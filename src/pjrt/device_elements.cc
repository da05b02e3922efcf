#include "pjrt/device_elements.h"

#include <cstring>
#include <utility>

#include "core/values/new_tensor.h"
#include "pjrt/device.h"
#include "pjrt/device_buffer.h"
#include "pjrt/program_cache.h"

namespace tensorbraid::pjrt {
namespace {

using stablehlo::Builder;
using stablehlo::Value;

Tensor HostZeros(DType dtype, const Shape& shape) {
  Tensor zeros(dtype, shape);
  if (zeros.num_bytes() > 0) std::memset(zeros.inplace_raw_data(), 0, zeros.num_bytes());
  return zeros;
}

}  // namespace

StatusOr<Tensor> DeviceElements::Zeros(DType dtype, const Shape& shape) { return FromHost(HostZeros(dtype, shape)); }

StatusOr<std::vector<Tensor>> DeviceElements::Split(const Tensor& from, std::span<const Shape> shapes) {
  Builder builder;
  const Value x = builder.Parameter(from.dtype(), from.shape());
  const Value flat = builder.Reshape(x, {from.num_elements()});
  std::vector<Value> parts;
  int64_t at = 0;
  for (const Shape& shape : shapes) {
    const int64_t end = at + shape.num_elements();
    parts.push_back(builder.Reshape(builder.Slice(flat, {at}, {end}, {1}), shape));
    at = end;
  }
  if (parts.empty()) return std::vector<Tensor>();
  TF_ASSIGN_OR_RETURN(const auto program, ProgramFor("the program that divides a tensor", builder, {x}, parts));
  if (program != nullptr) return Run(*program, {&from, 1});
  TF_ASSIGN_OR_RETURN(const Tensor on_host, OnHost({&from, 1}, from.shape()));
  std::vector<Tensor> results;
  const auto* bytes = static_cast<const char*>(on_host.raw_data());
  for (const Shape& shape : shapes) {
    Tensor part(from.dtype(), shape);
    if (part.num_bytes() > 0) std::memcpy(part.inplace_raw_data(), bytes, part.num_bytes());
    bytes += part.num_bytes();
    TF_ASSIGN_OR_RETURN(results.emplace_back(), FromHost(part));
  }
  return results;
}

StatusOr<Tensor> DeviceElements::Join(std::span<const Tensor> parts, const Shape& shape) {
  Builder builder;
  std::vector<Value> parameters, flat;
  for (const Tensor& part : parts) {
    parameters.push_back(builder.Parameter(part.dtype(), part.shape()));
    flat.push_back(builder.Reshape(parameters.back(), {part.num_elements()}));
  }
  const Value joined = builder.Reshape(builder.Concatenate(flat, 0), shape);
  TF_ASSIGN_OR_RETURN(const auto program, ProgramFor("the program that joins tensors", builder, parameters, {joined}));
  if (program == nullptr) {
    TF_ASSIGN_OR_RETURN(const Tensor on_host, OnHost(parts, shape));
    return FromHost(on_host);
  }
  TF_ASSIGN_OR_RETURN(std::vector<Tensor> results, Run(*program, parts));
  return std::move(results[0]);
}

StatusOr<Tensor> DeviceElements::Add(const Tensor& a, const Tensor& b) {
  Builder builder;
  const Value x = builder.Parameter(a.dtype(), a.shape()), y = builder.Parameter(b.dtype(), b.shape());
  TF_ASSIGN_OR_RETURN(const auto program, ProgramFor("the program that adds tensors", builder, {x, y},
                                                     {builder.Binary("add", x, y)}, IfFull::kMakeAndDrop));
  const Tensor inputs[] = {a, b};
  TF_ASSIGN_OR_RETURN(std::vector<Tensor> results, Run(*program, inputs));
  return std::move(results[0]);
}

StatusOr<std::shared_ptr<Program>> DeviceElements::ProgramFor(const std::string& name, const Builder& builder,
                                                              const std::vector<Value>& parameters,
                                                              const std::vector<Value>& results, IfFull if_full) {
  const std::string text = builder.Module(parameters, results);
  {
    MutexLock lock(mu_);
    if (const auto at = programs_.find(text); at != programs_.end()) return at->second;
    if (programs_.size() >= kMostPrograms && if_full == IfFull::kNone) return nullptr;
  }
  CompileOptions options{.name = name, .arguments = {}, .donated = {}};
  for (const Value& parameter : parameters) options.arguments.push_back({parameter.dtype, parameter.shape});
  TF_ASSIGN_OR_RETURN(Client* const client, device_.client());
  TF_ASSIGN_OR_RETURN(std::shared_ptr<Program> program, ProgramCache::Of(*client).Wait(text, std::move(options)));
  MutexLock lock(mu_);
  if (programs_.size() >= kMostPrograms) return program;
  return programs_.try_emplace(text, std::move(program)).first->second;
}

StatusOr<std::vector<Tensor>> DeviceElements::Run(const Program& program, std::span<const Tensor> inputs) {
  std::vector<const Tensor*> arguments;
  for (const Tensor& input : inputs) arguments.push_back(&input);
  TF_ASSIGN_OR_RETURN(Program::Results run, program.Run(arguments, {}, device_.index()));
  device_.Follow(std::move(run.done));  // each use of the results waits for it, and has its error
  std::vector<Tensor> results;
  for (size_t i = 0; i < run.outputs.size(); ++i) {
    const ArrayType& type = program.outputs()[i];
    TF_ASSIGN_OR_RETURN(Tensor result, NewTensor(type.dtype, type.shape, device_.allocator()));
    TF_ASSIGN_OR_RETURN(DeviceBuffer * buffer, DeviceBuffer::Of(result));
    buffer->Set(std::move(run.outputs[i]));
    results.push_back(std::move(result));
  }
  return results;
}

StatusOr<Tensor> DeviceElements::OnHost(std::span<const Tensor> tensors, const Shape& shape) {
  TF_ASSIGN_OR_RETURN(Tensor all, Tensor::Create(tensors[0].dtype(), shape));
  auto* bytes = static_cast<char*>(all.inplace_raw_data());
  for (const Tensor& tensor : tensors) {
    TF_ASSIGN_OR_RETURN(Array* const array, ArrayOf(tensor));
    TF_ASSIGN_OR_RETURN(Event copied, array->ToHost(bytes, tensor.num_bytes()));
    TF_RETURN_IF_ERROR(copied.Await());
    bytes += tensor.num_bytes();
  }
  return all;
}

StatusOr<Tensor> DeviceElements::FromHost(const Tensor& tensor) {
  TF_ASSIGN_OR_RETURN(Tensor on_device, NewTensor(tensor.dtype(), tensor.shape(), device_.allocator()));
  // If the copy fails, each use of the tensor says so.
  device_.Copy(tensor, on_device, [tensor](const Status&) {});
  return on_device;
}

}  // namespace tensorbraid::pjrt
