// Compares small random graphs on an accelerator with the same graphs on the CPU: each fetch of each step, and the
// variables. The environment variable TENSORBRAID_ACCELERATOR_PLUGIN names the plugin.
//
// TENSORBRAID_RANDOM_GRAPHS is the number of graphs (100), TENSORBRAID_RANDOM_SEED the seed of the first one (1); the
// next ones have the next seeds. A failure prints the seed and the smallest graph that still fails; if the process is
// ended, it prints the seed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/text/strings.h"
#include "executor/clusters/host_substitute.h"
#include "random_graph.h"
#include "tensorbraid/session/session.h"

namespace tensorbraid {
namespace {

uint64_t NumberFromEnvironment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

std::vector<double> Doubles(const Tensor& t) {
  std::vector<double> values;
  const auto add = [&](auto element) {
    using T = decltype(element);
    for (const T& x : t.data<T>()) {
      if constexpr (std::is_class_v<T>) {
        values.push_back(static_cast<float>(x));
      } else {
        values.push_back(static_cast<double>(x));
      }
    }
  };
  switch (t.dtype()) {
    case DType::kFloat32:
      add(float());
      break;
    case DType::kFloat64:
      add(double());
      break;
    case DType::kFloat16:
      add(Float16());
      break;
    default:
      add(Bfloat16());
  }
  return values;
}

bool SameBits(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && std::memcmp(a.raw_data(), b.raw_data(), a.num_bytes()) == 0;
}

// "" if the tensors are equal: bit for bit, or up to the rounding of a few ops if they have floats.
std::string Difference(const Tensor& actual, const Tensor& expected) {
  if (actual.dtype() != expected.dtype() || !(actual.shape() == expected.shape())) {
    return StrCat(DTypeName(actual.dtype()), actual.shape().ToString(), " instead of ", DTypeName(expected.dtype()),
                  expected.shape().ToString());
  }
  if (!IsFloating(actual.dtype())) return SameBits(actual, expected) ? "" : "other integers";
  double tolerance = 1e-4;
  if (actual.dtype() == kFloat64) tolerance = 1e-11;
  if (actual.dtype() == kFloat16) tolerance = 2e-2;
  if (actual.dtype() == kBfloat16) tolerance = 1e-1;
  const std::vector<double> a = Doubles(actual), e = Doubles(expected);
  double largest = 1;
  for (const double x : e) {
    if (std::isfinite(x)) largest = std::max(largest, std::abs(x));
  }
  for (size_t i = 0; i < a.size(); ++i) {
    const bool same = std::isnan(e[i])   ? std::isnan(a[i])
                      : std::isinf(e[i]) ? a[i] == e[i]
                                         : std::abs(a[i] - e[i]) <= tolerance * largest;
    if (!same) return StrCat("element ", i, " is ", a[i], " instead of ", e[i]);
  }
  return "";
}

// A graph and a session on one device.
struct OnDevice {
  OnDevice(const RandomGraph& g, const std::string& device) : random(g), built(g.Build(graph, device)) {
    for (size_t n = 0; n < g.nodes.size(); ++n) {
      const RandomGraph::Node& node = g.nodes[n];
      if (node.fed || !node.fetched) continue;
      for (size_t k = 0; k < node.outputs.size(); ++k) {
        fetches.push_back(built.outputs[n][k]);
        names.push_back(StrCat(node.op, " n", n, ":", k));
        nodes.push_back(static_cast<int>(n));
        if (!node.changes) pure.push_back(fetches.size() - 1);
      }
    }
    for (const auto& v : g.variables) {
      for (const int n : v.updates) {
        if (!g.nodes[n].fed) fetches.push_back(built.operations[n]);
      }
    }
    status = graph.status();
    if (!status.ok()) return;
    auto created = Session::Create(graph, {.device_count = {{"XLA_CPU", 1}}});
    status = created.status();
    if (!status.ok()) return;
    session = *std::move(created);
    if (!built.initializers.empty()) status = session->Run(built.initializers).status();
  }

  StatusOr<std::vector<Tensor>> Step(int step) {
    if (!status.ok()) return status;
    return session->Run(fetches, random.Feeds(built, step));
  }
  // The fetches that depend on the inputs only.
  StatusOr<std::vector<Tensor>> PureStep(int step) {
    std::vector<Fetch> some;
    for (const size_t i : pure) some.push_back(fetches[i]);
    return session->Run(some, random.Feeds(built, step));
  }

