"""What needs several layers at once, as functions: compare, next_turn, the validity of users, pages."""
