// Tests the guarantees of transport.h on all transports.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "transport/grpc/grpc_transport.h"
#include "transport/inproc/inproc_transport.h"
#include "transport/local/local_kind.h"
#include "transport/side_lane/side_lane_transport.h"
#include "transport/sim/sim_network.h"
#include "transport/transport_test_util.h"
#include "transport/ucx/ucx_kind.h"

namespace tensorbraid {
namespace {

using ::testing::HasSubstr;

// A kind of transport to test.
struct Kind {
  std::string name;
  bool channels_overlap = true;  // the handler may run for both channels at the same time
  bool large_in_parts = true;    // a large payload arrives in parts
  bool side_lane = false;        // links switch to a side lane
  // Returns a function that makes transports. Those that the same function has made can reach each other.
  std::function<std::function<std::unique_ptr<Transport>()>()> make;
};
void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.name; }

Kind Inproc() {
  return {.name = "inproc", .make = [] {
            auto network = std::make_shared<InprocNetwork>();
            return [network] { return NewInprocTransport(network, {.bulk_part_bytes = 1 << 20}); };
          }};
}

[[maybe_unused]] Kind Grpc() {
  return {.name = "grpc", .make = [] { return [] { return NewGrpcTransport(); }; }};
}

// Adds local lanes to the links of `base`. Their rings are small, so that the rings fill up.
Kind LocalOver(Kind base) {
  const auto make = base.make;
  base.name = "local_over_" + base.name;
  base.channels_overlap = base.large_in_parts = false;
  base.side_lane = true;
  base.make = [make]() -> std::function<std::unique_ptr<Transport>()> {
    return [new_base = make()] {
      return NewSideLaneTransport(new_base(), {NewLocalKind({.ring_bytes = 8 << 10, .inline_bytes = 1 << 10})});
    };
  };
  return base;
}

// Adds lanes through UCX to the links of `base`.
[[maybe_unused]] Kind UcxOver(Kind base) {
  const auto make = base.make;
  base.name = "ucx_over_" + base.name;
  base.channels_overlap = base.large_in_parts = false;
  base.side_lane = true;
  base.make = [make]() -> std::function<std::unique_ptr<Transport>()> {
    static const auto& context = *new auto(UcxContext::Create(/*loopback_only=*/true).value());
    return [new_base = make()] { return NewSideLaneTransport(new_base(), {NewUcxKind(context)}); };
  };
  return base;
}

// A network that prints how to repeat the test if it fails.
struct ReportedSim {
  const uint32_t seed = TestSeed();
  SeedReport report{seed};
  SimNetwork network{seed};
};

Kind Sim() {
  return {.name = "sim", .channels_overlap = false, .make = [] {
            auto sim = std::make_shared<ReportedSim>();
            return [sim] { return sim->network.NewTransport(); };
          }};
}

class ConformanceTest : public ::testing::TestWithParam<Kind> {
 protected:
  // A task: its handler, its transport and the port it listens on.
  struct Task {
    std::string name;
    std::unique_ptr<Recorder> handler;
    std::unique_ptr<Transport> transport;
    int port = 0;
    std::string address() const { return StrCat("localhost:", port); }
  };

  Task Make(const std::string& name) { return {name, std::make_unique<Recorder>(name), new_transport_()}; }
  void Listen(Task& task, int port = 0) {
    auto got = task.transport->Listen(StrCat("localhost:", port), task.handler.get());
    ASSERT_TRUE(got.ok()) << got.status();
    task.port = *got;
  }
  Task Start(const std::string& name) {
    Task task = Make(name);
    Listen(task);
    return task;
  }
  std::shared_ptr<Link> Connect(Task& from, const Task& to) {
    auto link = ConnectAndWait(*from.transport, to.address(), HelloFrom(from.name, to.name));
    EXPECT_TRUE(link.ok()) << link.status();
    return link.ok() ? *link : nullptr;
  }

