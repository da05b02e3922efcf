#include "planner/simulation/network.h"

#include <gtest/gtest.h>

#include <vector>

namespace tensorbraid::planner {
namespace {

constexpr double kMb = 1e6;
constexpr double kMs = 1e6;  // in ns

class NetworkTest : public testing::Test {
 protected:
  // A task on a machine of its own.
  int AddTask(double mb_per_s) {
    return network_.AddTask(&cores_,
                            network_.AddLink({.out_bytes_per_s = mb_per_s * kMb, .in_bytes_per_s = mb_per_s * kMb}));
  }
  void Send(int from, int to, double mb) {
    network_.Send(from, to, mb * kMb, /*bulk=*/true, costs_, [this] { arrived_ms_.push_back(events_.now_ns() / kMs); });
  }
  const std::vector<double>& Arrived() {
    while (events_.RunNext()) {
    }
    return arrived_ms_;
  }
  EventQueue events_;
  SharedCores cores_{&events_, 64};
  Network network_{&events_};
  WayCosts costs_;
  std::vector<double> arrived_ms_;
};

TEST_F(NetworkTest, OneTransferTakesLatencyAndBytesOverBandwidth) {
  costs_.latency_ns = 2 * kMs;
  Send(AddTask(100), AddTask(100), 50);
  ASSERT_EQ(Arrived().size(), 1u);
  EXPECT_NEAR(arrived_ms_[0], 502, 1e-6);
}

TEST_F(NetworkTest, AThreadThatSleepsIsWokenOnlyIfACoreIsIdle) {
  costs_ = {.latency_ns = 0, .wake_ns = 0.02 * kMs};
  SharedCores full(&events_, 1);
  const int a = AddTask(0), b = AddTask(0), on_full = network_.AddTask(&full, network_.AddLink({}));
  const auto arrives_ms = [&](int to, double after_ms) {
    const double sent_ms = events_.now_ns() / kMs + after_ms;
    events_.After(after_ms * kMs, [this, a, to] { Send(a, to, 0); });
    return Arrived().back() - sent_ms;
  };
  EXPECT_NEAR(arrives_ms(b, 0), 0.02, 1e-9);
  EXPECT_NEAR(arrives_ms(b, 0.05), 0, 1e-9) << "it polls for 0.1 ms";
  EXPECT_NEAR(arrives_ms(b, 0.2), 0.02, 1e-9);
  full.Run(5 * kMs, 1, [] {});
  EXPECT_NEAR(arrives_ms(on_full, 0.2), 0, 1e-9) << "it takes its turn on the busy core";
}

TEST_F(NetworkTest, TheSlowerLinkBoundsATransfer) {
  Send(AddTask(100), AddTask(25), 50);
  EXPECT_NEAR(Arrived().at(0), 2000, 1e-6);
}

TEST_F(NetworkTest, SeveralSendersShareTheLinkOfTheReceiver) {
  const int receiver = AddTask(100);
  for (int i = 0; i < 4; ++i) Send(AddTask(100), receiver, 10);
  ASSERT_EQ(Arrived().size(), 4u);
  EXPECT_NEAR(arrived_ms_.back(), 400, 1e-6);
  EXPECT_GT(arrived_ms_.front(), 350) << "the transfers take turns, so all end late";
}

TEST_F(NetworkTest, ShortMessagesOfSeveralConnectionsTakeTurns) {
  const int sender = AddTask(12.5);  // 12.5 kB in a millisecond
  const auto send = [&](int to, double bytes) {
    network_.Send(sender, to, bytes, /*bulk=*/false, costs_, [this] { arrived_ms_.push_back(events_.now_ns() / kMs); });
  };
  for (int i = 0; i < 4; ++i) {
    const int receiver = AddTask(12.5);
    send(receiver, 50e3);
    send(receiver, 0);  // does not overtake the message before it
  }
  ASSERT_EQ(Arrived().size(), 8u);
  EXPECT_NEAR(arrived_ms_.back(), 16, 1e-6);
  EXPECT_GT(arrived_ms_.front(), 9) << "the halves of the messages take turns";
}

TEST_F(NetworkTest, ABucketPassesItsBytesAtOnceAndFillsAgainInAPause) {
  const LinkSpeed speed = {.out_bytes_per_s = 100 * kMb, .in_bytes_per_s = 100 * kMb, .burst_bytes = 1 * kMb};
  const int a = network_.AddTask(&cores_, network_.AddLink(speed));
  const int b = network_.AddTask(&cores_, network_.AddLink(speed));
  for (int i = 0; i < 2; ++i)
    network_.Send(a, b, 1 * kMb, /*bulk=*/false, costs_, [this] { arrived_ms_.push_back(events_.now_ns() / kMs); });
  events_.At(100 * kMs, [&] {
    network_.Send(a, b, 3 * kMb, /*bulk=*/false, costs_, [this] { arrived_ms_.push_back(events_.now_ns() / kMs); });
  });
  ASSERT_EQ(Arrived().size(), 3u);
  EXPECT_NEAR(arrived_ms_[0], 0, 1e-6);
  EXPECT_NEAR(arrived_ms_[1], 10, 1e-6);
  EXPECT_NEAR(arrived_ms_[2], 120, 1e-6) << "the bucket has filled, but never holds more than its size";
}

TEST_F(NetworkTest, BothDirectionsOfALinkAreIndependent) {
  const int a = AddTask(100), b = AddTask(100);
  Send(a, b, 10);
  Send(b, a, 10);
  EXPECT_NEAR(Arrived().at(1), 100, 1e-6);
}

TEST_F(NetworkTest, TheCostsOfTheTasksOverlapWithTheLink) {
  costs_.message_ns = 1 * kMs;
  costs_.send_byte_ns = costs_.receive_byte_ns = 1;  // 1 ms per MB, against 10 ms on the link
  Send(AddTask(100), AddTask(100), 64 * 1.048576);
  // The first part of 1 MiB is handled before the link is busy, and the last one afterwards; the link has 64 parts.
  EXPECT_NEAR(Arrived().at(0), 1 + 1.048576 + 64 * 10.48576 + 1.048576, 1e-6);
}

TEST_F(NetworkTest, SharedMemoryCostsAMessageOnly) {
  costs_ = {.latency_ns = 3, .message_ns = 5, .send_byte_ns = 1, .receive_byte_ns = 1, .shares_memory = true};
  const int link = network_.AddLink({.out_bytes_per_s = 1, .in_bytes_per_s = 1});
  Send(network_.AddTask(&cores_, link), network_.AddTask(&cores_, link), 100);
  EXPECT_NEAR(Arrived().at(0) * kMs, 13, 1e-6);
}

TEST_F(NetworkTest, MessagesOfOneMachineShareItsLoopback) {
  const int link = network_.AddLink({.loopback_bytes_per_s = 100 * kMb});
  const int a = network_.AddTask(&cores_, link), b = network_.AddTask(&cores_, link);
  Send(a, b, 10);
  Send(b, a, 10);
  EXPECT_NEAR(Arrived().at(1), 200, 1e-6);
}

TEST_F(NetworkTest, SmallMessagesDoNotWaitForTheThreadOfBulkMessages) {
  costs_.send_byte_ns = 100;
  const int a = AddTask(0), b = AddTask(0);
  Send(a, b, 10);
  double small_ms = 0;
  network_.Send(a, b, 1000, /*bulk=*/false, costs_, [&] { small_ms = events_.now_ns() / kMs; });
  EXPECT_NEAR(Arrived().at(0), 1000, 1e-6);
  EXPECT_NEAR(small_ms, 0.1, 1e-6);
}

TEST_F(NetworkTest, WhatFollowsAMessageDelaysTheNextOneOnly) {
  costs_ = {.message_ns = 1 * kMs, .server_after_ns = 10 * kMs, .worker_after_ns = 4 * kMs};
  const int link = network_.AddLink({});
  const int server = network_.AddTask(&cores_, link, /*is_server=*/true), worker = network_.AddTask(&cores_, link);
  for (int i = 0; i < 2; ++i) {
    network_.Send(worker, server, 0, /*bulk=*/false, costs_, [this] { arrived_ms_.push_back(events_.now_ns() / kMs); });
  }
  ASSERT_EQ(Arrived().size(), 2u);
  EXPECT_NEAR(arrived_ms_[0], 2, 1e-6);
  EXPECT_NEAR(arrived_ms_[1], 1 + 1 + 10 + 1, 1e-6) << "the server's thread is the slower one";
}

}  // namespace
}  // namespace tensorbraid::planner
