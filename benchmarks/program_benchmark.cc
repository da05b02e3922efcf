// Compares programs in StableHLO, such as those of JAX with ours (accelerator_models.py), through one PJRT plugin: the
// CPU time and the time of a run, each the median of many. The programs run in turns.
//
//     program_benchmark PLUGIN.so RUNS NAME=FILE [NAME=FILE ...]
//
// Arguments get small numbers, whatever they mean. Results whose memory an argument gives become this argument in the
// next run, as the variables of a training do.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/text/strings.h"
#include "core/values/new_tensor.h"
#include "io/file.h"
#include "pjrt/client.h"
#include "pjrt/device_buffer.h"
#include "pjrt/plugin.h"
#include "pjrt/program.h"

namespace tensorbraid {
namespace {

struct Argument {
  pjrt::ArrayType type;
  int result = -1;  // that takes over its memory
};

// "128x784xf32" of "tensor<128x784xf32>".
StatusOr<pjrt::ArrayType> TypeOf(std::string_view text) {
  static const std::map<std::string, DType, std::less<>> names = {
      {"f32", kFloat32}, {"f64", kFloat64}, {"bf16", kBfloat16}, {"i32", kInt32},
      {"i64", kInt64},   {"ui32", kUint32}, {"i1", kBool},       {"ui64", kUint64}};
  Shape shape(std::vector<int64_t>{});
  for (size_t x = text.find('x'); x != std::string_view::npos; x = text.find('x')) {
    shape.AddDim(std::atoll(std::string(text.substr(0, x)).c_str()));
    text.remove_prefix(x + 1);
  }
  const auto at = names.find(text);
  if (at == names.end()) return InvalidArgument("no dtype is called '", std::string(text), "' here");
  return pjrt::ArrayType{at->second, shape};
}

// The arguments of @main, from "@main(" to the end of its list.
StatusOr<std::vector<Argument>> ArgumentsOf(const std::string& text) {
  const size_t begin = text.find("@main(");
  const size_t end = begin == std::string::npos ? begin : text.find("->", begin);
  if (end == std::string::npos) return InvalidArgument("the program has no function @main with results");
  std::vector<Argument> arguments;
  std::string_view rest = std::string_view(text).substr(begin, end - begin);
  constexpr std::string_view kTensor = "tensor<", kAlias = "tf.aliasing_output = ";
  for (size_t at = rest.find(kTensor); at != std::string_view::npos; at = rest.find(kTensor)) {
    rest.remove_prefix(at + kTensor.size());
    Argument& argument = arguments.emplace_back();
    TF_ASSIGN_OR_RETURN(argument.type, TypeOf(rest.substr(0, rest.find('>'))));
    const size_t alias = rest.find(kAlias);
    if (alias < rest.find(kTensor))
      argument.result = std::atoi(std::string(rest.substr(alias + kAlias.size(), 6)).c_str());
  }
  return arguments;
}

double CpuSeconds() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

class Measured {
 public:
  static StatusOr<Measured> Create(pjrt::Client& client, const std::string& name, const std::string& file) {
    Measured made;
    made.name = name;
    TF_ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
    TF_ASSIGN_OR_RETURN(made.arguments_, ArgumentsOf(text));
    pjrt::CompileOptions options{.name = name, .arguments = {}, .donated = {}};
    for (size_t i = 0; i < made.arguments_.size(); ++i) {
      const Argument& argument = made.arguments_[i];
      options.arguments.push_back(argument.type);
      if (argument.result >= 0) options.donated.push_back(static_cast<int>(i));
      TF_ASSIGN_OR_RETURN(Tensor values, Tensor::Create(argument.type.dtype, argument.type.shape));
      std::fill_n(static_cast<char*>(values.inplace_raw_data()), values.num_bytes(), 0);
      if (argument.type.dtype == kFloat32) {
        uint32_t state = 1;
        for (float& x : values.inplace_data<float>()) {
          state = state * 1664525 + 1013904223;
          x = static_cast<float>(state >> 8) * 0x1p-28F + 0.01f;
        }
      }
      pjrt::Event copied;
      TF_ASSIGN_OR_RETURN(auto array, client.ToDevice(values, 0, &copied));
      TF_RETURN_IF_ERROR(copied.Await());
      TF_ASSIGN_OR_RETURN(made.values_.emplace_back(), OnDevice(argument.type, std::move(array)));
    }
    TF_ASSIGN_OR_RETURN(made.program_, client.Compile(text, std::move(options)));
    return made;
  }

