"""Who may open a page: links that sign in, sessions, tokens on forms, and how far the server is open."""
