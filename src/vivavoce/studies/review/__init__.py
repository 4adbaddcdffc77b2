"""Reviews of items by people: how many call them correct, how far people agree, what is held out."""
