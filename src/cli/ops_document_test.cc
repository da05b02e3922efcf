#include "cli/ops_document.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "cli/tensorflow_ops.h"
#include "core/text/strings.h"
#include "graph/model/op_registry.h"

namespace tensorbraid {
namespace {

TEST(OpsDocument, EveryOpHasALineOrAReason) {
  const std::string text = OpsDocument();
  std::set<std::string> missing;
  for (const MissingOps& group : OpsMissingHere()) missing.insert(group.names.begin(), group.names.end());
  for (const std::string& name : OpRegistry::Global().names()) {
    const bool has_line = text.find(StrCat("\n| ", name, " |")) != std::string::npos;
    EXPECT_EQ(has_line, !name.starts_with("_") && !missing.contains(name)) << name;
  }
}

TEST(OpsDocument, NamesAcceleratorsForOpsThatTheyHave) {
  const std::string text = OpsDocument();
  const auto line_of = [&](std::string_view op) {
    const size_t start = text.find(StrCat("\n| ", op, " |")) + 1;
    return text.substr(start, text.find('\n', start) - start);
  };
  EXPECT_NE(line_of("MatMul").find("| CPU, accelerators |"), std::string::npos) << line_of("MatMul");  // an emitter
  EXPECT_NE(line_of("Reshape").find("| CPU, accelerators |"), std::string::npos)
      << line_of("Reshape");  // whole buffers
  EXPECT_NE(line_of("DecodeCSV").find("| CPU |"), std::string::npos) << line_of("DecodeCSV");
}

TEST(OpsDocument, SaysWhyOpsHaveNoEmitter) {
  const std::string text = OpsDocument();
  const size_t start = text.find("\n## Ops without an emitter\n");
  ASSERT_NE(start, std::string::npos);
  const std::string section = text.substr(start, text.find("\n## ", start + 1) - start);
  EXPECT_NE(section.find("\n| the shape of its output depends on the elements of its inputs | "), std::string::npos);
  EXPECT_NE(section.find(", Where |"), std::string::npos) << section;
  EXPECT_EQ(section.find(" MatMul"), std::string::npos) << section;
}

// Whether this build can run the op. Some ops are registered only so that the error says why they cannot run.
bool IsAvailable(std::string_view op) {
  return OpRegistry::Global().Find(op) != nullptr && op != "EagerPyFunc" && op != "SqlDataset";
}

TEST(TensorFlowOps, EachIsEitherAvailableOrMissingForAReason) {
  std::map<std::string, int, std::less<>> listed;
  for (const MissingOps& group : OpsMissingHere()) {
    for (const std::string& name : group.names) ++listed[name];
    const bool is_unclassified = group.patterns.empty() && group.facts == 0;
    EXPECT_TRUE(!is_unclassified || group.names.empty())
        << "no reason in tensorflow_ops.cc applies to " << StrJoin(group.names, ", ");
    EXPECT_NE(group.reason.empty(), !is_unclassified) << group.heading;
  }
  std::set<std::string_view> all;
  for (const TensorFlowOp& op : TensorFlowOps()) {
    EXPECT_TRUE(all.insert(op.name).second) << op.name << " occurs twice";
    EXPECT_EQ(listed[std::string(op.name)], IsAvailable(op.name) ? 0 : 1) << op.name;
  }
  for (const auto& [name, times] : listed) EXPECT_TRUE(all.contains(name)) << name << " is not TensorFlow's";
}

TEST(TensorFlowOps, NoReasonIsOutOfDate) {
  for (const MissingOps& group : OpsMissingHere()) {
    if (group.reason.empty()) continue;
    EXPECT_FALSE(group.names.empty()) << group.heading;
    for (const std::string& pattern : group.patterns) {
      if (pattern.find('*') != std::string::npos) continue;
      EXPECT_FALSE(IsAvailable(pattern)) << pattern << " is available: delete it from tensorflow_ops.cc";
      EXPECT_EQ(std::count(group.names.begin(), group.names.end(), pattern), 1) << pattern;
    }
  }
}

TEST(TensorFlowOps, WhatIsSaidToHaveNoKernelForCpusHasNoneInTensorFlow) {
  std::map<std::string_view, unsigned> facts;
  for (const TensorFlowOp& op : TensorFlowOps()) facts[op.name] = op.facts;
  for (const MissingOps& group : OpsMissingHere()) {
    if (group.heading != "No kernels for CPUs" && group.heading != "Boosted trees") continue;
    for (const std::string& name : group.names) EXPECT_TRUE(facts[name] & TensorFlowOp::kNoCpuKernel) << name;
  }
}

}  // namespace
}  // namespace tensorbraid
