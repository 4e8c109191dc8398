// One block: its first thread derives the key of every step, then all threads compute rows of the table.
FN void table(int thread, int num_steps, const uint32* key, uint32* rows, uint32* last_key) {
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
