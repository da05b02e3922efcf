// The launcher's side of a job that goes on without a terminal.
#ifndef TENSORBRAID_LAUNCH_JOBS_DETACHED_JOB_H_
#define TENSORBRAID_LAUNCH_JOBS_DETACHED_JOB_H_

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/system/fd.h"
#include "launch/jobs/bounded_log.h"
#include "launch/jobs/jobs.h"
#include "launch/launcher/job_monitor.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid {

// Writes the logs of a job, and serves the clients of its socket. A client sends one line: "attach" or "stop". It gets
// lines of JSON: {"out": LINE} or {"err": LINE} for each line of the job (in base64), first the latest ones; in the end
// {"exit_code": N, "failure": TEXT}. A client that does not read loses lines, and is told how many.
class DetachedJob final : public JobMonitor {
 public:
  // What all logs of a job may have: output.log, and one for each task.
  static constexpr uint64_t kMaxLogBytes = uint64_t{64} << 20;

  // `on_all_started` is called when all tasks have been started. `max_log_bytes` is for each log.
  static StatusOr<std::unique_ptr<DetachedJob>> Create(NewJob job, std::function<void()> on_all_started,
                                                       uint64_t max_log_bytes = kMaxLogBytes);
  // Removes the socket.
  ~DetachedJob() override;

  // Records how the job ended, and tells the clients, for which it waits up to two seconds.
  Status Finish(const JobResult& result);

  void OnTaskLine(const std::string& task, std::string_view line) override;
  void OnOutput(OutputStream stream, std::string_view line) override;
  void OnAllStarted() override { on_all_started_(); }
  void AddEvents(std::vector<pollfd>* events) override;
  void Handle(const std::function<void()>& stop) override;

 private:
  struct Client {
    Fd fd;
    std::string input = "";  // the beginning of its line
    std::string unsent = "";
    bool follows = false;  // it wants the output
    size_t lost_lines = 0;
  };

  DetachedJob(NewJob job, std::function<void()> on_all_started, uint64_t max_log_bytes)
      : job_(std::move(job)), on_all_started_(std::move(on_all_started)), max_log_bytes_(max_log_bytes) {}
  Status Listen();
  // Appends a line to a log of the job.
  Status Log(const std::string& file, std::string_view line);
  void Accept();
  void Read(Client& client, const std::function<void()>& stop);
  static void Send(Client& client, const std::string& line);
  static void Flush(Client& client);

  NewJob job_;
  const std::function<void()> on_all_started_;
  const uint64_t max_log_bytes_;
  std::map<std::string, BoundedLog> logs_;  // by file name
  std::set<std::string> incomplete_;        // files that lack a line, because it could not be written
  Fd listener_;
  std::deque<Client> clients_;
  std::deque<std::string> latest_;  // lines for clients that come, at most kLatestBytes of them
  size_t latest_bytes_ = 0;
};

// The client's side. Both block until the job ends, or until its launcher does.

// Passes the output of the job on: `out_fd` gets what tasks write to standard output, `err_fd` everything else. Returns
// how the job ended. FailedPrecondition if its launcher runs on another machine; Unavailable if the launcher is lost.
StatusOr<JobResult> AttachToJob(const Job& job, int out_fd, int err_fd);
// Lets the tasks save and leave, or kills them if that has been asked before. The same result and errors. If the
// launcher is lost and the job has a command for that (Job::clean_up), runs it, and returns when it has ended.
StatusOr<JobResult> StopJob(const Job& job);

}  // namespace tensorbraid

#endif  // TENSORBRAID_LAUNCH_JOBS_DETACHED_JOB_H_
