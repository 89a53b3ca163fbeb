"""What the labs show, a module per lab: each view takes the values of its controls and returns HTML, a string for each part of the lab.

The build calls a view once, for the state a reader finds; the browser calls the same functions, translated, for every other. So
nothing here may differ between the two languages (`macros.translate` refuses what would), and no style stands in the markup:
classes name roles, and the palette's colours come from `figures.css`. Values are as the controls show them; SI begins inside.
"""
