#include <unistd.h>

#include <cstdio>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/str_replace.h"
#include "cli/at_least.h"
#include "cli/commands.h"
#include "core/system/clock.h"
#include "core/text/strings.h"
#include "core/text/text_table.h"
#include "launch/jobs/bounded_log.h"
#include "launch/jobs/detached_job.h"
#include "launch/jobs/jobs.h"
#include "launch/launcher/launched_task.h"
#include "launch/processes/run_command.h"

namespace tensorbraid {
namespace {

struct JobsFlags {
  std::string directory;
  std::string job;
  std::string task;
  std::string forget;
  double older_than_days = -1;
};

CLI::App* AddCommand(CLI::App& app, const std::string& name, const std::string& help, JobsFlags* flags) {
  CLI::App* command = app.add_subcommand(name, help);
  command
      ->add_option(
          "--jobs_dir", flags->directory,
          "where the jobs are kept; default: $TENSORBRAID_JOBS_DIR, else tensorbraid/jobs in $XDG_STATE_HOME or "
          "~/.local/state")
      ->type_name("DIR");
  return command;
}

StatusOr<Job> FindJobOf(const JobsFlags& flags) {
  TF_ASSIGN_OR_RETURN(const std::string directory, JobsDirectory(flags.directory));
  return FindJob(directory, flags.job);
}

std::string TimeText(int64_t seconds) {
  const std::time_t time = seconds;
  std::tm parts{};
  char text[32] = "";
  ::localtime_r(&time, &parts);
  std::strftime(text, sizeof text, "%F %T", &parts);
  return text;
}

Status List(const JobsFlags& flags) {
  TF_ASSIGN_OR_RETURN(const std::string directory, JobsDirectory(flags.directory));
  TF_ASSIGN_OR_RETURN(const std::vector<Job> jobs, ListJobs(directory));
  if (jobs.empty()) {
    std::fprintf(stderr, "there are no jobs in %s; 'tensorbraid launch --detach' starts one\n", directory.c_str());
    return OkStatus();
  }
  std::vector<TextRow> rows = {{"job", "state", "started", "took", "on", "ps", "workers", "launcher", "command"}};
  for (const Job& job : jobs) {
    const bool running = job.state == Job::State::kRunning, ended = job.state == Job::State::kEnded;
    const double until = running ? WallClock::Seconds() : static_cast<double>(job.result.ended_s);
    std::vector<std::string> words;
    for (const std::string& word : job.command) words.push_back(ShellWord(word));
    rows.push_back({job.name, job.StateText(), TimeText(job.started_s),
                    running || ended ? AgeText(until - static_cast<double>(job.started_s)) : "", job.on, StrCat(job.ps),
                    StrCat(job.workers), StrCat(job.host, ":", job.pid), StrJoin(words, " ")});
  }
  std::fputs(TableText(rows).c_str(), stdout);
  return OkStatus();
}

Status ForgetOld(const std::string& directory, double days) {
  TF_ASSIGN_OR_RETURN(const std::vector<Job> jobs, ListJobs(directory));
  for (const Job& job : jobs) {
    if (job.state == Job::State::kRunning) continue;
    const int64_t last = job.state == Job::State::kEnded ? job.result.ended_s : job.started_s;
    if (WallClock::Seconds() - static_cast<double>(last) < days * 24 * 3600) continue;
    TF_RETURN_IF_ERROR(ForgetJob(job));
    std::printf("%s\n", job.name.c_str());
  }
  return OkStatus();
}

Status RunJobs(const JobsFlags& flags) {
  if (flags.forget.empty() && flags.older_than_days < 0) return List(flags);
  TF_ASSIGN_OR_RETURN(const std::string directory, JobsDirectory(flags.directory));
  if (!flags.forget.empty()) {
    TF_ASSIGN_OR_RETURN(const Job job, FindJob(directory, flags.forget));
    TF_RETURN_IF_ERROR(ForgetJob(job));
  }
  return flags.older_than_days < 0 ? OkStatus() : ForgetOld(directory, flags.older_than_days);
}

// Returns the exit code of the job.
StatusOr<int> Attach(const JobsFlags& flags) {
  TF_ASSIGN_OR_RETURN(const Job job, FindJobOf(flags));
  TF_ASSIGN_OR_RETURN(const JobResult result, AttachToJob(job, 1, 2));
  if (job.state == Job::State::kEnded) {
    std::fprintf(stderr, "attach: %s has ended%s; 'tensorbraid logs %s' has its output\n", job.name.c_str(),
                 result.failure.empty() ? "" : (": " + result.failure).c_str(), job.name.c_str());
  }
  return result.exit_code;
}

Status Stop(const JobsFlags& flags) {
  TF_ASSIGN_OR_RETURN(const Job job, FindJobOf(flags));
  if (job.state == Job::State::kEnded) {
    std::fprintf(stderr, "stop: %s has ended already\n", job.name.c_str());
    return OkStatus();
  }
  TF_ASSIGN_OR_RETURN(const JobResult result, StopJob(job));
  std::fprintf(stderr, "stop: %s has ended%s\n", job.name.c_str(),
               result.failure.empty() ? "" : (": " + result.failure).c_str());
  return OkStatus();
}

Status PrintLogs(const JobsFlags& flags) {
  TF_ASSIGN_OR_RETURN(const Job job, FindJobOf(flags));
  const std::string name = flags.task.empty() ? "output" : absl::StrReplaceAll(flags.task, {{"/", "-"}});
  if (name.find("..") == std::string::npos && CopyLog(StrCat(job.folder, "/", name, ".log"), 1).ok()) return OkStatus();
  return absl::NotFoundError(StrCat(job.name, " has no output of '", flags.task, "'; it has ", job.ps,
                                    " tasks ps/N and ", job.workers, " tasks worker/N"));
}

}  // namespace

void AddJobsCommands(CLI::App& app, Invocation* invocation) {
  auto flags = std::make_shared<JobsFlags>();
  const auto run = [invocation](const std::string& name, auto function) {
    invocation->run = [name, function] { return ExitCode(Annotate(function(), "tensorbraid " + name)); };
  };

  CLI::App* jobs = AddCommand(app, "jobs", "List the jobs that launch --detach has started", flags.get());
  jobs->add_option("--forget", flags->forget, "remove what is kept of this job, which must have ended")
      ->type_name("JOB");
  jobs->add_option("--older_than", flags->older_than_days, "remove all jobs that ended at least this long ago")
      ->check(AtLeast(0))
      ->type_name("DAYS");
  jobs->footer(
      "\nA job is running, or it has exited, or it is lost: its launcher was killed, which ended its tasks, too. On\n"
      "Kubernetes they go on for --lost_launcher_s of launch, or until 'tensorbraid stop JOB' deletes them.");
  jobs->callback([flags, run] { run("jobs", [flags] { return RunJobs(*flags); }); });

  CLI::App* attach = AddCommand(app, "attach", "Follow the output of a job, to its end", flags.get());
  attach->footer(
      "\nBegins with the latest output. The exit code is that of the job. Ctrl-C leaves the job, which goes on.");
  attach->callback([flags, invocation] {
    invocation->run = [flags] {
      const auto code = Attach(*flags);
      return code.ok() ? *code : ExitCode(Annotate(code.status(), "tensorbraid attach"));
    };
  });

  CLI::App* logs = AddCommand(app, "logs", "Print the output of a job, or of one of its tasks", flags.get());
  logs->footer(
      "\nAlso after the end of the job. The latest 32 to 64 MB of each task are kept.\n\n"
      "Examples:\n"
      "  tensorbraid logs train-1\n"
      "  tensorbraid logs train-1 worker/0");
  logs->callback([flags, run] { run("logs", [flags] { return PrintLogs(*flags); }); });

  CLI::App* stop = AddCommand(app, "stop", "End a job", flags.get());
  stop->footer(
      "\nThe tasks get SIGTERM, so that they save a checkpoint and leave; --stop_grace_s of launch says how long they\n"
      "may take. A second stop kills them at once. Returns when the job has ended.");
  stop->callback([flags, run] { run("stop", [flags] { return Stop(*flags); }); });

  for (CLI::App* command : {attach, logs, stop}) {
    command->add_option("JOB", flags->job, "the job's name, see tensorbraid jobs")->required();
  }
  logs->add_option("TASK", flags->task, "such as worker/0; default: the output of the job, as on a terminal");
}

}  // namespace tensorbraid
