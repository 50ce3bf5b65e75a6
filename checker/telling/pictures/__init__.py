"""Pictures as SVG, of data that is given: what they show they do not know."""
