"""The first views of Explore, Topics and Faces, which follow epsilon in the browser."""
