# SPDX-License-Identifier: BSD-3-Clause
# Writes the manual page: what --help says of the tool and of each command.
#
# cmake -DTOOL=<program> -DOUTPUT=<file> -P manual_page.cmake
cmake_minimum_required(VERSION 3.19)

# help_of(<variable> <title> <argument>...): what these arguments print, as roff takes it. A line that begins with a dot or a quote would be a request.
function(help_of variable title)
  execute_process(COMMAND "${TOOL}" ${ARGN} OUTPUT_VARIABLE help RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    return() # no gputest-insights is built here
  endif()
  string(REPLACE "\\" "\\e" help "${help}")
  string(REPLACE "-" "\\-" help "${help}")
  string(REGEX REPLACE "(^|\n)([.'])" "\\1\\\\&\\2" help "${help}")
  set(${variable} "${${variable}}.SH ${title}\n.nf\n${help}.fi\n" PARENT_SCOPE)
endfunction()

execute_process(COMMAND "${TOOL}" --version OUTPUT_VARIABLE version OUTPUT_STRIP_TRAILING_WHITESPACE)
set(page ".TH GPUTEST 1 \"\" \"${version}\"\n.SH NAME\ngputest \\- lets GPU tests share the memory of GPUs\n")
help_of(page GPUTEST --help)
foreach(command IN ITEMS run devices status needs plan slurm report merge)
  help_of(page "GPUTEST ${command}" ${command} --help)
endforeach()
help_of(page SETTINGS --help-settings)
file(WRITE "${OUTPUT}" "${page}")
