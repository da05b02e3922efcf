#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <map>

#include "cluster/discovery/mpi_exchanges.h"
#include "core/system/clock.h"
#include "core/system/fd.h"
#include "core/text/logging.h"
#include "core/text/strings.h"
#include "tensorbraid/core/stop.h"

namespace tensorbraid {
namespace {

constexpr std::chrono::seconds kPmiLogEvery{5};
constexpr MonotonicClock::duration kPmiWait = std::chrono::milliseconds(200);
constexpr size_t kMostLineBytes = 1 << 20;

// Every message is a line of words: "cmd=put kvsname=K key=a value=b". Each request has one answer.
class PmiExchange final : public RecordExchange {
 public:
  PmiExchange(Fd socket, int size, std::chrono::milliseconds timeout)
      : socket_(std::move(socket)), size_(size), timeout_(timeout) {}

  StatusOr<std::vector<NamedRecord>> Gather(const NamedRecord& own) override {
    deadline_ = MonotonicClock::now() + timeout_;
    TF_RETURN_IF_ERROR(Ask("cmd=init pmi_version=1 pmi_subversion=1", "response_to_init"));
    TF_ASSIGN_OR_RETURN(auto limits, Ask("cmd=get_maxes", "maxes"));
    TF_ASSIGN_OR_RETURN(auto space, Ask("cmd=get_my_kvsname", "my_kvsname"));
    const std::string space_name = space["kvsname"];
    const std::string text = EncodeRecord(own.record);
    const std::string& longest = limits["vallen_max"];
    if (!longest.empty() && longest.size() < 9 && text.size() >= static_cast<size_t>(std::atoi(longest.c_str()))) {
      return FailedPrecondition("PMI carries values of ", longest, " bytes, and this process needs ", text.size() + 1,
                                "; set TENSORBRAID_HOST to a shorter name of this host");
    }
    TF_RETURN_IF_ERROR(
        Ask(StrCat("cmd=put kvsname=", space_name, " key=", Key(own.name), " value=", text), "put_result"));
    TF_RETURN_IF_ERROR(Ask("cmd=barrier_in", "barrier_out"));
    std::vector<NamedRecord> records;
    for (int rank = 0; rank < size_; ++rank) {
      const std::string name = StrCat("rank ", rank);
      TF_ASSIGN_OR_RETURN(auto got, Ask(StrCat("cmd=get kvsname=", space_name, " key=", Key(name)), "get_result"));
      TF_ASSIGN_OR_RETURN(ProcessRecord record, DecodeRecord(got["value"]));
      records.push_back({name, std::move(record)});
    }
    // Launchers take a process that leaves without this for one that has crashed.
    TF_RETURN_IF_ERROR(Ask("cmd=finalize", "finalize_ack"));
    socket_.Close();
    return records;
  }

 private:
  using Words = std::map<std::string, std::string>;

  static std::string Key(const std::string& name) {  // without the space
    std::string key = "tensorbraid-" + name;
    std::replace(key.begin(), key.end(), ' ', '-');
    return key;
  }

  StatusOr<Words> Ask(const std::string& request, const std::string& expected) {
    const std::string line = request + "\n";
    for (size_t sent = 0; sent < line.size();) {
      const ssize_t count = ::send(socket_.get(), line.data() + sent, line.size() - sent, MSG_NOSIGNAL);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return Unavailable("PMI: cannot write to the launcher (PMI_FD): ", std::strerror(errno));
      sent += static_cast<size_t>(count);
    }
    TF_ASSIGN_OR_RETURN(const std::string answer, ReadLine());
    Words words;
    for (const std::string& word : StrSplit(answer, ' ')) {
      const size_t equals = word.find('=');
      if (equals != std::string::npos) words[word.substr(0, equals)] = word.substr(equals + 1);
    }
    if (words["cmd"] != expected || (words.contains("rc") && words["rc"] != "0")) {
      return Unavailable("PMI: the launcher answers '", request.substr(0, 60), "' with '", answer.substr(0, 120), "'");
    }
    return words;
  }

  StatusOr<std::string> ReadLine() {
    while (true) {
      if (const size_t end = received_.find('\n'); end != std::string::npos) {
        const std::string line = received_.substr(0, end);
        received_.erase(0, end + 1);
        return line;
      }
      if (received_.size() > kMostLineBytes) return Unavailable("PMI: the launcher sends a line without an end");
      TF_RETURN_IF_ERROR(WaitForInput());
      char bytes[4096];
      const ssize_t count = ::read(socket_.get(), bytes, sizeof bytes);
      if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (count == 0) return Unavailable("PMI: the launcher has closed the connection (PMI_FD)");
      if (count < 0) return Unavailable("PMI: cannot read from the launcher (PMI_FD): ", std::strerror(errno));
      received_.append(bytes, static_cast<size_t>(count));
    }
  }

  Status WaitForInput() {
    auto next_log = MonotonicClock::now() + kPmiLogEvery;
    while (true) {
      if (StopRequested()) return Cancelled("asked to stop while waiting for the other ranks");
      const auto now = MonotonicClock::now();
      if (now >= deadline_) {
        return DeadlineExceeded("not all of the ", size_, " ranks have started within ", timeout_.count() / 1000.0,
                                " s (PMI barrier); do all of them run this program, and parse its flags?");
      }
      if (now >= next_log) {
        TB_LOG(Info, "discovery") << "waits for all " << size_ << " ranks to start (PMI)";
        next_log += kPmiLogEvery;
      }
      // In parts, so that a request to stop is noticed soon.
      const auto wait = std::chrono::ceil<std::chrono::milliseconds>(std::min(deadline_ - now, kPmiWait));
      pollfd input{socket_.get(), POLLIN, 0};
      const int ready = ::poll(&input, 1, static_cast<int>(wait.count()));
      if (ready > 0) return OkStatus();
      if (ready < 0 && errno != EINTR) return Unavailable("PMI: ", std::strerror(errno));
    }
  }

  Fd socket_;
  const int size_;
  const std::chrono::milliseconds timeout_;
  MonotonicClock::time_point deadline_;
  std::string received_;  // not read yet
};

Status CheckConnected(int fd) {
  int type = 0;
  socklen_t size = sizeof type;
  sockaddr_storage peer{};
  socklen_t peer_size = sizeof peer;
  if (::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM &&
      ::getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &peer_size) == 0) {
    return OkStatus();
  }
  const int why = type != 0 && type != SOCK_STREAM ? EPROTOTYPE : errno;
  return FailedPrecondition("PMI_FD=", fd, " is no connection to a launcher of MPI (", std::strerror(why),
                            "): a program between the launcher and this one has perhaps closed it or uses it; if this ",
                            "process is no rank of the job, set TENSORBRAID_DISCOVERY=none");
}

}  // namespace

StatusOr<std::unique_ptr<RecordExchange>> NewPmiExchange(int fd, int size, std::chrono::milliseconds timeout) {
  TF_RETURN_IF_ERROR(CheckConnected(fd));
  return std::make_unique<PmiExchange>(Fd(fd), size, timeout);
}

}  // namespace tensorbraid
