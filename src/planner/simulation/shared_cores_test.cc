#include "planner/simulation/shared_cores.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace tensorbraid::planner {
namespace {

class SharedCoresTest : public testing::Test {
 protected:
  void Run(SharedCores& cores, const std::string& name, double ns, double threads = 1) {
    cores.Run(ns, threads, [this, name] { ended_[name] = events_.now_ns(); });
  }
  std::map<std::string, double> Ended() {
    while (events_.RunNext()) {
    }
    return ended_;
  }
  EventQueue events_;
  std::map<std::string, double> ended_;
};

TEST_F(SharedCoresTest, JobsOnIdleCoresTakeTheirOwnTime) {
  SharedCores cores(&events_, 2);
  Run(cores, "a", 100);
  Run(cores, "b", 30);
  EXPECT_EQ(Ended(), (std::map<std::string, double>{{"a", 100}, {"b", 30}}));
  EXPECT_DOUBLE_EQ(cores.busy_ns(), 130);
}

TEST_F(SharedCoresTest, ThreeJobsShareTwoCores) {
  SharedCores cores(&events_, 2);
  Run(cores, "a", 100);
  Run(cores, "b", 100);
  Run(cores, "c", 40);
  // Each gets 2/3 of a core. At 60 c has ended and a and b have 60 left, and a core each.
  const auto ended = Ended();
  EXPECT_DOUBLE_EQ(ended.at("c"), 60);
  EXPECT_DOUBLE_EQ(ended.at("a"), 120);
  EXPECT_DOUBLE_EQ(ended.at("b"), 120);
}

TEST_F(SharedCoresTest, AJobOfSeveralThreadsGetsSeveralShares) {
  SharedCores cores(&events_, 2);
  Run(cores, "wide", 100, 2);
  Run(cores, "narrow", 20);
  // Three threads on two cores until the narrow job ends at 30; the wide one has 80 left.
  const auto ended = Ended();
  EXPECT_DOUBLE_EQ(ended.at("narrow"), 30);
  EXPECT_DOUBLE_EQ(ended.at("wide"), 110);
}

TEST_F(SharedCoresTest, AJobThatComesLaterSlowsTheRunningOneDown) {
  SharedCores cores(&events_, 1);
  Run(cores, "first", 100);
  events_.At(50, [&] { Run(cores, "second", 10); });
  const auto ended = Ended();
  EXPECT_DOUBLE_EQ(ended.at("second"), 70);
  EXPECT_DOUBLE_EQ(ended.at("first"), 110);
}

TEST_F(SharedCoresTest, SerialJobsRunInTheirOrder) {
  SharedCores cores(&events_, 4);
  SerialJobs jobs(&events_, &cores);
  jobs.Run(50, 1, [this] { ended_["a"] = events_.now_ns(); });
  jobs.Run(10, 1, [this] { ended_["b"] = events_.now_ns(); });
  EXPECT_EQ(Ended(), (std::map<std::string, double>{{"a", 50}, {"b", 60}}));
  EXPECT_DOUBLE_EQ(jobs.busy_ns(), 60);
}

}  // namespace
}  // namespace tensorbraid::planner
