"""What Python programs and test files call: questions, and Hypothesis state machines."""
