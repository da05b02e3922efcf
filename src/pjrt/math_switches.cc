#include "pjrt/math_switches.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <initializer_list>

namespace tensorbraid::pjrt {
namespace {

// Whether the environment variable has one of these values.
bool IsOneOf(const char* variable, std::initializer_list<std::string_view> values) {
  const char* const value = std::getenv(variable);
  return value != nullptr && std::find(values.begin(), values.end(), value) != values.end();
}

std::atomic<bool>& TensorFloat32() {
  static std::atomic<bool> allowed{!IsOneOf("NVIDIA_TF32_OVERRIDE", {"0"})};
  return allowed;
}

std::atomic<bool>& Determinism() {
  static std::atomic<bool> required{IsOneOf("TF_DETERMINISTIC_OPS", {"1", "true"}) ||
                                    IsOneOf("TF_CUDNN_DETERMINISTIC", {"1", "true"})};
  return required;
}

// {executable_build_options: {num_replicas: 1, num_partitions: 1}, compile_portable_executable: true}. A plugin ends
// the process if it is not told the numbers. A portable program runs on each device of the client.
constexpr std::string_view kOptions("\x1a\x04\x20\x01\x28\x01\x20\x01", 8);
// {env_option_overrides: {"xla_gpu_deterministic_ops": {bool_field: true}}, and the same with
// "xla_gpu_enable_triton_gemm" and false: the kernels that Triton makes are chosen by trying them out, which a
// deterministic program must not do.
constexpr std::string_view kDeterministic(
    "\x3a\x1f\x0a\x19xla_gpu_deterministic_ops\x12\x02\x10\x01"
    "\x3a\x20\x0a\x1axla_gpu_enable_triton_gemm\x12\x02\x10\x00",
    67);

constexpr std::string_view kName = "program", kDeterministicName = "deterministic_program";

}  // namespace

bool AllowsTensorFloat32() { return TensorFloat32().load(); }
void AllowTensorFloat32(bool allow) { TensorFloat32().store(allow); }

bool RequiresDeterminism() { return Determinism().load(); }
void RequireDeterminism(bool require) { Determinism().store(require); }

std::string_view ModuleName() { return RequiresDeterminism() ? kDeterministicName : kName; }

std::string_view PrecisionOf(DType dtype) {
  if (dtype != DType::kFloat32 || AllowsTensorFloat32()) return "";
  return "precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]";
}

std::string CompileOptionsProto(std::string_view program) {
  std::string options(kOptions);
  if (program.substr(0, program.find('\n')).find(kDeterministicName) != std::string_view::npos) {
    options += kDeterministic;
  }
  return options;
}

}  // namespace tensorbraid::pjrt
