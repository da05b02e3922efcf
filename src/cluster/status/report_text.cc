#include "cluster/status/report_text.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>

#include "absl/strings/escaping.h"
#include "cluster/protobuf/report.pb.h"
#include "core/text/strings.h"
#include "io/inflate.h"

namespace tensorbraid {
namespace {

constexpr std::string_view kBegin = "tensorbraid-report:";
constexpr int64_t kMostBytes = 1 << 20;  // of a report that is read
// To how many significant bits counts are rounded, until the text is short enough.
constexpr std::array<int, 3> kPrecisions = {53, 18, 12};

// 0 for what cannot be a count of bytes.
double Rounded(double value, int bits) {
  if (!(value > 0 && value < 1e18)) return 0;
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);
  return std::ldexp(std::round(std::ldexp(fraction, bits)), exponent - bits);
}

// "worker/3" -> ("worker", 3). False if the name has another form.
bool SplitName(const std::string& name, std::string* job, uint32_t* index) {
  const size_t slash = name.rfind('/');
  if (slash == std::string::npos) return false;
  *job = name.substr(0, slash);
  const char* const end = name.data() + name.size();
  const auto [rest, error] = std::from_chars(name.data() + slash + 1, end, *index);
  return error == std::errc() && rest == end && StrCat(*job, "/", *index) == name;
}

// The report without what a launcher does not need.
proto::TaskReport Shortened(const proto::TaskReport& report, int bits) {
  proto::TaskReport shorter;
  shorter.set_state(report.state());
  shorter.set_up_seconds(report.up_seconds());
  shorter.set_cpu_seconds(report.cpu_seconds());
  shorter.set_cores(report.cores());
  shorter.set_working_seconds(report.working_seconds());
  shorter.set_steps(report.steps());
  shorter.set_stepping_seconds(report.stepping_seconds());
  shorter.set_step_seconds(report.step_seconds());
  if (report.has_joined_seconds()) shorter.set_joined_seconds(report.joined_seconds());
  std::map<std::string, std::map<uint32_t, double>> bytes;
  for (const auto& traffic : report.received()) {
    std::string job;
    uint32_t index = 0;
    if (SplitName(traffic.from(), &job, &index)) bytes[job][index] += traffic.tensor_bytes();
  }
  for (const auto& [job, by_index] : bytes) {
    auto* columns = shorter.add_received_columns();
    columns->set_job(job);
    uint32_t last = 0;
    for (const auto& [index, count] : by_index) {
      columns->add_index_steps(index - last);
      columns->add_tensor_bytes(static_cast<uint64_t>(Rounded(count, bits)));
      last = index;
    }
  }
  return shorter;
}

// With zlib's header and checksum.
std::string Deflated(const std::string& bytes) {
  uLongf size = ::compressBound(bytes.size());
  std::string out(size, '\0');
  const int result = ::compress2(reinterpret_cast<Bytef*>(out.data()), &size,
                                 reinterpret_cast<const Bytef*>(bytes.data()), bytes.size(), Z_BEST_COMPRESSION);
  out.resize(result == Z_OK ? size : 0);
  return out;
}

}  // namespace

std::string ReportToText(const proto::TaskReport& report) {
  for (const int bits : kPrecisions) {
    const std::string deflated = Deflated(Shortened(report, bits).SerializeAsString());
    const std::string text = StrCat(kBegin, absl::Base64Escape(deflated), "\n");
    if (!deflated.empty() && text.size() <= kMaxReportText) return text;
  }
  return "";
}

StatusOr<proto::TaskReport> ReportFromText(std::string_view text) {
  const size_t begin = text.rfind(kBegin);
  if (begin == std::string_view::npos) return absl::NotFoundError("there is no report of a task");
  text.remove_prefix(begin + kBegin.size());
  text = text.substr(0, text.find_first_of(" \r\n"));
  std::string deflated;
  if (!absl::Base64Unescape({text.data(), text.size()}, &deflated)) return DataLoss("the report of a task is damaged");
  TF_ASSIGN_OR_RETURN(const std::string bytes, Inflate(deflated, Compression::kZlib, kMostBytes));
  proto::TaskReport report;
  if (bytes.empty() || !report.ParseFromString(bytes)) return DataLoss("the report of a task is damaged");
  for (const auto& columns : report.received_columns()) {
    uint32_t index = 0;
    for (int i = 0; i < std::min(columns.index_steps_size(), columns.tensor_bytes_size()); ++i) {
      index += columns.index_steps(i);
      auto* traffic = report.add_received();
      traffic->set_from(StrCat(columns.job(), "/", index));
      traffic->set_tensor_bytes(static_cast<double>(columns.tensor_bytes(i)));
    }
  }
  report.clear_received_columns();
  return report;
}

}  // namespace tensorbraid
