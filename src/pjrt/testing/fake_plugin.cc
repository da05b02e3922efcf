#include "pjrt/testing/fake_plugin.h"

#include <algorithm>
#include <cctype>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "pjrt/c_api.h"

namespace tensorbraid::pjrt {
namespace {

// Says when work may be done and programs may be compiled, and when some work has been done.
struct Gate {
  std::mutex mu;
  std::condition_variable changed;
  bool holds = false;
  bool holds_compiles = false;
};
Gate& TheGate() {
  static auto* const gate = new Gate;
  return *gate;
}
void HoldWork(bool hold);
void WaitForWork();
void HoldCompiles(bool hold);

FakePluginControl control{.hold_work = HoldWork, .wait_for_work = WaitForWork, .hold_compiles = HoldCompiles};

void HoldWork(bool hold) {
  std::lock_guard lock(TheGate().mu);
  TheGate().holds = hold;
  TheGate().changed.notify_all();
}
void HoldCompiles(bool hold) {
  std::lock_guard lock(TheGate().mu);
  TheGate().holds_compiles = hold;
  TheGate().changed.notify_all();
}
void WaitForWork() {
  std::unique_lock lock(TheGate().mu);
  TheGate().changed.wait(lock, [] { return control.work == 0; });
}

}  // namespace

namespace c_api {

struct Error {
  Error(int code, std::string message) : code(code), message(std::move(message)) { ++control.errors; }
  Error(const Error& other) : code(other.code), message(other.message) { ++control.errors; }
  ~Error() { --control.errors; }
  const int code;
  const std::string message;
};

}  // namespace c_api

namespace {

using c_api::ElementType;
using c_api::Error;

// Counts a call, and makes its error if it is to fail.
Error* Fail(const char* name) {
  const int call = control.calls++;
  const char* next = control.fail_next;
  const bool is_next = next != nullptr && std::string_view(next) == name;
  if (call != control.fail_at && !(is_next && control.fail_next.compare_exchange_strong(next, nullptr))) return nullptr;
  control.failed = name;
  return new Error(control.code, std::string("made to fail: ") + name);
}

// Begins a function that may fail before it has done anything.
#define FAKE_MAY_FAIL(name) \
  if (Error* const made = Fail(name); made != nullptr) return made

Error* Invalid(const std::string& message) { return new Error(3, message); }

using ErrorValue = std::shared_ptr<const Error>;

// Something that happens once, which events and work wait for.
class Moment {
 public:
  void Happen(ErrorValue error) {
    std::vector<std::function<void(const ErrorValue&)>> callbacks;
    {
      std::lock_guard lock(mu_);
      happened_ = true;
      error_ = std::move(error);
      callbacks.swap(callbacks_);
    }
    cv_.notify_all();
    for (const auto& callback : callbacks) callback(error_);
  }
  ErrorValue Wait() {
    std::unique_lock lock(mu_);
    cv_.wait(lock, [this] { return happened_; });
    return error_;
  }
  bool happened() {
    std::lock_guard lock(mu_);
    return happened_;
  }
  void Then(std::function<void(const ErrorValue&)> callback) {
    {
      std::lock_guard lock(mu_);
      if (!happened_) return callbacks_.push_back(std::move(callback));
    }
    callback(error_);
  }

 private:
  std::mutex mu_;
  std::condition_variable cv_;
  bool happened_ = false;
  ErrorValue error_;
  std::vector<std::function<void(const ErrorValue&)>> callbacks_;
};

Error* Copy(const ErrorValue& error) { return error == nullptr ? nullptr : new Error(*error); }

// Bytes of a device. The stream's thread alone reads and writes them.
struct Block {
  explicit Block(size_t size) : size(size), bytes(new char[size]) {}
  ~Block() { std::fill_n(bytes.get(), size, char(0xDD)); }
  void Write(const void* from) {
    if (size > 0) std::memcpy(bytes.get(), from, size);
  }
  const size_t size;
  const std::unique_ptr<char[]> bytes;
};

// Does work in order, until the process ends.
class Stream {
 public:
  static Stream& Get() {
    static auto* const stream = new Stream;
    return *stream;
  }
  void Add(std::function<void()> work) {
    ++control.work;
    std::lock_guard lock(mu_);
    work_.push_back(std::move(work));
    cv_.notify_all();
  }

