#include "launch/agent/agent_messages.h"

#include <string.h>

#include <stdexcept>

#include "absl/strings/escaping.h"
#include "core/text/json.h"
#include "core/text/strings.h"

namespace tensorbraid {
namespace {

using Json = nlohmann::json;

// JSON is text in UTF-8, but the output of a program may be any bytes.
Json FromBytes(const std::string& bytes) { return absl::Base64Escape(bytes); }
std::string ToBytes(const Json& json) {
  std::string bytes;
  if (!absl::Base64Unescape(json.get<std::string>(), &bytes)) throw std::invalid_argument("not base64");
  return bytes;
}

Json FromStatus(const Status& status) {
  return {{"code", static_cast<int>(status.code())}, {"message", std::string(status.message())}};
}
Status ToError(const Json& json) {
  Status error(static_cast<absl::StatusCode>(json.at("code").get<int>()), json.at("message").get<std::string>());
  if (error.ok()) throw std::invalid_argument("an error without a code");
  return error;
}

// Each type of message: its name, and both directions.
struct Writer {
  Json operator()(const PrepareNode& m) const {
    return {{"do", "prepare"},
            {"version", m.version},
            {"directory", m.directory},
            {"tasks", m.tasks},
            {"numbers", m.numbers},
            {"ports", m.ports},
            {"makes_key", m.makes_key},
            {"checked_files", m.checked_files},
            {"alive_ms", m.alive_ms},
            {"tasks_get_signals", m.tasks_get_signals},
            {"tasks_move", m.tasks_move},
            {"silence_ms", m.silence_ms},
            {"stop_grace_ms", m.stop_grace_ms}};
  }
  Json operator()(const NodeCertificate& m) const {
    return {{"do", "certify"}, {"certificate", m.certificate}, {"authority", m.authority}};
  }
  Json operator()(const TellMoves& m) const { return {{"do", "tell_moves"}, {"moves", m.moves}}; }
  Json operator()(const ReplaceNode&) const { return {{"do", "replace"}}; }
  Json operator()(const LauncherAlive&) const { return {{"do", "alive"}}; }
  Json operator()(const StartTask& m) const {
    return {{"do", "start"},
            {"task", m.task},
            {"command", m.call.command},
            {"environment", m.call.environment},
            {"knows_flags", m.knows_flags}};
  }
  Json operator()(const SignalTask& m) const { return {{"do", "signal"}, {"task", m.task}, {"signal", m.signal}}; }
  Json operator()(const CloseTaskOutput& m) const { return {{"do", "close_output"}, {"task", m.task}}; }

