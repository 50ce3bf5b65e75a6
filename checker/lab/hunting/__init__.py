"""The hunt: settings, faults and sizes by lot, narrow searches, and names for what they find."""