 private:
  Stream() {
    std::thread([this] { Run(); }).detach();
  }
  void Run() {
    while (true) {
      std::unique_lock lock(mu_);
      cv_.wait(lock, [this] { return !work_.empty(); });
      auto work = std::move(work_.front());
      work_.pop_front();
      lock.unlock();
      {
        std::unique_lock gate(TheGate().mu);
        TheGate().changed.wait(gate, [] { return !TheGate().holds; });
      }
      work();
      work = nullptr;
      std::lock_guard gate(TheGate().mu);
      --control.work;
      TheGate().changed.notify_all();
    }
  }
  std::mutex mu_;
  std::condition_variable cv_;
  std::deque<std::function<void()>> work_;
};

struct ArrayType {
  ElementType type = ElementType::kF32;
  std::vector<int64_t> dims;
  size_t num_elements() const {
    size_t n = 1;
    for (const int64_t d : dims) n *= static_cast<size_t>(d);
    return n;
  }
};

size_t SizeOf(ElementType type) {
  switch (type) {
    case ElementType::kPred:
    case ElementType::kS8:
    case ElementType::kU8:
      return 1;
    case ElementType::kS16:
    case ElementType::kU16:
    case ElementType::kF16:
    case ElementType::kBF16:
      return 2;
    case ElementType::kS32:
    case ElementType::kU32:
    case ElementType::kF32:
      return 4;
    case ElementType::kC128:
      return 16;
    default:
      return 8;
  }
}

struct Op {
  std::string name;
  std::vector<int> operands;  // numbers of values
};

// A program: values are numbered, first the arguments, then the results of ops.
struct Code {
  std::string text;
  std::vector<ArrayType> arguments;
  std::vector<int> donated_to;  // by argument: an output, or -1
  std::vector<Op> ops;
  std::vector<ArrayType> types;  // of values
  std::vector<int> outputs;
};

}  // namespace

namespace c_api {

struct Event {
  explicit Event(std::shared_ptr<Moment> moment) : moment(std::move(moment)) { ++control.events; }
  ~Event() { --control.events; }
  const std::shared_ptr<Moment> moment;
};

struct DeviceDescription {
  int id;
};

struct Device {
  DeviceDescription description;
};

struct Client {
  explicit Client(int devices) {
    ++control.clients;
    for (int i = 0; i < devices; ++i) {
      owned.push_back(std::make_unique<Device>(Device{{i}}));
      list.push_back(owned.back().get());
    }
  }
  ~Client() { --control.clients; }
  std::vector<std::unique_ptr<Device>> owned;
  std::vector<Device*> list;
};

struct Buffer {
  Buffer(Client* client, Device* device, ArrayType type, std::shared_ptr<Block> memory)
      : client(client), device(device), type(std::move(type)), memory(std::move(memory)) {
    ++control.buffers;
  }
  ~Buffer() { --control.buffers; }
  Client* const client;
  Device* const device;
  const ArrayType type;
  std::shared_ptr<Block> memory;  // null: consumed
  const std::shared_ptr<Moment> ready = std::make_shared<Moment>();
};

struct LoadedExecutable {
  LoadedExecutable(Client* client, std::shared_ptr<const Code> code) : client(client), code(std::move(code)) {
    ++control.programs;
  }
  ~LoadedExecutable() { --control.programs; }
  Client* const client;
  const std::shared_ptr<const Code> code;
};

struct Executable {
  explicit Executable(std::shared_ptr<const Code> code) : code(std::move(code)) {
    ++control.programs;
    for (const int output : this->code->outputs) {
      const ArrayType& type = this->code->types[output];
      types.push_back(type.type);
      ranks.push_back(type.dims.size());
      dims.insert(dims.end(), type.dims.begin(), type.dims.end());
    }
  }
  ~Executable() { --control.programs; }
  const std::shared_ptr<const Code> code;
  std::vector<ElementType> types;
  std::vector<int64_t> dims;
  std::vector<size_t> ranks;
};

struct SerializedExecutable {
  std::string bytes;
};

struct Topology {
  Topology() { ++control.topologies; }
  ~Topology() { --control.topologies; }
};

}  // namespace c_api

namespace {

using namespace c_api;  // NOLINT: the objects of the interface

// Reads the text of a program.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  // Returns false if the text is wrong; see error().
  bool Parse(Code* code) {
    code->text = text_;
    if (!SkipTo("@main(")) return Wrong("no function @main");
    while (!Accept(")")) {
      std::string name;
      ArrayType type;
      if (!Name(&name) || !Accept(":") || !Type(&type)) return Wrong("an argument");
      int output = -1;
      if (Accept("{")) {
        if (!Accept("tf.aliasing_output") || !Accept("=") || !Number(&output) || !Accept(":") || !Accept("i32") ||
            !Accept("}")) {
          return Wrong("an attribute");
        }
      }
      numbers_[name] = static_cast<int>(code->types.size());
      code->arguments.push_back(type);
      code->types.push_back(type);
      code->donated_to.push_back(output);
      Accept(",");
    }
    if (!SkipTo("{")) return Wrong("no body");
    bool generic = false;
    while (!(generic = Accept("\"func.return\"(")) && !Accept("return")) {
      std::string name;
      Op op;
      ArrayType type;
      if (!Name(&name) || !Accept("=") || !Accept("\"stablehlo.") || !Word(&op.name) || !Accept("\"(")) {
        return Wrong("an op");
      }
      if (!Operands(&op.operands) || !Accept(")") || !SkipAttributes() || !SkipTo("->") || !Type(&type)) {
        return Wrong("operands or types");
      }
      numbers_[name] = static_cast<int>(code->types.size());
      code->types.push_back(type);
      code->ops.push_back(op);
    }
    if (!Operands(&code->outputs) || !Accept(generic ? ")" : ":")) return Wrong("a return");
    return true;
  }
  const std::string& error() const { return error_; }

