"""Why a run ends as it does: which steps needed which, read off the captured graph."""
