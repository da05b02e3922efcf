#include "pjrt/program.h"

#include <algorithm>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "core/text/strings.h"
#include "pjrt/client.h"
#include "pjrt/device_buffer.h"
#include "pjrt/element_type.h"

namespace tensorbraid::pjrt {

ProgramMemory ProgramMemory::Of(const c_api::ExecutableGetCompiledMemoryStatsArgs& figures) {
  return {.code = figures.generated_code_size_in_bytes,
          .arguments = figures.argument_size_in_bytes,
          .outputs = figures.output_size_in_bytes,
          .aliased = figures.alias_size_in_bytes,
          .temporaries = figures.temp_size_in_bytes};
}

// What the plugin knows about a program.
class Program::Description {
 public:
  static StatusOr<Description> Of(const Program& program) {
    c_api::LoadedExecutableGetExecutableArgs args{.loaded_executable = program.executable_};
    TF_RETURN_IF_ERROR(program.client_.Call(&c_api::Api::LoadedExecutable_GetExecutable, args));
    return Description(program.client_, args.executable);
  }
  Description(Description&& other) noexcept
      : client_(other.client_), executable_(std::exchange(other.executable_, nullptr)) {}
  ~Description() {
    if (executable_ == nullptr) return;
    c_api::ExecutableDestroyArgs args{.executable = executable_};
    client_.Call(&c_api::Api::Executable_Destroy, args).IgnoreError();
  }
  c_api::Executable* get() const { return executable_; }

