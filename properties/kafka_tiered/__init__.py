"""What a tiered partition keeps of what was committed."""
