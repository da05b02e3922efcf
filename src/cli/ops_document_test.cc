#include "cli/ops_document.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>

#include "core/strings.h"
#include "graph/op_registry.h"

namespace tensorbraid {
namespace {

constexpr char kHowTo[] = "; to update it: build/release/src/cli/tensorbraid ops > docs/ops.md";

TEST(OpsDocument, DocsOpsMdIsUpToDate) {
  std::ifstream file(TENSORBRAID_OPS_DOCUMENT, std::ios::binary);
  const std::string kept((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (kept == OpsDocument()) return;
  const auto kept_lines = StrSplit(kept, '\n'), lines = StrSplit(OpsDocument(), '\n');
  const std::set<std::string> known(kept_lines.begin(), kept_lines.end());
  for (const std::string& line : lines) {
    ASSERT_TRUE(known.contains(line)) << "docs/ops.md lacks\n  " << line << "\n" << kHowTo;
  }
  FAIL() << "docs/ops.md has lines that are not in the document, or has them in another order" << kHowTo;
}

TEST(OpsDocument, EveryOpHasALine) {
  const std::string text = OpsDocument();
  for (const std::string& name : OpRegistry::Global().names()) {
    EXPECT_EQ(text.find(StrCat("\n| ", name, " |")) != std::string::npos, !name.starts_with("_")) << name;
  }
}

}  // namespace
}  // namespace tensorbraid
