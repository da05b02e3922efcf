#include "cli/ops_document.h"

#include <map>
#include <set>
#include <vector>

#include "cli/op_dtypes.h"
#include "cli/op_functions.h"
#include "cli/tensorflow_ops.h"
#include "core/text/strings.h"
#include "graph/model/op_registry.h"
#include "pjrt/emitter.h"
#include "pjrt/find_plugins.h"
#include "pjrt/whole_buffers.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid {
namespace {

// A link to the function of include/tensorbraid/ops that adds the op's node.
std::string FunctionOf(const OpDef& op) {
  const OpFunction* function = OpFunctionOf(op.name);
  if (function == nullptr) return "";
  return StrCat("[", function->name, "](../include/tensorbraid/ops/", function->header, ")");
}

std::string LineOf(const OpDef& op) {
  std::set<std::string> devices;
  for (const KernelDef* kernel : KernelsOf(op)) {
    if (!pjrt::IsAcceleratorType(kernel->device_type)) devices.insert(kernel->device_type);
  }
  if (pjrt::MovesWholeBuffers(op.name) || pjrt::EmitterRegistry::Global().emitters().contains(op.name)) {
    devices.insert("accelerators");
  }
  const std::string gradient = op.has_gradient() ? "yes" : op.not_differentiable ? "stops" : "";
  return StrCat("| ", op.name, " | ", DTypesOf(op), " | ",
                devices.empty() ? "(graph)" : StrJoin({devices.begin(), devices.end()}, ", "), " | ", gradient, " | ",
                FunctionOf(op), " |\n");
}

// The headings of the op families, keyed by their folders in src/ops.
std::string HeadingOf(const OpDef& op) {
  static const auto& headings = *new std::map<std::string, std::string, std::less<>>{
      {"array", "Arrays"},
      {"control_flow", "Control flow and functions"},
      {"data_flow", "Data flow"},
      {"dataset", "Datasets"},
      {"embedding", "Growing tables"},
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

The ops of this build, as printed by `tensorbraid ops`. Their definitions are TensorFlow's, except those of growing
tables, whose names begin with `Kv`: they follow DeepRec's. A session refuses a graph that uses any other op; the error
lists all of them. The ops of TensorFlow that are missing are at the end, with the reasons.

- *dtypes*: the dtypes that the kernels accept for each type attribute; for an op without type attributes, the dtypes of
  its inputs and outputs. `floats`: float16, bfloat16, float32, float64; `ints`: int8 to int64 and uint8 to uint64;
  `complex`: complex64 and complex128; `reals`: floats and ints; `numbers`: reals and complex; `quantized`: qint8,
  quint8, qint16, quint16 and qint32; `any`: numbers, quantized, bool, string, resource, variant.
- *devices*: the devices that have a kernel. `(graph)`: the op needs no kernel, because its node is fed or is replaced
  before the graph runs. `accelerators`: a node of the op is part of an accelerator's program, or passes on what the
  device has in its memory. Such a node runs on the host if one of its dtypes or attributes does not fit; then the log
  says why. A node of any other op runs on the host. [Ops without an emitter](#ops-without-an-emitter) has the reasons
  for those that TensorFlow compiles for accelerators, [accelerators.md](accelerators.md) the rule.
- *gradient*: `yes` if `Gradients` of the C++ API supports the op; `stops` if the op is not differentiable by nature, so
  that gradients end there; empty if `Gradients` reports an error. TensorFlow's clients do not depend on this: their
  graphs contain the gradients.
- *function*: the function of the C++ API that adds nodes of the op, if there is one that is made for it.

## Calling an op from C++

Use the function that the table names, if there is one: its comment has the formula, the dtypes and the errors. In any
case the op has a function of its own name in the namespace `raw_ops`. The header that declares it is above the table.

```cpp
#include <tensorbraid/raw_ops.h>
#include <tensorbraid/tensorbraid.h>

namespace tf = tensorbraid;

tf::Output Places(tf::Output x) {
  tf::Output shifted = tf::raw_ops::Roll(x, 1, 0);                    // numbers become constants
  auto best = tf::raw_ops::TopKV2(shifted, 2, {.sorted = false});     // an attribute with a default is an option
  return tf::raw_ops::Cast(best.indices, tf::kInt64, {.name = "p"});  // one without default is a parameter
}
```

Several outputs have names, such as `best.indices`. Attributes that follow from the inputs are left out.
[raw_ops.h](../include/tensorbraid/raw_ops.h) has the rules for all functions. For an op that the program does not know
when it is compiled, there is `NodeBuilder`, which takes the names of the op and of its attributes.

## Calling an op from Python

`tf.raw_ops` has a function for each op, with TensorFlow's names for the inputs and attributes, which are given by
keyword. `help(tf.raw_ops.Roll)` shows them, their dtypes, and what the headers say about the op.

```python
import tensorbraid as tf

x = tf.constant([1.0, 3.0, 2.0])
shifted = tf.raw_ops.Roll(input=x, shift=1, axis=0)
best = tf.raw_ops.TopKV2(input=shifted, k=2, sorted=False)
places = tf.raw_ops.Cast(x=best.indices, DstT=tf.int64, name="p")
```
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

std::string HostSection() {
  std::string text = StrCat(
      "\n## Ops without an emitter\n\n",
      Paragraph("TensorFlow compiles these ops for accelerators. Here the host computes them, for these reasons, which "
                "the log and the messages about placement have, too. Other ops without an emitter are those that "
                "TensorFlow does not compile, either."),
      "\n| why | ops |\n|---|---|\n");
  std::map<std::string, std::vector<std::string>> groups;  // by reason
  for (const auto& [op, reason] : pjrt::EmitterRegistry::Global().host_ops()) groups[reason].push_back(op);
  for (const auto& [reason, ops] : groups) {
    text += StrCat("| ", reason, " | ", StrJoin(ops, ", "), " |\n");
  }
  return text;
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

std::vector<const OpDef*> DocumentedOps() {
  std::set<std::string> skipped;
  for (const MissingOps& group : OpsMissingHere()) skipped.insert(group.names.begin(), group.names.end());
  std::vector<const OpDef*> ops;
  for (const std::string& name : OpRegistry::Global().names()) {
    if (!name.starts_with("_") && !skipped.contains(name)) ops.push_back(OpRegistry::Global().Find(name));
  }
  return ops;
}

std::string OpsDocument() {
  std::map<std::string, std::map<std::string, std::string>> lines;  // keyed by family's heading, then by op
  std::map<std::string, std::string> folders;                       // of the families, keyed by heading
  const std::vector<const OpDef*> ops = DocumentedOps();
  for (const OpDef* op : ops) {
    lines[HeadingOf(*op)].emplace(op->name, LineOf(*op));
    folders.emplace(HeadingOf(*op), StrSplit(op->file, '/')[1]);
  }
  std::string text = StrCat(kHead, "\n", ops.size(), " ops in ", lines.size(), " families.\n");
  for (const auto& [family, table] : lines) {
    const std::string header = StrCat("raw_ops/", folders[family], ".h");
    text += StrCat("\n## ", family, "\n\nDeclared in [", header, "](../include/tensorbraid/", header,
                   ").\n\n| op | dtypes | devices | gradient | function |\n|---|---|---|---|---|\n");
    for (const auto& [name, line] : table) text += line;
  }
  return text + HostSection() + MissingSection(OpsMissingHere());
}

}  // namespace tensorbraid