  std::function<std::unique_ptr<Transport>()> new_transport_ = GetParam().make();
};

TEST_P(ConformanceTest, HelloIdentifiesEachSideToTheOther) {
  Task a = Start("a"), b = Make("b");
  b.handler->on_hello = [](const Hello& from, Hello* answer) {
    EXPECT_EQ(from.task, "a");
    EXPECT_EQ(from.expected_task, "b");
    EXPECT_EQ(from.incarnation, 42u);
    EXPECT_EQ(from.address, "localhost:1");
    EXPECT_EQ(from.protocol_version, Hello::kProtocolVersion);
    answer->address = "localhost:2";
    return OkStatus();
  };
  Listen(b);
  auto link = Connect(a, b);
  ASSERT_NE(link, nullptr);
  EXPECT_EQ(link->peer().task, "b");
  EXPECT_EQ(link->peer().incarnation, 77u);
  EXPECT_EQ(link->peer().address, "localhost:2");
  EXPECT_EQ(a.handler->ups(), 1u);  // before Connect was done
  EXPECT_EQ(a.handler->WaitForLink(), link);
  EXPECT_EQ(b.handler->WaitForLink()->peer().task, "a");
}

TEST_P(ConformanceTest, RefusalReachesTheCallerWithCodeAndText) {
  Task a = Start("a"), b = Make("b");
  b.handler->on_hello = [](const Hello&, Hello*) {
    return absl::FailedPreconditionError("expected /job:ps/task:1, this is /job:ps/task:0");
  };
  Listen(b);
  auto link = ConnectAndWait(*a.transport, b.address(), HelloFrom("a"));
  EXPECT_EQ(link.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(link.status().message(), HasSubstr("expected /job:ps/task:1, this is /job:ps/task:0"));
  EXPECT_EQ(a.handler->ups(), 0u);
  EXPECT_EQ(b.handler->ups(), 0u);
}

TEST_P(ConformanceTest, ConnectToAStoppedTaskIsUnavailable) {
  Task a = Start("a");
  Task gone = Start("gone");
  gone.transport->Shutdown();
  auto link = ConnectAndWait(*a.transport, gone.address(), HelloFrom("a"));
  EXPECT_EQ(link.status().code(), absl::StatusCode::kUnavailable) << link.status();
  EXPECT_THAT(link.status().message(), HasSubstr(gone.address()));
}

TEST_P(ConformanceTest, TakenPortAndBadAddressAreRefused) {
  Task a = Start("a"), b = Make("b");
  EXPECT_EQ(b.transport->Listen(a.address(), b.handler.get()).status().code(), absl::StatusCode::kAlreadyExists);
  Task c = Make("c");
  EXPECT_EQ(c.transport->Listen("localhost", c.handler.get()).status().code(), absl::StatusCode::kInvalidArgument);
  Task d = Make("d");
  EXPECT_EQ(d.transport->Listen("localhost:99999", d.handler.get()).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_P(ConformanceTest, ControlMessagesArriveCompleteOnceAndInOrder) {
  constexpr uint64_t kCount = 5000;
  Task a = Start("a"), b = Start("b");
  auto link = Connect(a, b);
  for (uint64_t i = 0; i < kCount; ++i) {
    if (i % 3 == 0) {
      link->Send(RunGraph{{7, i}, {7, 1}, i});
    } else if (i % 3 == 1) {
      link->Send(MakeEager(static_cast<uint32_t>(i), Pattern(i % 300, i)));
    } else {
      link->Send(Reply{i, absl::AbortedError("gone"), std::string(i % 50, 'x')});
    }
  }
  const auto got = b.handler->WaitForControl(kCount);
  ASSERT_EQ(got.size(), kCount);
  for (uint64_t i = 0; i < kCount; ++i) {
    if (i % 3 == 0) {
      ASSERT_EQ(std::get<RunGraph>(got[i].message).step.counter, i);
    } else if (i % 3 == 1) {
      ASSERT_EQ(std::get<EagerTensor>(got[i].message).key.edge, i);
      ASSERT_EQ(got[i].bytes, Pattern(i % 300, i));
    } else {
      ASSERT_EQ(std::get<Reply>(got[i].message).request, i);
      ASSERT_EQ(std::get<Reply>(got[i].message).status, absl::AbortedError("gone"));
    }
  }
}

TEST_P(ConformanceTest, TensorsOfAllSizesArriveWhole) {
  Task a = Start("a"), b = Start("b");
  auto link = Connect(b, a);  // the side that accepted sends
  auto back = a.handler->WaitForLink();
  if (GetParam().side_lane) AwaitSideLane(*link, *back, *b.handler);
  const std::vector<size_t> sizes = {0, 1, 4095, 4096, 1 << 20, (1 << 20) + 1, 64 << 20, 0, 5};
  for (size_t i = 0; i < sizes.size(); ++i) back->Send(MakeBulk(i, Pattern(sizes[i], i)));
  const auto got = b.handler->WaitForBulk(sizes.size());
  for (size_t i = 0; i < sizes.size(); ++i) {
    EXPECT_TRUE(got[i] == Pattern(sizes[i], i)) << "tensor " << i << " of " << sizes[i] << " bytes";
  }
  if (GetParam().large_in_parts) {
    EXPECT_GT(b.handler->bulk_parts(), sizes.size());
  } else {
    EXPECT_EQ(b.handler->bulk_parts(), sizes.size());
  }
}

// Both ends send while a link that can have a side lane switches to the lane.
TEST_P(ConformanceTest, BothEndsOfANewLinkSendAtOnce) {
  constexpr uint32_t kCount = 300;
  const auto send = [](const std::shared_ptr<Link>& link) {
    for (uint32_t i = 0; i < kCount; ++i) {
      link->Send(MakeEager(i, Pattern(i * 7 % 3000, i)));
      link->Send(MakeBulk(i, Pattern(i * 977 % 100'000, i)));
    }
  };
  Task a = Make("a"), b = Make("b");
  a.handler->on_up = b.handler->on_up = send;
  Listen(a);
  Listen(b);
  Connect(a, b);
  for (Task* task : {&a, &b}) {
    const auto control = task->handler->WaitForControl(kCount);
    const auto bulk = task->handler->WaitForBulk(kCount);
    ASSERT_EQ(control.size(), kCount);
    for (uint32_t i = 0; i < kCount; ++i) {
      ASSERT_EQ(std::get<EagerTensor>(control[i].message).key.edge, i);
      ASSERT_EQ(control[i].bytes, Pattern(i * 7 % 3000, i));
      ASSERT_TRUE(bulk[i] == Pattern(i * 977 % 100'000, i)) << i;
    }
  }
}

TEST_P(ConformanceTest, LargeAndEmptyEagerTensorsArriveWhole) {
  Task a = Start("a"), b = Start("b");
  auto link = Connect(a, b);
  const std::vector<size_t> sizes = {0, 3, 4096, 65536, 3 << 20};
  for (size_t i = 0; i < sizes.size(); ++i) link->Send(MakeEager(i, Pattern(sizes[i], i)));
  EagerTensor dead{{{1, 2}, 9, 3, 4}, {.shape = {}, .dead = true}, {}};
  link->Send(dead);
  const auto got = b.handler->WaitForControl(sizes.size() + 1);
  ASSERT_EQ(got.size(), sizes.size() + 1);
  for (size_t i = 0; i < sizes.size(); ++i) EXPECT_TRUE(got[i].bytes == Pattern(sizes[i], i)) << sizes[i];
  const auto& last = std::get<EagerTensor>(got.back().message);
  EXPECT_TRUE(last.meta.dead);
  EXPECT_EQ(last.key, dead.key);
}

// The handler blocks in a bulk part until a control message arrives that was sent after it.
TEST_P(ConformanceTest, ControlDoesNotWaitBehindBulk) {
  if (!GetParam().channels_overlap) GTEST_SKIP() << "one thread delivers both channels";
  Mutex mu;
  CondVar cv;
  bool heartbeat = false, waited = false;
  Task a = Start("a"), b = Make("b");
  b.handler->on_message = [&](const std::shared_ptr<Link>&, const Message& m) {
    MutexLock lock(mu);
    if (std::holds_alternative<Heartbeat>(m)) {
      heartbeat = true;
      cv.NotifyAll();
    } else if (!std::exchange(waited, true)) {
      EXPECT_TRUE(cv.WaitFor(mu, kTestPatience, [&] { return heartbeat; }));
    }
  };
  Listen(b);
  auto link = Connect(a, b);
  link->Send(MakeBulk(1, Pattern(32 << 20, 1)));
  link->Send(Heartbeat{});
  EXPECT_TRUE(b.handler->WaitForBulk(1)[0] == Pattern(32 << 20, 1));
  EXPECT_TRUE(waited);
}

TEST_P(ConformanceTest, PayloadIsReleasedOnceSent) {
  std::atomic<int> alive{0};
  Task a = Start("a"), b = Start("b");
  auto link = Connect(a, b);
  for (int i = 0; i < 20; ++i) {
    link->Send(MakeBulk(i, Pattern(300000 * (i % 5), i), &alive));
    link->Send(MakeEager(i, Pattern(3000 * (i % 5), i), &alive));
  }
  b.handler->WaitForBulk(20);
  b.handler->WaitForControl(20);
  a.transport->Shutdown();
  b.transport->Shutdown();
  EXPECT_EQ(alive, 0);
}

TEST_P(ConformanceTest, PayloadIsReleasedWhenTheLinkDiesInTheMiddle) {
  std::atomic<int> alive{0};
  Task a = Start("a"), b = Start("b");
  auto link = Connect(a, b);
  for (int i = 0; i < 5; ++i) link->Send(MakeBulk(i, Pattern(8 << 20, i), &alive));
  link->Close(Aborted("enough"));
  link->Send(MakeBulk(9, Pattern(100, 9), &alive));
  link->Send(MakeEager(9, Pattern(100, 9), &alive));
  EXPECT_FALSE(a.handler->WaitForDown().ok());
  EXPECT_FALSE(b.handler->WaitForDown().ok());
  a.transport->Shutdown();
  b.transport->Shutdown();
  EXPECT_EQ(alive, 0);
}

TEST_P(ConformanceTest, CloseFlushesControlAndBringsBothSidesDownOnce) {
  Task a = Start("a"), b = Start("b");
  auto link = Connect(a, b);
  for (uint64_t i = 0; i < 100; ++i) link->Send(EndStep{{1, i}});
  link->Send(Leave{OkStatus()});
  link->Close(Cancelled("done here"));
  link->Close(Internal("a second reason, which is ignored"));
  EXPECT_EQ(a.handler->WaitForDown(), absl::CancelledError("done here"));
  const Status why = b.handler->WaitForDown();
  EXPECT_EQ(why.code(), absl::StatusCode::kUnavailable) << why;
  EXPECT_THAT(why.message(), HasSubstr("a"));
  const auto got = b.handler->WaitForControl(101);
  ASSERT_EQ(got.size(), 101u);
  EXPECT_TRUE(std::holds_alternative<Leave>(got.back().message));
  link->Send(Heartbeat{});
  a.transport->Shutdown();
  b.transport->Shutdown();
  EXPECT_EQ(a.handler->downs(), 1u);
  EXPECT_EQ(b.handler->downs(), 1u);
}

// A task says in its last message that it leaves. If that message did not arrive, the other task would report it as
// lost.
TEST_P(ConformanceTest, WhatIsSentBeforeCloseArrivesAlsoWhileThePeerSends) {
  constexpr uint64_t kRounds = 20, kLast = 20;
  Task a = Start("a"), b = Start("b");
  for (uint64_t round = 1; round <= kRounds; ++round) {
    const auto connected = Connect(a, b), accepted = b.handler->WaitForLink(round);
    ASSERT_NE(connected, nullptr);
    const bool accepted_closes = round % 2 == 0;
    Link& closes = accepted_closes ? *accepted : *connected;
    Link& sends = accepted_closes ? *connected : *accepted;
    std::atomic<bool> stop{false};
    std::thread traffic([&] {
      for (uint32_t i = 0; !stop; ++i) {
        sends.Send(MakeEager(i, Pattern(i % 2000, i)));
        if (i % 16 == 0) std::this_thread::yield();
      }
    });
    for (uint64_t i = 0; i < kLast; ++i) closes.Send(Reply{round * kLast + i, OkStatus(), ""});
    closes.Close(Cancelled("left"));
    Recorder& receiver = accepted_closes ? *a.handler : *b.handler;
    EXPECT_FALSE(receiver.WaitForDown(round).ok());
    stop = true;
    traffic.join();
    uint64_t arrived = 0;
    for (const Received& r : receiver.WaitForControl(0)) {
      const auto* const reply = std::get_if<Reply>(&r.message);
      if (reply != nullptr && reply->request / kLast == round) ++arrived;
    }
    ASSERT_EQ(arrived, kLast) << "in round " << round;
  }
}

TEST_P(ConformanceTest, ATaskThatSendsAndClosesAtOnceIsHeard) {
  for (const bool accepting_closes : {false, true}) {
    for (int round = 0; round < 10; ++round) {
      Task a = Make("a"), b = Make("b");
      Recorder& closing = accepting_closes ? *b.handler : *a.handler;
      Recorder& hearing = accepting_closes ? *a.handler : *b.handler;
      closing.on_up = [](const std::shared_ptr<Link>& link) {
        link->Send(Heartbeat{});
        link->Send(Leave{OkStatus()});
        link->Close(Cancelled("left"));
      };
      Listen(a);
      Listen(b);
      // Connect fails if the link has closed first.
      ConnectAndWait(*a.transport, b.address(), HelloFrom("a")).status().IgnoreError();
      EXPECT_FALSE(hearing.WaitForDown().ok());
      EXPECT_FALSE(closing.WaitForDown().ok());
      EXPECT_EQ(hearing.ups(), 1u);
      EXPECT_EQ(hearing.control_messages(), 2u) << "accepting_closes: " << accepting_closes << ", round " << round;
    }
  }
}

TEST_P(ConformanceTest, BothSidesMayCloseAtOnce) {
  Task a = Start("a"), b = Start("b");
  for (size_t round = 1; round <= 20; ++round) {
    auto link = Connect(a, b);
    auto back = b.handler->WaitForLink(round);
    std::thread other([&] { back->Close(Cancelled("b")); });
    link->Close(Cancelled("a"));
    other.join();
    EXPECT_FALSE(a.handler->WaitForDown(round).ok());
    EXPECT_FALSE(b.handler->WaitForDown(round).ok());
  }
  EXPECT_EQ(a.handler->downs(), 20u);
  EXPECT_EQ(b.handler->downs(), 20u);
}

TEST_P(ConformanceTest, MessagesSentFromOnLinkUpArriveAfterTheOthersOnLinkUp) {
  Task a = Make("a"), b = Make("b");
  const auto greet = [](const std::shared_ptr<Link>& link) {
    link->Send(Heartbeat{});
    link->Send(MakeBulk(1, "hello"));
  };
  a.handler->on_up = b.handler->on_up = greet;
  const auto check = [](Recorder* self) {
    return [self](const std::shared_ptr<Link>&, const Message&) { EXPECT_EQ(self->ups(), 1u); };
  };
  a.handler->on_message = check(a.handler.get());
  b.handler->on_message = check(b.handler.get());
  Listen(a);
  Listen(b);
  auto link = Connect(a, b);
  for (Task* task : {&a, &b}) {
    task->handler->WaitForControl(1);
    EXPECT_EQ(task->handler->WaitForBulk(1)[0], "hello");
  }
}

TEST_P(ConformanceTest, AShutdownDuringTrafficMakesThePeerUnavailable) {
  Task a = Start("a"), b = Start("b");
  auto link = Connect(a, b);
  std::atomic<bool> stop{false};
  std::thread traffic([&] {
    for (uint32_t i = 0; !stop; ++i) {
      link->Send(MakeEager(i, "some bytes"));
      if (i % 1000 == 0) link->Send(MakeBulk(i, Pattern(1 << 20, i)));
    }
  });
  b.handler->WaitForControl(10);
  b.transport->Shutdown();
  EXPECT_EQ(b.handler->downs(), 1u);  // before Shutdown returned
  const Status why = a.handler->WaitForDown();
  stop = true;
  traffic.join();
  EXPECT_EQ(why.code(), absl::StatusCode::kUnavailable) << why;
  EXPECT_THAT(why.message(), HasSubstr("b"));
  link->Send(Heartbeat{});
}

TEST_P(ConformanceTest, RestartOnTheSamePortIsANewIncarnation) {
  Task a = Start("a"), b = Start("b");
  auto link = Connect(a, b);
  const int port = b.port;
  b.transport->Shutdown();
  EXPECT_FALSE(a.handler->WaitForDown().ok());
  Task again = Make("b");
  again.handler->on_hello = [](const Hello&, Hello* answer) {
    answer->incarnation = 78;
    return OkStatus();
  };
  Listen(again, port);
  auto second = Connect(a, again);
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(second->peer().incarnation, 78u);
  second->Send(Heartbeat{});
  again.handler->WaitForControl(1);
  link->Send(Heartbeat{});  // sending on the old link is harmless
  EXPECT_EQ(a.handler->downs(), 1u);
}

TEST_P(ConformanceTest, ConcurrentSendersKeepTheirOwnOrder) {
  constexpr uint32_t kSenders = 4, kEach = 1000;
  Task a = Start("a"), b = Start("b");
  auto link = Connect(a, b);
  std::vector<std::thread> senders;
  for (uint32_t s = 0; s < kSenders; ++s) {
    senders.emplace_back([&, s] {
      for (uint32_t i = 0; i < kEach; ++i) {
        link->Send(RunGraph{{s, i}, {}, 0});
        if (i % 100 == 0) link->Send(MakeBulk(s * kEach + i, Pattern(10000, s)));
      }
    });
  }
  for (auto& t : senders) t.join();
  const auto got = b.handler->WaitForControl(kSenders * kEach);
  std::vector<uint64_t> next(kSenders, 0);
  for (const Received& r : got) {
    const StepId step = std::get<RunGraph>(r.message).step;
    EXPECT_EQ(step.counter, next[step.master]++);
  }
  EXPECT_EQ(b.handler->WaitForBulk(kSenders * 10).size(), kSenders * 10);
}

TEST_P(ConformanceTest, ATaskMayCallItself) {
  Task a = Start("a");
  auto link = Connect(a, a);
  ASSERT_NE(link, nullptr);
  link->Send(Heartbeat{});
  link->Send(MakeBulk(1, Pattern(100000, 1)));
  a.handler->WaitForControl(1);
  EXPECT_EQ(a.handler->WaitForBulk(1)[0], Pattern(100000, 1));
}

TEST_P(ConformanceTest, ShutdownAnswersPendingConnects) {
  Task a = Start("a");
  std::atomic<int> answers{0};
  for (int i = 0; i < 10; ++i) {
    a.transport->Connect(i % 2 == 0 ? a.address() : "localhost:1", HelloFrom("a"), std::chrono::seconds(20),
                         [&](StatusOr<std::shared_ptr<Link>>) { ++answers; });
  }
  a.transport->Shutdown();
  EXPECT_EQ(answers, 10);
  EXPECT_EQ(a.handler->ups(), a.handler->downs());
}

std::vector<Kind> Kinds() {
#ifdef TENSORBRAID_TSAN
  return {Inproc(), Sim(),
          LocalOver(Inproc())};  // gRPC is not built with ThreadSanitizer, which would report false races in it
#else
  std::vector<Kind> kinds = {Inproc(), Sim(), Grpc(), LocalOver(Inproc()), LocalOver(Grpc())};
#ifndef TENSORBRAID_ASAN  // UCX replaces functions that AddressSanitizer replaces too
  kinds.push_back(UcxOver(Inproc()));
  kinds.push_back(UcxOver(Grpc()));
#endif
  return kinds;
#endif
}

INSTANTIATE_TEST_SUITE_P(, ConformanceTest, ::testing::ValuesIn(Kinds()), [](const auto& p) { return p.param.name; });

}  // namespace
}  // namespace tensorbraid
