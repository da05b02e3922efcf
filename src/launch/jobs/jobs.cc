#include "launch/jobs/jobs.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <tuple>

#include "absl/strings/ascii.h"
#include "core/text/json.h"
#include "core/text/strings.h"
#include "io/file.h"
#include "launch/credentials/new_file.h"

namespace tensorbraid {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr int kMaxJobsOfAName = 10000;

// Replaces the file as a whole.
Status WritePrivateFile(const std::string& path, const std::string& bytes) {
  const std::string next = path + ".new";
  ::unlink(next.c_str());  // of a launcher that was killed
  TF_RETURN_IF_ERROR(WriteNewFile(next, bytes, 0600));
  if (::rename(next.c_str(), path.c_str()) == 0) return OkStatus();
  return absl::ErrnoToStatus(errno, StrCat("cannot write '", path, "'"));
}

// The program of a command as a name for a file: "python3 train.py" -> "train", "./mnist" -> "mnist".
std::string NameOf(const std::vector<std::string>& command) {
  std::string name = "job";
  for (const std::string& word : command) {
    const std::string file = fs::path(word).filename();
    if (word.starts_with("-") || file.empty()) continue;
    name = fs::path(file).stem();
    if (!file.starts_with("python") || file.ends_with(".py")) break;
  }
  for (char& c : name) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c)) && c != '_' && c != '.') c = '-';
  }
  return name.substr(0, 60);
}

Json ReadJson(const std::string& path) {
  const auto text = ReadFile(path);
  return text.ok() ? ParseJsonOrDiscard(*text) : Json(Json::value_t::discarded);
}

// Whether the launcher of the job lives.
bool IsLocked(const std::string& folder) {
  const Fd fd(::open((folder + "/lock").c_str(), O_RDONLY | O_CLOEXEC));
  return fd.is_open() && ::flock(fd.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

}  // namespace

StatusOr<Job> ReadJob(const std::string& folder) {
  const Json json = ReadJson(folder + "/job.json");
  Job job{.name = fs::path(folder).filename(), .folder = folder};
  try {  // The only exceptions are those of the JSON library.
    job.host = json.at("host");
    job.pid = json.at("pid");
    job.command = json.at("command").get<std::vector<std::string>>();
    job.on = json.at("on");
    job.ps = json.at("ps");
    job.workers = json.at("workers");
    job.started_s = json.at("started_s");
    job.clean_up = json.value("clean_up", std::vector<std::string>());
    // In this order: the launcher writes the result before it ends.
    const bool locked = IsLocked(folder);
    const Json result = ReadJson(folder + "/result.json");
    job.state = !result.is_discarded() ? Job::State::kEnded : locked ? Job::State::kRunning : Job::State::kLost;
    if (job.state == Job::State::kEnded) {
      job.result = {.exit_code = result.at("exit_code"),
                    .failure = result.at("failure"),
                    .ended_s = result.at("ended_s"),
                    .report = result.at("report")};
    }
  } catch (const std::exception& error) {
    return absl::DataLossError(StrCat("'", folder, "' is no job: ", error.what()));
  }
  return job;
}

std::string Job::StateText() const {
  if (state == State::kRunning) return "running";
  if (state == State::kLost) return "lost";
  return StrCat("exited with ", result.exit_code);
}

StatusOr<std::string> JobsDirectory(const std::string& flag) {
  if (!flag.empty()) return fs::absolute(flag).string();
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  if (const std::string path = variable("TENSORBRAID_JOBS_DIR"); !path.empty()) return fs::absolute(path).string();
  if (const std::string path = variable("XDG_STATE_HOME"); path.starts_with('/')) return path + "/tensorbraid/jobs";
  if (const std::string home = variable("HOME"); home.starts_with('/')) return home + "/.local/state/tensorbraid/jobs";
  return absl::FailedPreconditionError("HOME is not set, so --jobs_dir must say where the jobs are kept");
}

StatusOr<NewJob> CreateJob(const std::string& directory, Job job) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) return absl::ErrnoToStatus(error.value(), StrCat("cannot make the folder of jobs '", directory, "'"));
  const std::string base = NameOf(job.command);
  for (int i = 1; i <= kMaxJobsOfAName; ++i) {
    job.name = StrCat(base, "-", i);
    job.folder = StrCat(directory, "/", job.name);
    if (::mkdir(job.folder.c_str(), 0700) == 0) break;
    if (errno != EEXIST || i == kMaxJobsOfAName) {
      return absl::ErrnoToStatus(errno, StrCat("cannot make the folder '", job.folder, "'"));
    }
  }
  Fd lock(::open((job.folder + "/lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  Status status;
  if (!lock.is_open() || ::flock(lock.get(), LOCK_EX) != 0) {
    status = absl::ErrnoToStatus(errno, StrCat("cannot lock '", job.folder, "/lock'"));
  } else {
    status = WriteJob(job);
  }
  if (!status.ok()) {
    fs::remove_all(job.folder, error);
    return status;
  }
  return NewJob{std::move(job), std::move(lock)};
}

Status WriteJob(const Job& job) {
  const Json json = {
      {"host", job.host}, {"pid", job.pid},         {"command", job.command},     {"on", job.on},
      {"ps", job.ps},     {"workers", job.workers}, {"started_s", job.started_s}, {"clean_up", job.clean_up}};
  return WritePrivateFile(job.folder + "/job.json", JsonText(json, 2) + "\n");
}

Status WriteResult(const Job& job, const JobResult& result) {
  const Json json = {{"exit_code", result.exit_code},
                     {"failure", result.failure},
                     {"ended_s", result.ended_s},
                     {"report", result.report}};
  return WritePrivateFile(job.folder + "/result.json", JsonText(json, 2) + "\n");
}

StatusOr<std::vector<Job>> ListJobs(const std::string& directory) {
  std::vector<Job> jobs;
  std::error_code error;
  if (!fs::exists(directory, error)) return jobs;
  for (fs::directory_iterator entry(directory, error); !error && entry != fs::end(entry); entry.increment(error)) {
    auto job = ReadJob(entry->path());
    if (job.ok()) jobs.push_back(*std::move(job));
  }
  if (error) return absl::ErrnoToStatus(error.value(), StrCat("cannot read '", directory, "'"));
  std::sort(jobs.begin(), jobs.end(),
            [](const Job& a, const Job& b) { return std::tie(a.started_s, a.name) < std::tie(b.started_s, b.name); });
  return jobs;
}

StatusOr<Job> FindJob(const std::string& directory, const std::string& name) {
  TF_ASSIGN_OR_RETURN(const std::vector<Job> jobs, ListJobs(directory));
  std::vector<std::string> names;
  for (const Job& job : jobs) {
    if (job.name == name) return job;
    names.push_back(job.name);
  }
  return absl::NotFoundError(StrCat("there is no job '", name, "' in ", directory,
                                    names.empty() ? ", which has none" : "; there are " + StrJoin(names, ", ")));
}

Status ForgetJob(const Job& job) {
  if (job.state == Job::State::kRunning) {
    return absl::FailedPreconditionError(StrCat(job.name, " is running; 'tensorbraid stop ", job.name, "' ends it"));
  }
  std::error_code error;
  fs::remove_all(job.folder, error);
  return error ? absl::ErrnoToStatus(error.value(), StrCat("cannot remove '", job.folder, "'")) : OkStatus();
}

}  // namespace tensorbraid
