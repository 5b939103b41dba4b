// main: options, then the ladder or a plan, then the exit code.
#pragma once

#include <chrono>
#include <set>

#include "input_file.h"
#include "report.h"
#include "session.h"

namespace krepro {

class Run {
 public:
  Run(const Problem& problem, const Options& options)
      : problem_(problem), options_(options), ladder_(problem), report_(problem, options.json), session_(problem, options),
        sequence_(problem, session_) {
    out_ = find_operand(problem, Role::out);
  }

  int all() {
    try {
      return options_.plan.empty() ? ladder() : plan();
    } catch (const BadInput& bad) {
      return give_up(2, bad.what());
    } catch (const std::invalid_argument& bad) {
      return give_up(2, bad.what());
    } catch (const CannotWrite& bad) {
      return give_up(74, bad.what());
    } catch (const NoDevice& bad) {
      return give_up(125, bad.what());
    } catch (const CudaError& bad) {
      report_.cuda_error(now_, bad);
      return report_.end(1);
    } catch (const Hang&) {
      report_.hang(now_, options_.deadline, backtrace(20, problem_.launch.threads()), debugger_command());
      report_.end(4);
      _exit(4);
    }
  }

  std::vector<Rung> chosen() const {
    std::vector<Rung> rungs = ladder_.rungs();
    if (options_.has_inputs()) rungs.push_back(real_rung());
    if (options_.rungs.empty()) return rungs;
    std::vector<Rung> some;
    for (const std::string& name : options_.rungs) {
      bool found = false;
      for (const Rung& rung : rungs) {
        if (rung.name == name) some.push_back(rung);
        found = found || rung.name == name;
      }
      if (!found) throw BadInput("--rung " + name + ": there is no such rung; --list prints them");
    }
    return some;
  }

 private:
  int give_up(int code, const std::string& text) {
    report_.error(code, text);
    return report_.end(code);
  }

  // Real values where they were given, random ones elsewhere.
  Rung real_rung() const {
    Rung rung;
    for (const Rung& other : ladder_.rungs()) {
      if (other.name == "gaussian") rung = other;
    }
    rung.name = "real";
    rung.kernel_only = true;
    rung.probes[0].name = "real";
    for (std::size_t i = 0; i < role_count; ++i) {
      if (options_.inputs[i].empty()) continue;
      Fill fill;
      fill.kind = FillKind::file;
      set_fill(rung.probes[0], static_cast<Role>(i), fill);
    }
    return rung;
  }

  void open(const std::vector<std::string>& names) {
    for (std::size_t i = 0; i < role_count; ++i) {
      const Role role = static_cast<Role>(i);
      if (!options_.inputs[i].empty()) session_.set_real(role, read_input(*find_operand(problem_, role), options_.inputs[i]));
    }
    if (!options_.observed.empty()) production_ = read_input(*out_, options_.observed);
    report_.start(open_device(), names);
    now_ = "start";
    descriptors_ok_ = session_.open([this](const std::string& name, const std::string& error) { report_.descriptor(name, error); });
    sequence_.open();
  }

  int ladder() {
    const std::vector<Rung> rungs = chosen();
    std::vector<std::string> names;
    for (const Rung& rung : rungs) names.push_back(rung.name);
    open(names);
    for (const Rung& rung : rungs) {
      RungResult result;
      result.name = now_ = rung.name;
      result.status = "skip";
      result.why = rung.skip;
      if (!descriptors_ok_) {
        result.status = "fail";
        result.why = "a descriptor was refused";
      } else if (dead_) {
        result.why = "an earlier CUDA error ended the device context";
      } else if (rung.skip.empty()) {
        if (!rung.kernel_only) prologues_right_ = prologues(rung);
        now_ = rung.name;
        if (!dead_) climb(rung, result);
        if (dead_ && result.status == "skip") result.why = "an earlier CUDA error ended the device context";
      }
      report_.rung(result);
      const bool ran = rung.skip.empty() && descriptors_ok_ && result.status != "skip";
      if (sequence_.count() != 0 && ran && !dead_ && !rung.kernel_only) together(rung);
    }
    if (!dead_) maps();
    if (report_.failed() != 0) return report_.end(1);
    if (report_.passed() == 0) {
      report_.error(1, "no rung was run, so nothing was shown");
      return report_.end(1);
    }
    return report_.end(0);
  }

