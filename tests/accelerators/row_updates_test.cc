// Tests updates of rows and slices of variables on XLA_CPU:0, by programs and by the kernels of the CPU. The
// environment variable TENSORBRAID_ACCELERATOR_PLUGIN names the plugin.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "graph/model/handles.h"
#include "graph/model/node.h"
#include "tensorbraid/tensorbraid.h"
#include "two_devices.h"

namespace tensorbraid {
namespace {

using ::testing::HasSubstr;

constexpr const char* kDeviceName = "/device:XLA_CPU:0";

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
  const auto session = Session::Create(u.g, kTwoDevices).value();
  CheckRowUpdates(u, *session);
}

// A row that does not exist is the CPU's error, and no variable changes.
TEST(RowUpdatesTest, RowsAreUpdatedByPrograms) {
  RowUpdates u("ScatterAdd", [](Graph&, const Output& indices, const Output& rows) {
    return std::vector<Output>{indices, rows};
  });
  const auto session = Session::Create(u.g, kTwoDevices).value();
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

// One variable, and an op that updates it.
struct OneUpdate {
  Graph g;
  Output variable;
  Operation init, update;
  std::unique_ptr<Session> session;

  // `inputs` are the op's inputs after the variable. They are fed, unless the op must know them.
  OneUpdate(const std::string& device_name, const std::string& op, const Tensor& value,
            const std::vector<Tensor>& inputs, const std::vector<size_t>& known = {}) {
    const DType dtype = value.dtype();
    auto device = g.Device(device_name);
    variable = NodeBuilder(g, "VarHandleOp")
                   .Attr("dtype", dtype)
                   .Attr("shape", value.shape())
                   .Attr("shared_name", "table")
                   .Output();
    init = NodeBuilder(g, "AssignVariableOp").Input(variable).Input(Const(g, value)).Attr("dtype", dtype).Finish();
    NodeBuilder builder(g, op);
    builder.Name("update").Input(variable);
    for (size_t i = 0; i < inputs.size(); ++i) {
      const bool is_known = std::ranges::find(known, i) != known.end();
      const Output input = is_known ? Const(g, inputs[i]) : Placeholder(g, inputs[i].dtype());
      if (!is_known) feeds_.emplace_back(input, inputs[i]);
      builder.Input(input);
    }
    if (op.starts_with("ResourceScatter") && !op.starts_with("ResourceScatterNd")) builder.Attr("dtype", dtype);
    update = builder.Finish();
    session = Session::Create(g, kTwoDevices).value();
    const Status started = session->Run({init}).status();
    EXPECT_TRUE(started.ok()) << started;
  }
  Status Update() { return session->Run({update}, feeds_).status(); }
  Tensor Value() {
    const DType dtype = NodeOf(variable)->attr<DType>("dtype");
    return session->Run({NodeBuilder(g, "ReadVariableOp").Input(variable).Attr("dtype", dtype).Output()}).value()[0];
  }

 private:
  std::vector<Feed> feeds_;
};

// The errors name the variable as errors of the CPU do, also where nothing would change.
TEST(RowUpdatesTest, ErrorsAreThoseOfTheCpu) {
  const Tensor rows = Tensor::Vector<float>({1, 2, 3});
  const Tensor begin = Tensor::Vector<int32_t>({0}), end = Tensor::Vector<int32_t>({2});
  struct Row {
    std::string op;
    Tensor value;
    std::vector<Tensor> inputs;
    std::vector<size_t> known = {};
    std::string error;
  };
  for (const Row& row : {
           Row{.op = "ResourceScatterAdd",
          .value = rows,
          .inputs = {Tensor::Vector<int32_t>({1, 3}), Tensor::Vector<float>({5, 7})},
          .error = "indices[1] = 3 is not in [0, 3) of variable 'table'"},
           Row{.op = "ResourceScatterNdUpdate",
           .value = Tensor(kFloat32, {2, 0}),
           .inputs = {Tensor::Of<int32_t>({1, 1}, {5}), Tensor(kFloat32, {1, 0})},
           .error = "indices[0] = [5] does not index into shape [2,0]"},
           Row{.op = "ResourceStridedSliceAssign",
           .value = rows,
           .inputs = {begin, end, Tensor::Vector<int32_t>({1}), Tensor::Of<float>({1, 3}, {4, 5, 6})},
           .known = {0, 1, 2},
           .error = "the value of shape [1,3] does not broadcast to the slice, [2]"},
       }) {
    SCOPED_TRACE(row.op);
    OneUpdate on_cpu("/device:CPU:0", row.op, row.value, row.inputs, row.known);
    OneUpdate on_device(kDeviceName, row.op, row.value, row.inputs, row.known);
    const Status expected = on_cpu.Update(), found = on_device.Update();
    EXPECT_THAT(std::string(expected.message()), HasSubstr(row.error));
    EXPECT_EQ(found.code(), expected.code());
    EXPECT_EQ(found.message(), expected.message());
    EXPECT_EQ(on_device.Value().ToString(), row.value.ToString());
  }
}

// Rows (s) and the whole variable (d) are updated one after the other, or the variable is read (r). If a row does not
// exist, none of this has happened.
TEST(RowUpdatesTest, AllUpdatesOfAProgramAreUndoneTogether) {
  for (const std::string order : {"s", "ss", "ds", "sd", "sds", "srs", "dsr"}) {
    SCOPED_TRACE(order);
    Graph g;
    auto device = g.Device(kDeviceName);
    Variable v(g, {3}, Zeros(), {.name = "v"});
    const Output indices = Placeholder(g, kInt32, {2}, "indices"), rows = Placeholder(g, kFloat32, {2}, "rows");
    std::vector<Operation> nodes;
    std::vector<Fetch> fetches;
    float scattered = 0, added = 0;
    for (const char kind : order) {
      auto after = g.ControlDependencies(nodes);
      if (kind == 'd') {
        nodes.push_back(v.AssignAdd(Const(g, Tensor::Vector<float>({1, 1, 1}))));
        ++added;
      } else if (kind == 's') {
        nodes.push_back(NodeBuilder(g, "ResourceScatterAdd")
                            .Input(v.handle())
                            .Input(indices)
                            .Input(rows)
                            .Attr("dtype", kFloat32)
                            .Finish());
        ++scattered;
      } else {
        const Output twice = v.Read() * 2.0f;
        nodes.push_back(twice.op());
        fetches.emplace_back(twice);
      }
    }
    fetches.emplace_back(nodes.back());
    const Output value = v.value();
    const Operation init = GlobalVariablesInitializer(g);
    ASSERT_TRUE(g.status().ok()) << g.status();
    const auto session = Session::Create(g, kTwoDevices).value();
    ASSERT_TRUE(session->Run({init}).ok());
    const auto run = [&](int32_t row) {
      return session->Run(fetches,
                          {{indices, Tensor::Vector<int32_t>({0, row})}, {rows, Tensor::Vector<float>({5, 7})}});
    };
    const auto expect_one_step = [&] {
      const Tensor now = session->Run({value}).value()[0];
      EXPECT_EQ(now.data<float>()[0], 5 * scattered + added);
      EXPECT_EQ(now.data<float>()[1], added);
      EXPECT_EQ(now.data<float>()[2], 7 * scattered + added);
    };
    const auto updated = run(2);
    ASSERT_TRUE(updated.ok()) << updated.status();
    if (order == "srs") {
      EXPECT_EQ((*updated)[0].data<float>()[2], 14);
    }
    expect_one_step();
    const Status failed = run(3).status();
    EXPECT_TRUE(absl::IsInvalidArgument(failed)) << failed;
    expect_one_step();
  }
}

// 256 + 1 is 256 in bfloat16, however often 1 is added.
TEST(RowUpdatesTest, EachUpdateOfShortFloatsIsRoundedAsOnTheCpu) {
  Tensor value(kBfloat16, {1}), ones(kBfloat16, {4});
  value.mutable_data<Bfloat16>()[0] = Bfloat16(256.0f);
  for (Bfloat16& one : ones.mutable_data<Bfloat16>()) one = Bfloat16(1.0f);
  for (const char* device : {"/device:CPU:0", kDeviceName}) {
    OneUpdate u(device, "ResourceScatterAdd", value, {Tensor::Vector<int32_t>({0, 0, 0, 0}), ones});
    ASSERT_TRUE(u.Update().ok());
    EXPECT_EQ(static_cast<float>(u.Value().data<Bfloat16>()[0]), 256) << device;
  }
}

// Rows of a sparse tensor without dimensions have no coordinates, so their order is no error. A program with a check
// that has failed would not change its variables.
TEST(RowUpdatesTest, SparseTensorsWithoutDimensionsFailNoUpdate) {
  Graph g;
  auto device = g.Device(kDeviceName);
  const Output indices = Placeholder(g, kInt64);
  const Output dense = NodeBuilder(g, "SparseToDense")
                           .Input(indices)
                           .Input(Const(g, Tensor(kInt64, {0})))
                           .Input(Const(g, Tensor::Scalar(3.0f)))
                           .Input(Const(g, Tensor::Scalar(0.0f)))
                           .Output();
  Variable v(g, {2}, Zeros(), {.name = "v"});
  const Operation update = v.AssignAdd(Const(g, Tensor::Vector<float>({1, 2})) * dense);
  const Operation init = GlobalVariablesInitializer(g);
  ASSERT_TRUE(g.status().ok()) << g.status();
  const auto session = Session::Create(g, kTwoDevices).value();
  ASSERT_TRUE(session->Run({init}).ok());
  const Status updated = session->Run({update}, {{indices, Tensor(kInt64, {2, 0})}}).status();
  ASSERT_TRUE(updated.ok()) << updated;
  EXPECT_EQ(session->Run({v}).value()[0].data<float>()[1], 6);
}

}  // namespace
}  // namespace tensorbraid