 private:
  bool Wrong(const std::string& what) {
    error_ = "the fake plugin cannot read the program: " + what + " at '" + std::string(text_.substr(0, 30)) + "'";
    return false;
  }
  void SkipSpace() {
    while (!text_.empty() && std::strchr(" \n\t", text_[0]) != nullptr) text_.remove_prefix(1);
  }
  bool Accept(std::string_view token) {
    SkipSpace();
    if (!text_.starts_with(token)) return false;
    text_.remove_prefix(token.size());
    return true;
  }
  // Skips `<{...}>` and the regions `({...}, {...})` of an op.
  bool SkipAttributes() {
    if (Accept("<{") && !SkipTo("}>")) return false;
    if (!Accept("(")) return true;
    for (int depth = 1; depth > 0; text_.remove_prefix(1)) {
      if (text_.empty()) return false;
      depth += text_[0] == '(' ? 1 : text_[0] == ')' ? -1 : 0;
    }
    return true;
  }
  bool SkipTo(std::string_view token) {
    const size_t at = text_.find(token);
    if (at == std::string_view::npos) return false;
    text_.remove_prefix(at + token.size());
    return true;
  }
  bool Word(std::string* word) {
    size_t n = 0;
    while (n < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[n])) != 0 || text_[n] == '_')) ++n;
    *word = text_.substr(0, n);
    text_.remove_prefix(n);
    return n > 0;
  }
  bool Name(std::string* name) { return Accept("%") && Word(name); }
  bool Number(int* number) {
    SkipSpace();
    std::string word;
    if (!Word(&word)) return false;
    *number = std::atoi(word.c_str());
    return true;
  }
  bool Type(ArrayType* type) {
    if (!Accept("tensor<")) return false;
    while (!text_.empty() && std::isdigit(static_cast<unsigned char>(text_[0])) != 0) {
      int64_t size = 0;
      size_t n = 0;
      while (n < text_.size() && std::isdigit(static_cast<unsigned char>(text_[n])) != 0)
        size = size * 10 + (text_[n++] - '0');
      text_.remove_prefix(n);
      if (!Accept("x")) return false;
      type->dims.push_back(size);
    }
    for (const auto& [name, element] : kTypes) {
      if (!Accept(name)) continue;
      type->type = element;
      return true;
    }
    return false;
  }
  bool Operands(std::vector<int>* operands) {
    if (SkipSpace(); text_.starts_with(")")) return true;
    do {
      std::string name;
      if (!Name(&name) || !numbers_.contains(name)) return false;
      operands->push_back(numbers_[name]);
    } while (Accept(","));
    return true;
  }

  static constexpr std::pair<const char*, ElementType> kTypes[] = {
      {"f32>", ElementType::kF32}, {"f64>", ElementType::kF64}, {"i1>", ElementType::kPred},
      {"i32>", ElementType::kS32}, {"i64>", ElementType::kS64}, {"ui64>", ElementType::kU64}};

  std::string_view text_;
  std::map<std::string, int> numbers_;
  std::string error_;
};