  // Calls work(), and tells of a CUDA error in it as one of `where`; the answer is its text, or empty.
  template <class Work>
  std::string guarded(const std::string& where, const Work& work) {
    now_ = where;
    try {
      work();
      return "";
    } catch (const CudaError& error) {
      if (means_no_device(error.code)) throw NoDevice(error.what());
      report_.cuda_error(where, error);
      cudaGetLastError();
      dead_ = cudaFree(nullptr) != cudaSuccess || cudaDeviceSynchronize() != cudaSuccess;
      return error.what();
    }
  }

  // Each launch before the kernel's alone, on the values of the rung.
  bool prologues(const Rung& rung) {
    bool right = true;
    for (std::size_t i = 0; i < sequence_.count() && !dead_; ++i) {
      std::vector<PrologueResult> results;
      const std::string failure = guarded(std::string("prologue.") + sequence_.prologue(i).name, [&] {
        for (const Probe& probe : some(rung)) {
          sequence_.prepare(probe, rung.exact);
          sequence_.alone(i, results);
        }
      });
      if (results.empty()) results.resize(1);
      for (PrologueResult& result : results) {
        result.rung = rung.name;
        result.name = sequence_.prologue(i).name;
        if (!failure.empty()) result.why = failure;
        if (!result.why.empty()) broken_.insert(i);
        right = right && result.why.empty();
        report_.prologue(result);
      }
    }
    return right;
  }

  // All launches, the kernel's last.
  void together(const Rung& rung) {
    RungResult result;
    result.name = rung.name;
    const std::string failure = guarded("sequence." + rung.name, [&] {
      for (const Probe& probe : some(rung)) {
        sequence_.prepare(probe, rung.exact);
        std::vector<LaunchResult> launched;
        for (unsigned i = 0; i < 2; ++i) launched.push_back(sequence_.together(probe, i));
        const Expected expected = expect(problem_, sequence_.values(prologues_right_), rung.exact, probe.start);
        merge_written(format_of(out_->element), *out_, launched[0], launched[1]);
        for (const LaunchResult& one : launched) {
          compare(problem_, expected, one.observed, result.metrics);
          ++result.launches;
        }
        for (std::size_t e = 0; e < launched[0].observed.code.size(); ++e) {
          if (launched[0].observed.written[e] && launched[0].observed.code[e] != launched[1].observed.code[e]) result.deterministic = false;
        }
      }
    });
    const bool order = !result.metrics.exact && problem_.accumulates;
    result.why = failure.empty() ? failure_reason(result.metrics, result.deterministic, false, order) : failure;
    result.status = result.why.empty() ? "pass" : "fail";
    report_.sequence(result);
  }

  // Where the elements come from that a failing prologue leaves.
  void maps() {
    for (const std::size_t index : broken_) {
      if (dead_ || sequence_.prologue(index).does != Prepares::copy) continue;
      guarded(std::string("prologue.") + sequence_.prologue(index).name, [&] { report_.map(sequence_.map(index)); });
    }
  }

  // The first launches of a long rung tell enough of the prologues.
  static std::vector<Probe> some(const Rung& rung) {
    std::vector<Probe> probes = rung.probes;
    if (probes.size() > 4) probes.resize(4);
    return probes;
  }