 private:
  Description(const Client& client, c_api::Executable* executable) : client_(client), executable_(executable) {}
  const Client& client_;
  c_api::Executable* executable_;
};

StatusOr<std::shared_ptr<Program>> Program::Create(const Client& client, c_api::LoadedExecutable* executable,
                                                   CompileOptions options) {
  auto program = std::shared_ptr<Program>(new Program(client, executable, std::move(options)));
  TF_RETURN_IF_ERROR(program->WithName(program->Describe()));
  return program;
}

Program::Program(const Client& client, c_api::LoadedExecutable* executable, CompileOptions options)
    : client_(client), executable_(executable), options_(std::move(options)) {}

Program::~Program() {
  c_api::LoadedExecutableDestroyArgs args{.executable = executable_};
  client_.Call(&c_api::Api::LoadedExecutable_Destroy, args).IgnoreError();
}

Status Program::WithName(const Status& status) const { return Annotate(status, options_.name); }

Status Program::Describe() {
  for (const ArrayType& argument : options_.arguments) {
    if (ToElementType(argument.dtype) == c_api::ElementType::kInvalid || !argument.shape.is_fully_defined()) {
      return InvalidArgument("an argument ", argument.dtype, argument.shape, " cannot be one of a program");
    }
  }
  TF_ASSIGN_OR_RETURN(const Description description, Description::Of(*this));
  c_api::ExecutableNumOutputsArgs number{.executable = description.get()};
  TF_RETURN_IF_ERROR(client_.Call(&c_api::Api::Executable_NumOutputs, number));
  c_api::ExecutableOutputElementTypesArgs types{.executable = description.get()};
  TF_RETURN_IF_ERROR(client_.Call(&c_api::Api::Executable_OutputElementTypes, types));
  c_api::ExecutableOutputDimensionsArgs dims{.executable = description.get()};
  TF_RETURN_IF_ERROR(client_.Call(&c_api::Api::Executable_OutputDimensions, dims));
  if (types.num_output_types != number.num_outputs || dims.num_outputs != number.num_outputs) {
    return Internal("the plugin describes ", number.num_outputs, " outputs by ", types.num_output_types, " types and ",
                    dims.num_outputs, " shapes");
  }
  const int64_t* next = dims.dims;
  for (size_t i = 0; i < number.num_outputs; ++i) {
    const DType dtype = ToDType(types.output_types[i]);
    if (dtype == DType::kInvalid) {
      return Unimplemented("output ", i, " has PJRT's type ", static_cast<int>(types.output_types[i]),
                           ", which is no dtype");
    }
    outputs_.push_back({dtype, Shape(std::span<const int64_t>(next, dims.dim_sizes[i]))});
    next += dims.dim_sizes[i];
  }
  return OkStatus();
}

Status Program::CheckArgument(size_t i, const Tensor& tensor, const Array& array, int device) const {
  const ArrayType& wanted = options_.arguments[i];
  if (tensor.dtype() != wanted.dtype || tensor.shape() != wanted.shape) {
    return InvalidArgument("argument ", i, " must be ", wanted.dtype, wanted.shape, ", got ", tensor.dtype(),
                           tensor.shape());
  }
  if (&array.client() != &client_ || array.device() != device) {
    return InvalidArgument("argument ", i, " is in the memory of another device than the ", device,
                           ", on which the program is to run");
  }
  return OkStatus();
}

StatusOr<Program::Results> Program::Run(std::span<const Tensor* const> arguments, std::span<const int> kept,
                                        int device) const {
  if (arguments.size() != options_.arguments.size()) {
    return WithName(InvalidArgument("it has ", options_.arguments.size(), " arguments, got ", arguments.size()));
  }
  absl::InlinedVector<c_api::Buffer*, 16> inputs(arguments.size());
  absl::InlinedVector<int64_t, 16> not_donated(kept.begin(), kept.end());
  for (size_t i = 0; i < arguments.size(); ++i) {
    const StatusOr<Array*> array = ArrayOf(*arguments[i]);
    if (!array.ok()) return WithName(Annotate(array.status(), StrCat("argument ", i)));
    TF_RETURN_IF_ERROR(WithName(CheckArgument(i, *arguments[i], **array, device)));
    inputs[i] = (*array)->get();
    const bool donated = std::binary_search(options_.donated.begin(), options_.donated.end(), static_cast<int>(i));
    if (donated && !(*array)->IsUnique() && !std::binary_search(kept.begin(), kept.end(), static_cast<int>(i))) {
      not_donated.push_back(static_cast<int64_t>(i));
    }
  }
  absl::InlinedVector<c_api::Buffer*, 16> outputs(outputs_.size());
  c_api::Event* done = nullptr;
  c_api::Buffer* const* const input_list = inputs.data();
  c_api::Buffer** const output_list = outputs.data();
  c_api::ExecuteOptions options{.non_donatable_input_indices = not_donated.data(),
                                .num_non_donatable_input_indices = not_donated.size()};
  c_api::LoadedExecutableExecuteArgs args{.executable = executable_,
                                          .options = &options,
                                          .argument_lists = &input_list,
                                          .num_devices = 1,
                                          .num_args = inputs.size(),
                                          .output_lists = &output_list,
                                          .device_complete_events = &done,
                                          .execute_device = client_.device(device)};
  if (const Status status = client_.Call(&c_api::Api::LoadedExecutable_Execute, args); !status.ok()) {
    DropConsumed(arguments);
    return WithName(status);
  }
  for (const int i : options_.donated) {
    if (std::find(not_donated.begin(), not_donated.end(), i) != not_donated.end()) continue;
    static_cast<DeviceBuffer*>(arguments[i]->buffer().get())->Take();
  }
  Results results;
  results.done = Event(client_, done);
  results.outputs.reserve(outputs.size());
  for (c_api::Buffer* output : outputs) results.outputs.push_back(MakeRef<Array>(client_, output, device));
  return results;
}

// After an error: forgets the arrays that the plugin has consumed.
void Program::DropConsumed(std::span<const Tensor* const> arguments) const {
  for (const int i : options_.donated) {
    auto* const buffer = static_cast<DeviceBuffer*>(arguments[i]->buffer().get());
    const StatusOr<bool> consumed = buffer->array()->IsConsumed();
    if (!consumed.ok() || *consumed) buffer->Take();
  }
}

StatusOr<std::string> Program::Serialize() const {
  TF_ASSIGN_OR_RETURN(const Description description, Description::Of(*this));
  c_api::ExecutableSerializeArgs args{.executable = description.get()};
  TF_RETURN_IF_ERROR(WithName(client_.Call(&c_api::Api::Executable_Serialize, args)));
  std::string bytes(args.serialized_bytes, args.serialized_bytes_size);
  args.serialized_executable_deleter(args.serialized_executable);
  return bytes;
}

StatusOr<ProgramMemory> Program::Memory() const {
  TF_ASSIGN_OR_RETURN(const Description description, Description::Of(*this));
  c_api::ExecutableGetCompiledMemoryStatsArgs args{.executable = description.get()};
  TF_RETURN_IF_ERROR(WithName(client_.Call(&c_api::Api::Executable_GetCompiledMemoryStats, args)));
  return ProgramMemory::Of(args);
}

}  // namespace tensorbraid::pjrt
