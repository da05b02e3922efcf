#include "runtime/kernel/handle_kernel.h"

#include <gtest/gtest.h>

#include "graph/model/node.h"

namespace tensorbraid {
namespace {

class Thing final : public Resource {
 public:
  static constexpr const char* kTypeName = "thing";
  std::string DebugString() const override { return "thing"; }
};

class ThingKernel final : public HandleKernel<Thing> {
 public:
  explicit ThingKernel(const KernelConstruction& c) : HandleKernel<Thing>(c, Sharing::kPrivate) {}
  bool fits = true;

 private:
  RefPtr<Thing> Create() const override { return MakeRef<Thing>(); }
  Status Check(const Thing&) const override {
    return fits ? OkStatus() : InvalidArgument("the thing does not fit the attributes");
  }
};

TEST(HandleKernelTest, AResourceThatFailsTheCheckIsNotKept) {
  Graph g;
  const Output handle = NodeBuilder(g, "VarHandleOp").Attr("shape", Shape({})).Attr("dtype", kFloat32).Output();
  ResourceManager resources;
  ThingKernel kernel(KernelConstruction(*NodeOf(handle), &resources, "/device:CPU:0"));
  const StepEnvironment env{.resources = &resources};
  const auto run = [&] {
    std::vector<Entry> outputs(1);
    KernelContext ctx(*NodeOf(handle), {}, outputs, env);
    return kernel.Compute(ctx);
  };
  kernel.fits = false;
  EXPECT_TRUE(absl::IsInvalidArgument(run()));
  EXPECT_TRUE(absl::IsInvalidArgument(run())) << "the second run used the resource that the first run refused";
  kernel.fits = true;
  EXPECT_TRUE(run().ok());
}

}  // namespace
}  // namespace tensorbraid
