// The folders of jobs that go on without a terminal: what `tensorbraid jobs`, attach, logs and stop read.
//
//   JOBS/train-1/        mode 0700
//     lock               locked by the launcher while it lives
//     job.json           what was started: Job
//     socket             of the launcher (detached_job.h)
//     output.log         as a terminal would have shown it; and worker-0.log, ...: what each task wrote (bounded_log.h)
//     result.json        once it has ended: JobResult
#ifndef TENSORBRAID_LAUNCH_JOBS_JOBS_H_
#define TENSORBRAID_LAUNCH_JOBS_JOBS_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/system/fd.h"
#include "tensorbraid/core/status.h"

namespace tensorbraid {

struct JobResult {
  int exit_code = 0;
  std::string failure = "";  // see LaunchResult
  int64_t ended_s = 0;       // since 1970
  std::string report = "";   // JSON, see job_report.h; "" if there is none
};

struct Job {
  std::string name = "";
  std::string folder = "";
  std::string host = "";  // where its launcher runs
  int pid = 0;            // of the launcher
  std::vector<std::string> command = {};
  std::string on = "";  // the engine
  int ps = 0;
  int workers = 0;
  int64_t started_s = 0;  // since 1970
  // The command that ends what the job leaves behind if its launcher is killed; see Engine::CleanUpCommand.
  std::vector<std::string> clean_up = {};

  // A launcher that has gone without a result was killed, or its machine was.
  enum class State { kRunning, kEnded, kLost };
  State state = State::kRunning;
  JobResult result = {};  // if it has ended
  // "running", "exited with 3", "lost".
  std::string StateText() const;
};

// Where the jobs are: `flag` if it is not empty, else TENSORBRAID_JOBS_DIR, else tensorbraid/jobs in XDG_STATE_HOME or
// in ~/.local/state.
StatusOr<std::string> JobsDirectory(const std::string& flag);

// A new job whose lock is held by this object, and by processes that are forked from this one.
struct NewJob {
  Job job;
  Fd lock;
};
// Makes the folder of a job, named after its program: train-1, train-2, ... `job` has everything but name and folder.
StatusOr<NewJob> CreateJob(const std::string& directory, Job job);
Status WriteJob(const Job& job);  // again, for example with another pid
Status WriteResult(const Job& job, const JobResult& result);

// DataLoss if the folder is not that of a job.
StatusOr<Job> ReadJob(const std::string& folder);
// All jobs, the oldest first. Folders that are no jobs are left out.
StatusOr<std::vector<Job>> ListJobs(const std::string& directory);
// NotFound names the jobs that exist.
StatusOr<Job> FindJob(const std::string& directory, const std::string& name);
// Removes all that is kept of a job. FailedPrecondition if it is running.
Status ForgetJob(const Job& job);

}  // namespace tensorbraid

#endif  // TENSORBRAID_LAUNCH_JOBS_JOBS_H_
