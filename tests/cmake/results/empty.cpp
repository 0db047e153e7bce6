// An executable whose tests the linker has left out.
