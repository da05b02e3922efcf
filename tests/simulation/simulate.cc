#include "simulation/simulate.h"

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "core/text/logging.h"
#include "core/text/strings.h"
#include "kernels/cpu/gemm.h"

namespace tensorbraid {
namespace {

// oneDNN generates machine code at the first product of a process, which takes longer than many simulations. This
// function makes it do so before the first fork, once for all children.
void GenerateCodeOnce() {
  [[maybe_unused]] static const bool done = [] {
    constexpr int64_t kSize = 64;
    const std::vector<float> a(kSize * kSize);
    std::vector<float> c(kSize * kSize);
    cpu::Gemm(/*pool=*/nullptr, /*transpose_a=*/false, /*transpose_b=*/false, kSize, kSize, kSize, a.data(), a.data(),
              c.data());
    return true;
  }();
}

// The child sends this before the message of its status and its value.
struct Header {
  int code;
  uint64_t message_size, schedule, switches;
  double seconds;
};

[[noreturn]] void SendAndExit(int fd, const Scheduler& scheduler, const Status& status, const std::string& value) {
  const std::string message(status.message());
  const Header header{static_cast<int>(status.code()), message.size(), scheduler.hash(), scheduler.switches(),
                      std::chrono::duration<double>(scheduler.elapsed()).count()};
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  bytes += message + value;
  for (size_t sent = 0; sent < bytes.size();) {
    const ssize_t n = ::write(fd, bytes.data() + sent, bytes.size() - sent);
    if (n <= 0) break;
    sent += static_cast<size_t>(n);
  }
  std::fflush(nullptr);
  ::_exit(0);  // without the destructors of static objects, which other threads may be using
}

// Only one thread of a simulation runs at a time, and waking a thread on another core takes longer than on this one. If
// the system refuses, the simulation is slower, but not wrong.
void StayOnThisCore() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  CPU_SET(::sched_getcpu(), &cores);
  ::sched_setaffinity(0, sizeof cores, &cores);
}

// The threads of a simulation run for some microseconds each. On a core with other programs, a thread that is woken
// would wait for the end of another program's turn, so that the simulation would get little of the core. A short turn
// brings it to the front (Linux 6.12 and later; earlier versions ignore it).
void AskForShortTurns() {
  // As in the header of the kernel, which cannot be included beside that of the C library.
  struct {
    uint32_t size, sched_policy;
    uint64_t sched_flags;
    int32_t sched_nice;
    uint32_t sched_priority;
    uint64_t sched_runtime, sched_deadline, sched_period;
  } attributes{};
  if (::syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) != 0) return;
  if (attributes.sched_policy != SCHED_OTHER) return;
  constexpr uint64_t kTurnNs = 100'000;
  attributes.sched_runtime = kTurnNs;
  ::syscall(SYS_sched_setattr, 0, &attributes, 0);
}

[[noreturn]] void RunChild(int fd, uint64_t seed, const std::function<StatusOr<std::string>(Scheduler&)>& program,
                           SimulationOptions options) {
  StayOnThisCore();
  AskForShortTurns();
  if (std::getenv("TENSORBRAID_SIMULATION_TRACE") != nullptr) options.scheduler.trace = true;
  if (std::getenv("TENSORBRAID_LOG") == nullptr) ConfigureLog("off");
  // Blocks and holes of different sizes on the heap give the program's objects other addresses.
  static std::vector<std::unique_ptr<char[]>> shift;
  for (size_t i = 0; options.shift_addresses && i < 1000; ++i) {
    shift.push_back(std::make_unique<char[]>(24 + 40 * (i % 23)));
    if (i % 3 == 0) shift[i / 2] = nullptr;
  }
  Scheduler* self = nullptr;
  Scheduler scheduler(seed, options.scheduler,
                      [&](const std::string& report) { SendAndExit(fd, *self, DeadlineExceeded(report), ""); });
  self = &scheduler;
  const ScopedEnv env(&scheduler);
  StatusOr<std::string> result = "";
  scheduler.Run([&] { result = program(scheduler); });
  SendAndExit(fd, scheduler, result.status(), result.ok() ? *result : "");
}

std::string ReadAll(int fd, std::chrono::milliseconds patience, bool* in_time) {
  std::string bytes;
  char buffer[4096];
  *in_time = true;
  while (true) {
    pollfd ready{fd, POLLIN, 0};
    if (::poll(&ready, 1, static_cast<int>(patience.count())) <= 0) {
      *in_time = false;
      return bytes;
    }
    const ssize_t n = ::read(fd, buffer, sizeof buffer);
    if (n <= 0) return bytes;
    bytes.append(buffer, static_cast<size_t>(n));
  }
}

}  // namespace

SimulationResult Simulate(uint64_t seed, const std::function<StatusOr<std::string>(Scheduler&)>& program,
                          const SimulationOptions& options) {
  GenerateCodeOnce();
  int fds[2];
  TB_CHECK(::pipe(fds) == 0);
  std::fflush(nullptr);
  const pid_t child = ::fork();
  TB_CHECK(child >= 0);
  if (child == 0) {
    ::close(fds[0]);
    RunChild(fds[1], seed, program, options);
  }
  ::close(fds[1]);
  bool in_time;
  const std::string bytes = ReadAll(fds[0], options.patience, &in_time);
  ::close(fds[0]);
  if (!in_time) ::kill(child, SIGKILL);
  int how = 0;
  rusage use{};
  ::wait4(child, &how, 0, &use);
  SimulationResult result;
  result.peak_bytes = int64_t{1024} * use.ru_maxrss;
  for (const timeval& time : {use.ru_utime, use.ru_stime}) {
    result.cpu_seconds += static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  }
  if (Header header; in_time && bytes.size() >= sizeof header) {
    std::memcpy(&header, bytes.data(), sizeof header);
    const std::string text = bytes.substr(sizeof header);
    result.status = Status(static_cast<absl::StatusCode>(header.code), text.substr(0, header.message_size));
    result.value = text.substr(header.message_size);
    result.schedule = header.schedule;
    result.switches = header.switches;
    result.seconds = header.seconds;
  } else if (!in_time) {
    result.status =
        Internal("the simulation of seed ", seed, " hangs: a thread waits for the system, not for the scheduler");
  } else {
    result.status =
        Internal("the simulation of seed ", seed, " ended with ",
                 WIFSIGNALED(how) ? StrCat("signal ", WTERMSIG(how)) : StrCat("exit code ", WEXITSTATUS(how)));
  }
  return result;
}

}  // namespace tensorbraid
