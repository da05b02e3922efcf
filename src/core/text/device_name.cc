#include "core/text/device_name.h"

#include <algorithm>
#include <charconv>

#include "core/text/strings.h"

namespace tensorbraid {
namespace {

bool ParseIndex(std::string_view text, std::optional<int>* out) {
  if (text == "*") {
    out->reset();
    return true;
  }
  int v = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), v);
  if (error != std::errc() || end != text.data() + text.size() || v < 0) return false;
  *out = v;
  return true;
}

bool IsIdentifier(std::string_view s) {
  return !s.empty() && std::isalpha(static_cast<unsigned char>(s[0])) &&
         std::all_of(s.begin(), s.end(), [](unsigned char c) { return std::isalnum(c) || c == '_'; });
}

std::string Upper(std::string_view s) {
  std::string u(s);
  std::transform(u.begin(), u.end(), u.begin(), [](unsigned char c) { return std::toupper(c); });
  return u;
}

}  // namespace

StatusOr<DeviceName> DeviceName::Parse(std::string_view text) {
  DeviceName name;
  const auto bad = [&](std::string_view part) {
    return InvalidArgument("'", text, "' is not a device name (at '", part,
                           "'); the form is /job:NAME/replica:0/task:INDEX/device:TYPE:INDEX, each part optional");
  };
  if (text.empty()) return name;
  if (text[0] != '/') return bad(text);
  for (const std::string& part : StrSplit(text.substr(1), '/')) {
    const size_t colon = part.find(':');
    const std::string key = part.substr(0, colon);
    const std::string value = colon == std::string::npos ? "" : part.substr(colon + 1);
    if (key == "job") {
      if (!IsIdentifier(value)) return bad(part);
      name.job = value;
    } else if (key == "replica") {
      if (!ParseIndex(value, &name.replica)) return bad(part);
    } else if (key == "task") {
      if (!ParseIndex(value, &name.task)) return bad(part);
    } else if (key == "device") {
      const size_t second = value.find(':');
      const std::string type = value.substr(0, second);
      if (type != "*" && !IsIdentifier(type)) return bad(part);
      if (type != "*") name.type = Upper(type);
      if (second != std::string::npos && !ParseIndex(value.substr(second + 1), &name.id)) return bad(part);
    } else if (Upper(key) == "CPU" || Upper(key) == "GPU") {  // "/cpu:0"
      name.type = Upper(key);
      if (colon != std::string::npos && !ParseIndex(value, &name.id)) return bad(part);
    } else {
      return bad(part);
    }
  }
  return name;
}

std::string DeviceName::TaskString() const {
  std::string s;
  if (job) s += "/job:" + *job;
  if (replica) s += "/replica:" + std::to_string(*replica);
  if (task) s += "/task:" + std::to_string(*task);
  return s;
}

std::string DeviceName::ToString() const {
  std::string s = TaskString();
  if (type) s += "/device:" + *type + ":" + (id ? std::to_string(*id) : "*");
  return s;
}

DeviceName DeviceName::MergedOver(const DeviceName& outer) const {
  DeviceName m = *this;
  if (!m.job) m.job = outer.job;
  if (!m.replica) m.replica = outer.replica;
  if (!m.task) m.task = outer.task;
  if (!m.type) {
    m.type = outer.type;
    if (!m.id) m.id = outer.id;
  }
  if (!m.id && m.type == outer.type) m.id = outer.id;
  return m;
}

bool DeviceName::Matches(const DeviceName& full) const {
  return (!job || job == full.job) && (!replica || replica == full.replica) && (!task || task == full.task) &&
         (!type || type == full.type) && (!id || id == full.id);
}

std::string ShortTaskName(std::string_view task) {
  const auto parsed = DeviceName::Parse(task);
  if (!parsed.ok() || !parsed->job || !parsed->task) return std::string(task);
  return StrCat(*parsed->job, "/", *parsed->task);
}

std::string FullTaskName(std::string_view job, int task) { return StrCat("/job:", job, "/replica:0/task:", task); }

}  // namespace tensorbraid
