"""What designed scenarios cover, and how difficult they are."""
