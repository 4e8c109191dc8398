// A block for each rollout: its first thread derives the key of every step, then all threads compute rows of the table.
FN void table(int thread, int num_steps, const uint32* key, uint32* rows, uint32* last_key) {
  const int rollout = thread / BLOCK;
  key += rollout * KEY_WORDS, last_key += rollout * KEY_WORDS;
  rows += (size_t)rollout * num_steps * WIDTH, thread %= BLOCK;
  if (thread == 0) {
    uint32 word[KEY_WORDS], next[KEY_WORDS];
    for (int i = 0; i < KEY_WORDS; ++i) word[i] = key[i];
    for (int t = 0; t < num_steps; ++t) {
      for (int i = 0; i < KEY_WORDS; ++i) rows[(size_t)t * WIDTH + i] = word[i];
      next_key(word, next);
      for (int i = 0; i < KEY_WORDS; ++i) word[i] = next[i];
    }
    for (int i = 0; i < KEY_WORDS; ++i) last_key[i] = word[i];
  }
  SYNC_BLOCK
  for (int t = thread; t < num_steps; t += BLOCK) compute_row(rows + (size_t)t * WIDTH);
}
