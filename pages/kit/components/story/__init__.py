"""What components share that tell a story in a headline, a sentence and figures which follow
epsilon: `story.js`, which their scripts import, and `story.css`, which stands before their own.
"""
