"""Labels on pages: tables of them, and filters of lists."""