  const RandomGraph& random;
  Graph graph;
  RandomGraph::Built built;
  std::vector<Fetch> fetches;
  std::vector<std::string> names;
  std::vector<int> nodes;    // of the fetched tensors
  std::vector<size_t> pure;  // numbers of fetches
  Status status;
  std::unique_ptr<Session> session;
};

// A read that no edge orders sees one of the states that the variable has in this step.
std::string CheckUnorderedRead(const OnDevice& run, const std::vector<Tensor>& values, const RandomGraph::Variable& v) {
  const auto value = [&](int n) -> const Tensor* {
    const auto at = std::find(run.nodes.begin(), run.nodes.end(), n);
    return at == run.nodes.end() ? nullptr : &values[static_cast<size_t>(at - run.nodes.begin())];
  };
  const Tensor* read = value(v.unordered_read);
  if (read == nullptr) return "";
  for (const int n : v.reads) {
    const Tensor* state = value(n);
    if (state == nullptr || SameBits(*state, *read)) return "";
  }
  return StrCat("n", v.unordered_read, " is none of the states of the variable");
}

// "" if the graph has the same results on both devices.
std::string Compare(const RandomGraph& g) {
  OnDevice cpu(g, "/device:CPU:0"), accelerator(g, "/device:XLA_CPU:0");
  if (!cpu.graph.status().ok()) return StrCat("the graph is wrong: ", cpu.graph.status().ToString());
  if (cpu.fetches.empty()) return "";
  std::vector<std::vector<Tensor>> results;
  for (int step = 0; step < static_cast<int>(g.batches.size()); ++step) {
    const auto expected = cpu.Step(step), actual = accelerator.Step(step);
    if (expected.status().code() != actual.status().code()) {
      return StrCat("step ", step, ": ", actual.status().ToString(), " instead of ", expected.status().ToString());
    }
    // After an error, the updates of the step may or may not have taken place on the CPU.
    if (!expected.ok()) return "";
    for (size_t i = 0; i < cpu.nodes.size(); ++i) {
      const bool unordered = std::any_of(g.variables.begin(), g.variables.end(),
                                         [&](const auto& v) { return v.unordered_read == cpu.nodes[i]; });
      const std::string difference = unordered ? "" : Difference((*actual)[i], (*expected)[i]);
      if (!difference.empty()) return StrCat("step ", step, ", ", cpu.names[i], ": ", difference);
    }
    for (const auto& v : g.variables) {
      const std::string difference = CheckUnorderedRead(accelerator, *actual, v);
      if (!difference.empty()) return StrCat("step ", step, ": ", difference);
    }
    results.push_back(*actual);
  }
  if (g.threads == 0 || accelerator.pure.empty()) return "";
  std::vector<std::string> failures(static_cast<size_t>(g.threads));
  std::vector<std::thread> threads;
  for (size_t t = 0; t < failures.size(); ++t) {
    threads.emplace_back([&, t] {
      for (size_t step = 0; step < results.size(); ++step) {
        const auto values = accelerator.PureStep(static_cast<int>(step));
        if (!values.ok()) failures[t] = StrCat("thread ", t, ": ", values.status().ToString());
        for (size_t i = 0; values.ok() && i < values->size(); ++i) {
          const std::string difference = Difference((*values)[i], results[step][accelerator.pure[i]]);
          if (!difference.empty()) {
            failures[t] = StrCat("thread ", t, ", ", accelerator.names[accelerator.pure[i]], ": ", difference);
          }
        }
      }
    });
  }
  for (auto& thread : threads) thread.join();
  for (const std::string& failure : failures) {
    if (!failure.empty()) return failure;
  }
  return "";
}

// Makes a graph that fails smaller, as long as it fails.
RandomGraph Smallest(RandomGraph g) {
  const auto try_change = [&](const auto& change) {
    RandomGraph smaller = g;
    change(smaller);
    if (!Compare(smaller).empty()) g = std::move(smaller);
  };
  try_change([](RandomGraph& s) { s.threads = 0; });
  for (int n = static_cast<int>(g.nodes.size()) - 1; n >= 0; --n) {
    const RandomGraph::Node& node = g.nodes[n];
    if (node.fetched) try_change([&](RandomGraph& s) { s.nodes[n].fetched = false; });
    if (node.on_host) try_change([&](RandomGraph& s) { s.nodes[n].on_host = false; });
    const bool stays = node.op == "VariableV2" || node.op == "VarHandleOp" || node.op == "Const";
    if (!node.fed && !stays) try_change([&](RandomGraph& s) { s.nodes[n].fed = true; });
  }
  while (g.batches.size() > 1) {
    const size_t steps = g.batches.size();
    try_change([](RandomGraph& s) { s.batches.pop_back(); });
    if (g.batches.size() == steps) break;
  }
  return g;
}

std::atomic<uint64_t> seed_now = 0;

// A compiler may end the process. Then the seed must be known, too.
void PrintSeed(int signal) {
  char text[] = "TENSORBRAID_RANDOM_SEED=00000000000000000000 ends the process\n";
  char* digit = text + 44;
  for (uint64_t rest = seed_now; rest > 0; rest /= 10) *--digit = static_cast<char>('0' + rest % 10);
  (void)!write(STDERR_FILENO, text, sizeof text - 1);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

// `substitute` says when the host runs the nodes of programs (executor/clusters/host_substitute.h), by seed.
void CompareAll(const std::function<const char*(uint64_t seed)>& substitute) {
  const uint64_t graphs = NumberFromEnvironment("TENSORBRAID_RANDOM_GRAPHS", 100);
  const uint64_t first = NumberFromEnvironment("TENSORBRAID_RANDOM_SEED", 1);
  int failed = 0;
  for (const int signal : {SIGABRT, SIGSEGV, SIGILL, SIGFPE, SIGBUS}) std::signal(signal, PrintSeed);
  for (uint64_t seed = first; seed < first + graphs && failed < 10; ++seed) {
    seed_now = seed;
    setenv(kHostSubstituteVariable, substitute(seed), 1);
    const RandomGraph g = RandomGraph::Make(seed);
    const std::string failure = Compare(g);
    if (failure.empty()) continue;
    ++failed;
    const RandomGraph smallest = Smallest(g);
    ADD_FAILURE() << "TENSORBRAID_RANDOM_SEED=" << seed << ": " << failure
                  << "\nThe smallest graph that fails: " << smallest.ToString() << "  with " << Compare(smallest);
  }
}

// A quarter of the graphs run on the host while the program for their second size of batches is compiled.
TEST(RandomGraphsTest, HaveTheResultsOfTheCpu) {
  CompareAll([](uint64_t seed) { return seed % 4 == 0 ? "further" : "never"; });
}

TEST(RandomGraphsTest, HaveTheResultsOfTheCpuOnTheHostInPlaceOfPrograms) {
  CompareAll([](uint64_t) { return "always"; });
}

}  // namespace
}  // namespace tensorbraid
