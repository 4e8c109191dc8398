// Steps the rows from `first` to `end` - 1, then resets ended episodes. Generated code before this file defines the
// positions of the arrays (SHARED, STATES, OUT, SEEN, ENDS), the bytes per row, the choices of an action, and AUTORESET.

static void copy_row(void** arrays, int32 row, int32 to, int32 from, const long* bytes, int32 count) {
  for (int32 i = 0; i < count; ++i)
    __builtin_memcpy((char*)arrays[to + i] + row * bytes[i], (char*)arrays[from + i] + row * bytes[i], bytes[i]);
}

// Returns the number of episodes that have ended, or -1 without stepping if an action is outside of the space.
EXPORT int32 envcore_play(int32 first, int32 end, void** arrays) {
  const bool* const terminated = (const bool*)arrays[ENDS + 1];
  const bool* const truncated = (const bool*)arrays[ENDS + 2];
  bool* const done = (bool*)arrays[ENDS + 3];
  const long size = ACTION_SIZE;
  (void)size;
#if NUM_CHOICES
  const long long* const choices = (const long long*)arrays[ENDS + 4];
  for (long row = first; row < end; ++row)
    for (long i = 0; i < size; ++i) {
      if ((unsigned long long)choices[row * size + i] >= (unsigned long long)num_choices[i]) return -1;
      ((ACTION*)arrays[SHARED + STATES])[row * size + i] = (ACTION)choices[row * size + i];
    }
#elif ACTION_IS_REAL
  for (long i = first * size; i < end * size; ++i)
    if (!op_is_finite(((const ACTION*)arrays[SHARED + STATES])[i])) return -1;
#endif
  envcore_step(first, end, arrays);
  int32 ended = 0;
  for (int32 row = first; row < end; ++row) {
    const bool is_over = terminated[row] | truncated[row];
#if AUTORESET == 1  // same_step: keep the last observation and info
    if (is_over) {
      copy_row(arrays, row, ENDS + 5, OUT + STATES, seen_bytes, SEEN);
      copy_row(arrays, row, SHARED, OUT, state_bytes, STATES);
      envcore_restart(row, row + 1, arrays);
    }
    ended += is_over;
#else
    if (AUTORESET == 2 && done[row]) {  // next_step
      envcore_restart(row, row + 1, arrays);
      ((float32*)arrays[ENDS])[row] = 0;
      done[row] = ((bool*)arrays[ENDS + 1])[row] = ((bool*)arrays[ENDS + 2])[row] = false;
    } else {
      ended += done[row] = is_over;
    }
#endif
  }
  return ended;
}
