"""How we find out: search, simulation, proof, traces, reports and the command line."""
