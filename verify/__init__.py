"""The harness: what `make verify` checks. It reads perfmodel, macros and docs, and is imported by none of them."""
