#include "launch/launcher/job_output.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <tuple>
#include <utility>

#include "core/text/strings.h"

namespace tensorbraid {
namespace {

bool HasColor(int fd) { return ::isatty(fd) != 0 && std::getenv("NO_COLOR") == nullptr; }

bool IsSameFile(int a, int b) {
  struct stat first {
  }, second{};
  if (::fstat(a, &first) != 0 || ::fstat(b, &second) != 0) return false;
  return std::tie(first.st_dev, first.st_ino, first.st_rdev) == std::tie(second.st_dev, second.st_ino, second.st_rdev);
}

std::string LeftOut(size_t count) {
  return StrCat("launch: ", count, count == 1 ? " line was" : " lines were",
                " left out here, because the output was not read in time\n");
}

}  // namespace

JobOutput::Stream::Stream(std::string its_name, int fd) : name(std::move(its_name)), queue(fd, LeftOut) {}

JobOutput::JobOutput(int out_fd, int err_fd, JobMonitor* monitor)
    : monitor_(monitor),
      out_has_color_(monitor == nullptr && HasColor(out_fd)),
      err_has_color_(monitor == nullptr && HasColor(err_fd)),
      out_("standard output", monitor == nullptr ? out_fd : -1) {
  if (monitor == nullptr && !IsSameFile(out_fd, err_fd)) err_.emplace("standard error", err_fd);
}

void JobOutput::Write(OutputStream stream, std::string_view line) {
  if (monitor_ != nullptr) return monitor_->OnOutput(stream, line);
  Stream& target = stream == OutputStream::kErr && err_.has_value() ? *err_ : out_;
  target.queue.Add(line);
}

void JobOutput::Say(std::string_view text) { Write(OutputStream::kErr, StrCat("launch: ", text, "\n")); }

void JobOutput::AddEvents(std::vector<pollfd>* events) const {
  for (const Stream* stream : {&out_, err_.has_value() ? &*err_ : nullptr}) {
    if (stream != nullptr && !stream->told) events->push_back({stream->queue.event().get(), POLLIN, 0});
  }
}

std::optional<std::string> JobOutput::TakeClosed() {
  for (Stream* stream : {&out_, err_.has_value() ? &*err_ : nullptr}) {
    if (stream == nullptr || stream->told || !stream->queue.is_closed()) continue;
    stream->told = true;
    return stream->name;
  }
  return std::nullopt;
}

bool JobOutput::is_closed() const { return out_.queue.is_closed() || (err_.has_value() && err_->queue.is_closed()); }

size_t JobOutput::unwritten() const {
  return out_.queue.unwritten() + (err_.has_value() ? err_->queue.unwritten() : 0);
}

void JobOutput::Finish(const Fd& interrupt, std::optional<std::chrono::milliseconds> patience) {
  for (;;) {
    out_.queue.ReportProgress();
    if (err_.has_value()) err_->queue.ReportProgress();
    if (unwritten() == 0) return;
    std::vector<pollfd> events = {{interrupt.get(), POLLIN, 0}};
    AddEvents(&events);
    const int changed =
        ::poll(events.data(), events.size(), patience.has_value() ? static_cast<int>(patience->count()) : -1);
    if (changed == 0 || (changed > 0 && events[0].revents != 0)) return;
    while (TakeClosed().has_value()) {
    }
  }
}

}  // namespace tensorbraid