bool Computes(const std::string& op) {
  static constexpr const char* kOps[] = {"add", "subtract", "multiply", "divide", "negate"};
  return std::count(std::begin(kOps), std::end(kOps), op) > 0;
}

float Compute(const std::string& op, float a, float b) {
  if (op == "add") return a + b;
  if (op == "subtract") return a - b;
  if (op == "multiply") return a * b;
  if (op == "divide") return a / b;
  return -a;
}

// The bytes of the outputs.
std::vector<std::vector<char>> Interpret(const Code& code, const std::vector<std::shared_ptr<Block>>& arguments) {
  std::vector<std::vector<char>> values;
  for (const auto& argument : arguments) {
    values.emplace_back(argument->bytes.get(), argument->bytes.get() + argument->size);
  }
  for (const Op& op : code.ops) {
    const ArrayType& type = code.types[values.size()];
    std::vector<char> result(type.num_elements() * SizeOf(type.type));
    if (Computes(op.name) && type.type == ElementType::kF32) {
      const std::vector<char>&a = values[op.operands.front()], &b = values[op.operands.back()];
      for (size_t at = 0; at < result.size(); at += sizeof(float)) {
        float x, y;
        std::memcpy(&x, &a[at], sizeof(float));
        std::memcpy(&y, &b[at], sizeof(float));
        const float z = Compute(op.name, x, y);
        std::memcpy(&result[at], &z, sizeof(float));
      }
    }
    values.push_back(std::move(result));
  }
  std::vector<std::vector<char>> outputs;
  for (const int output : code.outputs) {
    outputs.push_back(values[output]);
    if (code.types[output].type != ElementType::kS64) continue;
    for (size_t i = 0; i < std::size(control.integers) && i < code.types[output].num_elements(); ++i) {
      const int64_t integer = control.integers[i];
      std::memcpy(&outputs.back()[i * sizeof(integer)], &integer, sizeof(integer));
    }
  }
  return outputs;
}

// Enqueues work, which returns its error, behind the work that makes `inputs`. Work that is made to fail is not done.
void Enqueue(const char* name, std::vector<std::shared_ptr<Moment>> inputs, std::function<void()> work,
             std::function<void(ErrorValue)> done) {
  const ErrorValue made(Fail(name));
  Stream::Get().Add([made, inputs = std::move(inputs), work = std::move(work), done = std::move(done)] {
    ErrorValue error = made;
    for (const auto& input : inputs) {
      ErrorValue of_input = input->Wait();
      if (error == nullptr) error = of_input;
    }
    if (error == nullptr) work();
    done(error);
  });
}

// The functions of the table.

void ErrorDestroy(ErrorDestroyArgs* args) { delete args->error; }
void ErrorMessage(ErrorMessageArgs* args) {
  args->message = args->error->message.data();
  args->message_size = args->error->message.size();
}
Error* ErrorGetCode(ErrorGetCodeArgs* args) {
  args->code = static_cast<ErrorCode>(args->error->code);
  return nullptr;
}

Error* PluginInitialize(PluginInitializeArgs*) {
  FAKE_MAY_FAIL("Plugin_Initialize");
  return nullptr;
}
Error* PluginAttributes(PluginAttributesArgs* args) {
  FAKE_MAY_FAIL("Plugin_Attributes");
  static constexpr int64_t kVersion[] = {1, 13, 3};
  static const NamedValue attributes[] = {[] {
    NamedValue value;
    value.name = "stablehlo_current_version";
    value.name_size = std::strlen(value.name);
    value.type = ValueType::kInt64List;
    value.int64_list_value = kVersion;
    value.value_size = 3;
    return value;
  }()};
  args->attributes = attributes;
  args->num_attributes = 1;
  return nullptr;
}

