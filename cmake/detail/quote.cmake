# Writes a text as a bracket argument, which CMake reads back unchanged whatever is in it.
function(_gputest_quote text result)
  set(equals "=")
  string(FIND "${text}]" "]${equals}]" position)
  while(NOT position EQUAL -1)
    string(APPEND equals "=")
    string(FIND "${text}]" "]${equals}]" position)
  endwhile()
  # CMake drops a newline that follows the opening bracket; this one protects one that belongs to the text.
  set(${result} "[${equals}[\n${text}]${equals}]" PARENT_SCOPE)
endfunction()
