# SPDX-License-Identifier: BSD-3-Clause
# Where a call of gpu_discover_tests() keeps its list if it cannot be beside its script. Runs when ctest starts.

# Sets gputest_kept to where entries are kept if it cannot be beside the script: in the user's cache, or below the temporary folder, as
# for a user without a home in a container. What is in it is run, so only the user may have written it, and nobody else may replace
# it. Empty if none can be used; gputest_unusable then says why.
function(_gputest_find_cache)
  string(SHA256 hash "${gputest_script}")
  execute_process(COMMAND sh -c [[
root=${XDG_CACHE_HOME:-${HOME:+$HOME/.cache}}/gputest
checked=$root/. # which may be a link of the user's
umask 077
user=$(id -u)
case $root in /*/gputest) mkdir -p "$root/$1" && test -w "$root/$1" ;; *) false ;; esac || {
  temporary=${TMPDIR:-/tmp}
  root=$temporary/gputest-lists-$user
  checked=$root # nobody replaces it if it is a folder of this user
  case $root in /*) ;; *) exit ;; esac
  unsafe=$(find "$temporary/." -maxdepth 0 \( ! -user 0 ! -user "$user" -o ! -perm -1000 -perm /022 \)) || exit
  test -z "$unsafe" && test ! -h "$root" && mkdir -p "$root/$1" && test -w "$root/$1" || exit
}
folder=$root/$1
odd=$(find "$checked" -maxdepth 0 \( ! -user "$user" -o -perm /022 \) &&
  find "$folder" ! -user "$user" -o -type l -o -type d -perm /022) || odd=$folder
if test -z "$odd"; then echo "$folder"; else echo "!$root"; ls -ld $odd; fi]] sh "${hash}"
    OUTPUT_VARIABLE folder OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  set(gputest_kept "" PARENT_SCOPE)
  set(gputest_unusable "neither ${gputest_script}'s folder nor gputest's folder in your cache (XDG_CACHE_HOME, HOME) \
can be written, nor one of your own in the temporary folder (TMPDIR, else /tmp)" PARENT_SCOPE)
  if(folder MATCHES "^!([^\n]*)\n?(.*)$")
    set(gputest_unusable "its list would be kept in ${CMAKE_MATCH_1}, and ctest runs what is in there, but others than you \
can write to it or have done so. It has to be your own, with mode 0700. Look at it, and remove it: rm -r ${CMAKE_MATCH_1}\n\
${CMAKE_MATCH_2}" PARENT_SCOPE)
  elseif(NOT folder STREQUAL "")
    set(gputest_kept "${folder}/list" PARENT_SCOPE)
  endif()
endfunction()