Error* EventDestroy(EventDestroyArgs* args) {
  delete args->event;
  return Fail("Event_Destroy");
}
Error* EventIsReady(EventIsReadyArgs* args) {
  FAKE_MAY_FAIL("Event_IsReady");
  args->is_ready = args->event->moment->happened();
  return nullptr;
}
Error* EventAwait(EventAwaitArgs* args) {
  const ErrorValue error = args->event->moment->Wait();
  FAKE_MAY_FAIL("Event_Await");
  return Copy(error);
}
Error* EventOnReady(EventOnReadyArgs* args) {
  FAKE_MAY_FAIL("Event_OnReady");
  const std::shared_ptr<Moment> moment = args->event->moment;
  moment->Then([callback = args->callback, arg = args->user_arg](const ErrorValue& e) { callback(Copy(e), arg); });
  return nullptr;
}

Error* ClientCreate(ClientCreateArgs* args) {
  FAKE_MAY_FAIL("Client_Create");
  int devices = 2;
  for (size_t i = 0; i < args->num_options; ++i) {
    const NamedValue& option = args->create_options[i];
    if (std::string(option.name, option.name_size) != "cpu_device_count" || option.type != ValueType::kInt64) {
      return Invalid("wrong option " + std::string(option.name, option.name_size));
    }
    devices = static_cast<int>(option.int64_value);
  }
  args->client = new Client(devices);
  return nullptr;
}
Error* ClientDestroy(ClientDestroyArgs* args) {
  delete args->client;
  return Fail("Client_Destroy");
}
Error* ClientPlatformName(ClientPlatformNameArgs* args) {
  FAKE_MAY_FAIL("Client_PlatformName");
  args->platform_name = "fake";
  args->platform_name_size = 4;
  return nullptr;
}
Error* ClientPlatformVersion(ClientPlatformVersionArgs* args) {
  FAKE_MAY_FAIL("Client_PlatformVersion");
  args->platform_version = "1";
  args->platform_version_size = 1;
  return nullptr;
}
Error* ClientAddressableDevices(ClientAddressableDevicesArgs* args) {
  FAKE_MAY_FAIL("Client_AddressableDevices");
  args->addressable_devices = args->client->list.data();
  args->num_addressable_devices = args->client->list.size();
  return nullptr;
}
Error* ClientCompile(ClientCompileArgs* args) {
  ++control.compiles;
  {
    std::unique_lock gate(TheGate().mu);
    TheGate().changed.wait(gate, [] { return !TheGate().holds_compiles; });
  }
  FAKE_MAY_FAIL("Client_Compile");
  auto code = std::make_shared<Code>();
  Parser parser(std::string_view(args->program->code, args->program->code_size));
  if (!parser.Parse(code.get())) return Invalid(parser.error());
  args->executable = new LoadedExecutable(args->client, std::move(code));
  return nullptr;
}
Error* ClientBufferFromHostBuffer(ClientBufferFromHostBufferArgs* args) {
  FAKE_MAY_FAIL("Client_BufferFromHostBuffer");
  ++control.copies_to_device;
  ArrayType type{args->type, {args->dims, args->dims + args->num_dims}};
  const size_t size = type.num_elements() * SizeOf(type.type);
  auto* const buffer = new Buffer(args->client, args->device, std::move(type), std::make_shared<Block>(size));
  auto copied = std::make_shared<Moment>();
  Enqueue(
      "work of Client_BufferFromHostBuffer", {}, [to = buffer->memory, from = args->data] { to->Write(from); },
      [copied, ready = buffer->ready](const ErrorValue& error) {
        ready->Happen(error);
        copied->Happen(error);
      });
  args->buffer = buffer;
  args->done_with_host_buffer = new Event(std::move(copied));
  return nullptr;
}

Error* DescriptionId(DeviceDescriptionIdArgs* args) {
  FAKE_MAY_FAIL("DeviceDescription_Id");
  args->id = args->device_description->id;
  return nullptr;
}
Error* DescriptionKind(DeviceDescriptionKindArgs* args) {
  FAKE_MAY_FAIL("DeviceDescription_Kind");
  args->device_kind = "fake";
  args->device_kind_size = 4;
  return nullptr;
}
Error* DeviceGetDescription(DeviceGetDescriptionArgs* args) {
  FAKE_MAY_FAIL("Device_GetDescription");
  args->device_description = &args->device->description;
  return nullptr;
}
Error* DeviceMemoryStats(DeviceMemoryStatsArgs* args) {
  FAKE_MAY_FAIL("Device_MemoryStats");
  args->bytes_limit = int64_t{1} << 30;
  args->bytes_limit_is_set = true;
  return nullptr;
}

