"""What is kept: chats, turns, programs, effects and change sets, in one SQLite file."""
