"""What needs several layers at once, as functions: compare, next_turn, tune, the validity of users, pages."""