Error* ExecutableDestroy(ExecutableDestroyArgs* args) {
  delete args->executable;
  return Fail("Executable_Destroy");
}
Error* ExecutableNumOutputs(ExecutableNumOutputsArgs* args) {
  FAKE_MAY_FAIL("Executable_NumOutputs");
  args->num_outputs = args->executable->types.size();
  return nullptr;
}
Error* ExecutableOutputElementTypes(ExecutableOutputElementTypesArgs* args) {
  FAKE_MAY_FAIL("Executable_OutputElementTypes");
  args->output_types = args->executable->types.data();
  args->num_output_types = args->executable->types.size();
  return nullptr;
}
Error* ExecutableOutputDimensions(ExecutableOutputDimensionsArgs* args) {
  FAKE_MAY_FAIL("Executable_OutputDimensions");
  args->num_outputs = args->executable->ranks.size();
  args->dims = args->executable->dims.data();
  args->dim_sizes = args->executable->ranks.data();
  return nullptr;
}
Error* ExecutableGetCompiledMemoryStats(ExecutableGetCompiledMemoryStatsArgs* args) {
  FAKE_MAY_FAIL("Executable_GetCompiledMemoryStats");
  for (const ArrayType& argument : args->executable->code->arguments) {
    args->argument_size_in_bytes += static_cast<int64_t>(argument.num_elements() * SizeOf(argument.type));
  }
  return nullptr;
}
Error* ExecutableSerialize(ExecutableSerializeArgs* args) {
  FAKE_MAY_FAIL("Executable_Serialize");
  args->serialized_executable = new SerializedExecutable{args->executable->code->text};
  args->serialized_bytes = args->serialized_executable->bytes.data();
  args->serialized_bytes_size = args->serialized_executable->bytes.size();
  args->serialized_executable_deleter = [](SerializedExecutable* bytes) { delete bytes; };
  return nullptr;
}
Error* DeserializeAndLoad(ExecutableDeserializeAndLoadArgs* args) {
  FAKE_MAY_FAIL("Executable_DeserializeAndLoad");
  auto code = std::make_shared<Code>();
  Parser parser(std::string_view(args->serialized_executable, args->serialized_executable_size));
  if (!parser.Parse(code.get())) return Invalid(parser.error());
  args->loaded_executable = new LoadedExecutable(args->client, std::move(code));
  return nullptr;
}
Error* LoadedExecutableDestroy(LoadedExecutableDestroyArgs* args) {
  delete args->executable;
  return Fail("LoadedExecutable_Destroy");
}
Error* GetExecutable(LoadedExecutableGetExecutableArgs* args) {
  FAKE_MAY_FAIL("LoadedExecutable_GetExecutable");
  args->executable = new Executable(args->loaded_executable->code);
  return nullptr;
}

