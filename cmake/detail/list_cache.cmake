# SPDX-License-Identifier: BSD-3-Clause
# Where a call of gpu_discover_tests() keeps its list if it cannot be beside its script. Runs when ctest starts.

# Sets gputest_kept to where entries are kept if it cannot be beside the script: in the user's cache. What is in it is
# run, so only the user may have written it. Empty if it cannot be used; gputest_unusable then says why.
function(_gputest_find_cache)
  string(SHA256 hash "${gputest_script}")
  execute_process(COMMAND sh -c [[
cache=${XDG_CACHE_HOME:-${HOME:+$HOME/.cache}}
case $cache in /*) ;; *) exit ;; esac
folder=$cache/gputest/$1
umask 077
mkdir -p "$folder" && test -w "$folder" || exit
user=$(id -u)
odd=$(find "$cache/gputest/." -maxdepth 0 \( ! -user "$user" -o -perm /022 \) &&
  find "$folder" ! -user "$user" -o -type l -o -type d -perm /022) || odd=$folder
if test -z "$odd"; then echo "$folder"; else echo "!$cache/gputest"; ls -ld $odd; fi]] sh "${hash}"
    OUTPUT_VARIABLE folder OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  set(gputest_kept "" PARENT_SCOPE)
  set(gputest_unusable "neither ${gputest_script}'s folder nor gputest's folder in your cache (XDG_CACHE_HOME, HOME) can be written" PARENT_SCOPE)
  if(folder MATCHES "^!([^\n]*)\n?(.*)$")
    set(gputest_unusable "its list would be kept in ${CMAKE_MATCH_1}, and ctest runs what is in there, but others than you \
can write to it or have done so. It has to be your own, with mode 0700. Look at it, and remove it: rm -r ${CMAKE_MATCH_1}\n\
${CMAKE_MATCH_2}" PARENT_SCOPE)
  elseif(NOT folder STREQUAL "")
    set(gputest_kept "${folder}/list" PARENT_SCOPE)
  endif()
endfunction()