  Status Run() {
    std::vector<const Tensor*> inputs;
    for (const Tensor& value : values_) inputs.push_back(&value);
    const double cpu = CpuSeconds();
    const auto began = std::chrono::steady_clock::now();
    TF_ASSIGN_OR_RETURN(auto results, program_->Run(inputs, {}, 0));
    TF_RETURN_IF_ERROR(results.done.Await());
    wall_ms.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began).count());
    cpu_ms.push_back(1000 * (CpuSeconds() - cpu));
    for (size_t i = 0; i < arguments_.size(); ++i) {
      if (arguments_[i].result < 0) continue;
      TF_ASSIGN_OR_RETURN(values_[i], OnDevice(arguments_[i].type, std::move(results.outputs[arguments_[i].result])));
    }
    return OkStatus();
  }

  std::string name;
  std::vector<double> cpu_ms, wall_ms;

 private:
  static StatusOr<Tensor> OnDevice(const pjrt::ArrayType& type, RefPtr<pjrt::Array> array) {
    const size_t bytes = static_cast<size_t>(type.shape.num_elements()) * DTypeSize(type.dtype);
    auto buffer = MakeRef<pjrt::DeviceBuffer>(bytes, nullptr, std::make_shared<pjrt::MemoryCount>());
    buffer->Set(std::move(array));
    return Tensor::FromBuffer(std::move(buffer), 0, type.dtype, type.shape);
  }

  std::vector<Argument> arguments_;
  std::vector<Tensor> values_;
  std::shared_ptr<pjrt::Program> program_;
};

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

Status Measure(int argc, char** argv) {
  TF_ASSIGN_OR_RETURN(const pjrt::Plugin* plugin, pjrt::Plugin::Load(argv[1]));
  TF_ASSIGN_OR_RETURN(pjrt::Client* const client, pjrt::Client::Create(*plugin, {}));
  const int runs = std::max(1, std::atoi(argv[2]));
  std::vector<Measured> programs;
  for (int i = 3; i < argc; ++i) {
    const std::string word = argv[i];
    const size_t equals = word.find('=');
    if (equals == std::string::npos) return InvalidArgument("'", word, "' is not NAME=FILE");
    TF_ASSIGN_OR_RETURN(Measured made, Measured::Create(*client, word.substr(0, equals), word.substr(equals + 1)));
    programs.push_back(std::move(made));
  }
  for (int run = -3; run < runs; ++run) {
    for (Measured& program : programs) {
      TF_RETURN_IF_ERROR(program.Run());
      if (run >= 0) continue;
      program.cpu_ms.clear();
      program.wall_ms.clear();
    }
  }
  for (const Measured& program : programs) {
    const double cpu = Median(program.cpu_ms);
    std::printf("%-24s %10.3f ms of CPU time per run, %5.2f of %s; %10.3f ms; median of %d\n", program.name.c_str(),
                cpu, cpu / Median(programs[0].cpu_ms), programs[0].name.c_str(), Median(program.wall_ms), runs);
  }
  return OkStatus();
}

}  // namespace
}  // namespace tensorbraid

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: program_benchmark PLUGIN.so RUNS NAME=FILE [NAME=FILE ...]\n");
    return 2;
  }
  const tensorbraid::Status status = tensorbraid::Measure(argc, argv);
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return 1;
}
