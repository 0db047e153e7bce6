// SPDX-License-Identifier: BSD-3-Clause
#include "cli/documents/documents.hpp"

#include "policy/shell_words.hpp"

#include <fmt/format.h>

namespace gputest::cli {

namespace {

using Words = std::vector<std::string>;

std::string join(const Words& words, const std::string& between) {
  std::string text;
  for (const auto& word : words) {
    text += (text.empty() ? "" : between) + word;
  }
  return text;
}

Words names_of(const CommandDescription& command) {
  Words names;
  for (const auto& option : command.options) {
    names.insert(names.end(), option.names.begin(), option.names.end());
  }
  return names;
}

Words command_names(const ToolDescription& description) {
  Words names;
  for (const auto& command : description.commands) {
    names.push_back(command.name);
  }
  return names;
}

/// `--memory|--gpus`: the options that a value follows; a pattern of bash.
std::string options_with_value(const CommandDescription& command) {
  Words names;
  for (const auto& option : command.options) {
    if (!option.value.empty()) {
      names.insert(names.end(), option.names.begin(), option.names.end());
    }
  }
  return join(names, "|");
}

std::string quoted(const std::string& text) {
  const auto word = policy::shell_words({text});
  return word.front() == '\'' ? word : "'" + word + "'";
}

/// The branch of one command in bash's function.
std::string bash_branch(const CommandDescription& command) {
  std::string branch = "    " + command.name + ")\n";
  const auto with_value = options_with_value(command);
  if (command.takes_command) {
    branch += "      for ((++i; i < COMP_CWORD; ++i)); do\n"
              "        case ${COMP_WORDS[i]} in\n"
              "          --) ((++i)); break ;;\n" +
              (with_value.empty()
                   ? ""
                   : "          " + with_value + ") [[ ${COMP_WORDS[i + 1]-} == = ]] && ((++i)); ((++i)) ;;\n") +
              "          -*) ;;\n"
              "          *) break ;;\n"
              "        esac\n"
              "      done\n"
              "      if ((i < COMP_CWORD)) || [[ $previous == -- || ($i -eq $COMP_CWORD && $current != -*) ]]; then\n"
              "        if declare -F _command_offset >/dev/null; then\n"
              "          _command_offset \"$i\"\n"
              "        elif ((i == COMP_CWORD)); then\n"
              "          COMPREPLY=($(compgen -c -- \"$current\"))\n"
              "        else\n"
              "          COMPREPLY=($(compgen -f -- \"$current\"))\n"
              "        fi\n"
              "        return\n"
              "      fi\n";
  }
  if (!with_value.empty()) {
    branch += "      case $previous in\n";
    for (const auto& option : command.options) {
      if (!option.value.empty()) {
        branch += "        " + join(option.names, "|") + ") " +
                  (option.choices.empty() ? "" : "words=" + quoted(join(option.choices, " "))) + " ;;\n";
      }
    }
    branch += "        *) words=" + quoted(join(names_of(command), " ")) + " ;;\n      esac ;;\n";
  } else {
    branch += "      words=" + quoted(join(names_of(command), " ")) + " ;;\n";
  }
  return branch;
}

/// A text inside of zsh's specification of an option.
std::string zsh_text(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    escaped += (c == '[' || c == ']' || c == ':' || c == '\\' ? "\\" : "") + std::string{c};
  }
  return escaped;
}

std::string zsh_options(const CommandDescription& command, const std::string& indent) {
  std::string text;
  for (const auto& option : command.options) {
    const std::string value = option.value.empty() ? ""
                              : option.choices.empty()
                                  ? ":" + zsh_text(option.value) + ": "
                                  : ":" + zsh_text(option.value) + ":(" + join(option.choices, " ") + ")";
    for (const auto& name : option.names) {
      const bool is_long = name.compare(0, 2, "--") == 0;
      text += indent +
              quoted(name + (value.empty() || !is_long ? "" : "=") + "[" + zsh_text(option.text) + "]" + value) +
              " \\\n";
    }
  }
  return text;
}

} // namespace

std::string bash_completion(const ToolDescription& description) {
  const auto commands = command_names(description);
  auto first = commands;
  for (const auto& name : names_of(description.tool)) {
    first.push_back(name);
  }
  std::string text = "# Completion of " + description.tool.name +
                     R"( for bash, made from the description of its command line.
_gputest() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command= words= i
  COMPREPLY=()
  if [[ $current == = ]]; then # bash splits --option=value
    current=
  elif [[ $previous == = ]]; then
    previous=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case ${COMP_WORDS[i]} in
      )" + join(commands, "|") +
                     R"() command=${COMP_WORDS[i]}; break ;;
    esac
  done
  case $command in
    '') words=)" + quoted(join(first, " ")) +
                     " ;;\n";
  for (const auto& command : description.commands) {
    text += bash_branch(command);
  }
  return text + R"(  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -F _gputest )" +
         description.tool.name + "\n";
}

std::string zsh_completion(const ToolDescription& description) {
  const auto& tool = description.tool;
  std::string text = "#compdef " + tool.name + "\n# Made from the description of the command line.\n" +
                     "local curcontext=$curcontext state line\n"
                     "typeset -A opt_args\n"
                     "local -a commands=(\n";
  for (const auto& command : description.commands) {
    text += "  " + quoted(zsh_text(command.name) + ":" + zsh_text(command.text)) + "\n";
  }
  text += ")\n_arguments -C \\\n" + zsh_options(tool, "  ") +
          "  '1: :->command' \\\n  '*:: :->arguments'\n"
          "case $state in\n"
          "  command) _describe command commands ;;\n"
          "  arguments)\n"
          "    case $line[1] in\n";
  for (const auto& command : description.commands) {
    text += "      " + command.name + ")\n        _arguments -S \\\n" + zsh_options(command, "          ") +
            (command.takes_command ? "          '(-)1: :_command_names -e' \\\n          '*:: :_normal'"
                                   : "          && return") +
            " ;;\n";
  }
  return text + "    esac ;;\nesac\n";
}

std::string fish_completion(const ToolDescription& description) {
  const auto& tool = description.tool;
  const auto options = [&](const CommandDescription& command, const std::string& condition) {
    std::string text;
    for (const auto& option : command.options) {
      text += "complete -c " + tool.name + " -n " + quoted(condition);
      for (const auto& name : option.names) {
        text += name.compare(0, 2, "--") == 0 ? " -l " + name.substr(2) : " -s " + name.substr(1);
      }
      text += (option.value.empty() ? "" : " -x") +
              (option.choices.empty() ? "" : " -a " + quoted(join(option.choices, " "))) + " -d " +
              quoted(option.text) + "\n";
    }
    return text;
  };
  std::string text = "# Completion of " + tool.name + " for fish, made from the description of its command line.\n" +
                     "complete -c " + tool.name + " -f\n" + options(tool, "__fish_use_subcommand");
  for (const auto& command : description.commands) {
    text += "complete -c " + tool.name + " -n __fish_use_subcommand -a " + command.name + " -d " +
            quoted(command.text) + "\n";
    const std::string condition = "__fish_seen_subcommand_from " + command.name;
    text += options(command, condition);
    if (command.takes_command) {
      text += "complete -c " + tool.name + " -n " + quoted(condition) +
              " -x -a '(__fish_complete_subcommand --fcs-skip=2)'\n";
    }
  }
  return text;
}

} // namespace gputest::cli