  Json operator()(const NodeHello& m) const {
    return {{"event", "hello"}, {"rank", m.rank}, {"host", m.host}, {"job", m.job}};
  }
  Json operator()(const NodeAlive&) const { return {{"event", "alive"}}; }
  Json operator()(const LinesLeftOut& m) const { return {{"event", "left_out"}, {"count", m.count}}; }
  Json operator()(const NodeStopping& m) const { return {{"event", "stopping"}, {"signal", m.signal}}; }
  Json operator()(const NodePrepared& m) const {
    return {{"event", "prepared"},
            {"ports", m.ports},
            {"time_ms", m.time_ms},
            {"checksums", m.checksums},
            {"certificate_request", m.certificate_request}};
  }
  Json operator()(const NodeRefused& m) const { return {{"event", "refused"}, {"why", FromStatus(m.why)}}; }
  Json operator()(const TaskStarted& m) const { return {{"event", "started"}, {"task", m.task}, {"pid", m.pid}}; }
  Json operator()(const TaskStartFailed& m) const {
    return {{"event", "start_failed"}, {"task", m.task}, {"why", FromStatus(m.why)}};
  }
  Json operator()(const TaskLine& m) const {
    const char* stream = m.stream == OutputStream::kOut ? "out" : "err";
    return {{"event", "line"}, {"task", m.task}, {"stream", stream}, {"line", FromBytes(m.line)}};
  }
  Json operator()(const TaskEnded& m) const {
    return {{"event", "ended"},
            {"task", m.task},
            {"exit_code", m.end.exit_code},
            {"signal", m.end.signal},
            {"report", FromBytes(m.report)}};
  }
  Json operator()(const TaskOutputEnded& m) const { return {{"event", "output_ended"}, {"task", m.task}}; }
};

AgentRequest ReadRequest(const Json& json) {
  const std::string what = json.at("do");
  if (what == "prepare") {
    return PrepareNode{.version = json.at("version"),
                       .directory = json.at("directory"),
                       .tasks = json.at("tasks"),
                       .numbers = json.at("numbers"),
                       .ports = json.at("ports"),
                       .makes_key = json.at("makes_key"),
                       .checked_files = json.at("checked_files"),
                       .alive_ms = json.at("alive_ms"),
                       .silence_ms = json.at("silence_ms"),
                       .stop_grace_ms = json.at("stop_grace_ms"),
                       .tasks_get_signals = json.at("tasks_get_signals"),
                       .tasks_move = json.at("tasks_move")};
  }
  if (what == "certify") return NodeCertificate{json.at("certificate"), json.at("authority")};
  if (what == "tell_moves") return TellMoves{json.at("moves")};
  if (what == "replace") return ReplaceNode{};
  if (what == "alive") return LauncherAlive{};
  const size_t task = json.at("task");
  if (what == "start") {
    return StartTask{
        task, {.command = json.at("command"), .environment = json.at("environment")}, json.at("knows_flags")};
  }
  if (what == "signal") return SignalTask{task, json.at("signal")};
  if (what == "close_output") return CloseTaskOutput{task};
  throw std::invalid_argument("unknown request " + what);
}

AgentEvent ReadEvent(const Json& json) {
  const std::string what = json.at("event");
  if (what == "hello") return NodeHello{json.at("rank"), json.at("host"), json.value("job", "")};
  if (what == "alive") return NodeAlive{};
  if (what == "stopping") {
    const int signal = json.at("signal");
    if (::sigabbrev_np(signal) == nullptr) throw std::invalid_argument("no signal");
    return NodeStopping{signal};
  }
  if (what == "prepared") {
    return NodePrepared{json.at("ports"), json.at("time_ms"), json.at("checksums"), json.at("certificate_request")};
  }
  if (what == "left_out") return LinesLeftOut{json.at("count")};
  if (what == "refused") return NodeRefused{ToError(json.at("why"))};
  const size_t task = json.at("task");
  if (what == "started") return TaskStarted{task, json.at("pid")};
  if (what == "start_failed") return TaskStartFailed{task, ToError(json.at("why"))};
  if (what == "line") {
    const bool is_out = json.at("stream") == "out";
    return TaskLine{task, is_out ? OutputStream::kOut : OutputStream::kErr, ToBytes(json.at("line"))};
  }
  if (what == "ended") {
    return TaskEnded{
        task, {.exit_code = json.at("exit_code"), .signal = json.at("signal")}, ToBytes(json.at("report"))};
  }
  if (what == "output_ended") return TaskOutputEnded{task};
  throw std::invalid_argument("unknown event " + what);
}

template <typename Message>
StatusOr<Addressed<Message>> Parse(std::string_view line, Message (*read)(const Json&)) {
  try {  // The only exceptions are those of the JSON library, and the two above.
    const Json json = ParseJson(line);
    return Addressed<Message>{json.at("node"), read(json)};
  } catch (const std::exception& error) {
    return InvalidArgument("not a message of the launcher or an agent (", error.what(), "): ", line.substr(0, 200));
  }
}

template <typename Message>
std::string Write(const std::string& node, const Message& message) {
  Json json = std::visit(Writer(), message);
  json["node"] = node;
  return JsonText(json) + "\n";
}

}  // namespace

std::string ToLine(const std::string& node, const AgentRequest& request) { return Write(node, request); }
std::string ToLine(const std::string& node, const AgentEvent& event) { return Write(node, event); }
StatusOr<Addressed<AgentRequest>> ParseAgentRequest(std::string_view line) { return Parse(line, &ReadRequest); }
StatusOr<Addressed<AgentEvent>> ParseAgentEvent(std::string_view line) { return Parse(line, &ReadEvent); }

}  // namespace tensorbraid
