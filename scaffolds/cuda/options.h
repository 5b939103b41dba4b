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
      options.inputs[static_cast<std::size_t>(role)] = text.substr(equals + 1);
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
  if (!options.observed.empty() && !options.has_inputs()) throw BadInput("--observed needs the inputs that led to it: --input ROLE=FILE");
  return options;
}

}  // namespace krepro
