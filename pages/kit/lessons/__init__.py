"""What a lesson draws around its pages, and the links that teachers make."""