  void climb(const Rung& rung, RungResult& result) {
    const auto start = std::chrono::steady_clock::now();
    try {
      for (const Probe& probe : rung.probes) {
        if (!one_probe(rung, probe, result)) return;
      }
      result.follows_shared = result.follows_shared && result.deterministic;
      result.why = failure_reason(result.metrics, result.deterministic, result.follows_shared, !result.metrics.exact && order_may_vary(problem_));
      result.status = result.why.empty() ? "pass" : "fail";
    } catch (const CudaError& error) {
      if (means_no_device(error.code)) throw NoDevice(error.what());
      report_.cuda_error(rung.name, error);
      result.status = "fail";
      result.why = error.what();
      cudaGetLastError();
      dead_ = cudaFree(nullptr) != cudaSuccess || cudaDeviceSynchronize() != cudaSuccess;
    }
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    result.milliseconds = took.count();
  }

  // False when the rung is skipped.
  bool one_probe(const Rung& rung, const Probe& probe, RungResult& result) {
    session_.prepare(probe);
    const Expected expected = expect(problem_, session_.values(), rung.exact, probe.start);
    if (rung.exact && !expected.sums_exact && !adds_parts(problem_)) {
      result.why = "sums of these inputs need not be exact in this accumulator";
      return false;
    }
    const Format& format = format_of(out_->element);
    // What a narrow type holds for unwritten is a value as well: only two launches with different ones tell.
    const unsigned least = probe.sentinel && format.sentinel == 0 && format.bits <= 8 ? 2 : 1;
    const unsigned launches = std::max(rung.launches != 0 ? rung.launches : options_.launches, least);
    LaunchResult held;
    std::vector<std::uint32_t> first;
    bool varies = false;
    for (unsigned i = 0; i < launches; ++i) {
      LaunchResult launched = session_.launch_once(probe, i, i + 1 == launches);
      ++result.launches;
      if (i == 0) {
        first = launched.observed.code;
        if (rung.name == "real" && !production_.empty()) compare_production(expected, launched.observed);
        if (launches > 1) {
          held = std::move(launched);
          continue;
        }
      }
      if (i >= 1) merge_written(format, *out_, held, launched);
      if (i == 1) compare(problem_, expected, held.observed, result.metrics);
      for (std::size_t e = 0; e < first.size(); ++e) {
        // Unwritten elements hold different pre-fills by design; rows of no group hold anything.
        if (!in_group(problem_, e / problem_.n)) continue;
        if (!launched.observed.written[e] || launched.observed.code[e] == first[e]) continue;
        (SharedMemory::other(i) ? result.follows_shared : varies) = true;
      }
      compare(problem_, expected, launched.observed, result.metrics);
    }
    if (varies) result.deterministic = false;
    result.shared_filled = session_.fills_shared_memory();
    return true;
  }

  // Production's output against the reference, and this run's against production's.
  void compare_production(const Expected& expected, const Observed& run) const {
    const Format& format = format_of(out_->element);
    Observed file;
    file.code.resize(run.code.size());
    file.written.assign(run.code.size(), true);
    Expected from_file;
    from_file.exact = false;
    from_file.tolerance = expected.tolerance;
    from_file.value.resize(run.code.size());
    from_file.tolerance.resize(run.code.size());
    // What production's buffer held where the kernel writes nothing is not the kernel's doing.
    bool same = true;
    bool any = false;
    for (std::size_t i = 0; i < run.code.size(); ++i) {
      file.code[i] = static_cast<std::uint32_t>(load_code(production_.data(), format.bits, i));
      from_file.value[i] = decode(format, file.code[i]);
      any = any || run.written[i];
      same = same && (!run.written[i] || file.code[i] == run.code[i]);
    }
    from_file.code = file.code;
    Metrics of_run;
    Metrics of_file;
    compare(problem_, from_file, run, of_run);
    compare(problem_, expected, file, of_file);
    report_.observed(same && any, of_run, of_file);
  }

