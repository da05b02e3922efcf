// Tests updates of rows and slices of variables on XLA_CPU:0, by programs and by the kernels of the CPU. The
// environment variable TENSORBRAID_ACCELERATOR_PLUGIN names the plugin.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tensorbraid/tensorbraid.h"

namespace tensorbraid {
namespace {

using ::testing::HasSubstr;

constexpr const char* kDeviceName = "/device:XLA_CPU:0";
const SessionOptions kDevices{.device_count = {{"XLA_CPU", 2}}};

// Updates of rows of a variable by handle and of one by reference, both of three numbers.
struct RowUpdates {
  Graph g;
  Output v, w;  // at first zeros and ones
  Output indices, rows;
  Operation update_v, update_w, init;

  // `update_op` takes a variable, and then `inputs`, which may be the indices and the rows.
  template <typename Inputs>
  RowUpdates(const std::string& update_op, const Inputs& inputs) {
    auto device = g.Device(kDeviceName);
    Variable by_handle(g, {3}, Zeros(), {.name = "v"});
    v = by_handle.handle();
    w = NodeBuilder(g, "VariableV2").Name("w").Attr("shape", Shape({3})).Attr("dtype", kFloat32).Output();
    indices = Placeholder(g, kInt32, {2}, "indices");
    rows = Placeholder(g, kFloat32, {2}, "rows");
    NodeBuilder by_v(g, "Resource" + update_op), by_w(g, update_op);
    by_v.Input(v);
    by_w.Input(w);
    for (const Output& input : inputs(g, indices, rows)) {
      by_v.Input(input);
      by_w.Input(input);
    }
    if (update_op.starts_with("Scatter")) by_v.Attr("dtype", kFloat32);
    update_v = by_v.Finish();
    update_w = by_w.Finish();
    const Operation init_w =
        NodeBuilder(g, "Assign").Input(w).Input(Const(g, Tensor::Vector<float>({1, 1, 1}))).Finish();
    init = Group(g, {GlobalVariablesInitializer(g), init_w});
  }
};

// Adds 5 and 7 to rows 0 and 2, and uses the variables afterwards.
void CheckRowUpdates(RowUpdates& u, Session& session) {
  auto device = u.g.Device(kDeviceName);
  const Output updated = u.update_w.output(0), twice = updated + updated;
  const Output read = NodeBuilder(u.g, "ReadVariableOp").Input(u.v).Attr("dtype", kFloat32).Output() * 2.0f;
  ASSERT_TRUE(u.g.status().ok()) << u.g.status();
  ASSERT_TRUE(session.Run({u.init}).ok());
  const std::vector<Feed> feeds = {{u.indices, Tensor::Vector<int32_t>({0, 2})},
                                   {u.rows, Tensor::Vector<float>({5, 7})}};
  const auto values = session.Run({twice, u.update_v}, feeds);
  ASSERT_TRUE(values.ok()) << values.status();
  EXPECT_EQ((*values)[0].data<float>()[2], 16);
  const auto after = session.Run({read, u.w});
  ASSERT_TRUE(after.ok()) << after.status();
  EXPECT_EQ((*after)[0].data<float>()[0], 10);
  EXPECT_EQ((*after)[1].data<float>()[1], 1);
  EXPECT_EQ((*after)[1].data<float>()[2], 8);
}

// Rows of a variable are updated by the kernel of the CPU, and later programs see them.
TEST(RowUpdatesTest, AnUpdateWithoutAnEmitterChangesTheVariableOfTheDevice) {
  RowUpdates u("SparseApplyProximalGradientDescent", [](Graph& g, const Output& indices, const Output& rows) {
    const Output zero = Const(g, Tensor::Scalar(0.0f));
    return std::vector<Output>{Const(g, Tensor::Scalar(1.0f)), zero, zero, -rows, indices};
  });
  const auto session = Session::Create(u.g, kDevices).value();
  CheckRowUpdates(u, *session);
}

// A row that does not exist is the CPU's error, and no variable changes.
TEST(RowUpdatesTest, RowsAreUpdatedByPrograms) {
  RowUpdates u("ScatterAdd", [](Graph&, const Output& indices, const Output& rows) {
    return std::vector<Output>{indices, rows};
  });
  const auto session = Session::Create(u.g, kDevices).value();
  CheckRowUpdates(u, *session);
  const Status status = session
                            ->Run({u.update_v, u.update_w}, {{u.indices, Tensor::Vector<int32_t>({1, 3})},
                                                             {u.rows, Tensor::Vector<float>({5, 7})}})
                            .status();
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_THAT(status.ToString(), HasSubstr("indices[1] = 3 is not in [0, 3) of variable '"));
  const auto after = session->Run({u.w});
  ASSERT_TRUE(after.ok()) << after.status();
  EXPECT_EQ((*after)[0].data<float>()[1], 1);
}

}  // namespace
}  // namespace tensorbraid
