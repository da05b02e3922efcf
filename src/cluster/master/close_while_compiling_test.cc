// Tests a session that is closed while its graph is compiled.
#include <gtest/gtest.h>

#include <atomic>
#include <future>

#include "cluster/server/task.h"
#include "cluster/testing/test_cluster.h"
#include "tensorbraid/graph/graph.h"
#include "tensorbraid/session/session.h"

namespace tensorbraid {
namespace {

using absl::StatusCode;

// While the gate is closed, a thread that creates a kernel for a device of type "GATE" waits until the gate opens.
class Gate {
 public:
  void Close() {
    MutexLock lock(mu_);
    open_ = false;
    asked_ = 0;
  }
  void Open() {
    MutexLock lock(mu_);
    open_ = true;
    changed_.NotifyAll();
  }
  void Pass() {
    MutexLock lock(mu_);
    ++asked_;
    changed_.NotifyAll();
    changed_.Wait(mu_, [this]() TB_REQUIRES(mu_) { return open_; });
  }
  // Blocks until a thread waits at the gate.
  void WaitForVisitor() {
    MutexLock lock(mu_);
    changed_.Wait(mu_, [this]() TB_REQUIRES(mu_) { return asked_ > 0; });
  }
  int asked() {
    MutexLock lock(mu_);
    return asked_;
  }

 private:
  Mutex mu_;
  CondVar changed_;
  bool open_ TB_GUARDED_BY(mu_) = true;
  int asked_ TB_GUARDED_BY(mu_) = 0;
};

Gate& TheGate() {
  static auto* gate = new Gate;
  return *gate;
}

class GatedDevice final : public Device {
 public:
  explicit GatedDevice(int id) : Device("GATE", id) {}
  int64_t memory_limit() const override { return 0; }
  Allocator& allocator() override { return HostAllocator(); }
  void Copy(const Tensor&, Tensor, Done done) override { done(OkStatus()); }
  void CopyInStream(const Tensor&, Tensor) override {}
};

class GatedKernel final : public Kernel {
 public:
  Status Compute(KernelContext&) override { return OkStatus(); }
};

[[maybe_unused]] const bool kHasGatedDevices = [] {
  AddDeviceType({.name = "GATE",
                 .create = [](int id) -> StatusOr<std::unique_ptr<Device>> {
                   return std::unique_ptr<Device>(std::make_unique<GatedDevice>(id));
                 },
                 .register_kernels =
                     [](KernelRegistry& r) {
                       r.AddDef({.op = "NoOp",
                                 .device_type = "GATE",
                                 .types = {},
                                 .create = [](const KernelConstruction&) -> StatusOr<std::unique_ptr<Kernel>> {
                                   TheGate().Pass();
                                   return std::unique_ptr<Kernel>(std::make_unique<GatedKernel>());
                                 }});
                     }});
  return true;
}();

class CloseWhileCompilingTest : public ::testing::TestWithParam<const char*> {
 protected:
  ~CloseWhileCompilingTest() override { TheGate().Open(); }
};

// The parameter is the task that compiles when the session is closed: the master itself or another task.
INSTANTIATE_TEST_SUITE_P(Tasks, CloseWhileCompilingTest, ::testing::Values("worker", "ps"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(CloseWhileCompilingTest, AfterCloseTheTaskStopsCompilingAndStillServesOtherSessions) {
  TaskOptions options;
  options.device_count = {{"GATE", 1}};
  options.inter_op_threads = 2;  // one of them waits at the gate
  TestCluster cluster(1, 1, options);
  Graph g;
  Operation elsewhere;
  {
    auto device = g.Device("/job:ps/task:0/device:CPU:0");
    elsewhere = NodeBuilder(g, "NoOp").Finish();
  }
  std::vector<Fetch> targets;
  {
    auto device = g.Device(StrCat("/job:", GetParam(), "/task:0/device:GATE:0"));
    // Each node waits for the one before it. Otherwise all would be equal, and would become one node.
    std::vector<Operation> before;
    for (int i = 0; i < 100; ++i) {
      auto order = g.ControlDependencies(before);
      before = {NodeBuilder(g, "NoOp").Finish()};
      targets.emplace_back(before[0]);
    }
  }
  ASSERT_TRUE(g.status().ok()) << g.status();
  const auto session = Session::Create(g, {.target = cluster.worker_target()}).value();
  TheGate().Close();
  auto run = std::async(std::launch::async, [&] { return session->Run(targets).status(); });
  TheGate().WaitForVisitor();
  ASSERT_TRUE(session->Close().ok());
  if (GetParam() == std::string("ps")) {
    // The master does not wait for the other task.
    EXPECT_EQ(run.wait_for(std::chrono::seconds(30)), std::future_status::ready);
  }
  // A step of another session on both tasks: when it has ended, both have heard that the first session is closed.
  const auto second = Session::Create(g, {.target = cluster.worker_target()}).value();
  EXPECT_EQ(second->Run({elsewhere}).status(), OkStatus());
  TheGate().Open();
  EXPECT_EQ(run.get().code(), StatusCode::kCancelled);
  EXPECT_EQ(second->Run(targets).status(), OkStatus());
  EXPECT_EQ(TheGate().asked(), 101);  // one kernel of the first session, all of the second
}

}  // namespace
}  // namespace tensorbraid