  int plan() {
    const std::vector<Probe> probes = read_plan(options_.plan);
    std::vector<std::string> names;
    for (const Probe& probe : probes) {
      names.push_back(probe.name);
      for (std::size_t i = 0; i < role_count; ++i) {
        if (!probe.filled[i] || find_operand(problem_, static_cast<Role>(i)) != nullptr) continue;
        throw BadInput(options_.plan + ": probe " + probe.name + " fills `" + role_name(static_cast<Role>(i)) + "`, which this kernel does not have");
      }
    }
    open(names);
    if (!descriptors_ok_) return report_.end(1);
    ObservationFile file(options_.observations);
    for (std::size_t index = 0; index < probes.size(); ++index) {
      now_ = probes[index].name;
      try {
        observe(probes[index], static_cast<std::uint32_t>(index), file);
      } catch (const CudaError& error) {
        if (means_no_device(error.code)) throw NoDevice(error.what());
        Record failed;
        failed.probe = static_cast<std::uint32_t>(index);
        failed.status = 1;
        file.add(*out_, failed);
        file.finish();
        throw;
      } catch (const Hang&) {
        file.finish();
        throw;
      }
    }
    file.finish();
    return report_.end(0);
  }

  void observe(const Probe& probe, std::uint32_t index, ObservationFile& file) {
    session_.prepare(probe);
    const Format& format = format_of(out_->element);
    LaunchResult held;
    for (unsigned i = 0; i < probe.launches; ++i) {
      LaunchResult launched = session_.launch_once(probe, i, i + 1 == probe.launches);
      launched.record.probe = index;
      launched.record.launch = i;
      if (i == 0 && probe.launches > 1) {
        held = std::move(launched);
        continue;
      }
      if (i >= 1 && probe.sentinel) merge_written(format, *out_, held, launched);
      if (i == 1) file.add(*out_, held.record);
      file.add(*out_, launched.record);
    }
  }

  const Problem& problem_;
  const Options& options_;
  Ladder ladder_;
  Report report_;
  Session session_;
  Sequence sequence_;
  std::set<std::size_t> broken_;  // prologues that fail
  bool prologues_right_ = true;   // on the rung that is run
  const Operand* out_ = nullptr;
  std::vector<unsigned char> production_;
  std::string now_ = "start";
  bool descriptors_ok_ = true;
  bool dead_ = false;
};

// Times the host reference against the plain triple loop on this problem's shape.
inline int bench_host(const Problem& problem) {
  std::vector<float> a(problem.m * problem.k);
  std::vector<float> b(problem.n * problem.k);
  std::vector<double> fast;
  std::vector<double> slow(problem.m * problem.n);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i * 7919 % 17) - 8;
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i * 104729 % 13) - 6;
  const auto start = std::chrono::steady_clock::now();
  host_gemm(a, b, problem.m, problem.n, problem.k, Sum::products, fast);
  const auto middle = std::chrono::steady_clock::now();
  naive_gemm(a.data(), b.data(), problem.m, problem.n, problem.k, slow.data());
  const auto end = std::chrono::steady_clock::now();
  const double fast_s = std::chrono::duration<double>(middle - start).count();
  const double slow_s = std::chrono::duration<double>(end - middle).count();
  std::printf("host GEMM %llu x %llu x %llu: blocked %.4f s, triple loop %.4f s, %.1f times; equal: %s\n",
              static_cast<unsigned long long>(problem.m), static_cast<unsigned long long>(problem.n),
              static_cast<unsigned long long>(problem.k), fast_s, slow_s, slow_s / fast_s, fast == slow ? "yes" : "no");
  return fast == slow ? 0 : 1;
}

inline int run(const Problem& problem, int count, char** words) {
  reset_float_environment();
  try {
    const Options options = parse_options(problem, count, words);
    if (options.bench_host) return bench_host(problem);
    Run all(problem, options);
    if (!options.list) return all.all();
    for (const Rung& rung : all.chosen()) std::printf("%s\n", rung.name.c_str());
    return 0;
  } catch (const BadInput& bad) {
    std::fprintf(stderr, "%s: %s\n", problem.name, bad.what());
    return 2;
  }
}

}  // namespace krepro
