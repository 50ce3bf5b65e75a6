"""What tells of a run to people: traces as text and pages, causes, pictures, a page to walk on."""
