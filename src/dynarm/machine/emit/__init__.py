"""Programs as text: LLVM for a host, C for controllers."""
