"""How each provider spells questions and answers: pure functions over JSON, without network or settings."""
