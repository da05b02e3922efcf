// A plugin for tests, in a shared library of its own (fake_plugin.cc and the files beside it). It has two devices,
// which use memory of the host, and does its work on a thread, in order. It can fail at any call. It takes the options
// of plugins for the CPU and for CUDA.
//
// Its programs are StableHLO text with a function @main in which each op has the generic form, such as
//
//     func.func public @main(%a: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %b: tensor<4xf32>) -> tensor<4xf32> {
//       %0 = "stablehlo.add"(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
//       return %0 : tensor<4xf32>
//     }
//
// It computes add, subtract, multiply, divide and negate of float32, and returns zeros for all other ops. The return
// may have the generic form, too. Donated memory is reused, and freed memory is overwritten.
//
// The environment variable FAKE_PLUGIN_MINOR_VERSION, if it is set when the library is loaded, is the version that the
// plugin says it has. Its table then ends before the function Compile.
#ifndef TENSORBRAID_PJRT_TESTING_FAKE_PLUGIN_H_
#define TENSORBRAID_PJRT_TESTING_FAKE_PLUGIN_H_

#include <atomic>
#include <cstdint>

namespace tensorbraid::pjrt {

// What the plugin shows to tests: `GetFakePluginControl()`, which the library exports.
struct FakePluginControl {
  // Calls of the table's functions so far, except for those of errors. Work that is done later (a copy, a run) counts
  // as a further call at the moment when it is enqueued.
  std::atomic<int> calls{0};
  // The call that fails: with this error code, and "made to fail: NAME". -1: none. Destroying fails after it has
  // destroyed, waiting after it has waited. Work that fails brings its error to its event and its outputs.
  std::atomic<int> fail_at{-1};
  // The next call of this function fails in the same way: "LoadedExecutable_Execute", or for work that is done later
  // "work of LoadedExecutable_Execute". Null: none.
  std::atomic<const char*> fail_next{nullptr};
  std::atomic<int> code{13};
  std::atomic<const char*> text{nullptr};    // of the error, instead of "made to fail: NAME"
  std::atomic<const char*> failed{nullptr};  // the name of the call that has failed
  // A failing Execute has consumed the donated arguments.
  std::atomic<bool> consumes_when_failing{false};
  // The first elements of the outputs of int64, which it cannot compute.
  std::atomic<int64_t> integers[4] = {};
  // hold_work(true): no work is done until hold_work(false). wait_for_work(): blocks until all work has been done and
  // its objects are gone. Functions of the library, because a wait for an atomic in one module may miss a notification
  // in another: each has its own list of waiting threads.
  void (*hold_work)(bool hold);
  void (*wait_for_work)();
  // hold_compiles(true): no program is compiled until hold_compiles(false); a call of the compiler waits.
  void (*hold_compiles)(bool hold);
  std::atomic<int> compiles{0};  // calls of the compiler that have begun
  std::atomic<int> runs{0};      // of programs, counted when they have been enqueued
  // Copies from host memory to a device, and back, counted when they have been enqueued.
  std::atomic<int> copies_to_device{0}, copies_to_host{0};
  std::atomic<int64_t> bytes_pinned{0};  // of host memory
  // The work that is not done yet, or whose objects still exist.
  std::atomic<int> work{0};

  // What the last client was told, or the defaults of the plugin for CUDA.
  std::atomic<bool> preallocates{true};
  std::atomic<float> memory_fraction{0.75F};

  // The objects that exist.
  std::atomic<int> errors{0};
  std::atomic<int> events{0};
  std::atomic<int> clients{0};
  std::atomic<int> buffers{0};
  std::atomic<int> programs{0};  // loaded ones and descriptions
  std::atomic<int> topologies{0};
};

using GetFakePluginControlFunction = FakePluginControl* (*)();

}  // namespace tensorbraid::pjrt

#endif  // TENSORBRAID_PJRT_TESTING_FAKE_PLUGIN_H_
