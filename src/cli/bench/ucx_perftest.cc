#include "cli/bench/ucx_perftest.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <string>
#include <vector>

#include "core/system/env.h"
#include "core/system/held_port.h"
#include "core/text/strings.h"
#include "launch/processes/child_process.h"

namespace tensorbraid::bench {
namespace {

constexpr std::chrono::seconds kPerftestPatience{60};
constexpr std::chrono::milliseconds kPerftestPause{50};

// Reads what a program prints, until it ends or the time is up.
std::string ReadToEnd(ChildProcess& program, MonotonicClock::time_point deadline) {
  std::string printed;
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - MonotonicClock::now()).count();
    pollfd output{program.out().get(), POLLIN, 0};
    if (left <= 0 || ::poll(&output, 1, static_cast<int>(left)) == 0) return printed;
    char block[4096];
    const ssize_t n = ::read(program.out().get(), block, sizeof block);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (n <= 0) return printed;
    printed.append(block, static_cast<size_t>(n));
  }
}

// The client prints a line of names and a line of values:
//   iterations,50.0_percentile_lat,avg_lat,overall_lat,avg_bw,overall_bw,avg_mr,overall_mr
//     20,4.030,32992.446,32992.446,2890.58,2890.58,30,30
// Times are in microseconds per message. Returns overall_lat, or 0 if the text does not have this form.
double OverallMicroseconds(const std::string& printed) {
  const std::vector<std::string> lines = StrSplit(printed, '\n');
  if (lines.size() < 2 || !lines[0].starts_with("iterations,")) return 0;
  const std::vector<std::string> names = StrSplit(lines[0], ','), values = StrSplit(lines[1], ',');
  double overall = 0;
  for (size_t i = 0; i < names.size() && i < values.size(); ++i) {
    if (names[i] == "overall_lat") std::from_chars(values[i].data(), values[i].data() + values[i].size(), overall);
  }
  return overall;
}

}  // namespace

StatusOr<double> UcxPerftestMs(int64_t bytes, int messages) {
  TF_ASSIGN_OR_RETURN(const HeldPort port, HeldPort::Take());
  // -e: connections that report the loss of the other end. -f -v: prints nothing but the result, separated by commas.
  const std::vector<std::string> server_command = {"ucx_perftest", "-e", "-f", "-v", "-p", StrCat(port.port())};
  std::vector<std::string> client_command = server_command;
  for (const std::string& word : {std::string("-t"), std::string("ucp_am_bw"), std::string("-s"), StrCat(bytes),
                                  std::string("-n"), StrCat(messages), std::string("127.0.0.1")}) {
    client_command.push_back(word);
  }
  TF_ASSIGN_OR_RETURN(const ChildProcess server, ChildProcess::Start(server_command, {}));
  const auto deadline = MonotonicClock::now() + kPerftestPatience;
  std::string printed;
  // The server does not report when it listens, so the client is started again until it connects.
  while (MonotonicClock::now() < deadline) {
    TF_ASSIGN_OR_RETURN(ChildProcess client, ChildProcess::Start(client_command, {}));
    printed = ReadToEnd(client, deadline);
    if (const double us = OverallMicroseconds(printed); us > 0) return us / 1000;
    SleepFor(kPerftestPause);
  }
  return DeadlineExceeded("ucx_perftest gave no result within ", kPerftestPatience.count(),
                          " s. It printed: ", printed);
}

}  // namespace tensorbraid::bench
