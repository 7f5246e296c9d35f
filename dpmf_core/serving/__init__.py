"""A server's settings, limits and lesson links, and who asks it for something."""
