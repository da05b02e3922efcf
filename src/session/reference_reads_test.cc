// Tests that a read of a reference variable in a cluster sees the updates that it follows, whichever task reads.
#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "cluster/testing/test_cluster.h"
#include "core/text/strings.h"
#include "session/testing/loops.h"
#include "tensorbraid/tensorbraid.h"

namespace tensorbraid {
namespace {

constexpr const char* kFirstPs = "/job:ps/task:0";
constexpr const char* kOtherPs = "/job:ps/task:1";
constexpr const char* kReader = "/job:worker/task:0";

class ReferenceReadsTest : public ::testing::Test {
 protected:
  Output NewVariable(const std::string& name) {
    const auto device = g_.Device(kFirstPs);
    const Output v = NodeBuilder(g_, "VariableV2").Name(name).Attr("dtype", kFloat32).Attr("shape", Shape()).Output();
    inits_.emplace_back(NodeBuilder(g_, "Assign").Input(v).Input(Operand(0.0f).ToOutput(g_)).Finish());
    return v;
  }
  Output AssignAdd(Output v, float value = 1) {
    const auto device = g_.Device(kFirstPs);
    return NodeBuilder(g_, "AssignAdd").Input(v).Input(Operand(value).ToOutput(g_)).Output();
  }
  Output On(const char* where, const char* op, Output x) {
    const auto device = g_.Device(where);
    return NodeBuilder(g_, op).Input(x).Output();
  }
  Operation NoOp(const char* where) {
    const auto device = g_.Device(where);
    return NodeBuilder(g_, "NoOp").Finish();
  }
  // Initializes the variables, runs once, and returns the value that was fetched.
  float Run(const Output& fetch) {
    TB_CHECK_OK(g_.status());
    auto session = Session::Create(g_, {.target = cluster_.worker_target()});
    TB_CHECK_OK(session.status());
    TB_CHECK_OK((*session)->Run(inits_).status());
    const auto values = (*session)->Run({fetch});
    TB_CHECK_OK(values.status());
    return (*values)[0].scalar<float>();
  }