Error* Execute(LoadedExecutableExecuteArgs* args) {
  Client* const client = args->executable->client;
  const std::shared_ptr<const Code> code = args->executable->code;
  if (args->num_args != code->arguments.size()) return Invalid("wrong number of arguments");
  Buffer* const* const inputs = args->argument_lists[0];
  const ExecuteOptions& options = *args->options;
  const auto donated = [&](size_t i) {
    const int64_t* kept = options.non_donatable_input_indices;
    return code->donated_to[i] >= 0 &&
           std::find(kept, kept + options.num_non_donatable_input_indices, static_cast<int64_t>(i)) ==
               kept + options.num_non_donatable_input_indices;
  };
  std::vector<std::shared_ptr<Moment>> ready;
  std::vector<std::shared_ptr<Block>> memory;
  for (size_t i = 0; i < args->num_args; ++i) {
    const ArrayType& type = code->arguments[i];
    if (inputs[i]->memory == nullptr) return Invalid("an argument has been consumed");
    if (inputs[i]->memory->size != type.num_elements() * SizeOf(type.type)) return Invalid("a wrong size");
    if (inputs[i]->device != args->execute_device) return Invalid("an argument of another device");
    for (size_t j = 0; j < args->num_args; ++j) {
      if (j != i && inputs[i] == inputs[j] && donated(i)) return Invalid("a donated argument is given twice");
    }
    ready.push_back(inputs[i]->ready);
    memory.push_back(inputs[i]->memory);
  }
  ++control.runs;
  Error* const made = Fail("LoadedExecutable_Execute");
  std::vector<std::shared_ptr<Block>> results(code->outputs.size());
  for (size_t i = 0; i < args->num_args; ++i) {
    if (!donated(i) || (made != nullptr && !control.consumes_when_failing)) continue;
    results[code->donated_to[i]] = std::move(inputs[i]->memory);
  }
  if (made != nullptr) return made;
  std::vector<std::shared_ptr<Moment>> made_ready;
  for (size_t i = 0; i < results.size(); ++i) {
    const ArrayType& type = code->types[code->outputs[i]];
    if (results[i] == nullptr) results[i] = std::make_shared<Block>(type.num_elements() * SizeOf(type.type));
    auto* const output = new Buffer(client, args->execute_device, type, results[i]);
    made_ready.push_back(output->ready);
    args->output_lists[0][i] = output;
  }
  auto done = std::make_shared<Moment>();
  Enqueue(
      "work of LoadedExecutable_Execute", std::move(ready),
      [code, memory, results] {
        const auto bytes = Interpret(*code, memory);
        for (size_t i = 0; i < results.size(); ++i) results[i]->Write(bytes[i].data());
      },
      [made_ready, done](const ErrorValue& error) {
        for (const auto& output : made_ready) output->Happen(error);
        done->Happen(error);
      });
  if (args->device_complete_events != nullptr) args->device_complete_events[0] = new Event(std::move(done));
  return nullptr;
}

// Needs a description of a card, and does not read it.
Error* TopologyCreate(TopologyDescriptionCreateArgs* args) {
  FAKE_MAY_FAIL("TopologyDescription_Create");
  for (size_t i = 0; i < args->num_options; ++i) {
    const NamedValue& option = args->create_options[i];
    if (std::string_view(option.name, option.name_size) != "target_config" || option.value_size == 0) continue;
    args->topology = new Topology;
    return nullptr;
  }
  return Invalid("no target_config");
}
Error* TopologyDestroy(TopologyDescriptionDestroyArgs* args) {
  delete args->topology;
  return Fail("TopologyDescription_Destroy");
}
Error* Compile(CompileArgs* args) {
  FAKE_MAY_FAIL("Compile");
  if (args->compile_options_size == 0) return Invalid("no options");
  auto code = std::make_shared<Code>();
  Parser parser(std::string_view(args->program->code, args->program->code_size));
  if (!parser.Parse(code.get())) return Invalid(parser.error());
  args->executable = new Executable(std::move(code));
  return nullptr;
}

Error* BufferDestroy(BufferDestroyArgs* args) {
  delete args->buffer;
  return Fail("Buffer_Destroy");
}
Error* BufferIsDeleted(BufferIsDeletedArgs* args) {
  FAKE_MAY_FAIL("Buffer_IsDeleted");
  args->is_deleted = args->buffer->memory == nullptr;
  return nullptr;
}
Error* BufferCopyToDevice(BufferCopyToDeviceArgs* args) {
  FAKE_MAY_FAIL("Buffer_CopyToDevice");
  const Buffer& from = *args->buffer;
  if (from.memory == nullptr) return Invalid("the buffer has been consumed");
  auto* const to = new Buffer(from.client, args->dst_device, from.type, std::make_shared<Block>(from.memory->size));
  Enqueue(
      "work of Buffer_CopyToDevice", {from.ready},
      [memory = from.memory, copy = to->memory] { copy->Write(memory->bytes.get()); },
      [ready = to->ready](const ErrorValue& error) { ready->Happen(error); });
  args->dst_buffer = to;
  return nullptr;
}
Error* BufferToHostBuffer(BufferToHostBufferArgs* args) {
  FAKE_MAY_FAIL("Buffer_ToHostBuffer");
  ++control.copies_to_host;
  const Buffer& from = *args->src;
  if (from.memory == nullptr) return Invalid("the buffer has been consumed");
  if (args->dst_size < from.memory->size) return Invalid("the memory is too small");
  auto copied = std::make_shared<Moment>();
  Enqueue(
      "work of Buffer_ToHostBuffer", {from.ready},
      [memory = from.memory, to = args->dst] {
        if (memory->size > 0) std::memcpy(to, memory->bytes.get(), memory->size);
      },
      [copied](const ErrorValue& error) { copied->Happen(error); });
  args->event = new Event(std::move(copied));
  return nullptr;
}
Error* BufferReadyEvent(BufferReadyEventArgs* args) {
  FAKE_MAY_FAIL("Buffer_ReadyEvent");
  args->event = new Event(args->buffer->ready);
  return nullptr;
}
Error* BufferUnsafePointer(BufferUnsafePointerArgs* args) {
  FAKE_MAY_FAIL("Buffer_UnsafePointer");
  if (args->buffer->memory == nullptr) return Invalid("the buffer has been consumed");
  args->buffer_pointer = reinterpret_cast<uintptr_t>(args->buffer->memory->bytes.get());
  return nullptr;
}

