"""From joins of two to an assembly: a plan of passes, a loop that runs it, and the state that it works on."""
