#include "cli/ops_document.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "cli/tensorflow_ops.h"
#include "core/text/strings.h"
#include "graph/op_registry.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid {
namespace {

using Types = std::set<DType>;

// Sets of dtypes that have a name. A set comes before its subsets.
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

// The dtypes in words, with the names of the sets that they contain.
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

// The dtypes that the kernels accept for the op's type attributes. Without such attributes: the dtypes of its
// arguments.
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
  const std::string gradient = op.has_gradient() ? "yes" : op.not_differentiable ? "stops" : "";
  return StrCat("| ", op.name, " | ", DTypesOf(op, kernels), " | ",
                devices.empty() ? "(graph)" : StrJoin({devices.begin(), devices.end()}, " "), " | ", gradient, " |\n");
}

// The headings of the op families, keyed by their folders in src/ops.
std::string HeadingOf(const OpDef& op) {
  static const auto& headings = *new std::map<std::string, std::string, std::less<>>{
      {"array", "Arrays"},
      {"control_flow", "Control flow and functions"},
      {"data_flow", "Data flow"},
      {"dataset", "Datasets"},
      {"image", "Images"},
      {"io", "Files and checkpoints"},
      {"linalg", "Linear algebra"},
      {"list", "Tensor lists and optionals"},
      {"logging", "Logging and checks"},
      {"math", "Math"},
      {"nn", "Neural networks"},
      {"parsing", "Parsing"},
      {"random", "Random numbers"},
      {"reduction", "Reductions"},
      {"rnn", "Recurrent cells"},
      {"sparse", "Sparse and ragged tensors"},
      {"state", "Variables"},
      {"string", "Strings"},
      {"summary", "Summaries"},
      {"training", "Training"},
  };
  const std::vector<std::string> path = StrSplit(op.file, '/');  // "ops", folder, file
  const auto it = path.size() == 3 ? headings.find(path[1]) : headings.end();
  return it == headings.end() ? std::string(op.file) : it->second;
}

constexpr char kHead[] = R"(# Ops

The ops of this build, as printed by `tensorbraid ops`. Their definitions are TensorFlow's. A session refuses a graph
that uses any other op; the error lists all of them. The ops of TensorFlow that are missing are at the end, with the
reasons.

- *dtypes*: the dtypes that the kernels accept for each type attribute; for an op without type attributes, the dtypes of
  its inputs and outputs. `floats`: float16, bfloat16, float32, float64; `ints`: int8 to int64 and uint8 to uint64;
  `complex`: complex64 and complex128; `reals`: floats and ints; `numbers`: reals and complex; `quantized`: qint8,
  quint8, qint16, quint16 and qint32; `any`: numbers, quantized, bool, string, resource, variant.
- *devices*: the devices that have a kernel. `(graph)`: the op needs no kernel, because its node is fed or is replaced
  before the graph runs.
- *gradient*: `yes` if `Gradients` of the C++ API supports the op; `stops` if the op is not differentiable by nature, so
  that gradients end there; empty if `Gradients` reports an error. TensorFlow's clients do not depend on this: their
  graphs contain the gradients.
)";

// The text in lines of at most 120 characters.
std::string Paragraph(std::string_view text) {
  std::string lines;
  size_t column = 0;
  for (const std::string& word : StrSplit(text, ' ')) {
    const bool fits = column + 1 + word.size() <= 120;
    if (column > 0) lines += fits ? " " : "\n";
    column = column > 0 && fits ? column + 1 + word.size() : word.size();
    lines += word;
  }
  return lines + "\n";
}

std::string MissingSection(const std::vector<MissingOps>& groups) {
  size_t count = 0;
  std::string text;
  for (const MissingOps& group : groups) {
    if (group.names.empty()) continue;
    count += group.names.size();
    text += StrCat("\n### ", group.heading, "\n\n", Paragraph(group.reason), "\n",
                   Paragraph(StrCat(StrJoin(group.names, ", "), ".")));
  }
  return StrCat("\n## Missing ops\n\n", count, " of the ", TensorFlowOps().size(),
                " ops that TensorFlow registers are missing here, for these reasons.\n", text);
}

}  // namespace

std::string OpsDocument() {
  const std::vector<MissingOps> missing = OpsMissingHere();
  std::set<std::string> skipped;
  for (const MissingOps& group : missing) skipped.insert(group.names.begin(), group.names.end());
  std::map<std::string, std::map<std::string, std::string>> lines;  // keyed by family, then by op
  size_t count = 0;
  for (const std::string& name : OpRegistry::Global().names()) {
    if (name.starts_with("_") || skipped.contains(name)) continue;
    const OpDef& op = *OpRegistry::Global().Find(name);
    count += lines[HeadingOf(op)].emplace(name, LineOf(op)).second;
  }
  std::string text = StrCat(kHead, "\n", count, " ops in ", lines.size(), " families.\n");
  for (const auto& [family, ops] : lines) {
    text += StrCat("\n## ", family, "\n\n| op | dtypes | devices | gradient |\n|---|---|---|---|\n");
    for (const auto& [name, line] : ops) text += line;
  }
  return text + MissingSection(missing);
}

}  // namespace tensorbraid
