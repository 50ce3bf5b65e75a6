"""Induction for any number of members, the other sizes fixed: from how many on nothing is new."""
