"""Questions of agents and editors: each call of a tool is one command in a process of its own."""
