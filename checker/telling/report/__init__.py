"""Reports: a trace for people, as text, Markdown, a Mermaid diagram or one HTML page."""
