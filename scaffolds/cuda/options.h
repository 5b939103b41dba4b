// The command line.
#pragma once

#include "storage.h"

namespace krepro {

struct Options {
  bool json = false;
  bool list = false;
  bool bench_host = false;
  std::string plan;
  std::string observations;
  std::string observed;
  std::string inputs[role_count];
  std::vector<std::string> rungs;
  double deadline = 10;
  unsigned launches = 2;

  bool has_inputs() const {
    for (const std::string& input : inputs) {
      if (!input.empty()) return true;
    }
    return false;
  }

  // Real values are only looked at by the rung `real`, and production's output says something of all of its inputs only.
  void check_real(const Problem& problem) const {
    if (!has_inputs() && observed.empty()) return;
    if (!rungs.empty() && std::find(rungs.begin(), rungs.end(), "real") == rungs.end()) {
      throw BadInput("--input and --observed belong to the rung `real`, which --rung leaves out: add --rung real");
    }
    if (observed.empty()) return;
    std::string missing;
    for (std::size_t i = 0; i < problem.operand_count; ++i) {
      const Role role = problem.operands[i].role;
      if (role == Role::out || !inputs[static_cast<std::size_t>(role)].empty()) continue;
      missing += std::string(missing.empty() ? "" : " ") + "--input " + role_name(role) + "=FILE";
    }
    if (!missing.empty()) throw BadInput("--observed needs all the inputs that led to it; add " + missing);
  }
};

inline const char* usage() {
  return "options: --json | --list | --rung NAME | --launches N | --deadline SECONDS | --input ROLE=FILE |\n"
         "         --observed FILE | --plan FILE --observations FILE\n"
         "exit codes: 0 every rung passed, 1 a rung failed, 2 bad usage or input, 4 hang, 74 file not written, 125 no fit GPU\n";
}

inline Options parse_options(const Problem& problem, int count, char** words) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string name = words[i];
    const auto value = [&]() -> std::string {
      if (i + 1 >= count) throw BadInput(name + " needs a value");
      return words[++i];
    };
    if (name == "--json") {
      options.json = true;
    } else if (name == "--list") {
      options.list = true;
    } else if (name == "--bench-host") {
      options.bench_host = true;
    } else if (name == "--plan") {
      options.plan = value();
    } else if (name == "--observations") {
      options.observations = value();
    } else if (name == "--observed") {
      options.observed = value();
    } else if (name == "--rung") {
      options.rungs.push_back(value());
    } else if (name == "--input") {
      const std::string text = value();
      const std::size_t equals = text.find('=');
      Role role = Role::a;
      if (equals == std::string::npos || equals + 1 == text.size()) throw BadInput("write --input ROLE=FILE");
      if (!find_role(text.substr(0, equals), role) || find_operand(problem, role) == nullptr) {
        throw BadInput("--input " + text + ": this kernel has no operand `" + text.substr(0, equals) + "`");
      }
      if (role == Role::out) throw BadInput("--input out=...: the output is compared with --observed FILE");
      std::string& input = options.inputs[static_cast<std::size_t>(role)];
      if (!input.empty()) throw BadInput("--input " + text + ": a second file for `" + role_name(role) + "`");
      input = text.substr(equals + 1);
    } else if (name == "--deadline") {
      const std::string text = value();
      char* end = nullptr;
      options.deadline = std::strtod(text.c_str(), &end);
      if (text.empty() || *end != '\0' || !(options.deadline > 0 && options.deadline < 1e6)) {
        throw BadInput("--deadline " + text + ": give seconds above 0");
      }
    } else if (name == "--launches") {
      const std::string text = value();
      char* end = nullptr;
      const unsigned long launches = std::strtoul(text.c_str(), &end, 10);
      if (text.empty() || *end != '\0' || launches < 1 || launches > 100000) {
        throw BadInput("--launches " + text + ": give a number from 1 to 100000");
      }
      options.launches = static_cast<unsigned>(launches);
    } else {
      throw BadInput("unknown option " + name + "\n" + usage());
    }
  }
  if (options.plan.empty() != options.observations.empty()) throw BadInput("--plan and --observations belong together");
  options.check_real(problem);
  return options;
}

}  // namespace krepro