  TestCluster cluster_{2, 1};
  Graph g_;
  std::vector<Fetch> inits_;
};

TEST_F(ReferenceReadsTest, AReaderOnAnotherTaskSeesTheUpdateThatItFollows) {
  // A chain of updates and reads. Each update follows the read before it, so that the update cannot overtake that read.
  // `between` is the task of a NoOp between an update and its read, or "" if there is no NoOp.
  std::vector<Output> reads;
  const Output v = NewVariable("v");
  Output last = v;
  for (const char* between : {"", kFirstPs, kReader, kOtherPs}) {
    for (const char* reader : {kFirstPs, kReader, kOtherPs}) {
      for (const char* op : {"Identity", "Neg"}) {
        auto after_last = g_.ControlDependencies({last.op()});
        Operation update = AssignAdd(v).op();
        {
          auto scope = g_.ControlDependencies({update});
          if (*between != 0) update = NoOp(between);
        }
        auto scope = g_.ControlDependencies({update});
        last = On(kReader, "Abs", On(reader, op, v));
        reads.push_back(last);
      }
    }
  }
  for (size_t i = 0; i < reads.size(); ++i) EXPECT_EQ(Run(reads[i]), static_cast<float>(i + 1)) << i;
}

TEST_F(ReferenceReadsTest, TheReferenceThatAnUpdateReturnedIsReadAfterLaterUpdates) {
  const Output v = NewVariable("v"), first = AssignAdd(v);
  Output second;
  {
    auto scope = g_.ControlDependencies({first.op()});
    second = AssignAdd(v);
  }
  auto scope = g_.ControlDependencies({second.op()});
  EXPECT_EQ(Run(On(kReader, "Identity", first)), 2);
}

TEST_F(ReferenceReadsTest, OneReaderSeesTheOldValueAndAnotherTheNewOne) {
  const Output v = NewVariable("v"), before = On(kReader, "Neg", v);
  Output update, after;
  {
    auto scope = g_.ControlDependencies({before.op()});
    update = AssignAdd(v);
  }
  {
    auto scope = g_.ControlDependencies({update.op()});
    after = On(kReader, "Neg", v);
  }
  EXPECT_EQ(Run(before - after), 1);
}

TEST_F(ReferenceReadsTest, AReadBehindABranchThatIsNotTakenDoesNotHappen) {
  const Output v = NewVariable("v");
  const auto device = g_.Device(kReader);
  const auto sides =
      NodeBuilder(g_, "Switch").Input(Operand(5.0f).ToOutput(g_)).Input(Const(g_, Tensor::Scalar(false))).Finish();
  Output update, read;
  {
    auto scope = g_.ControlDependencies({On(kReader, "Identity", sides.output(1)).op()});
    update = AssignAdd(v);
    auto after = g_.ControlDependencies({update.op()});
    read = On(kReader, "Identity", v);
  }
  const auto merged = NodeBuilder(g_, "Merge").InputList({read, sides.output(0)}).Finish();
  EXPECT_EQ(Run(merged.output(0)), 5);
}

TEST_F(ReferenceReadsTest, AReaderBehindABarrierOfQueuesSeesWhatAnotherSessionWrote) {
  const Output v = NewVariable("v");
  const std::vector<DType> types = {kFloat32};
  const auto queue = [&](const char* name) {
    return NodeBuilder(g_, "FIFOQueueV2").Attr("component_types", types).Attr("shared_name", name).Output();
  };
  const auto enqueue = [&](Output to) {
    return NodeBuilder(g_, "QueueEnqueueV2").Input(to).InputList({Operand(0.0f).ToOutput(g_)}).Finish();
  };
  const auto dequeue = [&](Output from) {
    return NodeBuilder(g_, "QueueDequeueV2").Input(from).Attr("component_types", types).Output();
  };
  // The reader's session puts an element into the queue `begun` and, in the same run, waits for an element of `tokens`
  // before it reads v. The writer's session waits for the element of `begun`, then adds 7 to v, and then puts an
  // element into `tokens`. So the reader's run begins before the update, but must see it.
  Output read, update;
  Operation started, written;
  Output wait_for_start;
  {
    const auto device = g_.Device(kFirstPs);
    const Output begun = queue("begun"), tokens = queue("tokens");
    started = enqueue(begun);
    wait_for_start = dequeue(begun);
    update = AssignAdd(v, 7);
    {
      auto scope = g_.ControlDependencies({update.op()});
      written = enqueue(tokens);
    }
    auto scope = g_.ControlDependencies({dequeue(tokens).op()});
    read = On(kReader, "Identity", v);
  }
  TB_CHECK_OK(g_.status());
  auto reader = Session::Create(g_, {.target = cluster_.worker_target()});
  auto writer = Session::Create(g_, {.target = cluster_.worker_target()});
  TB_CHECK_OK((*reader)->Run(inits_).status());
  StatusOr<std::vector<Tensor>> values = Internal("did not run");
  std::thread reading([&] { values = (*reader)->Run({read, started}); });
  TB_CHECK_OK((*writer)->Run({wait_for_start}).status());
  TB_CHECK_OK((*writer)->Run({written}).status());
  reading.join();
  ASSERT_TRUE(values.ok()) << values.status();
  EXPECT_EQ((*values)[0].scalar<float>(), 7);
}

TEST_F(ReferenceReadsTest, ALoopReadsTheVariableInEachIteration) {
  // The loop is on the task of the variable or on another task. `entered` is the op that brings the variable into the
  // loop, as a reference (TensorFlow's Enter passes the variable's buffer on, too). If the loop is on another task,
  // Enter would read the variable once, before the loop, so that case is left out.
  for (const char* where : {kFirstPs, kReader}) {
    for (const char* entered : {"RefEnter", "Enter"}) {
      if (where == kReader && std::string(entered) == "Enter") continue;
      Graph g;
      std::swap(g, g_);
      inits_.clear();
      const Output v = NewVariable("v");
      const auto device = g_.Device(where);
      const Output in_loop = NodeBuilder(g_, entered)
                                 .Input(v)
                                 .Attr("frame_name", "loop")
                                 .Attr("is_constant", true)
                                 .Device(kFirstPs)
                                 .Output();
      const auto constant = [&](float x) { return EnterConstant(Operand(x).ToOutput(g_), "loop"); };
      const Output one = constant(1), four = constant(4);
      const Output updated_ref = entered == std::string("Enter") ? NodeBuilder(g_, "RefEnter")
                                                                       .Input(v)
                                                                       .Attr("frame_name", "loop")
                                                                       .Attr("is_constant", true)
                                                                       .Device(kFirstPs)
                                                                       .Output()
                                                                 : in_loop;
      const LoopVars sums = While(
          g_, "loop", {Operand(0.0f).ToOutput(g_), Operand(0.0f).ToOutput(g_)},
          [&](const LoopVars& vars) { return Less(vars[0], four); },
          [&](const LoopVars& vars) {
            Output update;
            {
              auto order = g_.ControlDependencies({vars[1].op()});
              update = NodeBuilder(g_, "AssignAdd").Input(updated_ref).Input(one).Device(kFirstPs).Output();
            }
            auto scope = g_.ControlDependencies({update.op()});
            const Output read = vars[1] + in_loop;
            return LoopVars{vars[0] + one, read};
          },
          /*parallel=*/1, where);
      EXPECT_EQ(Run(sums[1]), 10) << where << " " << entered;  // 1 + 2 + 3 + 4
    }
  }
}

TEST_F(ReferenceReadsTest, AFetchedReferenceIsReadAfterTheUpdatesOfTheStep) {
  const Output v = NewVariable("v");
  const Operation add = AssignAdd(v).op();
  auto session = Session::Create(g_, {.target = cluster_.worker_target()});
  ASSERT_TRUE(session.ok()) << session.status();
  ASSERT_TRUE((*session)->Run(inits_).ok());
  for (int i = 1; i <= 100; ++i) {
    const auto values = (*session)->Run({v, add});
    ASSERT_TRUE(values.ok()) << values.status();
    EXPECT_EQ((*values)[0].scalar<float>(), i);
  }
}

}  // namespace
}  // namespace tensorbraid
