"""From joins to an assembly: which joins agree, where every part goes, which parts stay out."""
