#include "launch/engines/ssh/ssh.h"

#include <charconv>

#include "core/text/strings.h"
#include "io/file.h"
#include "launch/bring/remote_shell.h"
#include "launch/processes/run_command.h"

namespace tensorbraid {
namespace {

StatusOr<int> ParseSlots(std::string_view digits, std::string_view whole) {
  int slots = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), slots);
  if (error != std::errc() || end != digits.data() + digits.size() || slots < 1) {
    return InvalidArgument("'", whole, "': the number of tasks '", digits,
                           "' must be a number from 1 on, as in alpha:4");
  }
  return slots;
}

// "alpha", "user@alpha:4", "[fe80::1]:4".
StatusOr<AgentNode> ParseHost(std::string_view text) {
  AgentNode node;
  std::string_view rest;
  if (const size_t bracket = text.find('['); bracket != std::string_view::npos) {
    const size_t end = text.find(']', bracket);
    if (end == std::string_view::npos) return InvalidArgument("'", text, "': ']' is missing");
    node.name = StrCat(text.substr(0, bracket), text.substr(bracket + 1, end - bracket - 1));
    rest = text.substr(end + 1);
  } else {
    const size_t colon = text.find(':');
    node.name = text.substr(0, colon);
    if (colon != std::string_view::npos) rest = text.substr(colon);
    if (rest.size() > 1 && rest.find(':', 1) != std::string_view::npos) {
      return InvalidArgument("'", text, "': write an IPv6 address in brackets, as in [", text, "]:4");
    }
  }
  if (node.name.empty() || node.name.starts_with('-')) return InvalidArgument("'", text, "' is no name of a machine");
  if (rest.empty()) return node;
  if (!rest.starts_with(':')) return InvalidArgument("'", text, "': unexpected '", rest, "'");
  TF_ASSIGN_OR_RETURN(node.slots, ParseSlots(rest.substr(1), text));
  return node;
}

// The name or address behind the name that the user gives, which may be an alias of ssh's configuration.
StatusOr<std::string> RealHost(const std::vector<std::string>& ssh, const std::string& name) {
  std::vector<std::string> command = ssh;
  command.insert(command.end(), {"-G", name});
  TF_ASSIGN_OR_RETURN(const std::string configuration, RunCommand(command));
  for (const std::string& line : StrSplit(configuration, '\n')) {
    if (line.starts_with("hostname ")) return line.substr(9);
  }
  return absl::InternalError(StrCat("'", StrJoin(command, " "), "' prints no line 'hostname'"));
}

}  // namespace

StatusOr<std::vector<AgentNode>> ParseHosts(const std::string& list) {
  std::vector<AgentNode> nodes;
  for (const std::string& text : StrSplit(list, ',')) {
    if (text.empty()) return InvalidArgument("--hosts=", list, ": a name is missing between the commas");
    auto node = ParseHost(text);
    if (!node.ok()) return Annotate(node.status(), "--hosts");
    nodes.push_back(*std::move(node));
  }
  return nodes;
}

StatusOr<std::vector<AgentNode>> ReadHostFile(const std::string& path) {
  TF_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  std::vector<AgentNode> nodes;
  int number = 0;
  for (const std::string& line : StrSplit(text, '\n')) {
    ++number;
    std::vector<std::string> words;
    for (const std::string& word : StrSplit(line.substr(0, line.find('#')), ' ')) {
      for (const std::string& part : StrSplit(word, '\t')) {
        if (!part.empty()) words.push_back(part);
      }
    }
    if (words.empty()) continue;
    const std::string where = StrCat(path, ":", number);
    auto node = ParseHost(words[0]);
    if (!node.ok()) return Annotate(node.status(), where);
    for (size_t i = 1; i < words.size(); ++i) {
      if (words[i].starts_with("slots=")) {
        auto slots = ParseSlots(words[i].substr(6), words[i]);
        if (!slots.ok()) return Annotate(slots.status(), where);
        node->slots = *slots;
      } else if (!words[i].starts_with("max_slots=") && !words[i].starts_with("max-slots=")) {
        return InvalidArgument(where, ": '", words[i], "' is not understood; a line is a name, and perhaps slots=N");
      }
    }
    nodes.push_back(*std::move(node));
  }
  if (nodes.empty()) return InvalidArgument("'", path, "' names no machine");
  return nodes;
}

StatusOr<std::unique_ptr<Engine>> NewSshEngine(const SshOptions& options) {
  TF_RETURN_IF_ERROR(CheckNames(options.nodes));
  AgentEngineOptions engine{.nodes = options.nodes,
                            .command = nullptr,
                            .version = options.version,
                            .directory = options.directory,
                            .checked_files = options.checked_files,
                            .alive = std::chrono::seconds(5),  // ssh itself notices most losses before that
                            .silence = options.silence,
                            .stop_grace = options.stop_grace};
  for (AgentNode& node : engine.nodes) {
    TF_ASSIGN_OR_RETURN(node.host, RealHost(options.ssh, node.name));
  }
  engine.command = [ssh = options.ssh, program = options.remote_program](const AgentNode& node) {
    std::vector<std::string> command = ssh;
    const std::vector<std::string>& always = SshOptionsOfLauncher();
    command.push_back("-T");
    command.insert(command.end(), always.begin(), always.end());
    command.insert(command.end(), {node.name, "--"});
    // The user's shell there may be another one, so sh is asked.
    const std::string script = AgentScript(program, "--node=" + ShellWord(node.name));
    command.push_back("exec sh -c " + ShellWord(script));
    return command;
  };
  engine.hint = StrCat("try '", StrJoin(options.ssh, " "), " NODE true', which must work without a password");
  TF_RETURN_IF_ERROR(SetSpares(options.spare_nodes, &engine));
  if (options.tls) TF_RETURN_IF_ERROR(AddJobCredentials(&engine));
  return std::make_unique<AgentEngine>(std::move(engine));
}

}  // namespace tensorbraid
