"""What commands print, and what they may write over."""
