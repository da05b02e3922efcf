// Compares the registry with TensorFlow's and DeepRec's op definitions, and checks that the op table (op_case.h) covers
// the registry.
#include "graph/model/op_registry.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "core/text/strings.h"
#include "op_case.h"
#include "runtime/kernel/kernel.h"

namespace tensorbraid {
namespace {

using Json = nlohmann::json;

// "T", "N * T", "float32", with "Ref(...)" around: the argument's type as text.
std::string ArgText(const ArgDef& a) {
  std::string type = a.type != DType::kInvalid ? DTypeName(a.type)
                     : a.type_attr.empty()     ? a.type_list_attr
                                               : a.type_attr;
  if (!a.number_attr.empty()) type = a.number_attr + " * " + type;
  if (a.is_ref) type = "Ref(" + type + ")";
  return a.name + ": " + type;
}

void CheckArgs(const std::vector<ArgDef>& ours, const Json& theirs) {
  std::vector<std::string> texts;
  for (const ArgDef& a : ours) texts.push_back(ArgText(a));
  EXPECT_EQ(texts, theirs.get<std::vector<std::string>>());
}

// The ops in deeprec_ops.txt with their lines.
std::map<std::string, std::string> DeepRecOps() {
  std::map<std::string, std::string> lines;
  for (const std::string& line : ReferenceLines("../deeprec_ops.txt")) {
    if (line.empty() || line[0] == '#') continue;
    lines.emplace(line.substr(0, line.find(' ')), line);
  }
  return lines;
}

TEST(OpRegistryTable, DefinitionsMatchDeepRec) {
  for (const auto& [op, line] : DeepRecOps()) {
    const OpDef* def = OpRegistry::Global().Find(op);
    ASSERT_NE(def, nullptr) << op;
    std::string ours = op;
    for (const ArgDef& a : def->inputs) ours += " " + a.name;
    ours += " ->";
    for (const ArgDef& a : def->outputs) ours += " " + a.name;
    EXPECT_EQ(ours, line);
    EXPECT_TRUE(def->is_stateful) << op;
  }
}

TEST(OpRegistryTable, DefinitionsMatchTensorFlow) {
  const auto lines = ReferenceLines("op_defs.jsonl");
  ASSERT_FALSE(lines.empty());
  std::set<std::string> compared;
  for (const std::string& line : lines) {
    const Json j = Json::parse(line);
    const OpDef* def = OpRegistry::Global().Find(j["name"].get<std::string>());
    if (def == nullptr) continue;
    compared.insert(def->name);
    SCOPED_TRACE(def->name);
    CheckArgs(def->inputs, j["inputs"]);
    CheckArgs(def->outputs, j["outputs"]);
    // Ops that change or read a reference are stateful here, so that their nodes are neither folded nor merged.
    const bool takes_ref =
        std::any_of(def->inputs.begin(), def->inputs.end(), [](const ArgDef& a) { return a.is_ref; });
    EXPECT_EQ(def->is_stateful, j["stateful"].get<bool>() || takes_ref);
    for (const AttrDef& a : def->attrs) {
      SCOPED_TRACE(a.name);
      const auto it =
          std::find_if(j["attrs"].begin(), j["attrs"].end(), [&](const Json& t) { return t["name"] == a.name; });
      if (it == j["attrs"].end()) {
        ADD_FAILURE() << "TensorFlow has no such attribute";
        continue;
      }
      EXPECT_EQ(a.type, it->at("type").get<std::string>());
      EXPECT_EQ(a.default_value.has_value(), it->contains("default"));
      if (a.default_value.has_value() && it->contains("default")) {
        const Json& d = it->at("default");
        if (const bool* b = a.default_value->get<bool>()) {
          EXPECT_EQ(*b, d.get<bool>());
        }
        if (const int64_t* i = a.default_value->get<int64_t>()) {
          EXPECT_EQ(*i, d.get<int64_t>());
        }
        if (const float* f = a.default_value->get<float>()) {
          EXPECT_FLOAT_EQ(*f, d.get<float>());
        }
        if (const std::string* s = a.default_value->get<std::string>()) {
          EXPECT_EQ(*s, d.get<std::string>());
        }
        if (const DType* t = a.default_value->get<DType>()) {
          EXPECT_EQ(DTypeName(*t), d.get<std::string>());
        }
      }
      // Our allowed types are TensorFlow's without the types that no tensor here can have.
      const auto allowed = it->value("allowed", std::vector<std::string>());
      for (const std::string& name : allowed) {
        const auto t = ParseDType(name);
        if (!t.has_value() || a.allowed_types.empty()) continue;
        EXPECT_TRUE(std::count(a.allowed_types.begin(), a.allowed_types.end(), *t) > 0) << name << " must be allowed";
      }
      for (DType t : a.allowed_types) {
        EXPECT_TRUE(std::count(allowed.begin(), allowed.end(), DTypeName(t)) > 0)
            << DTypeName(t) << " must not be allowed";
      }
      EXPECT_EQ(a.allowed_types.empty() && a.allowed_strings.empty(), allowed.empty());
    }
    for (const Json& a : j["attrs"]) {
      if (def->FindAttr(a["name"].get<std::string>()) == nullptr) ADD_FAILURE() << "lacks " << a["name"];
    }
  }
  // Ops whose names begin with "_" are the runtime's own, except for a few that TensorFlow's clients send.
  const auto deeprec = DeepRecOps();
  for (const std::string& op : OpRegistry::Global().names()) {
    EXPECT_TRUE(compared.contains(op) || op.starts_with('_') || deeprec.contains(op))
        << op << " is not compared with TensorFlow's definition: run scripts/update_op_files";
  }
}

// Whether the outputs depend on the inputs alone. Ops with state are tested beside their kernels and resources.
bool IsFunction(const OpDef& def) {
  if (def.is_stateful) return false;
  for (const auto* args : {&def.inputs, &def.outputs}) {
    for (const ArgDef& a : *args) {
      if (a.is_ref || a.type == DType::kResource) return false;
    }
  }
  return true;
}

// The ops in a file whose lines are "Op reason". A table of pure functions cannot have these ops, so they are tested
// elsewhere.
std::set<std::string> Exempt(const std::string& what) {
  std::set<std::string> ops;
  for (const std::string& line : ReferenceLines("../exempt_" + what + ".txt")) {
    if (line.empty() || line[0] == '#') continue;
    const size_t space = line.find(' ');
    EXPECT_NE(space, std::string::npos) << "no reason is given for " << line;
    ops.insert(line.substr(0, space));
  }
  return ops;
}

TEST(OpRegistryTable, EveryOpHasARow) {
  std::string error;
  std::set<std::string> with_row, with_gradient;
  for (const OpCase& c : LoadCases(&error)) {
    with_row.insert(c.op);
    if (!c.gradient.empty() || !c.tf_gradient.inputs.empty()) with_gradient.insert(c.op);
  }
  ASSERT_EQ(error, "");
  const std::set<std::string> no_row = Exempt("rows"), no_gradient = Exempt("gradients");
  for (const std::string& op : OpRegistry::Global().names()) {
    const OpDef& def = *OpRegistry::Global().Find(op);
    if (!IsFunction(def)) continue;
    EXPECT_TRUE(with_row.contains(op) != no_row.contains(op))
        << op
        << (with_row.contains(op) ? " has a row and is exempt from having one"
                                  : " has no row: see tests/ops/README.md");
    if (!def.has_gradient()) continue;
    EXPECT_TRUE(with_gradient.contains(op) != no_gradient.contains(op))
        << op
        << (with_gradient.contains(op) ? " has a gradient row and is exempt" : " has no row that checks its gradient");
  }
  for (const auto* exempt : {&no_row, &no_gradient}) {
    for (const std::string& op : *exempt) EXPECT_NE(OpRegistry::Global().Find(op), nullptr) << op << " does not exist";
  }
}

// The family and the name of a file: "math/binary.cc" for "ops/math/binary.cc" and for "kernels/cpu/math/binary.cc".
// Folders within a family of kernels are left out: "nn/pooling.cc" for "kernels/cpu/nn/pooling/pooling.cc".
std::string FamilyAndFile(std::string_view file) {
  const std::vector<std::string> path = StrSplit(file, '/');
  const size_t family = path[0] == "kernels" ? 2 : 1;
  return StrCat(path.at(family), "/", path.back());
}

// The reader of a schema finds its kernels in the file of the same name.
TEST(OpRegistryTable, KernelsAreInTheFilesThatSchemasName) {
  std::set<std::string> mismatches;
  for (const auto& [op, def] : KernelRegistry::Global().kernels()) {
    const OpDef* schema = OpRegistry::Global().Find(op);
    ASSERT_NE(schema, nullptr) << op;
    EXPECT_TRUE(schema->file.starts_with("ops/")) << op << ": " << schema->file;
    EXPECT_TRUE(def.file.starts_with("kernels/")) << op << ": " << def.file;
    if (FamilyAndFile(schema->file) == FamilyAndFile(def.file)) continue;
    mismatches.insert(StrCat(op, ": the schema is in ", schema->file, ", a kernel in ", def.file));
  }
  EXPECT_TRUE(mismatches.empty()) << mismatches.size() << " ops:\n"
                                  << StrJoin({mismatches.begin(), mismatches.end()}, "\n");
}

TEST(OpRegistryTable, EveryKernelHasAnOp) {
  for (const auto& [op, def] : KernelRegistry::Global().kernels()) {
    const OpDef* found = OpRegistry::Global().Find(op);
    ASSERT_NE(found, nullptr) << op;
    for (const auto& [attr, types] : def.types)
      EXPECT_NE(found->FindAttr(std::string(attr)), nullptr) << op << " has no " << attr;
  }
}

}  // namespace
}  // namespace tensorbraid
