const char* text_of_a_library();
const char* text_of_a_library() { return "start\n"; }
