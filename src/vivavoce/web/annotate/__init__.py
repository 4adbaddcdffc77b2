"""The annotation portal: raters judge one question a page, and an organiser looks after them."""
