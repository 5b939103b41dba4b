// What the executable says: JSON lines for krepro, or a table for a person.
#pragma once

#include "compare.h"
#include "device.h"
#include "ladder.h"
#include "options.h"
#include "sequence.h"

namespace krepro {

struct RungResult {
  std::string name;
  std::string status;  // pass, fail, skip
  std::string why;
  std::uint64_t launches = 0;
  bool deterministic = true;
  bool follows_shared = false;  // equal launches, but for what shared memory held before
  bool shared_filled = false;   // before every launch
  Metrics metrics;
  double milliseconds = 0;
};

class Report {
 public:
  Report(const Problem& problem, bool json) : problem_(problem), json_(json) {}

  void start(const DeviceInfo& device, const std::vector<std::string>& names) const {
    const std::string capability = std::to_string(device.major) + "." + std::to_string(device.minor);
    if (!json_) {
      std::printf("%s: m = %llu, n = %llu, k = %llu on %s (%s), driver %s, runtime %s\n", problem_.name, number(problem_.m),
                  number(problem_.n), number(problem_.k), device.name.c_str(), capability.c_str(),
                  cuda_version(device.driver).c_str(), cuda_version(device.runtime).c_str());
      return;
    }
    std::string list = "[";
    for (const std::string& name : names) list += (list.size() > 1 ? "," : "") + json_string(name);
    Object object = event("start");
    object.text("device", device.name).text("compute_capability", capability).text("driver", cuda_version(device.driver));
    object.text("runtime", cuda_version(device.runtime)).count("seed", 0).text("kernel", problem_.kernel);
    say(object.raw("rungs", list + "]"));
  }

  void descriptor(const std::string& name, const std::string& error) const {
    if (json_) {
      say(event("descriptor").text("name", name).text("status", error.empty() ? "ok" : error));
    } else if (!error.empty()) {
      std::printf("descriptor %s: %s\n", name.c_str(), error.c_str());
    }
  }

  void rung(const RungResult& result) {
    ++counts_[result.status == "pass" ? 0 : result.status == "fail" ? 1 : 2];
    row(result, "rung", result.name);
  }

  // The same for all launches of a sequence together.
  void sequence(const RungResult& result) {
    if (result.status == "fail") ++wrong_;
    row(result, "sequence", "+ " + result.name);
  }

  // A launch before the kernel's, alone.
  void prologue(const PrologueResult& result) {
    const bool failed = !result.why.empty();
    if (failed) ++wrong_;
    if (!json_) {
      head();
      const std::string share = std::to_string(result.wrong) + "/" + std::to_string(result.elements);
      std::printf("%-16s %-5s %-18s %s leaves %s%s\n", ("< " + result.rung).c_str(), failed ? "FAIL" : "PASS", share.c_str(),
                  result.name.c_str(), result.writes.c_str(), failed ? (": " + result.why).c_str() : "");
      for (std::uint64_t i = 0; i < std::min<std::uint64_t>(result.failure_count, 3); ++i) {
        const auto& f = result.failures[i];
        std::printf("  [%llu, %llu] holds 0x%x, not 0x%x\n", number(f.row), number(f.column), static_cast<unsigned>(f.observed),
                    static_cast<unsigned>(f.expected));
      }
      return;
    }
    Object object = event("prologue");
    object.text("name", result.name).text("rung", result.rung).text("writes", result.writes);
    object.text("status", failed ? "fail" : "pass").text("why", result.why).count("launches", result.launches);
    object.flag("deterministic", result.deterministic).flag("uniform", result.uniform).count("elements", result.elements);
    object.count("wrong", result.wrong).count("unwritten", result.unwritten).count("guard_hits", result.guard_hits);
    object.count("source_hits", result.source_hits).count("padding", result.padding).count("padding_written", result.padding_written);
    object.raw("rows", lines_json(result.rows)).raw("columns", lines_json(result.columns));
    std::string list = "[";
    for (std::uint64_t i = 0; i < result.failure_count; ++i) {
      const auto& f = result.failures[i];
      Object one;
      one.count("row", f.row).count("column", f.column).count("observed", f.observed).count("expected", f.expected);
      one.number("observed_value", decode(*result.format, f.observed)).number("expected_value", decode(*result.format, f.expected));
      list += (i == 0 ? "" : ",") + one.str();
    }
    say(object.raw("failures", list + "]"));
  }

  void map(const PrologueMap& map) const {
    if (!json_) {
      std::printf("%s: of %llu elements of %s %llu are in place, %llu moved%s, %llu unwritten, %llu other\n", map.name.c_str(),
                  number(map.elements), map.writes.c_str(), number(map.right), number(map.moved), map.permutation ? " (a permutation)" : "",
                  number(map.unwritten), number(map.foreign));
      return;
    }
    Object object = event("prologue_map");
    object.text("name", map.name).text("writes", map.writes).count("elements", map.elements).count("right", map.right);
    object.count("moved", map.moved).count("unwritten", map.unwritten).count("foreign", map.foreign).flag("permutation", map.permutation);
    std::string list = "[";
    for (const PrologueMap::Move& move : map.moves) {
      Object one;
      one.count("row", move.row).count("column", move.column).count("from_row", move.from_row).count("from_column", move.from_column);
      list += (list.size() == 1 ? "" : ",") + one.str();
    }
    say(object.raw("moves", list + "]"));
  }

  void cuda_error(const std::string& rung, const CudaError& error) const {
    if (json_) {
      Object object = event("cuda_error");
      object.text("call", error.call).count("code", static_cast<std::uint64_t>(error.code));
      object.text("name", cudaGetErrorName(error.code)).text("text", cudaGetErrorString(error.code));
      say(object.text("rung", rung));
    } else {
      std::printf("%s: %s (%s)\n", rung.c_str(), error.what(), cudaGetErrorName(error.code));
    }
  }

