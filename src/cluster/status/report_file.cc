#include "cluster/status/report_file.h"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <utility>

#include "cluster/protobuf/report.pb.h"
#include "cluster/status/report_text.h"
#include "core/system/env.h"
#include "core/text/logging.h"
#include "io/file.h"

namespace tensorbraid {
namespace {

constexpr std::chrono::seconds kBetweenReports{2};
std::atomic<bool> file_is_taken{false};  // by an object of this process

}  // namespace

std::unique_ptr<ReportFile> ReportFile::FromEnvironment(Fill fill) {
  const char* const path = std::getenv(kVariable);
  if (path == nullptr || *path == '\0' || file_is_taken.exchange(true)) return nullptr;
  return std::unique_ptr<ReportFile>(new ReportFile(path, std::move(fill)));
}

ReportFile::ReportFile(std::string path, Fill fill) : path_(std::move(path)), fill_(std::move(fill)) {
  thread_ = Thread("report", [this] { Run(); });
}

ReportFile::~ReportFile() {
  {
    MutexLock lock(mu_);
    stopping_ = true;
  }
  cv_.NotifyAll();
  thread_.Join();
  Write();
  file_is_taken = false;
}

void ReportFile::Run() {
  for (;;) {
    Write();
    MutexLock lock(mu_);
    if (cv_.WaitFor(mu_, kBetweenReports, [this]() TB_REQUIRES(mu_) { return stopping_; })) return;
  }
}

void ReportFile::Write() {
  proto::TaskReport report;
  fill_(&report);
  const Status status = WriteText(ReportToText(report));
  if (status.ok() || std::exchange(failed_, true)) return;
  TB_LOG(Warning, "cluster") << "cannot write the report of this task for the launcher: " << status.message();
}

Status ReportFile::WriteText(const std::string& text) {
  if (!in_place_) {
    const std::string next = path_ + ".new";
    Status status = WriteFile(next, text);
    if (status.ok()) status = Env::Default().RenameFile(next, path_);
    if (status.ok()) return status;
    Env::Default().RemoveFile(next).IgnoreError();
    in_place_ = true;
  }
  return WriteFile(path_, text);
}

}  // namespace tensorbraid
