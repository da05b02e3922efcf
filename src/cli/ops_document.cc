#include "cli/ops_document.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "core/strings.h"
#include "graph/op_registry.h"
#include "ops/register.h"
#include "runtime/kernel.h"

namespace tensorbraid {
namespace {

using Types = std::set<DType>;

// Sets of dtypes that have a word, the largest first.
const std::vector<std::pair<std::string, Types>>& Groups() {
  static const auto& groups = *new std::vector<std::pair<std::string, Types>>([] {
    const Types floats = {kFloat16, kBfloat16, kFloat32, kFloat64};
    const Types ints = {kInt8, kInt16, kInt32, kInt64, kUint8, kUint16, kUint32, kUint64};
    const Types complex = {DType::kComplex64, DType::kComplex128};
    Types reals = floats, numbers, any;
    reals.insert(ints.begin(), ints.end());
    numbers = reals;
    numbers.insert(complex.begin(), complex.end());
    const Types quantized = {DType::kQint8, DType::kQuint8, DType::kQint16, DType::kQuint16, DType::kQint32};
    any = numbers;
    any.insert(quantized.begin(), quantized.end());
    any.insert({kBool, kString, DType::kResource, DType::kVariant});
    return std::vector<std::pair<std::string, Types>>{
        {"any", any},       {"numbers", numbers}, {"reals", reals},        {"ints", ints},
        {"floats", floats}, {"complex", complex}, {"quantized", quantized}};
  }());
  return groups;
}

std::string Words(Types types) {
  std::vector<std::string> words;
  for (const auto& [word, group] : Groups()) {
    if (!std::includes(types.begin(), types.end(), group.begin(), group.end())) continue;
    words.push_back(word);
    for (DType t : group) types.erase(t);
  }
  for (DType t : types) words.push_back(DTypeName(t));
  return StrJoin(words, " ");
}

Types Allowed(const AttrDef& attr) {
  if (attr.allowed_types.empty()) return Groups().front().second;
  return {attr.allowed_types.begin(), attr.allowed_types.end()};
}

std::vector<const KernelDef*> KernelsOf(const OpDef& op) {
  std::vector<const KernelDef*> kernels;
  const auto [begin, end] = KernelRegistry::Global().kernels().equal_range(op.name);
  for (auto it = begin; it != end; ++it) kernels.push_back(&it->second);
  return kernels;
}

// What the kernels take where the op leaves a choice, else what the arguments are.
std::string DTypesOf(const OpDef& op, const std::vector<const KernelDef*>& kernels) {
  std::vector<std::string> parts;
  for (const AttrDef& attr : op.attrs) {
    if (attr.type != "type" && attr.type != "list(type)") continue;
    Types types;
    for (const KernelDef* kernel : kernels) {
      const auto it = std::find_if(kernel->types.begin(), kernel->types.end(),
                                   [&](const TypeConstraint& c) { return c.attr == attr.name; });
      if (it == kernel->types.end()) {
        types.merge(Allowed(attr));
      } else {
        const std::vector<DType> more = it->types.ToVector();
        types.insert(more.begin(), more.end());
      }
    }
    if (kernels.empty()) types = Allowed(attr);
    parts.push_back(StrCat(attr.name, ": ", Words(std::move(types))));
  }
  if (!parts.empty()) return StrJoin(parts, "; ");
  Types fixed;
  for (const auto* args : {&op.inputs, &op.outputs}) {
    for (const ArgDef& arg : *args) fixed.insert(BaseType(arg.type));
  }
  return Words(std::move(fixed));
}

std::string LineOf(const OpDef& op) {
  const std::vector<const KernelDef*> kernels = KernelsOf(op);
  std::set<std::string> devices;
  for (const KernelDef* kernel : kernels) devices.insert(kernel->device_type);
  const std::string gradient = op.gradient != nullptr ? "yes" : op.not_differentiable ? "stops" : "";
  return StrCat("| ", op.name, " | ", DTypesOf(op, kernels), " | ",
                devices.empty() ? "(graph)" : StrJoin({devices.begin(), devices.end()}, " "), " | ", gradient, " |\n");
}

// Headings, and what registers the ops below them.
const std::vector<std::pair<std::string, void (*)(OpRegistry&)>>& Families() {
  static const auto& families = *new std::vector<std::pair<std::string, void (*)(OpRegistry&)>>{
      {"Arrays", RegisterArrayOps},
      {"Checkpoints", RegisterCheckpointOps},
      {"Control flow", RegisterControlFlowOps},
      {"Data flow", RegisterDataFlowOps},
      {"Linear algebra", RegisterLinalgOps},
      {"Files and readers", RegisterFileOps},
      {"Datasets", RegisterDatasetOps},
      {"Functions", RegisterFunctionalOps},
      {"Datasets", RegisterIteratorOps},
      {"Logging and checks", RegisterLoggingOps},
      {"Math", RegisterMathOps},
      {"Neural networks", RegisterNnOps},
      {"Parsing", RegisterParsingOps},
      {"Random numbers", RegisterRandomOps},
      {"Reductions", RegisterReductionOps},
      {"Control flow", RegisterSendRecvOps},
      {"Sets", RegisterSetOps},
      {"Sparse tensors", RegisterSparseOps},
      {"Sparse tensors", RegisterCrossOps},
      {"Variables", RegisterStateOps},
      {"Tensor arrays", RegisterTensorArrayOps},
      {"Strings", RegisterStringOps},
      {"Summaries", RegisterSummaryOps},
      {"Training", RegisterTrainingOps},
      {"Variants", RegisterVariantOps},
  };
  return families;
}

constexpr char kHead[] = R"(# Ops

What this build has, as `tensorbraid ops` prints it; op definitions are TensorFlow's. A graph with ops that are not here
is refused when a session takes it in, with all of them listed.

- *dtypes*: what the kernels take for each type attribute; of an op without such attributes, what its arguments are.
  `floats`: float16, bfloat16, float32, float64; `ints`: int8 to int64 and uint8 to uint64; `complex`: complex64 and
  complex128; `reals`: floats and ints; `numbers`: reals and complex; `quantized`: qint8, quint8, qint16, quint16 and
  qint32; `any`: numbers, quantized, bool, string, resource, variant.
- *devices*: where there are kernels. `(graph)`: none is needed, the node is fed, or replaced before the graph runs.
- *gradient*: `yes` where `Gradients` of the C++ API goes through the op; `stops` where nothing flows through it, by
  nature. TensorFlow's clients bring their gradients in the graph.
)";

}  // namespace

std::string OpsDocument() {
  std::map<std::string, std::map<std::string, std::string>> lines;  // by family and op
  size_t count = 0;
  for (const auto& [family, add] : Families()) {
    OpRegistry registry;
    add(registry);
    for (const std::string& name : registry.names()) {
      if (!name.starts_with("_")) count += lines[family].emplace(name, LineOf(*registry.Find(name))).second;
    }
  }
  std::string text = StrCat(kHead, "\n", count, " ops in ", lines.size(), " families.\n");
  for (const auto& [family, ops] : lines) {
    text += StrCat("\n## ", family, "\n\n| op | dtypes | devices | gradient |\n|---|---|---|---|\n");
    for (const auto& [name, line] : ops) text += line;
  }
  return text;
}

}  // namespace tensorbraid