  void hang(const std::string& rung, double deadline_s, const std::string& backtrace, const std::string& command) const {
    if (json_) {
      Object object = event("hang");
      object.text("rung", rung).number("deadline_s", deadline_s).text("backtrace", backtrace);
      say(object.text("command", command));
    } else {
      std::printf("%s: HANG: the launch did not end within %g s\n%s", rung.c_str(), deadline_s, backtrace.c_str());
      if (backtrace.empty()) std::printf("cuda-gdb was not found; while a launch hangs, type: %s\n", command.c_str());
    }
    std::fflush(stdout);
  }

  // After the rung of the real inputs: the run against production's output, and that against the reference.
  void observed(bool same, const Metrics& run, const Metrics& production) const {
    if (json_) {
      Object object = event("observed");
      object.text("rung", "real").flag("same", same).raw("run", metrics_json(run));
      say(object.raw("production", metrics_json(production)));
    } else {
      std::printf("observed         %s; %llu of %llu elements differ from production's by more than the tolerance (relL2 %s), production's\n"
                  "                 has %llu elements wrong against the reference (relL2 %s)\n",
                  same ? "equal to production's bit for bit" : "not production's bits", number(run.wrong), number(run.elements),
                  figure(run.rel_l2()).c_str(), number(production.wrong), figure(production.rel_l2()).c_str());
    }
  }

  void error(int code, const std::string& text) const {
    if (json_) say(event("error").count("exit", static_cast<std::uint64_t>(code)).text("text", text));
    std::fprintf(stderr, "%s: %s\n", problem_.name, text.c_str());
  }

  int end(int code) const {
    if (json_) {
      Object object = event("end");
      object.count("exit", static_cast<std::uint64_t>(code)).count("passed", counts_[0]).count("failed", counts_[1]);
      say(object.count("skipped", counts_[2]));
    } else {
      std::printf("%s: %llu passed, %llu failed, %llu skipped\n", code == 0 ? "PASS" : code == 4 ? "HANG" : code == 1 ? "FAIL" : "NO RESULT",
                  number(counts_[0]), number(counts_[1]), number(counts_[2]));
    }
    std::fflush(stdout);
    return code;
  }

  std::uint64_t failed() const { return counts_[1] + wrong_; }
  std::uint64_t passed() const { return counts_[0]; }

 private:
  void row(const RungResult& result, const char* kind, const std::string& shown) {
    if (json_) {
      Object object = event(kind);
      object.text("name", result.name).text("status", result.status).text("why", result.why);
      object.count("launches", result.launches).flag("deterministic", result.deterministic);
      object.flag("follows_shared", result.follows_shared).flag("shared_filled", result.shared_filled);
      object.raw("metrics", result.metrics.elements == 0 ? "null" : metrics_json(result.metrics));
      object.raw("failures", failures_json(result.metrics)).number("milliseconds", result.milliseconds);
      say(object);
      return;
    }
    head();
    const Metrics& m = result.metrics;
    const char* word = result.status == "pass" ? "PASS" : result.status == "fail" ? "FAIL" : "skip";
    if (m.elements == 0) {
      std::printf("%-16s %-5s %s\n", shown.c_str(), word, result.why.c_str());
    } else {
      const std::string share = std::to_string(m.wrong) + "/" + std::to_string(m.elements);
      std::printf("%-16s %-5s %-18s %-10s %-10s %-10s %s\n", shown.c_str(), word, share.c_str(), figure(m.rel_l2()).c_str(),
                  figure(m.rel_l2_floor()).c_str(), figure(m.max_abs).c_str(), result.why.c_str());
    }
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(m.failure_count, 3); ++i) {
      const Failure& f = m.failures[i];
      std::printf("  [%llu, %llu] observed %s (0x%x), expected %s%s%s\n", number(f.row), number(f.column),
                  figure(f.observed).c_str(), static_cast<unsigned>(f.bits), figure(f.expected).c_str(),
                  m.exact ? "" : " +- ", m.exact ? "" : figure(f.tolerance).c_str());
    }
  }

  // Rungs under their names, before them (<) the launches that prepare their operands, after them (+) all together.
  void head() {
    if (!headed_) std::printf("%-16s %-5s %-18s %-10s %-10s %s\n", "rung", "", "wrong/elements", "relL2", "floor", "max abs");
    headed_ = true;
  }

  // How many lines, and the first and the last of them.
  static std::string lines_json(const std::vector<bool>& wrong) {
    std::uint64_t count = 0;
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    for (std::uint64_t i = 0; i < wrong.size(); ++i) {
      if (!wrong[i]) continue;
      if (count++ == 0) first = i;
      last = i;
    }
    Object object;
    return object.count("of", wrong.size()).count("count", count).count("first", first).count("last", last).str();
  }

  static unsigned long long number(std::uint64_t value) { return value; }
  static std::string figure(double value) {
    char text[32];
    if (!is_finite(value)) return is_nan(value) ? "nan" : (bits_of<std::uint64_t>(value) >> 63) != 0 ? "-inf" : "inf";
    std::snprintf(text, sizeof text, "%.4g", value);
    return text;
  }
  static void say(const Object& object) {
    std::printf("%s\n", object.str().c_str());
    std::fflush(stdout);
  }

  const Problem& problem_;
  bool json_;
  bool headed_ = false;
  std::uint64_t counts_[3] = {0, 0, 0};
  std::uint64_t wrong_ = 0;  // prologues, and sequences as a whole
};

}  // namespace krepro
