// A launch that does not end: wait with a deadline, then a backtrace by cuda-gdb where there is one.
#pragma once

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <thread>
#include <vector>

#include "device.h"

namespace krepro {

// True when everything launched so far has ended; false when the deadline passed. A failed launch throws.
inline bool wait_for_launch(cudaEvent_t done, double deadline_s) {
  const auto start = std::chrono::steady_clock::now();
  unsigned polls = 0;
  for (;;) {
    const cudaError_t state = cudaEventQuery(done);
    if (state == cudaSuccess) return true;
    if (state != cudaErrorNotReady) throw CudaError("the kernel", state);
    if (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() > deadline_s) return false;
    if (++polls > 1000) std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

inline std::string find_debugger() {
  const char* path = std::getenv("PATH");
  std::string folders = std::string(path == nullptr ? "" : path) + ":/usr/local/cuda/bin:";
  std::string folder;
  for (const char c : folders) {
    if (c != ':') {
      folder += c;
      continue;
    }
    const std::string file = folder + "/cuda-gdb";
    if (!folder.empty() && access(file.c_str(), X_OK) == 0) return file;
    folder.clear();
  }
  return "";
}

inline std::string debugger_command() {
  return "cuda-gdb --batch -p " + std::to_string(getpid()) + " -ex 'info cuda kernels' -ex 'info cuda threads' -ex backtrace";
}

// Runs the debugger in a process of its own, which also ends it after `limit_s`: while it is attached this process stands
// still, so its output goes to a file. Each warp of the block in focus is told apart by a line `krepro-warp N`.
inline std::string backtrace(double limit_s, unsigned threads) {
  const std::string debugger = find_debugger();
  if (debugger.empty()) return "";
  char name[] = "/tmp/krepro-backtrace-XXXXXX";
  const int file = mkstemp(name);
  if (file < 0) return "";
#if defined(PR_SET_PTRACER)
  prctl(PR_SET_PTRACER, ~0ul, 0, 0, 0);
#endif
  std::vector<std::string> command = {debugger, "--nx", "--batch", "-p", std::to_string(getpid())};
  const auto type = [&command](const std::string& text) {
    command.push_back("-ex");
    command.push_back(text);
  };
  type("info cuda kernels");
  type("info cuda threads");
  type("backtrace");
  for (unsigned warp = 0; warp * 32 < threads && warp < 32; ++warp) {
    type("echo \\nkrepro-warp " + std::to_string(warp) + "\\n");
    type("cuda thread (" + std::to_string(warp * 32) + ",0,0)");
    type("backtrace");
  }
  std::vector<char*> words;
  for (std::string& word : command) words.push_back(&word[0]);
  words.push_back(nullptr);
  const pid_t keeper = fork();
  if (keeper == 0) {
    const pid_t worker = fork();
    if (worker == 0) {
      dup2(file, 1);
      dup2(file, 2);
      execv(words[0], words.data());
      _exit(127);
    }
    for (double waited = 0; waited < limit_s; waited += 0.05) {
      if (waitpid(worker, nullptr, WNOHANG) != 0) _exit(0);
      usleep(50000);
    }
    kill(worker, SIGKILL);
    _exit(1);
  }
  if (keeper > 0) waitpid(keeper, nullptr, 0);
  std::string text;
  char buffer[4096];
  lseek(file, 0, SEEK_SET);
  for (ssize_t got = read(file, buffer, sizeof buffer); got > 0; got = read(file, buffer, sizeof buffer)) {
    text.append(buffer, static_cast<std::size_t>(got));
    if (text.size() > 65536) break;
  }
  close(file);
  unlink(name);
  return text;
}

}  // namespace krepro
