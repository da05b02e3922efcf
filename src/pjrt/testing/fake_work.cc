#include "pjrt/testing/fake_work.h"

#include <deque>
#include <string_view>
#include <thread>

namespace tensorbraid::pjrt::fake {
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

}  // namespace

FakePluginControl control{.hold_work = HoldWork, .wait_for_work = WaitForWork, .hold_compiles = HoldCompiles};

namespace {

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

}  // namespace

void WaitForCompiles() {
  std::unique_lock gate(TheGate().mu);
  TheGate().changed.wait(gate, [] { return !TheGate().holds_compiles; });
}

Error* Fail(const char* name) {
  const int call = control.calls++;
  const char* next = control.fail_next;
  const bool is_next = next != nullptr && std::string_view(next) == name;
  if (call != control.fail_at && !(is_next && control.fail_next.compare_exchange_strong(next, nullptr))) return nullptr;
  control.failed = name;
  const char* const text = control.text;
  return new Error(control.code, text != nullptr ? text : std::string("made to fail: ") + name);
}

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

}  // namespace tensorbraid::pjrt::fake