Api MakeApi() {
  Api api;
  api.struct_size = sizeof(Api);
  api.version = {.struct_size = sizeof(ApiVersion), .extensions = nullptr, .major = 0, .minor = 81};
  api.Error_Destroy = ErrorDestroy;
  api.Error_Message = ErrorMessage;
  api.Error_GetCode = ErrorGetCode;
  api.Plugin_Initialize = PluginInitialize;
  api.Plugin_Attributes = PluginAttributes;
  api.Event_Destroy = EventDestroy;
  api.Event_IsReady = EventIsReady;
  api.Event_Await = EventAwait;
  api.Event_OnReady = EventOnReady;
  api.Client_Create = ClientCreate;
  api.Client_Destroy = ClientDestroy;
  api.Client_PlatformName = ClientPlatformName;
  api.Client_PlatformVersion = ClientPlatformVersion;
  api.Client_AddressableDevices = ClientAddressableDevices;
  api.Client_Compile = ClientCompile;
  api.Client_BufferFromHostBuffer = ClientBufferFromHostBuffer;
  api.DeviceDescription_Id = DescriptionId;
  api.DeviceDescription_Kind = DescriptionKind;
  api.Device_GetDescription = DeviceGetDescription;
  api.Device_MemoryStats = DeviceMemoryStats;
  api.Executable_Destroy = ExecutableDestroy;
  api.Executable_NumOutputs = ExecutableNumOutputs;
  api.Executable_OutputElementTypes = ExecutableOutputElementTypes;
  api.Executable_OutputDimensions = ExecutableOutputDimensions;
  api.Executable_GetCompiledMemoryStats = ExecutableGetCompiledMemoryStats;
  api.Executable_Serialize = ExecutableSerialize;
  api.Executable_DeserializeAndLoad = DeserializeAndLoad;
  api.LoadedExecutable_Destroy = LoadedExecutableDestroy;
  api.LoadedExecutable_GetExecutable = GetExecutable;
  api.LoadedExecutable_Execute = Execute;
  api.Buffer_Destroy = BufferDestroy;
  api.Buffer_IsDeleted = BufferIsDeleted;
  api.Buffer_CopyToDevice = BufferCopyToDevice;
  api.Buffer_ToHostBuffer = BufferToHostBuffer;
  api.Buffer_ReadyEvent = BufferReadyEvent;
  api.Buffer_UnsafePointer = BufferUnsafePointer;
  api.TopologyDescription_Create = TopologyCreate;
  api.TopologyDescription_Destroy = TopologyDestroy;
  api.Compile = Compile;
  return api;
}

}  // namespace
}  // namespace tensorbraid::pjrt

extern "C" __attribute__((visibility("default"))) const tensorbraid::pjrt::c_api::Api* GetPjrtApi() {
  static const tensorbraid::pjrt::c_api::Api api = [] {
    tensorbraid::pjrt::c_api::Api made = tensorbraid::pjrt::MakeApi();
    if (const char* minor = std::getenv("FAKE_PLUGIN_MINOR_VERSION"); minor != nullptr) {
      made.version.minor = std::atoi(minor);
      made.struct_size = offsetof(tensorbraid::pjrt::c_api::Api, Compile);
    }
    return made;
  }();
  return &api;
}

extern "C" __attribute__((visibility("default"))) tensorbraid::pjrt::FakePluginControl* GetFakePluginControl() {
  return &tensorbraid::pjrt::control;
}
