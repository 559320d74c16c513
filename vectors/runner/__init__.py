"""The rules of docs/protocol as far as vectors try them, without any code of Kith."""
