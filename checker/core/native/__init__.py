"""Machine code: loops in Python and LLVM assembly as functions that run without the interpreter."""
